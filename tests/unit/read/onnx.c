/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx: models made by hand, each for one rule. */
#include "onnx_fixture.h"

static void plain_model(void **state) {
    (void)state;
    berth_graph *graph = read_graph(small());
    assert_int_equal(berth_graph_op_count(graph), 1);
    assert_int_equal(berth_graph_version(graph), 17);
    assert_string_equal(berth_graph_op(graph, 0)->name, "Relu:y");
    assert_true(berth_graph_op(graph, 0)->flags & BERTH_OP_UNNAMED);
    assert_int_equal(berth_graph_op(graph, 0)->where, 6); /* 08 08, 3a len, 0a len, here */
    const berth_tensor *x = berth_graph_tensor(graph, tensor_of(graph, "x"));
    assert_true(x->flags == BERTH_TENSOR_INPUT && x->type == BERTH_TYPE_F32 && x->shape.rank == 2);
    assert_true(x->shape.dims[0].min == 2 && x->shape.dims[0].max == 2 && !x->shape.dims[0].symbol);
    assert_true(x->shape.dims[1].min == 0 && x->shape.dims[1].max == INT64_MAX);
    assert_string_equal(x->shape.dims[1].symbol, "n");
    berth_graph_free(graph);
}

static void nodes_in_any_order(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 1, onnx_node("Neg", "b", "c"));
    proto_message(&graph, 1, onnx_node("Neg", "a", "b"));
    proto_message(&graph, 11, onnx_value("a", FLOAT, "1"));
    berth_graph *g = read_graph(graph);
    assert_int_equal(berth_graph_order(g)[0], 1);
    assert_string_equal(berth_graph_op(g, 0)->name, "Neg:c");
    berth_graph_free(g);
}

static void inputs_left_out(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 1, onnx_node("Resize", "x,,s", ",y"));
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    proto_message(&graph, 11, onnx_value("s", FLOAT, "1"));
    berth_graph *g = read_graph(graph);
    const berth_op *op = berth_graph_op(g, 0);
    assert_true(op->n_inputs == 3 && op->inputs[0] >= 0 && op->inputs[1] == -1 && op->inputs[2] >= 0);
    assert_true(op->n_outputs == 2 && op->outputs[0] == -1 && op->outputs[1] >= 0);
    assert_string_equal(op->name, "Resize:y");
    berth_graph_free(g);
}

static void made_up_names_differ(void **state) {
    (void)state;
    proto graph = small(), taken = onnx_node("Neg", "y", "z"), again = onnx_node("Neg", "y", "w");
    proto_text(&taken, 3, "Relu:y");
    proto_text(&again, 3, "Relu:y#0");
    proto_message(&graph, 1, taken);
    proto_message(&graph, 1, again);
    /* Two types and outputs that make the same name. */
    proto_message(&graph, 1, onnx_node("A", "y", "b:c"));
    proto_message(&graph, 1, onnx_node("A:b", "y", "c"));
    proto_message(&graph, 1, onnx_node("Sink", "y", ""));
    berth_graph *g = read_graph(graph);
    assert_string_equal(berth_graph_op(g, 0)->name, "Relu:y#0#0");
    assert_string_equal(berth_graph_op(g, 1)->name, "Relu:y");
    assert_string_equal(berth_graph_op(g, 3)->name, "A:b:c");
    assert_string_equal(berth_graph_op(g, 4)->name, "A:b:c#4");
    assert_string_equal(berth_graph_op(g, 5)->name, "Sink#5");
    assert_false(berth_graph_op(g, 1)->flags & BERTH_OP_UNNAMED);
    berth_graph_free(g);
}

static void default_domain(void **state) {
    (void)state;
    proto graph = {0}, node = onnx_node("Relu", "x", "y"), other = onnx_node("Relu", "x", "z");
    proto_text(&node, 7, "ai.onnx");
    proto_text(&other, 7, "com.example");
    proto_message(&graph, 1, node);
    proto_message(&graph, 1, other);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    proto model = onnx_model(graph), opset = {0}, alias = {0};
    proto_text(&opset, 1, "com.example");
    proto_int(&opset, 2, 3);
    proto_message(&model, 8, opset);
    proto_text(&alias, 1, "ai.onnx");
    proto_int(&alias, 2, 13);
    proto_message(&model, 8, alias);
    berth_graph *g = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", NULL), BERTH_OK);
    assert_int_equal(berth_graph_version(g), 13);
    assert_string_equal(berth_graph_op(g, 0)->domain, "");
    assert_string_equal(berth_graph_op(g, 1)->domain, "com.example");
    berth_graph_free(g);
    proto_free(&model);
}

