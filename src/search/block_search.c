/* SPDX-License-Identifier: Apache-2.0 */
/* The best placement and order of a block: depth-first over the devices of its tasks in topological order.
 *
 * With the devices of all predecessors fixed, a task cannot start before its inputs are there if every device were
 * free at once; that start, its time and its relaxed tail bound the whole from below, and so do the tasks of one
 * device among themselves: the earliest start of any set of them + all their times + the shortest tail. Devices are
 * tried by bound. A full placement is first scheduled by longest tail first, which is mostly the best order; only
 * where the bound does not say so are orders searched (block_order.c). */
#include "search/block.h"

#include <math.h>
#include <string.h>

typedef struct placing {
    const berth_block *block;
    const berth_costs *c;
    berth_search *search;
    double limit;
    int64_t nodes_left;
    bool found, complete;
    int32_t *best_device, *best_priority;
    int32_t device[BERTH_BLOCK_TASKS];
    int32_t unit_device[BERTH_BLOCK_TASKS]; /* or -1 */
    double start[BERTH_BLOCK_TASKS];        /* earliest, by inputs alone */
    double memory[BERTH_MAX_DEVICES];
} placing;

static double cell(const double *table, const placing *p, int32_t task, int32_t d) {
    return table[(size_t)task * (size_t)p->c->n_devices + (size_t)d];
}

static double earliest(const placing *p, int32_t task, int32_t d) {
    const berth_costs *c = p->c;
    double start = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], producer = c->value_producer[value];
        double there = producer < 0 ? berth_costs_copy(c, value, c->value_home[value], d)
                                    : p->start[producer] + cell(c->time_ms, p, producer, p->device[producer]) +
                                          berth_costs_copy(c, value, p->device[producer], d);
        if (there > start) start = there;
    }
    return start;
}

/* The tasks placed on a device so far, up to `task`: for each as the earliest of a set, all that start no earlier. */
static double crowd_bound(const placing *p, int32_t task, int32_t d) {
    double most = 0;
    for (int32_t a = 0; a <= task; a++) {
        if (p->device[a] != d) continue;
        double work = 0, tail = INFINITY;
        for (int32_t b = 0; b <= task; b++) {
            if (p->device[b] != d || p->start[b] < p->start[a]) continue;
            work += cell(p->c->time_ms, p, b, d);
            tail = fmin(tail, cell(p->block->tail, p, b, d));
        }
        most = fmax(most, p->start[a] + work + tail);
    }
    return most;
}

static void rank_by_tail(const placing *p, int32_t *priority) {
    int32_t order[BERTH_BLOCK_TASKS];
    double key[BERTH_BLOCK_TASKS];
    int32_t n = p->c->n_tasks;
    for (int32_t task = 0; task < n; task++) {
        key[task] = cell(p->block->tail, p, task, p->device[task]) + cell(p->c->time_ms, p, task, p->device[task]);
        int32_t at = task;
        for (; at > 0 && key[order[at - 1]] < key[task]; at--) order[at] = order[at - 1];
        order[at] = task;
    }
    for (int32_t i = 0; i < n; i++) priority[order[i]] = i;
}

static void keep(placing *p, double ms, const int32_t *priority) {
    size_t n = (size_t)p->c->n_tasks;
    p->limit = ms;
    p->found = true;
    memcpy(p->best_device, p->device, n * sizeof *p->device);
    memcpy(p->best_priority, priority, n * sizeof *priority);
}

static void try_orders(placing *p, double bound) {
    int32_t priority[BERTH_BLOCK_TASKS];
    rank_by_tail(p, priority);
    double ms = berth_sim_run(p->block->sim, p->device, priority);
    berth_search_step(p->search, p->c->n_tasks);
    if (ms < p->limit) keep(p, ms, priority);
    if (bound >= p->limit) return;
    bool complete = true;
    ms = berth_block_order(p->block, p->search, p->device, p->limit, priority, &complete);
    if (ms < p->limit) keep(p, ms, priority);
    p->complete &= complete;
}

static void place_from(placing *p, int32_t task, double bound);

/* Go on with the task on a device, unless that cannot be better. */
static void place_on(placing *p, int32_t task, int32_t d, double bound) {
    const int32_t unit = p->block->unit[task];
    bool fresh = p->unit_device[unit] < 0;
    double held = p->memory[d];
    berth_search_step(p->search, 1);
    if (p->c->task_memory) p->memory[d] += p->c->task_memory[task];
    p->device[task] = p->unit_device[unit] = d;
    p->start[task] = earliest(p, task, d);
    double least = p->start[task] + cell(p->c->time_ms, p, task, d) + cell(p->block->tail, p, task, d);
    if (least < p->limit && !(p->memory[d] > p->c->capacity[d])) {
        bound = fmax(bound, fmax(least, crowd_bound(p, task, d)));
        if (bound < p->limit) place_from(p, task + 1, bound);
    }
    p->memory[d] = held;
    if (fresh) p->unit_device[unit] = -1;
}

/* Of devices that are alike and still empty only the first is tried. */
static bool is_repeat(const placing *p, int32_t task, int32_t d) {
    uint64_t alike = p->block->alike ? p->block->alike[d] & (((uint64_t)1 << d) - 1) : 0, used = 0;
    if (!alike) return false;
    for (int32_t i = 0; i < task; i++) used |= (uint64_t)1 << p->device[i];
    return !(used >> d & 1) && (alike & ~used) != 0;
}

static void place_from(placing *p, int32_t task, double bound) {
    int32_t forced = task < p->c->n_tasks ? p->unit_device[p->block->unit[task]] : -1;
    if (!p->complete) return;
    if (task == p->c->n_tasks) {
        try_orders(p, bound);
        return;
    }
    if (p->nodes_left-- <= 0 || berth_search_stop(p->search)) {
        p->complete = false;
        return;
    }
    if (forced >= 0) {
        place_on(p, task, forced, bound);
        return;
    }
    double key[BERTH_MAX_DEVICES];
    int32_t order[BERTH_MAX_DEVICES], n = 0;
    for (int32_t d = 0; d < p->c->n_devices; d++) {
        if (!(p->block->allowed[task] >> d & 1) || is_repeat(p, task, d)) continue;
        key[d] = earliest(p, task, d) + cell(p->c->time_ms, p, task, d) + cell(p->block->tail, p, task, d);
        int32_t at = n++;
        for (; at > 0 && key[order[at - 1]] > key[d]; at--) order[at] = order[at - 1];
        order[at] = d;
    }
    for (int32_t i = 0; i < n && p->complete; i++) place_on(p, task, order[i], bound);
}

double berth_block_search(const berth_block *block, berth_search *search, double limit, int64_t n_nodes,
                          int32_t *device, int32_t *priority, bool *complete) {
    placing p = {.block = block, .c = block->costs, .search = search, .limit = limit, .nodes_left = n_nodes};
    p.best_device = device;
    p.best_priority = priority;
    p.complete = true;
    for (int32_t i = 0; i < block->n; i++) p.unit_device[i] = -1;
    place_from(&p, 0, 0);
    *complete = p.complete;
    return p.found ? p.limit : INFINITY;
}
