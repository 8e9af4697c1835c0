/* SPDX-License-Identifier: Apache-2.0 */
/* The least cost of terms. Two devices: a minimum cut is exact, however the graph looks. More: elimination with tables
 * as large as the work allows, in steps, since a few large tables can be worth more than many of middling size. */
#include "search/minimise.h"

#include <math.h>

#include "search/min_cut_graph.h"

/* What things take on a slow machine, in seconds: a node of a cut, a node of a plan, an entry of a table. */
static const double cut_node = 4e-6, plan_node = 2e-5, table_entry = 5e-9;
static const double most_rounds = 100;

static berth_status set_up_cut(berth_ctx *ctx, berth_minimiser *m, berth_arena *arena) {
    const berth_terms *t = m->terms;
    m->keep = berth_arena_push(arena, (size_t)t->n_nodes, sizeof *m->keep);
    m->move = berth_arena_push(arena, (size_t)t->n_nodes, sizeof *m->move);
    if (arena->failed) return berth_fail_nomem(ctx);
    for (int32_t node = 0; node < t->n_nodes; node++) {
        m->keep[node] = t->allowed[node] & 1 ? 0 : 1;
        m->move[node] = t->allowed[node] & 2 ? 1 : 0;
    }
    m->is_exact = true;
    m->work = berth_min_cut_work(t);
    return berth_flow_new(ctx, &m->flow);
}

static berth_status set_up_plan(berth_ctx *ctx, berth_minimiser *m, double max_total, double seconds) {
    /* Where nodes are many, larger tables than this cannot all be had. */
    double largest = fmin(max_total / 4, 100 * max_total / (m->terms->n_nodes + 1));
    for (double max_table = largest; max_table >= 16 && !m->plan; max_table /= 8)
        BERTH_TRY(berth_eliminate_new(ctx, &m->plan, m->terms, max_table, max_total));
    if (!m->plan) return BERTH_OK;
    double entries = berth_eliminate_entries(m->plan), rounds = 0;
    m->is_exact = berth_eliminate_is_exact(m->plan);
    if (!m->is_exact) {
        rounds = fmin(most_rounds, max_total * 20 / entries);
        rounds = fmin(rounds, seconds / (8 * table_entry * entries));
    }
    berth_eliminate_set_rounds(m->plan, (int32_t)rounds);
    m->work = (4 + 8 * rounds) * entries + berth_eliminate_additions(m->plan);
    return BERTH_OK;
}

berth_status berth_minimiser_init(berth_ctx *ctx, berth_minimiser *m, const berth_terms *terms, berth_arena *arena,
                                  double max_total, double seconds) {
    *m = (berth_minimiser){.terms = terms, .work = terms->n_nodes};
    bool is_pair = terms->costs->n_devices == 2;
    if ((is_pair ? cut_node : plan_node) * terms->n_nodes > seconds) return BERTH_OK;
    return is_pair ? set_up_cut(ctx, m, arena) : set_up_plan(ctx, m, max_total, seconds);
}

void berth_minimiser_deinit(berth_minimiser *m) {
    berth_flow_free(m->flow);
    berth_eliminate_free(m->plan);
    *m = (berth_minimiser){0};
}

/* Each node for itself: all else costs at least nothing. */
static double run_singly(const berth_terms *t, int32_t *device) {
    double sum = 0;
    for (int32_t node = 0; node < t->n_nodes; node++) {
        const double *row = t->node_ms + (size_t)node * (size_t)t->costs->n_devices;
        int32_t best = __builtin_ctzll(t->allowed[node]);
        for (uint64_t rest = t->allowed[node]; rest; rest &= rest - 1)
            if (row[__builtin_ctzll(rest)] < row[best]) best = __builtin_ctzll(rest);
        device[node] = best;
        sum += row[best];
    }
    return sum;
}

berth_status berth_minimiser_run(berth_ctx *ctx, berth_minimiser *m, int32_t *device, double *bound) {
    if (m->flow) {
        BERTH_TRY(berth_min_cut_choose(ctx, m->flow, m->terms, m->keep, m->move, device));
        *bound = berth_terms_cost(m->terms, device);
    } else if (m->plan) {
        *bound = berth_eliminate_run(m->plan, device);
    } else {
        *bound = run_singly(m->terms, device);
    }
    return BERTH_OK;
}
