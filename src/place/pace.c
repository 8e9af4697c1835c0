/* SPDX-License-Identifier: Apache-2.0 */
/* The pace of the inner loops: evaluations and moves a second.
 *
 * Placements are drawn half unit by unit, so that nearly every value is copied, half in runs of units, as searches see
 * them. Batches of a few milliseconds are timed and the fastest counts: what else the machine does only ever makes one
 * slower. */
#include "berth/bench.h"

#include "search/search.h"

#include <math.h>

enum { MOST_PLACEMENTS = 64, MOST_NUMBERS = 1 << 20, LONGEST_RUN = 32 };
static const double batch_seconds = 0.02;

typedef struct pace {
    berth_search *search;
    berth_arena arena;
    int32_t n_placements; /* as many as do not push everything else out of the cache, but two */
    int32_t *placements;  /* [n_placements * n_tasks] */
    double sink;          /* keeps what is computed from being optimised away */
} pace;

static int32_t draw_device(berth_search *s, int32_t unit) {
    uint64_t allowed = s->problem->allowed[unit];
    for (uint32_t skip = berth_rng_below(&s->rng, (uint32_t)__builtin_popcountll(allowed)); skip > 0; skip--)
        allowed &= allowed - 1;
    return __builtin_ctzll(allowed);
}

static bool draw_placements(pace *p) {
    berth_search *s = p->search;
    const berth_problem *problem = s->problem;
    size_t n_tasks = (size_t)problem->costs->n_tasks;
    size_t fit = MOST_NUMBERS / (n_tasks + 1);
    p->n_placements = fit < 2 ? 2 : fit > MOST_PLACEMENTS ? MOST_PLACEMENTS : (int32_t)fit;
    p->placements = berth_arena_push(&p->arena, (size_t)p->n_placements * n_tasks, sizeof *p->placements);
    if (!p->placements) return false;
    for (int32_t k = 0; k < p->n_placements; k++) {
        int32_t *device = p->placements + (size_t)k * n_tasks, current = 0, left = 0;
        for (int32_t unit = 0; unit < problem->n_units; unit++, left--) {
            if (left <= 0) {
                current = draw_device(s, unit);
                left = k % 2 ? 1 + (int32_t)berth_rng_below(&s->rng, LONGEST_RUN) : 1;
            }
            int32_t d = berth_problem_allows(problem, unit, current) ? current : draw_device(s, unit);
            for (int32_t i = problem->unit_start[unit]; i < problem->unit_start[unit + 1]; i++)
                device[problem->unit_tasks[i]] = d;
        }
    }
    return true;
}

static void evaluate_some(pace *p, int64_t n) {
    size_t n_tasks = (size_t)p->search->problem->costs->n_tasks;
    for (int64_t i = 0; i < n; i++)
        p->sink += berth_sim_run(p->search->sim, p->placements + (size_t)(i % p->n_placements) * n_tasks, NULL);
}

static void move_some(pace *p, int64_t n) {
    berth_search *s = p->search;
    const berth_problem *problem = s->problem;
    for (int64_t i = 0; i < n; i++) {
        int32_t unit = (int32_t)berth_rng_below(&s->rng, (uint32_t)problem->n_units);
        p->sink += berth_sim_try(s->sim, problem->unit_tasks + problem->unit_start[unit],
                                 problem->unit_start[unit + 1] - problem->unit_start[unit], draw_device(s, unit));
    }
}

static double fastest_pace(pace *p, void (*some)(pace *p, int64_t n), double seconds) {
    double best = 0, end = berth_search_clock() + seconds, took;
    int64_t n = 1;
    do { /* how many fill a batch */
        double start = berth_search_clock();
        some(p, n);
        took = berth_search_clock() - start;
        if (took < batch_seconds) n *= 2;
        best = fmax(best, (double)n / 2 / fmax(took, 1e-9));
    } while (took < batch_seconds);
    for (best = 0; best == 0 || berth_search_clock() < end;) {
        double start = berth_search_clock();
        some(p, n);
        best = fmax(best, (double)n / fmax(berth_search_clock() - start, 1e-9));
    }
    return best;
}

static berth_status measure(berth_ctx *ctx, double *per_second, berth_pace_kind kind, const berth_problem *problem,
                            uint64_t seed, double seconds) {
    pace p = {0};
    berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
    if (problem->n_units < 1) return berth_fail(ctx, BERTH_E_ARG, "there is nothing to place");
    BERTH_TRY(berth_search_new(ctx, &p.search, problem, seed, budget, 1));
    berth_arena_init(&p.arena, berth_ctx_allocator(ctx));
    bool drawn = draw_placements(&p);
    if (drawn && kind == BERTH_PACE_MOVES) p.sink += berth_sim_load(p.search->sim, p.placements, NULL);
    if (drawn) *per_second = fastest_pace(&p, kind == BERTH_PACE_MOVES ? move_some : evaluate_some, seconds);
    bool absurd = p.sink < 0;
    berth_arena_deinit(&p.arena);
    berth_search_free(p.search);
    return !drawn ? berth_fail_nomem(ctx) : absurd ? berth_fail(ctx, BERTH_E_NUMERIC, "a negative makespan") : BERTH_OK;
}

berth_status berth_measure_pace(berth_ctx *ctx, double *per_second, berth_pace_kind kind, const berth_graph *graph,
                                const berth_device_set *devices, const berth_place_options *options, double seconds) {
    berth_cost_options cost = {options->limits, options->profile, options->model, options->piece_ms,
                               options->objective};
    berth_costs *costs = NULL;
    berth_problem *problem = NULL;
    *per_second = 0;
    berth_status status = berth_costs_new(ctx, &costs, graph, devices, &cost);
    if (status == BERTH_OK)
        status = berth_problem_new(ctx, &problem, costs, options->limits, options->grouped ? &options->group : NULL);
    if (status == BERTH_OK) status = measure(ctx, per_second, kind, problem, options->seed, seconds);
    berth_problem_free(problem);
    berth_costs_free(costs);
    return status;
}
