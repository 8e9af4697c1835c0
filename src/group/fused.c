/* SPDX-License-Identifier: Apache-2.0 */
/* The rule `fused`: what runtimes fuse or fold is one group.
 *
 * 1. The paper's chains, between operations that are no constant expressions.
 * 2. Closed patterns (pattern.c): GELU, layer norm and the like, written out.
 * 3. Epilogues: a convolution or matrix product, or a pattern, joins the group of its readers if they are bias, scale,
 *    residual addition, batch norm, activation or quantisation, and all in one group; and so on from there. Any
 *    operation joins a Quantize that is its only reader.
 * 4. A Dequantize, and an operation whose result is used only as a shape, joins the group of its readers if they are
 *    all in one group. So does a Quantize that found no producer to join. A Dequantize or shape with readers in several
 *    groups cannot be with all of them (runtimes give each a copy of its own); it stays with what it reads.
 * 5. A constant expression goes with the reader that comes first; one that nothing reads with what it reads, or alone.
 *
 * Why no cycle can come of it: edges that touch a constant expression do not count between groups. Of the others, steps
 * 1 to 4 keep this: everything leaves a group by one member, its tail, and every member reaches the tail. (Chains and
 * patterns are so by construction; a group whose tail is read only by one other group can join it, since its members
 * reach the tail, the tail reaches a member of the other group, and that reaches the other's tail.) In a cycle of such
 * groups one could walk from the place where each group is entered to its tail, and so round a cycle of operations. The
 * last part of step 4 joins a group to the only group that feeds it, which keeps every entry connected to every exit.
 */
#include "group/fused.h"

#include "base/leader.h"
#include "graph/constant.h"

enum { NO_GROUP = -1, MANY_GROUPS = -2 };

bool berth_fuser_counts(const berth_fuser *fuser, int32_t edge) {
    const berth_edge *ends = &fuser->graph->edges[edge];
    return !fuser->is_constant[ends->from] && !fuser->is_constant[ends->to];
}

bool berth_fuser_has_trait(const berth_fuser *fuser, int32_t op, uint32_t trait) {
    return fuser->kinds[op] && (fuser->kinds[op]->traits & trait);
}

int32_t berth_fuser_find(berth_fuser *fuser, int32_t op) {
    return berth_leader_find(fuser->leader, op);
}

void berth_fuser_join(berth_fuser *fuser, int32_t op, int32_t next) {
    fuser->leader[berth_fuser_find(fuser, op)] = berth_fuser_find(fuser, next);
}

/* Any reader of `op`, if all are in one group; -1 if there is none or they are not. What is no tail has its readers in
 * its own group, and joining them changes nothing. */
static int32_t find_readers(berth_fuser *fuser, int32_t op) {
    const berth_graph *graph = fuser->graph;
    int32_t reader = -1, group = NO_GROUP;
    for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1]; i++) {
        if (!berth_fuser_counts(fuser, graph->out_edges[i])) continue;
        reader = graph->edges[graph->out_edges[i]].to;
        int32_t its = berth_fuser_find(fuser, reader);
        if (group >= 0 && its != group) return -1;
        group = its;
    }
    return reader;
}

static void join_chains(berth_fuser *fuser, const int32_t *parent) {
    const berth_graph *graph = fuser->graph;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i], child = berth_group_sole_child(graph, op);
        if (child >= 0 && parent[child] == op && !fuser->is_constant[op] && !fuser->is_constant[child])
            berth_fuser_join(fuser, op, child);
    }
}

/* Whether every reader may be fused into `op`, where `fusing` says that op itself is or ends a fused chain. */
static bool takes_readers(const berth_fuser *fuser, int32_t op, bool fusing) {
    const berth_graph *graph = fuser->graph;
    bool fuse = fusing, quantize = !(graph->ops[op].flags & BERTH_OP_INPUT);
    for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1] && (fuse || quantize); i++) {
        if (!berth_fuser_counts(fuser, graph->out_edges[i])) continue;
        int32_t reader = graph->edges[graph->out_edges[i]].to;
        fuse = fuse && (fuser->in_pattern[reader] || berth_fuser_has_trait(fuser, reader, BERTH_KIND_EPILOGUE));
        quantize = quantize && berth_fuser_has_trait(fuser, reader, BERTH_KIND_QUANTIZE);
    }
    return fuse || quantize;
}

