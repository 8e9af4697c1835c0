/* SPDX-License-Identifier: Apache-2.0 */
/* The rule `fused`: that it keeps the graph acyclic whatever the graph (the validator says so on thousands of random
 * ones), that it is no finer than co-location, and what it does to each thing that runtimes fuse or fold. */
#include "graphs.h"

#include "graph/graph.h"

#include <stdio.h>
#include <time.h>

static berth_groups *build(berth_ctx *ctx, const berth_graph *graph, berth_group_rule rule) {
    berth_groups *groups = NULL;
    if (berth_groups_build(ctx, &groups, graph, rule) != BERTH_OK || berth_groups_check(ctx, groups, graph) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return groups;
}

/* Members of each group of `text` as letters: operation 0 is a, 1 is b, ...; groups in order, separated by blanks. */
static void expect_format(berth_format format, const char *text, const char *expected) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = format == BERTH_FORMAT_ONNX ? support_graph(ctx, text) : support_graph_ir(ctx, text);
    berth_groups *groups = build(ctx, graph, BERTH_GROUP_FUSED);
    char got[100], *at = got;
    for (int32_t g = 0; g < groups->n_groups; g++) {
        if (g > 0) *at++ = ' ';
        for (int32_t op = 0; op < graph->n_ops; op++)
            if (groups->group_of[op] == g) *at++ = (char)('a' + op);
    }
    *at = 0;
    assert_string_equal(got, expected);
    berth_groups_free(groups);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void expect(const char *text, const char *expected) {
    expect_format(BERTH_FORMAT_ONNX, text, expected);
}

static void expect_ir(const char *text, const char *expected) {
    expect_format(BERTH_FORMAT_OPENVINO_IR, text, expected);
}

static void convolution_bias_activation(void **unused) {
    (void)unused;
    /* In IR weights and bias are operations of their own: they go along, and the next convolution does not. */
    expect_ir("Parameter -> x f32 1x3x8x8\n"
              "Const -> w16 f16 4x3x1x1\nConvert w16 -> w f32 4x3x1x1\nConvolution x w -> y f32 1x4x8x8\n"
              "Const -> b f32 1x4x1x1\nAdd y b -> z f32 1x4x8x8\nReLU z -> r f32 1x4x8x8\n"
              "Const -> v f32 4x4x1x1\nConvolution r v -> s f32 1x4x8x8\nClamp s -> t f32 1x4x8x8\n"
              "Result t\n",
              "a bcdefg hijk");
    /* Batch norm and scale; a pooling ends the chain even where an addition follows. */
    expect_ir(
        "Parameter -> x f32 1x3x8x8\nConst -> w f32 4x3x1x1\n"
        "Convolution x w -> y f32 1x4x8x8\nBatchNormInference y w -> n f32 1x4x8x8\nMultiply n w -> m f32 1x4x8x8\n"
        "MaxPool m -> p f32 1x4x4x4\nAdd p w -> q f32 1x4x4x4\nReduceMean x w -> o f32 1\nAdd q o -> r f32 1\n",
        "a h bcdef g i");
}

static void residual_addition(void **unused) {
    (void)unused;
    /* x -> conv -> conv -> add(x) -> relu; the convolutions are apart because of their weights. */
    expect_ir("Parameter -> x f32 1x4x8x8\nConst -> w f32 4x4x1x1\nConst -> v f32 4x4x1x1\n"
              "Convolution x w -> y f32 1x4x8x8\nConvolution y v -> z f32 1x4x8x8\n"
              "Add z x -> a f32 1x4x8x8\nReLU a -> r f32 1x4x8x8\nResult r\nResult r\n",
              "a bd cefg h i");
    /* The convolution has another reader: nothing is fused. */
    expect("input x f32 1\ninput u f32 1\ninitializer w f32 1\nConv x w -> y f32 1\nAdd y u -> a f32 1\n"
           "Softmax y -> s f32 1\nMatMul a s -> o f32 1\n",
           "a b c d");
    /* Both sides of the addition end in a convolution that only it reads. */
    expect("input x f32 1\ninitializer w f32 1\nRelu x -> f f32 1\nConv f w -> y f32 1\nConv f w -> z f32 1\n"
           "Add y z -> a f32 1\nRelu a -> r f32 1\n",
           "a bcde");
}

static void patterns(void **unused) {
    (void)unused;
    /* Swish after a convolution. */
    expect("input x f32 1\ninitializer w f32 1\nConv x w -> y f32 1\nSigmoid y -> s f32 1\nMul y s -> m f32 1\n",
           "abc");
    /* Hard swish, written out, of something that is no product. */
    expect("input x f32 1\ninitializer c f32 1\nSoftmax x -> y f32 1\nAdd y c -> a f32 1\nClip a c c -> k f32 1\n"
           "Mul y k -> m f32 1\nDiv m c -> d f32 1\n",
           "a bcde");
    /* GELU after a product with bias. */
    expect("input x f32 1\ninitializer w f32 1\nMatMul x w -> p f32 1\nAdd p w -> y f32 1\nDiv y w -> d f32 1\n"
           "Erf d -> e f32 1\nAdd e w -> a f32 1\nMul y a -> m f32 1\nMul m w -> g f32 1\nMatMul g w -> o f32 1\n",
           "abcdefgh");
    /* Layer norm of a value that is read again later. */
    expect("input x f32 1\ninitializer c f32 1\nSoftmax x -> y f32 1\nReduceMean y -> m f32 1\nSub y m -> s f32 1\n"
           "Pow s c -> p f32 1\nReduceMean p -> v f32 1\nAdd v c -> a f32 1\nSqrt a -> q f32 1\nDiv s q -> d f32 1\n"
           "Mul d c -> g f32 1\nAdd g c -> n f32 1\nGemm n c -> t f32 1\nAdd t y -> o f32 1\n",
           "a bcdefghijkl");
    /* Softmax. */
    expect("input x f32 1\nTranspose x -> y f32 1\nReduceMax y -> m f32 1\nSub y m -> s f32 1\nExp s -> e f32 1\n"
           "ReduceSum e -> t f32 1\nDiv e t -> d f32 1\nTranspose d -> o f32 1\nGather o y -> p f32 1\n",
           "a bcdefg h");
    /* Not closed: a value inside is read outside. */
    expect("input x f32 1\nSoftmax x -> y f32 1\nSigmoid y -> s f32 1\nMul y s -> m f32 1\nTranspose s -> t f32 1\n"
           "Gather m t -> o f32 1\n",
           "a b c d e");
    /* Another cheap reader of the fork does not hide the pattern, nor does a second pattern. */
    expect("input x f32 1\nSoftmax x -> y f32 1\nSigmoid y -> s f32 1\nMul y y -> e f32 1\nMul y s -> m f32 1\n"
           "Tanh y -> t f32 1\nMul t y -> u f32 1\nGather m y -> o f32 1\nGather u y -> p f32 1\n",
           "a c bd ef g h");
}

static void quantisation(void **unused) {
    (void)unused;
    /* Quantize with its producer, Dequantize with its reader; between them lies the border. Two Dequantize read one
     * Quantize, as runtimes arrange it. */
    expect("input x f32 1\ninitializer s f32 scalar\ninitializer w f32 1\n"
           "Softmax x -> p f32 1\nQuantizeLinear p s -> q i8 1\n"
           "DequantizeLinear q s -> d f32 1\nConv d w -> y f32 1\n"
           "DequantizeLinear q s -> e f32 1\nMaxPool e -> z f32 1\n"
           "Concat y z -> o f32 1\n",
           "ab cd ef g");
    /* A Dequantize with readers in two groups stays with the Quantize. */
    expect("input x f32 1\ninitializer s f32 scalar\ninitializer w f32 1\n"
           "Softmax x -> p f32 1\nQuantizeLinear p s -> q i8 1\nTranspose q -> t i8 1\n"
           "DequantizeLinear q s -> d f32 1\nConv d w -> y f32 1\nMaxPool d -> z f32 1\nConcat y z -> o f32 1\n"
           "Transpose t -> u i8 1\n",
           "abd ch e f g");
    /* Weights: constant expressions follow their readers. */
    expect_ir("Parameter -> x f32 1\nConst -> w i8 1\nConvert w -> f f32 1\nConst -> s f32 1\nMultiply f s -> d f32 1\n"
              "Const -> l f32 1\nFakeQuantize x l l l l -> q f32 1\nConvolution q d -> y f32 1\n"
              "FakeQuantize y l l l l -> z f32 1\nResult z\n",
              "a bcdefghij");
    /* Dynamic quantisation: with the product that reads all of it. */
    expect("input x f32 1\ninitializer w i8 1\nSoftmax x -> p f32 1\n"
           "DynamicQuantizeLinear p -> q u8 1 , s f32 scalar , z u8 scalar\n"
           "MatMulInteger q w z -> y i32 1\nCast y -> c f32 1\nMul c s -> m f32 1\nSoftmax p -> o f32 1\n",
           "a f bcde");
}

static void shapes(void **unused) {
    (void)unused;
    /* Shape, Gather, Concat on a dynamic shape end as the argument of Reshape. */
    expect("input x f32 ?x4\ninitializer i i64 scalar\ninitializer r i64 1\n"
           "Softmax x -> y f32 ?x4\nShape y -> s i64 2\nGather s i -> g i64 scalar\nUnsqueeze g -> u i64 1\n"
           "Concat u r -> c i64 2\nMatMul y x -> m f32 *\nReshape m c -> z f32 *\n",
           "a f bcdeg");
    /* Used as data, they are data. */
    expect("input x f32 ?x4\nSoftmax x -> y f32 ?x4\nShape y -> s i64 2\nCast s -> c f32 2\nMul y c -> m f32 *\n"
           "Transpose y -> t f32 *\nGather m t -> z f32 *\n",
           "a e bc d f");
    /* Static: folded, and its edges do not order the groups. */
    expect("input x f32 2x4\nSoftmax x -> y f32 2x4\nShape y -> s i64 2\nTranspose x -> t f32 4x2\n"
           "Reshape t s -> z f32 2x4\nConcat y z -> o f32 4x4\n",
           "a c bd e");
    /* A constant that nothing reads. */
    expect("input x f32 2x4\nConstant -> c f32 1\nSoftmax x -> y f32 2x4\nShape y -> s i64 2\n", "a bc");
}

/* Softmax feeds a Shape that is folded: no edge from its group to that of the Reshape, nor from there to nowhere. */
static void constants_do_not_link_groups(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "input x f32 2x4\nSoftmax x -> y f32 2x4\nShape y -> s i64 2\n"
                                            "Transpose x -> t f32 4x2\nReshape t s -> z f32 2x4\n"
                                            "Reshape z s -> u f32 2x4\nConcat y u -> o f32 4x4\n");
    berth_groups *groups = build(ctx, graph, BERTH_GROUP_FUSED);
    assert_int_equal(groups->n_groups, 5);
    assert_int_equal(groups->group_of[1], groups->group_of[3]);
    assert_int_equal(groups->n_edges, 4);
    static const int32_t ends[][2] = {{0, 5}, {2, 3}, {3, 4}, {4, 5}};
    for (int i = 0; i < 4; i++) {
        bool found = false;
        for (int32_t e = 0; e < 4; e++)
            found |= groups->edges[e].from == groups->group_of[ends[i][0]] &&
                     groups->edges[e].to == groups->group_of[ends[i][1]];
        assert_true(found);
    }
    berth_groups_free(groups);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static const char *const fusible[] = {"Conv",
                                      "Add",
                                      "Mul",
                                      "Relu",
                                      "Sigmoid",
                                      "ReduceMean",
                                      "Sub",
                                      "Div",
                                      "Sqrt",
                                      "Concat",
                                      "Softmax",
                                      "QuantizeLinear",
                                      "DequantizeLinear",
                                      "Shape",
                                      "Unsqueeze",
                                      "Pow",
                                      "Reshape",
                                      "Custom",
                                      "BatchNormalization",
                                      "DynamicQuantizeLinear",
                                      NULL};

/* Whatever the paper's rule joins, this one does, constant expressions aside. */
static void expect_no_finer(const berth_graph *graph, const berth_groups *paper, const berth_groups *fused) {
    for (int32_t g = 0; g < paper->n_groups; g++) {
        int32_t group = -1;
        for (int32_t i = paper->member_start[g]; i < paper->member_start[g + 1]; i++) {
            int32_t op = paper->members[i];
            if (graph->ops[op].flags & BERTH_OP_CONSTANT) continue;
            if (group >= 0) assert_int_equal(fused->group_of[op], group);
            group = fused->group_of[op];
        }
    }
}

/* A constant expression is with the reader that comes first. */
static void expect_constants_placed(const berth_graph *graph, const berth_groups *fused) {
    for (int32_t op = 0; op < graph->n_ops; op++) {
        if (!(graph->ops[op].flags & BERTH_OP_CONSTANT)) continue;
        int32_t first = -1;
        for (int32_t i = 0; i < graph->n_ops && first < 0; i++)
            for (int32_t e = 0; e < graph->n_edges + graph->n_captures; e++)
                if (graph->edges[e].from == op && graph->edges[e].to == graph->order[i]) first = graph->order[i];
        if (first >= 0) assert_int_equal(fused->group_of[op], fused->group_of[first]);
    }
}

static void random_graphs_stay_acyclic(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    uint64_t state = 77;
    int32_t joined = 0, n_ops = 0;
    for (int round = 0; round < support_cases(20000); round++) {
        support_dag dag = {.n_ops = (int32_t)support_below(&state, 50),
                           .max_inputs = 1 + (int32_t)support_below(&state, 3),
                           .reach = 1 + (int32_t)support_below(&state, 6),
                           .constants = (int32_t)support_below(&state, 100),
                           .types = fusible + support_below(&state, 10),
                           .shuffled = round % 2,
                           .captures = round % 5 == 0};
        berth_graph *graph = support_random_dag(ctx, &state, &dag);
        berth_groups *paper = build(ctx, graph, BERTH_GROUP_PAPER), *fused = build(ctx, graph, BERTH_GROUP_FUSED);
        expect_no_finer(graph, paper, fused);
        if (round % 10 == 0) expect_constants_placed(graph, fused);
        joined += graph->n_ops - fused->n_groups;
        n_ops += graph->n_ops;
        berth_groups_free(paper);
        berth_groups_free(fused);
        berth_graph_free(graph);
    }
    assert_true(joined > n_ops / 4 && joined < n_ops * 9 / 10); /* much is joined, but not everything */
    berth_ctx_free(ctx);
}

static void many_operations(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    uint64_t state = 3;
    support_dag dag = {.n_ops = 100000, .max_inputs = 3, .reach = 10, .constants = 50, .types = fusible};
    berth_graph *graph = support_random_dag(ctx, &state, &dag);
    for (int rule = BERTH_GROUP_PAPER; rule <= BERTH_GROUP_FUSED; rule++) {
        clock_t start = clock();
        berth_groups_free(build(ctx, graph, (berth_group_rule)rule));
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        print_message("%s, %d operations: %.2f s\n", berth_group_rule_name((berth_group_rule)rule), dag.n_ops, seconds);
        assert_true(seconds < 20);
    }
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_do_not_link_groups),
        cmocka_unit_test(convolution_bias_activation),
        cmocka_unit_test(residual_addition),
        cmocka_unit_test(patterns),
        cmocka_unit_test(quantisation),
        cmocka_unit_test(shapes),
        cmocka_unit_test(random_graphs_stay_acyclic),
        cmocka_unit_test(many_operations),
    };
    return cmocka_run_group_tests_name("group.fused", tests, NULL, NULL);
}
