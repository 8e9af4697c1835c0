/* SPDX-License-Identifier: Apache-2.0 */
/* Single moves of a kept placement.
 *
 * Under `serial` without pieces the makespan is a sum: times, and one copy per value and other device on which somebody
 * wants it. With the number of readers per value and device (a target counts as one) a moved task changes only terms of
 * the values around it. Tasks that cannot run where they are count apart, so that the sum stays finite; copies are all
 * finite here. In every other case a move is tried by a full run. */
#include "simulate/sim_impl.h"

#include <math.h>
#include <string.h>

static double copy_time(const berth_sim *sim, int32_t value, int32_t from, int32_t to) {
    return berth_costs_copy(sim->costs, value, from, to);
}

/* What moving the task changes in the copies of the values that it reads. */
static double change_of_inputs(const berth_sim *sim, int32_t task, int32_t from, int32_t to) {
    const berth_costs *c = sim->costs;
    double change = 0;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], home = sim->home[value];
        const int32_t *count = sim->count + (size_t)value * (size_t)c->n_devices;
        if (count[from] == 1) change -= copy_time(sim, value, home, from);
        if (count[to] == 0) change += copy_time(sim, value, home, to);
    }
    return change;
}

/* What moving the task changes in the copies of the values that it makes. */
static double change_of_outputs(const berth_sim *sim, int32_t task, int32_t from, int32_t to) {
    const berth_costs *c = sim->costs;
    double change = 0;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t value = c->out_values[i];
        const int32_t *count = sim->count + (size_t)value * (size_t)c->n_devices;
        for (int32_t d = 0; d < c->n_devices; d++)
            if (count[d] > 0) change += copy_time(sim, value, to, d) - copy_time(sim, value, from, d);
    }
    return change;
}

static double change_of_time(const berth_sim *sim, int32_t task, int32_t from, int32_t to) {
    const double *time = sim->costs->time_ms + (size_t)task * (size_t)sim->costs->n_devices;
    return (time[to] == INFINITY ? 0 : time[to]) - (time[from] == INFINITY ? 0 : time[from]);
}

static bool cannot_run(const berth_sim *sim, int32_t task, int32_t d) {
    return sim->costs->time_ms[(size_t)task * (size_t)sim->costs->n_devices + (size_t)d] == INFINITY;
}

static double kept(const berth_sim *sim) {
    return sim->n_misplaced > 0 ? INFINITY : sim->kept_ms;
}

/* One task, counts included. */
static void apply(berth_sim *sim, int32_t task, int32_t to) {
    const berth_costs *c = sim->costs;
    int32_t from = sim->device[task];
    if (from == to) return;
    size_t nd = (size_t)c->n_devices;
    sim->kept_ms += change_of_time(sim, task, from, to) + change_of_inputs(sim, task, from, to) +
                    change_of_outputs(sim, task, from, to);
    sim->n_misplaced += cannot_run(sim, task, to) - cannot_run(sim, task, from);
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t *count = sim->count + (size_t)c->in_values[i] * nd;
        count[from]--;
        count[to]++;
    }
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) sim->home[c->out_values[i]] = to;
    sim->device[task] = to;
}

static void count_readers(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    size_t nd = (size_t)c->n_devices;
    memset(sim->count, 0, (size_t)c->n_values * nd * sizeof *sim->count);
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t *count = sim->count + (size_t)v * nd;
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) count[sim->device[c->readers[i]]]++;
        if (c->value_target[v] >= 0) count[c->value_target[v]]++;
        sim->home[v] = c->value_producer[v] < 0 ? c->value_home[v] : sim->device[c->value_producer[v]];
    }
}

/* The sum without the tasks that cannot run. */
static void sum_kept(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    sim->kept_ms = 0;
    sim->n_misplaced = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double time = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)sim->device[task]];
        if (time == INFINITY)
            sim->n_misplaced++;
        else
            sim->kept_ms += time;
    }
    for (int32_t v = 0; v < c->n_values; v++)
        for (int32_t d = 0; d < c->n_devices; d++)
            if (sim->count[(size_t)v * (size_t)c->n_devices + (size_t)d] > 0)
                sim->kept_ms += copy_time(sim, v, sim->home[v], d);
}

static double run_kept(berth_sim *sim) {
    return berth_sim_run(sim, sim->device, sim->has_priority ? sim->priority : NULL);
}

double berth_sim_load(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    size_t n = (size_t)sim->costs->n_tasks;
    memcpy(sim->device, device, n * sizeof *device);
    sim->has_priority = priority;
    if (priority) memcpy(sim->priority, priority, n * sizeof *priority);
    double ms = run_kept(sim);
    if (!sim->moves_are_local) return sim->kept_ms = ms;
    count_readers(sim);
    if (ms < INFINITY)
        sim->kept_ms = ms, sim->n_misplaced = 0;
    else
        sum_kept(sim);
    return kept(sim);
}

static double try_one(const berth_sim *sim, int32_t task, int32_t to) {
    int32_t from = sim->device[task];
    if (from == to) return kept(sim);
    if (sim->n_misplaced > cannot_run(sim, task, from) || cannot_run(sim, task, to)) return INFINITY;
    return sim->kept_ms + change_of_time(sim, task, from, to) + change_of_inputs(sim, task, from, to) +
           change_of_outputs(sim, task, from, to);
}

double berth_sim_move(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to) {
    if (sim->moves_are_local) {
        for (int32_t i = 0; i < n; i++) apply(sim, tasks[i], to);
        return kept(sim);
    }
    for (int32_t i = 0; i < n; i++) sim->device[tasks[i]] = to;
    return sim->kept_ms = run_kept(sim);
}

double berth_sim_try(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to) {
    if (n == 1 && sim->moves_are_local) return try_one(sim, tasks[0], to);
    double before = sim->kept_ms;
    for (int32_t i = 0; i < n; i++) sim->undo[i] = sim->device[tasks[i]];
    double ms = berth_sim_move(sim, tasks, n, to);
    for (int32_t i = n; i-- > 0;) {
        if (sim->moves_are_local)
            apply(sim, tasks[i], sim->undo[i]);
        else
            sim->device[tasks[i]] = sim->undo[i];
    }
    sim->kept_ms = before;
    return ms;
}
