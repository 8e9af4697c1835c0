/* SPDX-License-Identifier: Apache-2.0 */
/* berth_place: options, limits, budgets, cancellation, memory failure. */
#include "support.h"

#include <math.h>
#include <time.h>

typedef struct task {
    berth_graph *graph;
    berth_device_set *devices;
} task;

static task open_model(berth_ctx *ctx, const char *path, const char *devices) {
    task t = {.graph = support_read(ctx, support_source(path))};
    assert_int_equal(berth_device_set_read(ctx, &t.devices, devices), BERTH_OK);
    return t;
}

static void close_model(task *t) {
    berth_device_set_free(t->devices);
    berth_graph_free(t->graph);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void methods_have_names(void **state) {
    int32_t n = 0;
    (void)state;
    for (; berth_method_name(n); n++) {
        assert_true(strlen(berth_method_name(n)) > 0 && strlen(berth_method_name(n)) <= 12);
        assert_true(strlen(berth_method_summary(n)) > 10);
        for (int32_t i = 0; i < n; i++) assert_string_not_equal(berth_method_name(i), berth_method_name(n));
    }
    assert_true(n >= 10);
    assert_null(berth_method_summary(n));
    assert_null(berth_method_name(-1));
}

static void bad_options_are_refused(void **state) {
    task t = open_model(*state, "tests/golden/cnn.onnx", "cpu,gpu");
    berth_plan *plan = NULL;
    berth_place_options how = berth_place_options_default();
    how.method = "magic";
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(*state), "magic"));
    how = berth_place_options_default();
    how.evaluations = 0;
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_ARG);
    how = berth_place_options_default();
    how.seconds = NAN;
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_ARG);
    how = berth_place_options_default();
    how.seed = UINT64_MAX;
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_ARG);
    how = berth_place_options_default();
    how.piece_ms = -1;
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_ARG);
    berth_rule pins[] = {{"*", "cpu"}, {"*", "gpu"}};
    berth_limits limits = {.pins = pins, .n_pins = 2};
    how = berth_place_options_default();
    how.limits = &limits;
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_INFEASIBLE);
    assert_null(plan);
    close_model(&t);
}

static void place_in_half(berth_ctx *ctx, const char *path, const char *devices) {
    task t = open_model(ctx, path, devices);
    berth_work *work = NULL;
    assert_int_equal(berth_work_compute(ctx, &work, t.graph), BERTH_OK);
    berth_memory_rule memory = {"gpu", (double)work->parameter_bytes / 2};
    berth_limits limits = {.memory = &memory, .n_memory = 1};
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        berth_place_options how = berth_place_options_default();
        berth_plan *plan = NULL;
        berth_timeline *timeline = NULL;
        how.limits = &limits;
        how.model = (berth_model)model;
        how.seconds = INFINITY;
        how.evaluations = 300;
        if (berth_place(ctx, &plan, t.graph, t.devices, &how) != BERTH_OK)
            fail_msg("%s: %s", path, berth_ctx_message(ctx));
        assert_true(isinf(plan->single_ms[1]));
        assert_true(plan->makespan_ms <= plan->single_ms[0]);
        assert_true(plan->lower_bound_ms > 0 && plan->lower_bound_ms <= plan->makespan_ms);
        if (berth_plan_simulate(ctx, &timeline, plan, t.graph, NULL, false) != BERTH_OK)
            fail_msg("%s: %s", path, berth_ctx_message(ctx));
        assert_true(timeline->makespan_ms == plan->makespan_ms);
        assert_true(timeline->memory_peak_bytes[1] <= memory.bytes);
        berth_timeline_free(timeline);
        berth_plan_free(plan);
    }
    berth_work_free(work);
    close_model(&t);
}

/* With the GPU's memory at half the weights every answer fits, and no bound is above it. */
static void half_the_memory(void **state) {
    static const char *const models[] = {
        "models/mobilenet_v3_large.onnx", "models/googlenet.onnx",    "models/resnet50.onnx",
        "models/ir/resnet50.xml",         "models/inception_v3.onnx", "models/ir/inception_v3.xml",
        "models/ir/bert_base.xml",        "models/bert_base.onnx",    "models/vit_base.onnx",
        "models/densenet121.onnx",
    };
    int n = support_is_optimised() ? 10 : support_is_slow() ? 1 : 2;
    for (int i = 0; i < n; i++) {
        place_in_half(*state, models[i], "paper");
        place_in_half(*state, models[i], "cpu,gpu,igpu,npu");
    }
}

