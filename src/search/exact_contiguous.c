/* SPDX-License-Identifier: Apache-2.0 */
/* The best placement under `contiguous`: walks over ideals that keep more and more of what they see, until nothing was
 * left out. Early ones are quick and give something to beat; what they leave out bounds from below all the same.
 *
 * What the walk takes no account of:
 * - units that were dropped may not fit beside their neighbours: then it is done again with all units;
 * - the host's memory if it is a peak, which depends on everything at once: then it is done again so that only
 * placements count which the simulator accepts. That need not lead to the best one, so that all placements are tried if
 * they are few. Where there are very many units only walks over lumps of them are made. */
#include "search/exact_contiguous.h"

#include <math.h>

#include "search/exact.h"
#include "search/exact_contiguous_walk.h"

enum {
    MOST_UNITS = 4096, /* beyond that only lumps */
    FEW_UNITS = 300,   /* up to that no lumps */
    MOST_PLACEMENTS = 1 << 20,
    FIRST_IDEALS = 4000, /* for an early look back */
    FIRST_STEPS = 6000000,
    LATER_IDEALS = 50000,
    LATER_STEPS = 50000000,
    STEPS_PER_WIDTH = 1000,
};
static const size_t most_bytes = (size_t)3 << 29; /* of 2 GiB */

typedef struct solve {
    berth_search *search;
    berth_contiguous_options options;
    bool only_accepted; /* placements that the simulator refuses do not count */
    size_t last_width;  /* of walks */
    bool is_done;       /* the best placement was found */
} solve;

/* What a walk has shown about the problem as a whole. */
static void conclude(solve *s, const berth_contiguous *m, const berth_walk_result *r) {
    berth_search *search = s->search;
    bool reached = search->has_best && search->best_ms * (1 - 1e-9) <= r->best_ms;
    bool is_whole = m->has_all_devices && s->options.most_blocks == 0 && !s->only_accepted;
    s->is_done = is_whole && r->complete && reached;
    if (!is_whole || !m->problem->bounds_hold) return;
    if (s->is_done)
        berth_search_bound(search, search->best_ms);
    else if (r->least_ms < INFINITY)
        berth_search_bound(search, fmin(r->least_ms * (1 - 1e-12), search->best_ms));
}

static berth_status walk_wider(solve *s, const berth_contiguous *m, berth_walk *walk) {
    bool lumped = s->options.most_blocks > 0;
    walk->only_accepted = s->only_accepted;
    for (size_t width = 1; width <= s->last_width; width *= 4) {
        berth_walk_result result = {0};
        berth_walk_limits limits = {width, width, STEPS_PER_WIDTH * width};
        if (width == 16 && !lumped && !m->throughput) BERTH_TRY(berth_walk_look_back(walk, FIRST_IDEALS, FIRST_STEPS));
        if (width == 256 && !lumped && !m->throughput) BERTH_TRY(berth_walk_look_back(walk, LATER_IDEALS, LATER_STEPS));
        BERTH_TRY(berth_walk_run(walk, limits, &result));
        conclude(s, m, &result);
        if (result.complete || walk->stopped) break;
    }
    return BERTH_OK;
}

static berth_status run(solve *s) {
    berth_contiguous *m = NULL;
    berth_walk walk;
    if (s->is_done || berth_search_stop(s->search)) return BERTH_OK;
    BERTH_TRY(berth_contiguous_new(s->search, &m, s->options));
    berth_status status = BERTH_OK;
    if (m->n_blocks <= MOST_UNITS && (m->n_dropped > 0 || !s->options.drop)) {
        status = berth_walk_init(&walk, s->search, m, most_bytes);
        if (status == BERTH_OK) {
            status = walk_wider(s, m, &walk);
            berth_walk_deinit(&walk);
        }
    }
    berth_contiguous_free(m);
    return status;
}

/* Depth first over all placements of units; of equal devices that are empty only the first. */
typedef struct every {
    berth_search *search;
    int32_t *device; /* [n_tasks] */
    int32_t n_used[BERTH_MAX_DEVICES];
    bool complete;
} every;

static bool is_repeat(const every *e, int32_t d) {
    uint64_t smaller = e->search->problem->equal_devices[d] & (((uint64_t)1 << d) - 1);
    for (; smaller && e->n_used[d] == 0; smaller &= smaller - 1)
        if (e->n_used[__builtin_ctzll(smaller)] == 0) return true;
    return false;
}

static void try_from(every *e, int32_t unit) {
    const berth_problem *p = e->search->problem;
    if (berth_search_stop(e->search)) {
        e->complete = false;
    } else if (unit == p->n_units) {
        berth_search_count(e->search, 1);
        berth_search_offer(e->search, e->device, NULL, BERTH_SOURCE_SEED, "exact");
    } else {
        for (int32_t d = 0; d < p->costs->n_devices && e->complete; d++) {
            if (!berth_problem_allows(p, unit, d) || is_repeat(e, d)) continue;
            for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) e->device[p->unit_tasks[i]] = d;
            berth_search_step(e->search, 1);
            e->n_used[d]++;
            try_from(e, unit + 1);
            e->n_used[d]--;
        }
    }
}

static berth_status try_all(solve *s) {
    const berth_problem *p = s->search->problem;
    double n = 1;
    for (int32_t unit = 0; unit < p->n_units && n <= MOST_PLACEMENTS; unit++)
        n *= __builtin_popcountll(p->allowed[unit]);
    if (n > MOST_PLACEMENTS || s->is_done || p->n_units > MOST_UNITS) return BERTH_OK;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(s->search->ctx));
    every e = {.search = s->search, .complete = true};
    e.device = berth_arena_push(&arena, (size_t)p->costs->n_tasks, sizeof *e.device);
    berth_status status = e.device ? BERTH_OK : berth_fail_nomem(s->search->ctx);
    if (status == BERTH_OK) try_from(&e, 0);
    if (status == BERTH_OK && e.complete && s->search->has_best && p->bounds_hold)
        berth_search_bound(s->search, s->search->best_ms);
    berth_arena_deinit(&arena);
    return status;
}

static berth_status run_lumped(solve *s) {
    s->last_width = 4;
    for (int32_t most = 64; most <= 1024 && 4 * most <= s->search->problem->n_units; most *= 4) {
        s->options = (berth_contiguous_options){.most_blocks = most};
        BERTH_TRY(run(s));
    }
    s->options.most_blocks = 0;
    s->last_width = SIZE_MAX / STEPS_PER_WIDTH / 4;
    return BERTH_OK;
}

berth_status berth_search_exact_contiguous(berth_search *search) {
    const berth_problem *p = search->problem;
    bool host_binds = p->memory_binds && !p->costs->task_memory && p->costs->capacity[p->costs->host] < INFINITY;
    solve s = {.search = search, .only_accepted = host_binds};
    BERTH_TRY(berth_search_bound_contiguous(search));
    if (p->n_units > FEW_UNITS) BERTH_TRY(run_lumped(&s));
    if (p->n_units > MOST_UNITS) return BERTH_OK;
    s.only_accepted = false;
    s.last_width = SIZE_MAX / STEPS_PER_WIDTH / 4;
    s.options.drop = true;
    BERTH_TRY(run(&s));
    s.options.drop = false;
    BERTH_TRY(run(&s));
    if (!host_binds) return BERTH_OK;
    s.only_accepted = true;
    s.last_width = 64;
    BERTH_TRY(run(&s));
    return try_all(&s);
}
