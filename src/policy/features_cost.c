/* SPDX-License-Identifier: Apache-2.0 */
/* The block of costs: what predicts the time of a placement (shared/HSDAG.md 14.5 and 14.6), free of units, so that
 * problems of different sizes look alike. tau is the mean time of a node on a device, CP the longest path of mean
 * times.
 *
 *     per device: log(1 + time / tau); log(time / the fastest), at most 4; 1 if it can run there
 *     log(1 + copies in / tau), the same out; log(1 + bytes in / mean), bytes out, bytes of weights
 *     earliest start / CP, what follows / CP, slack / CP
 *
 * Copies are means over all links; values that stay inside a node count nowhere. A node of several tasks has the sum of
 * their times and bytes, the earliest of their starts, the longest of what follows and the least of their slacks. Nodes
 * without tasks are all 0. */
#include "policy/features.h"

#include <math.h>

enum { PER_DEVICE = 3, REST = 8 };

typedef struct sums {
    const berth_view *view;
    double *mean_time;            /* [n_tasks] over the devices of its node */
    double *top, *bottom;         /* [n_tasks] longest path of mean times before it; from its start to the end */
    double *time;                 /* [n_nodes * n_devices] */
    double *copy_in, *copy_out;   /* [n_nodes] */
    double *bytes_in, *bytes_out; /* [n_nodes] */
    double *weights;              /* [n_nodes] */
    int32_t *seen;                /* [n_nodes] the last value, plus one */
    double critical_path;
} sums;

int32_t berth_cost_width(int32_t n_devices) {
    return PER_DEVICE * n_devices + REST;
}

/* Mean over all links of the time to copy a value; links that do not exist are left out. */
static double mean_copy(const berth_costs *c, int32_t value) {
    double sum = 0;
    int32_t n = 0;
    for (int32_t from = 0; from < c->n_devices; from++)
        for (int32_t to = 0; to < c->n_devices; to++) {
            double ms = from == to ? INFINITY : berth_costs_copy(c, value, from, to);
            if (!(ms < INFINITY)) continue;
            sum += ms;
            n++;
        }
    return n > 0 ? sum / n : 0;
}

static void sum_times(sums *s) {
    const berth_view *view = s->view;
    const berth_costs *c = view->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t node = view->node_of[task], n = 0;
        double sum = 0;
        for (int32_t d = 0; d < c->n_devices; d++) {
            double ms = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
            if (!(view->allowed[node] >> d & 1)) continue;
            s->time[(size_t)node * (size_t)c->n_devices + (size_t)d] += ms;
            sum += ms;
            n++;
        }
        s->mean_time[task] = sum / n;
    }
}

static void sum_paths(sums *s) {
    const berth_costs *c = s->view->costs;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
            s->top[task] = fmax(s->top[task], s->top[c->preds[i]] + s->mean_time[c->preds[i]]);
    for (int32_t task = c->n_tasks - 1; task >= 0; task--) {
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++)
            s->bottom[task] = fmax(s->bottom[task], s->bottom[c->succs[i]]);
        s->bottom[task] += s->mean_time[task];
        s->critical_path = fmax(s->critical_path, s->bottom[task]);
    }
}

/* A value leaves its node if it is wanted elsewhere, and enters each other node that reads it. */
static void sum_value(sums *s, int32_t value) {
    const berth_view *view = s->view;
    const berth_costs *c = view->costs;
    int32_t home = c->value_producer[value] >= 0 ? view->node_of[c->value_producer[value]] : -1;
    double copy = mean_copy(c, value), bytes = c->value_bytes[value];
    bool leaves = c->value_target[value] >= 0;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++) {
        int32_t node = view->node_of[c->readers[i]];
        if (node == home || s->seen[node] == value + 1) continue;
        s->seen[node] = value + 1;
        s->copy_in[node] += copy;
        s->bytes_in[node] += bytes;
        leaves = true;
    }
    if (home < 0 || !leaves) return;
    s->copy_out[home] += copy;
    s->bytes_out[home] += bytes;
}

static void sum_weights(sums *s) {
    const berth_costs *c = s->view->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (c->task_memory) s->weights[s->view->node_of[task]] += c->task_memory[task];
        for (int32_t i = c->weight_start ? c->weight_start[task] : 0; c->weight_start && i < c->weight_start[task + 1];
             i++)
            s->weights[s->view->node_of[task]] += c->weight_bytes[c->weights[i]];
    }
}

