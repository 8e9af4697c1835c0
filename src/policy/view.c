/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes are the classes of a union-find over operations: first units, whose tasks share a device anyway, then the
 * groups of the rule, each as far as its members share a device; a group that does not is left in its parts. Where
 * every operation may run everywhere and units are single tasks, the nodes are the groups with their numbers. */
#include "policy/view.h"

#include <string.h>

#include "base/leader.h"
#include "berth/group.h"
#include "graph/graph.h"
#include "group/group.h"

typedef struct build {
    const berth_view_source *source;
    berth_view *view;
    berth_arena scratch;
    int32_t *leader; /* [n_ops] */
    uint64_t *mask;  /* [n_ops] of a class, at its leader */
} build;

static uint64_t all_devices(const berth_costs *costs) {
    return costs->n_devices < 64 ? ((uint64_t)1 << costs->n_devices) - 1 : UINT64_MAX;
}

static void join(build *b, int32_t first, int32_t second) {
    int32_t x = berth_leader_find(b->leader, first), y = berth_leader_find(b->leader, second);
    if (x == y) return;
    b->leader[y] = x;
    b->mask[x] &= b->mask[y];
}

static bool join_units(build *b) {
    const berth_costs *c = b->source->costs;
    int32_t *first = berth_arena_push(&b->scratch, (size_t)b->source->n_units, sizeof *first);
    if (!first) return false;
    memset(first, -1, (size_t)b->source->n_units * sizeof *first);
    for (int32_t op = 0; op < c->n_ops; op++) {
        int32_t task = c->op_task[op];
        b->leader[op] = op;
        b->mask[op] = task >= 0 ? b->source->allowed[b->source->unit_of[task]] : all_devices(c);
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t unit = b->source->unit_of[task];
        if (first[unit] < 0)
            first[unit] = c->task_op[task];
        else
            join(b, first[unit], c->task_op[task]);
    }
    return true;
}

static void join_group(build *b, const int32_t *members, int32_t n) {
    uint64_t shared = UINT64_MAX;
    for (int32_t i = 0; i < n; i++) shared &= b->mask[berth_leader_find(b->leader, members[i])];
    for (int32_t i = 1; i < n && shared; i++) join(b, members[0], members[i]);
}

/* Numbers the classes by their last operation in topological order and lists their operations. */
static int32_t *list_ops(build *b) {
    berth_view *view = b->view;
    const berth_graph *graph = b->source->costs->graph;
    int32_t n = graph->n_ops, *node_of = berth_arena_push(&b->scratch, (size_t)n, sizeof *node_of);
    int32_t *last = berth_arena_push(&b->scratch, (size_t)n, sizeof *last);
    int32_t *ops = berth_arena_push(&view->arena, (size_t)n, sizeof *ops);
    if (b->scratch.failed || view->arena.failed) return NULL;
    for (int32_t i = 0; i < n; i++) last[berth_leader_find(b->leader, graph->order[i])] = i;
    for (int32_t i = 0; i < n; i++) {
        int32_t head = berth_leader_find(b->leader, graph->order[i]);
        if (last[head] == i) node_of[head] = view->n_nodes++;
    }
    uint64_t *allowed = berth_arena_push(&view->arena, (size_t)view->n_nodes, sizeof *allowed);
    int32_t *start = berth_arena_push(&view->arena, (size_t)view->n_nodes + 1, sizeof *start);
    int32_t *next = berth_arena_push(&b->scratch, (size_t)view->n_nodes, sizeof *next);
    if (b->scratch.failed || view->arena.failed) return NULL;
    for (int32_t op = 0; op < n; op++) {
        int32_t head = berth_leader_find(b->leader, op);
        node_of[op] = node_of[head];
        allowed[node_of[op]] = b->mask[head];
        start[node_of[op] + 1]++;
    }
    for (int32_t node = 0; node < view->n_nodes; node++) {
        start[node + 1] += start[node];
        next[node] = start[node];
    }
    for (int32_t i = 0; i < n; i++) ops[next[node_of[graph->order[i]]]++] = graph->order[i];
    view->ops = ops;
    view->op_start = start;
    view->allowed = allowed;
    return node_of;
}

