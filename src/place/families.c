/* SPDX-License-Identifier: Apache-2.0 */
/* Families of cases: generated graphs on generated devices, under rules.
 *
 * Devices are unlike in everything that a placement can use. One that computes fast may be slow to reach, one with much
 * bandwidth may be poor at products. */
#include "berth/bench.h"

#include "base/rng.h"
#include "device/set.h"
#include "simulate/sim.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Between low and high, each factor equally likely. */
static double draw(berth_rng *rng, double low, double high) {
    return low * pow(high / low, berth_rng_uniform(rng));
}

static bool draw_device(berth_device_draft *draft, int32_t index, berth_rng *rng) {
    berth_device *device = &draft->devices[index];
    *device = (berth_device){
        .name = berth_arena_printf(&draft->arena, index ? "acc.%d" : "cpu", (int)index - 1),
        .kind = index ? "acc" : "cpu",
        .flops = {[BERTH_TYPE_F32] = draw(rng, 0.4e12, 3e12)},
        .bandwidth = draw(rng, 40e9, 300e9),
        .launch_ms = draw(rng, 0.001, 0.006),
        .memory_bytes = INFINITY,
    };
    for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++)
        device->efficiency[cls] = cls == BERTH_WORK_FREE ? 1 : draw(rng, 0.15, 0.9);
    return device->name != NULL;
}

berth_status berth_device_set_generate(berth_ctx *ctx, berth_device_set **out, int32_t n, uint64_t seed) {
    char source[48];
    berth_device_draft *draft = NULL;
    berth_rng rng;
    bool drawn = true;
    *out = NULL;
    snprintf(source, sizeof source, "generated:%d:%llu", (int)n, (unsigned long long)seed);
    BERTH_TRY(berth_device_draft_new(ctx, &draft, n, source));
    berth_rng_init(&rng, seed, (uint64_t)n);
    for (int32_t d = 0; d < n && drawn; d++) drawn = draw_device(draft, d, &rng);
    bool queued = berth_rng_below(&rng, 2) == 1;
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = from + 1; to < n; to++) {
            berth_link link = {draw(&rng, 0.003, 0.015), 1e3 / draw(&rng, 12e9, 60e9), queued};
            draft->links[from * n + to] = draft->links[to * n + from] = link;
        }
    draft->set.model = BERTH_MODEL_CONCURRENT;
    if (drawn) {
        *out = &draft->set;
        return BERTH_OK;
    }
    berth_device_set_free(&draft->set);
    return berth_fail_nomem(ctx);
}

/* --- rules ------------------------------------------------------------------------------------------------------ */

static const double memory_share = 0.6; /* of what everything on the device takes there */
static const double piece_ms = 0.05;

const char *berth_case_rule_name(berth_case_rule rule) {
    static const char *const names[] = {"serial", "cut", "concurrent", "memory"};
    return rule >= 0 && rule < BERTH_CASE_RULE_COUNT ? names[rule] : "";
}

static berth_status measure_need(berth_ctx *ctx, const berth_costs *costs, berth_device *devices) {
    berth_arena arena;
    berth_sim *sim = NULL;
    BERTH_TRY(berth_sim_new(ctx, &sim, costs));
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    int32_t *device = berth_arena_push(&arena, (size_t)costs->n_tasks, sizeof *device);
    double *peak = berth_arena_push(&arena, (size_t)costs->n_devices, sizeof *peak);
    for (int32_t d = 0; d < costs->n_devices && !arena.failed; d++) {
        for (int32_t task = 0; task < costs->n_tasks; task++) device[task] = d;
        berth_sim_memory(sim, device, NULL, peak);
        if (peak[d] > 0) devices[d].memory_bytes = memory_share * peak[d]; /* NaN: it cannot run everything anyway */
    }
    bool failed = arena.failed;
    berth_arena_deinit(&arena);
    berth_sim_free(sim);
    return failed ? berth_fail_nomem(ctx) : BERTH_OK;
}

berth_status berth_device_set_restrict(berth_ctx *ctx, berth_device_set *devices, const berth_graph *graph,
                                       berth_case_rule rule) {
    berth_device_draft *draft = (berth_device_draft *)devices;
    berth_costs *costs = NULL;
    berth_cost_options options = berth_cost_options_default();
    bool serial = rule == BERTH_CASE_SERIAL || rule == BERTH_CASE_CUT;
    assert(devices);
    devices->model = serial ? BERTH_MODEL_SERIAL : BERTH_MODEL_CONCURRENT;
    devices->piece_ms = rule == BERTH_CASE_SERIAL ? piece_ms : 0;
    if (rule != BERTH_CASE_MEMORY) return BERTH_OK;
    BERTH_TRY(berth_costs_new(ctx, &costs, graph, devices, &options));
    berth_status status = measure_need(ctx, costs, draft->devices);
    berth_costs_free(costs);
    return status;
}

/* --- cases ------------------------------------------------------------------------------------------------------ */

berth_case berth_case_at(berth_generated kind, int64_t index) {
    static const int32_t devices[] = {4, 2, 8};
    static const berth_case_rule rules[] = {BERTH_CASE_CONCURRENT, BERTH_CASE_MEMORY, BERTH_CASE_CONCURRENT,
                                            BERTH_CASE_SERIAL};
    return (berth_case){
        .kind = kind,
        .n_ops = (int32_t)(100 + index * 89 % 301),
        .n_devices = devices[index % 3],
        .rule = rules[index % 4],
        .seed = (uint64_t)(1 + index),
    };
}

berth_status berth_case_generate(berth_ctx *ctx, berth_graph **graph, berth_device_set **devices,
                                 const berth_case *item) {
    *devices = NULL;
    BERTH_TRY(berth_graph_generate(ctx, graph, item->kind, item->n_ops, item->seed));
    berth_status status = berth_device_set_generate(ctx, devices, item->n_devices, item->seed);
    if (status == BERTH_OK) status = berth_device_set_restrict(ctx, *devices, *graph, item->rule);
    if (status == BERTH_OK) return BERTH_OK;
    berth_device_set_free(*devices);
    berth_graph_free(*graph);
    *devices = NULL;
    *graph = NULL;
    return status;
}
