/* SPDX-License-Identifier: Apache-2.0 */
/* Offering a placement costs a full run and a copy, which is more than a move where moves are cheap: there the best one
 * is offered only when the walk is about to leave it, and at most once per so many evaluations as pay for it. What is
 * lost by that is little, since walks end by going down. */
#include "search/local_walk.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "search/local_start.h"

static const double least_gain = 1e-12; /* relative; less is rounding */

/* Adds a neighbour to a unit's row, or counts it if there are no rows yet. */
static void add_near(berth_stroll *w, int32_t *fill, int32_t unit, int32_t other) {
    if (w->near)
        w->near[w->near_start[unit] + fill[unit]++] = other;
    else
        w->near_start[unit + 1]++;
}

static void list_near(berth_stroll *w, int32_t *fill) {
    const berth_costs *c = w->costs;
    const int32_t *unit_of = w->problem->unit_of;
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t producer = c->value_producer[v];
        if (producer >= 0 && c->value_target[v] >= 0) add_near(w, fill, unit_of[producer], -1 - c->value_target[v]);
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) {
            int32_t reader = unit_of[c->readers[i]];
            if (producer < 0) {
                add_near(w, fill, reader, -1 - c->value_home[v]);
            } else if (unit_of[producer] != reader) {
                add_near(w, fill, reader, unit_of[producer]);
                add_near(w, fill, unit_of[producer], reader);
            }
        }
    }
}

static bool build_near(berth_stroll *w) {
    size_t n = (size_t)w->problem->n_units;
    w->near_start = berth_arena_push(&w->arena, n + 1, sizeof *w->near_start);
    int32_t *fill = berth_arena_push(&w->arena, n, sizeof *fill);
    if (w->arena.failed) return false;
    list_near(w, NULL);
    for (size_t u = 0; u < n; u++) w->near_start[u + 1] += w->near_start[u];
    w->near = berth_arena_push(&w->arena, (size_t)w->near_start[n], sizeof *w->near);
    if (w->arena.failed) return false;
    list_near(w, fill);
    return true;
}

static berth_status set_up(berth_stroll *w) {
    const berth_costs *c = w->costs;
    size_t n = (size_t)c->n_tasks;
    w->device = berth_arena_push(&w->arena, n, sizeof *w->device);
    w->priority = berth_arena_push(&w->arena, n, sizeof *w->priority);
    w->by_priority = berth_arena_push(&w->arena, n, sizeof *w->by_priority);
    w->tasks = berth_arena_push(&w->arena, n, sizeof *w->tasks);
    w->mark = berth_arena_push(&w->arena, (size_t)w->problem->n_units, sizeof *w->mark);
    if (w->arena.failed || !build_near(w)) return berth_fail_nomem(w->search->ctx);
    return berth_sim_new(w->search->ctx, &w->sim, c);
}

static bool has_moves(const berth_stroll *w) {
    if (w->has_order && w->costs->n_tasks > 1) return true;
    for (int32_t unit = 0; unit < w->problem->n_units; unit++)
        if (w->problem->allowed[unit] & (w->problem->allowed[unit] - 1)) return true;
    return false;
}

berth_status berth_stroll_init(berth_stroll *walk, berth_search *search, const char *method, bool *has_start) {
    const berth_problem *p = search->problem;
    const berth_costs *c = p->costs;
    berth_stroll *w = walk;
    *has_start = false;
    BERTH_TRY(berth_search_find_start(search));
    *w = (berth_stroll){.search = search, .problem = p, .costs = c, .method = method, .rng = &search->rng};
    w->moves_are_cheap = c->model == BERTH_MODEL_SERIAL && c->objective == BERTH_OBJECTIVE_LATENCY &&
                         !(c->piece_ms > 0) && !p->memory_binds;
    w->has_order = c->model == BERTH_MODEL_CONCURRENT && c->objective == BERTH_OBJECTIVE_LATENCY;
    w->may_swap = p->memory_binds;
    w->seen_ms = INFINITY;
    berth_arena_init(&w->arena, berth_ctx_allocator(search->ctx));
    berth_status status = set_up(w);
    if (status != BERTH_OK) {
        berth_stroll_deinit(w);
        return status;
    }
    *has_start = search->has_best && has_moves(w) && !berth_search_stop(search);
    if (*has_start) berth_stroll_return(w);
    return BERTH_OK;
}

void berth_stroll_deinit(berth_stroll *walk) {
    berth_sim_free(walk->sim);
    berth_arena_deinit(&walk->arena);
}

