/* SPDX-License-Identifier: Apache-2.0 */
/* Counting by type, against a count in nested loops. */
#include "graphs.h"

#include <stdio.h>

static const char *const types[] = {"Relu", "Conv", "Add", "ReluX", "", NULL};

/* A work table with flops of its own for every operation. */
static berth_op_work *make_flops(int32_t n) {
    berth_op_work *ops = calloc((size_t)n + 1, sizeof *ops);
    for (int32_t i = 0; i < n; i++) ops[i].flops = (double)(1 << (i % 20));
    return ops;
}

static void agree(const berth_graph *graph, const berth_op_work *ops, const berth_census *census) {
    int32_t n_ops = berth_graph_op_count(graph), counted = 0;
    for (int32_t t = 0; t < census->n_types; t++) {
        const berth_census_row *row = &census->rows[t];
        int32_t n = 0;
        double flops = 0;
        for (int32_t op = 0; op < n_ops; op++) {
            if (strcmp(berth_graph_op(graph, op)->type, row->type) != 0) continue;
            n++;
            flops += ops[op].flops;
        }
        assert_int_equal(row->n_ops, n);
        assert_true(row->flops == flops);
        assert_true(t == 0 || strcmp(census->rows[t - 1].type, row->type) < 0);
        counted += n;
    }
    assert_int_equal(counted, n_ops);
}

static void random_graphs(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    uint64_t seed = 7;
    for (int32_t n = 1; n < 200; n = n * 2 + 1) {
        support_dag dag = {.n_ops = n, .max_inputs = 3, .constants = 30, .types = types, .shuffled = true};
        berth_graph *graph = support_random_dag(ctx, &seed, &dag);
        berth_op_work *ops = make_flops(n);
        berth_census *census = NULL;
        assert_int_equal(berth_census_build(ctx, &census, graph, &(berth_work){.n_ops = n, .ops = ops}), BERTH_OK);
        agree(graph, ops, census);
        berth_census_free(census);
        berth_graph_free(graph);
        free(ops);
    }
    berth_ctx_free(ctx);
}

static void no_operations(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "input x f32 1\noutput x\n");
    berth_census *census = NULL;
    assert_int_equal(berth_census_build(ctx, &census, graph, &(berth_work){0}), BERTH_OK);
    assert_int_equal(census->n_types, 0);
    berth_census_free(census);
    berth_census_free(NULL);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static berth_status count_many(berth_ctx *ctx, void *user) {
    berth_graph *graph = NULL;
    berth_census *census = NULL;
    berth_op_work *ops = make_flops(100);
    berth_status status = support_graph_build(ctx, &graph, BERTH_FORMAT_ONNX, user);
    if (status == BERTH_OK) status = berth_census_build(ctx, &census, graph, &(berth_work){.n_ops = 100, .ops = ops});
    if (status != BERTH_OK) assert_null(census);
    berth_census_free(census);
    berth_graph_free(graph);
    free(ops);
    return status;
}

static void memory_ladder(void **state) {
    (void)state;
    char text[4096] = "input v0 f32 1\n";
    for (int i = 0; i < 100; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "T%d v%d -> v%d f32 1\n", i % 50, i, i + 1);
    }
    assert_true(support_ladder(count_many, text, 1) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),
        cmocka_unit_test(no_operations),
        cmocka_unit_test(memory_ladder),
    };
    return cmocka_run_group_tests_name("graph.census", tests, NULL, NULL);
}
