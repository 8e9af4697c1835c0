/* SPDX-License-Identifier: Apache-2.0 */
/* From the trace of a label to a placement, and the way back for units that were dropped: each goes to the device of a
 * neighbour, and elsewhere only if that turns out to cost something. */
#include "search/exact_contiguous_walk.h"

#include <math.h>

static void place_kept(const berth_walk *w, berth_trace last, int32_t *device) {
    const berth_contiguous *m = w->m;
    uint64_t left[BERTH_MAX_DEVICES];
    for (int32_t kind = 0; kind < m->n_kinds; kind++) left[kind] = m->kind_devices[kind];
    for (int32_t task = 0; task < m->c->n_tasks; task++) device[task] = m->is_kept[task] ? m->c->host : -1;
    for (berth_trace at = last; at.parent >= 0; at = w->traces.items[at.parent]) {
        if (at.kind < 0) continue;
        const uint64_t *below = w->traces.items[at.parent].ideal->bits;
        int32_t d = __builtin_ctzll(left[at.kind]);
        left[at.kind] &= left[at.kind] - 1;
        for (int32_t b = 0; b < m->n_blocks; b++) {
            if (!berth_bits_have(at.ideal->bits, b) || berth_bits_have(below, b)) continue;
            for (int32_t k = m->block_start[b]; k < m->block_start[b + 1]; k++) device[m->block_tasks[k]] = d;
        }
    }
}

static void put_unit(const berth_problem *p, int32_t unit, int32_t d, int32_t *device) {
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
}

/* The device of the first task next to the unit that has one where the unit may run; else any of its own. */
static int32_t find_beside(const berth_problem *p, int32_t unit, const int32_t *device) {
    const berth_costs *c = p->costs;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
        int32_t task = p->unit_tasks[i];
        for (int32_t k = c->pred_start[task]; k < c->pred_start[task + 1]; k++)
            if (device[c->preds[k]] >= 0 && berth_problem_allows(p, unit, device[c->preds[k]]))
                return device[c->preds[k]];
        for (int32_t k = c->succ_start[task]; k < c->succ_start[task + 1]; k++)
            if (device[c->succs[k]] >= 0 && berth_problem_allows(p, unit, device[c->succs[k]]))
                return device[c->succs[k]];
    }
    return berth_problem_allows(p, unit, c->host) ? c->host : __builtin_ctzll(p->allowed[unit]);
}

static bool is_unit_kept(const berth_contiguous *m, int32_t unit) {
    return m->is_kept[m->problem->unit_tasks[m->problem->unit_start[unit]]];
}

/* Tries other devices for dropped units, one at a time, until the placement takes what it took without them. */
static void mend(const berth_walk *w, int32_t *device) {
    const berth_problem *p = w->m->problem;
    double wanted = w->best * (1 + 1e-9), ms = berth_search_evaluate(w->search, device, NULL);
    for (int32_t unit = 0; unit < p->n_units && ms > wanted; unit++) {
        if (is_unit_kept(w->m, unit)) continue;
        int32_t best = device[p->unit_tasks[p->unit_start[unit]]];
        for (int32_t d = 0; d < p->costs->n_devices && ms > wanted; d++) {
            if (!berth_problem_allows(p, unit, d) || berth_search_stop(w->search)) continue;
            put_unit(p, unit, d, device);
            double moved = berth_search_evaluate(w->search, device, NULL);
            if (!(moved < ms)) continue;
            ms = moved;
            best = d;
        }
        put_unit(p, unit, best, device);
    }
}

static void place_all(const berth_walk *w, berth_trace last, int32_t *device) {
    const berth_problem *p = w->m->problem;
    place_kept(w, last, device);
    for (int32_t unit = 0; unit < p->n_units && w->m->n_dropped > 0; unit++)
        if (!is_unit_kept(w->m, unit)) put_unit(p, unit, find_beside(p, unit, device), device);
}

bool berth_walk_is_accepted(berth_walk *w, berth_trace trace) {
    place_all(w, trace, w->device);
    return berth_search_evaluate(w->search, w->device, NULL) < INFINITY;
}

void berth_walk_offer(berth_walk *w) {
    place_all(w, w->best_trace, w->device);
    if (w->m->n_dropped > 0) mend(w, w->device);
    berth_search_offer(w->search, w->device, NULL, BERTH_SOURCE_SEED, "exact");
    w->has_news = false;
}
