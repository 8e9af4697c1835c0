/* SPDX-License-Identifier: Apache-2.0 */
/* Shape inference from inside: the table, what is declared, values that shapes depend on, and the limits. That shapes
 * are right is the matter of tests/oracle (shapes.py, infer_ops.py). */
#include "infer_fixture.h"
#include "read/infer_rows.h"

#include <math.h>

static void table_is_sorted(void **state) {
    (void)state;
    size_t n;
    const berth_infer_row *rows = berth_infer_rows(&n);
    for (size_t i = 0; i < n; i++) {
        assert_non_null(rows[i].shape);
        assert_ptr_equal(berth_infer_row_of(rows[i].type, rows[i].domain), &rows[i]);
        if (i == 0) continue;
        int order = strcmp(rows[i - 1].type, rows[i].type);
        assert_true(order < 0 || (order == 0 && strcmp(rows[i - 1].domain, rows[i].domain) < 0));
    }
    assert_null(berth_infer_row_of("Relu", "example.org"));
    assert_null(berth_infer_row_of("If", ""));
}

/* --- what the file declares --- */

static void declared_shapes_fill_in(void **state) {
    (void)state;
    graph *g = graph_new(17);
    graph_input(g, "x", BERTH_TYPE_F32, "n,3,?");
    graph_declare(g, "y", BERTH_TYPE_F32, "2,?,5");
    graph_op(g, "Relu", "x", "y", 0, NULL);
    graph_declare(g, "u", BERTH_TYPE_F32, "2,0,5");
    graph_op(g, "Relu", "y", "u", 0, NULL);
    graph_op(g, "Mystery", "y", "z", 0, NULL);
    graph_declare(g, "z", BERTH_TYPE_I64, "4,m");
    graph_op(g, "Relu", "z", "w", 0, NULL);
    graph_expect(g, "y", "2,3,5");
    graph_expect(g, "u", "2,3,5");
    graph_expect(g, "w", "4,m");
    graph_expect_type(g, "w", BERTH_TYPE_I64);
    graph_free(g);
}

static void collect_warnings(void *user, berth_log_level level, const char *message) {
    char *text = user;
    size_t n = strlen(text);
    if (level == BERTH_LOG_WARNING) snprintf(text + n, 512 - n, "%s\n", message);
}

/* Runtimes go by what follows, and warn. */
static void declared_contradiction(void **state) {
    (void)state;
    graph *g = graph_new(17);
    char warnings[512] = "";
    berth_ctx_set_log(g->ctx, collect_warnings, warnings);
    graph_input(g, "x", BERTH_TYPE_F32, "n,3,4");
    graph_declare(g, "y", BERTH_TYPE_F32, "n,3,5");
    graph_op(g, "Relu", "x", "y", 0, NULL);
    graph_declare(g, "z", BERTH_TYPE_F32, "12");
    graph_op(g, "Relu", "y", "z", 0, NULL);
    graph_expect(g, "y", "n,3,4");
    graph_expect(g, "z", "n,3,4");
    assert_string_equal(warnings, "the file declares ?x3x5 for 'y', which follows to be ?x3x4: the declaration is "
                                  "ignored\ndeclared shapes ignored besides that one: 1\n");
    graph_free(g);
    g = graph_new(17);
    graph_input(g, "x", BERTH_TYPE_F32, "3");
    graph_declare(g, "y", BERTH_TYPE_I64, NULL);
    graph_op(g, "Relu", "x", "y", 0, NULL);
    graph_refuse(g, "the file declares 'y' as i64, which follows to be f32");
    graph_free(g);
}

/* --- values --- */

