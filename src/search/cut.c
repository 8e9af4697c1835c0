/* SPDX-License-Identifier: Apache-2.0 */
/* `cut`: the best single cut. For an ordered pair of devices, units before a place in topological order run on the
 * first device and the others on the second; a unit that may not goes where it runs fastest. One step along the order
 * is one move of the simulator, so that trying all places of all pairs costs what the model's moves cost. Where a move
 * is a full run and there are many places, or the budget does not allow them all, a few of them are tried for every
 * pair, and then ever more closely around the best. */
#include <math.h>

#include "search/search_methods.h"
#include "search/search_room.h"

enum { ALL_UNITS = 512 };              /* up to so many units all places are tried, whatever a move costs */
static const double coarse_work = 1e7; /* tasks simulated in the coarse round, about */

typedef struct place {
    int32_t a, b;   /* devices before and after */
    int32_t before; /* number of units on a */
    double ms;
} place;

typedef struct cutter {
    berth_search *search;
    const berth_problem *p;
    berth_sim *sim;
    int32_t *device; /* [n_tasks] scratch */
    int32_t *other;  /* [n_units] the fastest device of each unit */
    place best;
} cutter;

static int32_t device_for(const cutter *c, int32_t unit, int32_t d) {
    return berth_problem_allows(c->p, unit, d) ? d : c->other[unit];
}

static void fill(cutter *c, int32_t a, int32_t b, int32_t before) {
    for (int32_t task = 0; task < c->p->costs->n_tasks; task++) {
        int32_t unit = c->p->unit_of[task];
        c->device[task] = device_for(c, unit, unit < before ? a : b);
    }
}

static void note(cutter *c, int32_t a, int32_t b, int32_t before, double ms) {
    berth_search_count(c->search, 1);
    if (ms < c->best.ms) c->best = (place){a, b, before, ms};
}

/* Every place of a pair, one move after another. */
static void try_all(cutter *c, int32_t a, int32_t b) {
    const berth_problem *p = c->p;
    if (berth_search_stop(c->search)) return;
    fill(c, a, b, 0);
    note(c, a, b, 0, berth_sim_load(c->sim, c->device, NULL));
    for (int32_t unit = 0; unit < p->n_units && !berth_search_stop(c->search); unit++) {
        const int32_t *tasks = p->unit_tasks + p->unit_start[unit];
        int32_t n = p->unit_start[unit + 1] - p->unit_start[unit];
        note(c, a, b, unit + 1, berth_sim_move(c->sim, tasks, n, device_for(c, unit, a)));
    }
}

/* Places of a pair from `low` to `high`, a step apart. */
static void try_some(cutter *c, int32_t a, int32_t b, int32_t low, int32_t high, int32_t step) {
    for (int32_t before = low; before <= high && !berth_search_stop(c->search); before += step) {
        fill(c, a, b, before);
        note(c, a, b, before, berth_sim_run(c->sim, c->device, NULL));
    }
}

static void refine(cutter *c, int32_t step) {
    while (step > 1 && c->best.ms < INFINITY) {
        int32_t at = c->best.before, n = c->p->n_units;
        int32_t low = at > step ? at - step : 0, high = n - at > step ? at + step : n;
        step = step / 8 > 1 ? step / 8 : 1;
        try_some(c, c->best.a, c->best.b, low, high, step);
    }
}

static void try_pairs(cutter *c) {
    const berth_costs *costs = c->p->costs;
    int32_t k = costs->n_devices, n = c->p->n_units;
    bool moves_are_cheap = costs->model == BERTH_MODEL_SERIAL && !(costs->piece_ms > 0) && !c->p->memory_binds;
    double allowed = (double)berth_search_left(c->search) / ((double)k * (k - 1));
    bool all = (moves_are_cheap || n <= ALL_UNITS) && n < allowed;
    double n_places = fmin(coarse_work / ((double)costs->n_tasks * k * k), allowed / 2);
    int32_t step = (int32_t)fmin(fmax(n / n_places, 1), fmax(n / 4.0, 1));
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = 0; b < k; b++) {
            if (a == b) continue;
            if (all)
                try_all(c, a, b);
            else
                try_some(c, a, b, 0, n, step);
        }
    if (!all) refine(c, step);
    if (!(c->best.ms < INFINITY)) return;
    fill(c, c->best.a, c->best.b, c->best.before);
    berth_search_offer(c->search, c->device, NULL, BERTH_SOURCE_SEED, "cut");
}

static berth_status cut(cutter *c, berth_arena *arena) {
    berth_room room;
    c->device = berth_arena_push(arena, (size_t)c->p->costs->n_tasks, sizeof *c->device);
    c->other = berth_arena_push(arena, (size_t)c->p->n_units, sizeof *c->other);
    if (!berth_room_build(arena, c->p, &room)) return berth_fail_nomem(c->search->ctx);
    for (int32_t unit = 0; unit < c->p->n_units; unit++) c->other[unit] = berth_room_fastest(&room, unit);
    BERTH_TRY(berth_sim_new(c->search->ctx, &c->sim, c->p->costs));
    try_pairs(c);
    return BERTH_OK;
}

berth_status berth_search_cut(berth_search *search) {
    cutter c = {.search = search, .p = search->problem, .best = {.ms = INFINITY}};
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = cut(&c, &arena);
    berth_sim_free(c.sim);
    berth_arena_deinit(&arena);
    return status;
}
