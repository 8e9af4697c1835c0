/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx_tensors: stored values in all their forms, and those that are none. */
#include "onnx_fixture.h"

static proto constant(proto attribute) {
    proto graph = {0}, node = onnx_node("Constant", "", "y");
    proto_message(&node, 5, attribute);
    proto_message(&graph, 1, node);
    return graph;
}

static void check_content(proto tensor, const char *content, size_t size) {
    proto graph = {0};
    proto_message(&graph, 5, tensor);
    proto_message(&graph, 1, onnx_node("Identity", "w", "y"));
    berth_graph *g = read_graph(graph);
    const berth_tensor *w = berth_graph_tensor(g, tensor_of(g, "w"));
    assert_true(w->content_size == (int64_t)size && w->content);
    assert_memory_equal(w->content, content, size);
    berth_graph_free(g);
}

static proto list_tensor(int element, int64_t n, uint32_t field, const char *list, size_t size) {
    proto tensor = onnx_tensor("w", element, n);
    proto_bytes(&tensor, field, list, size);
    return tensor;
}

static void contents_are_packed(void **state) {
    (void)state;
    check_content(list_tensor(3, 2, 5, "\x05\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11), "\x05\xff", 2);
    check_content(list_tensor(10, 1, 5, "\x80\x78", 2), "\x00\x3c", 2); /* f16 1.0 */
    check_content(list_tensor(9, 3, 5, "\1\0\1", 3), "\1\0\1", 3);      /* bool */
    check_content(list_tensor(21, 3, 5, "\x21\x03", 2), "\x21\x03", 2); /* u4: two to a number */
    check_content(list_tensor(25, 5, 5, "\x1b\x01", 2), "\x1b\x01", 2); /* u2: four to a number */
    check_content(list_tensor(12, 1, 11, "\xff\xff\xff\xff\x0f", 5), "\xff\xff\xff\xff", 4);
    check_content(list_tensor(14, 1, 4, "\0\0\x80\x3f\0\0\0\x40", 8), "\0\0\x80\x3f\0\0\0\x40", 8);
    check_content(list_tensor(11, 1, 10, "\1\2\3\4\5\6\7\x08", 8), "\1\2\3\4\5\6\7\x08", 8);
    check_content(onnx_tensor("w", FLOAT, 0), "", 0);
    check_content(onnx_raw_tensor("w", FLOAT, -1, 4), "\0\0\0\0", 4);
    proto both = onnx_tensor("w", INT64, 3); /* loose, then packed */
    proto_int(&both, 7, 1);
    proto_bytes(&both, 7, "\2\3", 2);
    check_content(both, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 24);
}

static void contents_up_to_a_limit(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 5, onnx_raw_tensor("kept", FLOAT, 256, 1024));
    proto_message(&graph, 5, onnx_raw_tensor("large", FLOAT, 257, 1028));
    proto_message(&graph, 1, onnx_node("Custom", "kept,large", "y"));
    berth_graph *g = read_graph(graph);
    const berth_tensor *kept = berth_graph_tensor(g, tensor_of(g, "kept"));
    const berth_tensor *large = berth_graph_tensor(g, tensor_of(g, "large"));
    assert_true(kept->content && kept->content_size == 1024);
    assert_true(!large->content && large->content_size == 0 && large->payload_bytes == 1028 && large->bytes == 1028);
    berth_graph_free(g);
}

static void large_lists(void **state) {
    (void)state;
    size_t n = 100000;
    char *bytes = calloc(n, 1);
    assert_non_null(bytes);
    proto graph = {0};
    proto_message(&graph, 5, list_tensor(INT64, (int64_t)n, 7, bytes, n));
    proto_message(&graph, 1, onnx_node("Identity", "w", "y"));
    berth_graph *g = read_graph(graph);
    assert_int_equal(berth_graph_tensor(g, tensor_of(g, "w"))->payload_bytes, 8 * n);
    berth_graph_free(g);
    refuse_graph(with(5, list_tensor(INT64, (int64_t)n + 1, 7, bytes, n)), "'w' has at least 10000 numbers");
    refuse_graph(with(5, list_tensor(INT64, 9999, 7, bytes, n)), "need 9999");
    free(bytes);
}

static void external_tensors(void **state) {
    (void)state;
    proto graph = {0}, tensor = onnx_tensor("w", FLOAT, 6), entry = {0};
    proto_text(&entry, 1, "location");
    proto_text(&entry, 2, "../../etc/passwd");
    proto_message(&tensor, 13, entry);
    proto_int(&tensor, 14, 1);
    proto_message(&graph, 5, tensor);
    proto_message(&graph, 1, onnx_node("Identity", "w", "y"));
    berth_graph *g = read_graph(graph);
    const berth_tensor *w = berth_graph_tensor(g, tensor_of(g, "w"));
    assert_true(w->flags & BERTH_TENSOR_EXTERNAL && !w->content && w->payload_bytes == 24 && w->bytes == 24);
    berth_graph_free(g);
}

static proto sparse_tensor(proto values, proto indices, int64_t dim) {
    proto sparse = {0};
    proto_message(&sparse, 1, values);
    proto_message(&sparse, 2, indices);
    proto_int(&sparse, 3, dim);
    return sparse;
}

static void sparse_initializers(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 15,
                  sparse_tensor(onnx_raw_tensor("w", FLOAT, 2, 8), onnx_raw_tensor("", INT64, 2, 16), 1000));
    proto_message(&graph, 1, onnx_node("Identity", "w", "y"));
    berth_graph *g = read_graph(graph);
    const berth_tensor *w = berth_graph_tensor(g, tensor_of(g, "w"));
    assert_int_equal(w->flags, BERTH_TENSOR_INITIALIZER | BERTH_TENSOR_CONSTANT);
    assert_true(w->bytes == 4000 && w->payload_bytes == 24 && !w->content);
    berth_graph_free(g);
    refuse_graph(with(15, (proto){0}), "no values");
    refuse_graph(with(15, sparse_tensor(onnx_raw_tensor("w", FLOAT, 2, 8), (proto){0}, 2)), "element type");
    refuse_graph(with(15, sparse_tensor(onnx_raw_tensor("w", FLOAT, 2, 8), onnx_raw_tensor("", INT64, 2, 16), -2)),
                 "dimension -2");
}

