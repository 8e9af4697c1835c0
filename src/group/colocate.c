/* SPDX-License-Identifier: Apache-2.0 */
/* Co-location (HSDAG, arXiv 2405.14185, appendix G). The paper's rule joins an operation with its only child if it is
 * that child's only parent; the authors' code joins every operation that has one parent with it. Each walks the
 * operations in topological order, so that a leader, the first member of its group, is final once it is set. Both
 * quotients are acyclic: a group is entered only at its leader, from which all its members can be reached, so a cycle
 * of groups would be a cycle of leaders.
 *
 * What follows is the same for all rules: groups are numbered by their last member, members are listed group by
 * group, and the edges between groups are found by target, so that the rows by source come out sorted. Linear. */
#include "group/group.h"

typedef struct holder {
    berth_groups groups; /* what the caller sees; first, so that its address is the holder's */
    berth_arena arena;
} holder;

const char *berth_group_rule_name(berth_group_rule rule) {
    switch (rule) {
    case BERTH_GROUP_PAPER: return "paper";
    case BERTH_GROUP_CODE: return "code";
    case BERTH_GROUP_FUSED: return "fused";
    }
    return "unknown";
}

bool berth_group_edge_counts(const berth_graph *graph, berth_group_rule rule, const berth_edge *edge) {
    return rule != BERTH_GROUP_FUSED ||
           ((graph->ops[edge->from].flags | graph->ops[edge->to].flags) & BERTH_OP_CONSTANT) == 0;
}

int32_t berth_group_sole_parent(const berth_graph *graph, int32_t op) {
    int32_t first = graph->in_start[op], end = graph->in_start[op + 1];
    int32_t parent = first < end ? graph->edges[graph->in_edges[first]].from : -1;
    for (int32_t i = first; i < end; i++)
        if (graph->edges[graph->in_edges[i]].from != parent) return -1;
    return parent;
}

int32_t berth_group_sole_child(const berth_graph *graph, int32_t op) {
    int32_t first = graph->out_start[op], end = graph->out_start[op + 1];
    int32_t child = first < end ? graph->edges[graph->out_edges[first]].to : -1;
    for (int32_t i = first; i < end; i++)
        if (graph->edges[graph->out_edges[i]].to != child) return -1;
    return child;
}

/* `parent` has room for one number per operation: asking for the sole parent once each keeps this linear where many
 * operations share a child. */
static void colocate(const berth_graph *graph, berth_group_rule rule, int32_t *parent, int32_t *leader) {
    for (int32_t op = 0; op < graph->n_ops; op++) {
        parent[op] = berth_group_sole_parent(graph, op);
        leader[op] = op;
    }
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i];
        if (rule == BERTH_GROUP_CODE) {
            if (parent[op] >= 0) leader[op] = leader[parent[op]];
        } else {
            int32_t child = berth_group_sole_child(graph, op);
            if (child >= 0 && parent[child] == op) leader[child] = leader[op];
        }
    }
}

/* Groups in the order of their last members; `number` has room for one number per operation. */
static int32_t number_groups(const berth_graph *graph, const int32_t *leader, int32_t *number, int32_t *group_of) {
    int32_t n_groups = 0;
    for (int32_t i = 0; i < graph->n_ops; i++) number[leader[graph->order[i]]] = i; /* place of the last member */
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t head = leader[graph->order[i]];
        if (number[head] == i) group_of[head] = n_groups++;
    }
    for (int32_t op = 0; op < graph->n_ops; op++) number[op] = group_of[leader[op]];
    for (int32_t op = 0; op < graph->n_ops; op++) group_of[op] = number[op];
    return n_groups;
}

static void list_members(const berth_graph *graph, const int32_t *group_of, int32_t n_groups, int32_t *start,
                         int32_t *members) {
    for (int32_t op = 0; op < graph->n_ops; op++) start[group_of[op] + 1]++;
    for (int32_t g = 0; g < n_groups; g++) start[g + 1] += start[g];
    for (int32_t i = graph->n_ops - 1; i >= 0; i--) {
        int32_t op = graph->order[i];
        members[--start[group_of[op] + 1]] = op; /* from the end of each row, which shifts the starts by one ... */
    }
    for (int32_t g = 0; g < n_groups; g++) start[g] = start[g + 1]; /* ... and back */
    start[n_groups] = graph->n_ops;
}

