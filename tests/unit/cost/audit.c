/* SPDX-License-Identifier: Apache-2.0 */
/* The validator: it accepts what is built and finds every kind of damage. */
#include "cases.h"

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graph;
    berth_device_set *set;
    berth_costs *costs;
} fixture;

static int start(void **state) {
    static fixture f;
    f = (fixture){0};
    if (berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    f.graph = support_graph(f.ctx, "input x f32 4\n"
                                   "initializer w f32 4\n"
                                   "Relu x -> a f32 4\n"
                                   "Add a w -> b f32 4\n"
                                   "Mul a b -> c f32 4\n"
                                   "output c\n");
    f.set = read_devices(f.ctx, "cpu,gpu");
    f.costs = make_costs(f.ctx, f.graph, f.set, NULL);
    *state = &f;
    return 0;
}

static int stop(void **state) {
    fixture *f = *state;
    berth_costs_free(f->costs);
    berth_device_set_free(f->set);
    berth_graph_free(f->graph);
    berth_ctx_free(f->ctx);
    return 0;
}

static void expect_bad(fixture *f, const char *fragment) {
    assert_int_equal(berth_costs_check(f->ctx, f->costs), BERTH_E_ARG);
    if (!strstr(berth_ctx_message(f->ctx), fragment)) fail_msg("'%s' lacks '%s'", berth_ctx_message(f->ctx), fragment);
}

/* Change one number, see it found, put it back. */
#define DAMAGE(type, where, bad, fragment)                               \
    do {                                                                 \
        type *at = (type *)(uintptr_t) & (f->costs->where);              \
        type kept = *at;                                                 \
        *at = (bad);                                                     \
        expect_bad(f, fragment);                                         \
        *at = kept;                                                      \
        assert_int_equal(berth_costs_check(f->ctx, f->costs), BERTH_OK); \
    } while (0)

static void damage_is_found(void **state) {
    fixture *f = *state;
    int32_t n = f->costs->n_tasks;
    DAMAGE(int32_t, host, 2, "host 2");
    DAMAGE(int32_t, n_devices, 0, "0 devices");
    DAMAGE(double, piece_ms, NAN, "pieces");
    DAMAGE(double, time_ms[1], -1, "takes -1 ms");
    DAMAGE(double, time_ms[3], NAN, "ms");
    DAMAGE(int32_t, task_op[0], 1, "do not name each other");
    DAMAGE(int32_t, value_producer[1], 7, "no such producer");
    DAMAGE(int32_t, value_producer[1], 2, "");
    DAMAGE(int32_t, value_home[0], -1, "has home -1");
    DAMAGE(int32_t, value_home[1], 0, "has home 0");
    DAMAGE(int32_t, value_target[1], 2, "has target 2");
    DAMAGE(double, value_bytes[1], INFINITY, "bytes");
    DAMAGE(int32_t, readers[0], 3, "holds 3");
    DAMAGE(int32_t, reader_start[0], 1, "starts at 1");
    DAMAGE(int32_t, in_values[0], 1, "");
    DAMAGE(int32_t, preds[0], 1, "");
    DAMAGE(int32_t, succs[0], 2, "");
    DAMAGE(int32_t, succ_start[1], 9, "");
    DAMAGE(int32_t, out_values[0], 0, "");
    DAMAGE(int32_t, given_values[0], 1, "missing among the given");
    DAMAGE(int32_t, n_given, 2, "values are given");
    DAMAGE(int32_t, file_order[0], n - 1, "too early");
    DAMAGE(int32_t, file_order[1], f->costs->file_order[0], "no permutation");
    DAMAGE(double, capacity[1], NAN, "no capacity");
    DAMAGE(double, launch_ms[1], INFINITY, "launches");
    DAMAGE(double, copy_fixed[1], NAN, "goes from");
    DAMAGE(double, weight_bytes[0], -1, "weight 0");
    DAMAGE(int32_t, weights[0], 1, "weights");
}

static void a_task_must_run_somewhere(void **state) {
    fixture *f = *state;
    double *times = (double *)(uintptr_t)f->costs->time_ms, kept[2] = {times[0], times[1]};
    times[0] = times[1] = INFINITY;
    expect_bad(f, "runs nowhere");
    times[0] = kept[0], times[1] = kept[1];
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(a_task_must_run_somewhere),
    };
    return cmocka_run_group_tests_name("cost.audit", tests, start, stop);
}
