/* SPDX-License-Identifier: Apache-2.0 */
/* `serial`: the least sum of times and copies is a minimum cut or the result of an elimination (minimise.c). Without
 * pieces and memory limits that is the optimum. With them it is a bound, raised in two ways:
 * - prices for pieces along paths (bound_pieces.c) and for memory (bound_memory.c), moved after every run towards what
 *   its placement violates; every run gives a bound, the best one counts;
 * - q connected sets of tasks make at least q pieces, and q + 1 unless each of them stays on one device: at least
 *   min(least cost with whole sets + q pieces, least cost + (q + 1) pieces). */
#include "search/bound_serial.h"

#include <math.h>
#include <string.h>

#include "search/bound_memory.h"
#include "search/bound_pieces.h"
#include "search/minimise.h"

enum { MOST_RUNS = 200, MOST_OFFERS = 60, PATIENCE = 30 }; /* runs; those offered; runs without a better bound */
static const double room_for_tables = 4e6, room_per_node = 400;

typedef struct state {
    berth_search *search;
    berth_serial_options options;
    berth_arena arena;
    berth_terms terms;
    berth_minimiser minimiser;
    berth_prices prices;
    berth_pieces pieces;
    int32_t *device;    /* [n_nodes] */
    int32_t *placement; /* [n_tasks] */
    double best;
    int32_t n_offered;
} state;

static void offer(state *s) {
    const berth_costs *c = s->terms.costs;
    if (!s->options.offers || s->n_offered >= MOST_OFFERS || berth_search_left(s->search) < 1) return;
    if (!berth_prices_fit(&s->prices, &s->terms, s->device)) return;
    for (int32_t task = 0; task < c->n_tasks; task++) s->placement[task] = s->device[s->terms.node_of[task]];
    s->n_offered++;
    berth_search_count(s->search, 1);
    berth_search_offer(s->search, s->placement, NULL, BERTH_SOURCE_SEED, "min-cut");
}

/* One run with the prices as they are; its bound. */
static berth_status run_once(state *s, double *bound) {
    berth_terms_set_serial(&s->terms);
    double given_back = berth_prices_apply(&s->prices, &s->terms);
    BERTH_TRY(berth_minimiser_run(s->search->ctx, &s->minimiser, s->device, bound));
    *bound += s->terms.costs->piece_ms * s->pieces.n_parts - given_back;
    offer(s);
    return BERTH_OK;
}

static void raise_bound(state *s, double bound) {
    if (bound > s->best) s->best = bound;
    if (s->options.bounds) berth_search_bound(s->search, bound);
}

static berth_status raise_prices(state *s, berth_patience *patience) {
    int32_t idle = 0;
    for (int32_t i = 0; i < MOST_RUNS && idle < PATIENCE; i++) {
        if (i > 0 && berth_patience_ends(s->search, patience)) break;
        double bound, before = s->best;
        BERTH_TRY(run_once(s, &bound));
        if (bound >= s->terms.huge) break; /* no placement keeps the limits */
        raise_bound(s, bound);
        patience->work -= s->minimiser.work;
        idle = s->best > before * (1 + 1e-6) ? 0 : idle + 1;
        double above = s->search->has_best ? s->search->best_ms : 1.2 * s->best;
        bool priced = berth_prices_move(&s->prices, &s->terms, s->device, bound, above, idle > PATIENCE / 2 ? 0.3 : 1);
        if (!s->pieces.any && !priced) break;
        berth_pieces_move(&s->pieces, &s->terms, s->device, 1.0 / (i + 2));
    }
    return BERTH_OK;
}

/* The bound by connected sets, given the least cost without pieces. */
static berth_status bound_by_sets(state *s, double least) {
    berth_terms whole;
    berth_minimiser minimiser = {0};
    double with_sets = INFINITY, piece = s->terms.costs->piece_ms;
    if (!berth_terms_init_connected(&whole, &s->arena, s->search->problem)) return berth_fail_nomem(s->search->ctx);
    bool possible = true;
    for (int32_t node = 0; node < whole.n_nodes; node++) possible &= whole.allowed[node] != 0;
    if (possible) {
        berth_terms_set_serial(&whole);
        berth_status status =
            berth_minimiser_init(s->search->ctx, &minimiser, &whole, &s->arena, room_for_tables, INFINITY);
        if (status == BERTH_OK) status = berth_minimiser_run(s->search->ctx, &minimiser, s->device, &with_sets);
        berth_minimiser_deinit(&minimiser);
        BERTH_TRY(status);
    }
    int32_t q = s->pieces.n_parts;
    double bound = least + (q + 1) * piece;
    if (with_sets + q * piece < bound) bound = with_sets + q * piece;
    raise_bound(s, bound);
    return BERTH_OK;
}

static berth_status run(state *s, berth_patience *patience) {
    const berth_problem *problem = s->search->problem;
    berth_ctx *ctx = s->search->ctx;
    bool ready = berth_terms_init(&s->terms, &s->arena, problem, s->options.of_classes) &&
                 berth_pieces_init(&s->pieces, &s->arena, problem) &&
                 berth_prices_init(&s->prices, &s->arena, problem, &s->terms);
    s->device = berth_arena_push(&s->arena, (size_t)s->terms.n_nodes, sizeof *s->device);
    s->placement = berth_arena_push(&s->arena, (size_t)problem->costs->n_tasks, sizeof *s->placement);
    if (!ready || s->arena.failed) return berth_fail_nomem(ctx);
    s->terms.values_count = true;
    s->terms.read_change = s->pieces.spread;
    double room = room_for_tables + room_per_node * s->terms.n_nodes;
    BERTH_TRY(
        berth_minimiser_init(ctx, &s->minimiser, &s->terms, &s->arena, room, 0.5 * berth_patience_left(patience)));
    if (s->pieces.any) {
        double least;
        BERTH_TRY(run_once(s, &least));
        least -= problem->costs->piece_ms * s->pieces.n_parts;
        if (s->options.bounds) BERTH_TRY(bound_by_sets(s, least));
        berth_pieces_move(&s->pieces, &s->terms, NULL, 1);
    }
    BERTH_TRY(raise_prices(s, patience));
    size_t n = (size_t)s->terms.n_nodes;
    if (s->options.last) memcpy(s->options.last, s->device, n * sizeof *s->device);
    if (s->options.is_exact) *s->options.is_exact = s->minimiser.is_exact;
    return BERTH_OK;
}

berth_status berth_serial_run(berth_search *search, berth_serial_options options, berth_patience *patience) {
    state s = {.search = search, .options = options};
    berth_arena_init(&s.arena, berth_ctx_allocator(search->ctx));
    berth_status status = run(&s, patience);
    berth_minimiser_deinit(&s.minimiser);
    berth_arena_deinit(&s.arena);
    return status;
}

berth_status berth_bound_serial(berth_search *search, berth_patience *patience) {
    const berth_problem *p = search->problem;
    bool same = p->n_units == p->n_classes;
    return berth_serial_run(search, (berth_serial_options){.of_classes = true, .bounds = true, .offers = same},
                            patience);
}
