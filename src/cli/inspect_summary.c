/* SPDX-License-Identifier: Apache-2.0 */
/* The summary: what an engineer wants to see first, one fact a line, lists cut to what fits a screen. A line that would
 * say nothing (no nested graphs, no unknown types) is left out; that all shapes are known is always said. */
#include "cli/inspect.h"
#include "cli/tensors.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { KEY_WIDTH = 13, NAME_WIDTH = 48, MOST_ROWS = 8, MOST_NAMES = 4 };

/* Every line starts with its key; the further lines of a list have none. */
static void put_key(berth_text *text, const char *key) {
    berth_text_printf(text, "%-*s", KEY_WIDTH, key);
}

static const char *plural(int64_t n) {
    return n == 1 ? "" : "s";
}

static void end_line(berth_text *text) {
    berth_text_append(text, "\n", 1);
}

/* What a list that was cut has left. */
static void put_rest(berth_text *text, int32_t n_left) {
    if (n_left <= 0) return;
    put_key(text, "");
    berth_text_printf(text, "and %" PRId32 " more\n", n_left);
}

static void put_file(berth_text *text, const inspection *found) {
    static const struct {
        const char *title, *version;
    } formats[] = {
        [BERTH_FORMAT_OTHER] = {"other", "version"},
        [BERTH_FORMAT_OPENVINO_IR] = {"OpenVINO IR", "version"},
        [BERTH_FORMAT_ONNX] = {"ONNX", "opset"},
        [BERTH_FORMAT_MSR] = {"MSR workload", "version"},
        [BERTH_FORMAT_MOIRAI] = {"Moirai workload", "version"},
        [BERTH_FORMAT_DAGBENCH] = {"DAGBench workload", "version"},
    };
    berth_format format = berth_graph_format(found->graph);
    int64_t version = berth_graph_version(found->graph);
    put_key(text, "file");
    cli_text_escaped(text, strcmp(found->path, "-") == 0 ? "standard input" : found->path);
    end_line(text);
    put_key(text, "format");
    berth_text_printf(text, "%s", formats[format].title);
    if (version > 0) berth_text_printf(text, ", %s %" PRId64, formats[format].version, version);
    end_line(text);
    if (!*berth_graph_name(found->graph)) return;
    put_key(text, "name");
    cli_text_cell(text, berth_graph_name(found->graph), 0, NAME_WIDTH);
    end_line(text);
}

static void put_structure(berth_text *text, const inspection *found) {
    const berth_graph *graph = found->graph;
    int32_t n_types = found->census->n_types, n_captures = berth_graph_capture_count(graph);
    put_key(text, "operations");
    berth_text_printf(text, "%" PRId32 " of %" PRId32 " type%s", berth_graph_op_count(graph), n_types, plural(n_types));
    if (found->n_constants > 0)
        berth_text_printf(text, ", %" PRId32 " of them constant expressions", found->n_constants);
    end_line(text);
    put_key(text, "edges");
    berth_text_printf(text, "%" PRId32 " between %" PRId32 " pair%s", berth_graph_edge_count(graph),
                      berth_graph_pair_count(graph), plural(berth_graph_pair_count(graph)));
    if (n_captures > 0) berth_text_printf(text, ", and %" PRId32 " captured by nested graphs", n_captures);
    end_line(text);
    if (found->n_bodies == 0) return;
    put_key(text, "nested");
    berth_text_printf(text, "%" PRId64 " graph%s with %" PRId64 " operation%s, not counted above\n", found->n_bodies,
                      plural(found->n_bodies), found->n_nested_ops, plural(found->n_nested_ops));
}

/* Sums leave out what is not known, and say so. */
static void put_work(berth_text *text, const inspection *found) {
    char count[CLI_SCALED_SIZE], bytes[CLI_SCALED_SIZE];
    const berth_work *work = found->work;
    int32_t n_unknown = found->n_unknown_work;
    put_key(text, "work");
    berth_text_printf(text, "%s%s", n_unknown ? "at least " : "", cli_scaled(work->flops, "FLOP", count));
    if (n_unknown > 0) berth_text_printf(text, "; unknown for %" PRId32 " operation%s", n_unknown, plural(n_unknown));
    end_line(text);
    put_key(text, "parameters");
    berth_text_printf(text, "%s; constants %s\n", cli_scaled((double)work->parameters, "", count),
                      cli_scaled((double)work->parameter_bytes, "B", bytes));
    put_key(text, "activations");
    berth_text_printf(text, "%s%s\n", work->unknown_shapes ? "at least " : "",
                      cli_scaled((double)work->activation_bytes, "B", bytes));
}

static bool has_open_input(const berth_graph *graph) {
    int32_t n = 0;
    const int32_t *inputs = berth_graph_inputs(graph, &n);
    for (int32_t i = 0; i < n; i++)
        if (cli_tensor_is_unknown(berth_graph_tensor(graph, inputs[i]))) return true;
    return false;
}

static void put_shapes(berth_text *text, const inspection *found) {
    int32_t n_unknown = found->work->unknown_shapes, n_named = 0;
    put_key(text, "shapes");
    if (n_unknown == 0) {
        berth_text_printf(text, "all known\n");
        return;
    }
    berth_text_printf(text, "%" PRId32 " unknown:", n_unknown);
    for (int32_t t = 0; n_named < n_unknown && n_named < MOST_NAMES; t++) {
        const berth_tensor *tensor = berth_graph_tensor(found->graph, t);
        if (!cli_tensor_is_unknown(tensor)) continue;
        berth_text_printf(text, "%s ", n_named++ ? "," : "");
        cli_text_cell(text, cli_tensor_name(found->graph, tensor), 0, NAME_WIDTH);
    }
    if (n_unknown > n_named) berth_text_printf(text, " and %" PRId32 " more", n_unknown - n_named);
    if (has_open_input(found->graph)) berth_text_printf(text, "; --shape binds inputs");
    end_line(text);
}