/* Whether `op` is in the group of a fused chain that it only passes over once more. */
static bool continues_chain(berth_fuser *fuser, const bool *fusing, int32_t op) {
    const berth_graph *graph = fuser->graph;
    if (!fuser->kinds[op] || fuser->kinds[op]->cls != BERTH_WORK_ELEMENTWISE) return false;
    for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        int32_t from = graph->edges[graph->in_edges[i]].from;
        if (fusing[from] && berth_fuser_find(fuser, from) == berth_fuser_find(fuser, op)) return true;
    }
    return false;
}

/* In topological order, so that a chain is followed to its end in one pass. */
static void join_epilogues(berth_fuser *fuser, bool *fusing) {
    for (int32_t i = 0; i < fuser->graph->n_ops; i++) {
        int32_t op = fuser->graph->order[i];
        if (fuser->is_constant[op]) continue;
        fusing[op] = fuser->in_pattern[op] || berth_fuser_has_trait(fuser, op, BERTH_KIND_HEAD) ||
                     continues_chain(fuser, fusing, op);
        int32_t reader = find_readers(fuser, op);
        if (reader >= 0 && takes_readers(fuser, op, fusing[op])) berth_fuser_join(fuser, op, reader);
    }
}

/* Operations that compute on shapes: they ask for one, or read nothing but such values. */
static void mark_shape_values(const berth_fuser *fuser, bool *is_shape) {
    const berth_graph *graph = fuser->graph;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i];
        if (fuser->is_constant[op] || !berth_fuser_has_trait(fuser, op, BERTH_KIND_SHAPE)) continue;
        bool reads_shapes = false, reads_data = false;
        for (int32_t k = graph->in_start[op]; k < graph->in_start[op + 1]; k++) {
            if (!berth_fuser_counts(fuser, graph->in_edges[k])) continue;
            *(is_shape[graph->edges[graph->in_edges[k]].from] ? &reads_shapes : &reads_data) = true;
        }
        is_shape[op] = berth_type_asks_shape(graph->ops[op].type) || (reads_shapes && !reads_data);
    }
}

static bool reads_as_shape(const berth_fuser *fuser, const bool *is_shape, const berth_edge *edge) {
    const berth_kind *kind = fuser->kinds[edge->to];
    bool at_shape_port = kind && edge->to_port >= 0 && edge->to_port < 32 && (kind->shape_ports >> edge->to_port & 1);
    return is_shape[edge->to] || at_shape_port;
}

/* Of those, keep the ones whose result ends as a shape on every path. */
static void keep_shape_arguments(const berth_fuser *fuser, bool *is_shape) {
    const berth_graph *graph = fuser->graph;
    for (int32_t i = graph->n_ops - 1; i >= 0; i--) {
        int32_t op = graph->order[i];
        bool all = is_shape[op], any = false;
        for (int32_t k = graph->out_start[op]; k < graph->out_start[op + 1] && all; k++) {
            if (!berth_fuser_counts(fuser, graph->out_edges[k])) continue;
            all = reads_as_shape(fuser, is_shape, &graph->edges[graph->out_edges[k]]);
            any = true;
        }
        is_shape[op] = all && any;
    }
}

/* A Quantize whose producer stands in another group or is no operation. */
static bool is_loose_quantize(berth_fuser *fuser, int32_t op) {
    const berth_graph *graph = fuser->graph;
    if (!berth_fuser_has_trait(fuser, op, BERTH_KIND_QUANTIZE)) return false;
    for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        int32_t from = graph->edges[graph->in_edges[i]].from;
        if (!fuser->is_constant[from] && berth_fuser_find(fuser, from) == berth_fuser_find(fuser, op)) return false;
    }
    return true;
}

static bool follows_readers(const berth_fuser *fuser, const bool *is_shape, int32_t op) {
    return is_shape[op] || berth_fuser_has_trait(fuser, op, BERTH_KIND_DEQUANTIZE);
}

