/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up of a simulator and the call that evaluates a placement: run the model (a task where it cannot run takes
 * INFINITY, and so does all that waits for it), look at memory where it may bind, and weigh the loads if those are the
 * objective. All arrays are made here, so that nothing after berth_sim_new allocates. */
#include "simulate/sim_impl.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static const berth_sim_model models[BERTH_MODEL_COUNT] = {
    [BERTH_MODEL_SERIAL] = berth_sim_serial,
    [BERTH_MODEL_QUEUED] = berth_sim_queued,
    [BERTH_MODEL_CONCURRENT] = berth_sim_concurrent,
    [BERTH_MODEL_CONTIGUOUS] = berth_sim_contiguous,
};

/* More than any device could be asked to hold, sums rounded up. */
static double largest_need(const berth_costs *c) {
    double need = 0;
    if (c->task_memory) {
        for (int32_t task = 0; task < c->n_tasks; task++) need += c->task_memory[task];
    } else {
        for (int32_t w = 0; w < c->n_weights; w++) need += c->weight_bytes[w];
        for (int32_t v = 0; v < c->n_values; v++) need += c->value_bytes[v];
    }
    return need * (1 + 1e-9);
}

static bool memory_may_bind(const berth_costs *c) {
    double need = largest_need(c);
    for (int32_t d = 0; d < c->n_devices; d++)
        if (c->capacity[d] < need) return true;
    return false;
}

/* Differences of sums need finite terms; times are looked after task by task. */
static bool copies_are_finite(const berth_costs *c) {
    size_t n_links = (size_t)c->n_devices * (size_t)c->n_devices, n_diagonal = (size_t)c->n_devices + 1;
    if (c->copy_table) {
        for (size_t i = 0; i < (size_t)c->n_values * n_links; i++)
            if (i % n_links % n_diagonal != 0 && !isfinite(c->copy_table[i])) return false;
        return true;
    }
    double largest = 0;
    for (int32_t v = 0; v < c->n_values; v++)
        if (!(c->value_amount[v] <= largest)) largest = c->value_amount[v];
    for (size_t i = 0; i < n_links; i++)
        if (i % n_diagonal != 0 && !isfinite(c->copy_fixed[i] + largest * c->copy_per_unit[i])) return false;
    return true;
}

#define MAKE(field, n) (sim->field = berth_arena_push(&sim->arena, (n), sizeof *sim->field))

static void make_common(berth_sim *sim) {
    size_t n = (size_t)sim->costs->n_tasks, nd = (size_t)sim->costs->n_devices, nv = (size_t)sim->costs->n_values;
    MAKE(start, n);
    MAKE(end, n);
    MAKE(order, n);
    MAKE(scratch_task, n);
    if (sim->costs->model != BERTH_MODEL_CONCURRENT || sim->costs->objective == BERTH_OBJECTIVE_THROUGHPUT)
        MAKE(stamp, nv * nd);
    MAKE(clock, nd);
    MAKE(load, nd);
    MAKE(device, n);
    MAKE(priority, n);
    MAKE(undo, n);
}

/* Everybody who wants a value, behind the others of the row. */
static int32_t list_wants(berth_sim *sim, int32_t value, int32_t n) {
    const berth_costs *c = sim->costs;
    for (int32_t i = c->reader_start[value]; i < c->reader_start[value + 1]; i++)
        sim->wants[n++] = (berth_want){value, c->readers[i]};
    if (c->value_target[value] >= 0) sim->wants[n++] = (berth_want){value, ~c->value_target[value]};
    return n;
}

static void make_wants(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    int32_t n = 0, row = 0;
    MAKE(want_start, (size_t)c->n_tasks + (size_t)c->n_given + 1);
    MAKE(wants, (size_t)c->reader_start[c->n_values] + (size_t)c->n_values);
    if (sim->arena.failed) return;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) n = list_wants(sim, c->out_values[i], n);
        sim->want_start[++row] = n;
    }
    for (int32_t i = 0; i < c->n_given; i++) {
        n = list_wants(sim, c->given_values[i], n);
        sim->want_start[++row] = n;
    }
}

static void make_concurrent(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    size_t n = (size_t)c->n_tasks, nd = (size_t)c->n_devices;
    MAKE(arrived, (size_t)c->n_values * nd);
    MAKE(waiting, n + 1);
    MAKE(lane, nd);
    MAKE(link_free, nd * nd);
    MAKE(missing, n);
    MAKE(ready_time, n);
    MAKE(need, n);
    MAKE(sources, n);
    make_wants(sim);
    if (sim->arena.failed) return;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        sim->need[task].missing = sim->need[task].n_inputs = c->in_start[task + 1] - c->in_start[task];
        if (sim->need[task].missing == 0) sim->sources[sim->n_sources++] = task;
    }
}

