/* SPDX-License-Identifier: Apache-2.0 */
/* Maximum flow by incremental breadth-first search (Goldberg, Hed, Kaplan, Tarjan, Werneck: Maximum Flows by
 * Incremental Breadth-First Search, ESA 2011).
 *
 * Two trees of arcs with capacity left grow in turn, level by level, one from the source and one towards the sink.
 * Where they meet there is a path; as much as it carries is sent along it, and nodes whose arc to their parent is full
 * become orphans. An orphan looks for another parent of the same level, else it moves to the lowest level that offers
 * one and makes orphans of its children, or leaves the tree if that level is not yet reached. When a tree cannot grow,
 * its border is a minimum cut.
 *
 * Invariants: in a tree, label(child) = label(parent) + 1, so that parents never form a cycle; a label of a node that
 * stays in its tree only rises; no arc with capacity left leads from a scanned node of one tree to the other. Every
 * path empties an arc or a terminal exactly, whatever the rounding, so that the number of paths has the same bound as
 * in exact arithmetic, O(n m), and tiny amounts cannot go on for ever.
 *
 * Both trees are handled by the same code: `tree` is 0 (from the source) or 1 (to the sink), and the arc that carries
 * flow between a node and its parent is chosen by it. */
#include "search/flow.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/vec.h"

enum { NO_TREE = 2, NO_PARENT = -1, TERMINAL = -2 };

typedef struct half {
    int32_t head, sister; /* the node it leads to; the same arc in the other direction */
    double left;
} half;

typedef struct edge {
    int32_t from, to;
    double forward, backward;
} edge;

/* Nodes waiting to be scanned, each at most once. */
typedef struct queue {
    int32_t *items;
    int32_t first, n;
    uint8_t flag; /* in waits[] */
} queue;

enum { WORK_BETWEEN = 1 << 16 }; /* arcs, a fraction of a millisecond */

struct berth_flow {
    const berth_allocator *allocator;
    int32_t n_nodes;
    BERTH_VEC(edge) edges;
    BERTH_VEC(double) excess; /* per node: > 0 what the source can still send to it, < 0 what it can send to the sink */
    bool failed;
    bool torn; /* some node is held by both terminals */

    /* while solving; kept for the next time */
    berth_arena arena;
    size_t node_room, edge_room; /* what the arrays are made for */
    int32_t *start;              /* [n_nodes + 1] halves by tail */
    half *halves;
    uint8_t *tree;        /* [n_nodes] */
    uint8_t *waits;       /* [n_nodes] flags of the queues that hold it */
    int32_t *label;       /* [n_nodes] distance from the terminal of its tree, from 1 */
    int32_t *parent;      /* [n_nodes] half to the parent, TERMINAL or NO_PARENT */
    int32_t *current;     /* [n_nodes] halves before it lead to no parent of the label before */
    int32_t *orphan_next; /* [n_nodes] */
    int32_t *orphans;     /* [n_nodes + 3] first orphan by label, or -1 */
    int32_t n_orphans;
    berth_ctx *ctx;
    int64_t work;     /* arcs looked at since it last asked whether to stop, about */
    bool late;        /* it was told to */
    int32_t top[2];   /* largest label of a tree that is complete */
    int32_t limit[2]; /* largest label that an orphan may get: one more while the tree grows */
    queue level[2];   /* nodes of label top */
    queue next[2];    /* nodes of label top + 1 */
};

berth_status berth_flow_new(berth_ctx *ctx, berth_flow **out) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_flow *flow = berth_resize(allocator, NULL, 0, 1, sizeof *flow);
    if (!flow) return berth_fail_nomem(ctx);
    flow->allocator = allocator;
    berth_arena_init(&flow->arena, allocator);
    *out = flow;
    return BERTH_OK;
}

void berth_flow_free(berth_flow *flow) {
    if (!flow) return;
    const berth_allocator *allocator = flow->allocator;
    berth_vec_free(allocator, &flow->edges);
    berth_vec_free(allocator, &flow->excess);
    berth_arena_deinit(&flow->arena);
    berth_resize(allocator, flow, 1, 0, sizeof *flow);
}

