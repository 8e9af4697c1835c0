/* SPDX-License-Identifier: Apache-2.0 */
/* The validator of groups: what berth/group.h states, held against the graph without regard to how the groups were
 * found. Edges are compared both ways by binary search, acyclicity by Kahn's method on the group graph. */
#include "group/group.h"

#include <inttypes.h>

static berth_status check_maps(berth_ctx *ctx, const berth_groups *groups, const berth_graph *graph) {
    const int32_t *start = groups->member_start;
    if (groups->n_ops != graph->n_ops || groups->n_groups < 0 || groups->n_groups > graph->n_ops)
        return berth_fail(ctx, BERTH_E_FORMAT, "groups of another graph");
    if (start[0] != 0 || start[groups->n_groups] != groups->n_ops)
        return berth_fail(ctx, BERTH_E_FORMAT, "the members of the groups are not the operations");
    int32_t last_place = -1;
    for (int32_t g = 0; g < groups->n_groups; g++) {
        if (start[g + 1] <= start[g] || start[g + 1] > groups->n_ops)
            return berth_fail(ctx, BERTH_E_FORMAT, "group %" PRId32 " is empty", g);
        for (int32_t i = start[g]; i < start[g + 1]; i++) {
            int32_t op = groups->members[i];
            /* Members ascend, so none repeats within a group; group_of keeps one from being in two. */
            if (op < 0 || op >= graph->n_ops || groups->group_of[op] != g)
                return berth_fail(ctx, BERTH_E_FORMAT, "group %" PRId32 " lists another's member", g);
            if (i > start[g] && graph->rank[op] <= graph->rank[groups->members[i - 1]])
                return berth_fail(ctx, BERTH_E_FORMAT, "group %" PRId32 " does not list members in order", g);
        }
        int32_t place = graph->rank[groups->members[start[g + 1] - 1]];
        if (place <= last_place) return berth_fail(ctx, BERTH_E_FORMAT, "group %" PRId32 " is out of order", g);
        last_place = place;
    }
    return BERTH_OK;
}

static int compare_edges(berth_group_edge a, berth_group_edge b) {
    if (a.from != b.from) return a.from < b.from ? -1 : 1;
    return a.to < b.to ? -1 : a.to > b.to;
}

/* The number of an edge between groups, or -1. */
static int32_t find_edge(const berth_groups *groups, berth_group_edge wanted) {
    int32_t low = 0, high = groups->n_edges;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        int side = compare_edges(groups->edges[middle], wanted);
        if (side == 0) return middle;
        if (side < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static berth_status check_edges(berth_ctx *ctx, const berth_groups *groups, const berth_graph *graph, bool *found) {
    for (int32_t e = 0; e < groups->n_edges; e++) {
        berth_group_edge edge = groups->edges[e];
        if (edge.from < 0 || edge.from >= groups->n_groups || edge.to < 0 || edge.to >= groups->n_groups)
            return berth_fail(ctx, BERTH_E_FORMAT, "group edge %" PRId32 " has no end", e);
        if (e > 0 && compare_edges(groups->edges[e - 1], edge) >= 0)
            return berth_fail(ctx, BERTH_E_FORMAT, "group edge %" PRId32 " is out of order", e);
    }
    for (int32_t e = 0; e < graph->n_edges + graph->n_captures; e++) {
        const berth_edge *edge = &graph->edges[e];
        berth_group_edge wanted = {groups->group_of[edge->from], groups->group_of[edge->to]};
        if (wanted.from == wanted.to || !berth_group_edge_counts(graph, groups->rule, edge)) continue;
        int32_t at = find_edge(groups, wanted);
        if (at < 0) return berth_fail(ctx, BERTH_E_FORMAT, "edge %" PRId32 " is in no group edge", e);
        found[at] = true;
    }
    for (int32_t e = 0; e < groups->n_edges; e++)
        if (!found[e]) return berth_fail(ctx, BERTH_E_FORMAT, "group edge %" PRId32 " stands for no edge", e);
    return BERTH_OK;
}

/* Rows of the sorted edges are contiguous; `first` is where each begins. */
static berth_status check_acyclic(berth_ctx *ctx, const berth_groups *groups, int32_t *first, int32_t *waiting,
                                  int32_t *queue) {
    int32_t head = 0, tail = 0;
    for (int32_t e = 0; e < groups->n_edges; e++) {
        first[groups->edges[e].from + 1] = e + 1;
        waiting[groups->edges[e].to]++;
    }
    for (int32_t g = 0; g < groups->n_groups; g++) {
        if (first[g + 1] == 0) first[g + 1] = first[g];
        if (waiting[g] == 0) queue[tail++] = g;
    }
    while (head < tail) {
        int32_t g = queue[head++];
        for (int32_t e = first[g]; e < first[g + 1]; e++)
            if (--waiting[groups->edges[e].to] == 0) queue[tail++] = groups->edges[e].to;
    }
    if (tail < groups->n_groups) return berth_fail(ctx, BERTH_E_FORMAT, "the group graph has a cycle");
    return BERTH_OK;
}

static berth_status check_all(berth_ctx *ctx, const berth_groups *groups, const berth_graph *graph,
                              berth_arena *scratch) {
    BERTH_TRY(check_maps(ctx, groups, graph));
    size_t n = (size_t)groups->n_groups;
    bool *found = berth_arena_push(scratch, (size_t)groups->n_edges, sizeof *found);
    int32_t *first = berth_arena_push(scratch, n + 1, sizeof *first);
    int32_t *waiting = berth_arena_push(scratch, n, sizeof *waiting);
    int32_t *queue = berth_arena_push(scratch, n, sizeof *queue);
    if (!found || !first || !waiting || !queue) return berth_fail_nomem(ctx);
    BERTH_TRY(check_edges(ctx, groups, graph, found));
    return check_acyclic(ctx, groups, first, waiting, queue);
}

berth_status berth_groups_check(berth_ctx *ctx, const berth_groups *groups, const berth_graph *graph) {
    berth_arena scratch;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_status status = check_all(ctx, groups, graph, &scratch);
    berth_arena_deinit(&scratch);
    return status;
}
