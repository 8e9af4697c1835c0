/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a schedule. Tails are longest paths over the values that travel and over the tasks that follow one another
 * on a device, from the last task backwards: start + time + tail is then the longest chain through a task, and slack
 * what it lacks to the makespan. Waiting for a queued link is not seen. */
#include "learn/outlook.h"

#include "base/sort.h"

#include <math.h>
#include <string.h>

static double mean_shortest(const berth_costs *c) {
    double sum = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double shortest = INFINITY;
        for (int32_t d = 0; d < c->n_devices; d++)
            shortest = fmin(shortest, c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d]);
        sum += shortest;
    }
    return sum > 0 ? sum / c->n_tasks : 1;
}

static void push_arrays(berth_outlook *s, berth_arena *arena) {
    size_t n = (size_t)s->costs->n_tasks, nd = (size_t)s->costs->n_devices, n_units = (size_t)s->problem->n_units;
    double **const doubles[] = {&s->start, &s->end, &s->ready, &s->tail, &s->new_end, &s->new_tail};
    int32_t **const numbers[] = {&s->by_rank, &s->rank, &s->lane, &s->lane_place, &s->group};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        *doubles[i] = berth_arena_push(arena, n, sizeof **doubles[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = berth_arena_push(arena, n, sizeof **numbers[i]);
    s->lane_start = berth_arena_push(arena, nd + 1, sizeof *s->lane_start);
    s->lane_fill = berth_arena_push(arena, nd, sizeof *s->lane_fill);
    s->load = berth_arena_push(arena, nd, sizeof *s->load);
    s->peak = berth_arena_push(arena, nd, sizeof *s->peak);
    s->need = berth_arena_push(arena, n_units, sizeof *s->need);
    s->unit_mark = berth_arena_push(arena, n_units, sizeof *s->unit_mark);
    s->value_mark = berth_arena_push(arena, (size_t)s->costs->n_values, sizeof *s->value_mark);
}

berth_status berth_outlook_init(berth_outlook *outlook, const berth_stroll *walk, berth_arena *arena) {
    const berth_costs *c = walk->costs;
    *outlook = (berth_outlook){.walk = walk, .problem = walk->problem, .costs = c};
    outlook->has_times = c->model != BERTH_MODEL_SERIAL && c->objective == BERTH_OBJECTIVE_LATENCY;
    outlook->scale = mean_shortest(c);
    push_arrays(outlook, arena);
    if (arena->failed) return berth_fail_nomem(walk->search->ctx);
    if (!walk->problem->memory_binds) return BERTH_OK;
    /* Half of what a unit makes: some is gone when the next comes. */
    for (int32_t unit = 0; unit < walk->problem->n_units; unit++)
        outlook->need[unit] = berth_problem_unit_bytes(walk->problem, unit, 0.5);
    return berth_sim_new(walk->search->ctx, &outlook->sim, c);
}

void berth_outlook_deinit(berth_outlook *outlook) {
    berth_sim_free(outlook->sim);
    outlook->sim = NULL;
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

static bool starts_before(const void *user, int32_t a, int32_t b) {
    const berth_outlook *s = user;
    if (s->start[a] != s->start[b]) return s->start[a] < s->start[b];
    return s->end[a] < s->end[b] || (s->end[a] == s->end[b] && a < b);
}

static void rank_tasks(berth_outlook *s) {
    int32_t n = s->costs->n_tasks;
    if (s->walk->has_order) {
        memcpy(s->by_rank, s->walk->by_priority, (size_t)n * sizeof *s->by_rank);
    } else {
        for (int32_t task = 0; task < n; task++) s->by_rank[task] = task;
        if (s->has_times) berth_sort(s->by_rank, (size_t)n, starts_before, s);
    }
    for (int32_t i = 0; i < n; i++) s->rank[s->by_rank[i]] = i;
}

static void fill_lanes(berth_outlook *s) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk->device;
    memset(s->lane_start, 0, ((size_t)c->n_devices + 1) * sizeof *s->lane_start);
    memset(s->load, 0, (size_t)c->n_devices * sizeof *s->load);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        s->lane_start[device[task] + 1]++;
        s->load[device[task]] += c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)device[task]];
    }
    for (int32_t d = 0; d < c->n_devices; d++) {
        s->lane_start[d + 1] += s->lane_start[d];
        s->lane_fill[d] = s->lane_start[d];
    }
    for (int32_t i = 0; i < c->n_tasks; i++) {
        int32_t task = s->by_rank[i], at = s->lane_fill[device[task]]++;
        s->lane[at] = task;
        s->lane_place[task] = at;
    }
}