static bool starts_before(const void *user, int32_t a, int32_t b) {
    const berth_sim *sim = user;
    const double *start = berth_sim_starts(sim), *end = berth_sim_ends(sim);
    if (start[a] != start[b]) return start[a] < start[b];
    return end[a] < end[b] || (end[a] == end[b] && a < b);
}

/* The order in which the tasks start: it is topological, and with it as priority the run repeats itself. */
static void take_order(berth_stroll *w, const int32_t *priority) {
    if (!(berth_sim_run(w->sim, w->device, priority) < INFINITY)) return;
    for (int32_t task = 0; task < w->costs->n_tasks; task++) w->by_priority[task] = task;
    berth_sort(w->by_priority, (size_t)w->costs->n_tasks, starts_before, w->sim);
    for (int32_t i = 0; i < w->costs->n_tasks; i++) w->priority[w->by_priority[i]] = i;
}

void berth_stroll_jump(berth_stroll *walk, const int32_t *device, const int32_t *priority) {
    size_t n = (size_t)walk->costs->n_tasks;
    memmove(walk->device, device, n * sizeof *device);
    if (walk->has_order) take_order(walk, priority);
    walk->ms = berth_sim_load(walk->sim, walk->device, walk->has_order ? walk->priority : NULL);
    berth_search_count(walk->search, 1);
    walk->is_unoffered = false;
    if (walk->ms < walk->seen_ms) {
        walk->seen_ms = walk->ms;
        walk->is_unoffered = true;
    }
}

void berth_stroll_return(berth_stroll *walk) {
    const berth_search *s = walk->search;
    berth_stroll_jump(walk, s->best_device, s->best_has_priority ? s->best_priority : NULL);
}

/* To the best placement, disturbed. */
static void disturb(berth_stroll *w) {
    const berth_search *s = w->search;
    size_t n = (size_t)w->costs->n_tasks;
    bool has_priority = w->has_order && s->best_has_priority;
    memcpy(w->device, s->best_device, n * sizeof *w->device);
    if (has_priority) memcpy(w->tasks, s->best_priority, n * sizeof *w->tasks);
    berth_search_disturb(w->search, w->device, has_priority ? w->tasks : NULL);
    berth_stroll_jump(w, w->device, has_priority ? w->tasks : NULL);
}

void berth_stroll_restart(berth_stroll *walk) {
    for (int32_t i = 0; i < 16 && !berth_search_stop(walk->search); i++) {
        disturb(walk);
        if (walk->ms < INFINITY) return;
    }
    if (!berth_search_stop(walk->search)) berth_stroll_return(walk);
}

/* --- trying ----------------------------------------------------------------------------------------------------- */

static double run(berth_stroll *w) {
    return w->tried_ms = berth_sim_run(w->sim, w->device, w->has_order ? w->priority : NULL);
}

static void put(berth_stroll *w, int32_t unit, int32_t d) {
    const berth_problem *p = w->problem;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) w->device[p->unit_tasks[i]] = d;
}

static void begin(berth_stroll *w) {
    berth_search_count(w->search, 1);
    w->n_changes = 0;
    w->task = -1;
}

static void add_change(berth_stroll *w, int32_t unit, int32_t to) {
    w->changes[w->n_changes++] = (berth_stroll_change){unit, berth_stroll_device(w, unit), to};
}

/* Tasks of all units of the move, in w->tasks unless it is one unit; their number. */
static int32_t list_tasks(berth_stroll *w, const int32_t **tasks) {
    const berth_problem *p = w->problem;
    int32_t n = 0, only = w->changes[0].unit;
    if (w->n_changes == 1) {
        *tasks = p->unit_tasks + p->unit_start[only];
        return p->unit_start[only + 1] - p->unit_start[only];
    }
    for (int32_t k = 0; k < w->n_changes; k++)
        for (int32_t i = p->unit_start[w->changes[k].unit]; i < p->unit_start[w->changes[k].unit + 1]; i++)
            w->tasks[n++] = p->unit_tasks[i];
    *tasks = w->tasks;
    return n;
}

double berth_stroll_try(berth_stroll *walk, const int32_t *units, int32_t n, int32_t to) {
    begin(walk);
    for (int32_t i = 0; i < n; i++) add_change(walk, units[i], to);
    if (walk->moves_are_cheap) {
        const int32_t *tasks;
        int32_t n_tasks = list_tasks(walk, &tasks);
        return walk->tried_ms = berth_sim_try(walk->sim, tasks, n_tasks, to);
    }
    for (int32_t i = 0; i < n; i++) put(walk, units[i], to);
    return run(walk);
}

