/* SPDX-License-Identifier: Apache-2.0 */
/* The estimate for one operation: which roof holds, in which type it computes, which rate stands in for another. */
#include "cases.h"

#include "cost/roofline.h"

static const berth_device device = {
    .name = "d",
    .kind = "d",
    .flops = {[BERTH_TYPE_F32] = 1e9, [BERTH_TYPE_F16] = 2e9, [BERTH_TYPE_I8] = 4e9, [BERTH_TYPE_U16] = 3e9},
    .bandwidth = 1e8,
    .efficiency = {1, 0.5, 0.25, 0.8, 1, 1, 1, 1, 1, 1},
};

static void roofs(void **state) {
    (void)state;
    berth_op_work work = {.cls = BERTH_WORK_CONV, .known = true, .flops = 1e6};
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 2); /* 1e6 / (1e9 x 0.5) s */
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F16), 1);
    work.parameter_bytes = 100000, work.input_bytes = 20000, work.output_bytes = 30000;
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 3); /* 150000 / (1e8 x 0.5) s */
    work.flops = 1e7;
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 20);
    work.cls = BERTH_WORK_FREE;
    assert_true(berth_roofline_ms(&device, &work, BERTH_TYPE_F32) == 0);
}

static void moving_reads_no_more_than_it_writes(void **state) {
    (void)state;
    berth_op_work work = {.cls = BERTH_WORK_MOVE, .parameter_bytes = 1000000, .input_bytes = 8, .output_bytes = 1000};
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 0.02); /* a row of a table */
    work.output_bytes = 2000000;
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 30.00008);
    work.output_bytes = 0; /* of unknown size */
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 10.00008);
    work.cls = BERTH_WORK_ELEMENTWISE, work.output_bytes = 1000;
    expect_ms(berth_roofline_ms(&device, &work, BERTH_TYPE_F32), 10.01008);
}

static void rates_stand_in(void **state) {
    (void)state;
    berth_device other = device;
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_F16) == 2e9);
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_U8) == 4e9);  /* the signed sibling */
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_I16) == 1e9); /* but no unsigned one */
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_BF16) == 1e9);
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_BOOL) == 1e9);
    assert_true(berth_roofline_rate(&device, BERTH_TYPE_U4) == 1e9);
    other.flops[BERTH_TYPE_F32] = 0;
    assert_true(berth_roofline_rate(&other, BERTH_TYPE_I64) == 0);
    berth_op_work work = {.cls = BERTH_WORK_CONV, .flops = 1};
    assert_true(isinf(berth_roofline_ms(&other, &work, BERTH_TYPE_F64)));
    assert_true(isfinite(berth_roofline_ms(&other, &work, BERTH_TYPE_F16)));
}

static void expect_type(const berth_graph *graph, const char *name, berth_work_class cls, berth_type type) {
    assert_int_equal(berth_roofline_type(graph, &graph->ops[berth_graph_find_op(graph, name)], cls), type);
}

static void types_of_computing(void **state) {
    berth_ctx *ctx = *state;
    berth_graph *graph = support_graph(ctx, "input x u8 2x4\n"
                                            "input h f16 2x4\n"
                                            "input i i64 2\n"
                                            "initializer w i8 4x4\n"
                                            "initializer e f16 9x4\n"
                                            "MatMulInteger x w as product -> y i32 2x4\n"
                                            "Gather e i as lookup -> g f16 2x4\n"
                                            "Cast y as cast -> c f16 2x4\n"
                                            "Greater h c as greater -> b bool 2x4\n"
                                            "Where b h c as where -> z f16 2x4\n"
                                            "Custom z as custom -> q unknown *\n"
                                            "output q\n");
    expect_type(graph, "product", BERTH_WORK_MATMUL, BERTH_TYPE_U8);
    expect_type(graph, "lookup", BERTH_WORK_MOVE, BERTH_TYPE_F16);
    expect_type(graph, "cast", BERTH_WORK_ELEMENTWISE, BERTH_TYPE_F16);
    expect_type(graph, "greater", BERTH_WORK_ELEMENTWISE, BERTH_TYPE_BOOL);
    expect_type(graph, "where", BERTH_WORK_ELEMENTWISE, BERTH_TYPE_F16);
    expect_type(graph, "custom", BERTH_WORK_OTHER, BERTH_TYPE_F32);
    berth_graph_free(graph);
}

/* A device without f32 cannot run what it has no rate for, but what is free. */
static void no_rate_no_run(void **state) {
    berth_ctx *ctx = *state;
    berth_graph *graph = support_graph(ctx, "input x f32 2x3\n"
                                            "initializer s i64 1 = 0600000000000000\n"
                                            "Reshape x s as shape -> y f32 6\n"
                                            "Relu y as relu -> z f32 6\n"
                                            "Cast z as half -> h f16 6\n"
                                            "Relu h as last -> r f16 6\n"
                                            "output r\n");
    berth_device_set *set = read_devices(ctx, "cpu,gpu");
    berth_device devices[2] = {set->devices[0], set->devices[1]};
    devices[1].flops[BERTH_TYPE_F32] = 0;
    berth_device_set without = *set;
    without.devices = devices;
    berth_costs *c = make_costs(ctx, graph, &without, NULL);
    assert_true(berth_costs_op_ms(c, 0, 1) == 0);
    assert_true(isinf(berth_costs_op_ms(c, 1, 1)));
    assert_true(isfinite(berth_costs_op_ms(c, 3, 1)));
    berth_costs_free(c);
    devices[0].flops[BERTH_TYPE_F32] = 0;
    refuse_costs(ctx, graph, &without, NULL, BERTH_E_INFEASIBLE,
                 "operation 'relu' (Relu) may run nowhere: not supported by cpu, not supported by gpu");
    berth_device_set_free(set);
    berth_graph_free(graph);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roofs),          cmocka_unit_test(moving_reads_no_more_than_it_writes),
        cmocka_unit_test(rates_stand_in), cmocka_unit_test(types_of_computing),
        cmocka_unit_test(no_rate_no_run),
    };
    return cmocka_run_group_tests_name("cost.roofline", tests, support_open, support_close);
}
