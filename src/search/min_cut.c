/* SPDX-License-Identifier: Apache-2.0 */
/* Placements by minimum cuts. Under `serial`, with two devices and neither pieces nor memory limits, the cut is the
 * optimum and its own proof. With pieces or limits the cuts of rising prices (bound_serial.c) are candidates. With more
 * devices: elimination, which is exact where it fits, else expansion moves from where it ends and from every single
 * device. Under the other models all these are starting points, evaluated by the model that counts. */
#include "search/min_cut.h"

#include <math.h>
#include <string.h>

#include "search/bound_serial.h"
#include "search/expansion.h"

static const double most_expanded = 2e5; /* starts * devices * nodes */

typedef struct state {
    berth_search *search;
    berth_arena arena;
    berth_terms terms;
    berth_flow *flow;
    int32_t *device, *other, *next; /* [n_nodes] */
    int32_t *placement;             /* [n_tasks] */
} state;

static berth_status set_up(state *s) {
    const berth_problem *p = s->search->problem;
    bool ready = berth_terms_init(&s->terms, &s->arena, p, false);
    size_t n = (size_t)s->terms.n_nodes;
    s->device = berth_arena_push(&s->arena, n, sizeof *s->device);
    s->other = berth_arena_push(&s->arena, n, sizeof *s->other);
    s->next = berth_arena_push(&s->arena, n, sizeof *s->next);
    s->placement = berth_arena_push(&s->arena, (size_t)p->costs->n_tasks, sizeof *s->placement);
    if (!ready || s->arena.failed) return berth_fail_nomem(s->search->ctx);
    berth_terms_set_serial(&s->terms);
    return berth_flow_new(s->search->ctx, &s->flow);
}

/* All nodes on one device, those that may not on the fastest where they may. */
static void start_from(const state *s, int32_t d) {
    for (int32_t node = 0; node < s->terms.n_nodes; node++) {
        uint64_t allowed = s->terms.allowed[node];
        const double *row = s->terms.node_ms + (size_t)node * (size_t)s->terms.costs->n_devices;
        int32_t best = allowed >> d & 1 ? d : __builtin_ctzll(allowed);
        for (uint64_t rest = allowed; best != d && rest; rest &= rest - 1)
            if (row[__builtin_ctzll(rest)] < row[best]) best = __builtin_ctzll(rest);
        s->device[node] = best;
    }
}

static berth_status expand(state *s, berth_patience *patience) {
    const berth_costs *c = s->terms.costs;
    double cost;
    BERTH_TRY(berth_expansion_improve(s->search, patience, s->flow, &s->terms, s->device, s->other, s->next, &cost));
    for (int32_t task = 0; task < c->n_tasks; task++) s->placement[task] = s->device[s->terms.node_of[task]];
    berth_search_count(s->search, 1);
    berth_search_offer(s->search, s->placement, NULL, BERTH_SOURCE_SEED, "min-cut");
    return BERTH_OK;
}

/* From where elimination ended, then from every single device as far as that is not too much. */
static berth_status expand_all(state *s) {
    int32_t k = s->terms.costs->n_devices, n_starts = k;
    berth_patience patience = berth_patience_for(s->search, INFINITY);
    while (n_starts > 0 && (double)n_starts * k * s->terms.n_nodes > most_expanded) n_starts--;
    if (!berth_search_stop(s->search)) BERTH_TRY(expand(s, &patience));
    for (int32_t d = 0; d < n_starts && !berth_search_stop(s->search); d++) {
        start_from(s, d);
        BERTH_TRY(expand(s, &patience));
    }
    return BERTH_OK;
}

static berth_status run(state *s) {
    const berth_problem *p = s->search->problem;
    bool bounds = p->costs->model == BERTH_MODEL_SERIAL && p->costs->objective == BERTH_OBJECTIVE_LATENCY;
    bool same = p->n_units == p->n_classes, is_exact = false;
    berth_patience patience = berth_patience_for(s->search, INFINITY);
    BERTH_TRY(set_up(s));
    berth_serial_options options = {.bounds = bounds && same, .offers = true, .last = s->device, .is_exact = &is_exact};
    BERTH_TRY(berth_serial_run(s->search, options, &patience));
    if (!is_exact && p->costs->n_devices > 2) BERTH_TRY(expand_all(s));
    return bounds && !same ? berth_bound_serial(s->search, &patience) : BERTH_OK;
}

berth_status berth_search_min_cut(berth_search *search) {
    state s = {.search = search};
    if (berth_search_stop(search)) return BERTH_OK;
    berth_arena_init(&s.arena, berth_ctx_allocator(search->ctx));
    berth_status status = run(&s);
    berth_flow_free(s.flow);
    berth_arena_deinit(&s.arena);
    return status;
}
