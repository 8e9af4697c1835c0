/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of placements, against what the simulator counts under `serial`. */
#include "runtime/parts.h"

#include "support.h"

#include "base/ctx.h"
#include "berth/cost.h"
#include "berth/simulate.h"

/* Every piece costs 1 ms, and nothing else costs anything. */
static int32_t count_by_simulation(berth_ctx *ctx, const berth_graph *graph, const berth_placement *placement) {
    berth_device_set *devices = NULL;
    berth_costs *costs = NULL;
    berth_timeline *with = NULL, *without = NULL;
    berth_cost_options how = berth_cost_options_default();
    how.model = BERTH_MODEL_SERIAL;
    assert_int_equal(berth_device_set_read(ctx, &devices, "cpu,gpu"), BERTH_OK);
    how.piece_ms = 1024;
    assert_int_equal(berth_costs_new(ctx, &costs, graph, devices, &how), BERTH_OK);
    assert_int_equal(berth_simulate(ctx, &with, costs, placement), BERTH_OK);
    berth_costs_free(costs);
    how.piece_ms = 0;
    assert_int_equal(berth_costs_new(ctx, &costs, graph, devices, &how), BERTH_OK);
    assert_int_equal(berth_simulate(ctx, &without, costs, placement), BERTH_OK);
    double pieces = (with->makespan_ms - without->makespan_ms) / 1024;
    berth_timeline_free(with);
    berth_timeline_free(without);
    berth_costs_free(costs);
    berth_device_set_free(devices);
    return (int32_t)(pieces + 0.5);
}

static void as_the_simulator_counts(void **state) {
    static const char *const models[] = {"models/ir/resnet50.xml", "models/ir/bert_base.xml", "models/googlenet.onnx",
                                         "models/densenet121.onnx"};
    berth_ctx *ctx = NULL;
    uint64_t random = 17;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        berth_graph *graph = support_read(ctx, support_source(models[k]));
        berth_placement *placement = NULL;
        int32_t n = berth_graph_op_count(graph), pieces = 0;
        assert_int_equal(berth_placement_new(ctx, &placement, n, false), BERTH_OK);
        for (int round = 0; round < 10; round++) {
            int32_t now = 0;
            for (int32_t i = 0; i < n; i++) {
                if (support_below(&random, (uint32_t)n) < 12u * (uint32_t)round) now = 1 - now;
                placement->device[berth_graph_order(graph)[i]] = now;
            }
            assert_int_equal(berth_parts_count(ctx, graph, placement->device, &pieces), BERTH_OK);
            assert_int_equal(pieces, count_by_simulation(ctx, graph, placement));
            if (round == 0) assert_int_equal(pieces, 1);
        }
        berth_placement_free(placement);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

static berth_status count_once(berth_ctx *ctx, void *user) {
    berth_graph *graph = NULL;
    int32_t n = 0, *device = user;
    BERTH_TRY(berth_graph_read(ctx, &graph, support_source("tests/golden/cnn.onnx"), NULL));
    berth_status status = berth_parts_count(ctx, graph, device, &n);
    berth_graph_free(graph);
    return status;
}

static void survives_failing_allocations(void **state) {
    static int32_t device[1000];
    (void)state;
    assert_true(support_ladder(count_once, device, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_simulator_counts),
                                       cmocka_unit_test(survives_failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
