/* SPDX-License-Identifier: Apache-2.0 */
/* The optimum over placements where the order is the model's own (`serial`, `queued`, and throughput under any model):
 * depth-first over the tasks in execution order, each on every device that its unit may use, best first.
 *
 * What is known of a partial placement, from below:
 *   serial      times and copies so far + the fastest times of the rest + one piece
 *   queued      the clocks so far, and the host's clock + what each further task costs the host at least
 *   throughput  the largest load so far, and all loads + the fastest times of the rest, shared evenly
 * Full placements go to the simulator. Of equal devices that are still empty only the first is tried. */
#include "search/exact.h"

#include <math.h>
#include <string.h>

typedef struct placing {
    berth_search *search;
    const berth_problem *problem;
    const berth_costs *c;
    const int32_t *order;   /* tasks as they are placed */
    double *rest;           /* [n_tasks + 1] least cost of the tasks from a position on */
    int32_t *device;        /* [n_tasks] or -1 */
    uint64_t *copies;       /* [n_values] devices that a value has been copied to */
    int32_t *used;          /* [n_devices] tasks placed there */
    double *load;           /* [n_devices] throughput: load; queued: clocks, the host's too */
    double *memory;         /* [n_devices] */
    double *saved;          /* [(n_tasks + 1) * n_devices] loads before each position */
    uint64_t *saved_copies; /* [sum of inputs and outputs] what `copies` was, position by position */
    size_t n_saved;
    double total; /* serial: times and copies so far */
    bool queued;  /* `queued`, latency: loads are clocks */
    bool complete;
} placing;

static int32_t home_of(const placing *p, int32_t value) {
    int32_t producer = p->c->value_producer[value];
    return producer < 0 ? p->c->value_home[value] : p->device[producer];
}

static double time_of(const placing *p, int32_t task, int32_t d) {
    return p->c->time_ms[(size_t)task * (size_t)p->c->n_devices + (size_t)d];
}

/* Bring a value to a device; remembers what was there before. False if it is there already. */
static bool bring(placing *p, int32_t value, int32_t to) {
    p->saved_copies[p->n_saved++] = p->copies[value];
    if (home_of(p, value) == to || p->copies[value] >> to & 1) return false;
    p->copies[value] |= (uint64_t)1 << to;
    return true;
}

/* Charge one copy to whoever pays for it under the model. */
static void pay_copy(placing *p, int32_t value, int32_t from, int32_t to) {
    const berth_costs *c = p->c;
    if (c->objective == BERTH_OBJECTIVE_THROUGHPUT) {
        if (to != c->host) p->load[to] += berth_costs_copy(c, value, c->host, to);
        return;
    }
    double took = berth_costs_copy(c, value, from, to);
    if (c->model == BERTH_MODEL_SERIAL) p->total += took;
    /* queued: a copy costs some clock at least its time; the host's share is left out, which only lowers the bound. */
    if (p->queued && to == c->host) p->load[to] += took;
}

static void add_task(placing *p, int32_t task, int32_t d) {
    const berth_costs *c = p->c;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i];
        if (bring(p, value, d)) pay_copy(p, value, home_of(p, value), d);
    }
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t value = c->out_values[i], target = c->value_target[value];
        if (target >= 0 && bring(p, value, target)) pay_copy(p, value, d, target);
    }
    p->total += time_of(p, task, d);
    p->load[d] += time_of(p, task, d);
    if (p->queued && d != c->host && time_of(p, task, d) > 0) p->load[c->host] += c->launch_ms[d];
    if (c->task_memory) p->memory[d] += c->task_memory[task];
}

/* Undo add_task's marks, last first. */
static void take_back(placing *p, int32_t task) {
    const berth_costs *c = p->c;
    for (int32_t i = c->out_start[task + 1] - 1; i >= c->out_start[task]; i--)
        if (c->value_target[c->out_values[i]] >= 0) p->copies[c->out_values[i]] = p->saved_copies[--p->n_saved];
    for (int32_t i = c->in_start[task + 1] - 1; i >= c->in_start[task]; i--)
        p->copies[c->in_values[i]] = p->saved_copies[--p->n_saved];
}

static double bound(const placing *p, int32_t position) {
    const berth_costs *c = p->c;
    double most = 0, sum = 0, cores = c->objective == BERTH_OBJECTIVE_THROUGHPUT && c->max_cpus > 1 ? c->max_cpus : 1;
    if (c->objective == BERTH_OBJECTIVE_LATENCY && c->model == BERTH_MODEL_SERIAL)
        return p->total + p->rest[position] + c->piece_ms;
    for (int32_t d = 0; d < c->n_devices; d++) {
        most = fmax(most, d == c->host ? p->load[d] / cores : p->load[d]);
        sum += p->load[d];
    }
    if (c->objective == BERTH_OBJECTIVE_LATENCY) return fmax(most, p->load[c->host] + p->rest[position]);
    return fmax(most, (sum + p->rest[position]) / (c->n_devices - 1 + cores));
}

static bool is_repeat(const placing *p, int32_t d) {
    uint64_t alike = p->problem->equal_devices[d] & (((uint64_t)1 << d) - 1);
    for (int32_t e = 0; e < d && p->used[d] == 0; e++)
        if (alike >> e & 1 && p->used[e] == 0) return true;
    return false;
}

static void place_from(placing *p, int32_t position);