berth_status berth_flow_clear(berth_ctx *ctx, berth_flow *flow, int32_t n_nodes) {
    flow->edges.n = flow->excess.n = 0;
    flow->n_nodes = 0;
    flow->failed = flow->torn = false;
    for (int32_t i = 0; i < n_nodes && !flow->failed; i++) berth_flow_node(flow);
    return flow->failed ? berth_fail_nomem(ctx) : BERTH_OK;
}

int32_t berth_flow_node(berth_flow *flow) {
    if (flow->failed || !berth_vec_push(flow->allocator, &flow->excess, 0.0)) {
        flow->failed = true;
        return 0;
    }
    return flow->n_nodes++;
}

void berth_flow_terminal(berth_flow *flow, int32_t node, double from_source, double to_sink) {
    if (flow->failed) return;
    double *excess = &flow->excess.items[node];
    bool held = from_source == INFINITY || *excess == INFINITY;
    if (held && (to_sink == INFINITY || *excess == -INFINITY)) {
        flow->torn = true;
        return;
    }
    /* What goes straight from source to sink changes no side. */
    *excess += from_source - to_sink;
}

void berth_flow_arc(berth_flow *flow, int32_t from, int32_t to, double forward, double backward) {
    if (flow->failed || from == to || !(forward > 0 || backward > 0)) return;
    if (!berth_vec_push(flow->allocator, &flow->edges, (edge){from, to, forward, backward})) flow->failed = true;
}

static bool make_arrays(berth_flow *f, size_t n, size_t n_edges) {
    berth_arena *arena = &f->arena;
    berth_arena_deinit(arena);
    berth_arena_init(arena, f->allocator);
    f->node_room = f->edge_room = 0;
    f->start = berth_arena_push(arena, n + 2, sizeof *f->start);
    f->halves = berth_arena_push(arena, 2 * n_edges, sizeof *f->halves);
    f->tree = berth_arena_push(arena, n, sizeof *f->tree);
    f->waits = berth_arena_push(arena, n, sizeof *f->waits);
    f->label = berth_arena_push(arena, n, sizeof *f->label);
    f->parent = berth_arena_push(arena, n, sizeof *f->parent);
    f->current = berth_arena_push(arena, n, sizeof *f->current);
    f->orphan_next = berth_arena_push(arena, n, sizeof *f->orphan_next);
    f->orphans = berth_arena_push(arena, n + 3, sizeof *f->orphans);
    for (int32_t tree = 0; tree < 2; tree++) {
        f->level[tree].items = berth_arena_push(arena, n, sizeof(int32_t));
        f->next[tree].items = berth_arena_push(arena, n, sizeof(int32_t));
    }
    if (arena->failed) return false;
    f->node_room = n;
    f->edge_room = n_edges;
    return true;
}

/* Arrays for the graph at hand, as new. */
static bool prepare(berth_flow *f) {
    size_t n = (size_t)f->n_nodes, n_edges = f->edges.n;
    if ((n > f->node_room || n_edges > f->edge_room || !f->start) && !make_arrays(f, n, n_edges)) return false;
    memset(f->start, 0, (n + 2) * sizeof *f->start);
    memset(f->waits, 0, n * sizeof *f->waits);
    memset(f->tree, NO_TREE, n * sizeof *f->tree);
    memset(f->orphans, -1, (n + 3) * sizeof *f->orphans);
    f->n_orphans = 0;
    for (int32_t tree = 0; tree < 2; tree++) {
        f->level[tree] = (queue){.items = f->level[tree].items, .flag = (uint8_t)(1 << tree)};
        f->next[tree] = (queue){.items = f->next[tree].items, .flag = (uint8_t)(4 << tree)};
    }
    return true;
}

/* Halves by tail, in the order in which the arcs were given. */
static void sort_halves(berth_flow *f) {
    int32_t *start = f->start;
    for (size_t i = 0; i < f->edges.n; i++) {
        start[f->edges.items[i].from + 2]++;
        start[f->edges.items[i].to + 2]++;
    }
    for (int32_t node = 0; node < f->n_nodes; node++) start[node + 2] += start[node + 1];
    for (size_t i = 0; i < f->edges.n; i++) {
        edge e = f->edges.items[i];
        int32_t there = start[e.from + 1]++, back = start[e.to + 1]++;
        f->halves[there] = (half){e.to, back, e.forward};
        f->halves[back] = (half){e.from, there, e.backward};
    }
}

