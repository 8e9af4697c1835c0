/* SPDX-License-Identifier: Apache-2.0 */
/* A branch is a chain whose inner units have one producer and one reader each, as between a fork and a join: it is
 * known before the search. Paths are drawn step by step at both ends. */
#include "learn/shape.h"

enum { NONE = -1, SEVERAL = -2 };

/* What a unit has in one direction: NONE, SEVERAL, or the only one. */
static void meet(int32_t *only, int32_t unit, int32_t other) {
    if (only[unit] == NONE)
        only[unit] = other;
    else if (only[unit] != other)
        only[unit] = SEVERAL;
}

berth_status berth_shapes_init(berth_shapes *shapes, berth_stroll *walk, berth_arena *arena) {
    const berth_problem *p = walk->problem;
    const berth_costs *c = walk->costs;
    size_t n = (size_t)p->n_units;
    int32_t *after = berth_arena_push(arena, n, sizeof *after), *before = berth_arena_push(arena, n, sizeof *before);
    if (arena->failed) return berth_fail_nomem(walk->search->ctx);
    for (int32_t unit = 0; unit < p->n_units; unit++) after[unit] = before[unit] = NONE;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) {
            int32_t from = p->unit_of[task], to = p->unit_of[c->succs[i]];
            if (from == to) continue;
            meet(after, from, to);
            meet(before, to, from);
        }
    for (int32_t unit = 0; unit < p->n_units; unit++)
        if (after[unit] >= 0 && before[after[unit]] != unit) after[unit] = SEVERAL;
    for (int32_t unit = 0; unit < p->n_units; unit++)
        if (before[unit] >= 0 && after[before[unit]] != unit) before[unit] = SEVERAL;
    *shapes = (berth_shapes){.walk = walk, .after = after, .before = before};
    return BERTH_OK;
}

/* Units of several tasks may lead back to where one came from. */
static bool is_among(const int32_t *units, int32_t n, int32_t unit) {
    for (int32_t i = 0; i < n; i++)
        if (units[i] == unit) return true;
    return false;
}

static int32_t take_branch(const berth_shapes *s, int32_t unit, int32_t *units) {
    const int32_t *const ways[] = {s->after, s->before};
    int32_t n = 0, d = berth_stroll_device(s->walk, unit);
    units[n++] = unit;
    for (int way = 0; way < 2; way++)
        for (int32_t at = ways[way][unit]; at >= 0 && n < BERTH_STROLL_UNITS; at = ways[way][at]) {
            if (berth_stroll_device(s->walk, at) != d || is_among(units, n, at)) break;
            units[n++] = at;
        }
    return n;
}

/* One of the units on the same device that read from this one, or that it reads from, each equally likely; NONE. */
static int32_t draw_next(const berth_shapes *s, int32_t unit, bool later) {
    const berth_problem *p = s->walk->problem;
    const berth_costs *c = s->walk->costs;
    const int32_t *start = later ? c->succ_start : c->pred_start, *list = later ? c->succs : c->preds;
    int32_t d = berth_stroll_device(s->walk, unit), found = NONE;
    uint32_t n = 0;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++)
        for (int32_t k = start[p->unit_tasks[i]]; k < start[p->unit_tasks[i] + 1]; k++) {
            int32_t other = p->unit_of[list[k]];
            if (other == unit || s->walk->device[list[k]] != d) continue;
            if (berth_rng_below(s->walk->rng, ++n) == 0) found = other;
        }
    return found;
}

static int32_t draw_path(const berth_shapes *s, int32_t unit, int32_t size, int32_t *units) {
    int32_t n = 0, ends[2] = {unit, unit};
    bool open[2] = {true, true};
    units[n++] = unit;
    while (n < size && (open[0] || open[1])) {
        int way = open[0] && (!open[1] || berth_rng_below(s->walk->rng, 2) == 0) ? 0 : 1;
        int32_t next = draw_next(s, ends[way], way == 0);
        open[way] = next >= 0 && !is_among(units, n, next);
        if (!open[way]) continue;
        units[n++] = ends[way] = next;
    }
    return n;
}

int32_t berth_shapes_grow(const berth_shapes *shapes, int32_t unit, int32_t size, int32_t *units) {
    switch (berth_rng_below(shapes->walk->rng, 3)) {
    case 0: return take_branch(shapes, unit, units);
    case 1: return draw_path(shapes, unit, size, units);
    default: return berth_stroll_grow(shapes->walk, unit, size, units);
    }
}
