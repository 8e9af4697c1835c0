/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as a graph whose cuts are choices: a node on the source's side keeps its device, one on the sink's side moves.
 *
 * A value that is wanted on a device by readers who keep it (K: any of them stays on the source's side) costs c0 there
 * while its producer p keeps its own device and c1 once p has moved. With one more node y behind infinite arcs from all
 * those readers: y to the sink c0, y to p c1 - c0. Readers who move there (any on the sink's side) likewise with a node
 * in front of them: from the source c1, from p c0 - c1. That is exact while the differences are not negative, and
 * between two devices one of c0, c1 is always 0 in the right way. A negative difference is counted as 0: too much, but
 * not where all is kept. */
#include "search/min_cut_graph.h"

#include <math.h>
#include <string.h>

typedef struct graph {
    const berth_terms *t;
    berth_flow *flow;
    const int32_t *keep, *move;

    /* of the value at hand */
    int32_t value;
    int32_t producer; /* node, or -1 */
    int32_t home[2];  /* where it is made if its producer keeps, moves */
} graph;

static bool is_free(const graph *g, int32_t node) {
    return g->keep[node] != g->move[node];
}

/* What a node costs if it keeps and if it moves, whatever the sign. */
static void add_single(graph *g, int32_t node, double kept, double moved) {
    if (kept < moved)
        berth_flow_terminal(g->flow, node, moved - kept, 0);
    else if (kept > moved)
        berth_flow_terminal(g->flow, node, 0, kept - moved);
}

static double cost_on(const graph *g, int32_t side, int32_t to) {
    int32_t home = g->home[side];
    if (home == to) return 0;
    return berth_terms_out(g->t, g->value, home) + berth_terms_in(g->t, g->value, home, to);
}

/* The one free reader that wants the device in that way (or -1), or the last of several; their number. */
static int32_t count_readers(const graph *g, int32_t to, const int32_t *label, int32_t *last) {
    const berth_costs *c = g->t->costs;
    int32_t n = 0;
    *last = -1;
    for (int32_t i = c->reader_start[g->value]; i < c->reader_start[g->value + 1]; i++) {
        int32_t node = g->t->node_of[c->readers[i]];
        if (node == g->producer || node == *last || label[node] != to || !is_free(g, node)) continue;
        *last = node;
        n++;
    }
    return n;
}

/* Node that is on the source's side if any of the readers is (label: keep), or on the sink's (label: move). */
static int32_t any_of(graph *g, int32_t to, const int32_t *label) {
    const berth_costs *c = g->t->costs;
    int32_t last, n = count_readers(g, to, label, &last);
    if (n <= 1) return last;
    int32_t any = berth_flow_node(g->flow);
    for (int32_t i = c->reader_start[g->value]; i < c->reader_start[g->value + 1]; i++) {
        int32_t node = g->t->node_of[c->readers[i]];
        if (node == g->producer || label[node] != to || !is_free(g, node)) continue;
        berth_flow_arc(g->flow, node, any, label == g->keep ? INFINITY : 0, label == g->keep ? 0 : INFINITY);
    }
    return any;
}

static void add_destination(graph *g, int32_t to, bool is_fixed) {
    double kept = cost_on(g, 0, to), moved = cost_on(g, 1, to);
    if (!(kept > 0 || moved > 0)) return;
    if (is_fixed) {
        if (g->producer >= 0) add_single(g, g->producer, kept, moved);
        return;
    }
    int32_t any = any_of(g, to, g->keep);
    if (any >= 0) {
        berth_flow_terminal(g->flow, any, 0, kept);
        if (moved > kept) berth_flow_arc(g->flow, any, g->producer, moved - kept, 0);
    }
    any = any_of(g, to, g->move);
    if (any >= 0) {
        berth_flow_terminal(g->flow, any, moved, 0);
        if (kept > moved) berth_flow_arc(g->flow, g->producer, any, kept - moved, 0);
    }
}

static void add_value(graph *g) {
    const berth_costs *c = g->t->costs;
    uint64_t wanted = 0, fixed = 0;
    for (int32_t i = c->reader_start[g->value]; i < c->reader_start[g->value + 1]; i++) {
        int32_t node = g->t->node_of[c->readers[i]];
        if (node == g->producer) continue;
        wanted |= (uint64_t)1 << g->keep[node] | (uint64_t)1 << g->move[node];
        if (!is_free(g, node)) fixed |= (uint64_t)1 << g->keep[node];
    }
    if (c->value_target[g->value] >= 0) fixed |= (uint64_t)1 << c->value_target[g->value];
    for (uint64_t rest = wanted | fixed; rest; rest &= rest - 1) {
        int32_t to = __builtin_ctzll(rest);
        add_destination(g, to, fixed >> to & 1);
    }
}

/* A term of two nodes: cost[i][j] with i, j 1 where the producer, the reader has moved. */
static void add_read(graph *g, int32_t at) {
    const berth_terms *t = g->t;
    int32_t reader = t->node_of[t->costs->readers[at]], p = g->producer;
    if (reader == p) return;
    double cost[2][2];
    for (int32_t i = 0; i < 2; i++) {
        cost[i][0] = berth_terms_read(t, g->value, at, g->home[i], g->keep[reader]);
        cost[i][1] = berth_terms_read(t, g->value, at, g->home[i], g->move[reader]);
    }
    if (p >= 0 && is_free(g, p)) add_single(g, p, cost[0][0], cost[1][0]);
    if (!is_free(g, reader)) return;
    add_single(g, reader, cost[1][0], cost[1][1]);
    double both = cost[0][1] + cost[1][0] - cost[0][0] - cost[1][1];
    if (!(both > 0) || (p >= 0 && !is_free(g, p))) return;
    if (p >= 0) berth_flow_arc(g->flow, p, reader, both, 0);
}

static void add_all(graph *g) {
    const berth_terms *t = g->t;
    const berth_costs *c = t->costs;
    for (int32_t node = 0; node < t->n_nodes; node++) {
        const double *row = t->node_ms + (size_t)node * (size_t)c->n_devices;
        if (is_free(g, node)) add_single(g, node, row[g->keep[node]], row[g->move[node]]);
    }
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t producer = c->value_producer[v];
        g->value = v;
        g->producer = producer < 0 ? -1 : t->node_of[producer];
        g->home[0] = producer < 0 ? c->value_home[v] : g->keep[g->producer];
        g->home[1] = producer < 0 ? c->value_home[v] : g->move[g->producer];
        if (t->values_count) add_value(g);
        for (int32_t i = c->reader_start[v]; (t->read_ms || t->read_change) && i < c->reader_start[v + 1]; i++)
            add_read(g, i);
    }
}

berth_status berth_min_cut_choose(berth_ctx *ctx, berth_flow *flow, const berth_terms *terms, const int32_t *keep,
                                  const int32_t *move, int32_t *chosen) {
    graph g = {.t = terms, .flow = flow, .keep = keep, .move = move};
    bool finite;
    BERTH_TRY(berth_flow_clear(ctx, flow, terms->n_nodes));
    add_all(&g);
    BERTH_TRY(berth_flow_solve(ctx, flow, &finite));
    for (int32_t node = 0; node < terms->n_nodes; node++)
        chosen[node] = !finite || berth_flow_on_source_side(flow, node) ? keep[node] : move[node];
    return BERTH_OK;
}

double berth_min_cut_work(const berth_terms *terms) {
    const berth_costs *c = terms->costs;
    return 1000.0 * (terms->n_nodes + c->reader_start[c->n_values]);
}
