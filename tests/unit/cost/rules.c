/* SPDX-License-Identifier: Apache-2.0 */
/* Pins, bans, memory and --io: what they do, and what is said when they cannot be. */
#include "cases.h"

#include <stdio.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graph;
    berth_device_set *set;
} fixture;

static int start(void **state) {
    static fixture f;
    f = (fixture){0};
    if (berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    f.graph = support_graph(f.ctx, "input x f32 4\n"
                                   "input y f32 4\n"
                                   "initializer k f32 4\n"
                                   "Neg k as folded -> n f32 4\n"
                                   "Relu x as block1/relu -> a f32 4\n"
                                   "Add a y as block1/add -> b f32 4\n"
                                   "Mul b n as block2/mul -> c f32 4\n"
                                   "Relu c as block2/relu -> d f32 4\n"
                                   "output d\n");
    f.set = read_devices(f.ctx, "cpu,gpu,npu");
    *state = &f;
    return 0;
}

static int stop(void **state) {
    fixture *f = *state;
    berth_device_set_free(f->set);
    berth_graph_free(f->graph);
    berth_ctx_free(f->ctx);
    return 0;
}

enum { FOLDED, RELU1, ADD, MUL, RELU2 };

static berth_costs *with(fixture *f, const berth_limits *limits) {
    berth_cost_options options = berth_cost_options_default();
    options.limits = limits;
    return make_costs(f->ctx, f->graph, f->set, &options);
}

static void refuse(fixture *f, const berth_limits *limits, berth_status status, const char *fragment) {
    berth_cost_options options = berth_cost_options_default();
    options.limits = limits;
    refuse_costs(f->ctx, f->graph, f->set, &options, status, fragment);
}

/* Bit d: the operation may run on device d. */
static int allowed(const berth_costs *c, int32_t op) {
    int mask = 0;
    for (int32_t d = 0; d < c->n_devices; d++) mask |= isfinite(berth_costs_op_ms(c, op, d)) << d;
    return mask;
}

static void pins_and_bans(void **state) {
    fixture *f = *state;
    berth_rule pins[] = {{"block2/*", "gpu"}}, bans[] = {{"Relu", "npu"}, {"block1/add", "cpu"}};
    berth_limits limits = {.pins = pins, .n_pins = 1, .bans = bans, .n_bans = 2};
    berth_costs *c = with(f, &limits), *plain = with(f, NULL);
    assert_int_equal(allowed(c, RELU1), 3);
    assert_int_equal(allowed(c, ADD), 6);
    assert_int_equal(allowed(c, MUL), 2);
    assert_int_equal(allowed(c, RELU2), 2);
    for (int32_t op = RELU1; op <= RELU2; op++)
        for (int32_t d = 0; d < 3; d++)
            if (allowed(c, op) >> d & 1) assert_true(berth_costs_op_ms(c, op, d) == berth_costs_op_ms(plain, op, d));
    berth_costs_free(plain);
    berth_costs_free(c);
}

static void contradictions_are_named(void **state) {
    fixture *f = *state;
    berth_rule to_gpu[] = {{"*relu", "gpu"}, {"block2/*", "gpu"}, {"block2/relu", "cpu"}};
    berth_rule from_gpu[] = {{"block1/*", "cpu"}, {"block1/*", "gpu"}}; /* the first says nothing beyond the pin */
    berth_limits limits = {.pins = to_gpu, .n_pins = 2, .bans = from_gpu, .n_bans = 2};
    refuse(f, &limits, BERTH_E_INFEASIBLE,
           "operation 'block1/relu' (Relu) may run nowhere: pinned to gpu, banned from gpu");
    limits = (berth_limits){.pins = to_gpu, .n_pins = 3};
    refuse(f, &limits, BERTH_E_INFEASIBLE,
           "operation 'block2/relu' (Relu) may run nowhere: pinned to gpu, pinned to cpu");
    berth_rule everywhere[] = {{"Add", "npu"}, {"Add", "cpu"}, {"block1/add", "gpu"}};
    limits = (berth_limits){.bans = everywhere, .n_bans = 3};
    refuse(f, &limits, BERTH_E_INFEASIBLE,
           "operation 'block1/add' (Add) may run nowhere: banned from npu, banned from cpu, banned from gpu");
}

static void unsupported_types_count(void **state) {
    fixture *f = *state;
    static const char *const types[] = {"Mul"};
    berth_device devices[3] = {f->set->devices[0], f->set->devices[1], f->set->devices[2]};
    devices[0].unsupported = devices[2].unsupported = types;
    devices[0].n_unsupported = devices[2].n_unsupported = 1;
    berth_device_set own = *f->set;
    own.devices = devices;
    berth_costs *c = make_costs(f->ctx, f->graph, &own, NULL);
    assert_int_equal(allowed(c, MUL), 2);
    assert_int_equal(allowed(c, ADD), 7);
    berth_costs_free(c);
    berth_rule ban = {"Mul", "gpu"};
    berth_limits limits = {.bans = &ban, .n_bans = 1};
    berth_cost_options options = berth_cost_options_default();
    options.limits = &limits;
    refuse_costs(
        f->ctx, f->graph, &own, &options, BERTH_E_INFEASIBLE,
        "operation 'block2/mul' (Mul) may run nowhere: banned from gpu, not supported by cpu, not supported by npu");
}

static void rules_must_mean_something(void **state) {
    fixture *f = *state;
    berth_rule nothing = {"block3/*", "gpu"}, nowhere = {"Relu", "tpu"};
    berth_limits limits = {.pins = &nothing, .n_pins = 1};
    refuse(f, &limits, BERTH_E_ARG, "the pin 'block3/*' matches neither name nor type");
    limits = (berth_limits){.bans = &nothing, .n_bans = 1};
    refuse(f, &limits, BERTH_E_ARG, "the ban 'block3/*' matches");
    limits = (berth_limits){.pins = &nowhere, .n_pins = 1};
    refuse(f, &limits, BERTH_E_ARG, "a pin names the device 'tpu'; there are cpu, gpu, npu");
    limits = (berth_limits){.bans = &nowhere, .n_bans = 1};
    refuse(f, &limits, BERTH_E_ARG, "a ban names the device 'tpu'");
    limits = (berth_limits){.io = &nothing, .n_io = 1};
    refuse(f, &limits, BERTH_E_ARG, "no input or output 'block3/*'");
    berth_rule io = {"x", "tpu"};
    limits = (berth_limits){.io = &io, .n_io = 1};
    refuse(f, &limits, BERTH_E_ARG, "an input or output rule names the device 'tpu'");
    berth_rule inner = {"b", "gpu"}; /* a tensor, but neither input nor output */
    limits = (berth_limits){.io = &inner, .n_io = 1};
    refuse(f, &limits, BERTH_E_ARG, "no input or output 'b'");
}

static void keep(void *user, berth_log_level level, const char *message) {
    if (level == BERTH_LOG_WARNING) snprintf(user, 200, "%s", message);
}

static void constants_cannot_be_pinned(void **state) {
    fixture *f = *state;
    char said[200] = "";
    berth_rule pin = {"folded", "gpu"};
    berth_limits limits = {.pins = &pin, .n_pins = 1};
    berth_ctx_set_log(f->ctx, keep, said);
    berth_costs *c = with(f, &limits);
    berth_ctx_set_log(f->ctx, NULL, NULL);
    assert_non_null(strstr(said, "'folded' matches only constants"));
    berth_costs_free(c);
}

static void memory_rules(void **state) {
    fixture *f = *state;
    berth_memory_rule memory[] = {{"gpu", 100}, {"npu", 0}, {"gpu", 200}};
    berth_limits limits = {.memory = memory, .n_memory = 3};
    berth_costs *c = with(f, &limits);
    assert_true(c->capacity[0] == f->set->devices[0].memory_bytes && c->capacity[1] == 200 && c->capacity[2] == 0);
    berth_costs_free(c);
    memory[1].bytes = -1;
    refuse(f, &limits, BERTH_E_ARG, "the memory of npu must be from 0 to 1e+30 bytes");
    memory[1].bytes = NAN;
    refuse(f, &limits, BERTH_E_ARG, "the memory of npu");
    memory[1] = (berth_memory_rule){"tpu", 1};
    refuse(f, &limits, BERTH_E_ARG, "a memory rule names the device 'tpu'");
}

static int32_t value_of(const berth_costs *c, const char *tensor) {
    for (int32_t v = 0; v < c->n_values; v++)
        if (strcmp(c->graph->tensors[c->value_tensor[v]].name, tensor) == 0) return v;
    fail_msg("no value '%s'", tensor);
    return -1;
}

static void inputs_and_outputs(void **state) {
    fixture *f = *state;
    berth_rule io[] = {{"x", "gpu"}, {"d", "npu"}};
    berth_limits limits = {.io = io, .n_io = 2};
    berth_costs *c = with(f, &limits);
    assert_int_equal(c->value_home[value_of(c, "x")], 1);
    assert_int_equal(c->value_home[value_of(c, "y")], 0);
    assert_int_equal(c->value_target[value_of(c, "d")], 2);
    berth_costs_free(c);
    berth_rule later[] = {{"*", "npu"}, {"y", "host"}, {"d", "cpu"}};
    limits = (berth_limits){.io = later, .n_io = 3};
    c = with(f, &limits);
    assert_int_equal(c->value_home[value_of(c, "x")], 2);
    assert_int_equal(c->value_home[value_of(c, "y")], 0);
    assert_int_equal(c->value_target[value_of(c, "d")], 0);
    assert_int_equal(c->value_target[value_of(c, "a")], -1);
    berth_costs_free(c);
}

/* In an IR a name may be that of the layer. */
static void inputs_of_an_ir(void **state) {
    fixture *f = *state;
    berth_graph *graph = support_read(f->ctx, support_source("tests/golden/cnn.xml"));
    berth_rule io[] = {{"image", "npu"}, {"features", "gpu"}};
    const berth_tensor *output = &graph->tensors[graph->outputs[0]];
    io[1].pattern = output->name;
    berth_limits limits = {.io = io, .n_io = 2};
    berth_cost_options options = berth_cost_options_default();
    options.limits = &limits;
    berth_costs *c = make_costs(f->ctx, graph, f->set, &options);
    assert_int_equal(c->value_home[c->given_values[0]], 2);
    int32_t targets = 0;
    for (int32_t v = 0; v < c->n_values; v++) targets += c->value_target[v] == 1;
    assert_int_equal(targets, 1);
    berth_costs_free(c);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pins_and_bans),
        cmocka_unit_test(contradictions_are_named),
        cmocka_unit_test(unsupported_types_count),
        cmocka_unit_test(rules_must_mean_something),
        cmocka_unit_test(constants_cannot_be_pinned),
        cmocka_unit_test(memory_rules),
        cmocka_unit_test(inputs_and_outputs),
        cmocka_unit_test(inputs_of_an_ir),
    };
    return cmocka_run_group_tests_name("cost.rules", tests, start, stop);
}
