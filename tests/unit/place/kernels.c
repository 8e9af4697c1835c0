/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of a real model: what a runtime fuses stays together, and what has weights of its own begins anew. */
#include "place/kernels.h"

#include "support.h"

#include <stdlib.h>

/* The operation that makes the first input; -1: none. */
static int32_t producer_of(const berth_graph *graph, int32_t op) {
    int32_t n = 0;
    const int32_t *edges = berth_graph_in_edges(graph, op, &n);
    for (int32_t i = 0; i < n; i++) {
        int32_t from = berth_graph_edge(graph, edges[i])->from;
        if (!(berth_graph_op(graph, from)->flags & BERTH_OP_CONSTANT)) return from;
    }
    return -1;
}

static void biases_belong_to_their_products(void **state) {
    static const char *const models[] = {"models/ir/resnet50.xml", "models/ir/inception_v3.xml",
                                         "models/ir/bert_base.xml"};
    berth_ctx *ctx = *state;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        berth_graph *graph = support_read(ctx, support_source(models[i]));
        berth_device_set *devices = NULL;
        berth_costs *costs = NULL;
        int32_t n = berth_graph_op_count(graph), joined = 0, products = 0;
        int32_t *kernel_of = calloc((size_t)n, sizeof *kernel_of);
        assert_non_null(kernel_of);
        assert_int_equal(berth_device_set_read(ctx, &devices, "cpu,gpu"), BERTH_OK);
        assert_int_equal(berth_costs_new(ctx, &costs, graph, devices, NULL), BERTH_OK);
        assert_int_equal(berth_kernels_find(ctx, costs, kernel_of), BERTH_OK);
        for (int32_t op = 0; op < n; op++) {
            int32_t from = producer_of(graph, op), n_readers = 0;
            if (from < 0) continue;
            const char *type = berth_graph_op(graph, op)->type, *before = berth_graph_op(graph, from)->type;
            (void)berth_graph_out_edges(graph, from, &n_readers);
            products += strcmp(type, "Convolution") == 0;
            if (strcmp(type, "Convolution") == 0) assert_int_not_equal(kernel_of[op], kernel_of[from]);
            if (strcmp(type, "Add") != 0 || n_readers != 1 || strcmp(before, "Convolution") != 0) continue;
            assert_int_equal(kernel_of[op], kernel_of[from]);
            joined++;
        }
        assert_true(strstr(models[i], "bert") || (products > 50 && joined > 50));
        free(kernel_of);
        berth_costs_free(costs);
        berth_device_set_free(devices);
        berth_graph_free(graph);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(biases_belong_to_their_products, support_open, support_close),
    };
    return cmocka_run_group_tests_name("place.kernels", tests, NULL, NULL);
}
