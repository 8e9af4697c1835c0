/* SPDX-License-Identifier: Apache-2.0 */
/* `berth bench paper`: the library makes the runs and the tables; this is options and output. */
#include "cli/bench.h"

#include "berth/paper.h"
#include "cli/amounts.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 64 };

static void show(void *user, const char *model, const char *arm) {
    (void)user;
    fprintf(stderr, "\r\033[K%s  %s", model, arm);
    fflush(stderr);
}

static int print(berth_ctx *ctx, const bench_values *values, const berth_paper *paper) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    if (!values->json) cli_bench_machine(text, false);
    berth_paper_write(text, paper, values->json);
    int code = cli_output_keep(ctx, text, values->output);
    berth_text_free(text);
    return code;
}

int cli_bench_paper(berth_ctx *ctx, const bench_values *values) {
    const char *cases[MOST_WORDS], *arms[MOST_WORDS], *devices[CLI_RUNTIME_DEVICES];
    char names[CLI_RUNTIME_NAMES];
    berth_paper_options how = berth_paper_options_default();
    berth_paper *paper = NULL;
    bool seen = !values->common.quiet && isatty(STDERR_FILENO);
    how.models = values->models;
    how.cases = cases;
    how.n_cases = cli_bench_words(&values->workloads, cases, MOST_WORDS);
    how.arms = arms;
    how.n_arms = cli_bench_words(&values->arms, arms, MOST_WORDS);
    how.seed = (uint64_t)values->seed;
    how.threads = (int32_t)values->threads;
    how.note = seen ? show : NULL;
    how.devices = devices;
    if (values->evaluations > 0) how.evaluations = values->evaluations;
    if (values->budget && !cli_parse_seconds(values->budget, &how.seconds))
        return cli_report_misuse(&cli_bench, "--budget needs a time such as 10s, 500ms or 2m");
    if (values->evaluate && strcmp(values->evaluate, "measured") != 0 && strcmp(values->evaluate, "simulated") != 0)
        return cli_report_misuse(&cli_bench, "--evaluate is simulated or measured");
    how.measured = values->evaluate && strcmp(values->evaluate, "measured") == 0;
    berth_status status = BERTH_OK;
    if (values->runtime.name && !cli_runtime_is_none(&values->runtime))
        status = cli_runtime_open(ctx, &how.runtime, &values->runtime);
    if (status == BERTH_OK && how.runtime)
        status = cli_runtime_list(ctx, how.runtime, values->devices, names, devices, &how.n_devices);
    if (status == BERTH_OK) status = berth_paper_run(ctx, &paper, &how);
    if (seen) fputs("\r\033[K", stderr);
    int code = status == BERTH_OK ? print(ctx, values, paper) : cli_report_failure(ctx, status, CLI_READING);
    berth_paper_free(paper);
    berth_runtime_free(how.runtime);
    return code;
}
