/* SPDX-License-Identifier: Apache-2.0 */
/* Two bounds in linear time, so that no answer is without one, however large the graph.
 *
 * Path: every task takes at least its fastest allowed time, after all that it reads from. Load: whatever the placement,
 * the makespan is at least the time that each device is busy, so at least any mean of these with weights that sum to 1,
 * and the least such mean is each task on the device where its weighted time is least. The weights move towards the
 * devices that are then busiest (multiplicative weights); every round is a bound, and the best counts. Under `serial`
 * all weights are 1: devices take turns. */
#include <math.h>

#include "search/bound.h"

enum { ROUNDS = 24 };
static const double eagerness = 0.5;
static const double rounding = 1e-12; /* sums here and in a simulator differ by so much */

/* INFINITY: not allowed there. */
static double time_on(const berth_problem *p, int32_t task, int32_t d) {
    const berth_costs *c = p->costs;
    bool allowed = p->class_allowed[p->class_of[task]] >> d & 1;
    return allowed ? c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d] : INFINITY;
}

static double fastest(const berth_problem *p, int32_t task) {
    double least = INFINITY;
    for (int32_t d = 0; d < p->costs->n_devices; d++) least = fmin(least, time_on(p, task, d));
    return least;
}

static double bound_path(const berth_problem *p, double *end) {
    const berth_costs *c = p->costs;
    double longest = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double start = 0;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) start = fmax(start, end[c->preds[i]]);
        end[task] = start + fastest(p, task);
        longest = fmax(longest, end[task]);
    }
    return longest;
}

/* The share of a task's time on the host that keeps it busy. */
static double host_share(const berth_costs *c) {
    if (c->objective == BERTH_OBJECTIVE_THROUGHPUT) return c->max_cpus > 1 ? 1.0 / c->max_cpus : 1;
    return c->model == BERTH_MODEL_CONTIGUOUS ? 0 : 1;
}

/* The least weighted mean of loads; what it keeps each device busy for goes to `busy`. */
static double least_mean(const berth_problem *p, const double *weight, double *busy) {
    const berth_costs *c = p->costs;
    bool launches = c->model == BERTH_MODEL_QUEUED && c->objective == BERTH_OBJECTIVE_LATENCY;
    double sum = 0, share = host_share(c);
    for (int32_t d = 0; d < c->n_devices; d++) busy[d] = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double least = INFINITY;
        int32_t best = 0;
        for (int32_t d = 0; d < c->n_devices; d++) {
            double ms = time_on(p, task, d), cost = weight[d] * ms * (d == c->host ? share : 1);
            if (isinf(ms)) continue;
            if (launches && d != c->host && ms > 0) cost += weight[c->host] * c->launch_ms[d];
            if (cost < least) least = cost, best = d;
        }
        if (isinf(least)) return 0;
        sum += least;
        double ms = time_on(p, task, best);
        busy[best] += ms * (best == c->host ? share : 1);
        if (launches && best != c->host && ms > 0) busy[c->host] += c->launch_ms[best];
    }
    return sum;
}

static double bound_loads(const berth_problem *p) {
    int32_t n = p->costs->n_devices;
    bool serial = p->costs->model == BERTH_MODEL_SERIAL && p->costs->objective == BERTH_OBJECTIVE_LATENCY;
    double weight[BERTH_MAX_DEVICES] = {0}, busy[BERTH_MAX_DEVICES] = {0}, best = 0;
    for (int32_t d = 0; d < n; d++) weight[d] = serial ? 1 : 1.0 / n;
    for (int round = 0; round < (serial ? 1 : ROUNDS); round++) {
        double most = 0, sum = 0;
        best = fmax(best, least_mean(p, weight, busy));
        for (int32_t d = 0; d < n; d++) most = fmax(most, busy[d]);
        if (!(most > 0)) break;
        for (int32_t d = 0; d < n; d++) sum += weight[d] *= exp(eagerness / (1 + round / 4.0) * busy[d] / most);
        for (int32_t d = 0; d < n; d++) weight[d] /= sum;
    }
    return best;
}

berth_status berth_bound_quick(berth_search *search) {
    const berth_problem *p = search->problem;
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    size_t n = (size_t)p->costs->n_tasks + 1;
    if (p->costs->objective == BERTH_OBJECTIVE_LATENCY) {
        double *end = berth_resize(allocator, NULL, 0, n, sizeof *end);
        if (!end) return berth_fail_nomem(search->ctx);
        double path = bound_path(p, end);
        berth_resize(allocator, end, n, 0, sizeof *end);
        if (path < INFINITY) berth_search_bound(search, path * (1 - rounding));
    }
    berth_search_bound(search, bound_loads(p) * (1 - rounding));
    return BERTH_OK;
}