static void constants_of_all_kinds(void **state) {
    (void)state;
    struct {
        const char *name;
        int type;
        uint32_t field;
        const char *bytes; /* of the field, packed */
        size_t size;
        berth_type element;
        int32_t rank;
        int64_t payload;
        const char *content;
    } rows[] = {
        {"value_int", A_INT, 3, NULL, 5, BERTH_TYPE_I64, 0, 8, "\5\0\0\0\0\0\0\0"},
        {"value_ints", A_INTS, 8, "\1\2", 2, BERTH_TYPE_I64, 1, 16, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"},
        {"value_floats", A_FLOATS, 7, "\0\0\x80\x3f", 4, BERTH_TYPE_F32, 1, 4, "\0\0\x80\x3f"},
        {"value_string", A_STRING, 4, "abc", 3, BERTH_TYPE_STRING, 0, 3, NULL},
        {"value_strings", A_STRINGS, 9, "abc", 3, BERTH_TYPE_STRING, 1, 3, NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        proto attribute = onnx_attribute(rows[i].name, rows[i].type);
        if (rows[i].bytes)
            proto_bytes(&attribute, rows[i].field, rows[i].bytes, rows[i].size);
        else
            proto_int(&attribute, rows[i].field, (int64_t)rows[i].size);
        berth_graph *g = read_graph(constant(attribute));
        const berth_tensor *y = berth_graph_tensor(g, tensor_of(g, "y"));
        assert_true(y->type == rows[i].element && y->shape.rank == rows[i].rank);
        assert_int_equal(y->payload_bytes, rows[i].payload);
        assert_true(!y->content == !rows[i].content);
        if (y->content) assert_memory_equal(y->content, rows[i].content, (size_t)y->content_size);
        assert_true(y->flags & BERTH_TENSOR_CONSTANT && y->producer == 0);
        assert_true(berth_graph_op(g, 0)->flags & BERTH_OP_CONSTANT);
        berth_graph_free(g);
    }
}

static void broken_constants(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 1, onnx_node("Constant", "", "y"));
    refuse_graph(graph, "without value");
    refuse_graph(constant(onnx_attribute("value", A_INT)), "without value");
    graph = (proto){0};
    proto node = onnx_node("Constant", "", "y");
    proto_message(&node, 5, onnx_attribute("value_int", A_INT));
    proto_message(&node, 5, onnx_attribute("value_float", A_FLOAT));
    proto_message(&graph, 1, node);
    refuse_graph(graph, "two values");
    refuse_graph(with(1, onnx_node("Constant", "x", "z")), "a Constant that has inputs");
    proto wrong = onnx_attribute("value", A_TENSOR);
    proto_message(&wrong, 5, onnx_raw_tensor("", FLOAT, 2, 7));
    refuse_graph(constant(wrong), "7 bytes of raw_data");
}

static void broken_tensors(void **state) {
    (void)state;
    refuse_graph(with(5, onnx_raw_tensor("", FLOAT, 1, 4)), "without a name");
    refuse_graph(with(5, onnx_raw_tensor("w", FLOAT, 1, 3)), "'w' has 3 bytes of raw_data");
    refuse_graph(with(5, onnx_raw_tensor("w", FLOAT, 1, 8)), "need 4");
    refuse_graph(with(5, onnx_raw_tensor("w", 21, 3, 1)), "need 2");
    refuse_graph(with(5, onnx_tensor("w", FLOAT, 1)), "'w' has 0 numbers");
    refuse_graph(with(5, onnx_raw_tensor("w", 0, 1, 4)), "no element type");
    refuse_graph(with(5, onnx_raw_tensor("w", 29, 1, 4)), "does not know");
    refuse_graph(with(5, onnx_raw_tensor("w", -1, 1, 4)), "does not know");
    refuse_graph(with(5, onnx_raw_tensor("w", STRING, 1, 4)), "raw_data for strings");
    refuse_graph(with(5, list_tensor(FLOAT, 1, 7, "\1", 1)), "another type");
    refuse_graph(with(5, list_tensor(FLOAT, 1, 4, "\0\0\0\0\0", 5)), "4-byte numbers has 5 bytes");
    refuse_graph(with(5, list_tensor(11, 1, 10, "\0\0\0\0", 4)), "8-byte numbers has 4 bytes");
    refuse_graph(with(5, list_tensor(INT64, 1, 7, "\x80", 1)), "cut off");
    refuse_graph(with(5, list_tensor(INT64, 1, 7, "\1\2", 2)), "has 2 numbers");
    refuse_graph(with(5, list_tensor(14, 1, 4, "\0\0\0\0", 4)), "need 2");
    proto tensor = onnx_raw_tensor("w", FLOAT, 1, 4);
    proto_float(&tensor, 4, 1);
    refuse_graph(with(5, tensor), "more than one field");
    tensor = onnx_tensor("w", FLOAT, (int64_t)1 << 40);
    proto_int(&tensor, 1, (int64_t)1 << 40);
    proto_int(&tensor, 14, 1);
    refuse_graph(with(5, tensor), "beyond 64 bits");
    tensor = onnx_tensor("w", FLOAT, 1);
    for (int i = 0; i < BERTH_MAX_RANK; i++) proto_int(&tensor, 1, 1);
    refuse_graph(with(5, tensor), "more than 64 dimensions");
    proto graph = with(5, onnx_raw_tensor("w", FLOAT, 1, 4));
    proto_message(&graph, 5, onnx_raw_tensor("w", FLOAT, 1, 4));
    refuse_graph(graph, "two initializers are called 'w'");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_packed), cmocka_unit_test(contents_up_to_a_limit),
        cmocka_unit_test(large_lists),         cmocka_unit_test(external_tensors),
        cmocka_unit_test(sparse_initializers), cmocka_unit_test(constants_of_all_kinds),
        cmocka_unit_test(broken_constants),    cmocka_unit_test(broken_tensors),
    };
    return cmocka_run_group_tests_name("read.onnx_tensors", tests, set_up, tear_down);
}
