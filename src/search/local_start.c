/* SPDX-License-Identifier: Apache-2.0 */
/* A placement that fits may be hard to find where memory is short: peaks depend on what is alive when. So placements
 * are drawn at random, and each is improved by moves of single units as long as its excess, the bytes over capacity
 * relative to it, summed over devices, does not grow. Zero is feasible. */
#include "search/local_start.h"

#include <math.h>

#include "search/search_methods.h"

/* A device of the mask, each equally likely. */
static int32_t draw_device(berth_rng *rng, uint64_t mask) {
    uint32_t skip = berth_rng_below(rng, (uint32_t)__builtin_popcountll(mask));
    while (skip-- > 0) mask &= mask - 1;
    return __builtin_ctzll(mask);
}

static void put(const berth_problem *p, int32_t *device, int32_t unit, int32_t d) {
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
}

static void draw_all(berth_search *search, int32_t *device) {
    const berth_problem *p = search->problem;
    for (int32_t unit = 0; unit < p->n_units; unit++) put(p, device, unit, draw_device(&search->rng, p->allowed[unit]));
}

void berth_search_disturb(berth_search *search, int32_t *device, int32_t *priority) {
    const berth_problem *p = search->problem;
    uint32_t n_units = (uint32_t)p->n_units, n_tasks = (uint32_t)p->costs->n_tasks;
    uint32_t n = 1 + berth_rng_below(&search->rng, 3 + n_units / 32);
    if (berth_rng_below(&search->rng, n_units / 4 + 2) == 0) {
        draw_all(search, device);
        n = n_units;
    }
    for (uint32_t i = 0; i < n; i++) {
        int32_t unit = (int32_t)berth_rng_below(&search->rng, n_units);
        put(p, device, unit, draw_device(&search->rng, p->allowed[unit]));
        if (!priority) continue;
        uint32_t a = berth_rng_below(&search->rng, n_tasks), b = berth_rng_below(&search->rng, n_tasks);
        int32_t at = priority[a];
        priority[a] = priority[b];
        priority[b] = at;
    }
}

typedef struct descent {
    berth_search *search;
    const berth_problem *p;
    int32_t *device;    /* [n_tasks] */
    double *peak;       /* [n_devices] */
    int64_t last;       /* evaluations at which to give up */
    double last_second; /* and clock */
} descent;

static bool may_go_on(descent *d) {
    return d->search->evaluations < d->last && berth_search_clock() < d->last_second && !berth_search_stop(d->search);
}

/* INFINITY: cannot be run for other reasons than memory. */
static double excess(descent *d) {
    const berth_costs *c = d->p->costs;
    double sum = 0;
    berth_search_count(d->search, 1);
    berth_sim_memory(d->search->sim, d->device, NULL, d->peak);
    for (int32_t i = 0; i < c->n_devices; i++) {
        if (isnan(d->peak[i])) return INFINITY;
        if (d->peak[i] > c->capacity[i]) sum += d->peak[i] / (c->capacity[i] > 0 ? c->capacity[i] : 1);
    }
    return sum;
}

static void descend(descent *d) {
    const berth_problem *p = d->p;
    double now = excess(d);
    for (int32_t n_stuck = 0; now > 0 && n_stuck < 8 * p->n_units && may_go_on(d); n_stuck++) {
        int32_t unit = (int32_t)berth_rng_below(&d->search->rng, (uint32_t)p->n_units);
        int32_t here = d->device[p->unit_tasks[p->unit_start[unit]]];
        uint64_t others = p->allowed[unit] & ~((uint64_t)1 << here);
        if (!others) continue;
        put(p, d->device, unit, draw_device(&d->search->rng, others));
        double next = excess(d);
        if (next < now) n_stuck = 0;
        if (next <= now)
            now = next;
        else
            put(p, d->device, unit, here);
    }
    if (now == 0) berth_search_offer(d->search, d->device, NULL, BERTH_SOURCE_SEED, "random");
}

static berth_status descend_to_fit(berth_search *search) {
    const berth_costs *c = search->problem->costs;
    descent d = {.search = search, .p = search->problem};
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    d.device = berth_arena_push(&arena, (size_t)c->n_tasks, sizeof *d.device);
    d.peak = berth_arena_push(&arena, (size_t)c->n_devices, sizeof *d.peak);
    int64_t left = berth_search_left(search);
    double now = berth_search_clock();
    d.last = search->evaluations + left / 2;
    d.last_second = now + (search->budget.seconds - (now - search->started)) / 2;
    while (!arena.failed && !search->has_best && may_go_on(&d)) {
        draw_all(search, d.device);
        descend(&d);
    }
    bool failed = arena.failed;
    berth_arena_deinit(&arena);
    return failed ? berth_fail_nomem(search->ctx) : BERTH_OK;
}

berth_status berth_search_find_start(berth_search *search) {
    berth_status (*const quick[])(berth_search *) = {berth_search_single, berth_search_fastest, berth_search_greedy,
                                                     berth_search_heft,   berth_search_m_etf,   berth_search_m_sct,
                                                     descend_to_fit};
    for (size_t i = 0; i < sizeof quick / sizeof *quick && !search->has_best; i++) BERTH_TRY(quick[i](search));
    return BERTH_OK;
}
