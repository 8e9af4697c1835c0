/* SPDX-License-Identifier: Apache-2.0 */
/* Generated graphs are sound, of the size asked for, and the same every time; the pace is counted on them. */
#include "support.h"

#include <math.h>

static void graphs_are_sound(void **state) {
    static const int32_t sizes[] = {1, 2, 3, 10, 100, 3000};
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            berth_graph *graphs[3] = {NULL};
            for (int k = 0; k < 3; k++)
                assert_int_equal(
                    berth_graph_generate(*state, &graphs[k], (berth_generated)kind, sizes[i], (uint64_t)(k / 2)),
                    BERTH_OK);
            int32_t n = berth_graph_op_count(graphs[0]);
            if (berth_graph_check(*state, graphs[0]) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
            assert_true(n >= sizes[i] && n <= 2 * sizes[i] + 32);
            assert_string_equal(berth_graph_fingerprint(graphs[0]), berth_graph_fingerprint(graphs[1]));
            if (n > 20) assert_string_not_equal(berth_graph_fingerprint(graphs[0]), berth_graph_fingerprint(graphs[2]));
            berth_work *work = NULL;
            assert_int_equal(berth_work_compute(*state, &work, graphs[0]), BERTH_OK);
            assert_int_equal(work->unknown_shapes, 0);
            assert_int_equal(work->n_unknown_types, 0);
            berth_work_free(work);
            for (int k = 0; k < 3; k++) berth_graph_free(graphs[k]);
        }
}

static void nonsense_is_refused(void **state) {
    berth_graph *graph = NULL;
    assert_int_equal(berth_graph_generate(*state, &graph, BERTH_GENERATED_LAYERS, 0, 0), BERTH_E_ARG);
    assert_int_equal(berth_graph_generate(*state, &graph, BERTH_GENERATED_COUNT, 5, 0), BERTH_E_ARG);
    assert_null(graph);
    assert_string_equal(berth_generated_name(BERTH_GENERATED_LAYERS), "layers");
    assert_string_equal(berth_generated_name(BERTH_GENERATED_COUNT), "");
}

static berth_status measure(berth_ctx *ctx, void *user) {
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_place_options how = berth_place_options_default();
    double *pace = user;
    berth_status status = berth_graph_generate(ctx, &graph, BERTH_GENERATED_SERIES_PARALLEL, 60, 0);
    if (status == BERTH_OK) status = berth_device_set_read(ctx, &devices, "cpu,gpu");
    for (int kind = 0; kind < 2 && status == BERTH_OK; kind++)
        status = berth_measure_pace(ctx, &pace[kind], (berth_pace_kind)kind, graph, devices, &how, 0);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static void pace_is_counted(void **state) {
    double pace[2] = {0};
    (void)state;
    support_ladder(measure, pace, 1);
    assert_true(pace[0] > 100 && isfinite(pace[0]));
    assert_true(pace[1] > 100 && isfinite(pace[1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(graphs_are_sound, support_open, support_close),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, support_open, support_close),
        cmocka_unit_test(pace_is_counted),
    };
    return cmocka_run_group_tests_name("place.generate", tests, NULL, NULL);
}