static void make_ready_sets(berth_sim *sim, size_t n_sets) {
    size_t words = berth_ready_words(sim->costs->n_tasks);
    MAKE(ready, n_sets);
    uint64_t *bits = berth_arena_push(&sim->arena, words * n_sets, sizeof *bits);
    if (sim->arena.failed) return;
    for (size_t i = 0; i < n_sets; i++) berth_ready_init(&sim->ready[i], sim->costs->n_tasks, bits + i * words);
}

static void make_model(berth_sim *sim) {
    size_t n = (size_t)sim->costs->n_tasks, nd = (size_t)sim->costs->n_devices;
    switch (sim->costs->model) {
    case BERTH_MODEL_SERIAL:
        for (size_t i = 0; i < n && sim->order; i++) sim->order[i] = (int32_t)i; /* stays so unless pieces cost */
        MAKE(level, n);
        MAKE(leader, n);
        MAKE(bucket, (n > nd ? n : nd) + 2);
        break;
    case BERTH_MODEL_QUEUED:
        MAKE(missing, n);
        make_ready_sets(sim, 1);
        break;
    case BERTH_MODEL_CONCURRENT:
        make_concurrent(sim);
        make_ready_sets(sim, nd);
        break;
    default:
        MAKE(missing, n);
        MAKE(ready_time, n);
        MAKE(part_start, nd);
        MAKE(part_missing, nd);
        MAKE(bucket, nd + 2);
    }
}

static void make_memory(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    size_t n = (size_t)c->n_tasks, nd = (size_t)c->n_devices;
    MAKE(peak, nd);
    MAKE(held, nd);
    if (c->task_memory) return;
    MAKE(position, n);
    if (c->model == BERTH_MODEL_CONCURRENT) MAKE(start_at, n);
    MAKE(change, (n + 2) * nd);
    MAKE(weight_stamp, (size_t)c->n_weights * nd);
}

berth_status berth_sim_new(berth_ctx *ctx, berth_sim **out, const berth_costs *costs) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_sim *sim = berth_resize(allocator, NULL, 0, 1, sizeof *sim);
    if (!sim) return berth_fail_nomem(ctx);
    berth_arena_init(&sim->arena, allocator);
    sim->costs = costs;
    sim->model = models[costs->model];
    sim->memory_may_bind = memory_may_bind(costs);
    sim->moves_are_local = costs->model == BERTH_MODEL_SERIAL && costs->objective == BERTH_OBJECTIVE_LATENCY &&
                           !(costs->piece_ms > 0) && !sim->memory_may_bind && copies_are_finite(costs);
    make_common(sim);
    make_model(sim);
    make_memory(sim);
    if (sim->moves_are_local) {
        MAKE(count, (size_t)costs->n_values * (size_t)costs->n_devices);
        MAKE(home, (size_t)costs->n_values);
    }
    if (sim->arena.failed) {
        berth_sim_free(sim);
        return berth_fail_nomem(ctx);
    }
    *out = sim;
    return BERTH_OK;
}

void berth_sim_free(berth_sim *sim) {
    if (!sim) return;
    berth_allocator allocator = sim->arena.allocator;
    berth_arena_deinit(&sim->arena);
    berth_resize(&allocator, sim, 1, 0, sizeof *sim);
}

void berth_sim_forget_stamps(berth_sim *sim) {
    const berth_costs *c = sim->costs;
    size_t nd = (size_t)c->n_devices;
    if (sim->stamp) memset(sim->stamp, 0, (size_t)c->n_values * nd * sizeof *sim->stamp);
    if (sim->weight_stamp) memset(sim->weight_stamp, 0, (size_t)c->n_weights * nd * sizeof *sim->weight_stamp);
    sim->generation = 1;
}

double berth_sim_run(berth_sim *sim, const int32_t *device, const int32_t *priority) {
    double ms = sim->model(sim, device, priority);
    if (!(ms < INFINITY)) return INFINITY;
    if (sim->memory_may_bind && !berth_sim_fits(sim, device)) return INFINITY;
    return sim->costs->objective == BERTH_OBJECTIVE_THROUGHPUT ? berth_sim_largest_load(sim, device) : ms;
}

const double *berth_sim_starts(const berth_sim *sim) {
    return sim->start;
}

const double *berth_sim_ends(const berth_sim *sim) {
    return sim->end;
}

void berth_sim_memory(berth_sim *sim, const int32_t *device, const int32_t *priority, double *peak) {
    if (sim->model(sim, device, priority) < INFINITY)
        berth_sim_peaks(sim, device, peak);
    else
        for (int32_t d = 0; d < sim->costs->n_devices; d++) peak[d] = NAN;
}
