/* SPDX-License-Identifier: Apache-2.0 */
/* Offering a placement costs a full run and a copy, which is more than a move where moves are cheap. There the best
 * placement is not offered when it is found but when there is time: what has been changed since then is written down,
 * and taken back in a copy at the end of a round, or when as many changes have come together as pay for it. */
#include "search/local_walk.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"
#include "search/local_start.h"

enum { MOST_GROWN = 8 };                /* units in a random move */
static const double least_gain = 1e-12; /* relative; less is rounding */

/* Adds a neighbour to a unit's row, filled so far; or counts it, if `fill` is NULL. */
static void add_near(berth_stroll *w, int32_t *fill, int32_t unit, int32_t other) {
    if (fill)
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
    w->critical = berth_arena_push(&w->arena, n, sizeof *w->critical);
    w->before = berth_arena_push(&w->arena, n, sizeof *w->before);
    w->since = berth_arena_push(&w->arena, (size_t)w->problem->n_units + BERTH_STROLL_UNITS + 1, sizeof *w->since);
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
    w->source = BERTH_SOURCE_POLISHED_SEED;
    w->moves_are_cheap = c->model == BERTH_MODEL_SERIAL && c->objective == BERTH_OBJECTIVE_LATENCY &&
                         !(c->piece_ms > 0) && !p->memory_binds && !search->judge;
    /* Orders are simulated; runtimes have their own. */
    w->has_order = c->model == BERTH_MODEL_CONCURRENT && c->objective == BERTH_OBJECTIVE_LATENCY && !search->judge;
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

/* The input of a task that arrived last, as the task that made it; -1: none was made. */
static int32_t last_arrival(const berth_stroll *w, int32_t task) {
    const berth_costs *c = w->costs;
    const double *end = berth_sim_ends(w->sim);
    int32_t last = -1;
    double latest = -1;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], producer = c->value_producer[value];
        if (producer < 0) continue;
        double there = end[producer] + berth_costs_copy(c, value, w->device[producer], w->device[task]);
        if (there <= latest) continue;
        latest = there;
        last = producer;
    }
    return last;
}

/* A chain of tasks that made the last run take what it took, from its end. */
static void trace_critical(berth_stroll *w) {
    const double *start = berth_sim_starts(w->sim), *end = berth_sim_ends(w->sim);
    int32_t last_on[BERTH_MAX_DEVICES], last = 0;
    for (int32_t d = 0; d < w->costs->n_devices; d++) last_on[d] = -1;
    for (int32_t i = 0; i < w->costs->n_tasks; i++) {
        int32_t task = w->by_priority[i], *on = &last_on[w->device[task]];
        w->before[task] = *on;
        *on = task;
        if (end[task] > end[last]) last = task;
    }
    w->n_critical = 0;
    for (int32_t task = last; task >= 0;) {
        w->critical[w->n_critical++] = task;
        int32_t before = w->before[task];
        task = before >= 0 && end[before] == start[task] ? before : last_arrival(w, task);
    }
}

static double run(berth_stroll *w) {
    const int32_t *priority = w->has_order ? w->priority : NULL;
    w->tried_ms = berth_search_evaluate_on(w->search, w->sim, w->device, priority);
    w->tried_model_ms = w->search->model_ms;
    return w->tried_ms;
}

void berth_stroll_jump(berth_stroll *walk, const int32_t *device, const int32_t *priority) {
    size_t n = (size_t)walk->costs->n_tasks;
    memmove(walk->device, device, n * sizeof *device);
    if (walk->has_order) take_order(walk, priority);
    if (walk->moves_are_cheap) {
        walk->ms = walk->model_ms = berth_sim_load(walk->sim, walk->device, NULL);
        berth_search_count(walk->search, 1);
    } else {
        walk->ms = run(walk);
        walk->model_ms = walk->tried_model_ms;
    }
    walk->n_critical = 0;
    if (walk->has_order && walk->ms < INFINITY) trace_critical(walk);
    walk->is_unoffered = false;
    walk->n_since = 0;
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

static void put(berth_stroll *w, int32_t unit, int32_t d) {
    const berth_problem *p = w->problem;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) w->device[p->unit_tasks[i]] = d;
}

