/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx_refuse: models that are no good, each for one refusal, and files that are no ONNX. */
#include "onnx_fixture.h"

/* x -> Relu -> y, the Relu with an attribute. */
static proto with_attribute(proto attribute) {
    proto graph = {0}, node = onnx_node("Relu", "x", "y");
    proto_message(&node, 5, attribute);
    proto_message(&graph, 1, node);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2"));
    return graph;
}

static void broken_models(void **state) {
    (void)state;
    proto model = {0}, graph = small();
    proto_int(&model, 1, 8);
    refuse_model(model, "test: byte 2: the model ends without a graph");
    model = onnx_model(small());
    proto_message(&model, 7, small());
    refuse_model(model, "'graph' stands twice in a ModelProto");
    model = onnx_model(small());
    proto_int(&model, 7, 3);
    refuse_model(model, "'graph' of a ModelProto has wire type 0");
    model = onnx_model(small());
    model.n--;
    refuse_model(model, "longer than what holds it, in a ModelProto");
    proto_text(&graph, 1, "\x0f");
    refuse_graph(graph, "a field of an unknown wire type, in a NodeProto");
    graph = small();
    proto_bytes(&graph, 2, "a\0b", 3);
    refuse_graph(graph, "'name' of a GraphProto holds a NUL byte");
}

static void broken_nodes(void **state) {
    (void)state;
    refuse_graph(with(1, onnx_node("", "x", "z")), "op_type");
    refuse_graph(with(1, onnx_node("Neg", "nowhere", "z")), "'Neg:z' reads 'nowhere', which nothing produces");
    refuse_graph(with(1, onnx_node("Neg", "x", "y")), "produced by both");
    refuse_graph(with(1, onnx_node("Neg", "y", "x")), "'x' is an input or initializer");
    refuse_graph(with(1, onnx_node("Split", "x", "p,p")), "produced by both");
    refuse_graph(with(1, onnx_node("Neg", "z", "z")), "cycle");
    proto graph = small();
    proto_message(&graph, 5, onnx_raw_tensor("w", FLOAT, 1, 4));
    proto_message(&graph, 1, onnx_node("Neg", "x", "w"));
    refuse_graph(graph, "'w' is an input or initializer");
}

static void broken_attributes(void **state) {
    (void)state;
    refuse_graph(with_attribute(onnx_attribute("", A_INT)), "no name");
    refuse_graph(with_attribute(onnx_attribute("a", 15)), "'a' is of an unknown type");
    refuse_graph(with_attribute(onnx_attribute("a", -1)), "unknown type");
    refuse_graph(with_attribute(onnx_attribute("a", A_TENSOR)), "no value");
    refuse_graph(with_attribute(onnx_attribute("a", A_GRAPH)), "no value");
    proto a = onnx_attribute("a", A_INT);
    proto_float(&a, 2, 1);
    refuse_graph(with_attribute(a), "another kind than its type");
    a = onnx_attribute("a", A_INT);
    proto_int(&a, 3, 1);
    proto_float(&a, 2, 1);
    refuse_graph(with_attribute(a), "more than one kind");
    a = onnx_attribute("a", A_FLOATS);
    proto_bytes(&a, 7, "\0\0\0\0\0", 5);
    refuse_graph(with_attribute(a), "cut off");
    a = onnx_attribute("a", A_FLOATS);
    proto_bytes(&a, 7, "\0\0\0\0\0", 5);
    proto_float(&a, 7, 1);
    refuse_graph(with_attribute(a), "cut off");
    a = onnx_attribute("a", A_INTS);
    proto_bytes(&a, 8, "\x01\x80", 2);
    refuse_graph(with_attribute(a), "a number is cut off, in a list");
    a = onnx_attribute("a", A_GRAPH);
    proto_message(&a, 6, (proto){0});
    proto_message(&a, 6, (proto){0});
    refuse_graph(with_attribute(a), "'g' stands twice");
    refuse_graph(with_attribute(tensor_attribute(onnx_raw_tensor("", FLOAT, 2, 7))), "7 bytes of raw_data");
}

