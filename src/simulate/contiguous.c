/* SPDX-License-Identifier: Apache-2.0 */
/* `contiguous`: one convex part per device other than the host (defined in sim.h).
 *
 * A part can start only when everything that it reads from outside is there. A part that is not convex waits for
 * itself, two parts that feed each other wait for one another: neither is ever reached, and the placement is
 * infeasible. Host tasks and parts are taken from one worklist, in the order in which they become possible. */
#include "simulate/sim_impl.h"

#include <math.h>
#include <string.h>

typedef struct run {
    berth_sim *sim;
    const berth_costs *c;
    const int32_t *device;
    int32_t n_possible; /* host tasks possible or done, in sim->order */
    int32_t n_done;     /* tasks */
    double makespan;
} run;

static void note_end(run *r, double end) {
    if (end > r->makespan) r->makespan = end;
}

/* True once per run for each value and device. */
static bool is_new(run *r, int32_t value, int32_t d) {
    int32_t *stamp = &r->sim->stamp[(size_t)value * (size_t)r->c->n_devices + (size_t)d];
    if (*stamp == r->sim->generation) return false;
    *stamp = r->sim->generation;
    return true;
}

static bool leaves(const run *r, int32_t value, int32_t d) {
    const berth_costs *c = r->c;
    if (c->value_target[value] >= 0 && c->value_target[value] != d) return true;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++)
        if (r->device[c->readers[i]] != d) return true;
    return false;
}

/* One input of a host task, or of a part from outside it, is on the host at `time`. */
static void deliver(run *r, int32_t task, double time) {
    berth_sim *sim = r->sim;
    int32_t d = r->device[task];
    if (d != r->c->host) {
        if (time > sim->part_start[d]) sim->part_start[d] = time;
        sim->part_missing[d]--;
        return;
    }
    if (time > sim->ready_time[task]) sim->ready_time[task] = time;
    if (--sim->missing[task] == 0) sim->order[r->n_possible++] = task;
}

/* A value is on the host since `time`: tell its readers outside its home, and send it to its target if no part takes it
 * there. */
static void spread(run *r, int32_t value, int32_t home, double time) {
    const berth_costs *c = r->c;
    int32_t target = c->value_target[value];
    bool is_read_there = false;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], d = r->device[task];
        if (home == c->host || d != home) deliver(r, task, time);
        if (d == target) is_read_there = true;
    }
    if (target < 0 || target == home || target == c->host || is_read_there) return;
    double end = time + berth_costs_copy(c, value, c->host, target);
    berth_sim_note_copy(r->sim, value, c->host, target, time, end);
    note_end(r, end);
}

/* Values that are there from the start, those of other devices once they are on the host. */
static void spread_given(run *r) {
    const berth_costs *c = r->c;
    for (int32_t i = 0; i < c->n_given; i++) {
        int32_t value = c->given_values[i], home = c->value_home[value];
        double time = 0;
        if (home != c->host && leaves(r, value, home)) {
            time = berth_costs_copy(c, value, home, c->host);
            berth_sim_note_copy(r->sim, value, home, c->host, 0, time);
            note_end(r, time);
        }
        spread(r, value, home, time);
    }
}

/* What each host task and each part waits for, and the tasks by device in sim->scratch_task: those of device d from
 * bucket[d] on. */
static void begin(run *r) {
    berth_sim *sim = r->sim;
    const berth_costs *c = r->c;
    size_t nd = (size_t)c->n_devices;
    memset(sim->part_missing, 0, nd * sizeof *sim->part_missing);
    memset(sim->part_start, 0, nd * sizeof *sim->part_start);
    memset(sim->bucket, 0, (nd + 2) * sizeof *sim->bucket);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t d = r->device[task];
        sim->bucket[d + 2]++;
        sim->ready_time[task] = 0;
        sim->missing[task] = c->in_start[task + 1] - c->in_start[task];
        if (d == c->host) {
            if (sim->missing[task] == 0) sim->order[r->n_possible++] = task;
            continue;
        }
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            sim->part_missing[d] += berth_sim_home(c, r->device, c->in_values[i]) != d;
    }
    for (size_t d = 0; d < nd; d++) sim->bucket[d + 2] += sim->bucket[d + 1];
    for (int32_t task = 0; task < c->n_tasks; task++) sim->scratch_task[sim->bucket[r->device[task] + 1]++] = task;
}

static void run_host(run *r, int32_t task) {
    const berth_costs *c = r->c;
    berth_sim *sim = r->sim;
    sim->start[task] = sim->ready_time[task];
    sim->end[task] = sim->start[task] + c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)c->host];
    note_end(r, sim->end[task]);
    r->n_done++;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
        spread(r, c->out_values[i], c->host, sim->end[task]);
}

static double copy_one(run *r, int32_t value, int32_t from, int32_t to, double clock) {
    double end = clock + berth_costs_copy(r->c, value, from, to);
    berth_sim_note_copy(r->sim, value, from, to, clock, end);
    return end;
}

/* Inputs in, tasks in task order, outputs out. */
static void run_part(run *r, int32_t d) {
    const berth_costs *c = r->c;
    berth_sim *sim = r->sim;
    const int32_t *tasks = sim->scratch_task + sim->bucket[d];
    int32_t n = sim->bucket[d + 1] - sim->bucket[d];
    double clock = sim->part_start[d];
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = c->in_start[tasks[k]]; i < c->in_start[tasks[k] + 1]; i++) {
            int32_t value = c->in_values[i];
            if (berth_sim_home(c, r->device, value) != d && is_new(r, value, d))
                clock = copy_one(r, value, c->host, d, clock);
        }
    for (int32_t k = 0; k < n; k++) {
        sim->start[tasks[k]] = clock;
        clock += c->time_ms[(size_t)tasks[k] * (size_t)c->n_devices + (size_t)d];
        sim->end[tasks[k]] = clock;
    }
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = c->out_start[tasks[k]]; i < c->out_start[tasks[k] + 1]; i++)
            if (leaves(r, c->out_values[i], d)) clock = copy_one(r, c->out_values[i], d, c->host, clock);
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = c->out_start[tasks[k]]; i < c->out_start[tasks[k] + 1]; i++)
            if (leaves(r, c->out_values[i], d)) spread(r, c->out_values[i], d, clock);
    note_end(r, clock);
    r->n_done += n;
}

double berth_sim_contiguous(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    (void)priority;
    const berth_costs *c = sim->costs;
    run r = {.sim = sim, .c = c, .device = device};
    uint64_t waiting = 0;
    berth_sim_next_generation(sim);
    begin(&r);
    for (int32_t d = 0; d < c->n_devices; d++)
        if (d != c->host && sim->bucket[d + 1] > sim->bucket[d]) waiting |= (uint64_t)1 << d;
    spread_given(&r);
    for (int32_t head = 0;;) {
        for (; head < r.n_possible; head++) run_host(&r, sim->order[head]);
        int32_t part = -1;
        for (int32_t d = 0; d < c->n_devices && part < 0; d++)
            if (waiting >> d & 1 && sim->part_missing[d] == 0) part = d;
        if (part < 0) break;
        waiting &= ~((uint64_t)1 << part);
        run_part(&r, part);
    }
    for (int32_t task = 0; task < c->n_tasks; task++) sim->order[task] = task;
    return r.n_done == c->n_tasks ? r.makespan : INFINITY;
}
