/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx_nested: graphs in attributes: what they take from outside, how deep they may be, and digests of them and
 * of all else that is kept as a digest. */
#include "onnx_fixture.h"

#include <stdio.h>

static void check_captures(const berth_graph *graph, int32_t index, const char *names) {
    const berth_op *op = berth_graph_op(graph, index);
    char got[100] = "";
    int n = 0;
    for (int32_t i = op->n_inputs; i < op->n_inputs + op->n_captures; i++)
        n += snprintf(got + n, sizeof got - (size_t)n, "%s ", berth_graph_tensor(graph, op->inputs[i])->name);
    assert_string_equal(got, names);
}

/* Two deep: the inner graph takes the input x, the initializer w, the output a of an operation and its neighbour's p;
 * q is its own, v is the outer body's own. */
static void captures_two_deep(void **state) {
    (void)state;
    proto inner = body("q", onnx_node("Sum", "w,q,a,v,x,w,p", "r"), "rb");
    proto outer = body("v", nesting("If", "v", "u", inner), "ua");
    proto_message(&outer, 1, onnx_node("Neg", "v", "p")); /* defined after its use, in an enclosing graph */
    proto graph = {0};
    proto_message(&graph, 1, nesting("Loop", "x", "y", outer));
    proto_message(&graph, 1, onnx_node("Neg", "x", "a"));
    proto_message(&graph, 1, onnx_node("Neg", "a", "b"));
    proto_message(&graph, 5, onnx_raw_tensor("w", FLOAT, 1, 4));
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    proto_message(&graph, 12, onnx_value("y", FLOAT, "1"));
    berth_graph *g = read_graph(graph);
    const berth_op *loop = berth_graph_op(g, 0);
    assert_true(loop->n_inputs == 1 && loop->n_captures == 4 && loop->n_bodies == 2 && loop->n_nested_ops == 3);
    check_captures(g, 0, "w a x b ");
    assert_int_equal(berth_graph_capture_count(g), 2);
    assert_int_equal(berth_graph_edge_count(g), 1);
    assert_int_equal(berth_graph_order(g)[2], 0); /* it waits for what it captures */
    berth_graph_free(g);
}

/* A name that an inner graph defines hides the outer one, but only in there; each operation captures for itself. */
static void captures_and_shadows(void **state) {
    (void)state;
    proto graph = {0};
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    proto_message(&graph, 1, onnx_node("Neg", "x", "a"));
    proto_message(&graph, 1, nesting("If", "x", "b", body("a", onnx_node("Neg", "a", "r"), "r")));
    proto_message(&graph, 1, nesting("If", "x", "c", body("", onnx_node("Neg", "a", "r"), "r")));
    proto_message(&graph, 1, nesting("If", "x", "d", body("", onnx_node("Add", "a,a", "r"), "ra")));
    proto two = onnx_node("If", "x", "e"), attribute = onnx_attribute("bodies", A_GRAPHS), own = {0}, sparse = {0};
    proto_message(&own, 5, onnx_raw_tensor("a", FLOAT, 1, 4));
    proto_message(&sparse, 1, onnx_raw_tensor("s", FLOAT, 1, 4));
    proto_message(&own, 15, sparse);
    proto_message(&own, 1, onnx_node("Add", "a,s", "r"));
    proto_message(&attribute, 11, own);
    proto_message(&attribute, 11, body("", onnx_node("Neg", "a", "r"), ""));
    proto_message(&two, 5, attribute);
    proto_message(&graph, 1, two);
    berth_graph *g = read_graph(graph);
    check_captures(g, 1, "");
    check_captures(g, 2, "a ");
    check_captures(g, 3, "a ");
    check_captures(g, 4, "a ");
    assert_int_equal(berth_graph_op(g, 4)->n_bodies, 2);
    berth_graph_free(g);
}

static void broken_nesting(void **state) {
    (void)state;
    proto graph = small();
    proto_message(&graph, 1, nesting("If", "x", "z", body("", onnx_node("Neg", "nowhere", "r"), "r")));
    refuse_graph(graph, "reads 'nowhere', which nothing produces");
    graph = small(); /* what it captures is its own output: a cycle */
    proto_message(&graph, 1, nesting("If", "x", "z", body("", onnx_node("Neg", "z", "r"), "r")));
    refuse_graph(graph, "cycle");
    graph = small(); /* defined in one nested graph, used in its neighbour */
    proto_message(&graph, 1, nesting("If", "x", "z", body("k", onnx_node("Neg", "k", "r"), "r")));
    proto_message(&graph, 1, nesting("If", "x", "w", body("", onnx_node("Neg", "k", "r"), "r")));
    refuse_graph(graph, "reads 'k', which nothing produces");
    graph = small();
    proto_message(&graph, 1, nesting("If", "x", "z", body("", onnx_node("", "x", "r"), "r")));
    refuse_graph(graph, "op_type");
}

static proto nested_deep(int depth) {
    proto node = onnx_node("Neg", "x", "r");
    for (int i = 0; i < depth; i++) node = nesting("If", "x", "r", body("", node, ""));
    proto graph = {0};
    proto_message(&graph, 1, node);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    return graph;
}

