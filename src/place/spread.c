/* SPDX-License-Identifier: Apache-2.0 */
/* Backwards, so that whatever a constant is read by has its device; then outputs, which read. */
#include "place/spread.h"

/* The device of the first operation, in execution order, that reads from this one and is no output; -1: none. */
static int32_t reader_device(const berth_graph *graph, const int32_t *device, int32_t op) {
    const int32_t *rank = berth_graph_rank(graph);
    int32_t n = 0, first = -1;
    const int32_t *edges = berth_graph_out_edges(graph, op, &n);
    for (int32_t i = 0; i < n; i++) {
        int32_t to = berth_graph_edge(graph, edges[i])->to;
        if (berth_graph_op(graph, to)->flags & BERTH_OP_OUTPUT) continue;
        if (first < 0 || rank[to] < rank[first]) first = to;
    }
    return first < 0 ? -1 : device[first];
}

void berth_spread(const berth_graph *graph, const berth_costs *costs, const int32_t *task_device, int32_t *op_device) {
    const int32_t *order = berth_graph_order(graph);
    int32_t n = berth_graph_op_count(graph), n_in = 0;
    for (int32_t task = 0; task < costs->n_tasks; task++) op_device[costs->task_op[task]] = task_device[task];
    for (int32_t i = n - 1; i >= 0; i--) {
        uint32_t flags = berth_graph_op(graph, order[i])->flags;
        if (costs->op_task[order[i]] >= 0 || (flags & BERTH_OP_OUTPUT)) continue;
        int32_t device = reader_device(graph, op_device, order[i]);
        op_device[order[i]] = device < 0 ? costs->host : device;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!(berth_graph_op(graph, order[i])->flags & BERTH_OP_OUTPUT)) continue;
        const int32_t *edges = berth_graph_in_edges(graph, order[i], &n_in);
        op_device[order[i]] = n_in ? op_device[berth_graph_edge(graph, edges[0])->from] : costs->host;
    }
}
