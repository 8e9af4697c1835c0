/* SPDX-License-Identifier: Apache-2.0 */
/* A plan and a model: what fits, what is refused, what is forced; and that a simulation gives what the search said. */
#include "plans.h"

#include "graphs.h"

#include <math.h>

/* By way of the file: nothing may be lost in writing. */
static void check_simulation(berth_ctx *ctx, const made *m, const char *what) {
    char *text = plan_text(ctx, m->plan, false);
    berth_plan *plan = NULL;
    berth_timeline *timeline = NULL;
    berth_status status = read_bytes(ctx, &plan, text, strlen(text));
    if (status == BERTH_OK) status = berth_plan_simulate(ctx, &timeline, plan, m->graph, NULL, false);
    if (status != BERTH_OK) fail_msg("%s: %s", what, berth_ctx_message(ctx));
    if (timeline->makespan_ms != m->plan->makespan_ms)
        fail_msg("%s: %.17g instead of %.17g", what, timeline->makespan_ms, m->plan->makespan_ms);
    berth_timeline_free(timeline);
    berth_plan_free(plan);
    free(text);
}

static void simulation_gives_the_same_bits(void **state) {
    static const char *const models[] = {
        "models/bert_base.onnx",      "models/densenet121.onnx",    "models/googlenet.onnx",
        "models/inception_v3.onnx",   "models/resnet50.onnx",       "models/mobilenet_v3_large.onnx",
        "models/vit_base.onnx",       "models/ir/bert_base.xml",    "models/ir/resnet50.xml",
        "models/ir/inception_v3.xml", "tests/golden/cnn.onnx",      "tests/golden/if.xml",
        "tests/golden/moirai.csv",    "tests/golden/dagbench.json", "tests/golden/msr.json"};
    static const char *const methods[] = {"heft", "anneal", "auto", "cut"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
            bool given = strstr(models[i], ".csv") || strstr(models[i], ".json");
            berth_place_options how = some_options(methods[(i + (size_t)model) % 4]);
            if (model == BERTH_MODEL_CONTIGUOUS && how.method == methods[0]) how.method = "auto";
            how.model = (berth_model)model;
            how.objective = i % 3 == 2 ? BERTH_OBJECTIVE_THROUGHPUT : BERTH_OBJECTIVE_LATENCY;
            made m = make_plan(*state, models[i], given ? NULL : i % 2 ? "paper" : "cpu,gpu,igpu,npu", how);
            check_simulation(*state, &m, models[i]);
            free_made(&m);
        }
}

static void a_plan_for_another_model_is_refused(void **state) {
    made m = make_plan(*state, "models/resnet50.onnx", "cpu,gpu", some_options("heft"));
    berth_graph *other = support_read(*state, support_source("models/googlenet.onnx"));
    berth_placement *placement = NULL;
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, other, false), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(*state), "another model"));
    assert_null(placement);
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, other, true), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(*state), "no operation"));
    berth_graph_free(other);
    free_made(&m);
}

static void note(void *user, berth_log_level level, const char *message) {
    (void)level;
    snprintf(user, 256, "%s", message);
}

/* The same operations with other shapes, and in another order: found by name. */
static void force_finds_by_name(void **state) {
    static const char one[] = "input x f32 1x8\n"
                              "MatMul x x as first -> y f32 1x8\n"
                              "Relu y as second -> z f32 1x8\n"
                              "output z\n";
    static const char other[] = "input x f32 4x8\n"
                                "Relu y as second -> z f32 4x8\n"
                                "MatMul x x as first -> y f32 4x8\n"
                                "output z\n";
    made m = {.graph = support_graph(*state, one)};
    berth_rule pins[] = {{"first", "gpu"}, {"second", "cpu"}};
    berth_limits limits = {.pins = pins, .n_pins = 2};
    berth_place_options how = some_options("greedy");
    char warning[256] = "";
    how.limits = &limits;
    berth_graph *graph = support_graph(*state, other);
    assert_int_equal(berth_device_set_read(*state, &m.devices, "cpu,gpu"), BERTH_OK);
    assert_int_equal(berth_place(*state, &m.plan, m.graph, m.devices, &how), BERTH_OK);
    berth_placement *placement = NULL;
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, graph, false), BERTH_E_FORMAT);
    berth_ctx_set_log(*state, note, warning);
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, graph, true), BERTH_OK);
    berth_ctx_set_log(*state, NULL, NULL);
    assert_non_null(strstr(warning, "another model"));
    assert_int_equal(placement->device[0], 0);
    assert_int_equal(placement->device[1], 1);
    berth_placement_free(placement);
    berth_graph_free(graph);
    free_made(&m);
}

