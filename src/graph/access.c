/* SPDX-License-Identifier: Apache-2.0 */
/* The public accessors: almost nothing is computed here. */
#include "graph/graph.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *berth_format_name(berth_format format) {
    switch (format) {
    case BERTH_FORMAT_OPENVINO_IR: return "openvino-ir";
    case BERTH_FORMAT_ONNX: return "onnx";
    case BERTH_FORMAT_MSR: return "msr";
    case BERTH_FORMAT_MOIRAI: return "moirai";
    case BERTH_FORMAT_DAGBENCH: return "dagbench";
    case BERTH_FORMAT_OTHER: break;
    }
    return "other";
}

void berth_graph_free(berth_graph *graph) {
    if (!graph) return;
    berth_allocator allocator = graph->arena.allocator;
    berth_arena_deinit(&graph->arena);
    berth_resize(&allocator, graph, 1, 0, sizeof *graph);
}

berth_format berth_graph_format(const berth_graph *graph) {
    return graph->format;
}

const char *berth_graph_name(const berth_graph *graph) {
    return graph->name;
}

int64_t berth_graph_version(const berth_graph *graph) {
    return graph->version;
}

const char *berth_graph_fingerprint(const berth_graph *graph) {
    return graph->fingerprint;
}

int32_t berth_graph_op_count(const berth_graph *graph) {
    return graph->n_ops;
}

int32_t berth_graph_tensor_count(const berth_graph *graph) {
    return graph->n_tensors;
}

int32_t berth_graph_edge_count(const berth_graph *graph) {
    return graph->n_edges;
}

int32_t berth_graph_capture_count(const berth_graph *graph) {
    return graph->n_captures;
}

int32_t berth_graph_pair_count(const berth_graph *graph) {
    return graph->n_pairs;
}

const berth_op *berth_graph_op(const berth_graph *graph, int32_t op) {
    assert(op >= 0 && op < graph->n_ops);
    return &graph->ops[op];
}

const berth_tensor *berth_graph_tensor(const berth_graph *graph, int32_t tensor) {
    assert(tensor >= 0 && tensor < graph->n_tensors);
    return &graph->tensors[tensor];
}

const berth_edge *berth_graph_edge(const berth_graph *graph, int32_t edge) {
    assert(edge >= 0 && edge < graph->n_edges + graph->n_captures);
    return &graph->edges[edge];
}

const int32_t *berth_graph_out_edges(const berth_graph *graph, int32_t op, int32_t *n) {
    *n = graph->out_start[op + 1] - graph->out_start[op];
    return graph->out_edges + graph->out_start[op];
}

const int32_t *berth_graph_in_edges(const berth_graph *graph, int32_t op, int32_t *n) {
    *n = graph->in_start[op + 1] - graph->in_start[op];
    return graph->in_edges + graph->in_start[op];
}

const int32_t *berth_graph_order(const berth_graph *graph) {
    return graph->order;
}

const int32_t *berth_graph_rank(const berth_graph *graph) {
    return graph->rank;
}

const int32_t *berth_graph_inputs(const berth_graph *graph, int32_t *n) {
    *n = graph->n_inputs;
    return graph->inputs;
}

const int32_t *berth_graph_outputs(const berth_graph *graph, int32_t *n) {
    *n = graph->n_outputs;
    return graph->outputs;
}

int32_t berth_graph_find_op(const berth_graph *graph, const char *name) {
    for (int32_t op = 0; op < graph->n_ops; op++)
        if (strcmp(graph->ops[op].name, name) == 0) return op;
    return -1;
}

const berth_attribute *berth_op_attribute(const berth_op *op, const char *name) {
    for (int32_t i = 0; i < op->n_attributes; i++)
        if (strcmp(op->attributes[i].name, name) == 0) return &op->attributes[i];
    return NULL;
}

const berth_given_costs *berth_graph_given_costs(const berth_graph *graph) {
    return graph->given;
}

double berth_given_edge_ms(const berth_given_costs *costs, int32_t edge, int32_t from, int32_t to) {
    assert(from >= 0 && from < costs->n_devices && to >= 0 && to < costs->n_devices);
    size_t n = (size_t)costs->n_devices, link = (size_t)from * n + (size_t)to;
    if (costs->edge_ms) return costs->edge_ms[(size_t)edge * n * n + link];
    /* Nothing at all cannot be sent either where there is no link; the product would be NaN. */
    return isinf(costs->link_ms[link]) ? INFINITY : costs->edge_amount[edge] * costs->link_ms[link];
}