static double last_input(const berth_outlook *s, int32_t task) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk->device;
    double last = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t v = c->in_values[i], producer = c->value_producer[v];
        int32_t home = producer < 0 ? c->value_home[v] : device[producer];
        last = fmax(last, (producer < 0 ? 0 : s->end[producer]) + berth_costs_copy(c, v, home, device[task]));
    }
    return last;
}

/* The longest way from the task's values on its device to the end of everything. */
static double tail_of_values(const berth_outlook *s, int32_t task, int32_t d) {
    const berth_costs *c = s->costs;
    double tail = 0;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t v = c->out_values[i];
        if (c->value_target[v] >= 0) tail = fmax(tail, berth_costs_copy(c, v, d, c->value_target[v]));
        for (int32_t k = c->reader_start[v]; k < c->reader_start[v + 1]; k++) {
            int32_t reader = c->readers[k];
            double rest = s->end[reader] - s->start[reader] + s->tail[reader];
            tail = fmax(tail, berth_costs_copy(c, v, d, s->walk->device[reader]) + rest);
        }
    }
    return tail;
}

/* The task that runs next on the same device, or -1. */
static int32_t next_on_lane(const berth_outlook *s, int32_t task) {
    int32_t at = s->lane_place[task] + 1;
    return at < s->lane_start[s->walk->device[task] + 1] ? s->lane[at] : -1;
}

/* From the start of a task to the end of everything. */
static double from_start(const berth_outlook *s, int32_t task) {
    return task < 0 ? 0 : s->end[task] - s->start[task] + s->tail[task];
}

void berth_outlook_read(berth_outlook *outlook) {
    berth_outlook *s = outlook;
    size_t n = (size_t)s->costs->n_tasks;
    s->ms = s->walk->model_ms;
    if (s->has_times) {
        memcpy(s->start, berth_sim_starts(s->walk->sim), n * sizeof *s->start);
        memcpy(s->end, berth_sim_ends(s->walk->sim), n * sizeof *s->end);
    }
    rank_tasks(s);
    fill_lanes(s);
    if (s->problem->memory_binds)
        berth_sim_memory(s->sim, s->walk->device, s->walk->has_order ? s->walk->priority : NULL, s->peak);
    if (!s->has_times) return;
    for (int32_t task = 0; task < s->costs->n_tasks; task++) s->ready[task] = last_input(s, task);
    for (int32_t i = s->costs->n_tasks - 1; i >= 0; i--) {
        int32_t task = s->by_rank[i];
        s->tail[task] = fmax(from_start(s, next_on_lane(s, task)), tail_of_values(s, task, s->walk->device[task]));
    }
}

/* --- guessing --------------------------------------------------------------------------------------------------- */

static bool in_group(const berth_outlook *s, int32_t task) {
    return s->unit_mark[s->problem->unit_of[task]] == s->round;
}

static double time_on(const berth_outlook *s, int32_t task, int32_t d) {
    return s->costs->time_ms[(size_t)task * (size_t)s->costs->n_devices + (size_t)d];
}

/* How many tasks of a device come before that place in the order. With `after`, also the one that is there. */
static int32_t count_before(const berth_outlook *s, int32_t d, int32_t place, bool after) {
    int32_t low = s->lane_start[d], high = s->lane_start[d + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2, rank = s->rank[s->lane[middle]];
        if (rank < place || (after && rank == place))
            low = middle + 1;
        else
            high = middle;
    }
    return low - s->lane_start[d];
}

/* The share of a span of time in which a device runs something. */
static double busy_share(const berth_outlook *s, int32_t d, double from, double to) {
    int32_t low = s->lane_start[d], high = s->lane_start[d + 1];
    double sum = 0;
    if (!(to > from)) return 0;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (s->end[s->lane[middle]] <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < s->lane_start[d + 1] && s->start[s->lane[low]] < to; low++) {
        int32_t task = s->lane[low];
        double overlap = fmin(to, s->end[task]) - fmax(from, s->start[task]);
        if (overlap > 0) sum += overlap;
    }
    return sum / (to - from);
}

static bool ranks_before(const void *user, int32_t a, int32_t b) {
    const int32_t *rank = user;
    return rank[a] < rank[b];
}

/* The tasks of the units by rank, marked. */
static int32_t mark_group(berth_outlook *s, const int32_t *units, int32_t n) {
    const berth_problem *p = s->problem;
    int32_t n_tasks = 0;
    s->round++;
    for (int32_t i = 0; i < n; i++) {
        s->unit_mark[units[i]] = s->round;
        for (int32_t k = p->unit_start[units[i]]; k < p->unit_start[units[i] + 1]; k++)
            s->group[n_tasks++] = p->unit_tasks[k];
    }
    if (n_tasks > 1) berth_sort(s->group, (size_t)n_tasks, ranks_before, s->rank);
    return n_tasks;
}

