/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: order, pairs, constant expressions, sizes, and what it refuses. */
#include "graphs.h"

#include "graph/element.h"
#include "graph/graph.h"

#include <stdio.h>
#include <time.h>

static berth_ctx *new_ctx(void) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    return ctx;
}

/* Kahn's method word for word: a list of ready operations, every edge looked at in each step. */
static void naive_order(const berth_graph *graph, int32_t *order) {
    int32_t n_ready = 0, n_edges = graph->n_edges + graph->n_captures;
    bool listed[64] = {false}, done[64] = {false};
    for (int32_t op = 0; op < graph->n_ops; op++) {
        bool source = true;
        for (int32_t e = 0; e < n_edges; e++) source = source && graph->edges[e].to != op;
        if (source) order[n_ready++] = op, listed[op] = true;
    }
    for (int32_t head = 0; head < n_ready; head++) {
        done[order[head]] = true;
        for (int32_t e = 0; e < n_edges; e++) {
            int32_t to = graph->edges[e].to;
            if (graph->edges[e].from != order[head] || listed[to]) continue;
            bool ready = true;
            for (int32_t k = 0; k < n_edges; k++)
                ready = ready && (graph->edges[k].to != to || done[graph->edges[k].from]);
            if (ready) order[n_ready++] = to, listed[to] = true;
        }
    }
    assert_int_equal(n_ready, graph->n_ops);
}