/* Rows of tasks from node_of. */
static bool list_tasks(build *b, const int32_t *node_of) {
    berth_view *view = b->view;
    int32_t n = view->costs->n_tasks;
    int32_t *start = berth_arena_push(&view->arena, (size_t)view->n_nodes + 1, sizeof *start);
    int32_t *tasks = berth_arena_push(&view->arena, (size_t)n, sizeof *tasks);
    int32_t *next = berth_arena_push(&b->scratch, (size_t)view->n_nodes, sizeof *next);
    if (b->scratch.failed || view->arena.failed) return false;
    for (int32_t task = 0; task < n; task++) start[node_of[task] + 1]++;
    for (int32_t node = 0; node < view->n_nodes; node++) {
        start[node + 1] += start[node];
        next[node] = start[node];
    }
    for (int32_t task = 0; task < n; task++) tasks[next[node_of[task]]++] = task;
    view->node_of = node_of;
    view->task_start = start;
    view->tasks = tasks;
    return true;
}

/* Edges between nodes, n of them in any order with repeats and self-edges. */
static bool list_edges(build *b, int32_t n, const int32_t *from, const int32_t *to) {
    berth_view *view = b->view;
    int32_t *start = berth_arena_push(&b->scratch, (size_t)view->n_nodes + 1, sizeof *start);
    int32_t *edge_from = berth_arena_push(&view->arena, (size_t)n, sizeof *edge_from);
    int32_t *edge_to = berth_arena_push(&view->arena, (size_t)n, sizeof *edge_to);
    int32_t *in = berth_arena_push(&view->arena, (size_t)view->n_nodes, sizeof *in);
    int32_t *out = berth_arena_push(&view->arena, (size_t)view->n_nodes, sizeof *out);
    if (b->scratch.failed || view->arena.failed) return false;
    if (!berth_pairs_sort(&b->scratch, view->n_nodes, n, from, to, start, edge_from, edge_to)) return false;
    view->n_edges = start[view->n_nodes];
    view->edge_from = edge_from;
    view->edge_to = edge_to;
    for (int32_t i = 0; i < view->n_edges; i++) {
        out[edge_from[i]]++;
        in[edge_to[i]]++;
    }
    view->in_degree = in;
    view->out_degree = out;
    return berth_links_build(&view->arena, view->n_nodes, view->n_edges, edge_from, edge_to, 1, NULL, &view->links);
}

static bool link_groups(build *b, const int32_t *node_of_op, berth_group_rule rule) {
    const berth_graph *graph = b->source->costs->graph;
    int32_t n_all = graph->n_edges + graph->n_captures, n = 0;
    int32_t *from = berth_arena_push(&b->scratch, (size_t)n_all, sizeof *from);
    int32_t *to = berth_arena_push(&b->scratch, (size_t)n_all, sizeof *to);
    if (b->scratch.failed) return false;
    for (int32_t i = 0; i < n_all; i++) {
        const berth_edge *edge = &graph->edges[i];
        if (!berth_group_edge_counts(graph, rule, edge)) continue;
        from[n] = node_of_op[edge->from];
        to[n++] = node_of_op[edge->to];
    }
    return list_edges(b, n, from, to);
}

static berth_status build_groups(berth_ctx *ctx, build *b, berth_group_rule rule) {
    const berth_costs *c = b->source->costs;
    berth_groups *groups = NULL;
    b->leader = berth_arena_push(&b->scratch, (size_t)c->n_ops, sizeof *b->leader);
    b->mask = berth_arena_push(&b->scratch, (size_t)c->n_ops, sizeof *b->mask);
    if (b->scratch.failed || !join_units(b)) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_groups_build(ctx, &groups, c->graph, rule));
    for (int32_t g = 0; g < groups->n_groups; g++)
        join_group(b, groups->members + groups->member_start[g], groups->member_start[g + 1] - groups->member_start[g]);
    berth_groups_free(groups);
    int32_t *node_of_op = list_ops(b);
    int32_t *node_of = berth_arena_push(&b->view->arena, (size_t)c->n_tasks, sizeof *node_of);
    if (!node_of_op || !node_of) return berth_fail_nomem(ctx);
    for (int32_t task = 0; task < c->n_tasks; task++) node_of[task] = node_of_op[c->task_op[task]];
    if (!list_tasks(b, node_of) || !link_groups(b, node_of_op, rule)) return berth_fail_nomem(ctx);
    return BERTH_OK;
}

