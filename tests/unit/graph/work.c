/* SPDX-License-Identifier: Apache-2.0 */
/* Work: every kind of formula against numbers worked out by hand (in the comments), totals, the table's order, and the
 * published figures of whole models. */
#include "graphs.h"

#include "graph/graph.h"
#include "graph/kind.h"

static berth_work *compute(berth_ctx *ctx, const berth_graph *graph) {
    berth_work *work = NULL;
    if (berth_work_compute(ctx, &work, graph) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return work;
}

typedef struct expectation {
    const char *text;
    berth_work_class cls;
    double flops; /* of the last operation; -1: not known */
} expectation;

static void expect(berth_format format, const expectation *cases, size_t n) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < n; i++) {
        berth_graph *graph =
            format == BERTH_FORMAT_ONNX ? support_graph(ctx, cases[i].text) : support_graph_ir(ctx, cases[i].text);
        berth_work *work = compute(ctx, graph);
        const berth_op_work *last = &work->ops[graph->n_ops - 1];
        if (last->cls != cases[i].cls || last->known != (cases[i].flops >= 0) ||
            (last->known ? last->flops != cases[i].flops : last->flops != 0))
            fail_msg("case %zu: %s %s %.17g instead of %s %.17g\n%s", i, berth_work_class_name(last->cls),
                     last->known ? "known" : "unknown", last->flops, berth_work_class_name(cases[i].cls),
                     cases[i].flops, cases[i].text);
        berth_work_free(work);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

#define EXPECT_ONNX(...)                                          \
    expect(BERTH_FORMAT_ONNX, (const expectation[]){__VA_ARGS__}, \
           sizeof((const expectation[]){__VA_ARGS__}) / sizeof(expectation))
#define EXPECT_IR(...)                                                   \
    expect(BERTH_FORMAT_OPENVINO_IR, (const expectation[]){__VA_ARGS__}, \
           sizeof((const expectation[]){__VA_ARGS__}) / sizeof(expectation))

static void convolutions(void **unused) {
    (void)unused;
    EXPECT_ONNX(
        /* 4x6x6 outputs, 3x3x3 weights each */
        {"input x f32 1x3x8x8\ninitializer w f32 4x3x3x3\nConv x w -> y f32 1x4x6x6\n", BERTH_WORK_CONV, 2 * 144 * 27},
        {"input x f32 1x3x8x8\ninitializer w f32 4x3x3x3\ninitializer b f32 4\nConv x w b -> y f32 1x4x6x6\n",
         BERTH_WORK_CONV, 2 * 144 * 27 + 144},
        /* two groups: each output reads half of the channels */
        {"input x f32 1x4x8x8\ninitializer w f32 4x2x3x3\nConv x w -> y f32 1x4x6x6 ; group = 2\n", BERTH_WORK_CONV,
         2 * 144 * 18},
        {"input x f32 1x4x8x8\ninitializer w f32 8x1x3x3\nConv x w -> y f32 1x8x6x6 ; group = 4\n",
         BERTH_WORK_DEPTHWISE, 2 * 288 * 9},
        /* one channel in all is an ordinary convolution */
        {"input x f32 1x1x8x8\ninitializer w f32 4x1x3x3\nConv x w -> y f32 1x4x6x6 ; group = 1\n", BERTH_WORK_CONV,
         2 * 144 * 9},
        {"input x f32 1x3x8\ninitializer w f32 4x3x3\nConv x w -> y f32 1x4x6\n", BERTH_WORK_CONV, 2 * 24 * 9},
        /* each of 3x4x4 inputs is spread over 5x2x2 outputs */
        {"input x f32 1x3x4x4\ninitializer w f32 3x5x2x2\nConvTranspose x w -> y f32 1x5x8x8\n", BERTH_WORK_CONV,
         2 * 48 * 20},
        {"input x u8 1x3x8x8\ninitializer s f32 scalar\ninitializer z u8 scalar\ninitializer w i8 4x3x3x3\n"
         "initializer b i32 4\nQLinearConv x s z w s z s z b -> y u8 1x4x6x6\n",
         BERTH_WORK_CONV, 2 * 144 * 27 + 144},
        {"input x u8 1x3x8x8\ninitializer z u8 scalar\ninitializer w u8 4x3x3x3\nConvInteger x w z -> y i32 1x4x6x6\n",
         BERTH_WORK_CONV, 2 * 144 * 27},
        {"input x f32 1x8x8x3\ninitializer w f32 4x3x3x3\ncom.microsoft:NhwcConv x w -> y f32 1x6x6x4\n",
         BERTH_WORK_CONV, 2 * 144 * 27},
        {"input x f32 ?x3x8x8\ninitializer w f32 4x3x3x3\nConv x w -> y f32 ?x4x6x6\n", BERTH_WORK_CONV, -1});
    EXPECT_IR(
        {"Parameter -> x f32 1x3x8x8\nConst -> w f32 4x3x3x3\nopset1:Convolution x w -> y f32 1x4x6x6\n",
         BERTH_WORK_CONV, 2 * 144 * 27},
        {"Parameter -> x f32 1x4x8x8\nConst -> w f32 2x3x2x3x3\nopset1:GroupConvolution x w -> y f32 1x6x6x6\n",
         BERTH_WORK_CONV, 2 * 216 * 18},
        {"Parameter -> x f32 1x4x8x8\nConst -> w f32 4x1x1x3x3\nopset1:GroupConvolution x w -> y f32 1x4x6x6\n",
         BERTH_WORK_DEPTHWISE, 2 * 144 * 9},
        {"Parameter -> x f32 1x3x4x4\nConst -> w f32 3x5x2x2\nConvolutionBackpropData x w -> y f32 1x5x8x8\n",
         BERTH_WORK_CONV, 2 * 48 * 20},
        {"Parameter -> x f32 1x4x4x4\nConst -> w f32 2x2x3x2x2\nGroupConvolutionBackpropData x w -> y f32 1x6x8x8\n",
         BERTH_WORK_CONV, 2 * 64 * 12},
        {"Parameter -> x f32 1x3x8x8\nParameter -> o f32 1x18x6x6\nConst -> w f32 4x3x3x3\n"
         "DeformableConvolution x o w -> y f32 1x4x6x6\n",
         BERTH_WORK_CONV, 2 * 144 * 27},
        /* versions 4 to 7: no weights at a port */
        {"Input -> x f32 1x4x8x8\nConvolution x -> y f32 1x6x6x6 ; kernel = '3,3' ; output = '6' ; group = '2'\n",
         BERTH_WORK_CONV, 2 * 216 * 18},
        {"Input -> x f32 1x4x8x8\n"
         "Convolution x -> y f32 1x4x6x6 ; kernel-x = '3' ; kernel-y = '3' ; output = '4' ; group = '4'\n",
         BERTH_WORK_DEPTHWISE, 2 * 144 * 9},
        {"Input -> x f32 1x3x4x4\nDeconvolution x -> y f32 1x5x8x8 ; kernel = '2,2' ; output = '5' ; group = '1'\n",
         BERTH_WORK_CONV, 2 * 48 * 20},
        {"Input -> x f32 1x4x8x8\nConvolution x -> y f32 1x6x6x6 ; kernel = 'three' ; output = '6'\n", BERTH_WORK_CONV,
         -1});
}

static void products(void **unused) {
    (void)unused;
    EXPECT_ONNX(
        {"input a f32 2x3x4\ninput b f32 4x5\nMatMul a b -> y f32 2x3x5\n", BERTH_WORK_MATMUL, 2 * 30 * 4},
        /* batches are broadcast: 7 x 2 products of 3x4 with 4x5 */
        {"input a f32 7x1x3x4\ninput b f32 2x4x5\nMatMul a b -> y f32 7x2x3x5\n", BERTH_WORK_MATMUL, 2 * 14 * 15 * 4},
        {"input a f32 4\ninput b f32 4\nMatMul a b -> y f32 scalar\n", BERTH_WORK_MATMUL, 8},
        {"input a f32 4x3\ninput b f32 4x5\ncom.microsoft:FusedMatMul a b -> y f32 3x5 ; transA = 1\n",
         BERTH_WORK_MATMUL, 2 * 15 * 4},
        {"input a f32 3x4\ninput b f32 4x5\nGemm a b -> y f32 3x5\n", BERTH_WORK_MATMUL, 2 * 15 * 4},
        {"input a f32 4x3\ninput b f32 5x4\ninitializer c f32 5\nGemm a b c -> y f32 3x5 ; transA = 1 ; transB = 1\n",
         BERTH_WORK_MATMUL, 2 * 15 * 4 + 15},
        {"input a u8 3x4\ninitializer b u8 4x5\nMatMulInteger a b -> y i32 3x5\n", BERTH_WORK_MATMUL, 2 * 15 * 4},
        {"input a f32 3x32\ninitializer b u8 5x1x16\ncom.microsoft:MatMulNBits a b -> y f32 3x5 ; K = 32 ; N = 5\n",
         BERTH_WORK_MATMUL, 2 * 15 * 32},
        {"input a f32 ?x4\ninput b f32 4x5\nMatMul a b -> y f32 ?x5\n", BERTH_WORK_MATMUL, -1});
    EXPECT_IR(
        {"Parameter -> a f32 4x3\nConst -> b f32 5x4\n"
         "MatMul a b -> y f32 3x5 ; transpose_a = 'true' ; transpose_b = 'true'\n",
         BERTH_WORK_MATMUL, 2 * 15 * 4},
        {"Parameter -> a f32 3x4\nConst -> b f32 4x5\nMatMul a b -> y f32 3x5 ; transpose_a = 'false'\n",
         BERTH_WORK_MATMUL, 2 * 15 * 4},
        {"Parameter -> a f32 4x3\nConst -> b f32 4x5\nMatMul a b -> y f32 3x5 ; transpose_a = '1'\n", BERTH_WORK_MATMUL,
         2 * 15 * 4},
        {"Input -> x f32 2x3x4\nFullyConnected x -> y f32 2x5 ; out-size = '5'\n", BERTH_WORK_MATMUL, 2 * 10 * 12});
}

static void einsum(void **unused) {
    (void)unused;
    EXPECT_ONNX(
        {"input a f32 2x3\ninput b f32 3x4\nEinsum a b -> y f32 2x4 ; equation = 'ij,jk->ik'\n", BERTH_WORK_MATMUL,
         2 * 24},
        {"input a f32 5x2x3\ninput b f32 5x3x4\nEinsum a b -> y f32 5x2x4 ; equation = 'bij, bjk -> bik'\n",
         BERTH_WORK_MATMUL, 2 * 120},
        {"input a f32 7x5x2x3\ninput b f32 3x4\nEinsum a b -> y f32 7x5x2x4 ; equation = '...ij,jk->...ik'\n",
         BERTH_WORK_MATMUL, 2 * 35 * 24},
        /* nothing is summed: one multiplication each */
        {"input a f32 2\ninput b f32 3\nEinsum a b -> y f32 2x3 ; equation = 'i,j->ij'\n", BERTH_WORK_MATMUL, 6},
        {"input a f32 2x3\nEinsum a -> y f32 2 ; equation = 'ij->i'\n", BERTH_WORK_MATMUL, 6},
        {"input a f32 2x3\nEinsum a -> y f32 3x2 ; equation = 'ij->ji'\n", BERTH_WORK_MATMUL, 0},
        {"input a f32 2x3\nEinsum a -> y f32 3x2 ; equation = 'ijk->ji'\n", BERTH_WORK_MATMUL, -1},
        {"input a f32 2x3\nEinsum a -> y f32 3x2 ; equation = 'i$->i'\n", BERTH_WORK_MATMUL, -1},
        {"input a f32 2x3\nEinsum a -> y f32 3x2\n", BERTH_WORK_MATMUL, -1},
        {"input a f32 2x?\nEinsum a -> y f32 2 ; equation = 'ij->i'\n", BERTH_WORK_MATMUL, -1});
}

static void recurrent_cells(void **unused) {
    (void)unused;
    EXPECT_ONNX(
        /* 6 steps x 2 sequences, both directions: W 2x(4x5)x3 and R 2x(4x5)x5 */
        {"input x f32 6x2x3\ninitializer w f32 2x20x3\ninitializer r f32 2x20x5\nLSTM x w r -> y f32 6x2x2x5\n",
         BERTH_WORK_MATMUL, 2 * 12 * (120 + 200)},
        {"input x f32 6x2x3\ninitializer w f32 1x15x3\ninitializer r f32 1x15x5\nGRU x w r -> y f32 6x1x2x5\n",
         BERTH_WORK_MATMUL, 2 * 12 * (45 + 75)},
        {"input x f32 6x2x3\ninitializer w f32 1x5x3\ninitializer r f32 1x5x5\nRNN x w r -> y f32 6x1x2x5\n",
         BERTH_WORK_MATMUL, 2 * 12 * (15 + 25)});
    EXPECT_IR({"Parameter -> x f32 2x6x3\nParameter -> h f32 2x1x5\nParameter -> n i32 2\nConst -> w f32 1x20x3\n"
               "Const -> r f32 1x20x5\nLSTMSequence x h h n w r -> y f32 2x1x6x5\n",
               BERTH_WORK_MATMUL, 2 * 12 * (60 + 100)},
              {"Parameter -> x f32 2x3\nParameter -> h f32 2x5\nConst -> w f32 20x3\nConst -> r f32 20x5\n"
               "LSTMCell x h h w r -> y f32 2x5\n",
               BERTH_WORK_MATMUL, 2 * 2 * (60 + 100)},
              {"Parameter -> x f32 2x3\nParameter -> h f32 2x5\nConst -> w f32 15x3\nConst -> r f32 15x5\n"
               "GRUCell x h w r -> y f32 2x5\n",
               BERTH_WORK_MATMUL, 2 * 2 * (45 + 75)});
}

static void attention(void **unused) {
    (void)unused;
    EXPECT_IR({"Parameter -> q f32 2x8x10x4\nParameter -> k f32 2x8x20x4\nParameter -> v f32 2x8x20x6\n"
               "ScaledDotProductAttention q k v -> y f32 2x8x10x6\n",
               BERTH_WORK_MATMUL, 2.0 * 2 * 8 * 10 * 20 * (4 + 6)},
              {"Parameter -> q f32 2x10x4\nParameter -> k f32 2x20x4\nParameter -> v f32 2x20x6\n"
               "ScaledDotProductAttention q k v -> y f32 2x10x6\n",
               BERTH_WORK_MATMUL, 2.0 * 2 * 10 * 20 * (4 + 6)});
    EXPECT_ONNX({"input q f32 2x10x32\ninput k f32 2x20x32\ninput v f32 2x20x48\n"
                 "Attention q k v -> y f32 2x10x48 ; q_num_heads = 8 ; kv_num_heads = 8\n",
                 BERTH_WORK_MATMUL, 2.0 * 2 * 10 * 20 * (32 + 48)},
                {"input q f32 2x10x32\ninput k f32 2x20x32\ninput v f32 2x20x48\n"
                 "com.microsoft:MultiHeadAttention q k v -> y f32 2x10x48 ; num_heads = 8\n",
                 BERTH_WORK_MATMUL, 2.0 * 2 * 10 * 20 * (32 + 48)},
                {"input q f32 2x10x8x3x4\ncom.microsoft:MultiHeadAttention q -> y f32 2x10x32 ; num_heads = 8\n",
                 BERTH_WORK_MATMUL, 2.0 * 2 * 10 * 10 * 64},
                {"input q f32 2x10x32\ninput k f32 2x20x8x2x4\n"
                 "com.microsoft:MultiHeadAttention q k -> y f32 2x10x32 ; num_heads = 8\n",
                 BERTH_WORK_MATMUL, 2.0 * 2 * 10 * 20 * 64},
                /* one new token, 100 in the cache afterwards */
                {"input q f32 1x1x32\ninput k f32 1x1x16\ninput v f32 1x1x16\n"
                 "com.microsoft:GroupQueryAttention q k v -> y f32 1x1x32 , c f32 1x4x100x4 , d f32 1x4x100x4\n",
                 BERTH_WORK_MATMUL, 2.0 * 100 * 64},
                /* projection 32 -> 3x32, then 10 keys */
                {"input x f32 2x10x32\ninitializer w f32 32x96\ncom.microsoft:Attention x w -> y f32 2x10x32\n",
                 BERTH_WORK_MATMUL, 2.0 * 20 * (32 * 96 + 10 * 64)});
}

static void passes_over_the_data(void **unused) {
    (void)unused;
    EXPECT_ONNX(
        {"input x f32 1x3x8x8\nMaxPool x -> y f32 1x3x4x4 ; kernel_shape = 2,2\n", BERTH_WORK_POOL, 48 * 4},
        {"input x f32 1x3x8x8\nGlobalAveragePool x -> y f32 1x3x1x1\n", BERTH_WORK_POOL, 192},
        {"input x f32 2x3\nReduceMean x -> y f32 2\n", BERTH_WORK_REDUCE, 6},
        {"input x f32 2x3\nSoftmax x -> y f32 2x3\n", BERTH_WORK_REDUCE, 30},
        {"input x f32 2x3\ninitializer s f32 3\nLayerNormalization x s -> y f32 2x3\n", BERTH_WORK_REDUCE, 48},
        {"input x f32 2x3\ninitializer s f32 3\nBatchNormalization x s s s s -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE,
         12},
        {"input x f32 2x3\nRelu x -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE, 6},
        {"input a f32 2x1\ninput b f32 3\nAdd a b -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE, 6},
        {"input a f32 2x3\nSum a a a a -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE, 18},
        {"input a f32 2x3\nSum a -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE, 6},
        {"input a f32 2x3\nTranspose a -> y f32 3x2\n", BERTH_WORK_MOVE, 0},
        {"input a f32 2x3\nConcat a a -> y f32 4x3\n", BERTH_WORK_MOVE, 0},
        {"input a f32 ?x3\nTranspose a -> y f32 3x?\n", BERTH_WORK_MOVE, 0},
        {"input a f32 2x3\nReshape a - -> y f32 6\n", BERTH_WORK_FREE, 0},
        {"input a f32 2x3\nIdentity a -> y f32 6\n", BERTH_WORK_FREE, 0}, {"Constant -> y f32 6\n", BERTH_WORK_FREE, 0},
        {"initializer w f32 6\nRelu w -> y f32 6\n", BERTH_WORK_FREE, 0}, /* a constant expression does no work */
        {"input a f32 2x3\nIf a +a -> y f32 6\n", BERTH_WORK_CONTROL, -1},
        {"input a f32 2x3\nMystery a -> y f32 6\n", BERTH_WORK_OTHER, -1},
        {"input a f32 2x3\nmy.domain:Relu a -> y f32 6\n", BERTH_WORK_OTHER, -1},
        {"input a f32 ?x3\nRelu a -> y f32 ?x3\n", BERTH_WORK_ELEMENTWISE, -1},
        {"input a f32 0x3\nRelu a -> y f32 0x3\n", BERTH_WORK_ELEMENTWISE, 0});
    EXPECT_IR({"Parameter -> x f32 1x3x8x8\nAvgPool x -> y f32 1x3x4x4 ; kernel = '2, 2'\n", BERTH_WORK_POOL, 48 * 4},
              {"Input -> x f32 1x3x8x8\nPooling x -> y f32 1x3x4x4 ; kernel-x = '2' ; kernel-y = '3'\n",
               BERTH_WORK_POOL, 48 * 6},
              {"Input -> x f32 2x3\nScaleShift x -> y f32 2x3\n", BERTH_WORK_ELEMENTWISE, 12},
              {"Input -> x f32 2x3\nPermute x -> y f32 3x2\n", BERTH_WORK_MOVE, 0},
              {"Parameter -> x f32 2x3\nResult x\n", BERTH_WORK_FREE, 0},
              {"Parameter -> x f32 2x3\nextension:ReLU x -> y f32 2x3\n", BERTH_WORK_OTHER, -1});
}

static void bytes_of_operations(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "input x f32 2x3\n"
                                            "input d f32 ?x3\n"
                                            "initializer w f16 3x5\n"
                                            "initializer v f32 3x5\n"
                                            "Cast w -> c f32 3x5\n"
                                            "MatMul x c -> y f32 2x5\n"
                                            "Custom x x v v y d -> a f32 4 , b u4 3\n"
                                            "If y +x +v -> r f32 1\n");
    berth_work *work = compute(ctx, graph);
    static const int64_t expected[][3] = {
        {0, 0, 0},         /* a constant expression */
        {60, 24, 40},      /* the constant as it is read, after the cast */
        {60, 24 + 40, 18}, /* each tensor once; unknown sizes as nothing; packed elements */
        {60, 40 + 24, 4},  /* captures */
    };
    for (int i = 0; i < 4; i++) {
        assert_int_equal(work->ops[i].parameter_bytes, expected[i][0]);
        assert_int_equal(work->ops[i].input_bytes, expected[i][1]);
        assert_int_equal(work->ops[i].output_bytes, expected[i][2]);
    }
    assert_int_equal(work->n_ops, 4);
    assert_int_equal(work->parameter_bytes, 30 + 60); /* as stored, each once */
    assert_int_equal(work->parameters, 30);
    assert_int_equal(work->activation_bytes, 24 + 40 + 18 + 4);
    assert_int_equal(work->unknown_shapes, 1);
    assert_true(work->flops == 2 * 10 * 3);
    assert_int_equal(work->n_unknown_types, 1);
    assert_string_equal(work->unknown_types[0], "Custom");
    berth_work_free(work);
    berth_work_free(NULL);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

/* Quantised weights count, through constant expressions; shapes, indices and zero points do not. */
static void parameters_that_are_integers(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "input x f32 2x8\n"
                                            "initializer w i8 40\n" /* 40 */
                                            "initializer shape i64 2\n"
                                            "initializer scale f32 5\n" /* 5 */
                                            "initializer zero i8 5\n"
                                            "initializer table i64 100\n"
                                            "initializer one i8 scalar\n"
                                            "initializer z u8 4x4\n" /* 16 */
                                            "Reshape w shape -> r i8 8x5\n"
                                            "DequantizeLinear r scale zero -> d f32 8x5\n"
                                            "MatMul x d -> y f32 2x5\n"
                                            "Gather y table -> g f32 100x5\n"
                                            "MatMulInteger x z one -> m i32 2x4\n");
    berth_work *work = compute(ctx, graph);
    assert_int_equal(work->parameters, 40 + 5 + 16);
    berth_work_free(work);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void sums_do_not_overflow(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph =
        support_graph(ctx, "input x u8 4611686018427387904\ninput y u8 4611686018427387904\n"
                           "initializer w f32 1152921504606846976\n"
                           "initializer v f32 1152921504606846976\n"
                           "Add x y -> z u8 4611686018427387904\nAdd w v -> u u8 1\nAdd z w -> o f32 1\n"
                           "Custom x y z w v -> p f32 1\n");
    berth_work *work = compute(ctx, graph);
    assert_int_equal(work->activation_bytes, INT64_MAX);
    assert_int_equal(work->parameter_bytes, INT64_MAX);
    assert_int_equal(work->ops[3].input_bytes, INT64_MAX);
    assert_int_equal(work->parameters, 2305843009213693952);
    berth_work_free(work);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

/* IR before version 10: weights inside the operation. */
static void blobs(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph_ir(ctx, "Input -> x f16 1x4x8x8\n"
                                               "Convolution x -> y f16 1x6x6x6 ; kernel = '3,3' ; output = '6'\n"
                                               "LSTMCell y -> z f16 1x5\n");
    graph->ops[1].blob_bytes = 444; /* 6x4x3x3 and 6 biases of two bytes */
    graph->ops[2].blob_bytes = 200;
    berth_work *work = compute(ctx, graph);
    assert_int_equal(work->parameters, 222 + 100);
    assert_int_equal(work->parameter_bytes, 644);
    assert_int_equal(work->ops[1].parameter_bytes, 444);
    assert_true(work->ops[2].flops == 2 * 36 * 100);
    berth_work_free(work);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

static void unknown_types_are_listed_once(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph = support_graph(ctx, "input x f32 1\nZeta x -> a f32 1\nAlpha x -> b f32 1\nZeta x -> c f32 1\n"
                                            "Mid x -> d f32 1\nRelu x -> e f32 1\n");
    berth_work *work = compute(ctx, graph);
    assert_int_equal(work->n_unknown_types, 3);
    assert_string_equal(work->unknown_types[0], "Alpha");
    assert_string_equal(work->unknown_types[1], "Mid");
    assert_string_equal(work->unknown_types[2], "Zeta");
    berth_graph_free(graph); /* the work does not need it */
    assert_string_equal(work->unknown_types[2], "Zeta");
    berth_work_free(work);
    berth_ctx_free(ctx);
}

/* The search relies on the order; a name with two rows must not claim one domain twice. */
static void the_table_is_sorted(void **unused) {
    (void)unused;
    size_t n = 0;
    const berth_kind *kinds = berth_kind_table(&n);
    assert_true(n > 300);
    for (size_t i = 1; i < n; i++) {
        int side = strcmp(kinds[i - 1].type, kinds[i].type);
        if (side > 0) fail_msg("%s stands behind %s", kinds[i].type, kinds[i - 1].type);
        if (side == 0 && (kinds[i - 1].spaces & kinds[i].spaces)) fail_msg("%s is there twice", kinds[i].type);
    }
}

static void class_names(void **unused) {
    (void)unused;
    for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++)
        for (int other = 0; other < cls; other++)
            assert_string_not_equal(berth_work_class_name((berth_work_class)cls),
                                    berth_work_class_name((berth_work_class)other));
}

static void within(double value, double expected, double part) {
    if (!(value >= expected * (1 - part) && value <= expected * (1 + part)))
        fail_msg("%g instead of %g", value, expected);
}

static void published_figures(void **unused) {
    (void)unused;
    static const struct {
        const char *path;
        double parameters, flops, part;
    } models[] = {
        {"models/ir/resnet50.xml", 25.6e6, 8.2e9, 0.01},    {"models/ir/inception_v3.xml", 23.8e6, 11.4e9, 0.02},
        {"models/ir/bert_base.xml", 109.5e6, 22.4e9, 0.03}, {"models/resnet50.onnx", 25.6e6, 8.2e9, 0.01},
        {"models/inception_v3.onnx", 23.8e6, 11.4e9, 0.02}, {"models/bert_base.onnx", 109.5e6, 22.4e9, 0.03},
        {"models/vit_base.onnx", 86.4e6, 35.2e9, 0.02},     {"models/mobilenet_v3_large.onnx", 5.48e6, 0.44e9, 0.02},
        {"models/densenet121.onnx", 7.98e6, 5.7e9, 0.02},   {"models/googlenet.onnx", 6.62e6, 3.0e9, 0.02},
    };
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        berth_graph *graph = support_read(ctx, support_source(models[i].path));
        berth_work *work = compute(ctx, graph);
        within((double)work->parameters, models[i].parameters, models[i].part);
        within(work->flops, models[i].flops, models[i].part);
        assert_int_equal(work->unknown_shapes, 0);
        assert_int_equal(work->n_unknown_types, 0);
        berth_work_free(work);
        berth_graph_free(graph);
    }
    berth_ctx_free(ctx);
}

static berth_status ladder_run(berth_ctx *ctx, void *user) {
    berth_work *work = NULL;
    berth_status status = berth_work_compute(ctx, &work, user);
    berth_work_free(work);
    return status;
}

static void allocation_failures_are_clean(void **unused) {
    (void)unused;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_graph *graph =
        support_graph(ctx, "input x f32 1\nZeta x -> a f32 1\nAlpha x -> b f32 1\nRelu x -> e f32 1\n");
    assert_true(support_ladder(ladder_run, graph, 1) > 4);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(products),
        cmocka_unit_test(einsum),
        cmocka_unit_test(recurrent_cells),
        cmocka_unit_test(attention),
        cmocka_unit_test(passes_over_the_data),
        cmocka_unit_test(bytes_of_operations),
        cmocka_unit_test(parameters_that_are_integers),
        cmocka_unit_test(sums_do_not_overflow),
        cmocka_unit_test(blobs),
        cmocka_unit_test(unknown_types_are_listed_once),
        cmocka_unit_test(the_table_is_sorted),
        cmocka_unit_test(class_names),
        cmocka_unit_test(published_figures),
        cmocka_unit_test(allocation_failures_are_clean),
    };
    return cmocka_run_group_tests_name("graph.work", tests, NULL, NULL);
}
