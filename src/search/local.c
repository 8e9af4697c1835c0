/* SPDX-License-Identifier: Apache-2.0 */
/* `local`: local search with restarts. Sweeps visit all units in random order and try each that has a neighbour on
 * another device on all devices of its neighbours; the first that is better is taken. Under `concurrent` a sweep also
 * tries tasks of one device that follow one another in the order the other way round. When a sweep finds nothing, as
 * many random moves are tried as there are units; when those find nothing either, sweeping begins again from the best
 * placement, disturbed. */
#include <math.h>

#include "search/local_walk.h"
#include "search/search_methods.h"

static const double least_gain = 1e-12; /* relative; less is rounding */

static bool keep_if_better(berth_stroll *w, double ms) {
    if (ms < w->ms * (1 - least_gain)) {
        berth_stroll_keep(w);
        return true;
    }
    berth_stroll_drop(w);
    return false;
}

/* The devices of a unit's neighbours other than its own. */
static uint64_t devices_near(const berth_stroll *w, int32_t unit) {
    uint64_t mask = 0;
    for (int32_t i = w->near_start[unit]; i < w->near_start[unit + 1]; i++) {
        int32_t other = w->near[i];
        mask |= (uint64_t)1 << (other < 0 ? -1 - other : berth_stroll_device(w, other));
    }
    return mask & w->problem->allowed[unit] & ~((uint64_t)1 << berth_stroll_device(w, unit));
}

static bool improve_unit(berth_stroll *w, int32_t unit) {
    uint64_t mask = devices_near(w, unit);
    for (; mask && !berth_search_stop(w->search); mask &= mask - 1)
        if (keep_if_better(w, berth_stroll_try(w, &unit, 1, __builtin_ctzll(mask)))) return true;
    return false;
}

/* The task before the one that runs before it on its device. */
static bool improve_order(berth_stroll *w, int32_t task) {
    int32_t place = berth_stroll_find_place(w, task, w->device[task], 1, false);
    if (place == w->priority[task] || berth_search_stop(w->search)) return false;
    return keep_if_better(w, berth_stroll_try_order(w, task, place));
}

static void shuffle(berth_rng *rng, int32_t *items, int32_t n) {
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t j = (int32_t)berth_rng_below(rng, (uint32_t)i + 1), item = items[i];
        items[i] = items[j];
        items[j] = item;
    }
}

static bool sweep(berth_stroll *w, int32_t *units) {
    const berth_problem *p = w->problem;
    bool improved = false;
    shuffle(w->rng, units, p->n_units);
    for (int32_t i = 0; i < p->n_units && !berth_search_stop(w->search); i++) {
        improved |= improve_unit(w, units[i]);
        for (int32_t k = p->unit_start[units[i]]; w->has_order && k < p->unit_start[units[i] + 1]; k++)
            improved |= improve_order(w, p->unit_tasks[k]);
    }
    return improved;
}

/* As many random moves as there are units; those that cost nothing are kept too. */
static bool wander(berth_stroll *w) {
    double before = w->ms;
    for (int32_t i = 0; i < w->problem->n_units && !berth_search_stop(w->search); i++) {
        double ms = berth_stroll_try_random(w);
        if (!berth_stroll_moved(w)) continue;
        if (ms <= w->ms)
            berth_stroll_keep(w);
        else
            berth_stroll_drop(w);
    }
    return w->ms < before * (1 - least_gain);
}

static void search_local(berth_stroll *w, int32_t *units) {
    for (int32_t unit = 0; unit < w->problem->n_units; unit++) units[unit] = unit;
    for (;;) {
        while (w->ms > 0 && (sweep(w, units) || wander(w))) {
        }
        berth_stroll_offer(w);
        if (berth_search_stop(w->search) || !(w->ms > 0)) return;
        berth_stroll_restart(w);
    }
}

berth_status berth_search_local(berth_search *search) {
    berth_stroll w;
    bool has_start = false;
    BERTH_TRY(berth_stroll_init(&w, search, "local", &has_start));
    int32_t *units = berth_arena_push(&w.arena, (size_t)w.problem->n_units, sizeof *units);
    if (units && has_start) search_local(&w, units);
    berth_stroll_deinit(&w);
    return units ? BERTH_OK : berth_fail_nomem(search->ctx);
}
