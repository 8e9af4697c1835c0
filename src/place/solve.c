/* SPDX-License-Identifier: Apache-2.0 */
/* What every single device takes is simulated first, whatever the method: it is part of the answer, and methods that
 * start from something start from the best of them. That is also why the portfolio is never worse. The bounds that cost
 * no more than that come next, so that every answer has one. */
#include "place/solve.h"

#include "place/auto.h"
#include "place/leads.h"
#include "search/bound.h"
#include "search/search_methods.h"

#include <math.h>

/* All that may be on a device is there: what a runtime makes of it if it is told to use that device. */
static void judge_single(berth_crew *crew, int32_t d, int32_t *device) {
    const berth_problem *p = crew->problem;
    for (int32_t task = 0; task < p->costs->n_tasks; task++) device[task] = berth_lead_device(p, p->unit_of[task], d);
    if (berth_search_evaluate(crew->best, device, NULL) < crew->best->best_ms)
        berth_search_offer(crew->best, device, NULL, BERTH_SOURCE_SEED, "single");
}

static berth_status run_singles(berth_crew *crew, const berth_method *method, double *single_ms) {
    const berth_costs *c = crew->problem->costs;
    const berth_allocator *allocator = berth_ctx_allocator(crew->ctx);
    size_t room = (size_t)c->n_tasks + 1;
    bool is_start = berth_crew_starts_from_best(crew, method);
    double started = berth_search_clock();
    int32_t *device = berth_resize(allocator, NULL, 0, room, sizeof *device);
    if (!device) return berth_fail_nomem(crew->ctx);
    crew->at_work = "single";
    for (int32_t d = 0; d < c->n_devices; d++) {
        for (int32_t task = 0; task < c->n_tasks; task++) device[task] = d;
        single_ms[d] = berth_sim_run(crew->best->sim, device, NULL);
        if (crew->judge) judge_single(crew, d, device);
        if (!is_start || crew->judge) continue;
        berth_search_count(crew->best, 1);
        if (single_ms[d] < INFINITY) berth_search_offer(crew->best, device, NULL, BERTH_SOURCE_SEED, "single");
    }
    berth_resize(allocator, device, room, 0, sizeof *device);
    int64_t n = crew->judge ? crew->best->evaluations : c->n_devices;
    if (!is_start && !crew->judge) return BERTH_OK;
    return berth_crew_record(crew, "single", crew->best->best_ms, n, berth_search_clock() - started);
}

bool berth_crew_takes_starts(const berth_method *method, const berth_settings *settings) {
    switch (method->kind) {
    case BERTH_METHOD_IMPROVES:
    case BERTH_METHOD_PORTFOLIO: return true;
    case BERTH_METHOD_LEARNS: return settings && berth_settings_get(settings, BERTH_SET_SEEDS) == BERTH_SEEDS_ALL;
    default: return false;
    }
}

static berth_status ask_starts(berth_crew *crew, const berth_method *method) {
    berth_search *best = crew->best;
    double started = berth_search_clock(), fastest = INFINITY;
    int64_t before = best->evaluations;
    if (crew->n_starts == 0 || !berth_crew_takes_starts(method, crew->learn ? crew->learn->settings : NULL))
        return BERTH_OK;
    crew->at_work = "auto";
    for (int32_t i = 0; i < crew->n_starts && !berth_crew_done(crew); i++) {
        double ms = berth_search_evaluate(best, crew->starts[i], NULL);
        fastest = fmin(fastest, ms);
        if (ms < best->best_ms) berth_search_offer(best, crew->starts[i], NULL, BERTH_SOURCE_SEED, "auto");
    }
    return berth_crew_record(crew, "auto", fastest, best->evaluations - before, berth_search_clock() - started);
}

/* A method alone: first a bound, so that it may know when it is done, in little of the time; what proves has its own.
 */
static berth_status run_one(berth_crew *crew, const berth_method *method) {
    static const berth_method seeds = {"seeds", BERTH_METHOD_IMPROVES, berth_search_seeds, "the methods that build"};
    berth_budget whole = crew->best->budget, some = whole;
    if (whole.seconds < INFINITY) some.seconds = berth_crew_seconds(crew) + fmin(0.1 * whole.seconds, 0.25);
    if (method->kind != BERTH_METHOD_PROVES && !crew->unbounded && !crew->judge)
        BERTH_TRY(berth_crew_raise_bound(crew, some, false));
    if (method->kind == BERTH_METHOD_IMPROVES && crew->seeded) {
        BERTH_TRY(berth_crew_try(crew, &seeds, (berth_budget){berth_search_left(crew->best), whole.seconds}));
        if (berth_crew_done(crew)) return BERTH_OK;
    }
    berth_turn turn = {.method = method, .budget = {berth_search_left(crew->best), whole.seconds}};
    if (method->kind == BERTH_METHOD_LEARNS) turn.n_threads = crew->n_threads;
    return berth_crew_run(crew, &turn, 1);
}

berth_status berth_crew_solve(berth_crew *crew, const berth_method *method, double *single_ms) {
    BERTH_TRY(run_singles(crew, method, single_ms));
    BERTH_TRY(ask_starts(crew, method));
    if (!crew->judge) BERTH_TRY(berth_bound_quick(crew->best));
    crew->is_portfolio = method->kind == BERTH_METHOD_PORTFOLIO;
    BERTH_TRY(crew->is_portfolio ? berth_place_auto(crew) : run_one(crew, method));
    berth_curve_end(&crew->curve, crew->best->best_ms);
    return BERTH_OK;
}
