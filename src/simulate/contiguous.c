/* SPDX-License-Identifier: Apache-2.0 */
/* `contiguous`: one convex part per device other than the host (defined in sim.h), and the loads of devices, which are
 * the objective of throughput under every model.
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
    int32_t n_ordered;  /* host tasks possible or done, in sim->order */
    int32_t n_done;     /* tasks */
    double makespan;
} run;

static int32_t home_of(const run *r, int32_t value) {
    int32_t producer = r->c->value_producer[value];
    return producer < 0 ? r->c->value_home[value] : r->device[producer];
}

/* True for the first reader of the value on its device: a copy is paid once. */
static bool is_first_reader(const run *r, int32_t value, int32_t task) {
    const berth_costs *c = r->c;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++)
        if (r->device[c->readers[i]] == r->device[task]) return c->readers[i] == task;
    return false;
}

static bool leaves(const run *r, int32_t value, int32_t d) {
    const berth_costs *c = r->c;
    if (c->value_target[value] >= 0 && c->value_target[value] != d) return true;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++)
        if (r->device[c->readers[i]] != d) return true;
    return false;
}

/* Inputs in + times + outputs out of every device other than the host; the host's times. */
static void sum_loads(run *r, double *load) {
    const berth_costs *c = r->c;
    memset(load, 0, (size_t)c->n_devices * sizeof *load);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t d = r->device[task];
        load[d] += c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
        if (d == c->host) continue;
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
            int32_t value = c->in_values[i];
            if (home_of(r, value) != d && is_first_reader(r, value, task))
                load[d] += berth_costs_copy(c, value, c->host, d);
        }
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            if (leaves(r, c->out_values[i], d)) load[d] += berth_costs_copy(c, c->out_values[i], d, c->host);
    }
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
    if (--sim->missing[task] == 0) sim->order[r->n_ordered++] = task;
}

static void spread(run *r, int32_t value, double time) {
    const berth_costs *c = r->c;
    int32_t home = home_of(r, value);
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i];
        if (home == c->host || r->device[task] != home) deliver(r, task, time);
    }
}

static void count_inputs(run *r) {
    berth_sim *sim = r->sim;
    const berth_costs *c = r->c;
    memset(sim->part_missing, 0, (size_t)c->n_devices * sizeof *sim->part_missing);
    memset(sim->part_start, 0, (size_t)c->n_devices * sizeof *sim->part_start);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t d = r->device[task];
        sim->ready_time[task] = 0;
        sim->missing[task] = c->in_start[task + 1] - c->in_start[task];
        if (d == c->host) {
            if (sim->missing[task] == 0) sim->order[r->n_ordered++] = task;
            continue;
        }
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            sim->part_missing[d] += home_of(r, c->in_values[i]) != d;
    }
}

static void run_host(run *r, int32_t task) {
    const berth_costs *c = r->c;
    berth_sim *sim = r->sim;
    sim->start[task] = sim->ready_time[task];
    sim->end[task] = sim->start[task] + c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)c->host];
    if (sim->end[task] > r->makespan) r->makespan = sim->end[task];
    r->n_done++;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
        spread(r, c->out_values[i], sim->end[task]);
}

/* Starts and ends inside a part: inputs in, tasks in task order, outputs out. */
static void run_part(run *r, int32_t d, double load) {
    const berth_costs *c = r->c;
    berth_sim *sim = r->sim;
    double start = sim->part_start[d], end = start + load, clock = start;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (r->device[task] != d) continue;
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
            int32_t value = c->in_values[i];
            if (home_of(r, value) == d || !is_first_reader(r, value, task)) continue;
            double took = berth_costs_copy(c, value, c->host, d);
            berth_sim_note_copy(sim, value, c->host, d, clock, clock + took);
            clock += took;
        }
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (r->device[task] != d) continue;
        sim->start[task] = clock;
        clock += c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
        sim->end[task] = clock;
        r->n_done++;
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (r->device[task] != d) continue;
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
            int32_t value = c->out_values[i];
            if (!leaves(r, value, d)) continue;
            double took = berth_costs_copy(c, value, d, c->host);
            berth_sim_note_copy(sim, value, d, c->host, clock, clock + took);
            clock += took;
            spread(r, value, end);
        }
    }
    if (end > r->makespan) r->makespan = end;
}

double berth_sim_contiguous(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    (void)priority;
    const berth_costs *c = sim->costs;
    run r = {.sim = sim, .c = c, .device = device};
    uint64_t waiting = 0;
    double largest = 0;
    sum_loads(&r, sim->clock);
    count_inputs(&r);
    for (int32_t task = 0; task < c->n_tasks; task++)
        if (device[task] != c->host) waiting |= (uint64_t)1 << device[task];
    for (int32_t i = 0; i < c->n_given; i++) spread(&r, c->given_values[i], 0);
    for (int32_t head = 0;;) {
        for (; head < r.n_ordered; head++) run_host(&r, sim->order[head]);
        int32_t part = -1;
        for (int32_t d = 0; d < c->n_devices && part < 0; d++)
            if (waiting >> d & 1 && sim->part_missing[d] == 0) part = d;
        if (part < 0) break;
        waiting &= ~((uint64_t)1 << part);
        run_part(&r, part, sim->clock[part]);
    }
    for (int32_t task = 0; task < c->n_tasks; task++) sim->order[task] = task;
    if (r.n_done < c->n_tasks) return INFINITY;
    if (c->objective == BERTH_OBJECTIVE_LATENCY) return r.makespan;
    for (int32_t d = 0; d < c->n_devices; d++)
        if (sim->clock[d] > largest) largest = sim->clock[d];
    return largest;
}

double berth_sim_load_of_devices(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    run r = {.sim = sim, .c = sim->costs, .device = device};
    double largest = 0;
    (void)priority;
    sum_loads(&r, sim->part_start);
    for (int32_t d = 0; d < sim->costs->n_devices; d++)
        if (sim->part_start[d] > largest) largest = sim->part_start[d];
    return largest;
}
