/* SPDX-License-Identifier: Apache-2.0 */
/* Levels along paths, then connected sets of equal level and device. */
#include "runtime/parts.h"

#include "base/arena.h"
#include "base/leader.h"

static bool runs(const berth_graph *graph, int32_t op) {
    return !(berth_graph_op(graph, op)->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT));
}

static void visit(const berth_graph *graph, const int32_t *device, int32_t op, int32_t *level, int32_t *leader) {
    int32_t n = 0;
    const int32_t *edges = berth_graph_in_edges(graph, op, &n);
    leader[op] = op;
    for (int32_t i = 0; i < n; i++) {
        int32_t from = berth_graph_edge(graph, edges[i])->from;
        int32_t least = runs(graph, from) ? level[from] + (device[from] != device[op]) : 0;
        if (least > level[op]) level[op] = least;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t from = berth_graph_edge(graph, edges[i])->from;
        if (!runs(graph, from) || device[from] != device[op] || level[from] != level[op]) continue;
        leader[berth_leader_find(leader, op)] = berth_leader_find(leader, from);
    }
}

berth_status berth_parts_count(berth_ctx *ctx, const berth_graph *graph, const int32_t *device, int32_t *n) {
    int32_t n_ops = berth_graph_op_count(graph);
    berth_arena arena;
    *n = 0;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    int32_t *level = berth_arena_push(&arena, (size_t)n_ops, sizeof *level);
    int32_t *leader = berth_arena_push(&arena, (size_t)n_ops, sizeof *leader);
    bool failed = arena.failed;
    for (int32_t i = 0; i < n_ops && !failed; i++)
        if (runs(graph, berth_graph_order(graph)[i])) visit(graph, device, berth_graph_order(graph)[i], level, leader);
    for (int32_t op = 0; op < n_ops && !failed; op++) *n += runs(graph, op) && leader[op] == op;
    berth_arena_deinit(&arena);
    return failed ? berth_fail_nomem(ctx) : BERTH_OK;
}
