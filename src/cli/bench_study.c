/* SPDX-License-Identifier: Apache-2.0 */
/* `berth bench learn` and `berth bench ablation`: the library makes the runs and the report; this is options and
 * output. */
#include "cli/bench.h"

#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MOST_WORDS = 64 };

bool cli_bench_is_study(const char *suite) {
    bool found = false;
    for (int32_t i = 0; berth_study_name(i); i++) found |= strcmp(suite, berth_study_name(i)) == 0;
    return found;
}

int32_t cli_bench_words(const cli_list *list, const char **words, int32_t n) {
    cli_scan at = list->start;
    int32_t taken = 0;
    for (const char *word; taken < n && (word = cli_list_next(list, &at));) words[taken++] = word;
    return taken;
}

/* "1/4": the first of four. */
static bool parse_part(const char *text, int32_t *part, int32_t *n_parts) {
    int i = 0, n = 0, used = 0;
    if (sscanf(text, "%9d/%9d%n", &i, &n, &used) != 2 || text[used] || i < 1 || i > n) return false;
    *part = i - 1;
    *n_parts = n;
    return true;
}

static void show(void *user, const char *name, const char *arm, int64_t done, int64_t runs) {
    (void)user;
    fprintf(stderr, "\r\033[Krun %" PRId64 " of %" PRId64 "  %s  %s", done + 1, runs, name, arm);
    fflush(stderr);
}

static int print(berth_ctx *ctx, const bench_values *values, const berth_study_options *how) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status == BERTH_OK) status = berth_study_report(ctx, text, how, values->json);
    int code =
        status == BERTH_OK ? cli_output_keep(ctx, text, values->output) : cli_report_failure(ctx, status, CLI_READING);
    berth_text_free(text);
    return code;
}

int cli_bench_study(berth_ctx *ctx, const bench_values *values, const char *suite) {
    const char *results[MOST_WORDS], *cases[MOST_WORDS], *arms[MOST_WORDS];
    berth_study_options how = berth_study_options_default();
    bool seen = !values->common.quiet && isatty(STDERR_FILENO);
    how.suite = suite;
    how.results = results;
    how.n_results = cli_bench_words(&values->results, results, MOST_WORDS);
    how.cases = cases;
    how.n_cases = cli_bench_words(&values->workloads, cases, MOST_WORDS);
    how.arms = arms;
    how.n_arms = cli_bench_words(&values->arms, arms, MOST_WORDS);
    how.models = values->models;
    how.policy = values->policy;
    how.note = seen ? show : NULL;
    if (values->seeds > 0) how.n_seeds = (int32_t)values->seeds;
    if (values->evaluations > 0) how.evaluations = values->evaluations;
    if (how.n_results == 0) return cli_report_misuse(&cli_bench, "a study needs --results FILE");
    if (values->part && !parse_part(values->part, &how.part, &how.n_parts))
        return cli_report_misuse(&cli_bench, "--part needs I/N, as in 1/4");
    berth_status status = values->report ? BERTH_OK : berth_study_run(ctx, &how);
    if (seen) fputs("\r\033[K", stderr);
    if (status != BERTH_OK && status != BERTH_E_CANCELLED) return cli_report_failure(ctx, status, CLI_READING);
    return print(ctx, values, &how);
}
