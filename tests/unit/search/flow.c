/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum cuts against the best of all cuts, and against a naive maximum flow. */
#include "problems.h"

#include <math.h>
#include <stdio.h>

#include "search/flow.h"

enum { MAX_NODES = 12, MAX_ARCS = 64 };

typedef struct network {
    int32_t n_nodes, n_arcs;
    double from_source[MAX_NODES], to_sink[MAX_NODES];
    struct {
        int32_t from, to;
        double forward, backward;
    } arcs[MAX_ARCS];
} network;

static double cut_value(const network *g, uint32_t source_side) {
    double value = 0;
    for (int32_t node = 0; node < g->n_nodes; node++)
        value += source_side >> node & 1 ? g->to_sink[node] : g->from_source[node];
    for (int32_t i = 0; i < g->n_arcs; i++) {
        uint32_t from = source_side >> g->arcs[i].from & 1, to = source_side >> g->arcs[i].to & 1;
        if (from && !to) value += g->arcs[i].forward;
        if (to && !from) value += g->arcs[i].backward;
    }
    return value;
}

static double capacity(uint64_t *state, bool whole) {
    uint32_t kind = support_below(state, 10);
    if (kind == 0) return INFINITY;
    if (kind <= 3) return 0;
    return whole ? support_below(state, 20) : (double)(support_random(state) >> 11) * 0x1p-53;
}

static network draw(uint64_t *state) {
    network g = {.n_nodes = 1 + (int32_t)support_below(state, MAX_NODES)};
    bool whole = support_below(state, 2);
    g.n_arcs = (int32_t)support_below(state, (uint32_t)(g.n_nodes * 4));
    for (int32_t node = 0; node < g.n_nodes; node++) {
        if (support_below(state, 2)) g.from_source[node] = capacity(state, whole);
        if (support_below(state, 2)) g.to_sink[node] = capacity(state, whole);
    }
    for (int32_t i = 0; i < g.n_arcs; i++) {
        g.arcs[i].from = (int32_t)support_below(state, (uint32_t)g.n_nodes);
        g.arcs[i].to = (int32_t)support_below(state, (uint32_t)g.n_nodes);
        g.arcs[i].forward = capacity(state, whole);
        g.arcs[i].backward = support_below(state, 2) ? capacity(state, whole) : 0;
    }
    return g;
}

static uint32_t solve(berth_ctx *ctx, berth_flow *flow, const network *g, bool *finite) {
    uint32_t sides = 0;
    assert_int_equal(berth_flow_clear(ctx, flow, g->n_nodes), BERTH_OK);
    for (int32_t node = 0; node < g->n_nodes; node++)
        berth_flow_terminal(flow, node, g->from_source[node], g->to_sink[node]);
    for (int32_t i = 0; i < g->n_arcs; i++)
        berth_flow_arc(flow, g->arcs[i].from, g->arcs[i].to, g->arcs[i].forward, g->arcs[i].backward);
    assert_int_equal(berth_flow_solve(ctx, flow, finite), BERTH_OK);
    for (int32_t node = 0; *finite && node < g->n_nodes; node++)
        sides |= (uint32_t)berth_flow_on_source_side(flow, node) << node;
    return sides;
}

static void equals_the_best_of_all_cuts(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    berth_flow *flow = NULL;
    uint64_t state = 1;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_flow_new(ctx, &flow), BERTH_OK);
    for (int32_t round = 0; round < support_cases(3000); round++) {
        network g = draw(&state);
        double best = INFINITY;
        bool finite;
        for (uint32_t sides = 0; sides < 1u << g.n_nodes; sides++) {
            double value = cut_value(&g, sides);
            if (value < best) best = value;
        }
        uint32_t sides = solve(ctx, flow, &g, &finite);
        assert_int_equal(finite, best < INFINITY);
        if (finite && fabs(cut_value(&g, sides) - best) > 1e-12 * (1 + best))
            fail_msg("round %d: cut %.17g, best %.17g", (int)round, cut_value(&g, sides), best);
    }
    berth_flow_free(flow);
    berth_ctx_free(ctx);
}

/* A naive twin for larger graphs: a flow is sent along any path while there is one. */
enum { GRID = 12, GRID_NODES = GRID * GRID, ENDS = GRID_NODES + 2 };

typedef struct matrix {
    int64_t left[ENDS][ENDS];
    int32_t parent[ENDS];
} matrix;