static void enqueue(const berth_flow *f, queue *q, int32_t node) {
    if (f->waits[node] & q->flag) return;
    f->waits[node] |= q->flag;
    int32_t at = q->first + q->n++;
    q->items[at < f->n_nodes ? at : at - f->n_nodes] = node;
}

static int32_t dequeue(const berth_flow *f, queue *q) {
    int32_t node = q->items[q->first];
    if (++q->first == f->n_nodes) q->first = 0;
    q->n--;
    f->waits[node] &= (uint8_t)~q->flag;
    return node;
}

/* What can still flow along the half that leads from a node to a neighbour in the tree's direction of travel, that is,
 * from the neighbour to the node in the source's tree and from the node to the neighbour in the sink's. */
static double *left_from(const berth_flow *f, int32_t tree, int32_t at) {
    return tree == 0 ? &f->halves[f->halves[at].sister].left : &f->halves[at].left;
}

static void join(berth_flow *f, int32_t tree, int32_t node, int32_t parent, int32_t label) {
    f->tree[node] = (uint8_t)tree;
    f->parent[node] = parent;
    f->current[node] = f->start[node];
    f->label[node] = label;
    if (label == f->top[tree])
        enqueue(f, &f->level[tree], node);
    else if (label == f->top[tree] + 1)
        enqueue(f, &f->next[tree], node);
}

static void orphan(berth_flow *f, int32_t node) {
    f->parent[node] = NO_PARENT;
    f->orphan_next[node] = f->orphans[f->label[node]];
    f->orphans[f->label[node]] = node;
    f->n_orphans++;
}

/* A parent one label below, from the current half on. */
static bool find_sibling_parent(berth_flow *f, int32_t tree, int32_t node) {
    int32_t end = f->start[node + 1], wanted = f->label[node] - 1;
    for (int32_t at = f->current[node]; at < end; at++) {
        int32_t other = f->halves[at].head;
        if (f->tree[other] != tree || f->label[other] != wanted || !(*left_from(f, tree, at) > 0)) continue;
        f->parent[node] = f->current[node] = at;
        return true;
    }
    return false;
}

/* Its children become orphans; then the lowest label wins. */
static void move_orphan(berth_flow *f, int32_t tree, int32_t node) {
    int32_t best = NO_PARENT, lowest = f->limit[tree];
    f->work += f->start[node + 1] - f->start[node];
    for (int32_t at = f->start[node]; at < f->start[node + 1]; at++) {
        int32_t other = f->halves[at].head;
        if (f->tree[other] != tree) continue;
        if (f->parent[other] == f->halves[at].sister) orphan(f, other);
        if (f->label[other] >= lowest || !(*left_from(f, tree, at) > 0)) continue;
        lowest = f->label[other];
        best = at;
    }
    if (best == NO_PARENT)
        f->tree[node] = NO_TREE;
    else
        join(f, tree, node, best, lowest + 1);
}

/* All orphans of a tree, lowest labels first; those that come up meanwhile have higher ones. */
static void adopt(berth_flow *f, int32_t tree, int32_t label) {
    for (; f->n_orphans > 0; label++)
        while (f->orphans[label] >= 0) {
            int32_t node = f->orphans[label];
            f->orphans[label] = f->orphan_next[node];
            f->n_orphans--;
            if (label > 1 && find_sibling_parent(f, tree, node)) continue;
            move_orphan(f, tree, node);
        }
}

/* The most that the tree path of a node carries. */
static double path_room(const berth_flow *f, int32_t tree, int32_t node, double room) {
    for (; f->parent[node] != TERMINAL; node = f->halves[f->parent[node]].head) {
        double left = *left_from(f, tree, f->parent[node]);
        if (left < room) room = left;
    }
    double end = fabs(f->excess.items[node]);
    return end < room ? end : room;
}

