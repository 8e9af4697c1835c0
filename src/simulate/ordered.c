/* SPDX-License-Identifier: Apache-2.0 */
/* `concurrent` with priorities: every device runs its tasks in one fixed order (defined in sim.h); and orders by
 * priority, for `queued` too.
 *
 * With the order of each device fixed nothing has to be decided on the way, and no event queue is needed: one pass over
 * the tasks, each after its predecessors, finds every start. Copies over a queued link leave in the order in which
 * the tasks of its source end, which is the order of that device. */
#include "simulate/sim_impl.h"

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

/* Values are on a device since `now`: when each is where it is wanted. Returns the last arrival at a target, or 0. */
static double spread(berth_sim *sim, const int32_t *device, int32_t row, int32_t home, double now) {
    const berth_want *want = sim->wants + sim->want_start[row], *end = sim->wants + sim->want_start[row + 1];
    int32_t value = -1;
    uint64_t there = 0; /* devices to which this value was copied */
    double last = 0;
    for (; want < end; want++) {
        int32_t task = want->task, to = task < 0 ? ~task : device[task];
        double time = now;
        if (to != home) {
            if (want->value != value) there = 0;
            value = want->value;
            time = there >> to & 1 ? sim->arrived[(size_t)value * (size_t)sim->costs->n_devices + (size_t)to]
                                   : berth_sim_copy_now(sim, value, home, to, now);
            there |= (uint64_t)1 << to;
        }
        if (task < 0)
            last = time > last ? time : last;
        else if (time > sim->ready_time[task])
            sim->ready_time[task] = time;
    }
    return last;
}

double berth_sim_ordered(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    const berth_costs *c = sim->costs;
    size_t n_devices = (size_t)c->n_devices;
    double last = 0;
    berth_sim_order(sim, priority);
    memset(sim->clock, 0, n_devices * sizeof *sim->clock);
    memset(sim->link_free, 0, n_devices * n_devices * sizeof *sim->link_free);
    memset(sim->ready_time, 0, (size_t)c->n_tasks * sizeof *sim->ready_time);
    for (int32_t i = 0; i < c->n_given; i++) {
        double there = spread(sim, device, c->n_tasks + i, c->value_home[c->given_values[i]], 0);
        if (there > last) last = there;
    }
    for (int32_t i = 0; i < c->n_tasks; i++) {
        int32_t task = sim->order[i], d = device[task];
        double start = sim->clock[d] > sim->ready_time[task] ? sim->clock[d] : sim->ready_time[task];
        double end = start + c->time_ms[(size_t)task * n_devices + (size_t)d];
        sim->start[task] = start;
        sim->end[task] = sim->clock[d] = end;
        double there = spread(sim, device, task, d, end);
        if (end > last) last = end;
        if (there > last) last = there;
    }
    return last;
}