static int64_t send_one(matrix *m) {
    int32_t stack[ENDS], n = 0;
    memset(m->parent, -1, sizeof m->parent);
    stack[n++] = GRID_NODES;
    m->parent[GRID_NODES] = GRID_NODES;
    while (n > 0 && m->parent[GRID_NODES + 1] < 0) {
        int32_t node = stack[--n];
        for (int32_t to = 0; to < ENDS; to++)
            if (m->left[node][to] > 0 && m->parent[to] < 0) {
                m->parent[to] = node;
                stack[n++] = to;
            }
    }
    if (m->parent[GRID_NODES + 1] < 0) return 0;
    int64_t room = INT64_MAX;
    for (int32_t to = GRID_NODES + 1; to != GRID_NODES; to = m->parent[to])
        if (m->left[m->parent[to]][to] < room) room = m->left[m->parent[to]][to];
    for (int32_t to = GRID_NODES + 1; to != GRID_NODES; to = m->parent[to]) {
        m->left[m->parent[to]][to] -= room;
        m->left[to][m->parent[to]] += room;
    }
    return room;
}

static void equals_a_naive_flow_on_grids(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    berth_flow *flow = NULL;
    uint64_t state = 7;
    matrix *m = calloc(1, sizeof *m), *all = calloc(1, sizeof *all);
    assert_non_null(m);
    assert_non_null(all);
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_flow_new(ctx, &flow), BERTH_OK);
    for (int32_t round = 0; round < support_cases(40); round++) {
        bool finite;
        memset(m, 0, sizeof *m);
        assert_int_equal(berth_flow_clear(ctx, flow, GRID_NODES), BERTH_OK);
        for (int32_t node = 0; node < GRID_NODES; node++) {
            int32_t ends[3] = {node + 1, node + GRID, (int32_t)support_below(&state, GRID_NODES)};
            m->left[GRID_NODES][node] = support_below(&state, 3) ? 0 : support_below(&state, 100);
            m->left[node][GRID_NODES + 1] = support_below(&state, 3) ? 0 : support_below(&state, 100);
            berth_flow_terminal(flow, node, (double)m->left[GRID_NODES][node], (double)m->left[node][GRID_NODES + 1]);
            for (int32_t i = 0; i < 3; i++) {
                int64_t there = support_below(&state, 30), back = support_below(&state, 30);
                if (ends[i] >= GRID_NODES || ends[i] == node) continue;
                m->left[node][ends[i]] += there;
                m->left[ends[i]][node] += back;
                berth_flow_arc(flow, node, ends[i], (double)there, (double)back);
            }
        }
        memcpy(all, m, sizeof *m);
        int64_t value = 0, cut = 0;
        for (int64_t sent; (sent = send_one(m)) > 0;) value += sent;
        assert_int_equal(berth_flow_solve(ctx, flow, &finite), BERTH_OK);
        assert_true(finite);
        for (int32_t a = 0; a < ENDS; a++)
            for (int32_t b = 0; b < ENDS; b++) {
                bool from = a == GRID_NODES || (a < GRID_NODES && berth_flow_on_source_side(flow, a));
                bool to = b == GRID_NODES || (b < GRID_NODES && berth_flow_on_source_side(flow, b));
                if (from && !to) cut += all->left[a][b];
            }
        assert_int_equal(cut, value);
    }
    berth_flow_free(flow);
    berth_ctx_free(ctx);
    free(m);
    free(all);
}

static berth_status solve_one(berth_ctx *ctx, void *user) {
    berth_flow *flow = NULL;
    bool finite;
    (void)user;
    BERTH_TRY(berth_flow_new(ctx, &flow));
    berth_status status = berth_flow_clear(ctx, flow, 40);
    for (int32_t node = 0; status == BERTH_OK && node + 1 < 40; node++) {
        berth_flow_arc(flow, node, node + 1, node + 1, 1);
        berth_flow_arc(flow, node, berth_flow_node(flow), 1, 2);
    }
    berth_flow_terminal(flow, 0, 10, 0);
    berth_flow_terminal(flow, 39, 0, 10);
    if (status == BERTH_OK) status = berth_flow_solve(ctx, flow, &finite);
    berth_flow_free(flow);
    return status;
}

static void survives_failing_allocations(void **unused) {
    (void)unused;
    support_ladder(solve_one, NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_best_of_all_cuts),
        cmocka_unit_test(equals_a_naive_flow_on_grids),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("search.flow", tests, NULL, NULL);
}