/* In reverse order, so that the groups of the readers are settled. */
static void join_readers(berth_fuser *fuser, const bool *is_shape) {
    for (int32_t i = fuser->graph->n_ops - 1; i >= 0; i--) {
        int32_t op = fuser->graph->order[i];
        bool follows = follows_readers(fuser, is_shape, op) || is_loose_quantize(fuser, op);
        if (fuser->is_constant[op] || !follows) continue;
        int32_t reader = find_readers(fuser, op);
        if (reader >= 0) berth_fuser_join(fuser, op, reader);
    }
}

/* Groups of nothing but Dequantize and shapes that are still by themselves join the only group that feeds them.
 * `source` is that group, for each leader. A group that has joined another is fed by the same group as before or from
 * within, so what `source` says stays true. */
static void join_producers(berth_fuser *fuser, const bool *is_shape, int32_t *source) {
    const berth_graph *graph = fuser->graph;
    for (int32_t op = 0; op < graph->n_ops; op++) source[op] = NO_GROUP;
    for (int32_t op = 0; op < graph->n_ops; op++) {
        if (fuser->is_constant[op]) continue;
        int32_t group = berth_fuser_find(fuser, op);
        if (!follows_readers(fuser, is_shape, op)) source[group] = MANY_GROUPS;
        for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
            if (!berth_fuser_counts(fuser, graph->in_edges[i])) continue;
            int32_t from = berth_fuser_find(fuser, graph->edges[graph->in_edges[i]].from);
            if (from == group || source[group] == from) continue;
            source[group] = source[group] == NO_GROUP ? from : MANY_GROUPS;
        }
    }
    for (int32_t op = 0; op < graph->n_ops; op++)
        if (fuser->leader[op] == op && source[op] >= 0) berth_fuser_join(fuser, op, source[op]);
}

/* In reverse order, so that readers that are constant themselves have their place. */
static void place_constants(berth_fuser *fuser) {
    const berth_graph *graph = fuser->graph;
    for (int32_t i = graph->n_ops - 1; i >= 0; i--) {
        int32_t op = graph->order[i], first = -1;
        if (!fuser->is_constant[op]) continue;
        for (int32_t k = graph->out_start[op]; k < graph->out_start[op + 1]; k++) {
            int32_t to = graph->edges[graph->out_edges[k]].to;
            if (first < 0 || graph->rank[to] < graph->rank[first]) first = to;
        }
        for (int32_t k = graph->in_start[op]; k < graph->in_start[op + 1] && first < 0; k++) {
            int32_t from = graph->edges[graph->in_edges[k]].from;
            if (!fuser->is_constant[from]) first = from;
        }
        if (first >= 0) fuser->leader[op] = berth_fuser_find(fuser, first);
    }
}

bool berth_group_fuse(const berth_graph *graph, berth_arena *scratch, int32_t *leader) {
    size_t n = (size_t)graph->n_ops;
    berth_fuser fuser = {.graph = graph, .leader = leader};
    fuser.kinds = berth_arena_push(scratch, n, sizeof *fuser.kinds);
    fuser.is_constant = berth_arena_push(scratch, n, sizeof *fuser.is_constant);
    fuser.in_pattern = berth_arena_push(scratch, n, sizeof *fuser.in_pattern);
    int32_t *number = berth_arena_push(scratch, n, sizeof *number);
    bool *fusing = berth_arena_push(scratch, n, sizeof *fusing);
    bool *is_shape = berth_arena_push(scratch, n, sizeof *is_shape);
    if (scratch->failed) return false;
    for (int32_t op = 0; op < graph->n_ops; op++) {
        fuser.kinds[op] = berth_kind_find(graph, &graph->ops[op]);
        fuser.is_constant[op] = (graph->ops[op].flags & BERTH_OP_CONSTANT) != 0;
        leader[op] = op;
        number[op] = berth_group_sole_parent(graph, op);
    }
    join_chains(&fuser, number);
    if (!berth_fuser_join_patterns(&fuser, scratch)) return false;
    join_epilogues(&fuser, fusing);
    mark_shape_values(&fuser, is_shape);
    keep_shape_arguments(&fuser, is_shape);
    join_readers(&fuser, is_shape);
    join_producers(&fuser, is_shape, number);
    place_constants(&fuser);
    for (int32_t op = 0; op < graph->n_ops; op++) leader[op] = berth_fuser_find(&fuser, op);
    return true;
}