double berth_stroll_try_swap(berth_stroll *walk, const int32_t *units, int32_t n, const int32_t *others,
                             int32_t n_others) {
    int32_t here = berth_stroll_device(walk, units[0]), there = berth_stroll_device(walk, others[0]);
    begin(walk);
    for (int32_t i = 0; i < n; i++) add_change(walk, units[i], there);
    for (int32_t i = 0; i < n_others; i++) add_change(walk, others[i], here);
    for (int32_t i = 0; i < walk->n_changes; i++) put(walk, walk->changes[i].unit, walk->changes[i].to);
    return run(walk);
}

/* Moves a task from one place in the order to another, and those between by one. */
static void shift(berth_stroll *w, int32_t from, int32_t to) {
    int32_t task = w->by_priority[from], step = from < to ? 1 : -1;
    for (int32_t at = from; at != to; at += step) {
        w->by_priority[at] = w->by_priority[at + step];
        w->priority[w->by_priority[at]] = at;
    }
    w->by_priority[to] = task;
    w->priority[task] = to;
}

double berth_stroll_try_order(berth_stroll *walk, int32_t task, int32_t place) {
    begin(walk);
    walk->task = task;
    walk->place = place;
    walk->old_place = walk->priority[task];
    shift(walk, walk->old_place, place);
    return run(walk);
}

static int32_t last_predecessor(const berth_stroll *w, int32_t task) {
    const berth_costs *c = w->costs;
    int32_t last = -1;
    for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
        if (w->priority[c->preds[i]] > last) last = w->priority[c->preds[i]];
    return last;
}

static int32_t first_successor(const berth_stroll *w, int32_t task) {
    const berth_costs *c = w->costs;
    int32_t first = c->n_tasks;
    for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++)
        if (w->priority[c->succs[i]] < first) first = w->priority[c->succs[i]];
    return first;
}

int32_t berth_stroll_find_place(const berth_stroll *walk, int32_t task, int32_t n, bool later) {
    int32_t place = walk->priority[task], step = later ? 1 : -1, d = walk->device[task];
    int32_t end = later ? first_successor(walk, task) : last_predecessor(walk, task);
    for (int32_t at = place + step; at != end && n > 0; at += step)
        if (walk->device[walk->by_priority[at]] == d) {
            place = at;
            n--;
        }
    return place;
}

/* Takes the last move back where trying changed the placement. */
static void undo(berth_stroll *w) {
    if (w->task >= 0) shift(w, w->place, w->old_place);
    for (int32_t i = 0; i < w->n_changes && !w->moves_are_cheap; i++) put(w, w->changes[i].unit, w->changes[i].from);
}

static void redo(berth_stroll *w) {
    if (w->task >= 0) shift(w, w->old_place, w->place);
    for (int32_t i = 0; i < w->n_changes && !w->moves_are_cheap; i++) put(w, w->changes[i].unit, w->changes[i].to);
}

void berth_stroll_drop(berth_stroll *walk) {
    undo(walk);
}

void berth_stroll_offer(berth_stroll *walk) {
    if (!walk->is_unoffered) return;
    walk->is_unoffered = false;
    walk->last_offer = walk->search->evaluations;
    berth_search_offer(walk->search, walk->device, walk->has_order ? walk->priority : NULL, BERTH_SOURCE_POLISHED_SEED,
                       walk->method);
}

/* Before the walk leaves the best placement seen: offer it if enough moves were made to pay for that. */
static void leave_best(berth_stroll *w) {
    if (w->search->evaluations - w->last_offer < w->costs->n_tasks / 16) return;
    undo(w);
    berth_stroll_offer(w);
    redo(w);
}

