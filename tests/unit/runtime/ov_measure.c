/* SPDX-License-Identifier: Apache-2.0 */
/* Placements with OpenVINO, with a worker that answers what the test wants: where operations ran, pieces, precision. */
#include "faked.h"
#include "runtime/kind.h"
#include "runtime/op_times.h"

static void places_are_read_back(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_ov_devices, 2);
    const berth_measured *out = faked_case_run(&m, "");
    assert_true(fabs(out->gain - (1 - f->split_ms / f->cpu_ms)) < 1e-9);
    assert_true(out->n_deviations == 0 && out->n_checked == 2 * FAKED_BLOCK);
    assert_true(out->n_pieces == 2 && out->n_planned_pieces == 2);
    assert_string_equal(out->pieces[0], "CPU1:bf16"); /* by our name, not OpenVINO's */
    assert_string_equal(out->pieces[1], "CPU0");
    assert_string_equal(out->singles[1].name, "CPU1:bf16");
    out = faked_case_run(&m, "elsewhere");
    assert_int_equal(out->n_deviations, 1);
    assert_int_equal(out->deviations[0].op, 0);
    assert_string_equal(out->deviations[0].ran, "CPU0");
    assert_false(out->deviations[0].explained);
    faked_case_close(&m);
}

/* Narrow devices are compared with the tolerance of their type, and never are the reference if another runs. */
static void precision_sets_the_tolerance(void **state) {
    faked *f = *state;
    static const char *const wide[] = {"CPU0", "CPU1"};
    faked_case m = faked_case_open(f, faked_ov_devices, 2);
    const berth_measured *out = faked_case_run(&m, "differ=other"); /* which is the narrow one */
    assert_true(out->outputs.equal && out->outputs.max_abs == 0);
    out = faked_case_run(&m, "crash=cpu differ=other"); /* then there is no other */
    assert_false(out->outputs.equal);
    out = faked_case_run(&m, "near=split");
    assert_true(out->outputs.equal && out->outputs.max_abs > 0.01);
    berth_measured_free(m.out);
    m.out = NULL;
    faked_say("near=split");
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, wide, 2, m.placement, &m.how),
                     BERTH_OK);
    assert_false(m.out->outputs.equal);
    faked_case_close(&m);
}

static void what_cannot_be_measured(void **state) {
    faked *f = *state;
    static const char *const twice[] = {"CPU0", "CPU0:bf16"}, *const unknown[] = {"CPU0", "a b"};
    faked_case m = faked_case_open(f, faked_ov_devices, 2);
    faked_say("");
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, twice, 2, m.placement, &m.how),
                     BERTH_E_ARG);
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, unknown, 2, m.placement, &m.how),
                     BERTH_E_ARG);
    berth_graph *ir = support_read(f->ctx, support_source("tests/golden/cnn.xml")); /* here without its weights */
    berth_placement *fitting = NULL;
    assert_int_equal(berth_placement_new(f->ctx, &fitting, berth_graph_op_count(ir), false), BERTH_OK);
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, ir, support_source("tests/golden/cnn.xml"),
                                   faked_ov_devices, 2, fitting, &m.how),
                     BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "--synthesize-weights"));
    berth_placement_free(fitting);
    berth_graph_free(ir);
    assert_int_equal(faked_jobs(f, NULL), 0); /* all of it before anything was run */
    faked_case_close(&m);
}

/* What a device refuses has no time there; the rest has what the report says. */
static void times_and_support(void **state) {
    faked *f = *state;
    berth_run_options how = berth_run_options_default();
    berth_run_model model;
    const double *ms = NULL;
    faked_say("refuses");
    assert_int_equal(berth_run_model_init(&model, f->ctx, f->runtime, f->graph, f->model, &how), BERTH_OK);
    assert_int_equal(berth_op_times_take(f->ctx, &model.arena, &model, faked_ov_devices, 2, 1, INFINITY, false, &ms),
                     BERTH_OK);
    assert_true(isinf(ms[1]) && fabs(ms[0] - 4) < 1e-9);
    for (int op = 1; op < 2 * FAKED_BLOCK; op++) {
        assert_true(fabs(ms[2 * op] - (op < FAKED_BLOCK ? 4 : 1)) < 1e-9);
        assert_true(fabs(ms[2 * op + 1] - (op < FAKED_BLOCK ? 1 : 4)) < 1e-9);
    }
    berth_run_model_deinit(&model);
}

static void survives_failing_allocations(void **state) {
    if (!support_is_optimised()) return; /* some thousand processes: minutes, where they are slow */
    faked_case m = faked_case_open(*state, faked_ov_devices, 2);
    m.how.rounds = 1;
    assert_true(faked_case_ladder(&m) > 20);
    faked_case_close(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(places_are_read_back, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(precision_sets_the_tolerance, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(what_cannot_be_measured, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(times_and_support, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(survives_failing_allocations, faked_open_ov, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
