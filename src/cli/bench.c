/* SPDX-License-Identifier: Apache-2.0 */
/* `berth bench`: every method on every workload of a suite under equal budgets, as a table or as JSON. */
#include "cli/bench.h"

#include "cli/amounts.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define AT(member) offsetof(bench_values, member)

static const cli_option options[] = {
    {"budget", 'b', CLI_STRING, CLI_USUAL, AT(budget), "TIME", .help = "of each method on each workload (default 1s)"},
    {"evaluations", 0, CLI_INT, CLI_USUAL, AT(evaluations), "N", .low = 1, .high = 1e15,
     .help = "the same in makespans"},
    {"method", 'm', CLI_LIST, CLI_USUAL, AT(methods), "NAME", .help = "only this method"},
    {"workload", 'w', CLI_LIST, CLI_USUAL, AT(workloads), "PART", .help = "only workloads with this in their names"},
    {"devices", 'd', CLI_STRING, CLI_USUAL, AT(devices), "LIST",
     .help = "for models (default paper and cpu,gpu,igpu,npu)"},
    {"execution-model", 0, CLI_STRING, CLI_USUAL, AT(model), "NAME",
     .help = "only this one (default all; workloads: their own)"},
    {"speed", 0, CLI_FLAG, CLI_USUAL, AT(speed), NULL, .help = "count what the inner loops do in a second instead"},
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print one JSON document"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write to FILE instead of standard output"},
    {"results", 'r', CLI_LIST, CLI_RARE, AT(results), "FILE",
     .help = "studies: lines of JSON; the first is added to, all are read"},
    {"report", 0, CLI_FLAG, CLI_RARE, AT(report), NULL, .help = "studies: run nothing, report what there is"},
    {"part", 0, CLI_STRING, CLI_RARE, AT(part), "I/N", .help = "studies: only this part of the runs, as in 1/2"},
    {"arm", 0, CLI_LIST, CLI_RARE, AT(arms), "NAME", .help = "studies: only this arm"},
    {"seeds", 0, CLI_INT, CLI_RARE, AT(seeds), "N", .low = 1, .high = 1000, .help = "studies: paired runs (default 5)"},
    {"policy", 0, CLI_STRING, CLI_RARE, AT(policy), "FILE", .help = "studies: a pretrained policy, as an arm"},
    {"data", 0, CLI_STRING, CLI_RARE, AT(data), "FOLDER",
     .help = "of workload files (default ../shared/data/workloads)"},
    {"models", 0, CLI_STRING, CLI_RARE, AT(models), "FOLDER", .help = "of the bundled models (default models)"},
    {"seed", 0, CLI_INT, CLI_RARE, AT(seed), "N", .low = 0, .high = 9e18, .help = "of random numbers (default 0)"},
    {"threads", 0, CLI_INT, CLI_RARE, AT(threads), "N", .low = 0, .high = 1024, .help = "default 0: one per processor"},
    {"evaluate", 0, CLI_STRING, CLI_RARE, AT(evaluate), "HOW",
     .help = "paper: simulated (default), or measured: by real runs"},
    CLI_RUNTIME_OPTIONS(bench_values, runtime, CLI_RUNTIME_OR_NONE),
    {0},
};

static const char details[] =
    "SUITE is workloads (files that bring their costs; those of $BERTH_SHARED are used where they\n"
    "are), models (the bundled models on described devices), generated (graphs of 100 to 100000\n"
    "operations) or all; the default is workloads. Every row is one method on one workload with\n"
    "the whole budget. In the table, 'above' is how far the result is above the optimum where\n"
    "that is known, else above the bound.\n"
    "\n"
    "learn and ablation are studies of the learned methods: arms on cases with 5 paired seeds and\n"
    "2000 evaluations, on one thread. Each run is a line of JSON in the file of --results, and is\n"
    "not made again; then comes the report, as a table or as JSON. --part 2/4 in four processes\n"
    "with a file each, and then --report with all files, does the same in a quarter of the time.\n"
    "\n"
    "paper is the protocol of the HSDAG paper on its three models: both devices alone, the runtimes'\n"
    "own rule in both orders, and the learned and our methods: latency, gains, search time. It is\n"
    "simulated on the testbed 'paper'; with --runtime and two --devices, the CPU first, it is\n"
    "measured, and outputs are compared. --evaluations is for methods that learn (default 2000),\n"
    "--budget for the others (default 10s), --workload picks models, --arm picks rows.\n"
    "\n"
    "--speed counts, on one core, whole evaluations and single moves on the 237 groups of\n"
    "ResNet-50, models read, and evaluations of graphs from 10^3 to 10^6 operations; --budget\n"
    "is then for each row (default 500ms).\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory, 130 interrupted (what\n"
    "there is so far is printed).\n";