static void initializer_among_inputs(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 11, onnx_value("w", FLOAT, "2"));
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2"));
    proto_message(&graph, 1, onnx_node("Add", "x,w", "y"));
    proto_message(&graph, 5, onnx_raw_tensor("w", FLOAT, 2, 8));
    berth_graph *g = read_graph(graph);
    int32_t n = 0;
    const int32_t *inputs = berth_graph_inputs(g, &n);
    assert_int_equal(n, 1);
    assert_string_equal(berth_graph_tensor(g, inputs[0])->name, "x");
    const berth_tensor *w = berth_graph_tensor(g, tensor_of(g, "w"));
    assert_int_equal(w->flags, BERTH_TENSOR_INITIALIZER | BERTH_TENSOR_CONSTANT);
    assert_true(w->content && w->content_size == 8 && w->payload_bytes == 8);
    berth_graph_free(g);
}

static void declarations_complete_each_other(void **state) {
    (void)state;
    proto graph = small();
    proto_message(&graph, 13, onnx_value("y", FLOAT, "2,n"));
    proto_message(&graph, 13, onnx_value("y", 0, "m,3"));
    proto_message(&graph, 13, onnx_value("y", FLOAT, "-1,3"));
    proto_message(&graph, 13, onnx_value("nobody", FLOAT, "3"));
    berth_graph *g = read_graph(graph);
    const berth_tensor *y = berth_graph_tensor(g, tensor_of(g, "y"));
    assert_true(y->type == BERTH_TYPE_F32 && y->shape.rank == 2);
    assert_true(y->shape.dims[0].min == 2 && y->shape.dims[1].min == 3 && y->shape.dims[1].max == 3);
    assert_int_equal(y->bytes, 24);
    assert_int_equal(berth_graph_tensor_count(g), 2);
    berth_graph_free(g);
}

static void attributes_of_all_kinds(void **state) {
    (void)state;
    proto graph = {0}, node = onnx_node("Custom", "", "y");
    static const int types[] = {A_INT, A_FLOAT, A_STRING, A_INTS, A_FLOATS, A_STRINGS};
    for (size_t typed = 0; typed < 2; typed++) /* the second time without the type, as old files have it */
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
            char name[2] = {(char)('a' + (char)i + 8 * (char)typed), 0};
            proto a = onnx_attribute(name, typed ? 0 : types[i]);
            switch (types[i]) {
            case A_INT: proto_int(&a, 3, -7); break;
            case A_FLOAT: proto_float(&a, 2, 0.5f); break;
            case A_STRING: proto_bytes(&a, 4, "p\0q", 3); break;
            case A_INTS: /* one loose, two packed */
                proto_int(&a, 8, 1);
                proto_bytes(&a, 8, "\x02\x03", 2);
                break;
            case A_FLOATS:
                proto_float(&a, 7, 1);
                proto_bytes(&a, 7, "\0\0\0\x40", 4);
                break;
            default: proto_names(&a, 9, "s,t"); break;
            }
            proto_message(&node, 5, a);
        }
    proto_message(&graph, 1, node);
    berth_graph *g = read_graph(graph);
    const berth_op *op = berth_graph_op(g, 0);
    assert_int_equal(op->n_attributes, 12);
    for (int32_t i = 0; i < 6; i++) {
        const berth_attribute *a = &op->attributes[i], *b = &op->attributes[i + 6];
        assert_true(a->kind == b->kind && a->count == b->count && a->is_list == b->is_list);
        if (a->string) assert_memory_equal(a->string, b->string, (size_t)a->count);
    }
    const berth_attribute *a = op->attributes;
    assert_true(a[0].kind == BERTH_ATTRIBUTE_INTS && a[0].count == 1 && !a[0].is_list && a[0].ints[0] == -7);
    assert_true(a[1].kind == BERTH_ATTRIBUTE_FLOATS && a[1].count == 1 && !a[1].is_list && a[1].floats[0] == 0.5);
    assert_true(a[2].kind == BERTH_ATTRIBUTE_STRING && a[2].count == 3);
    assert_memory_equal(a[2].string, "p\0q", 4);
    assert_true(a[3].is_list && a[3].count == 3 && a[3].ints[0] == 1 && a[3].ints[1] == 2 && a[3].ints[2] == 3);
    assert_true(a[4].is_list && a[4].count == 2 && a[4].floats[0] == 1 && a[4].floats[1] == 2);
    assert_true(a[5].kind == BERTH_ATTRIBUTE_OPAQUE && a[5].is_list && a[5].count == 32);
    berth_graph_free(g);
}

