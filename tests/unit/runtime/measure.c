/* SPDX-License-Identifier: Apache-2.0 */
/* A placement against single devices, with a worker that answers what the test wants; and, where ONNX Runtime was
 * fetched, that the bundled models compute numbers. */
#include "faked.h"
#include "runtime/model.h"
#include "runtime/places.h"
#include "runtime/trial.h"

static void gains_are_paired(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_devices, 7);
    const berth_measured *out = faked_case_run(&m, "");
    double gain = 1 - f->split_ms / f->cpu_ms;
    assert_true(out->n_singles == 2 && out->best >= 0 && fabs(out->gain - gain) < 1e-9);
    assert_true(fabs(out->gain_low - gain) < 1e-9); /* without noise there is no doubt */
    assert_true(out->outputs.equal && out->n_deviations == 0 && out->n_checked == 2 * FAKED_BLOCK);
    assert_string_equal(out->plan.name, "plan");
    assert_string_equal(out->singles[1].name, "webgpu");
    assert_string_equal(out->runtime_version, "1.99.0");
    out = faked_case_run(&m, "cpu=10 other=8 split=7.9 noise=0.2");
    assert_true(out->best == 1 && out->gain_low < out->gain && out->gain_low < 0.03);
    assert_true(out->plan.latency.low_ms < out->plan.latency.high_ms);
    out = faked_case_run(&m, "cpu=10 other=20 split=11");
    assert_true(out->best == 0 && fabs(out->gain + 0.1) < 1e-9 && out->gain_low < 0);
    faked_case_close(&m);
}

static void some_do_not_run(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_devices, 7);
    const berth_measured *out = faked_case_run(&m, "crash=split");
    assert_true(out->plan.latency.runs == 0 && isnan(out->gain) && isnan(out->gain_low) && out->best >= 0);
    assert_non_null(strstr(out->plan.reason, "signal 11"));
    assert_true(!out->outputs.equal && isnan(out->outputs.max_abs));
    out = faked_case_run(&m, "crash=other split=5");
    assert_true(out->best == 0 && out->singles[1].latency.runs == 0 && *out->singles[1].reason && out->gain > 0.5);
    out = faked_case_run(&m, "crash=cpu split=5"); /* then the other device is the reference */
    assert_true(out->best == 1 && out->outputs.equal && out->outputs.max_abs == 0);
    out = faked_case_run(&m, "crash=split@4"); /* it ran in four rounds, and then no more */
    assert_true(out->plan.latency.runs == 12 && *out->plan.reason && out->n_checked == 0);
    out = faked_case_run(&m, "crash=split@7"); /* only where it is to be seen where operations ran */
    assert_true(out->plan.latency.runs == 21 && !*out->plan.reason && out->n_checked == 0 && out->gain > 0.5);
    out = faked_case_run(&m, "differ=split");
    assert_true(!out->outputs.equal && fabs(out->outputs.max_abs - 1) < 1e-6);
    out = faked_case_run(&m, "shape=split");
    assert_false(out->outputs.equal);
    faked_case_close(&m);
}

/* Kept on the CPU by the runtime is only what it keeps there also when everything is to be on the other device. */
static void places_are_explained(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_devices, 7);
    const berth_measured *out = faked_case_run(&m, "kept=MatMul");
    assert_true(out->n_checked == 2 * FAKED_BLOCK && out->n_deviations == FAKED_BLOCK);
    for (int32_t i = 0; i < out->n_deviations; i++) {
        const berth_deviation *d = &out->deviations[i];
        assert_true(d->op == i && d->explained && strstr(d->reason, "everything on webgpu"));
        assert_string_equal(d->planned, "webgpu");
        assert_string_equal(d->ran, "cpu");
    }
    assert_int_equal(faked_jobs(f, "other"), 7 + 1); /* the other device is asked once */
    out = faked_case_run(&m, "strays=MatMul");
    assert_true(out->n_deviations == FAKED_BLOCK);
    for (int32_t i = 0; i < out->n_deviations; i++)
        assert_true(!out->deviations[i].explained && strstr(out->deviations[i].reason, "has put it there"));
    faked_case_run(&m, "");
    assert_int_equal(faked_jobs(f, "other"), 7); /* nobody asks without a reason */
    faked_case_close(&m);
}

