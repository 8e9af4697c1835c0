/* SPDX-License-Identifier: Apache-2.0 */
/* `serial`: everything one after another (defined in sim.h). Tasks run in task order or, where pieces cost, piece by
 * piece: by level, then device. Each value is copied just before its first reader on another device, and to its
 * target at the end. */
#include "simulate/sim_impl.h"

#include "base/leader.h"

#include <string.h>

/* Levels, and the smallest task of each piece as its leader. */
static void find_pieces(berth_sim *sim, const int32_t *device) {
    const berth_costs *c = sim->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t level = 0;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t pred = c->preds[i], least = sim->level[pred] + (device[pred] != device[task]);
            if (least > level) level = least;
        }
        sim->level[task] = level;
        sim->leader[task] = task;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t pred = c->preds[i];
            if (device[pred] != device[task] || sim->level[pred] != level) continue;
            int32_t a = berth_leader_find(sim->leader, pred), b = berth_leader_find(sim->leader, task);
            sim->leader[a > b ? a : b] = a < b ? a : b;
        }
    }
}

/* sim->order by a key below n_keys per task, stable: one pass of a counting sort from `from`. */
static void sort_pass(berth_sim *sim, const int32_t *from, int32_t *to, const int32_t *key, int32_t n_keys) {
    int32_t n = sim->costs->n_tasks;
    memset(sim->bucket, 0, (size_t)(n_keys + 1) * sizeof *sim->bucket);
    for (int32_t i = 0; i < n; i++) sim->bucket[key[from[i]] + 1]++;
    for (int32_t k = 0; k < n_keys; k++) sim->bucket[k + 1] += sim->bucket[k];
    for (int32_t i = 0; i < n; i++) to[sim->bucket[key[from[i]]]++] = from[i];
}

static void order_by_pieces(berth_sim *sim, const int32_t *device) {
    int32_t n = sim->costs->n_tasks, n_levels = 1;
    for (int32_t task = 0; task < n; task++) {
        sim->order[task] = task;
        if (sim->level[task] >= n_levels) n_levels = sim->level[task] + 1;
    }
    sort_pass(sim, sim->order, sim->scratch_task, device, sim->costs->n_devices);
    sort_pass(sim, sim->scratch_task, sim->order, sim->level, n_levels);
}

static double copy_in(berth_sim *sim, int32_t value, int32_t from, int32_t to, double clock) {
    size_t at = (size_t)value * (size_t)sim->costs->n_devices + (size_t)to;
    if (from == to || sim->stamp[at] == sim->generation) return clock;
    double end = clock + berth_costs_copy(sim->costs, value, from, to);
    sim->stamp[at] = sim->generation;
    berth_sim_note_copy(sim, value, from, to, clock, end);
    return end;
}

double berth_sim_serial(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    (void)priority;
    const berth_costs *c = sim->costs;
    double clock = 0;
    berth_sim_next_generation(sim);
    bool pieces = c->piece_ms > 0;
    if (pieces) {
        find_pieces(sim, device);
        order_by_pieces(sim, device);
    }
    for (int32_t i = 0; i < c->n_tasks; i++) {
        int32_t task = pieces ? sim->order[i] : i, d = device[task];
        if (pieces && berth_leader_find(sim->leader, task) == task) {
            if (sim->recorder) sim->recorder->piece(sim->recorder->user, task, d, clock, clock + c->piece_ms);
            clock += c->piece_ms;
        }
        for (int32_t k = c->in_start[task]; k < c->in_start[task + 1]; k++)
            clock = copy_in(sim, c->in_values[k], berth_sim_home(c, device, c->in_values[k]), d, clock);
        sim->start[task] = clock;
        clock += c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
        sim->end[task] = clock;
    }
    for (int32_t v = 0; v < c->n_values; v++)
        if (c->value_target[v] >= 0) clock = copy_in(sim, v, berth_sim_home(c, device, v), c->value_target[v], clock);
    return clock;
}
