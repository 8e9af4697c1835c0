/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations of the model stand behind the nodes of the rewritten one (trace.h). */
#include "runtime/trace.h"

#include "base/map.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct matcher {
    berth_ctx *ctx;
    berth_arena *arena;
    const berth_graph *graph, *rewritten;
    const berth_trace *trace;
    berth_map tensors, names; /* of the model: tensors and operations by name */
    int32_t *root;            /* [operations of the rewritten model] the operation whose output it makes; -1: added */
    bool *is_root;            /* [operations of the model] */
    int32_t *node_of;         /* [operations of the rewritten model] node of the trace, or -1 */
    int32_t *stack;           /* [operations of the model] */
    berth_trace_op *ops;
    double *extra_ms;
} matcher;

/* How much of a name is left without what the runtime hangs on it: "_nchwc", "_token_7", "_WebGpuExecutionProvider". */
static size_t stem(const char *name, size_t n) {
    static const char token[] = "_token", provider[] = "ExecutionProvider", layout[] = "_nchwc";
    size_t at = n;
    if (n >= sizeof layout && memcmp(name + n - sizeof layout + 1, layout, sizeof layout - 1) == 0)
        return n - sizeof layout + 1;
    while (at > 0 && name[at - 1] != '_') at--;
    if (at < 2) return n;
    if (n - at > sizeof provider && memcmp(name + n - sizeof provider + 1, provider, sizeof provider - 1) == 0)
        return at - 1;
    bool is_number = at < n;
    for (size_t i = at; i < n; i++) is_number &= name[i] >= '0' && name[i] <= '9';
    size_t k = sizeof token - 1;
    return is_number && at > k + 1 && memcmp(name + at - 1 - k, token, k) == 0 ? at - 1 - k : n;
}

static int32_t find(const berth_map *map, const char *name) {
    size_t n = strlen(name);
    for (;;) {
        const int32_t *found = berth_map_find(map, name, n);
        if (found) return *found;
        size_t shorter = stem(name, n);
        if (shorter == n || shorter == 0) return -1;
        n = shorter;
    }
}

static int32_t producer_of(const matcher *m, const char *name) {
    int32_t tensor = find(&m->tensors, name);
    return tensor < 0 ? -1 : berth_graph_tensor(m->graph, tensor)->producer;
}

/* The operation of the model whose output a node makes, or -1. Rewriting for another layout gives new names to tensors
 * and keeps the old one, or that of the operation, in the name of the node or of its output. */
static int32_t find_root(const matcher *m, const berth_op *node) {
    int32_t op = -1;
    for (int32_t i = 0; i < node->n_outputs && op < 0; i++) {
        if (node->outputs[i] < 0) continue;
        const char *name = berth_graph_tensor(m->rewritten, node->outputs[i])->name;
        op = producer_of(m, name);
        if (op < 0) op = find(&m->names, name);
    }
    if (op < 0) op = producer_of(m, node->name);
    if (op >= 0) return op;
    op = find(&m->names, node->name);
    return op >= 0 && strcmp(berth_graph_op(m->graph, op)->type, node->type) == 0 ? op : -1;
}

static bool is_copy(const berth_op *op) {
    return strcmp(op->type, "MemcpyFromHost") == 0 || strcmp(op->type, "MemcpyToHost") == 0;
}

static berth_status index_names(matcher *m) {
    bool fresh;
    for (int32_t i = 0; i < berth_graph_tensor_count(m->graph); i++) {
        const char *name = berth_graph_tensor(m->graph, i)->name;
        if (*name && !berth_map_insert(&m->tensors, name, strlen(name), i, &fresh)) return berth_fail_nomem(m->ctx);
    }
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++) {
        const char *name = berth_graph_op(m->graph, i)->name;
        if (*name && !berth_map_insert(&m->names, name, strlen(name), i, &fresh)) return berth_fail_nomem(m->ctx);
    }
    for (int32_t i = 0; i < berth_graph_op_count(m->rewritten); i++) {
        const berth_op *node = berth_graph_op(m->rewritten, i);
        m->root[i] = is_copy(node) ? -1 : find_root(m, node);
        if (m->root[i] >= 0) m->is_root[m->root[i]] = true;
    }
    return BERTH_OK;
}

/* Nodes in lists by name and type; from each list one after the other. */
static berth_status match_listed(matcher *m, berth_map *lists, int32_t *next) {
    for (int32_t i = m->trace->n_nodes - 1; i >= 0; i--) {
        const berth_trace_node *node = &m->trace->nodes[i];
        const char *key = berth_arena_printf(m->arena, "%s\n%s", node->name, node->type);
        int32_t *head = key ? berth_map_insert(lists, key, strlen(key), -1, NULL) : NULL;
        if (!head) return berth_fail_nomem(m->ctx);
        next[i] = *head;
        *head = i;
    }
    for (int32_t i = 0; i < berth_graph_op_count(m->rewritten); i++) {
        const berth_op *op = berth_graph_op(m->rewritten, i);
        const char *key = berth_arena_printf(m->arena, "%s\n%s", op->name, op->type);
        if (!key) return berth_fail_nomem(m->ctx);
        int32_t *head = (int32_t *)berth_map_find(lists, key, strlen(key));
        if (!head || *head < 0) continue;
        m->node_of[i] = *head;
        *head = next[*head];
    }
    return BERTH_OK;
}

static berth_status match_names(matcher *m) {
    berth_map lists;
    int32_t *next = berth_arena_push(m->arena, (size_t)m->trace->n_nodes, sizeof *next);
    if (!next) return berth_fail_nomem(m->ctx);
    berth_map_init(&lists, m->ctx);
    berth_status status = match_listed(m, &lists, next);
    berth_map_deinit(&lists);
    return status;
}