/* Writers by proto3 rules leave out what is zero. */
static void values_left_out_are_zero(void **state) {
    (void)state;
    proto graph = {0}, node = onnx_node("Custom", "", "y");
    for (int type = A_FLOAT; type <= A_STRINGS; type++)
        if (type != A_TENSOR && type != A_GRAPH) proto_message(&node, 5, onnx_attribute("a", type));
    proto_message(&node, 5, onnx_attribute("nothing", 0));
    proto_message(&graph, 1, node);
    berth_graph *g = read_graph(graph);
    const berth_attribute *a = berth_graph_op(g, 0)->attributes;
    assert_true(a[0].kind == BERTH_ATTRIBUTE_FLOATS && a[0].count == 1 && a[0].floats[0] == 0);
    assert_true(a[1].kind == BERTH_ATTRIBUTE_INTS && a[1].count == 1 && a[1].ints[0] == 0);
    assert_true(a[2].kind == BERTH_ATTRIBUTE_STRING && a[2].count == 0 && a[2].string[0] == 0);
    assert_true(a[3].kind == BERTH_ATTRIBUTE_FLOATS && a[3].count == 0 && a[3].is_list);
    assert_true(a[4].kind == BERTH_ATTRIBUTE_INTS && a[4].count == 0 && a[4].is_list);
    assert_true(a[5].kind == BERTH_ATTRIBUTE_OPAQUE && a[5].is_list);
    assert_int_equal(a[6].kind, BERTH_ATTRIBUTE_OPAQUE);
    berth_graph_free(g);
}

static void other_types(void **state) {
    (void)state;
    static const uint32_t kinds[] = {4, 5, 7, 9};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        proto graph = {0}, value = {0}, type = {0};
        proto_message(&type, kinds[i], (proto){0});
        proto_text(&value, 1, "x");
        proto_message(&value, 2, type);
        proto_message(&graph, 11, value);
        berth_graph *g = read_graph(graph);
        assert_int_equal(berth_graph_tensor(g, 0)->type, BERTH_TYPE_OTHER);
        assert_int_equal(berth_graph_tensor(g, 0)->bytes, -1);
        berth_graph_free(g);
    }
}

/* Fields that newer versions may have are passed over, groups among them. */
static void unknown_fields(void **state) {
    (void)state;
    proto graph = small();
    proto_text(&graph, 99, "what is this?");
    proto_int(&graph, 3000, 5);
    proto_raw(&graph, "\xa3\x06\x08\x01\xa4\x06", 6);
    berth_graph *g = read_graph(graph);
    assert_int_equal(berth_graph_op_count(g), 1);
    berth_graph_free(g);
}

static void no_operations(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2"));
    proto_message(&graph, 12, onnx_value("x", FLOAT, "2"));
    proto_message(&graph, 12, onnx_value("x", FLOAT, "2")); /* twice: counts once */
    berth_graph *g = read_graph(graph);
    int32_t n = 0;
    berth_graph_outputs(g, &n);
    assert_true(n == 1 && berth_graph_op_count(g) == 0);
    assert_int_equal(berth_graph_tensor(g, 0)->flags, BERTH_TENSOR_INPUT | BERTH_TENSOR_OUTPUT);
    berth_graph_free(g);
}

static void refuse_binding(const char *input, int32_t rank, const int64_t *dims, const char *fragment) {
    berth_shape_binding binding = {input, rank, dims};
    berth_read_options options = berth_read_options_default();
    options.shapes = &binding;
    options.n_shapes = 1;
    proto graph = with(5, onnx_raw_tensor("w", FLOAT, 1, 4)), model = onnx_model(graph);
    berth_graph *g = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", &options), BERTH_E_ARG);
    assert_null(g);
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", berth_ctx_message(ctx), fragment);
    proto_free(&model);
}