static void broken_declarations(void **state) {
    (void)state;
    refuse_graph(with(11, onnx_value("x", FLOAT, "2")), "two model inputs are called 'x'");
    refuse_graph(with(11, onnx_value("", FLOAT, "2")), "input without a name");
    refuse_graph(with(12, onnx_value("", FLOAT, "2")), "output without a name");
    refuse_graph(with(12, onnx_value("z", FLOAT, "2")), "nothing produces the model output 'z'");
    refuse_graph(with(13, onnx_value("x", INT64, "2,3")), "'x' is declared i64, but it is f32");
    refuse_graph(with(13, onnx_value("x", FLOAT, "2")), "declared with 1 dimensions, but it has 2");
    refuse_graph(with(13, onnx_value("x", FLOAT, "3,3")), "dimension 0 of 'x' is declared 3, but it is 2");
    refuse_graph(with(13, onnx_value("x", FLOAT, "-2,3")), "a dimension of -2");
    refuse_graph(with(13, onnx_value("x", 99, "2,3")), "unknown element type, 99");
    refuse_graph(with(13, onnx_value("y", FLOAT, "9223372036854775807,9223372036854775807")), "64 bits");
    refuse_graph(with(11, onnx_value("z", FLOAT, "9223372036854775807")), "64 bits");
    proto value = onnx_value("y", FLOAT, "2");
    proto_message(&value, 2, onnx_type(FLOAT, "2"));
    refuse_graph(with(13, value), "'type' stands twice");
    char dims[2 * BERTH_MAX_RANK + 2] = "";
    for (int i = 0; i < BERTH_MAX_RANK; i++) memcpy(dims + 2 * i, "1,", 2);
    berth_graph *g = read_graph(with(11, onnx_value("z", FLOAT, dims)));
    berth_graph_free(g);
    dims[2 * BERTH_MAX_RANK] = '1';
    refuse_graph(with(11, onnx_value("z", FLOAT, dims)), "more than 64 dimensions");
}

/* Content decides: text and other files are not taken for ONNX, broken ONNX files are. */
static void recognition(void **state) {
    (void)state;
    static const char *const texts[] = {
        "rank,name\n1,a\n",
        "2020-01-01,some,row,of,a,table,that,is,long,enough,to,pass",
        ":root { color: red } and more of it, so that the length is within the file",
        "\"quoted\",\"text\" that goes on for a while, long enough to be a string field",
        "Buffer",
        "(a b c d e f)",
        "\x12\x34",
        "\n\n\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        support_refuse(ctx, texts[i], strlen(texts[i]), BERTH_E_FORMAT, "neither OpenVINO IR, ONNX");
    support_refuse(ctx, "\x08\x07\x3f\x01", 4, BERTH_E_FORMAT, "byte 2: a field of an unknown wire type");
    support_refuse(ctx, "\x08\xff\xff\x7f", 4, BERTH_E_FORMAT, "neither");
    proto model = {0}, property = {0};
    proto_text(&property, 1, "key");
    proto_message(&model, 14, property); /* no ir_version, metadata first */
    proto_text(&model, 2, "producer");
    proto_message(&model, 7, small());
    berth_graph *g = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", NULL), BERTH_OK);
    berth_graph_free(g);
    proto_free(&model);
}

/* Every prefix of a good model, and every model with one byte changed, is read or refused. */
static void damaged_models(void **state) {
    (void)state;
    proto graph = small(), tensor = onnx_tensor("w", INT64, 2);
    proto_bytes(&tensor, 7, "\1\2", 2);
    proto_message(&graph, 5, tensor);
    proto_message(&graph, 1, nesting("If", "x", "z", body("", onnx_node("Add", "y,w", "r"), "r")));
    proto model = onnx_model(graph);
    for (size_t n = 1; n < model.n; n++) {
        char *copy = malloc(n);
        assert_non_null(copy);
        memcpy(copy, model.bytes, n);
        berth_graph *g = NULL;
        berth_status status = berth_graph_read_memory(ctx, &g, copy, n, "test", NULL);
        if (status == BERTH_OK)
            berth_graph_free(g);
        else
            assert_true(status == BERTH_E_FORMAT && strstr(berth_ctx_message(ctx), "byte "));
        free(copy);
    }
    for (size_t i = 0; i < model.n; i++)
        for (int bit = 0; bit < 8; bit++) {
            berth_graph *g = NULL;
            model.bytes[i] ^= (char)(1 << bit);
            berth_status status = berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", NULL);
            model.bytes[i] ^= (char)(1 << bit);
            if (status == BERTH_OK)
                berth_graph_free(g);
            else
                assert_true(status == BERTH_E_FORMAT);
        }
    proto_free(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_models),       cmocka_unit_test(broken_nodes), cmocka_unit_test(broken_attributes),
        cmocka_unit_test(broken_declarations), cmocka_unit_test(recognition),  cmocka_unit_test(damaged_models),
    };
    return cmocka_run_group_tests_name("read.onnx_refuse", tests, set_up, tear_down);
}
