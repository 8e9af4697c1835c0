/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks are sums of numbers that are at least 0, so that even in floating point no task ranks below its readers; equal
 * ones are ordered by number, which is topological itself. Links that do not exist (infinite copies) are left out of
 * the sums: whoever places tasks will not use them. */
#include "search/rank.h"

#include <math.h>

#include "base/sort.h"

static double mean_of_times(const berth_problem *p, int32_t task) {
    const double *time = p->costs->time_ms + (size_t)task * (size_t)p->costs->n_devices;
    uint64_t allowed = p->allowed[p->unit_of[task]];
    double sum = 0;
    int32_t n = 0;
    for (int32_t d = 0; d < p->costs->n_devices; d++)
        if (allowed >> d & 1) {
            sum += time[d];
            n++;
        }
    return sum / n;
}

static double mean_of_copies(const berth_costs *c, int32_t value) {
    double sum = 0;
    for (int32_t from = 0; from < c->n_devices; from++)
        for (int32_t to = 0; to < c->n_devices; to++) {
            double ms = berth_costs_copy(c, value, from, to);
            if (ms < INFINITY) sum += ms;
        }
    return sum / (c->n_devices * c->n_devices);
}

/* Without a table a copy is linear in the amount, and so is the mean. */
static void fill_copies(const berth_costs *c, double *mean) {
    double fixed = 0, per_unit = 0, n_links = c->n_devices * c->n_devices;
    if (c->copy_table) {
        for (int32_t v = 0; v < c->n_values; v++) mean[v] = mean_of_copies(c, v);
        return;
    }
    for (int32_t from = 0; from < c->n_devices; from++)
        for (int32_t to = 0; to < c->n_devices; to++) {
            size_t link = (size_t)from * (size_t)c->n_devices + (size_t)to;
            if (from == to || !(c->copy_fixed[link] < INFINITY) || !(c->copy_per_unit[link] < INFINITY)) continue;
            fixed += c->copy_fixed[link];
            per_unit += c->copy_per_unit[link];
        }
    for (int32_t v = 0; v < c->n_values; v++) mean[v] = (fixed + c->value_amount[v] * per_unit) / n_links;
}

static double upward_of(const berth_costs *c, const berth_rank *rank, int32_t task) {
    double longest = 0;
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t value = c->out_values[i];
        double after = 0;
        for (int32_t k = c->reader_start[value]; k < c->reader_start[value + 1]; k++)
            if (rank->upward[c->readers[k]] > after) after = rank->upward[c->readers[k]];
        if (rank->mean_copy[value] + after > longest) longest = rank->mean_copy[value] + after;
    }
    return rank->mean_time[task] + longest;
}

static bool ranks_before(const void *user, int32_t a, int32_t b) {
    const double *upward = user;
    return upward[a] > upward[b] || (upward[a] == upward[b] && a < b);
}

bool berth_rank_build(berth_arena *arena, const berth_problem *problem, berth_rank *out) {
    const berth_costs *c = problem->costs;
    size_t n = (size_t)c->n_tasks;
    out->mean_time = berth_arena_push(arena, n, sizeof *out->mean_time);
    out->mean_copy = berth_arena_push(arena, (size_t)c->n_values, sizeof *out->mean_copy);
    out->upward = berth_arena_push(arena, n, sizeof *out->upward);
    out->order = berth_arena_push(arena, n, sizeof *out->order);
    out->position = berth_arena_push(arena, n, sizeof *out->position);
    if (arena->failed) return false;
    fill_copies(c, out->mean_copy);
    for (int32_t task = c->n_tasks - 1; task >= 0; task--) {
        out->mean_time[task] = mean_of_times(problem, task);
        out->upward[task] = upward_of(c, out, task);
        out->order[task] = task;
    }
    berth_sort(out->order, n, ranks_before, out->upward);
    for (int32_t i = 0; i < c->n_tasks; i++) out->position[out->order[i]] = i;
    return true;
}
