/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up of costs made of terms, and their plain evaluation. */
#include "search/terms.h"

#include "base/leader.h"

#include <math.h>
#include <string.h>

/* More than all finite times and copies together. */
static double sum_of_all(const berth_costs *c) {
    double sum = 1 + c->piece_ms * c->n_tasks;
    int32_t k = c->n_devices;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t d = 0; d < k; d++) {
            double time = c->time_ms[(size_t)task * (size_t)k + (size_t)d];
            if (time < INFINITY) sum += time + c->launch_ms[d];
        }
    for (int32_t v = 0; v < c->n_values; v++)
        for (int32_t from = 0; from < k; from++)
            for (int32_t to = 0; to < k; to++) {
                double copy = berth_costs_copy(c, v, from, to);
                if (copy < INFINITY) sum += copy;
            }
    return 2 * sum;
}

static bool make_arrays(berth_terms *terms, berth_arena *arena) {
    size_t k = (size_t)terms->costs->n_devices;
    terms->node_ms = berth_arena_push(arena, (size_t)terms->n_nodes * k, sizeof *terms->node_ms);
    terms->link_fixed = berth_arena_push(arena, k * k, sizeof *terms->link_fixed);
    terms->link_rest = berth_arena_push(arena, k * k, sizeof *terms->link_rest);
    return !arena->failed;
}

bool berth_terms_init(berth_terms *terms, berth_arena *arena, const berth_problem *problem, bool of_classes) {
    *terms = (berth_terms){.costs = problem->costs, .huge = sum_of_all(problem->costs)};
    terms->n_nodes = of_classes ? problem->n_classes : problem->n_units;
    terms->node_of = of_classes ? problem->class_of : problem->unit_of;
    terms->allowed = of_classes ? problem->class_allowed : problem->allowed;
    return make_arrays(terms, arena);
}

static void join(int32_t *leader, int32_t first, int32_t second) {
    int32_t x = berth_leader_find(leader, first), y = berth_leader_find(leader, second);
    leader[x > y ? x : y] = x < y ? x : y;
}

bool berth_terms_init_connected(berth_terms *terms, berth_arena *arena, const berth_problem *problem) {
    const berth_costs *c = problem->costs;
    *terms = (berth_terms){.costs = c, .huge = sum_of_all(c)};
    size_t n = (size_t)c->n_tasks;
    int32_t *node_of = berth_arena_push(arena, n, sizeof *node_of);
    int32_t *leader = berth_arena_push(arena, n, sizeof *leader);
    uint64_t *allowed = berth_arena_push(arena, n, sizeof *allowed);
    if (arena->failed) return false;
    for (int32_t i = 0; i < problem->n_classes; i++) leader[i] = i;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
            join(leader, problem->class_of[task], problem->class_of[c->preds[i]]);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        /* A root is its set's smallest class, whose first task comes before all others of the set. */
        int32_t class = problem->class_of[task], root = berth_leader_find(leader, class);
        node_of[task] = root;
    }
    int32_t *number = berth_arena_push(arena, n, sizeof *number);
    if (arena->failed) return false;
    for (int32_t i = 0; i < problem->n_classes; i++) {
        int32_t root = berth_leader_find(leader, i);
        if (root == i) {
            number[i] = terms->n_nodes++;
            allowed[number[i]] = UINT64_MAX;
        }
        allowed[number[root]] &= problem->class_allowed[i];
    }
    for (int32_t task = 0; task < c->n_tasks; task++) node_of[task] = number[node_of[task]];
    terms->node_of = node_of;
    terms->allowed = allowed;
    return make_arrays(terms, arena);
}

void berth_terms_set_serial(berth_terms *terms) {
    const berth_costs *c = terms->costs;
    size_t k = (size_t)c->n_devices;
    memset(terms->node_ms, 0, (size_t)terms->n_nodes * k * sizeof *terms->node_ms);
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (size_t d = 0; d < k; d++)
            terms->node_ms[(size_t)terms->node_of[task] * k + d] += c->time_ms[(size_t)task * k + d];
    for (size_t link = 0; link < k * k; link++) terms->link_fixed[link] = terms->link_rest[link] = 1;
    terms->values_count = true;
    terms->via_host = false;
}

/* Where a value is wanted: bit per device. */
static uint64_t wanted(const berth_terms *t, int32_t value, const int32_t *device) {
    const berth_costs *c = t->costs;
    uint64_t where = 0;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++)
        where |= (uint64_t)1 << device[t->node_of[c->readers[i]]];
    if (c->value_target[value] >= 0) where |= (uint64_t)1 << c->value_target[value];
    return where;
}

static double value_cost(const berth_terms *t, int32_t value, int32_t home, const int32_t *device) {
    uint64_t rest = wanted(t, value, device) & ~((uint64_t)1 << home);
    double ms = rest ? berth_terms_out(t, value, home) : 0;
    for (; rest; rest &= rest - 1) ms += berth_terms_in(t, value, home, __builtin_ctzll(rest));
    return ms;
}

double berth_terms_cost(const berth_terms *t, const int32_t *device) {
    const berth_costs *c = t->costs;
    double ms = 0;
    for (int32_t node = 0; node < t->n_nodes; node++)
        ms += t->node_ms[(size_t)node * (size_t)c->n_devices + (size_t)device[node]];
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t producer = c->value_producer[v];
        int32_t home = producer < 0 ? c->value_home[v] : device[t->node_of[producer]];
        if (t->values_count) ms += value_cost(t, v, home, device);
        if (!t->read_ms && !t->read_change) continue;
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++)
            ms += berth_terms_read(t, v, i, home, device[t->node_of[c->readers[i]]]);
    }
    return ms;
}