/* The fingerprint is of what the file declares; the shapes that were bound count too. */
static void other_shapes_are_refused(void **state) {
    const int64_t small[] = {1, 3, 8, 8}, large[] = {2, 3, 8, 8};
    berth_graph *graphs[2] = {NULL};
    berth_shape_binding binding = {"", 4, small};
    berth_read_options read = berth_read_options_default();
    const char *path = support_source("tests/golden/dynamic.xml");
    berth_graph *plain = support_read(*state, path);
    int32_t n = 0;
    const berth_tensor *input = berth_graph_tensor(plain, berth_graph_inputs(plain, &n)[0]);
    binding.input = *input->name ? input->name : berth_graph_op(plain, input->producer)->name;
    read.shapes = &binding;
    read.n_shapes = 1;
    for (int i = 0; i < 2; i++) {
        binding.dims = i ? large : small;
        binding.rank = input->shape.rank < 0 ? 4 : input->shape.rank;
        if (berth_graph_read(*state, &graphs[i], path, &read) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
    }
    berth_place_options how = some_options("fastest");
    binding.dims = small;
    how.shapes = &binding;
    how.n_shapes = 1;
    made m = {0};
    berth_placement *placement = NULL;
    assert_int_equal(berth_device_set_read(*state, &m.devices, "cpu,gpu"), BERTH_OK);
    assert_int_equal(berth_place(*state, &m.plan, graphs[0], m.devices, &how), BERTH_OK);
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, graphs[0], false), BERTH_OK);
    berth_placement_free(placement);
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, graphs[1], false), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(*state), "another shape"));
    assert_int_equal(berth_plan_fit(*state, &placement, m.plan, graphs[1], true), BERTH_OK);
    berth_placement_free(placement);
    assert_int_equal(m.plan->n_shapes, 1);
    berth_graph_free(graphs[0]);
    berth_graph_free(graphs[1]);
    berth_graph_free(plain);
    free_made(&m);
}

/* Constants and inputs are where they are first read, outputs where they are made. */
static void what_does_not_run_follows(void **state) {
    static const char text[] = "Parameter -> p f32 1x8\n"
                               "Constant as weight -> w f32 8x8\n"
                               "Constant as lonely -> l f32 8\n"
                               "MatMul p w as first -> a f32 1x8\n"
                               "Relu a as second -> b f32 1x8\n"
                               "MatMul b w as third -> c f32 1x8\n"
                               "Result c\n";
    berth_rule pins[] = {{"first", "gpu"}, {"second", "cpu"}, {"third", "npu"}};
    berth_limits limits = {.pins = pins, .n_pins = 3};
    berth_place_options how = some_options("greedy");
    how.limits = &limits;
    made m = {.graph = support_graph_ir(*state, text)};
    assert_int_equal(berth_device_set_read(*state, &m.devices, "cpu,gpu,npu"), BERTH_OK);
    if (berth_place(*state, &m.plan, m.graph, m.devices, &how) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
    static const int32_t expected[] = {1, 1, 0, 1, 0, 2, 2};
    for (int i = 0; i < 7; i++) assert_int_equal(m.plan->ops[i].device, expected[i]);
    free_made(&m);
}

typedef struct rung {
    berth_graph *graph;
    const char *path;
} rung;

static berth_status simulate_from_file(berth_ctx *ctx, void *user) {
    const rung *r = user;
    berth_plan *plan = NULL;
    berth_timeline *timeline = NULL;
    berth_status status = berth_plan_read(ctx, &plan, r->path);
    if (status == BERTH_OK) status = berth_plan_simulate(ctx, &timeline, plan, r->graph, NULL, false);
    berth_timeline_free(timeline);
    berth_plan_free(plan);
    return status;
}

static void ladder(void **state) {
    char path[] = "/tmp/berth-plan-XXXXXX";
    made m = make_plan(*state, "tests/golden/cnn.onnx", "cpu,gpu", some_options("heft"));
    char *text = plan_text(*state, m.plan, false);
    write_bytes(path, text, strlen(text));
    rung r = {m.graph, path};
    support_ladder(simulate_from_file, &r, 1);
    unlink(path);
    free(text);
    free_made(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(simulation_gives_the_same_bits, support_open, support_close),
        cmocka_unit_test_setup_teardown(a_plan_for_another_model_is_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(force_finds_by_name, support_open, support_close),
        cmocka_unit_test_setup_teardown(other_shapes_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(what_does_not_run_follows, support_open, support_close),
        cmocka_unit_test_setup_teardown(ladder, support_open, support_close),
    };
    return cmocka_run_group_tests_name("plan.fit", tests, NULL, NULL);
}