/* x.view(x.shape[0], -1, 8, 4), as exporters write it, with a free batch. */
static void reshape_by_shape(void **state) {
    (void)state;
    graph *g = graph_new(13);
    graph_input(g, "x", BERTH_TYPE_F32, "batch,7,32");
    graph_ints(g, "zero", -1, (int64_t[]){0});
    graph_ints(g, "axes", 1, (int64_t[]){0});
    graph_ints(g, "rest", 3, (int64_t[]){-1, 8, 4});
    graph_op(g, "Shape", "x", "shape", 0, NULL);
    graph_op(g, "Gather", "shape zero", "first", 0, NULL);
    graph_op(g, "Unsqueeze", "first axes", "vector", 0, NULL);
    graph_op(g, "Concat", "vector rest", "target", 1, (berth_attribute[]){INT("axis", 0)});
    graph_op(g, "Reshape", "x target", "y", 0, NULL);
    graph_expect(g, "target", "4");
    graph_expect(g, "y", "batch,7,8,4");
    graph_free(g);
}

/* Expand guards against -1: Where(shape == -1, 1, shape). A dimension not known is still no -1. */
static void expand_guard(void **state) {
    (void)state;
    graph *g = graph_new(13);
    graph_input(g, "x", BERTH_TYPE_F32, "n,5");
    graph_input(g, "one", BERTH_TYPE_F32, "1,1");
    graph_ints(g, "minus", 1, (int64_t[]){-1});
    graph_op(g, "Shape", "x", "shape", 0, NULL);
    graph_op(g, "Shape", "shape", "rank", 0, NULL);
    graph_op(g, "ConstantOfShape", "rank", "zeros", 0, NULL);
    graph_op(g, "Cast", "zeros", "fill", 1, (berth_attribute[]){INT("to", 7)});
    graph_op(g, "Equal", "shape minus", "bad", 0, NULL);
    graph_op(g, "Where", "bad fill shape", "target", 0, NULL);
    graph_op(g, "Expand", "one target", "y", 0, NULL);
    graph_expect(g, "y", "n,5");
    graph_free(g);
}

/* Half the size, by way of floating point: floor(cast(size) * 0.5). */
static void resize_through_reals(void **state) {
    (void)state;
    graph *g = graph_new(13);
    graph_input(g, "x", BERTH_TYPE_F32, "1,3,9,7");
    graph_ints(g, "from", 1, (int64_t[]){2});
    graph_ints(g, "to", 1, (int64_t[]){4});
    graph_ints(g, "lead", 2, (int64_t[]){1, 3});
    graph_reals(g, "half", 1, (float[]){0.5f});
    graph_op(g, "Shape", "x", "shape", 0, NULL);
    graph_op(g, "Slice", "shape from to", "size", 0, NULL);
    graph_op(g, "Cast", "size", "real", 1, (berth_attribute[]){INT("to", 1)});
    graph_op(g, "Mul", "real half", "scaled", 0, NULL);
    graph_op(g, "Floor", "scaled", "floor", 0, NULL);
    graph_op(g, "Cast", "floor", "ints", 1, (berth_attribute[]){INT("to", 7)});
    graph_op(g, "Concat", "lead ints", "sizes", 1, (berth_attribute[]){INT("axis", 0)});
    graph_op(g, "Resize", "x - - sizes", "y", 1, (berth_attribute[]){TEXT("mode", "nearest")});
    graph_expect(g, "y", "1,3,4,3");
    graph_free(g);
}

/* One operation on two vectors of int64, made visible as a shape. */
static void expect_binary(const char *type, int64_t a, int64_t b, const char *shape) {
    graph *g = graph_new(15);
    graph_ints(g, "a", 1, &a);
    graph_ints(g, "b", 1, &b);
    graph_op(g, type, "a b", "c", 0, NULL);
    graph_op(g, "ConstantOfShape", "c", "y", 0, NULL);
    graph_expect(g, "y", shape);
    graph_free(g);
}