/* Visit the distinct edges between groups by ascending target, and for each source either count them (edges NULL) or
 * append them to the source's row. `seen` holds the last target seen from each group, plus one. */
static void visit_edges(const berth_graph *graph, const berth_groups *groups, int32_t *seen, int32_t *next,
                        berth_group_edge *edges) {
    for (int32_t to = 0; to < groups->n_groups; to++)
        for (int32_t m = groups->member_start[to]; m < groups->member_start[to + 1]; m++) {
            int32_t op = groups->members[m];
            for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
                const berth_edge *edge = &graph->edges[graph->in_edges[i]];
                int32_t from = groups->group_of[edge->from];
                if (from == to || seen[from] == to + 1 || !berth_group_edge_counts(graph, groups->rule, edge)) continue;
                seen[from] = to + 1;
                if (edges) edges[next[from]] = (berth_group_edge){from, to};
                next[from]++;
            }
        }
}

static bool link_groups(const berth_graph *graph, berth_groups *groups, berth_arena *arena, berth_arena *scratch) {
    size_t n = (size_t)groups->n_groups;
    int32_t *next = berth_arena_push(scratch, n, sizeof *next);
    int32_t *seen = berth_arena_push(scratch, n, sizeof *seen);
    int32_t *seen_again = berth_arena_push(scratch, n, sizeof *seen_again);
    if (!next || !seen || !seen_again) return false;
    visit_edges(graph, groups, seen, next, NULL);
    int32_t n_edges = 0;
    for (size_t g = 0; g < n; g++) {
        int32_t count = next[g];
        next[g] = n_edges;
        n_edges += count;
    }
    berth_group_edge *edges = berth_arena_push(arena, (size_t)n_edges, sizeof *edges);
    if (!edges) return false;
    visit_edges(graph, groups, seen_again, next, edges);
    groups->edges = edges;
    groups->n_edges = n_edges;
    return true;
}

static bool fill_groups(const berth_graph *graph, berth_groups *groups, berth_arena *arena, berth_arena *scratch) {
    size_t n = (size_t)graph->n_ops;
    int32_t *leader = berth_arena_push(scratch, n, sizeof *leader);
    int32_t *number = berth_arena_push(scratch, n, sizeof *number);
    int32_t *group_of = berth_arena_push(arena, n, sizeof *group_of);
    int32_t *members = berth_arena_push(arena, n, sizeof *members);
    if (!leader || !number || !group_of || !members) return false;
    if (groups->rule != BERTH_GROUP_FUSED)
        colocate(graph, groups->rule, number, leader);
    else if (!berth_group_fuse(graph, scratch, leader))
        return false;
    groups->n_ops = graph->n_ops;
    groups->n_groups = number_groups(graph, leader, number, group_of);
    int32_t *start = berth_arena_push(arena, (size_t)groups->n_groups + 1, sizeof *start);
    if (!start) return false;
    list_members(graph, group_of, groups->n_groups, start, members);
    groups->group_of = group_of;
    groups->member_start = start;
    groups->members = members;
    return link_groups(graph, groups, arena, scratch);
}

berth_status berth_groups_build(berth_ctx *ctx, berth_groups **out, const berth_graph *graph, berth_group_rule rule) {
    *out = NULL;
    if (rule < BERTH_GROUP_PAPER || rule > BERTH_GROUP_FUSED)
        return berth_fail(ctx, BERTH_E_ARG, "%d is no rule for groups", (int)rule);
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    holder *made = berth_resize(allocator, NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    made->groups.rule = rule;
    berth_arena_init(&made->arena, allocator);
    berth_arena scratch;
    berth_arena_init(&scratch, allocator);
    bool filled = fill_groups(graph, &made->groups, &made->arena, &scratch);
    berth_arena_deinit(&scratch);
    if (!filled) {
        berth_groups_free(&made->groups);
        return berth_fail_nomem(ctx);
    }
    *out = &made->groups;
    return BERTH_OK;
}

void berth_groups_free(berth_groups *groups) {
    if (!groups) return;
    holder *made = (holder *)groups;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