static void begin(berth_stroll *w) {
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
        berth_search_count(walk->search, 1);
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

static void reorder(berth_stroll *w, int32_t task, int32_t place) {
    w->task = task;
    w->place = place;
    w->old_place = w->priority[task];
    shift(w, w->old_place, place);
}

double berth_stroll_try_order(berth_stroll *walk, int32_t task, int32_t place) {
    begin(walk);
    reorder(walk, task, place);
    return run(walk);
}

double berth_stroll_try_at(berth_stroll *walk, int32_t unit, int32_t to, int32_t place) {
    int32_t task = walk->problem->unit_tasks[walk->problem->unit_start[unit]];
    begin(walk);
    add_change(walk, unit, to);
    put(walk, unit, to);
    if (place != walk->priority[task]) reorder(walk, task, place);
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

int32_t berth_stroll_find_place(const berth_stroll *walk, int32_t task, int32_t d, int32_t n, bool later) {
    int32_t place = walk->priority[task], step = later ? 1 : -1;
    int32_t end = later ? first_successor(walk, task) : last_predecessor(walk, task);
    for (int32_t at = place + step; at != end && n > 0; at += step)
        if (walk->device[walk->by_priority[at]] == d) {
            place = at;
            n--;
        }
    return place;
}

void berth_stroll_drop(berth_stroll *walk) {
    if (walk->task >= 0) shift(walk, walk->place, walk->old_place);
    for (int32_t i = 0; i < walk->n_changes && !walk->moves_are_cheap; i++)
        put(walk, walk->changes[i].unit, walk->changes[i].from);
}

void berth_stroll_offer(berth_stroll *walk) {
    const berth_problem *p = walk->problem;
    const int32_t *device = walk->device;
    if (!walk->is_unoffered) return;
    if (walk->n_since > 0) {
        memcpy(walk->tasks, device, (size_t)walk->costs->n_tasks * sizeof *device);
        for (int32_t k = walk->n_since - 1; k >= 0; k--)
            for (int32_t i = p->unit_start[walk->since[k].unit]; i < p->unit_start[walk->since[k].unit + 1]; i++)
                walk->tasks[p->unit_tasks[i]] = walk->since[k].from;
        device = walk->tasks;
    }
    walk->is_unoffered = false;
    berth_search_offer(walk->search, device, walk->has_order ? walk->priority : NULL, walk->source, walk->method);
}

/* Cheap moves: makes the move, and writes it down if the best placement is still to be offered. */
static void keep_cheap(berth_stroll *w) {
    const int32_t *tasks;
    int32_t n_tasks = list_tasks(w, &tasks);
    w->ms = w->model_ms = berth_sim_move(w->sim, tasks, n_tasks, w->changes[0].to);
    for (int32_t i = 0; i < w->n_changes; i++) {
        put(w, w->changes[i].unit, w->changes[i].to);
        if (w->is_unoffered) w->since[w->n_since++] = w->changes[i];
    }
    if (w->ms < w->seen_ms * (1 - least_gain)) {
        w->seen_ms = w->ms;
        berth_search_see(w->search, w->ms);
        w->is_unoffered = true;
        w->n_since = 0;
    } else if (w->n_since > w->problem->n_units) {
        berth_stroll_offer(w);
    }
}

void berth_stroll_keep(berth_stroll *walk) {
    if (walk->moves_are_cheap) {
        keep_cheap(walk);
        return;
    }
    walk->ms = walk->tried_ms;
    walk->model_ms = walk->tried_model_ms;
    if (walk->has_order) trace_critical(walk);
    if (!(walk->ms < walk->seen_ms)) return;
    walk->seen_ms = walk->ms;
    walk->is_unoffered = true;
    berth_stroll_offer(walk);
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

/* Three times in four a task of the critical chain, if that is known, else any. */
static int32_t draw_task(berth_stroll *w) {
    if (w->n_critical > 0 && berth_rng_below(w->rng, 4) > 0)
        return w->critical[berth_rng_below(w->rng, (uint32_t)w->n_critical)];
    return (int32_t)berth_rng_below(w->rng, (uint32_t)w->costs->n_tasks);
}

static double try_random_order(berth_stroll *w) {
    int32_t task = draw_task(w);
    int32_t n = 1 + (int32_t)berth_rng_below(w->rng, 4);
    int32_t place = berth_stroll_find_place(w, task, w->device[task], n, berth_rng_below(w->rng, 2) == 0);
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
    int32_t units[MOST_GROWN], others[MOST_GROWN];
    if (here == there) return INFINITY;
    int32_t n = berth_stroll_grow(w, one, 1 + (int32_t)berth_rng_below(w->rng, 3), units);
    int32_t n_others = berth_stroll_grow(w, other, 1 + (int32_t)berth_rng_below(w->rng, 3), others);
    if (!all_allow(w, units, n, there) || !all_allow(w, others, n_others, here)) return INFINITY;
    return berth_stroll_try_swap(w, units, n, others, n_others);
}

/* A unit of one task goes to a device and passes up to three tasks there. */
static double try_random_place(berth_stroll *w, int32_t unit, int32_t to) {
    int32_t task = w->problem->unit_tasks[w->problem->unit_start[unit]];
    int32_t n = 1 + (int32_t)berth_rng_below(w->rng, 3);
    return berth_stroll_try_at(w, unit, to, berth_stroll_find_place(w, task, to, n, berth_rng_below(w->rng, 2) == 0));
}

static double try_random_group(berth_stroll *w) {
    int32_t unit = w->problem->unit_of[draw_task(w)], units[MOST_GROWN], n = 1;
    int32_t to = berth_stroll_draw_device(w, unit);
    if (to < 0) return INFINITY;
    units[0] = unit;
    if (berth_rng_below(w->rng, 2) == 0)
        n = berth_stroll_grow(w, unit, 1 + (int32_t)berth_rng_below(w->rng, MOST_GROWN), units);
    bool is_task = w->problem->unit_start[unit + 1] - w->problem->unit_start[unit] == 1;
    if (w->has_order && n == 1 && is_task && berth_rng_below(w->rng, 2) == 0) return try_random_place(w, unit, to);
    int32_t n_kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (berth_problem_allows(w->problem, units[i], to)) units[n_kept++] = units[i];
    return berth_stroll_try(w, units, n_kept, to);
}

double berth_stroll_try_random(berth_stroll *walk) {
    walk->n_changes = 0;
    walk->task = -1;
    if (walk->has_order && berth_rng_below(walk->rng, 5) == 0) return try_random_order(walk);
    if (walk->may_swap && berth_rng_below(walk->rng, 3) == 0) return try_random_swap(walk);
    return try_random_group(walk);
}