static void bindings(void **state) {
    (void)state;
    berth_shape_binding shapes[2] = {{"x", 2, (const int64_t[]){2, 5}}, {"z", 1, (const int64_t[]){5}}};
    berth_read_options options = berth_read_options_default();
    options.shapes = shapes;
    options.n_shapes = 1;
    proto graph = small(), model = {0};
    proto_message(&graph, 11, onnx_value("z", FLOAT, "n"));
    proto_message(&graph, 11, onnx_value("any", FLOAT, NULL));
    proto_message(&graph, 13, onnx_value("y", FLOAT, "m,n"));
    model = onnx_model(graph);
    berth_graph *bound = NULL, *plain = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &plain, model.bytes, model.n, "test", NULL), BERTH_OK);
    assert_int_equal(berth_graph_read_memory(ctx, &bound, model.bytes, model.n, "test", &options), BERTH_OK);
    const berth_tensor *x = berth_graph_tensor(bound, tensor_of(bound, "x"));
    assert_true(x->bytes == 40 && x->shape.dims[1].min == 5 && x->shape.dims[1].max == 5);
    assert_string_equal(x->shape.dims[1].symbol, "n");
    assert_int_equal(berth_graph_tensor(bound, tensor_of(bound, "z"))->bytes, 20);
    assert_int_equal(berth_graph_tensor(bound, tensor_of(bound, "y"))->shape.dims[1].min, 5);
    assert_string_equal(berth_graph_fingerprint(bound), berth_graph_fingerprint(plain));
    berth_graph_free(bound);
    berth_graph_free(plain);
    options.n_shapes = 2;
    assert_int_equal(berth_graph_read_memory(ctx, &bound, model.bytes, model.n, "test", &options), BERTH_OK);
    berth_graph_free(bound);
    shapes[1].dims = (const int64_t[]){6};
    assert_int_equal(berth_graph_read_memory(ctx, &bound, model.bytes, model.n, "test", &options), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(ctx), "'n' is bound to both 5 and 6"));
    shapes[1] = (berth_shape_binding){"any", 3, (const int64_t[]){1, 2, 3}};
    assert_int_equal(berth_graph_read_memory(ctx, &bound, model.bytes, model.n, "test", &options), BERTH_OK);
    assert_int_equal(berth_graph_tensor(bound, tensor_of(bound, "any"))->bytes, 24);
    berth_graph_free(bound);
    proto_free(&model);
    refuse_binding("q", 1, (const int64_t[]){1}, "no model input 'q'; the inputs are: x");
    refuse_binding("w", 1, (const int64_t[]){1}, "no model input 'w'");
    refuse_binding("x", 1, (const int64_t[]){1}, "has 2 dimensions, the shape given has 1");
    refuse_binding("x", 2, (const int64_t[]){3, 1}, "dimension 0 of the input 'x' is 2, the shape given has 3");
    refuse_binding("x", 2, (const int64_t[]){2, -1}, "dimension -1");
    refuse_binding("x", 2, (const int64_t[]){2, INT64_MAX}, "beyond 64 bits");
    refuse_binding("x", 65, NULL, "65");
}

static berth_status read_golden(berth_ctx *ladder_ctx, void *user) {
    berth_shape_binding binding = {"x", 3, (const int64_t[]){7, 4, 5}};
    berth_read_options options = berth_read_options_default();
    bool bind = strstr(user, "shape_arithmetic") != NULL;
    options.shapes = &binding;
    options.n_shapes = bind;
    berth_graph *g = NULL;
    berth_status status = berth_graph_read(ladder_ctx, &g, support_source(user), &options);
    berth_graph_free(g);
    return status;
}

static void memory_ladder(void **state) {
    (void)state;
    static const char *const files[] = {"tests/golden/captures.onnx",        "tests/golden/constants.onnx",
                                        "tests/golden/names.onnx",           "tests/golden/sequences.onnx",
                                        "tests/golden/typed_data.onnx",      "tests/golden/sparse_initializer.onnx",
                                        "tests/golden/shape_arithmetic.onnx"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        assert_true(support_ladder(read_golden, (char *)(uintptr_t)files[i], 1) > 10);
    support_ladder(read_golden, (char *)(uintptr_t) "models/googlenet.onnx", 37);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_model),
        cmocka_unit_test(nodes_in_any_order),
        cmocka_unit_test(inputs_left_out),
        cmocka_unit_test(made_up_names_differ),
        cmocka_unit_test(default_domain),
        cmocka_unit_test(initializer_among_inputs),
        cmocka_unit_test(declarations_complete_each_other),
        cmocka_unit_test(attributes_of_all_kinds),
        cmocka_unit_test(values_left_out_are_zero),
        cmocka_unit_test(other_types),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(no_operations),
        cmocka_unit_test(bindings),
        cmocka_unit_test(memory_ladder),
    };
    return cmocka_run_group_tests_name("read.onnx", tests, set_up, tear_down);
}