/* Copies of a value with the group where it is, or on another device. */
static double copies_of(const berth_outlook *s, int32_t value, int32_t group_on) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk->device;
    int32_t producer = c->value_producer[value], home = producer < 0 ? c->value_home[value] : device[producer];
    uint64_t where = c->value_target[value] < 0 ? 0 : (uint64_t)1 << c->value_target[value];
    double sum = 0;
    if (group_on >= 0 && producer >= 0 && in_group(s, producer)) home = group_on;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t reader = c->readers[i];
        where |= (uint64_t)1 << (group_on >= 0 && in_group(s, reader) ? group_on : device[reader]);
    }
    for (where &= ~((uint64_t)1 << home); where; where &= where - 1)
        sum += berth_costs_copy(c, value, home, __builtin_ctzll(where));
    return sum;
}

static void count_copies(berth_outlook *s, int32_t value, int32_t to, berth_guess *g) {
    if (s->value_mark[value] == s->round) return;
    s->value_mark[value] = s->round;
    g->copies += copies_of(s, value, to) - copies_of(s, value, -1);
}

static void count_near(berth_guess *g, int32_t d, int32_t here, int32_t there) {
    g->n_near++;
    g->near_here += d == here;
    g->near_there += d == there;
}

/* When the inputs of a task of the group are on the new device. */
static double inputs_there(berth_outlook *s, int32_t task, int32_t to, berth_guess *g) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk->device;
    double last = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t v = c->in_values[i], producer = c->value_producer[v];
        if (producer >= 0 && in_group(s, producer)) {
            last = fmax(last, s->new_end[producer]);
            continue;
        }
        int32_t home = producer < 0 ? c->value_home[v] : device[producer];
        last = fmax(last, (producer < 0 ? 0 : s->end[producer]) + berth_costs_copy(c, v, home, to));
        count_near(g, home, device[task], to);
        count_copies(s, v, to, g);
    }
    return last;
}

/* The same for its readers: from its end on the new device to the end of everything. */
static double outputs_there(berth_outlook *s, int32_t task, int32_t to, berth_guess *g) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk->device;
    double tail = 0;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t v = c->out_values[i], target = c->value_target[v];
        if (target >= 0) {
            tail = fmax(tail, berth_costs_copy(c, v, to, target));
            count_near(g, target, device[task], to);
        }
        for (int32_t k = c->reader_start[v]; k < c->reader_start[v + 1]; k++) {
            int32_t reader = c->readers[k];
            if (in_group(s, reader)) {
                tail = fmax(tail, time_on(s, reader, to) + s->new_tail[reader]);
                continue;
            }
            double copy = berth_costs_copy(c, v, to, device[reader]);
            tail = fmax(tail, copy + from_start(s, reader));
            g->late = fmax(g->late, s->new_end[task] + copy - s->start[reader] - berth_outlook_slack(s, reader));
            count_near(g, device[reader], device[task], to);
        }
        count_copies(s, v, to, g);
    }
    return tail;
}

static void add_task(const berth_outlook *s, int32_t task, int32_t to, berth_guess *g) {
    double slack = berth_outlook_slack(s, task), now = time_on(s, task, s->walk->device[task]);
    g->n_tasks++;
    g->time += time_on(s, task, to);
    g->old_time += now;
    g->slack = fmin(g->slack, slack);
    g->wait += s->start[task] - s->ready[task];
    if (!s->has_times || !berth_outlook_is_critical(s, slack)) return;
    g->n_critical++;
    g->critical_time += now;
}

static berth_guess no_guess(void) {
    return (berth_guess){.late = -INFINITY, .push = -INFINITY, .delay = -INFINITY, .slack = INFINITY};
}

/* What is not there counts nothing. */
static void settle(berth_guess *g) {
    if (g->late == -INFINITY) g->late = 0;
    if (g->push == -INFINITY) g->push = 0;
    if (g->delay == -INFINITY) g->delay = 0;
}

/* Throughput: the fullest device is what matters. */
static void guess_load(const berth_outlook *s, int32_t from, int32_t to, berth_guess *g) {
    bool fullest = true;
    for (int32_t d = 0; d < s->costs->n_devices; d++) fullest &= s->load[from] >= s->load[d];
    g->path = s->load[to] + g->time;
    g->slack = fullest ? 0 : fmax(s->ms - s->load[from], 0);
    g->n_critical = fullest ? g->n_tasks : 0;
    g->critical_time = fullest ? g->old_time : 0;
}