static void shapes_are_told_apart(void **state) {
    faked *f = *state;
    static const char *const types[] = {"Shape", "Gather", "Unsqueeze", "Add", "Reshape", "Relu", "Size", "Mul"};
    static const char *const inputs[] = {"x", "s,one", "g,axis", "u,s", "x,c", "r", "x", "z,n"};
    static const char *const outputs[] = {"s", "g", "u", "c", "r", "z", "n", "m"};
    static const bool wanted[] = {true, true, true, true, false, false, true, false};
    proto graph = {0};
    bool shapes[8];
    for (int i = 0; i < 8; i++) proto_message(&graph, 1, onnx_node(types[i], inputs[i], outputs[i]));
    for (int i = 0; i < 2; i++) {
        proto weight = {0};
        char bytes[8] = {0};
        proto_int(&weight, 1, 1);
        proto_int(&weight, 2, 7);
        proto_text(&weight, 8, i ? "axis" : "one");
        proto_bytes(&weight, 9, bytes, sizeof bytes);
        proto_message(&graph, 5, weight);
    }
    proto_message(&graph, 11, onnx_value("x", 1, "n,4")); /* open: or everything would be folded */
    proto_message(&graph, 12, onnx_value("m", 1, "n,4"));
    proto model = onnx_model(graph);
    berth_graph *read = NULL;
    if (berth_graph_read_memory(f->ctx, &read, model.bytes, model.n, "shapes", NULL) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(f->ctx));
    berth_places_shapes(read, shapes);
    for (int i = 0; i < 8; i++)
        if (shapes[i] != wanted[i]) fail_msg("%s", types[i]);
    berth_graph_free(read);
    proto_free(&model);
}

/* What a narrower type gains is told apart from what the placement gains. */
static void precision_is_told_apart(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_devices, 7);
    faked_case_run(&m, "");
    assert_null(m.out->full);
    m.how.native_precision = true;
    faked_case_run(&m, "narrow=0.5");
    assert_non_null(m.out->full);
    assert_int_equal(faked_jobs(f, "cpu"), 2 * m.how.rounds);
    for (int d = 0; d < 2; d++) {
        assert_true(fabs(m.out->full[d].latency.median_ms - 2 * m.out->singles[d].latency.median_ms) < 1e-9);
        assert_string_equal(m.out->full[d].name, m.out->singles[d].name);
    }
    /* The gain is over a device that may use it, too. */
    double best = fmin(m.out->singles[0].latency.median_ms, m.out->singles[1].latency.median_ms);
    assert_true(fabs(m.out->gain - (1 - m.out->plan.latency.median_ms / best)) < 1e-9);
    faked_case_close(&m);
}

static void none_runs(void **state) {
    faked *f = *state;
    faked_case m = faked_case_open(f, faked_devices, 7);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) m.placement->device[i] = 0;
    static const char *const one[] = {"cpu"};
    faked_say("crash=cpu");
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, one, 1, m.placement, &m.how),
                     BERTH_E_UNSUPPORTED);
    assert_null(m.out);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "signal 11"));
    faked_case_close(&m);
}

/* Refused before anything is run. */
static void what_cannot_be_measured(void **state) {
    faked *f = *state;
    static const char *const three[] = {"cpu", "webgpu", "cuda"}, *const unknown[] = {"cpu", "abacus"};
    faked_case m = faked_case_open(f, faked_devices, 7);
    m.placement->device[FAKED_BLOCK] = 2;
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, three, 3, m.placement, &m.how),
                     BERTH_E_INFEASIBLE);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "'webgpu'"));
    assert_non_null(strstr(berth_ctx_message(f->ctx), "'cuda'"));
    m.placement->device[FAKED_BLOCK] = 0;
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, f->graph, f->model, unknown, 2, m.placement, &m.how),
                     BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "abacus"));
    berth_graph *other = support_read(f->ctx, support_source("models/ir/resnet50.xml"));
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, other, f->model, three, 2, m.placement, &m.how),
                     BERTH_E_ARG);
    berth_placement *fitting = NULL;
    assert_int_equal(berth_placement_new(f->ctx, &fitting, berth_graph_op_count(other), false), BERTH_OK);
    assert_int_equal(berth_measure(f->ctx, &m.out, f->runtime, other, support_source("models/ir/resnet50.xml"), three,
                                   2, fitting, &m.how),
                     BERTH_E_UNSUPPORTED);
    berth_placement_free(fitting);
    berth_graph_free(other);
    assert_int_equal(faked_jobs(f, NULL), 0); /* all of it before anything was run */
    faked_case_close(&m);
}