static void arithmetic_of_integers(void **state) {
    (void)state;
    expect_binary("Div", -7, -2, "3");
    expect_binary("Div", 7, 0, "?");
    expect_binary("Div", INT64_MIN, -1, "?");
    expect_binary("Mod", -7, 3, "2");
    expect_binary("Mod", 7, 0, "?");
    expect_binary("Mod", INT64_MIN, -1, "0");
    expect_binary("Add", INT64_MAX, 1, "?");
    expect_binary("Sub", INT64_MIN, 1, "?");
    expect_binary("Mul", INT64_MAX, 2, "?");
    expect_binary("Pow", 3, 4, "81");
    expect_binary("Pow", 2, -1, "?");
    expect_binary("Pow", 10, 30, "?");
    expect_binary("Pow", 1, INT64_MAX, "1");
    expect_binary("Min", 5, 3, "3");
    expect_binary("Max", 5, 3, "5");
}

/* 100 + 100 does not fit eight bits, and int32 has its own limit. */
static void arithmetic_keeps_the_width(void **state) {
    (void)state;
    graph *g = graph_new(15);
    graph_stored(g, "a", BERTH_TYPE_I8, "1", (int8_t[]){100}, 1);
    graph_stored(g, "b", BERTH_TYPE_U8, "1", (uint8_t[]){100}, 1);
    graph_stored(g, "c", BERTH_TYPE_I32, "1", (int32_t[]){INT32_MIN}, 4);
    graph_stored(g, "d", BERTH_TYPE_U64, "1", (uint64_t[]){UINT64_MAX}, 8);
    graph_stored(g, "e", BERTH_TYPE_I16, "1", (int16_t[]){-4}, 2);
    graph_stored(g, "f", BERTH_TYPE_U16, "1", (uint16_t[]){40000}, 2);
    graph_op(g, "Add", "a a", "aa", 0, NULL);
    graph_op(g, "Add", "b b", "bb", 0, NULL);
    graph_op(g, "Neg", "c", "cc", 0, NULL);
    graph_op(g, "Abs", "e", "ee", 0, NULL);
    static const char *const from[] = {"aa", "bb", "cc", "d", "ee", "f"};
    static const char *const shape[] = {"?", "200", "?", "?", "4", "40000"};
    for (size_t i = 0; i < 6; i++) {
        char cast[8], fill[8];
        snprintf(cast, sizeof cast, "i%zu", i);
        snprintf(fill, sizeof fill, "y%zu", i);
        graph_op(g, "Cast", from[i], cast, 1, (berth_attribute[]){INT("to", 7)});
        graph_op(g, "ConstantOfShape", cast, fill, 0, NULL);
    }
    for (size_t i = 0; i < 6; i++) {
        char fill[8];
        snprintf(fill, sizeof fill, "y%zu", i);
        graph_expect(g, fill, shape[i]);
    }
    graph_free(g);
}

static void reals_become_integers(void **state) {
    (void)state;
    graph *g = graph_new(15);
    graph_reals(g, "a", 5, (float[]){2.5f, -2.5f, 1e30f, (float)NAN, 7.0f});
    graph_stored(g, "b", BERTH_TYPE_F64, "2", (double[]){3.999, 0.0}, 16);
    graph_op(g, "Abs", "a", "abs", 0, NULL);
    graph_op(g, "Cast", "abs", "ints", 1, (berth_attribute[]){INT("to", 7)});
    graph_op(g, "ConstantOfShape", "ints", "y", 0, NULL);
    graph_op(g, "Cast", "b", "more", 1, (berth_attribute[]){INT("to", 7)});
    graph_op(g, "ConstantOfShape", "more", "z", 0, NULL);
    graph_op(g, "Cast", "b", "truth", 1, (berth_attribute[]){INT("to", 9)});
    graph_op(g, "NonZero", "truth", "places", 0, NULL);
    graph_op(g, "Cast", "a", "halves", 1, (berth_attribute[]){INT("to", 10)});
    graph_expect(g, "y", "2,2,?,?,7");
    graph_expect(g, "z", "3,0");
    graph_expect(g, "places", "1,1");
    graph_expect(g, "halves", "5");
    graph_free(g);
}