void berth_outlook_guess_move(berth_outlook *outlook, const int32_t *units, int32_t n, int32_t to, int32_t place,
                              berth_guess *out) {
    berth_outlook *s = outlook;
    int32_t n_tasks = mark_group(s, units, n), from = s->walk->device[s->group[0]];
    double first = INFINITY, last = 0, clock = 0, follow = 0;
    *out = no_guess();
    for (int32_t i = 0; i < n_tasks; i++) {
        int32_t task = s->group[i], rank = place >= 0 ? place : s->rank[task];
        int32_t at = s->lane_start[to] + count_before(s, to, rank, place > s->rank[task]);
        double start = fmax(inputs_there(s, task, to, out), clock);
        if (at > s->lane_start[to]) start = fmax(start, s->end[s->lane[at - 1]]);
        clock = s->new_end[task] = start + time_on(s, task, to);
        first = fmin(first, start);
        last = fmax(last, clock);
        add_task(s, task, to, out);
        out->delay = fmax(out->delay, start - s->start[task]);
        bool has_next = at < s->lane_start[to + 1];
        if (has_next) out->push = fmax(out->push, clock - s->start[s->lane[at]]);
        s->new_tail[task] = has_next ? from_start(s, s->lane[at]) : 0;
    }
    for (int32_t i = n_tasks - 1; i >= 0; i--) {
        int32_t task = s->group[i];
        s->new_tail[task] = fmax(fmax(s->new_tail[task], follow), outputs_there(s, task, to, out));
        follow = time_on(s, task, to) + s->new_tail[task];
        out->path = fmax(out->path, s->new_end[task] + s->new_tail[task]);
    }
    for (int32_t i = 0; i < n; i++) out->bytes += s->need[units[i]];
    settle(out);
    if (s->has_times)
        out->busy = busy_share(s, to, first, last);
    else if (s->costs->objective == BERTH_OBJECTIVE_THROUGHPUT)
        guess_load(s, from, to, out);
    else
        out->path = out->late = out->push = out->delay = 0;
}

/* The next task of a stretch of a lane, run as soon as the clock and its inputs allow. */
static double run_on(const berth_outlook *s, int32_t task, double clock, berth_guess *g) {
    int32_t d = s->walk->device[task];
    double start = fmax(clock, s->ready[task]), end = start + time_on(s, task, d);
    double shift = start - s->start[task];
    add_task(s, task, d, g);
    g->delay = fmax(g->delay, shift);
    g->late = fmax(g->late, shift - berth_outlook_slack(s, task));
    g->path = fmax(g->path, end + tail_of_values(s, task, d));
    return end;
}

void berth_outlook_guess_order(berth_outlook *outlook, int32_t task, int32_t place, berth_guess *out) {
    const berth_outlook *s = outlook;
    int32_t d = s->walk->device[task], old = s->lane_place[task];
    bool later = place > s->rank[task];
    int32_t passed = s->lane_place[s->by_rank[place]], first = later ? old : passed, last = later ? passed : old;
    double clock = first > s->lane_start[d] ? s->end[s->lane[first - 1]] : 0;
    *out = no_guess();
    if (!later) clock = run_on(s, task, clock, out);
    for (int32_t at = first; at <= last; at++)
        if (s->lane[at] != task) clock = run_on(s, s->lane[at], clock, out);
    if (later) clock = run_on(s, task, clock, out);
    if (last + 1 < s->lane_start[d + 1]) {
        int32_t next = s->lane[last + 1];
        out->path = fmax(out->path, fmax(clock, s->ready[next]) + from_start(s, next));
        out->push = clock - s->start[next];
    }
    settle(out);
}

void berth_guess_join(berth_guess *guess, const berth_guess *other) {
    berth_guess *g = guess;
    g->n_tasks += other->n_tasks;
    g->path = fmax(g->path, other->path);
    g->late = fmax(g->late, other->late);
    g->delay = fmax(g->delay, other->delay);
    g->push = fmax(g->push, other->push);
    g->time += other->time;
    g->old_time += other->old_time;
    g->copies += other->copies;
    g->slack = fmin(g->slack, other->slack);
    g->n_critical += other->n_critical;
    g->critical_time += other->critical_time;
    g->wait += other->wait;
    g->busy = (g->busy + other->busy) / 2;
    g->n_near += other->n_near;
    g->near_there += other->near_there;
    g->near_here += other->near_here;
    g->bytes -= other->bytes;
}