void berth_stroll_keep(berth_stroll *walk) {
    if (walk->is_unoffered && walk->tried_ms > walk->ms) leave_best(walk);
    if (walk->moves_are_cheap) {
        const int32_t *tasks;
        int32_t n_tasks = list_tasks(walk, &tasks);
        walk->tried_ms = berth_sim_move(walk->sim, tasks, n_tasks, walk->changes[0].to);
        for (int32_t i = 0; i < walk->n_changes; i++) put(walk, walk->changes[i].unit, walk->changes[i].to);
    }
    walk->ms = walk->tried_ms;
    if (walk->ms < walk->seen_ms * (1 - least_gain)) {
        walk->seen_ms = walk->ms;
        walk->is_unoffered = true;
        if (!walk->moves_are_cheap) berth_stroll_offer(walk);
    } else if (walk->ms > walk->seen_ms) {
        walk->is_unoffered = false;
    }
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

int32_t berth_stroll_grow(berth_stroll *walk, int32_t unit, int32_t size, int32_t *units) {
    int32_t n = 0, d = berth_stroll_device(walk, unit);
    walk->growth++;
    units[n++] = unit;
    walk->mark[unit] = walk->growth;
    for (int32_t head = 0; head < n && n < size; head++)
        for (int32_t i = walk->near_start[units[head]]; i < walk->near_start[units[head] + 1] && n < size; i++) {
            int32_t other = walk->near[i];
            if (other < 0 || walk->mark[other] == walk->growth || berth_stroll_device(walk, other) != d) continue;
            walk->mark[other] = walk->growth;
            units[n++] = other;
        }
    return n;
}

/* A device of the mask, each equally likely. */
static int32_t draw_bit(berth_rng *rng, uint64_t mask) {
    uint32_t skip = berth_rng_below(rng, (uint32_t)__builtin_popcountll(mask));
    while (skip-- > 0) mask &= mask - 1;
    return __builtin_ctzll(mask);
}

int32_t berth_stroll_draw_device(berth_stroll *walk, int32_t unit) {
    int32_t here = berth_stroll_device(walk, unit), n = walk->near_start[unit + 1] - walk->near_start[unit];
    uint64_t others = walk->problem->allowed[unit] & ~((uint64_t)1 << here);
    if (!others) return -1;
    if (n > 0 && berth_rng_below(walk->rng, 10) > 0) {
        int32_t other = walk->near[walk->near_start[unit] + (int32_t)berth_rng_below(walk->rng, (uint32_t)n)];
        int32_t d = other < 0 ? -1 - other : berth_stroll_device(walk, other);
        return others >> d & 1 ? d : -1;
    }
    return draw_bit(walk->rng, others);
}

static double try_random_order(berth_stroll *w) {
    int32_t task = (int32_t)berth_rng_below(w->rng, (uint32_t)w->costs->n_tasks);
    int32_t n = 1 + (int32_t)berth_rng_below(w->rng, 4);
    int32_t place = berth_stroll_find_place(w, task, n, berth_rng_below(w->rng, 2) == 0);
    return place == w->priority[task] ? INFINITY : berth_stroll_try_order(w, task, place);
}

static bool all_allow(const berth_stroll *w, const int32_t *units, int32_t n, int32_t d) {
    for (int32_t i = 0; i < n; i++)
        if (!berth_problem_allows(w->problem, units[i], d)) return false;
    return true;
}

static double try_random_swap(berth_stroll *w) {
    uint32_t n_units = (uint32_t)w->problem->n_units;
    int32_t one = (int32_t)berth_rng_below(w->rng, n_units), other = (int32_t)berth_rng_below(w->rng, n_units);
    int32_t here = berth_stroll_device(w, one), there = berth_stroll_device(w, other);
    int32_t units[BERTH_WALK_UNITS], others[BERTH_WALK_UNITS];
    if (here == there) return INFINITY;
    int32_t n = berth_stroll_grow(w, one, 1 + (int32_t)berth_rng_below(w->rng, 3), units);
    int32_t n_others = berth_stroll_grow(w, other, 1 + (int32_t)berth_rng_below(w->rng, 3), others);
    if (!all_allow(w, units, n, there) || !all_allow(w, others, n_others, here)) return INFINITY;
    return berth_stroll_try_swap(w, units, n, others, n_others);
}

static double try_random_group(berth_stroll *w) {
    int32_t unit = (int32_t)berth_rng_below(w->rng, (uint32_t)w->problem->n_units), units[BERTH_WALK_UNITS], n = 1;
    int32_t to = berth_stroll_draw_device(w, unit);
    if (to < 0) return INFINITY;
    units[0] = unit;
    if (berth_rng_below(w->rng, 2) == 0)
        n = berth_stroll_grow(w, unit, 1 + (int32_t)berth_rng_below(w->rng, BERTH_WALK_UNITS), units);
    int32_t n_kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (berth_problem_allows(w->problem, units[i], to)) units[n_kept++] = units[i];
    return berth_stroll_try(w, units, n_kept, to);
}

double berth_stroll_try_random(berth_stroll *walk) {
    walk->n_changes = 0;
    walk->task = -1;
    if (walk->has_order && berth_rng_below(walk->rng, 3) == 0) return try_random_order(walk);
    if (walk->may_swap && berth_rng_below(walk->rng, 3) == 0) return try_random_swap(walk);
    return try_random_group(walk);
}