/* Sends it, and returns the lowest label of an orphan that it made. */
static int32_t send(berth_flow *f, int32_t tree, int32_t node, double amount) {
    int32_t lowest = f->limit[tree] + 1;
    for (int32_t up; (up = f->parent[node]) != TERMINAL; node = f->halves[up].head) {
        double *left = left_from(f, tree, up);
        f->work++;
        *left -= amount;
        *left_from(f, 1 - tree, up) += amount;
        if (*left > 0) continue;
        lowest = f->label[node];
        orphan(f, node);
    }
    double *excess = &f->excess.items[node];
    *excess += tree == 0 ? -amount : amount;
    if (*excess == 0) {
        lowest = f->label[node];
        orphan(f, node);
    }
    return lowest;
}

/* The trees meet at a half from `node`, of the growing tree, to the other one. False: the path is infinite. */
static bool augment(berth_flow *f, int32_t tree, int32_t node, int32_t at) {
    int32_t other = f->halves[at].head;
    double *left = left_from(f, 1 - tree, at);
    double amount = path_room(f, 1 - tree, other, path_room(f, tree, node, *left));
    if (amount == INFINITY) return false;
    *left -= amount;
    *left_from(f, tree, at) += amount;
    adopt(f, tree, send(f, tree, node, amount));
    adopt(f, 1 - tree, send(f, 1 - tree, other, amount));
    return true;
}

/* Asks now and then whether to stop. */
static bool is_late(berth_flow *f) {
    if (f->late || f->work < WORK_BETWEEN) return f->late;
    f->work = 0;
    f->late = berth_cancelled(f->ctx);
    return f->late;
}

/* Takes in free neighbours of a node of the top level, and sends flow wherever the other tree is met. */
static bool scan(berth_flow *f, int32_t tree, int32_t node) {
    f->work += f->start[node + 1] - f->start[node];
    for (int32_t at = f->start[node]; at < f->start[node + 1]; at++) {
        while (*left_from(f, 1 - tree, at) > 0) {
            int32_t other = f->halves[at].head;
            if (f->tree[other] == tree) break;
            if (f->tree[other] == NO_TREE) {
                join(f, tree, other, f->halves[at].sister, f->top[tree] + 1);
                break;
            }
            if (!augment(f, tree, node, at) || is_late(f)) return false;
            if (f->tree[node] != tree || f->label[node] != f->top[tree]) return true;
        }
    }
    return true;
}

/* One more level. False: a path is infinite, or it is late. */
static bool grow(berth_flow *f, int32_t tree) {
    f->limit[tree] = f->top[tree] + 1;
    while (f->level[tree].n > 0) {
        int32_t node = dequeue(f, &f->level[tree]);
        if (f->tree[node] != tree || f->label[node] != f->top[tree]) continue;
        if (!scan(f, tree, node) || is_late(f)) return false;
    }
    queue swap = f->level[tree];
    f->level[tree] = f->next[tree];
    f->next[tree] = swap;
    f->top[tree]++;
    return true;
}

static void plant(berth_flow *f) {
    f->top[0] = f->top[1] = f->limit[0] = f->limit[1] = 1;
    for (int32_t node = 0; node < f->n_nodes; node++)
        if (f->excess.items[node] != 0) join(f, f->excess.items[node] < 0, node, TERMINAL, 1);
}

berth_status berth_flow_solve(berth_ctx *ctx, berth_flow *flow, bool *finite) {
    *finite = false;
    if (flow->failed) return berth_fail_nomem(ctx);
    if (!prepare(flow)) return berth_fail_nomem(ctx);
    sort_halves(flow);
    plant(flow);
    bool runs = !flow->torn;
    flow->ctx = ctx;
    flow->work = 0;
    flow->late = false;
    int32_t tree = 0;
    while (runs && flow->level[tree].n > 0) {
        runs = grow(flow, tree);
        tree = flow->level[0].n <= flow->level[1].n ? 0 : 1;
    }
    /* The tree that cannot grow is one side, everything else the other. */
    for (int32_t node = 0; node < flow->n_nodes; node++)
        if (flow->tree[node] == NO_TREE) flow->tree[node] = (uint8_t)(1 - tree);
    *finite = runs;
    return flow->late ? berth_fail(ctx, BERTH_E_CANCELLED, "interrupted in a minimum cut") : BERTH_OK;
}

bool berth_flow_on_source_side(const berth_flow *flow, int32_t node) {
    return flow->tree[node] == 0;
}