/* Mean of the numbers that are not 0; if all are, `otherwise`. */
static double scale_of(size_t n, const double *numbers, double otherwise) {
    double sum = 0, count = 0;
    for (size_t i = 0; i < n; i++) {
        sum += numbers[i];
        count += numbers[i] > 0;
    }
    return sum > 0 ? sum / count : otherwise;
}

static void fill_devices(const sums *s, int32_t node, double tau, berth_real *row) {
    int32_t n_devices = s->view->costs->n_devices;
    const double *time = s->time + (size_t)node * (size_t)n_devices;
    double fastest = INFINITY;
    for (int32_t d = 0; d < n_devices; d++)
        if (s->view->allowed[node] >> d & 1) fastest = fmin(fastest, time[d]);
    for (int32_t d = 0; d < n_devices; d++) {
        if (!(s->view->allowed[node] >> d & 1)) continue;
        row[d] = (berth_real)log1p(time[d] / tau);
        row[n_devices + d] = (berth_real)(time[d] > fastest ? fmin(log(time[d] / fastest), 4) : 0);
        row[2 * n_devices + d] = 1;
    }
}

static void fill_paths(const sums *s, int32_t node, berth_real *row) {
    const berth_view *view = s->view;
    double top = INFINITY, bottom = 0, slack = INFINITY, length = s->critical_path > 0 ? s->critical_path : 1;
    for (int32_t i = view->task_start[node]; i < view->task_start[node + 1]; i++) {
        int32_t task = view->tasks[i];
        top = fmin(top, s->top[task]);
        bottom = fmax(bottom, s->bottom[task]);
        slack = fmin(slack, fmax(0, s->critical_path - s->top[task] - s->bottom[task]));
    }
    row[0] = (berth_real)(top / length);
    row[1] = (berth_real)(bottom / length);
    row[2] = (berth_real)(slack / length);
}

static bool allocate(berth_arena *arena, sums *s) {
    const berth_costs *c = s->view->costs;
    size_t n_nodes = (size_t)s->view->n_nodes, n_tasks = (size_t)c->n_tasks;
    s->mean_time = berth_arena_push(arena, n_tasks, sizeof *s->mean_time);
    s->top = berth_arena_push(arena, n_tasks, sizeof *s->top);
    s->bottom = berth_arena_push(arena, n_tasks, sizeof *s->bottom);
    s->time = berth_arena_push(arena, n_nodes * (size_t)c->n_devices, sizeof *s->time);
    s->copy_in = berth_arena_push(arena, n_nodes, sizeof *s->copy_in);
    s->copy_out = berth_arena_push(arena, n_nodes, sizeof *s->copy_out);
    s->bytes_in = berth_arena_push(arena, n_nodes, sizeof *s->bytes_in);
    s->bytes_out = berth_arena_push(arena, n_nodes, sizeof *s->bytes_out);
    s->weights = berth_arena_push(arena, n_nodes, sizeof *s->weights);
    s->seen = berth_arena_push(arena, n_nodes, sizeof *s->seen);
    return !arena->failed;
}

bool berth_feature_cost(berth_arena *scratch, const berth_view *view, berth_block block) {
    const berth_costs *c = view->costs;
    size_t n = (size_t)view->n_nodes;
    sums s = {.view = view};
    if (!allocate(scratch, &s)) return false;
    sum_times(&s);
    sum_paths(&s);
    for (int32_t value = 0; value < c->n_values; value++) sum_value(&s, value);
    sum_weights(&s);
    double tau = scale_of(n * (size_t)c->n_devices, s.time, scale_of(n, s.copy_in, scale_of(n, s.copy_out, 1)));
    double in = scale_of(n, s.bytes_in, 1), out = scale_of(n, s.bytes_out, 1), weights = scale_of(n, s.weights, 1);
    for (int32_t node = 0; node < view->n_nodes; node++) {
        berth_real *row = block.first + (size_t)node * (size_t)block.stride;
        if (view->task_start[node] == view->task_start[node + 1]) continue;
        fill_devices(&s, node, tau, row);
        row += (size_t)PER_DEVICE * (size_t)c->n_devices;
        row[0] = (berth_real)log1p(s.copy_in[node] / tau);
        row[1] = (berth_real)log1p(s.copy_out[node] / tau);
        row[2] = (berth_real)log1p(s.bytes_in[node] / in);
        row[3] = (berth_real)log1p(s.bytes_out[node] / out);
        row[4] = (berth_real)log1p(s.weights[node] / weights);
        fill_paths(&s, node, row + 5);
    }
    return true;
}