static void order_is_first_in_first_out(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 11;
    for (int round = 0; round < support_cases(2000); round++) {
        support_dag dag = {.n_ops = (int32_t)support_below(&state, 60),
                           .max_inputs = 1 + (int32_t)support_below(&state, 4),
                           .reach = (int32_t)support_below(&state, 8),
                           .shuffled = round % 4 > 0,
                           .captures = round % 3 == 0};
        berth_graph *graph = support_random_dag(ctx, &state, &dag);
        if (berth_graph_check(ctx, graph) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
        int32_t order[64];
        naive_order(graph, order);
        for (int32_t i = 0; i < graph->n_ops; i++) assert_int_equal(graph->order[i], order[i]);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

/* The order of an operation's successors is that of the edges as the file lists them, not that of the operations. */
static void listed_edges_order_successors(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    berth_build *b = NULL;
    assert_int_equal(berth_build_new(ctx, &b, BERTH_FORMAT_OPENVINO_IR, "test"), BERTH_OK);
    for (int i = 0; i < 3; i++) {
        berth_build_op(b, &(berth_op){.name = "n", .type = "T", .domain = ""});
        berth_build_tensor(b, &(berth_tensor){.name = "", .producer = -1, .port = -1, .shape = {.rank = -1}});
    }
    assert_int_equal(berth_build_ports(b, 0, NULL, 0, 0, (int32_t[]){0}, 1), BERTH_OK);
    assert_int_equal(berth_build_ports(b, 1, (int32_t[]){0, 0}, 2, 0, (int32_t[]){1}, 1), BERTH_OK);
    assert_int_equal(berth_build_ports(b, 2, (int32_t[]){0}, 1, 0, (int32_t[]){2}, 1), BERTH_OK);
    berth_build_edge(b, &(berth_edge){.from = 0, .to = 2, .to_port = 0});
    berth_build_edge(b, &(berth_edge){.from = 0, .to = 1, .to_port = 1});
    berth_build_edge(b, &(berth_edge){.from = 0, .to = 1, .to_port = 0});
    berth_graph *graph = NULL;
    assert_int_equal(berth_build_link(b), BERTH_OK);
    assert_int_equal(berth_build_seal(b, &graph), BERTH_OK);
    berth_build_free(b);
    assert_int_equal(berth_graph_check(ctx, graph), BERTH_OK);
    assert_int_equal(graph->order[1], 2);
    assert_int_equal(graph->order[2], 1);
    assert_int_equal(berth_graph_edge_count(graph), 3);
    assert_int_equal(berth_graph_pair_count(graph), 2);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void refuse(berth_ctx *ctx, const char *text, const char *fragment) {
    berth_graph *graph = NULL;
    assert_int_equal(support_graph_build(ctx, &graph, BERTH_FORMAT_OPENVINO_IR, text), BERTH_E_FORMAT);
    assert_null(graph);
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("'%s' does not say '%s'", berth_ctx_message(ctx), fragment);
}

static void what_is_refused(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    refuse(ctx, "A a -> a f32 1\n", "test:1: the graph has a cycle through 'A_0'");
    refuse(ctx, "X -> x f32 1\nA x b -> a f32 1\nB a -> b f32 1\nC b -> c f32 1\n", "test:2: the graph has a cycle");
    refuse(ctx, "A +a -> a f32 1\n", "cycle");
    refuse(ctx, "A x -> a f32 1\n", "test:1: 'A_0' reads 'x', which nothing produces");
    refuse(ctx, "If +x -> a f32 1\n", "nothing produces");
    refuse(ctx, "A -> a f32 1\noutput b\n", "nothing produces the model output 'b'");
    refuse(ctx, "A -> a f32 1\nB -> a f32 1\n", "test:2: 'a' is produced by both 'A_0' and 'B_1'");
    refuse(ctx, "A -> a f32 1 , a f32 1\n", "produced by both");
    refuse(ctx, "input a f32 1\nA -> a f32 1\n", "test:1: 'a' is an input or initializer and also an output");
    refuse(ctx, "A -> a f32 4294967296x2147483648\n", "test:1: the dimensions of 'a' multiply beyond 64 bits");
    refuse(ctx, "input a f64 1099511627776x2097152\nA a -> b f32 1\n", "test:1: the dimensions of 'a'");
    berth_ctx_free(ctx);
}

/* Exactly at the border: 2^63 - 1 is 7^2 x 73 x 127 x 337 x 92737 x 649657. */
static void products_at_the_border(void **unused) {
    (void)unused;
    static const struct {
        const char *shape;
        berth_type type;
        bool fits;
        int64_t bytes;
    } cases[] = {
        {"49x73x127x337x92737x649657", BERTH_TYPE_U8, true, INT64_MAX},
        {"49x73x127x337x92737x649657", BERTH_TYPE_F16, false, 0},
        {"49x73x127x337x92737x649657", BERTH_TYPE_U4, true, 4611686018427387904},
        {"49x73x127x337x92737x649657", BERTH_TYPE_U1, true, 1152921504606846976},
        {"4611686018427387904x2", BERTH_TYPE_U1, false, 0},
        {"4611686018427387904x2", BERTH_TYPE_UNKNOWN, false, 0},
        {"4611686018427387904x2x0", BERTH_TYPE_F32, true, 0},
        {"4611686018427387904x?", BERTH_TYPE_U8, true, -1},
        {"4611686018427387904x?x2", BERTH_TYPE_U8, false, 0},
        {"576460752303423487", BERTH_TYPE_C128, true, 9223372036854775792},
        {"576460752303423488", BERTH_TYPE_C128, false, 0},
        {"3", BERTH_TYPE_U3, true, 2},
        {"9", BERTH_TYPE_U1, true, 2},
        {"11", BERTH_TYPE_U6, true, 9},
        {"scalar", BERTH_TYPE_U2, true, 1},
        {"*", BERTH_TYPE_F32, true, -1},
        {"7", BERTH_TYPE_STRING, true, -1},
    };
    berth_ctx *ctx = new_ctx();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[200];
        snprintf(text, sizeof text, "A -> a %s %s\n", berth_type_name(cases[i].type), cases[i].shape);
        berth_graph *graph = NULL;
        berth_status status = support_graph_build(ctx, &graph, BERTH_FORMAT_ONNX, text);
        assert_int_equal(status, cases[i].fits ? BERTH_OK : BERTH_E_FORMAT);
        if (cases[i].fits) assert_int_equal(graph->tensors[0].bytes, cases[i].bytes);
        if (cases[i].fits) assert_int_equal(berth_graph_check(ctx, graph), BERTH_OK);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

static void constant_expressions(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    berth_graph *graph = support_graph(ctx, "input x f32 2x3\n"
                                            "input d f32 ?x3\n"
                                            "initializer w f32 3x3\n"
                                            "Constant -> c f32 3x3\n"           /* 0: yes */
                                            "Cast w -> wc f16 3x3\n"            /* 1: yes */
                                            "Add c wc -> s f32 3x3\n"           /* 2: yes */
                                            "MatMul x s -> y f32 2x3\n"         /* 3: no */
                                            "Shape x -> xs i64 2\n"             /* 4: yes, static */
                                            "Shape d -> ds i64 2\n"             /* 5: no */
                                            "RandomNormalLike s -> r f32 3x3\n" /* 6: no, random */
                                            "Camera -> i f32 3x3\n"             /* 7: no, unknown source */
                                            "If s +w -> f f32 3x3\n"            /* 8: no, nested */
                                            "Clip s - - -> p f32 3x3\n"         /* 9: yes, ports left out */
                                            "Reshape ds xs -> z f32 *\n");      /* 10: no */
    static const bool expected[] = {true, true, true, false, true, false, false, false, false, true, false};
    for (int32_t op = 0; op < graph->n_ops; op++) {
        assert_int_equal((graph->ops[op].flags & BERTH_OP_CONSTANT) != 0, expected[op]);
        assert_int_equal((graph->tensors[graph->ops[op].outputs[0]].flags & BERTH_TENSOR_CONSTANT) != 0, expected[op]);
    }
    assert_true(graph->ops[6].flags & BERTH_OP_IMPURE);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void accessors(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    berth_graph *graph = support_graph(ctx, "input x f32 2x3\n"
                                            "A x as first -> a f32 2x3 ; k = 1\n"
                                            "If a +x +a as second -> b f32 2x3\n"
                                            "output b\n");
    int32_t n = 0;
    assert_int_equal(berth_graph_op_count(graph), 2);
    assert_int_equal(berth_graph_tensor_count(graph), 3);
    assert_int_equal(berth_graph_edge_count(graph), 1);
    assert_int_equal(berth_graph_capture_count(graph), 1);
    assert_int_equal(berth_graph_pair_count(graph), 1);
    assert_int_equal(berth_graph_edge(graph, 1)->to_port, -1);
    assert_int_equal(berth_graph_out_edges(graph, 0, &n)[1], 1);
    assert_int_equal(n, 2);
    assert_int_equal(berth_graph_in_edges(graph, 1, &n)[0], 0);
    assert_int_equal(n, 2);
    assert_int_equal(berth_graph_inputs(graph, &n)[0], 0);
    assert_int_equal(n, 1);
    assert_string_equal(berth_graph_tensor(graph, berth_graph_outputs(graph, &n)[0])->name, "b");
    assert_int_equal(n, 1);
    assert_int_equal(berth_graph_find_op(graph, "second"), 1);
    assert_int_equal(berth_graph_find_op(graph, "third"), -1);
    assert_int_equal(berth_op_attribute(berth_graph_op(graph, 0), "k")->ints[0], 1);
    assert_null(berth_op_attribute(berth_graph_op(graph, 0), "j"));
    assert_int_equal(berth_graph_order(graph)[1], 1);
    assert_int_equal(berth_graph_rank(graph)[1], 1);
    assert_string_equal(berth_format_name(berth_graph_format(graph)), "onnx");
    assert_string_equal(berth_graph_name(graph), "");
    assert_int_equal(berth_graph_version(graph), 0);
    assert_null(berth_graph_given_costs(graph));
    berth_graph_free(graph);
    berth_graph_free(NULL);
    berth_ctx_free(ctx);
}

static void names_of_types_and_formats(void **unused) {
    (void)unused;
    for (int type = 0; type < BERTH_TYPE_COUNT; type++)
        for (int other = 0; other < type; other++)
            assert_string_not_equal(berth_type_name((berth_type)type), berth_type_name((berth_type)other));
    assert_string_equal(berth_type_name(BERTH_TYPE_COUNT), "unknown");
    assert_int_equal(berth_type_bits(BERTH_TYPE_COUNT), 0);
    static const char *const names[] = {"other", "openvino-ir", "onnx", "msr", "moirai", "dagbench"};
    for (int i = 0; i < 6; i++) assert_string_equal(berth_format_name((berth_format)i), names[i]);
}

static berth_status ladder_run(berth_ctx *ctx, void *user) {
    berth_graph *graph = NULL;
    berth_status status = support_graph_build(ctx, &graph, BERTH_FORMAT_ONNX, user);
    if (status == BERTH_OK) status = berth_graph_check(ctx, graph);
    berth_graph_free(graph);
    return status;
}

static void allocation_failures_are_clean(void **unused) {
    (void)unused;
    static char text[] =
        "input x f32 2x3\ninitializer w f32 1 = 0000803f\nA x w as first -> a f32 2x3 ; k = 1,2 ; s = 'x'\n"
        "If a +x +a as second -> b f32 2x3\noutput b\n";
    assert_true(support_ladder(ladder_run, text, 1) > 10);
}

/* Time that leaves no room for anything quadratic, even under sanitizers. */
static void many_operations(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 1;
    clock_t start = clock();
    support_dag dag = {.n_ops = 200000, .max_inputs = 3, .reach = 50, .shuffled = true};
    berth_graph *graph = support_random_dag(ctx, &state, &dag);
    assert_int_equal(berth_graph_check(ctx, graph), BERTH_OK);
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%d operations, %d edges: %.2f s\n", graph->n_ops, graph->n_edges, seconds);
    assert_true(seconds < 60);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_first_in_first_out),
        cmocka_unit_test(listed_edges_order_successors),
        cmocka_unit_test(what_is_refused),
        cmocka_unit_test(products_at_the_border),
        cmocka_unit_test(constant_expressions),
        cmocka_unit_test(accessors),
        cmocka_unit_test(names_of_types_and_formats),
        cmocka_unit_test(allocation_failures_are_clean),
        cmocka_unit_test(many_operations),
    };
    return cmocka_run_group_tests_name("graph.build", tests, NULL, NULL);
}
