/* SPDX-License-Identifier: Apache-2.0 */
/* `concurrent` with priorities: every device runs its tasks in one fixed order (defined in sim.h).
 *
 * With the order of each device fixed nothing has to be decided on the way, and no event queue is needed: one pass over
 * the tasks, each after its predecessors, finds every start. Copies over a queued link leave in the order in which
 * the tasks of its source end, which is the order of that device. */
#include "simulate/sim_impl.h"

#include <math.h>
#include <string.h>

/* True if no task comes before one of its predecessors. */
static bool is_topological(const berth_costs *c, const int32_t *priority) {
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
            if (priority[c->preds[i]] > priority[task]) return false;
    return true;
}

void berth_sim_order(berth_sim *sim, const int32_t *priority) {
    const berth_costs *c = sim->costs;
    if (is_topological(c, priority)) {
        for (int32_t task = 0; task < c->n_tasks; task++) sim->order[priority[task]] = task;
        return;
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        sim->scratch_task[priority[task]] = task;
        sim->missing[task] = c->pred_start[task + 1] - c->pred_start[task];
        if (sim->missing[task] == 0) berth_ready_insert(sim->ready, priority[task]);
    }
    for (int32_t n = 0; n < c->n_tasks; n++) {
        int32_t task = sim->scratch_task[berth_ready_pop(sim->ready)];
        sim->order[n] = task;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++)
            if (--sim->missing[c->succs[i]] == 0) berth_ready_insert(sim->ready, priority[c->succs[i]]);
    }
}

/* The copy of a value that is on `from` since `now`; its arrival. */
static double copy_at(berth_sim *sim, double now, int32_t value, int32_t from, int32_t to) {
    const berth_costs *c = sim->costs;
    size_t link = (size_t)from * (size_t)c->n_devices + (size_t)to;
    double start = now, end = now + berth_costs_copy(c, value, from, to);
    if (c->link_queued[link]) {
        if (sim->link_free[link] > start) {
            start = sim->link_free[link];
            end = start + berth_costs_copy(c, value, from, to);
        }
        sim->link_free[link] = end;
    }
    sim->arrived[(size_t)value * (size_t)c->n_devices + (size_t)to] = end;
    berth_sim_note_copy(sim, value, from, to, start, end);
    return end;
}

/* A value is on a device since `now`: when it is where its readers are. Returns its arrival at its target. */
static double spread(berth_sim *sim, const int32_t *device, double now, int32_t value, int32_t home) {
    const berth_costs *c = sim->costs;
    const double *arrived = sim->arrived + (size_t)value * (size_t)c->n_devices;
    uint64_t there = (uint64_t)1 << home;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t task = c->readers[i], to = device[task];
        double time = to == home ? now : there >> to & 1 ? arrived[to] : copy_at(sim, now, value, home, to);
        there |= (uint64_t)1 << to;
        if (time > sim->ready_time[task]) sim->ready_time[task] = time;
    }
    int32_t target = c->value_target[value];
    if (target < 0 || target == home) return 0;
    return there >> target & 1 ? arrived[target] : copy_at(sim, now, value, home, target);
}

double berth_sim_ordered(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    const berth_costs *c = sim->costs;
    size_t n_devices = (size_t)c->n_devices;
    double last = 0;
    berth_sim_order(sim, priority);
    memset(sim->clock, 0, n_devices * sizeof *sim->clock);
    memset(sim->link_free, 0, n_devices * n_devices * sizeof *sim->link_free);
    memset(sim->ready_time, 0, (size_t)c->n_tasks * sizeof *sim->ready_time);
    for (int32_t i = 0; i < c->n_given; i++)
        last = fmax(last, spread(sim, device, 0, c->given_values[i], c->value_home[c->given_values[i]]));
    for (int32_t i = 0; i < c->n_tasks; i++) {
        int32_t task = sim->order[i], d = device[task];
        double start = sim->clock[d] > sim->ready_time[task] ? sim->clock[d] : sim->ready_time[task];
        double end = start + c->time_ms[(size_t)task * n_devices + (size_t)d];
        sim->start[task] = start;
        sim->end[task] = sim->clock[d] = end;
        if (end > last) last = end;
        for (int32_t k = c->out_start[task]; k < c->out_start[task + 1]; k++) {
            double there = spread(sim, device, end, c->out_values[k], d);
            if (there > last) last = there;
        }
    }
    return last;
}