static int run_bench(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_bench = {
    .name = "bench",
    .run = run_bench,
    .summary = "every method on every workload, or the pace of the inner loops",
    .operands = "[SUITE]",
    .max_operands = 1,
    .options = options,
    .details = details,
};

void cli_bench_missing(const bench_values *values, const char *path) {
    if (!values->common.quiet) fprintf(stderr, "berth: warning: %s is not there: passed over\n", path);
}

/* --- the machine ------------------------------------------------------------------------------------------------ */

void cli_bench_machine(berth_text *text, bool json) {
    char processor[128], system[160];
    struct utsname name;
    berth_processor_name(processor, sizeof processor);
    bool known = uname(&name) == 0;
    snprintf(system, sizeof system, "%.70s %.80s", known ? name.sysname : "unknown", known ? name.release : "");
    int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (!json) {
        berth_text_printf(text, "machine: %s, %" PRId64 " cores, %s; berth %s\n", processor, cores, system,
                          berth_version());
        return;
    }
    berth_json_object_begin(text, "machine");
    berth_json_string(text, "processor", processor);
    berth_json_int(text, "cores", cores);
    berth_json_string(text, "system", system);
    berth_json_string(text, "berth", berth_version());
    berth_json_object_end(text);
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

typedef struct bench {
    berth_ctx *ctx;
    berth_text *text;
    const bench_values *values;
    berth_place_options how;
    int32_t n_run; /* cases */
} bench;

static void put_row(const bench *b, const bench_case *item, const berth_device_set *devices, const berth_plan *plan,
                    const char *method) {
    berth_text *text = b->text;
    berth_model model = item->model == BERTH_MODEL_COUNT ? devices->model : item->model;
    double reference = isnan(item->optimum_ms) ? plan ? plan->lower_bound_ms : NAN : item->optimum_ms;
    if (b->values->json) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "suite", item->suite);
        berth_json_string(text, "workload", item->workload);
        berth_json_string(text, "execution_model", berth_model_name(model));
        berth_json_string(text, "objective", item->objective == BERTH_OBJECTIVE_LATENCY ? "latency" : "throughput");
        berth_json_string(text, "devices", devices->source);
        berth_json_string(text, "method", method);
        berth_json_int(text, "seed", (int64_t)b->how.seed);
        berth_json_double(text, "makespan_ms", plan ? plan->makespan_ms : NAN);
        berth_json_double(text, "lower_bound_ms", plan ? plan->lower_bound_ms : NAN);
        berth_json_double(text, "optimum_ms", item->optimum_ms);
        berth_json_int(text, "evaluations", plan ? plan->evaluations : 0);
        berth_json_double(text, "seconds", plan ? plan->seconds : NAN);
        berth_json_bool(text, "feasible", plan != NULL);
        berth_json_object_end(text);
        return;
    }
    berth_text_printf(text, "%-28s %-16s %-10s  %-11s", item->workload, devices->source, berth_model_name(model),
                      method);
    if (!plan) {
        berth_text_printf(text, "  %12s\n", "-");
        return;
    }
    berth_text_printf(text, "  %12.6g", plan->makespan_ms);
    if (reference > 0)
        berth_text_printf(text, "  %8.2f %%", 100 * (plan->makespan_ms / reference - 1));
    else
        berth_text_printf(text, "  %10s", "?");
    berth_text_printf(text, "  %12" PRId64 "  %8.3f\n", plan->evaluations, plan->seconds);
}

static bool is_wanted(const bench *b, const char *method) {
    cli_scan at = b->values->methods.start;
    if (b->values->methods.n == 0) return true;
    for (const char *name; (name = cli_list_next(&b->values->methods, &at));)
        if (strcmp(name, method) == 0) return true;
    return false;
}

/* A method that finds nothing feasible, or is not there, is a row of the table, not a failure. */
static berth_status run_methods(bench *b, const bench_case *item, const berth_graph *graph,
                                const berth_device_set *devices) {
    b->how.model = item->model;
    b->how.objective = item->objective;
    for (int32_t i = 0; berth_method_name(i); i++) {
        berth_plan *plan = NULL;
        if (!is_wanted(b, berth_method_name(i))) continue;
        b->how.method = berth_method_name(i);
        berth_status status = berth_place(b->ctx, &plan, graph, devices, &b->how);
        bool cut_short = status == BERTH_E_CANCELLED || (plan && plan->interrupted);
        if (status == BERTH_OK || status == BERTH_E_INFEASIBLE || status == BERTH_E_UNSUPPORTED) {
            if (!cut_short) put_row(b, item, devices, plan, b->how.method);
            status = cut_short ? BERTH_E_CANCELLED : BERTH_OK;
        }
        berth_plan_free(plan);
        if (status != BERTH_OK) return status;
    }
    return BERTH_OK;
}

