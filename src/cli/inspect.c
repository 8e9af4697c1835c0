/* SPDX-License-Identifier: Apache-2.0 */
/* `berth inspect`: read a model, group it, count its work, and print that in one of four forms. */
#include "cli/inspect.h"

#include "berth/print.h"
#include "berth/read.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/shapes.h"
#include "cli/usage.h"

typedef struct inspect_values {
    cli_common common;
    bool json, table, dot;
    cli_list shapes;
    const char *output;
} inspect_values;

static const cli_option options[] = {
    {"json", 0, CLI_FLAG, CLI_USUAL, offsetof(inspect_values, json), NULL, .help = "print one JSON document"},
    {"table", 0, CLI_FLAG, CLI_USUAL, offsetof(inspect_values, table), NULL,
     .help = "print one row per operation, tab-separated"},
    {"dot", 0, CLI_FLAG, CLI_USUAL, offsetof(inspect_values, dot), NULL,
     .help = "print the graph in Graphviz's language"},
    {"shape", 0, CLI_LIST, CLI_USUAL, offsetof(inspect_values, shapes), "NAME=DIMS",
     .help = "shape of an input, as in x=1x3x224x224"},
    {"output", 'o', CLI_STRING, CLI_USUAL, offsetof(inspect_values, output), "FILE",
     .help = "write to FILE instead of standard output"},
    {0},
};

static const char details[] = "MODEL is an OpenVINO IR (.xml), an ONNX model or a workload file (MSR, Moirai,\n"
                              "DAGBench), each also packed by gzip; - is standard input. The format is found from\n"
                              "the content. Weights are never read, and no other file is opened.\n"
                              "\n"
                              "Without --json, --table or --dot it prints a summary. FLOPs are 2 x multiply-adds;\n"
                              "k, M, G are powers of 1000. docs/formats.md describes the other forms.\n"
                              "\n"
                              "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits,\n"
                              "130 interrupted.\n";

static int run_inspect(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_inspect = {
    .name = "inspect",
    .run = run_inspect,
    .summary = "what a file holds: operations, edges, shapes, FLOPs, bytes, groups",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .details = details,
};

double cli_device_total(const berth_graph *graph, int32_t device) {
    const berth_given_costs *given = berth_graph_given_costs(graph);
    double total = 0;
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++)
        total += given->op_ms[(int64_t)op * given->n_devices + device];
    return total;
}

static void count_ops(inspection *found) {
    bool given = berth_graph_given_costs(found->graph); /* then nobody asks for FLOPs */
    for (int32_t i = 0; i < berth_graph_op_count(found->graph); i++) {
        const berth_op *op = berth_graph_op(found->graph, i);
        found->n_unknown_work += !given && !found->work->ops[i].known;
        found->n_constants += (op->flags & BERTH_OP_CONSTANT) != 0;
        found->n_bodies += op->n_bodies;
        found->n_nested_ops += op->n_nested_ops;
    }
}

/* All that follows from the graph. */
static berth_status examine(berth_ctx *ctx, inspection *found) {
    berth_status status = berth_work_compute(ctx, &found->work, found->graph);
    if (status == BERTH_OK) status = berth_census_build(ctx, &found->census, found->graph, found->work);
    for (int rule = 0; rule < INSPECT_N_RULES && status == BERTH_OK; rule++)
        status = berth_groups_build(ctx, &found->groups[rule], found->graph, (berth_group_rule)rule);
    if (status == BERTH_OK) count_ops(found);
    return status;
}

static void inspection_deinit(inspection *found) {
    for (int rule = 0; rule < INSPECT_N_RULES; rule++) berth_groups_free(found->groups[rule]);
    berth_census_free(found->census);
    berth_work_free(found->work);
    berth_graph_free(found->graph);
}

static int print(berth_ctx *ctx, const inspect_values *values, const inspection *found) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    if (values->json)
        cli_inspect_json(text, found);
    else if (values->table)
        cli_inspect_table(text, found);
    else if (values->dot)
        berth_graph_dot(text, found->graph, NULL);
    else
        cli_inspect_summary(text, found);
    int code = cli_output_write(ctx, text, values->output);
    berth_text_free(text);
    return code;
}

static int inspect(berth_ctx *ctx, const inspect_values *values, const cli_shapes *shapes) {
    cli_scan at = values->common.operands.start;
    inspection found = {.path = cli_list_next(&values->common.operands, &at)};
    berth_read_options read = berth_read_options_default();
    read.shapes = shapes->bindings;
    read.n_shapes = shapes->n;
    int code;
    berth_status status = berth_graph_read(ctx, &found.graph, found.path, &read);
    if (status != BERTH_OK)
        code = cli_report_failure(ctx, status, CLI_READING);
    else if ((status = examine(ctx, &found)) != BERTH_OK)
        code = cli_report_failure(ctx, status, CLI_WORKING);
    else
        code = print(ctx, values, &found);
    inspection_deinit(&found);
    return code;
}

static int run_inspect(berth_ctx *ctx, int argc, char **argv) {
    inspect_values values = {0};
    cli_shapes shapes = {0};
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_inspect, &values, argc, argv, &code)) return code;
    if (values.json + values.table + values.dot > 1)
        return cli_report_misuse(&cli_inspect, "--json, --table and --dot exclude each other");
    if (!cli_shapes_parse(&shapes, &values.shapes, message, sizeof message))
        return cli_report_misuse(&cli_inspect, message);
    return inspect(ctx, &values, &shapes);
}
