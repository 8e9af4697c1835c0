/* SPDX-License-Identifier: Apache-2.0 */
/* Costs by hand, without a graph behind them. */
#include "chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t random_state = 1;

uint32_t chain_below(uint32_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((random_state >> 32) * n >> 32);
}

static void *array(berth_costs *c, size_t n, size_t size) {
    void *items = berth_arena_push(&c->arena, n, size);
    if (!items) {
        fprintf(stderr, "bench: out of memory\n");
        exit(1);
    }
    return items;
}

berth_costs *chain_costs(berth_ctx *ctx, int32_t n, berth_model model) {
    berth_costs *c = NULL;
    if (berth_costs_alloc(ctx, &c) != BERTH_OK) return NULL;
    size_t n_tasks = (size_t)n, n_values = n_tasks + 1, nd = 2;
    c->n_tasks = c->n_ops = n;
    c->n_values = n + 1;
    c->n_devices = (int32_t)nd;
    c->model = model;
    int32_t *number = array(c, n_values, sizeof *number), *producer = array(c, n_values, sizeof *producer);
    int32_t *home = array(c, n_values, sizeof *home), *target = array(c, n_values, sizeof *target);
    double *time = array(c, n_tasks * nd, sizeof *time), *amount = array(c, n_values, sizeof *amount);
    double *capacity = array(c, nd, sizeof *capacity), *launch = array(c, nd, sizeof *launch);
    double *fixed = array(c, nd * nd, sizeof *fixed), *per_unit = array(c, nd * nd, sizeof *per_unit);
    bool *queued = array(c, nd * nd, sizeof *queued);
    berth_read *reads = calloc(2 * n_values, sizeof *reads);
    size_t n_reads = 0;
    for (int32_t v = 0; v <= n; v++) { /* value v + 1 is made by task v, value 0 is the input */
        number[v] = v;
        producer[v] = v - 1;
        home[v] = v == 0 ? 0 : -1;
        target[v] = v == n ? 0 : -1;
        amount[v] = 1 + chain_below(100);
        if (v == n) break;
        time[nd * (size_t)v] = 1 + chain_below(100);
        time[nd * (size_t)v + 1] = 1 + chain_below(20);
        reads[n_reads++] = (berth_read){v, v};
        if (v % 4 == 3) reads[n_reads++] = (berth_read){v - 3, v};
    }
    for (size_t d = 0; d < nd; d++) capacity[d] = INFINITY;
    fixed[1] = fixed[2] = 1;
    per_unit[1] = per_unit[2] = 0.1;
    queued[1] = queued[2] = true;
    launch[1] = 0.5;
    c->task_op = c->op_task = c->value_tensor = number;
    c->value_producer = producer;
    c->value_home = home;
    c->value_target = target;
    c->time_ms = time;
    c->value_amount = c->value_bytes = amount;
    c->capacity = capacity;
    c->launch_ms = launch;
    c->copy_fixed = fixed;
    c->copy_per_unit = per_unit;
    c->link_queued = queued;
    c->weight_start = array(c, n_tasks + 1, sizeof *c->weight_start);
    berth_status status = berth_costs_link(ctx, c, reads, n_reads);
    free(reads);
    return status == BERTH_OK ? c : NULL;
}