static void pins_bans_together_and_io(void **state) {
    task t = open_model(*state, "models/ir/resnet50.xml", "cpu,gpu");
    berth_rule pin = {"MatMul", "cpu"}, ban = {"MaxPool", "gpu"}, together = {"Add", NULL};
    berth_limits limits = {
        .pins = &pin, .n_pins = 1, .bans = &ban, .n_bans = 1, .together = &together, .n_together = 1};
    for (int model = 0; model < BERTH_MODEL_CONTIGUOUS; model++) {
        berth_place_options how = berth_place_options_default();
        berth_plan *plan = NULL;
        int32_t first_add = -1;
        how.limits = &limits;
        how.model = (berth_model)model;
        how.evaluations = 300;
        how.seconds = INFINITY;
        if (berth_place(*state, &plan, t.graph, t.devices, &how) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
        for (int32_t i = 0; i < plan->n_ops; i++) {
            const berth_plan_op *op = &plan->ops[i];
            if (berth_graph_op(t.graph, i)->flags & BERTH_OP_CONSTANT) continue;
            if (strcmp(op->type, "MatMul") == 0) assert_int_equal(op->device, 0);
            if (strcmp(op->type, "MaxPool") == 0) assert_int_equal(op->device, 0);
            if (strcmp(op->type, "Add") != 0) continue;
            if (first_add < 0) first_add = i;
            assert_int_equal(op->device, plan->ops[first_add].device);
        }
        assert_true(isinf(plan->single_ms[1]) && plan->single_ms[0] < INFINITY);
        berth_plan_free(plan);
    }
    close_model(&t);
}

/* --- budgets and cancellation ----------------------------------------------------------------------------------- */

static void time_is_kept(void **state) {
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    if (!support_is_optimised()) support_skip("times mean nothing in a build that is not optimised");
    assert_int_equal(berth_graph_generate(*state, &graph, BERTH_GENERATED_LAYERS, 20000, 0), BERTH_OK);
    assert_int_equal(berth_device_set_read(*state, &devices, "cpu,gpu,igpu,npu"), BERTH_OK);
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        berth_place_options how = berth_place_options_default();
        berth_plan *plan = NULL;
        how.model = (berth_model)model;
        how.seconds = 2;
        double start = now();
        assert_int_equal(berth_place(*state, &plan, graph, devices, &how), BERTH_OK);
        double took = now() - start;
        if (took > 6) fail_msg("%s took %g s instead of 2", berth_model_name(how.model), took);
        assert_true(plan->makespan_ms <= fmin(plan->single_ms[0], plan->single_ms[1]));
        assert_true(plan->lower_bound_ms > 0.01 * plan->makespan_ms);
        berth_plan_free(plan);
    }
    berth_device_set_free(devices);
    berth_graph_free(graph);
}

typedef struct countdown {
    int left;
    int n_progress;
} countdown;

static bool count_down(void *user) {
    countdown *c = user;
    return --c->left < 0;
}

static void count_progress(void *user, const berth_progress *progress) {
    countdown *c = user;
    c->n_progress++;
    assert_true(progress->seconds >= 0 && progress->evaluations >= 0);
    assert_true(progress->makespan_ms > 0 && progress->lower_bound_ms >= 0);
    assert_non_null(progress->method);
}

static void cancelling_keeps_the_best(void **state) {
    task t = open_model(*state, "models/inception_v3.onnx", "cpu,gpu,igpu,npu");
    for (int32_t threads = 1; threads <= 3; threads++) {
        berth_place_options how = berth_place_options_default();
        berth_plan *plan = NULL;
        countdown c = {.left = 300};
        how.model = BERTH_MODEL_CONCURRENT;
        how.seconds = 60;
        how.threads = threads;
        how.progress = count_progress;
        how.progress_user = &c;
        berth_ctx_set_cancel(*state, count_down, &c);
        double start = now();
        assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_OK);
        assert_true(now() - start < 30);
        assert_true(plan->interrupted);
        assert_true(plan->makespan_ms <= plan->single_ms[1]);
        assert_true(c.n_progress > 0);
        berth_plan_free(plan);
    }
    berth_ctx_set_cancel(*state, NULL, NULL);
    close_model(&t);
}

static void cancelled_before_an_answer(void **state) {
    task t = open_model(*state, "models/inception_v3.onnx", "cpu,gpu");
    berth_place_options how = berth_place_options_default();
    berth_plan *plan = NULL;
    countdown c = {.left = 0};
    how.method = "random";
    berth_ctx_set_cancel(*state, count_down, &c);
    assert_int_equal(berth_place(*state, &plan, t.graph, t.devices, &how), BERTH_E_CANCELLED);
    assert_null(plan);
    berth_ctx_set_cancel(*state, NULL, NULL);
    close_model(&t);
}

/* --- memory failure --------------------------------------------------------------------------------------------- */

typedef struct rung {
    const task *task;
    berth_place_options how;
} rung;

static berth_status place_once(berth_ctx *ctx, void *user) {
    const rung *r = user;
    berth_plan *plan = NULL;
    berth_status status = berth_place(ctx, &plan, r->task->graph, r->task->devices, &r->how);
    berth_plan_free(plan);
    return status;
}

static void ladder(void **state) {
    task t = open_model(*state, "tests/golden/cnn.onnx", "cpu,gpu");
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        rung r = {&t, berth_place_options_default()};
        r.how.model = (berth_model)model;
        r.how.seconds = INFINITY;
        r.how.evaluations = 60;
        r.how.threads = 1;
        support_ladder(place_once, &r, 7);
    }
    close_model(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(methods_have_names),
        cmocka_unit_test_setup_teardown(bad_options_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(half_the_memory, support_open, support_close),
        cmocka_unit_test_setup_teardown(pins_bans_together_and_io, support_open, support_close),
        cmocka_unit_test_setup_teardown(time_is_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(cancelling_keeps_the_best, support_open, support_close),
        cmocka_unit_test_setup_teardown(cancelled_before_an_answer, support_open, support_close),
        cmocka_unit_test_setup_teardown(ladder, support_open, support_close),
    };
    return cmocka_run_group_tests_name("place.place", tests, NULL, NULL);
}