/* The value of a ConstantOfShape comes from the reader, and is not the content of its output. */
static void fill_is_taken_away(void **state) {
    (void)state;
    graph *g = graph_new(15);
    graph_ints(g, "shape", 1, (int64_t[]){2});
    berth_attribute value = {.name = "value", .kind = BERTH_ATTRIBUTE_OPAQUE, .count = 6, .string = "digest"};
    graph_declare(g, "fill", BERTH_TYPE_I64, NULL);
    berth_tensor *fill = &g->b->tensors.items[graph_named(g, "fill")];
    static const int64_t six = 6;
    fill->content = &six;
    fill->content_size = 8;
    graph_op(g, "ConstantOfShape", "shape", "fill", 1, &value);
    graph_op(g, "ConstantOfShape", "fill", "y", 0, NULL);
    graph_expect(g, "y", "6,6");
    assert_null(graph_tensor(g, "fill")->content);
    assert_int_equal(graph_tensor(g, "fill")->content_size, 0);
    graph_free(g);
}

/* Equal symbols are equal sizes, and cancel; placeholders say nothing. */
static void symbols_cancel(void **state) {
    (void)state;
    static const struct {
        const char *x, *other, *y;
    } cases[] = {{"a,6,b", "a", "a,6,b"}, {"a,6", "a", "a,6"}, {"a,6", "b", "b,?"}, {"None,6", "None", "None,?"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        graph *g = graph_new(15);
        graph_input(g, "x", BERTH_TYPE_F32, cases[i].x);
        graph_input(g, "other", BERTH_TYPE_F32, cases[i].other);
        graph_ints(g, "hole", 1, (int64_t[]){-1});
        graph_ints(g, "zero", 1, (int64_t[]){0});
        graph_op(g, "Shape", "other", "first", 0, NULL);
        bool three = i == 0;
        graph_op(g, "Concat", three ? "first hole last" : "first hole", "target", 1,
                 (berth_attribute[]){INT("axis", 0)});
        graph_op(g, "Shape", "x", "last", 1, (berth_attribute[]){INT("start", -1)});
        graph_op(g, "Reshape", "x target", "y", 0, NULL);
        graph_expect(g, "y", cases[i].y);
        graph_free(g);
    }
}

static void symbols_flow(void **state) {
    (void)state;
    graph *g = graph_new(15);
    graph_input(g, "x", BERTH_TYPE_F32, "n,4,h,w");
    graph_input(g, "w", BERTH_TYPE_F32, "8,4,3,3");
    graph_op(g, "Conv", "x w", "conv", 1, (berth_attribute[]){INTS("pads", 4, 1, 1, 1, 1)});
    graph_op(g, "Transpose", "conv", "moved", 1, (berth_attribute[]){INTS("perm", 4, 2, 0, 1, 3)});
    graph_op(g, "Add", "moved moved", "sum", 0, NULL);
    graph_op(g, "ReduceMean", "sum", "mean", 2, (berth_attribute[]){INTS("axes", 1, 2), INT("keepdims", 0)});
    graph_op(g, "MaxPool", "conv", "pool", 2,
             (berth_attribute[]){INTS("kernel_shape", 2, 3, 3), TEXT("auto_pad", "SAME_UPPER")});
    graph_expect(g, "mean", "h,n,w");
    graph_expect(g, "pool", "n,8,h,w");
    graph_free(g);
}

/* --- sequences, which the oracle leaves out --- */

static void sequences_have_no_shape(void **state) {
    (void)state;
    graph *g = graph_new(17);
    graph_input(g, "x", BERTH_TYPE_F32, "2");
    graph_op(g, "SequenceConstruct", "x x", "s", 0, NULL);
    graph_op(g, "SequenceInsert", "s x", "more", 0, NULL);
    graph_op(g, "SequenceErase", "more", "less", 0, NULL);
    graph_op(g, "SequenceLength", "less", "n", 0, NULL);
    graph_op(g, "OptionalHasElement", "x", "has", 0, NULL);
    graph_op_of(g, "ai.onnx.ml", "ZipMap", "x", "map", 0, NULL);
    graph_expect_type(g, "more", BERTH_TYPE_OTHER);
    graph_expect_type(g, "less", BERTH_TYPE_OTHER);
    graph_expect_type(g, "map", BERTH_TYPE_OTHER);
    graph_expect(g, "less", NULL);
    graph_expect(g, "n", "");
    graph_expect_type(g, "n", BERTH_TYPE_I64);
    graph_expect_type(g, "has", BERTH_TYPE_BOOL);
    graph_free(g);
}

/* --- limits --- */

static void name_of(char *buffer, size_t size, const char *prefix, int i) {
    snprintf(buffer, size, "%s%d", prefix, i);
}

/* Thousands of vectors of a thousand known elements: the budget ends it, the shapes are still right. */
static void values_within_budget(void **state) {
    (void)state;
    enum { OPS = 3000 };
    graph *g = graph_new(15);
    static int64_t ones[128];
    graph_ints(g, "v", 128, ones);
    graph_op(g, "Concat", "v v v v v v v v", "t0", 1, (berth_attribute[]){INT("axis", 0)});
    for (int i = 0; i < OPS; i++) {
        char from[16], to[16];
        name_of(from, sizeof from, "t", i);
        name_of(to, sizeof to, "t", i + 1);
        graph_op(g, "Neg", from, to, 0, NULL);
    }
    graph_expect(g, "t3000", "1024");
    graph_free(g);
}

/* Distinct shapes of 64 dimensions, twenty bytes of file each: beyond the budget they stay unknown. */
static void dimensions_within_budget(void **state) {
    (void)state;
    enum { OPS = 4000 };
    graph *g = graph_new(15);
    char shape[200] = "1";
    for (int i = 1; i < BERTH_MAX_RANK; i++) memcpy(shape + 2 * i - 1, ",1", 3);
    graph_input(g, "t0", BERTH_TYPE_F32, shape);
    for (int i = 0; i < OPS; i++) {
        char from[32], to[16];
        snprintf(from, sizeof from, "t%d t0", i);
        name_of(to, sizeof to, "t", i + 1);
        graph_op(g, "Concat", from, to, 1, (berth_attribute[]){INT("axis", 0)});
    }
    size_t before = g->b->graph->arena.total;
    assert_int_equal(graph_infer(g), BERTH_OK);
    assert_true(graph_tensor(g, "t1")->shape.rank == BERTH_MAX_RANK);
    assert_true(graph_tensor(g, "t4000")->shape.rank == -1);
    assert_true(g->b->graph->arena.total - before < 10u << 20);
    graph_free(g);
}

/* The same shape again and again is stored once. */
static void equal_shapes_are_shared(void **state) {
    (void)state;
    graph *g = graph_new(15);
    graph_input(g, "x", BERTH_TYPE_F32, "2,3,4");
    graph_op(g, "Relu", "x", "y", 0, NULL);
    graph_op(g, "Add", "x y", "z", 0, NULL);
    assert_ptr_equal(graph_tensor(g, "z")->shape.dims, graph_tensor(g, "x")->shape.dims);
    graph_free(g);
}

/* A file may name one input a million times, or give a million outputs and attributes. */
static void many_ports(void **state) {
    (void)state;
    enum { PORTS = 200000 };
    graph *g = graph_new(15);
    int32_t *ports = calloc(PORTS, sizeof *ports);
    assert_non_null(ports);
    static int64_t ones[128];
    graph_ints(g, "v", 128, ones);
    int32_t v = graph_named(g, "v");
    for (int i = 0; i < PORTS; i++) ports[i] = v;
    int32_t out = graph_named(g, "sum"), joined = graph_named(g, "joined");
    berth_op sum = {.name = "s", .type = "Sum", .domain = ""};
    assert_int_equal(berth_build_ports(g->b, berth_build_op(g->b, &sum), ports, PORTS, 0, &out, 1), BERTH_OK);
    berth_attribute axis = INT("axis", 0);
    berth_op concat = {.name = "c", .type = "Concat", .domain = "", .n_attributes = 1, .attributes = &axis};
    assert_int_equal(berth_build_ports(g->b, berth_build_op(g->b, &concat), ports, PORTS, 0, &joined, 1), BERTH_OK);
    for (int i = 0; i < PORTS; i++) {
        char name[16];
        name_of(name, sizeof name, "p", i);
        ports[i] = graph_named(g, name);
    }
    berth_op split = {.name = "x", .type = "Split", .domain = "", .n_attributes = 1, .attributes = &axis};
    assert_int_equal(berth_build_ports(g->b, berth_build_op(g->b, &split), &joined, 1, 0, ports, PORTS), BERTH_OK);
    graph_expect(g, "sum", "128");
    graph_expect(g, "joined", "25600000");
    graph_expect(g, "p199999", "128");
    free(ports);
    graph_free(g);
}

/* --- memory --- */

static berth_status infer_small(berth_ctx *ctx, void *user) {
    (void)user;
    graph *g = graph_on(ctx, 13);
    if (g->status == BERTH_OK) {
        graph_input(g, "x", BERTH_TYPE_F32, "n,3,9,7");
        graph_ints(g, "from", 1, (int64_t[]){2});
        graph_ints(g, "to", 1, (int64_t[]){4});
        graph_ints(g, "lead", 2, (int64_t[]){1, 3});
        graph_op(g, "Shape", "x", "shape", 0, NULL);
        graph_op(g, "Slice", "shape from to", "size", 0, NULL);
        graph_op(g, "Concat", "lead size", "sizes", 1, (berth_attribute[]){INT("axis", 0)});
        graph_op(g, "Resize", "x - - sizes", "y", 0, NULL);
        graph_op(g, "Transpose", "y", "z", 0, NULL);
        if (g->b->failed || g->b->graph->arena.failed) g->status = BERTH_E_NOMEM;
    }
    berth_status status = g->b ? graph_infer(g) : g->status;
    graph_free(g);
    return status;
}

static void ladder_by_hand(void **state) {
    (void)state;
    assert_true(support_ladder(infer_small, NULL, 1) > 10);
}

static berth_status read_file(berth_ctx *ctx, void *user) {
    berth_graph *read = NULL;
    berth_status status = berth_graph_read(ctx, &read, user, NULL);
    if (status == BERTH_OK) status = berth_graph_check(ctx, read);
    berth_graph_free(read);
    return status;
}

static void ladder_over_files(void **state) {
    (void)state;
    static const char *const files[] = {"models/bert_base.onnx", "tests/golden/shape_arithmetic.onnx"};
    for (size_t i = 0; i < 2; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s", support_source(files[i]));
        assert_true(support_ladder(read_file, path, 17) > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_sorted),
        cmocka_unit_test(declared_shapes_fill_in),
        cmocka_unit_test(declared_contradiction),
        cmocka_unit_test(reshape_by_shape),
        cmocka_unit_test(expand_guard),
        cmocka_unit_test(resize_through_reals),
        cmocka_unit_test(arithmetic_of_integers),
        cmocka_unit_test(arithmetic_keeps_the_width),
        cmocka_unit_test(reals_become_integers),
        cmocka_unit_test(fill_is_taken_away),
        cmocka_unit_test(symbols_cancel),
        cmocka_unit_test(symbols_flow),
        cmocka_unit_test(sequences_have_no_shape),
        cmocka_unit_test(values_within_budget),
        cmocka_unit_test(dimensions_within_budget),
        cmocka_unit_test(equal_shapes_are_shared),
        cmocka_unit_test(many_ports),
        cmocka_unit_test(ladder_by_hand),
        cmocka_unit_test(ladder_over_files),
    };
    return cmocka_run_group_tests_name("read.infer", tests, NULL, NULL);
}
