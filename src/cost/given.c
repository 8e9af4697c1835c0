/* SPDX-License-Identifier: Apache-2.0 */
/* Costs that a workload file gives. Every operation is a task; what an edge carries is the value of its tensor: one per
 * task in MSR files, one per edge in the others. Nothing has to come from or go to the outside. */
#include "cost/build.h"

#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static berth_status check_devices(const berth_costs_build *b) {
    const berth_given_costs *given = b->graph->given;
    bool same = given->n_devices == b->devices->n_devices;
    for (int32_t d = 0; same && d < given->n_devices; d++)
        same = strcmp(given->device_names[d], b->devices->devices[d].name) == 0;
    if (same) return BERTH_OK;
    return berth_fail(b->ctx, BERTH_E_ARG,
                      "a workload brings its own devices (%" PRId32 ": %s, ...) and cannot use others",
                      given->n_devices, given->device_names[0]);
}

/* Tasks are numbered in topological order, operations as in the file. */
static berth_status take_tasks(berth_costs_build *b) {
    berth_costs *c = b->costs;
    const berth_given_costs *given = b->graph->given;
    size_t n = (size_t)c->n_tasks;
    double *memory = given->op_memory ? berth_arena_push(&c->arena, n, sizeof *memory) : NULL;
    int32_t *colour = given->colour ? berth_arena_push(&c->arena, n, sizeof *colour) : NULL;
    if (c->arena.failed) return berth_fail_nomem(b->ctx);
    for (size_t task = 0; task < n; task++) {
        size_t op = (size_t)c->task_op[task];
        memcpy(b->time_ms + task * b->n_devices, given->op_ms + op * b->n_devices, b->n_devices * sizeof *b->time_ms);
        if (memory) memory[task] = given->op_memory[op];
        if (colour) colour[task] = given->colour[op];
    }
    c->task_memory = memory;
    c->colour = colour;
    c->max_cpus = given->max_cpus;
    return BERTH_OK;
}

/* An amount per value, times what a unit takes on each link. */
static berth_status take_amounts(berth_costs_build *b) {
    berth_costs *c = b->costs;
    const berth_given_costs *given = b->graph->given;
    double *amount = berth_arena_push(&c->arena, (size_t)c->n_values, sizeof *amount);
    if (!amount) return berth_fail_nomem(b->ctx);
    for (int32_t e = 0; e < b->graph->n_edges; e++) {
        int32_t value = b->tensor_value[b->graph->edges[e].tensor];
        if (value >= 0) amount[value] = given->edge_amount[e];
    }
    for (size_t i = 0; i < b->n_devices * b->n_devices; i++) { /* 0 times infinity would be no number */
        bool linked = isfinite(given->link_ms[i]);
        b->copy_fixed[i] = linked ? 0 : INFINITY;
        b->copy_per_unit[i] = linked ? given->link_ms[i] : 0;
    }
    c->value_amount = amount;
    return BERTH_OK;
}

/* A time per value and pair of devices; where edges share a tensor, the longest. */
static berth_status take_table(berth_costs_build *b) {
    berth_costs *c = b->costs;
    const berth_given_costs *given = b->graph->given;
    size_t n_pairs = b->n_devices * b->n_devices;
    double *table = berth_arena_push(&c->arena, (size_t)c->n_values * n_pairs, sizeof *table);
    if (!table) return berth_fail_nomem(b->ctx);
    for (int32_t e = 0; e < b->graph->n_edges; e++) {
        int32_t value = b->tensor_value[b->graph->edges[e].tensor];
        if (value < 0) continue;
        const double *row = given->edge_ms + (size_t)e * n_pairs;
        double *to = table + (size_t)value * n_pairs;
        for (size_t i = 0; i < n_pairs; i++)
            if (row[i] > to[i]) to[i] = row[i];
    }
    c->copy_table = table;
    return BERTH_OK;
}

berth_status berth_costs_take_given(berth_costs_build *b) {
    BERTH_TRY(check_devices(b));
    BERTH_TRY(take_tasks(b));
    return b->graph->given->edge_ms ? take_table(b) : take_amounts(b);
}