static void nesting_is_limited(void **state) {
    (void)state;
    berth_graph *g = read_graph(nested_deep(200));
    assert_int_equal(berth_graph_op(g, 0)->n_bodies, 200);
    check_captures(g, 0, "x ");
    berth_graph_free(g);
    refuse_graph(nested_deep(201), "nested more than 200 deep");
    berth_read_options options = berth_read_options_default();
    options.max_depth = 1 << 30;
    proto model = onnx_model(nested_deep(5000));
    g = NULL;
    assert_int_equal(berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", &options), BERTH_E_FORMAT);
    assert_non_null(strstr(berth_ctx_message(ctx), "deep"));
    proto_free(&model);
    options.max_depth = 0;
    model = onnx_model(nested_deep(1));
    assert_int_equal(berth_graph_read_memory(ctx, &g, model.bytes, model.n, "test", &options), BERTH_E_FORMAT);
    proto_free(&model);
}

/* The same operation twice, once changed: are the digests of the attribute equal? */
static bool same_digest(proto one, proto other) {
    proto graph = {0}, node = onnx_node("Custom", "", "y");
    proto_message(&node, 5, one);
    proto_message(&node, 5, other);
    proto_message(&graph, 1, node);
    berth_graph *g = read_graph(graph);
    const berth_attribute *a = berth_graph_op(g, 0)->attributes;
    assert_true(a[0].kind == BERTH_ATTRIBUTE_OPAQUE && a[1].kind == BERTH_ATTRIBUTE_OPAQUE);
    bool same = memcmp(a[0].string, a[1].string, 32) == 0;
    berth_graph_free(g);
    return same;
}

static proto strings_attribute(const char *names) {
    proto attribute = onnx_attribute("s", A_STRINGS);
    proto_names(&attribute, 9, names);
    return attribute;
}

static proto graph_attribute(const char *inputs, const char *type, const char *uses, const char *outputs, int value) {
    proto attribute = onnx_attribute("g", A_GRAPH), node = onnx_node(type, uses, "r"),
          inner = onnx_attribute("k", A_INT);
    proto_int(&inner, 3, value);
    proto_message(&node, 5, inner);
    proto_message(&attribute, 6, body(inputs, node, outputs));
    return attribute;
}

static void digests_tell_apart(void **state) {
    (void)state;
    assert_true(same_digest(strings_attribute("ab,c"), strings_attribute("ab,c")));
    assert_false(same_digest(strings_attribute("ab,c"), strings_attribute("a,bc")));
    assert_true(same_digest(tensor_attribute(onnx_raw_tensor("", FLOAT, 2, 8)),
                            tensor_attribute(onnx_raw_tensor("", FLOAT, 2, 8))));
    assert_false(same_digest(tensor_attribute(onnx_raw_tensor("", FLOAT, 2, 8)),
                             tensor_attribute(onnx_raw_tensor("", INT64, 1, 8))));
    assert_false(same_digest(tensor_attribute(onnx_raw_tensor("", 17, 2, 2)), /* two 8-bit floats */
                             tensor_attribute(onnx_raw_tensor("", 18, 2, 2))));
    assert_true(same_digest(graph_attribute("q", "Neg", "q", "r", 1), graph_attribute("q", "Neg", "q", "r", 1)));
    assert_false(same_digest(graph_attribute("q", "Neg", "q", "r", 1), graph_attribute("q", "Neg", "q", "r", 2)));
    assert_false(same_digest(graph_attribute("q", "Neg", "q", "r", 1), graph_attribute("q", "Abs", "q", "r", 1)));
    assert_false(same_digest(graph_attribute("qp", "Neg", "q", "r", 1), graph_attribute("qp", "Neg", "p", "r", 1)));
    assert_false(same_digest(graph_attribute("q", "Neg", "q", "r", 1), graph_attribute("q", "Neg", "q", "rr", 1)));
    /* The same values, packed in another field. */
    proto list = onnx_tensor("", INT64, 2), raw = onnx_tensor("", INT64, 2);
    proto_bytes(&list, 7, "\x01\x02", 2);
    proto_bytes(&raw, 9, "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 16);
    assert_true(same_digest(tensor_attribute(list), tensor_attribute(raw)));
    /* Annotations do not count. */
    proto one = {0}, other = {0}, a = onnx_attribute("g", A_GRAPH), b = onnx_attribute("g", A_GRAPH);
    proto noted = onnx_node("Neg", "q", "r");
    proto_text(&noted, 6, "a remark");
    proto_message(&one, 11, onnx_value("q", FLOAT, "1"));
    proto_message(&other, 11, onnx_value("q", FLOAT, "1"));
    proto_message(&one, 1, onnx_node("Neg", "q", "r"));
    proto_message(&other, 1, noted);
    proto_text(&other, 10, "another");
    proto_message(&a, 6, one);
    proto_message(&b, 6, other);
    assert_true(same_digest(a, b));
    proto strings = onnx_tensor("", STRING, 2), changed = onnx_tensor("", STRING, 2);
    proto_names(&strings, 6, "ab,c");
    proto_names(&changed, 6, "a,bc");
    assert_false(same_digest(tensor_attribute(strings), tensor_attribute(changed)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_two_deep),  cmocka_unit_test(captures_and_shadows), cmocka_unit_test(broken_nesting),
        cmocka_unit_test(nesting_is_limited), cmocka_unit_test(digests_tell_apart),
    };
    return cmocka_run_group_tests_name("read.onnx_nested", tests, set_up, tear_down);
}
