/* SPDX-License-Identifier: Apache-2.0 */
/* `berth inspect --json`. The keys are a promise (docs/formats.md): more may be added, none changes its meaning. */
#include "cli/inspect.h"
#include "cli/tensors.h"

enum { MOST_UNKNOWN_NAMES = 100 };

/* FLOPs are counted in doubles, because they may pass 2^63; as long as they are exact they print as whole numbers. */
static void put_flops(berth_text *text, const char *key, double flops) {
    if (flops < 9007199254740992.0)
        berth_json_int(text, key, (int64_t)flops);
    else
        berth_json_double(text, key, flops);
}

static void put_shape(berth_text *text, const char *key, const berth_shape *shape) {
    if (shape->rank < 0) {
        berth_json_null(text, key);
        return;
    }
    char word[BERTH_DIM_SIZE];
    berth_json_array_begin(text, key);
    for (int32_t i = 0; i < shape->rank; i++) {
        const berth_dim *dim = &shape->dims[i];
        if (dim->min == dim->max)
            berth_json_int(text, NULL, dim->min);
        else
            berth_json_string(text, NULL, berth_dim_word(dim, word));
    }
    berth_json_array_end(text);
}

static void put_tensors(berth_text *text, const char *key, const berth_graph *graph, const int32_t *tensors,
                        int32_t n) {
    berth_json_array_begin(text, key);
    for (int32_t i = 0; i < n; i++) {
        const berth_tensor *tensor = berth_graph_tensor(graph, tensors[i]);
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", cli_tensor_name(graph, tensor));
        berth_json_string(text, "type", berth_type_name(tensor->type));
        put_shape(text, "shape", &tensor->shape);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

static void put_census(berth_text *text, const berth_census *census) {
    berth_json_object_begin(text, "types");
    for (int32_t i = 0; i < census->n_types; i++) berth_json_int(text, census->rows[i].type, census->rows[i].n_ops);
    berth_json_object_end(text);
}

static void put_groups(berth_text *text, const inspection *found) {
    berth_json_object_begin(text, "groups");
    for (int rule = 0; rule < INSPECT_N_RULES; rule++) {
        berth_json_inline(text);
        berth_json_object_begin(text, berth_group_rule_name((berth_group_rule)rule));
        berth_json_int(text, "groups", found->groups[rule]->n_groups);
        berth_json_int(text, "edges", found->groups[rule]->n_edges);
        berth_json_object_end(text);
    }
    berth_json_object_end(text);
}

static void put_unknown(berth_text *text, const inspection *found) {
    const berth_work *work = found->work;
    int32_t named = 0;
    berth_json_int(text, "unknown_shapes", work->unknown_shapes);
    berth_json_array_begin(text, "unknown_tensors");
    for (int32_t t = 0; named < work->unknown_shapes && named < MOST_UNKNOWN_NAMES; t++) {
        const berth_tensor *tensor = berth_graph_tensor(found->graph, t);
        if (!cli_tensor_is_unknown(tensor)) continue;
        berth_json_string(text, NULL, cli_tensor_name(found->graph, tensor));
        named++;
    }
    berth_json_array_end(text);
    berth_json_int(text, "unknown_work", found->n_unknown_work);
    berth_json_array_begin(text, "unknown_types");
    for (int32_t i = 0; i < work->n_unknown_types; i++) berth_json_string(text, NULL, work->unknown_types[i]);
    berth_json_array_end(text);
}

static void put_devices(berth_text *text, const inspection *found) {
    const berth_given_costs *given = berth_graph_given_costs(found->graph);
    if (!given) return;
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < given->n_devices; d++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", given->device_names[d]);
        berth_json_double(text, "total_ms", cli_device_total(found->graph, d));
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

void cli_inspect_json(berth_text *text, const inspection *found) {
    const berth_graph *graph = found->graph;
    int32_t n_inputs = 0, n_outputs = 0;
    const int32_t *inputs = berth_graph_inputs(graph, &n_inputs);
    const int32_t *outputs = berth_graph_outputs(graph, &n_outputs);
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "format", berth_format_name(berth_graph_format(graph)));
    berth_json_int(text, "version", berth_graph_version(graph));
    berth_json_string(text, "name", berth_graph_name(graph));
    berth_json_int(text, "operations", berth_graph_op_count(graph));
    berth_json_int(text, "edges", berth_graph_edge_count(graph));
    berth_json_int(text, "pairs", berth_graph_pair_count(graph));
    berth_json_int(text, "captures", berth_graph_capture_count(graph));
    berth_json_int(text, "constants", found->n_constants);
    berth_json_int(text, "bodies", found->n_bodies);
    berth_json_int(text, "nested_operations", found->n_nested_ops);
    put_census(text, found->census);
    put_groups(text, found);
    put_flops(text, "flops", found->work->flops);
    berth_json_int(text, "parameters", found->work->parameters);
    berth_json_int(text, "parameter_bytes", found->work->parameter_bytes);
    berth_json_int(text, "activation_bytes", found->work->activation_bytes);
    put_unknown(text, found);
    put_tensors(text, "inputs", graph, inputs, n_inputs);
    put_tensors(text, "outputs", graph, outputs, n_outputs);
    put_devices(text, found);
    berth_json_string(text, "fingerprint", berth_graph_fingerprint(graph));
    berth_json_object_end(text);
}