static void place_on(placing *p, int32_t position, int32_t d) {
    int32_t task = p->order[position];
    size_t n_devices = (size_t)p->c->n_devices;
    double *saved = p->saved + (size_t)position * n_devices, total = p->total, memory = p->memory[d];
    memcpy(saved, p->load, n_devices * sizeof *saved);
    berth_search_step(p->search, 1);
    p->device[task] = d;
    p->used[d]++;
    add_task(p, task, d);
    /* The bound is compared with room for rounding: the simulator may add in another order. */
    if (bound(p, position + 1) * (1 - 1e-12) < p->search->best_ms &&
        !(p->memory[d] > p->c->capacity[d] && p->c->task_memory))
        place_from(p, position + 1);
    take_back(p, task);
    p->used[d]--;
    p->device[task] = -1;
    p->total = total;
    p->memory[d] = memory;
    memcpy(p->load, saved, n_devices * sizeof *saved);
}

static int32_t forced_device(const placing *p, int32_t unit) {
    for (int32_t i = p->problem->unit_start[unit]; i < p->problem->unit_start[unit + 1]; i++)
        if (p->device[p->problem->unit_tasks[i]] >= 0) return p->device[p->problem->unit_tasks[i]];
    return -1;
}

static void place_from(placing *p, int32_t position) {
    if (!p->complete) return;
    if (berth_search_stop(p->search)) {
        p->complete = berth_search_proven(p->search);
        return;
    }
    if (position == p->c->n_tasks) {
        berth_search_count(p->search, 1);
        berth_search_offer(p->search, p->device, NULL, BERTH_SOURCE_SEED, "exact");
        return;
    }
    int32_t task = p->order[position], unit = p->problem->unit_of[task], forced = forced_device(p, unit);
    if (forced >= 0) {
        place_on(p, position, forced);
        return;
    }
    int32_t order[BERTH_MAX_DEVICES], n = 0;
    for (int32_t d = 0; d < p->c->n_devices; d++) {
        if (!berth_problem_allows(p->problem, unit, d) || is_repeat(p, d)) continue;
        int32_t at = n++;
        for (; at > 0 && time_of(p, task, order[at - 1]) > time_of(p, task, d); at--) order[at] = order[at - 1];
        order[at] = d;
    }
    for (int32_t i = 0; i < n && p->complete; i++) place_on(p, position, order[i]);
}

/* What a task adds at least, wherever it runs: its fastest time; under `queued` what it costs the host. */
static double least_of(const placing *p, int32_t task) {
    const berth_costs *c = p->c;
    double least = INFINITY;
    for (int32_t d = 0; d < c->n_devices; d++) {
        double took = time_of(p, task, d);
        if (took == INFINITY) continue;
        if (p->queued && d != c->host) took = took > 0 ? c->launch_ms[d] : 0;
        least = fmin(least, took);
    }
    return least;
}

static bool set_up(placing *p, berth_arena *arena) {
    const berth_costs *c = p->c;
    size_t n = (size_t)c->n_tasks, n_devices = (size_t)c->n_devices;
    p->order = c->model == BERTH_MODEL_QUEUED ? c->file_order : NULL;
    int32_t *plain = berth_arena_push(arena, n, sizeof *plain);
    p->rest = berth_arena_push(arena, n + 1, sizeof *p->rest);
    p->device = berth_arena_push(arena, n, sizeof *p->device);
    p->copies = berth_arena_push(arena, (size_t)c->n_values, sizeof *p->copies);
    p->used = berth_arena_push(arena, n_devices, sizeof *p->used);
    p->load = berth_arena_push(arena, n_devices, sizeof *p->load);
    p->memory = berth_arena_push(arena, n_devices, sizeof *p->memory);
    p->saved = berth_arena_push(arena, (n + 1) * n_devices, sizeof *p->saved);
    p->saved_copies =
        berth_arena_push(arena, (size_t)c->in_start[n] + (size_t)c->out_start[n], sizeof *p->saved_copies);
    if (arena->failed) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) plain[task] = task, p->device[task] = -1;
    if (!p->order) p->order = plain;
    for (int32_t i = c->n_tasks - 1; i >= 0; i--) p->rest[i] = p->rest[i + 1] + least_of(p, p->order[i]);
    return true;
}

/* Values that are given and wanted elsewhere move whatever the placement is. */
static void move_given(placing *p) {
    const berth_costs *c = p->c;
    for (int32_t i = 0; i < c->n_given; i++) {
        int32_t value = c->given_values[i], target = c->value_target[value];
        if (target < 0 || target == c->value_home[value]) continue;
        p->copies[value] |= (uint64_t)1 << target;
        pay_copy(p, value, c->value_home[value], target);
    }
}

berth_status berth_search_exact_placements(berth_search *search) {
    placing p = {.search = search, .problem = search->problem, .c = search->problem->costs, .complete = true};
    p.queued = p.c->model == BERTH_MODEL_QUEUED && p.c->objective == BERTH_OBJECTIVE_LATENCY;
    enum { DEEPEST = 2000 }; /* one call per task: beyond that no proof would end anyway */
    if (p.c->n_tasks > DEEPEST) return BERTH_OK;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = BERTH_OK;
    if (!set_up(&p, &arena)) {
        status = berth_fail_nomem(search->ctx);
    } else {
        move_given(&p);
        place_from(&p, 0);
        if (p.complete && search->has_best && p.problem->bounds_hold) berth_search_bound(search, search->best_ms);
    }
    berth_arena_deinit(&arena);
    return status;
}