/* Nodes are run in the order in which they are written; where numbers or types differ, by name and type: of several
 * that share both, the first by the first. */
static berth_status match_nodes(matcher *m) {
    int32_t n = berth_graph_op_count(m->rewritten), n_nodes = m->trace->n_nodes;
    bool in_order = n == n_nodes;
    for (int32_t i = 0; i < n && in_order; i++)
        in_order = strcmp(berth_graph_op(m->rewritten, i)->type, m->trace->nodes[i].type) == 0;
    for (int32_t i = 0; i < n; i++) m->node_of[i] = in_order ? i : -1;
    return in_order ? BERTH_OK : match_names(m);
}

/* An operation and those whose outputs nobody but it and its like has seen: back to the roots of other nodes. */
static void collect(matcher *m, int32_t root, int32_t node) {
    int32_t n = 0;
    m->ops[root] = (berth_trace_op){.node = node, .is_root = true};
    m->stack[n++] = root;
    while (n > 0) {
        const berth_op *op = berth_graph_op(m->graph, m->stack[--n]);
        for (int32_t i = 0; i < op->n_inputs + op->n_captures; i++) {
            int32_t producer = op->inputs[i] < 0 ? -1 : berth_graph_tensor(m->graph, op->inputs[i])->producer;
            if (producer < 0 || m->is_root[producer] || m->ops[producer].node >= 0) continue;
            if (berth_graph_op(m->graph, producer)->flags & BERTH_OP_CONSTANT) continue;
            m->ops[producer] = (berth_trace_op){.node = node};
            m->stack[n++] = producer;
        }
    }
}

static double time_of(const matcher *m, int32_t node) {
    const berth_trace_node *t = &m->trace->nodes[node];
    return isnan(t->device_ms) ? t->host_ms : t->device_ms;
}

/* The node that an added one belongs to: the first that reads from it, if that was added, too, the one behind, and so
 * on. Where nobody reads it, the one that it reads from. -1: none. */
static int32_t find_owner(const matcher *m, int32_t added, bool forward) {
    enum { MOST_HOPS = 8 };
    int32_t at = added;
    for (int hop = 0; hop < MOST_HOPS; hop++) {
        int32_t n = 0;
        const int32_t *edges =
            forward ? berth_graph_out_edges(m->rewritten, at, &n) : berth_graph_in_edges(m->rewritten, at, &n);
        if (n == 0) return -1;
        const berth_edge *edge = berth_graph_edge(m->rewritten, edges[0]);
        at = forward ? edge->to : edge->from;
        if (m->root[at] >= 0) return m->node_of[at];
    }
    return -1;
}

static void hand_on(matcher *m, int32_t added) {
    int32_t node = find_owner(m, added, true);
    if (node < 0) node = find_owner(m, added, false);
    if (node >= 0) m->extra_ms[node] += time_of(m, m->node_of[added]);
}

static void attribute(matcher *m, double *copy_ms) {
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++) m->ops[i].node = -1;
    for (int32_t i = 0; i < berth_graph_op_count(m->rewritten); i++) {
        if (m->node_of[i] < 0) continue;
        if (is_copy(berth_graph_op(m->rewritten, i)))
            *copy_ms += m->trace->nodes[m->node_of[i]].host_ms;
        else if (m->root[i] < 0)
            hand_on(m, i);
        else if (m->ops[m->root[i]].node < 0)
            collect(m, m->root[i], m->node_of[i]);
        else /* the same output once more, in another layout */
            m->extra_ms[m->ops[m->root[i]].node] += time_of(m, m->node_of[i]);
    }
}

static berth_status count_members(matcher *m) {
    int32_t *members = berth_arena_push(m->arena, (size_t)m->trace->n_nodes, sizeof *members);
    if (!members) return berth_fail_nomem(m->ctx);
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++)
        if (m->ops[i].node >= 0) members[m->ops[i].node]++;
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++)
        if (m->ops[i].node >= 0) m->ops[i].n_members = members[m->ops[i].node];
    return BERTH_OK;
}

berth_status berth_trace_attribute(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph,
                                   const berth_graph *rewritten, const berth_trace *trace, const berth_trace_op **out,
                                   const double **extra_ms, double *copy_ms) {
    matcher m = {.ctx = ctx, .arena = arena, .graph = graph, .rewritten = rewritten, .trace = trace};
    size_t n_ops = (size_t)berth_graph_op_count(graph);
    *copy_ms = 0;
    m.root = berth_arena_push(arena, (size_t)berth_graph_op_count(rewritten), sizeof *m.root);
    m.is_root = berth_arena_push(arena, n_ops, sizeof *m.is_root);
    m.node_of = berth_arena_push(arena, (size_t)berth_graph_op_count(rewritten), sizeof *m.node_of);
    m.stack = berth_arena_push(arena, n_ops, sizeof *m.stack);
    m.ops = berth_arena_push(arena, n_ops, sizeof *m.ops);
    m.extra_ms = berth_arena_push(arena, (size_t)trace->n_nodes, sizeof *m.extra_ms);
    if (arena->failed) return berth_fail_nomem(ctx);
    berth_map_init(&m.tensors, ctx);
    berth_map_init(&m.names, ctx);
    berth_status status = index_names(&m);
    if (status == BERTH_OK) status = match_nodes(&m);
    if (status == BERTH_OK) attribute(&m, copy_ms);
    berth_map_deinit(&m.tensors);
    berth_map_deinit(&m.names);
    if (status == BERTH_OK) status = count_members(&m);
    *out = m.ops;
    *extra_ms = m.extra_ms;
    return status;
}