static void put_tensors(berth_text *text, const char *key, const berth_graph *graph, const int32_t *tensors,
                        int32_t n) {
    int32_t n_shown = n < MOST_ROWS ? n : MOST_ROWS;
    int width = 0;
    for (int32_t i = 0; i < n_shown; i++) {
        int own = cli_columns(cli_tensor_name(graph, berth_graph_tensor(graph, tensors[i])), NAME_WIDTH);
        if (own > width) width = own < NAME_WIDTH ? own : NAME_WIDTH;
    }
    for (int32_t i = 0; i < n_shown; i++) {
        const berth_tensor *tensor = berth_graph_tensor(graph, tensors[i]);
        put_key(text, i == 0 ? key : "");
        cli_text_cell(text, cli_tensor_name(graph, tensor), width, NAME_WIDTH);
        berth_text_printf(text, "  %s  ", berth_type_name(tensor->type));
        berth_text_shape(text, &tensor->shape, cli_text_escaped);
        end_line(text);
    }
    put_rest(text, n - n_shown);
}

static void put_groups(berth_text *text, const inspection *found) {
    for (int rule = 0; rule < INSPECT_N_RULES; rule++) {
        put_key(text, rule == 0 ? "groups" : "");
        berth_text_printf(text, "%-6s %6" PRId32 " groups %6" PRId32 " edges\n",
                          berth_group_rule_name((berth_group_rule)rule), found->groups[rule]->n_groups,
                          found->groups[rule]->n_edges);
    }
}

/* Most work first, then most operations, then by name. */
static bool stands_before(const berth_census_row *a, const berth_census_row *b) {
    if (a->flops != b->flops) return a->flops > b->flops;
    if (a->n_ops != b->n_ops) return a->n_ops > b->n_ops;
    return strcmp(a->type, b->type) < 0;
}

/* The row that follows `last` in that order (the first one, if it is NULL). */
static const berth_census_row *next_row(const berth_census *census, const berth_census_row *last) {
    const berth_census_row *best = NULL;
    for (int32_t i = 0; i < census->n_types; i++) {
        const berth_census_row *row = &census->rows[i];
        if ((!last || stands_before(last, row)) && (!best || stands_before(row, best))) best = row;
    }
    return best;
}

static void put_types(berth_text *text, const inspection *found) {
    char flops[CLI_SCALED_SIZE];
    double all = found->work->flops;
    int32_t n_shown = 0;
    const berth_census_row *row = NULL;
    while (n_shown < MOST_ROWS && (row = next_row(found->census, row))) {
        put_key(text, n_shown++ == 0 ? "types" : "");
        cli_text_cell(text, row->type, 20, 30);
        berth_text_printf(text, " %6" PRId32, row->n_ops);
        if (row->flops > 0)
            berth_text_printf(text, "  %10s %6.2f %%", cli_scaled(row->flops, "FLOP", flops), 100 * row->flops / all);
        end_line(text);
    }
    put_rest(text, found->census->n_types - n_shown);
}

static void put_unknown_types(berth_text *text, const berth_work *work) {
    if (work->n_unknown_types == 0) return;
    put_key(text, "unknown ops");
    for (int32_t i = 0; i < work->n_unknown_types && i < MOST_NAMES; i++) {
        berth_text_printf(text, "%s", i ? ", " : "");
        cli_text_cell(text, work->unknown_types[i], 0, NAME_WIDTH);
    }
    if (work->n_unknown_types > MOST_NAMES)
        berth_text_printf(text, " and %" PRId32 " more", work->n_unknown_types - MOST_NAMES);
    end_line(text);
}

/* Workload files bring their devices: how long everything would take on each, one operation after another. */
static void put_devices(berth_text *text, const inspection *found) {
    const berth_given_costs *given = berth_graph_given_costs(found->graph);
    int32_t n_shown = given->n_devices < MOST_ROWS ? given->n_devices : MOST_ROWS;
    for (int32_t d = 0; d < n_shown; d++) {
        double total = cli_device_total(found->graph, d);
        put_key(text, d == 0 ? "devices" : "");
        cli_text_cell(text, given->device_names[d], 10, NAME_WIDTH);
        if (isfinite(total))
            berth_text_printf(text, " %12.3f ms for all operations in turn\n", total);
        else
            berth_text_printf(text, " cannot run every operation\n");
    }
    put_rest(text, given->n_devices - n_shown);
}

/* What a model file says and a workload file does not. */
static void put_model(berth_text *text, const inspection *found) {
    const berth_graph *graph = found->graph;
    int32_t n_inputs = 0, n_outputs = 0;
    const int32_t *inputs = berth_graph_inputs(graph, &n_inputs);
    const int32_t *outputs = berth_graph_outputs(graph, &n_outputs);
    put_work(text, found);
    put_shapes(text, found);
    put_tensors(text, "inputs", graph, inputs, n_inputs);
    put_tensors(text, "outputs", graph, outputs, n_outputs);
    put_types(text, found);
    put_unknown_types(text, found->work);
}

void cli_inspect_summary(berth_text *text, const inspection *found) {
    put_file(text, found);
    put_structure(text, found);
    if (berth_graph_given_costs(found->graph))
        put_devices(text, found);
    else
        put_model(text, found);
    put_groups(text, found);
    put_key(text, "fingerprint");
    berth_text_printf(text, "%s\n", berth_graph_fingerprint(found->graph));
}
