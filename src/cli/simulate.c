/* SPDX-License-Identifier: Apache-2.0 */
/* `berth simulate`: a plan's timeline and makespan. The plan brings devices, limits and input shapes, so that the model
 * and the plan are all that it needs. */
#include "cli/simulate.h"

#include "cli/output.h"
#include "cli/report.h"
#include "cli/shapes.h"
#include "cli/tensors.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <stdio.h>

typedef struct simulate_values {
    cli_common common;
    const char *profile, *output;
    cli_list shapes;
    bool json, force;
} simulate_values;

#define AT(member) offsetof(simulate_values, member)

static const cli_option options[] = {
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print one JSON document"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write to FILE instead of standard output"},
    {"force", 0, CLI_FLAG, CLI_USUAL, AT(force), NULL, .help = "use a plan that was made for another model"},
    {"profile", 0, CLI_STRING, CLI_RARE, AT(profile), "FILE", .help = "where the plan's measured times are now"},
    {"shape", 0, CLI_LIST, CLI_RARE, AT(shapes), "NAME=DIMS", .help = "shape of an input (default: as in the plan)"},
    {0},
};

static const char details[] =
    "Simulates MODEL as PLAN, a file that 'berth place -o' wrote, says. The makespan is the one\n"
    "that 'berth place' printed. A plan that was made for another model is refused, unless\n"
    "--force finds its operations by name.\n"
    "\n"
    "In the timeline a # is busy for most of its time, + for some, - for little of it.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 the\n"
    "placement is not feasible, 130 interrupted.\n";

static int run_simulate(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_simulate = {
    .name = "simulate",
    .run = run_simulate,
    .summary = "timeline and makespan of a plan",
    .operands = "MODEL PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .details = details,
};

/* --- output ----------------------------------------------------------------------------------------------------- */

static void put_event(berth_text *text, const berth_plan *plan, const berth_graph *graph, const berth_event *event) {
    static const char *const kinds[] = {
        [BERTH_EVENT_RUN] = "run", [BERTH_EVENT_COPY] = "copy", [BERTH_EVENT_PIECE] = "piece"};
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "what", kinds[event->kind]);
    if (event->kind == BERTH_EVENT_COPY) {
        char link[512];
        snprintf(link, sizeof link, "%.200s->%.200s", plan->device_names[event->from], plan->device_names[event->to]);
        berth_json_string(text, "tensor", cli_tensor_name(graph, berth_graph_tensor(graph, event->tensor)));
        berth_json_string(text, "link", link);
    } else {
        berth_json_string(text, "operation", berth_graph_op(graph, event->op)->name);
        berth_json_int(text, "index", event->op);
        berth_json_string(text, "device", plan->device_names[event->from]);
    }
    berth_json_double(text, "start_ms", event->start_ms);
    berth_json_double(text, "end_ms", event->end_ms);
    berth_json_object_end(text);
}

static void put_json(berth_text *text, const berth_plan *plan, const berth_graph *graph,
                     const berth_timeline *timeline) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "execution_model", berth_model_name(timeline->model));
    berth_json_string(text, "objective", plan->objective == BERTH_OBJECTIVE_LATENCY ? "latency" : "throughput");
    berth_json_double(text, "makespan_ms", timeline->makespan_ms);
    berth_json_inline(text);
    berth_json_object_begin(text, "memory_peak_bytes");
    for (int32_t d = 0; d < timeline->n_devices; d++)
        berth_json_double(text, plan->device_names[d], timeline->memory_peak_bytes[d]);
    berth_json_object_end(text);
    berth_json_array_begin(text, "timeline");
    for (int32_t i = 0; i < timeline->n_events; i++) put_event(text, plan, graph, &timeline->events[i]);
    berth_json_array_end(text);
    berth_json_object_end(text);
}

static void put_summary(berth_text *text, const berth_plan *plan, const berth_graph *graph,
                        const berth_timeline *timeline) {
    cli_text_key(text, "simulated");
    berth_text_printf(text, "nothing was run; execution model %s\n", berth_model_name(timeline->model));
    cli_text_key(text, plan->objective == BERTH_OBJECTIVE_LATENCY ? "makespan" : "largest load");
    berth_text_printf(text, "%.6g ms", timeline->makespan_ms);
    if (timeline->makespan_ms != plan->makespan_ms)
        berth_text_printf(text, "; the plan says %.6g ms", plan->makespan_ms);
    berth_text_printf(text, "\n");
    cli_timeline_devices(text, plan, timeline);
    cli_timeline_copies(text, graph, timeline);
    cli_timeline_bars(text, plan, timeline);
}

static int print(berth_ctx *ctx, const simulate_values *values, const berth_plan *plan, const berth_graph *graph,
                 const berth_timeline *timeline) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    (values->json ? put_json : put_summary)(text, plan, graph, timeline);
    int code = cli_output_write(ctx, text, values->output);
    berth_text_free(text);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static int simulate(berth_ctx *ctx, const simulate_values *values, const cli_shapes *shapes) {
    cli_scan at = values->common.operands.start;
    const char *model = cli_list_next(&values->common.operands, &at);
    const char *path = cli_list_next(&values->common.operands, &at);
    berth_read_options read = berth_read_options_default();
    berth_plan *plan = NULL;
    berth_graph *graph = NULL;
    berth_timeline *timeline = NULL;
    berth_status status = berth_plan_read(ctx, &plan, path);
    if (status == BERTH_OK) {
        read.shapes = shapes->n ? shapes->bindings : plan->shapes;
        read.n_shapes = shapes->n ? shapes->n : plan->n_shapes;
        status = berth_graph_read(ctx, &graph, model, &read);
    }
    if (status == BERTH_OK) status = berth_plan_simulate(ctx, &timeline, plan, graph, values->profile, values->force);
    int code =
        status == BERTH_OK ? print(ctx, values, plan, graph, timeline) : cli_report_failure(ctx, status, CLI_READING);
    berth_timeline_free(timeline);
    berth_graph_free(graph);
    berth_plan_free(plan);
    return code;
}

static int run_simulate(berth_ctx *ctx, int argc, char **argv) {
    simulate_values values = {0};
    cli_shapes shapes = {0};
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_simulate, &values, argc, argv, &code)) return code;
    if (!cli_shapes_parse(&shapes, &values.shapes, message, sizeof message))
        return cli_report_misuse(&cli_simulate, message);
    return simulate(ctx, &values, &shapes);
}