static berth_status run_case(void *user, const bench_case *item) {
    bench *b = user;
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_status status = cli_bench_load(b->ctx, item, &graph, &devices);
    if (status == BERTH_OK) {
        b->n_run++;
        status = run_methods(b, item, graph, devices);
    }
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static berth_status fill(bench *b, const char *suite) {
    const bench_values *values = b->values;
    berth_status status;
    if (values->json) {
        berth_json_object_begin(b->text, NULL);
        berth_json_int(b->text, "schema", 1);
    }
    cli_bench_machine(b->text, values->json);
    if (values->speed) {
        status = cli_bench_speed(b->ctx, b->text, values, values->budget ? b->how.seconds : 0.5);
    } else {
        if (values->json)
            berth_json_array_begin(b->text, "results");
        else
            berth_text_printf(b->text, "%-28s %-16s %-10s  %-11s  %12s  %10s  %12s  %8s\n", "workload", "devices",
                              "model", "method", "ms", "above", "evaluations", "seconds");
        status = cli_bench_walk(b->ctx, values, suite, run_case, b);
        if (values->json) berth_json_array_end(b->text);
    }
    if (values->json) berth_json_object_end(b->text);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static bool check(const bench_values *values, berth_place_options *how, const char *suite, char *message, size_t size) {
    static const char *const suites[] = {"workloads", "models", "generated", "all"};
    bool known = false;
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) known |= strcmp(suite, suites[i]) == 0;
    if (!known) {
        snprintf(message, size,
                 "there is no suite '%.60s'; there are workloads, models, generated, all, learn, ablation and paper",
                 suite);
        return false;
    }
    if (values->model && berth_model_find(values->model) == BERTH_MODEL_COUNT) {
        snprintf(message, size, "there is no execution model '%.60s'", values->model);
        return false;
    }
    if (values->budget && !cli_parse_seconds(values->budget, &how->seconds)) {
        snprintf(message, size, "--budget needs a time such as 10s, 500ms or 2m, not '%.60s'", values->budget);
        return false;
    }
    cli_scan at = values->methods.start;
    for (const char *name; (name = cli_list_next(&values->methods, &at));) {
        bool found = false;
        for (int32_t i = 0; berth_method_name(i) && !found; i++) found = strcmp(name, berth_method_name(i)) == 0;
        if (found) continue;
        snprintf(message, size, "there is no method '%.60s'", name);
        return false;
    }
    return true;
}

/* What was run is printed also if files were missing. */
static int finish(const bench *b, berth_status status) {
    bool failed = status != BERTH_OK && status != BERTH_E_CANCELLED;
    int code = CLI_DONE;
    if (!failed || (status == BERTH_E_IO && b->n_run > 0)) code = cli_output_keep(b->ctx, b->text, b->values->output);
    return failed && code == CLI_DONE ? cli_report_failure(b->ctx, status, CLI_READING) : code;
}

static int run_bench(berth_ctx *ctx, int argc, char **argv) {
    bench_values values = {.models = "models"};
    bench b = {.ctx = ctx, .values = &values, .how = berth_place_options_default()};
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_bench, &values, argc, argv, &code)) return code;
    cli_scan at = values.common.operands.start;
    const char *suite = values.common.operands.n ? cli_list_next(&values.common.operands, &at) : "workloads";
    if (strcmp(suite, "paper") == 0) return cli_bench_paper(ctx, &values);
    if (cli_bench_is_study(suite)) return cli_bench_study(ctx, &values, suite);
    b.how.seconds = values.evaluations > 0 ? INFINITY : 1;
    if (!check(&values, &b.how, suite, message, sizeof message)) return cli_report_misuse(&cli_bench, message);
    if (values.evaluations > 0) b.how.evaluations = values.evaluations;
    b.how.seed = (uint64_t)values.seed;
    b.how.threads = (int32_t)values.threads;
    b.how.progress = cli_progress(values.common.quiet);
    berth_status status = berth_text_new(ctx, &b.text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    status = fill(&b, suite);
    cli_progress_end(values.common.quiet);
    code = finish(&b, status);
    berth_text_free(b.text);
    return code;
}