static bool list_unit_ops(build *b) {
    berth_view *view = b->view;
    const berth_costs *c = view->costs;
    if (!c->graph) return true;
    int32_t *ops = berth_arena_push(&view->arena, (size_t)c->n_tasks, sizeof *ops);
    if (!ops) return false;
    for (int32_t i = 0; i < c->n_tasks; i++) ops[i] = c->task_op[view->tasks[i]];
    view->op_start = view->task_start;
    view->ops = ops;
    return true;
}

static berth_status build_units(berth_ctx *ctx, build *b) {
    berth_view *view = b->view;
    const berth_costs *c = view->costs;
    int32_t n_preds = c->pred_start[c->n_tasks], n = 0;
    view->n_nodes = b->source->n_units;
    view->allowed = berth_arena_copy(&view->arena, b->source->allowed, (size_t)view->n_nodes, sizeof(uint64_t));
    int32_t *node_of = berth_arena_copy(&view->arena, b->source->unit_of, (size_t)c->n_tasks, sizeof *node_of);
    int32_t *from = berth_arena_push(&b->scratch, (size_t)n_preds, sizeof *from);
    int32_t *to = berth_arena_push(&b->scratch, (size_t)n_preds, sizeof *to);
    if (view->arena.failed || b->scratch.failed) return berth_fail_nomem(ctx);
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            from[n] = node_of[c->preds[i]];
            to[n++] = node_of[task];
        }
    if (!list_tasks(b, node_of) || !list_unit_ops(b) || !list_edges(b, n, from, to)) return berth_fail_nomem(ctx);
    return BERTH_OK;
}

static berth_status build_view(berth_ctx *ctx, build *b, berth_view_rule rule) {
    if (!b->source->costs->graph) return build_units(ctx, b);
    switch (rule) {
    case BERTH_VIEW_PAPER: return build_groups(ctx, b, BERTH_GROUP_PAPER);
    case BERTH_VIEW_CODE: return build_groups(ctx, b, BERTH_GROUP_CODE);
    case BERTH_VIEW_FUSED: return build_groups(ctx, b, BERTH_GROUP_FUSED);
    case BERTH_VIEW_NONE: break;
    }
    return build_units(ctx, b);
}

berth_status berth_view_new(berth_ctx *ctx, berth_view **out, const berth_view_source *source, berth_view_rule rule) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    *out = NULL;
    berth_view *view = berth_resize(allocator, NULL, 0, 1, sizeof *view);
    if (!view) return berth_fail_nomem(ctx);
    berth_arena_init(&view->arena, allocator);
    view->costs = source->costs;
    build b = {.source = source, .view = view};
    berth_arena_init(&b.scratch, allocator);
    berth_status status = build_view(ctx, &b, rule);
    berth_arena_deinit(&b.scratch);
    if (status == BERTH_OK)
        *out = view;
    else
        berth_view_free(view);
    return status;
}

void berth_view_free(berth_view *view) {
    if (!view) return;
    berth_allocator allocator = view->arena.allocator;
    berth_arena_deinit(&view->arena);
    berth_resize(&allocator, view, 1, 0, sizeof *view);
}

void berth_view_spread(const berth_view *view, const int32_t *node_device, int32_t *device) {
    for (int32_t task = 0; task < view->costs->n_tasks; task++) device[task] = node_device[view->node_of[task]];
}

void berth_view_masks(const berth_view *view, const int32_t *cluster_of, int32_t n_clusters, uint64_t *mask) {
    for (int32_t c = 0; c < n_clusters; c++) mask[c] = all_devices(view->costs);
    for (int32_t node = 0; node < view->n_nodes; node++) mask[cluster_of[node]] &= view->allowed[node];
}