static void survives_failing_allocations(void **state) {
    if (!support_is_optimised()) return; /* some thousand processes: minutes, where they are slow */
    faked_case m = faked_case_open(*state, faked_devices, 7);
    m.how.rounds = 1;
    assert_true(faked_case_ladder(&m) > 20);
    faked_case_close(&m);
}

/* --- the real runtime ------------------------------------------------------------------------------------------- */

static void check_numbers(berth_ctx *ctx, berth_runtime *runtime, const char *path) {
    berth_run_options options = berth_run_options_default();
    berth_run_model model;
    berth_candidate candidate;
    berth_trial_result result = {0};
    berth_graph *graph = support_read(ctx, path);
    options.synthesize = true;
    assert_int_equal(berth_run_model_init(&model, ctx, runtime, graph, path, &options), BERTH_OK);
    assert_int_equal(berth_run_model_single(&model, "cpu", &candidate), BERTH_OK);
    berth_trial_options how = {.inputs = model.inputs,
                               .n_inputs = model.n_inputs,
                               .rounds = 1,
                               .least_runs = 1,
                               .most_runs = 1,
                               .until = INFINITY,
                               .folder = model.scratch};
    assert_int_equal(berth_trial_run(ctx, &model.arena, runtime, &candidate, 1, &how, &result), BERTH_OK);
    if (result.status != BERTH_OK) fail_msg("%s: %s", path, result.reason);
    assert_true(result.n_outputs > 0);
    for (int32_t i = 0; i < result.n_outputs; i++) {
        berth_npy out;
        double least = INFINITY, most = -INFINITY;
        assert_int_equal(berth_npy_read(ctx, &model.arena, result.outputs[i].file, &out), BERTH_OK);
        assert_true(out.kind == 'f' && out.item_size == 4 && out.count > 0);
        for (int64_t k = 0; k < out.count; k++) {
            double value = (double)((const float *)out.data)[k];
            if (!isfinite(value)) fail_msg("%s: an output is %g", path, value);
            least = fmin(least, value);
            most = fmax(most, value);
        }
        if (!(most > least && most - least < 1e12)) fail_msg("%s: outputs from %g to %g", path, least, most);
    }
    berth_run_model_deinit(&model);
    berth_graph_free(graph);
}

/* Made-up weights keep every layer finite. */
static void bundled_models_compute(void **state) {
    static const char *const models[] = {
        "models/mobilenet_v3_large.onnx", "models/densenet121.onnx", "models/googlenet.onnx", "models/resnet50.onnx",
        "models/inception_v3.onnx",       "models/vit_base.onnx",    "models/bert_base.onnx"};
    berth_ctx *ctx = NULL;
    berth_runtime *runtime = NULL;
    berth_runtime_options options = berth_runtime_options_default();
    (void)state;
    options.worker = BERTH_CLI;
    options.library = support_source(".deps/onnxruntime/libonnxruntime.so.1");
    if (access(options.library, R_OK) != 0) support_skip("ONNX Runtime was not fetched: scripts/setup runtime");
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_runtime_new(ctx, &runtime, &options), BERTH_OK);
    for (int i = 0; i < (support_is_optimised() ? 7 : 2); i++) check_numbers(ctx, runtime, support_source(models[i]));
    berth_runtime_free(runtime);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gains_are_paired, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(some_do_not_run, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(places_are_explained, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(shapes_are_told_apart, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(precision_is_told_apart, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(none_runs, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(what_cannot_be_measured, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(survives_failing_allocations, faked_open, faked_close),
        cmocka_unit_test(bundled_models_compute),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
