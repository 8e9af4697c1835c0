/* SPDX-License-Identifier: Apache-2.0 */
/* `concurrent`: list scheduling, event by event (defined in sim.h).
 *
 * Copies are not events: when a producer ends, the arrival of its values everywhere is known, so that a task whose
 * producers have all ended is either ready at once or waits in one heap for its last arrival. Ready tasks lie in a
 * tree of bits per device, by priority. The next moment is the earliest end of a running task or the heap's first. */
#include "simulate/sim_impl.h"

#include <math.h>
#include <string.h>

static bool comes_before(const berth_arrival *a, const berth_arrival *b) {
    return a->time < b->time || (a->time == b->time && a->task < b->task);
}

static void push_waiting(berth_sim *sim, double time, int32_t task) {
    berth_arrival *heap = sim->waiting, item = {time, task};
    int32_t at = sim->n_waiting++;
    for (; at > 0 && comes_before(&item, &heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
}

static int32_t pop_waiting(berth_sim *sim) {
    berth_arrival *heap = sim->waiting;
    int32_t task = heap[0].task, n = --sim->n_waiting, at = 0;
    berth_arrival item = heap[n];
    for (int32_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && comes_before(&heap[child + 1], &heap[child])) child++;
        if (!comes_before(&heap[child], &item)) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = item;
    return task;
}

typedef struct run {
    berth_sim *sim;
    const berth_costs *c;
    const int32_t *device, *priority;
    double now;
    double last; /* latest end or arrival at a target */
} run;

static void make_ready(run *r, int32_t task) {
    berth_ready_insert(&r->sim->ready[r->device[task]], r->priority ? r->priority[task] : task);
}

/* An input of the task will be there at `time`. */
static void deliver(run *r, int32_t task, double time) {
    berth_sim *sim = r->sim;
    if (time > sim->ready_time[task]) sim->ready_time[task] = time;
    if (--sim->missing[task] > 0) return;
    if (sim->ready_time[task] <= r->now)
        make_ready(r, task);
    else
        push_waiting(sim, sim->ready_time[task], task);
}

/* The copy of a value that is on `from` since now; its arrival. */
static double copy_now(run *r, int32_t value, int32_t from, int32_t to) {
    berth_sim *sim = r->sim;
    size_t link = (size_t)from * (size_t)r->c->n_devices + (size_t)to;
    double start = r->now, took = berth_costs_copy(r->c, value, from, to);
    if (r->c->link_queued[link]) {
        if (sim->link_free[link] > start) start = sim->link_free[link];
        sim->link_free[link] = start + took;
    }
    berth_sim_note_copy(sim, value, from, to, start, start + took);
    return start + took;
}

/* A value has come into being on a device: tell its readers when it is where they are. */
static void spread(run *r, int32_t value, int32_t home) {
    berth_sim *sim = r->sim;
    const berth_costs *c = r->c;
    size_t row = (size_t)value * (size_t)c->n_devices;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], to = r->device[task];
        if (to == home) {
            deliver(r, task, r->now);
            continue;
        }
        size_t at = row + (size_t)to;
        if (sim->stamp[at] != sim->generation) {
            sim->stamp[at] = sim->generation;
            sim->arrived[at] = copy_now(r, value, home, to);
        }
        deliver(r, task, sim->arrived[at]);
    }
    int32_t target = c->value_target[value];
    if (target < 0 || target == home) return;
    size_t at = row + (size_t)target;
    if (sim->stamp[at] != sim->generation) {
        sim->stamp[at] = sim->generation;
        sim->arrived[at] = copy_now(r, value, home, target);
    }
    if (sim->arrived[at] > r->last) r->last = sim->arrived[at];
}

static void complete(run *r, int32_t d) {
    berth_sim *sim = r->sim;
    int32_t task = sim->running[d];
    sim->running[d] = -1;
    sim->clock[d] = INFINITY;
    for (int32_t i = r->c->out_start[task]; i < r->c->out_start[task + 1]; i++) spread(r, r->c->out_values[i], d);
}

/* All tasks that end now, by task number. */
static void complete_all(run *r) {
    const berth_sim *sim = r->sim;
    for (;;) {
        int32_t first = -1;
        for (int32_t d = 0; d < r->c->n_devices; d++)
            if (sim->clock[d] == r->now && (first < 0 || sim->running[d] < sim->running[first])) first = d;
        if (first < 0) return;
        complete(r, first);
    }
}

static void start_all(run *r, int32_t *n_started) {
    berth_sim *sim = r->sim;
    for (int32_t d = 0; d < r->c->n_devices; d++) {
        if (sim->running[d] >= 0 || berth_ready_is_empty(&sim->ready[d])) continue;
        int32_t at = berth_ready_pop(&sim->ready[d]);
        int32_t task = r->priority ? sim->scratch_task[at] : at;
        double end = r->now + r->c->time_ms[(size_t)task * (size_t)r->c->n_devices + (size_t)d];
        sim->running[d] = task;
        sim->start[task] = r->now;
        sim->end[task] = sim->clock[d] = end;
        sim->order[(*n_started)++] = task;
        if (end > r->last) r->last = end;
    }
}

static void begin(run *r) {
    berth_sim *sim = r->sim;
    const berth_costs *c = r->c;
    sim->n_waiting = 0;
    for (int32_t d = 0; d < c->n_devices; d++) {
        sim->running[d] = -1;
        sim->clock[d] = INFINITY;
    }
    memset(sim->link_free, 0, (size_t)c->n_devices * (size_t)c->n_devices * sizeof *sim->link_free);
    memset(sim->ready_time, 0, (size_t)c->n_tasks * sizeof *sim->ready_time);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        sim->missing[task] = c->in_start[task + 1] - c->in_start[task];
        if (r->priority) sim->scratch_task[r->priority[task]] = task;
        if (sim->missing[task] == 0) make_ready(r, task);
    }
    for (int32_t i = 0; i < c->n_given; i++) spread(r, c->given_values[i], c->value_home[c->given_values[i]]);
}

double berth_sim_concurrent(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    if (priority) return berth_sim_ordered(sim, device, priority);
    const berth_costs *c = sim->costs;
    run r = {.sim = sim, .c = c, .device = device, .priority = priority};
    int32_t n_started = 0;
    berth_sim_next_generation(sim);
    begin(&r);
    for (;;) {
        start_all(&r, &n_started);
        double next = sim->n_waiting > 0 ? sim->waiting[0].time : INFINITY;
        for (int32_t d = 0; d < c->n_devices; d++)
            if (sim->clock[d] < next) next = sim->clock[d];
        if (next == INFINITY) break;
        r.now = next;
        complete_all(&r);
        while (sim->n_waiting > 0 && sim->waiting[0].time <= r.now) make_ready(&r, pop_waiting(sim));
    }
    return n_started == c->n_tasks ? r.last : INFINITY;
}
