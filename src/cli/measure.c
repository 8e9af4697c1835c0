/* SPDX-License-Identifier: Apache-2.0 */
/* `berth measure`: a plan, really run: latency against every single device, outputs compared, places checked. */
#include "cli/measure.h"

#include "berth/plan.h"
#include "cli/amounts.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/running.h"
#include "cli/shapes.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct measure_values {
    cli_common common;
    cli_running running;
    const char *output, *budget;
    cli_list shapes, providers;
    bool json, force;
} measure_values;

#define AT(member) offsetof(measure_values, member)

static const cli_option options[] = {
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print one JSON document"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write to FILE instead of standard output"},
    {"budget", 'b', CLI_STRING, CLI_USUAL, AT(budget), "TIME", .help = "no further round after it (default 60s)"},
    {"provider", 0, CLI_LIST, CLI_USUAL, AT(providers), "DEVICE=NAME",
     .help = "device to use for one that the plan only describes, as in gpu=cuda"},
    {"force", 0, CLI_FLAG, CLI_USUAL, AT(force), NULL, .help = "use a plan that was made for another model"},
    {"shape", 0, CLI_LIST, CLI_RARE, AT(shapes), "NAME=DIMS", .help = "shape of an input (default: as in the plan)"},
    CLI_RUNNING_OPTIONS(measure_values, running),
    {0},
};

static const char details[] =
    "Runs MODEL as PLAN, a file that 'berth place -o' wrote, says, and on each of its devices\n"
    "alone, as a stock session has it. Every candidate has processes of its own; they take turns\n"
    "in random order, with the same inputs and threads. Outputs are compared with those of the\n"
    "CPU, and the runtime's own profile tells where each operation ran. Without --precision it is\n"
    "that of the plan's own runs.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 the plan\n"
    "cannot be run, or its outputs differ, 130 interrupted.\n";

static int run_measure(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_measure = {
    .name = "measure",
    .run = run_measure,
    .summary = "run a plan: latency, outputs, where operations ran",
    .operands = "MODEL PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .details = details,
};

/* --- output ----------------------------------------------------------------------------------------------------- */

static void put_json(berth_text *text, const berth_plan *plan, const berth_graph *graph, const berth_measured *m) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_double(text, "predicted_ms", plan->makespan_ms);
    berth_measured_write(text, m, graph);
    berth_json_object_end(text);
}

static void put_summary(berth_text *text, const berth_plan *plan, const berth_graph *graph, const berth_measured *m) {
    cli_measured_summary(text, graph, m);
    cli_text_key(text, "predicted");
    berth_text_printf(text, "%.4g ms (%s)\n", plan->makespan_ms, plan->costs);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

typedef struct job {
    const measure_values *values;
    const cli_shapes *shapes;
    const cli_pairs *providers;
    berth_run_options how;
    berth_plan *plan;
    berth_graph *graph;
    berth_placement *placement;
    berth_runtime *runtime;
    berth_measured *measured;
    const char *devices[BERTH_MAX_DEVICES];
} job;

static berth_status open_all(berth_ctx *ctx, job *j, const char *model, const char *path) {
    berth_read_options read = berth_read_options_default();
    berth_status status = berth_plan_read(ctx, &j->plan, path);
    if (status == BERTH_OK) {
        read.shapes = j->shapes->n ? j->shapes->bindings : j->plan->shapes;
        read.n_shapes = j->shapes->n ? j->shapes->n : j->plan->n_shapes;
        status = berth_graph_read(ctx, &j->graph, model, &read);
    }
    if (status == BERTH_OK) status = berth_plan_fit(ctx, &j->placement, j->plan, j->graph, j->values->force);
    for (int32_t d = 0; status == BERTH_OK && d < j->plan->n_devices; d++) {
        j->devices[d] = j->plan->device_names[d];
        for (int32_t i = 0; i < j->providers->n; i++)
            if (strcmp(j->providers->pairs[i].name, j->devices[d]) == 0) j->devices[d] = j->providers->pairs[i].value;
    }
    if (status == BERTH_OK && !j->values->running.precision) j->how.native_precision = j->plan->native_precision;
    if (status == BERTH_OK) status = cli_runtime_open(ctx, &j->runtime, &j->values->running.runtime);
    return status;
}

static int print(berth_ctx *ctx, const job *j) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    (j->values->json ? put_json : put_summary)(text, j->plan, j->graph, j->measured);
    int code = cli_output_write(ctx, text, j->values->output);
    berth_text_free(text);
    const berth_measured *m = j->measured;
    bool failed = *m->plan.reason || (!isnan(m->outputs.max_abs) && !m->outputs.equal);
    return code == CLI_DONE && failed ? CLI_INFEASIBLE : code;
}

static int measure(berth_ctx *ctx, job *j) {
    cli_scan at = j->values->common.operands.start;
    const char *model = cli_list_next(&j->values->common.operands, &at);
    const char *path = cli_list_next(&j->values->common.operands, &at);
    berth_status status = open_all(ctx, j, model, path);
    if (status == BERTH_OK)
        status = berth_measure(ctx, &j->measured, j->runtime, j->graph, model, j->devices, j->plan->n_devices,
                               j->placement, &j->how);
    cli_progress_end(j->values->common.quiet);
    int code = status == BERTH_OK ? print(ctx, j) : cli_report_failure(ctx, status, CLI_READING);
    berth_measured_free(j->measured);
    berth_runtime_free(j->runtime);
    berth_placement_free(j->placement);
    berth_graph_free(j->graph);
    berth_plan_free(j->plan);
    return code;
}

static bool parse(measure_values *values, job *j, cli_shapes *shapes, cli_pairs *inputs, cli_pairs *providers,
                  char *message, size_t size) {
    if (!cli_shapes_parse(shapes, &values->shapes, message, size) ||
        !cli_running_parse(&values->running, inputs, &j->how, values->common.quiet, message, size) ||
        !cli_pairs_parse(providers, &values->providers, "--provider DEVICE=NAME", message, size))
        return false;
    j->how.seconds = 60;
    if (!values->budget || cli_parse_seconds(values->budget, &j->how.seconds)) return true;
    snprintf(message, size, "--budget needs a time such as 10s, 500ms or 2m, not '%.60s'", values->budget);
    return false;
}

static int run_measure(berth_ctx *ctx, int argc, char **argv) {
    measure_values values = {0};
    static cli_shapes shapes;
    static cli_pairs inputs, providers;
    char message[512];
    int code = CLI_DONE;
    job j = {.values = &values, .shapes = &shapes, .providers = &providers, .how = berth_run_options_default()};
    if (!cli_command_begin(ctx, &cli_measure, &values, argc, argv, &code)) return code;
    if (!parse(&values, &j, &shapes, &inputs, &providers, message, sizeof message))
        return cli_report_misuse(&cli_measure, message);
    return measure(ctx, &j);
}
