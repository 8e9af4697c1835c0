/* SPDX-License-Identifier: Apache-2.0 */
/* read.onnx: models made by hand, each good one for one rule and each bad one for one refusal. */
#include "proto.h"
#include "support.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

enum { FLOAT = 1, INT64 = 7, STRING = 8 };
enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_GRAPH, A_FLOATS, A_INTS, A_STRINGS, A_GRAPHS = 10, A_SPARSE };

static berth_ctx *ctx;

static int set_up(void **state) {
    (void)state;
    return berth_ctx_new(&ctx, NULL);
}

static int tear_down(void **state) {
    (void)state;
    berth_ctx_free(ctx);
    return 0;
}

static berth_graph *read_with(proto graph, const berth_read_options *options) {
    proto model = onnx_model(graph);
    berth_graph *out = NULL;
    berth_status status = berth_graph_read_memory(ctx, &out, model.bytes, model.n, "test", options);
    proto_free(&model);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return out;
}

static berth_graph *read_graph(proto graph) {
    return read_with(graph, NULL);
}

/* A model refused as malformed, with a place in the message. */
static void refuse_model(proto model, const char *fragment) {
    support_refuse(ctx, model.bytes, model.n, BERTH_E_FORMAT, fragment);
    if (!strstr(berth_ctx_message(ctx), "test: byte ")) fail_msg("no place in '%s'", berth_ctx_message(ctx));
    proto_free(&model);
}

static void refuse_graph(proto graph, const char *fragment) {
    refuse_model(onnx_model(graph), fragment);
}

/* x -> Relu -> y, to which a test adds the field that it is about. */
static proto small(void) {
    proto graph = {0};
    proto_message(&graph, 1, onnx_node("Relu", "x", "y"));
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2,n"));
    proto_message(&graph, 12, onnx_value("y", FLOAT, NULL));
    return graph;
}

static proto with(uint32_t field, proto inner) {
    proto graph = small();
    proto_message(&graph, field, inner);
    return graph;
}

/* x -> Relu -> y, the Relu with an attribute. */
static proto with_attribute(proto attribute) {
    proto graph = {0}, node = onnx_node("Relu", "x", "y");
    proto_message(&node, 5, attribute);
    proto_message(&graph, 1, node);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2"));
    return graph;
}

static proto constant(proto attribute) {
    proto graph = {0}, node = onnx_node("Constant", "", "y");
    proto_message(&node, 5, attribute);
    proto_message(&graph, 1, node);
    return graph;
}

static int32_t tensor_of(const berth_graph *graph, const char *name) {
    for (int32_t i = 0; i < berth_graph_tensor_count(graph); i++)
        if (strcmp(berth_graph_tensor(graph, i)->name, name) == 0) return i;
    fail_msg("there is no tensor '%s'", name);
    return -1;
}

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

/* A nested graph: `in` are its inputs, then nodes, then outputs. */
static proto body(const char *inputs, proto node, const char *outputs) {
    proto graph = {0};
    for (const char *c = inputs; *c; c++) proto_message(&graph, 11, onnx_value((char[]){*c, 0}, FLOAT, NULL));
    proto_message(&graph, 1, node);
    for (const char *c = outputs; *c; c++) proto_message(&graph, 12, onnx_value((char[]){*c, 0}, FLOAT, NULL));
    return graph;
}

static proto nesting(const char *type, const char *inputs, const char *outputs, proto nested) {
    proto node = onnx_node(type, inputs, outputs), attribute = onnx_attribute("body", A_GRAPH);
    proto_message(&attribute, 6, nested);
    proto_message(&node, 5, attribute);
    return node;
}

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

static proto tensor_attribute(proto tensor) {
    proto attribute = onnx_attribute("t", A_TENSOR);
    proto_message(&attribute, 5, tensor);
    return attribute;
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

/* Sizes at which anything quadratic would not end. */
static void large_models(void **state) {
    (void)state;
    const int n = support_cases(100000);
    proto nested = {0}, node = onnx_node("Custom", "x", "y"), graph = {0};
    char name[20], before[20] = "x";
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "n%d", i);
        proto_message(&nested, 1, onnx_node("Neg", before, name));
        memcpy(before, name, sizeof name);
    }
    proto attribute = onnx_attribute("body", A_GRAPH);
    proto_message(&attribute, 6, nested);
    proto_message(&node, 5, attribute);
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "a%d", i);
        proto_message(&node, 5, onnx_attribute(name, 0));
        proto_text(&node, 1, "x");
    }
    proto_message(&graph, 1, node);
    proto_message(&graph, 11, onnx_value("x", FLOAT, "1"));
    for (int i = 0; i < n; i++) {
        proto_message(&graph, 1, onnx_node("Neg", "x", ""));
        proto_message(&graph, 13, onnx_value("x", FLOAT, "1"));
    }
    berth_graph *g = read_graph(graph);
    assert_int_equal(berth_graph_op_count(g), n + 1);
    assert_int_equal(berth_graph_op(g, 0)->n_nested_ops, n);
    assert_int_equal(berth_graph_op(g, 0)->n_attributes, n + 1);
    assert_int_equal(berth_graph_op(g, 0)->n_inputs, n + 1);
    berth_graph_free(g);
}

/* A file of 256 MiB whose weights are holes: they are not read. */
static void weights_are_not_read(void **state) {
    (void)state;
    enum { N = 256, WEIGHT = 1 << 20, MOST_KIB = 64 << 10 };
    char path[] = "/tmp/berth-onnx-XXXXXX", name[20];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    proto nodes = {0}, headers[N] = {{0}}, model = {0};
    size_t size = 0;
    for (int i = 0; i < N; i++) {
        snprintf(name, sizeof name, "w%d", i);
        proto tensor = onnx_tensor(name, 2, WEIGHT);
        proto_tag(&tensor, 9, 2);
        proto_varint(&tensor, WEIGHT);
        proto_tag(&headers[i], 5, 2);
        proto_varint(&headers[i], tensor.n + WEIGHT);
        proto_raw(&headers[i], tensor.bytes, tensor.n);
        size += headers[i].n + WEIGHT;
        proto_free(&tensor);
        proto_message(&nodes, 1, onnx_node("Identity", name, ""));
    }
    proto_int(&model, 1, 8);
    proto_tag(&model, 7, 2);
    proto_varint(&model, nodes.n + size);
    proto_raw(&model, nodes.bytes, nodes.n);
    off_t at = (off_t)model.n;
    assert_int_equal(pwrite(fd, model.bytes, model.n, 0), model.n);
    for (int i = 0; i < N; i++) {
        assert_int_equal(pwrite(fd, headers[i].bytes, headers[i].n, at), headers[i].n);
        at += (off_t)headers[i].n + WEIGHT;
        proto_free(&headers[i]);
    }
    assert_int_equal(ftruncate(fd, at), 0);
    proto_free(&nodes);
    proto_free(&model);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    berth_graph *g = NULL;
    berth_status status = berth_graph_read(ctx, &g, path, NULL);
    getrusage(RUSAGE_SELF, &after);
    close(fd);
    unlink(path);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(berth_graph_op_count(g), N);
    assert_int_equal(berth_graph_tensor(g, 0)->payload_bytes, WEIGHT);
    if (after.ru_maxrss - before.ru_maxrss > MOST_KIB) fail_msg("%ld KiB", after.ru_maxrss - before.ru_maxrss);
    berth_graph_free(g);
}

/* A tensor whose fields stand in any order, with remarks between them that may be longer than a window. */
static proto shuffled_tensor(uint64_t *seed, int index) {
    char name[60];
    snprintf(name, sizeof name, "%s%d", &"names of many lengths, up to "[support_below(seed, 28)], index);
    uint32_t n = support_below(seed, 2) ? support_below(seed, 200) : support_below(seed, 3000);
    bool list = support_below(seed, 2);
    proto tensor = {0};
    char *bytes = calloc(9000, 1);
    if (!bytes) abort();
    for (uint32_t i = 0; i < n; i++) bytes[i] = (char)support_below(seed, 128);
    int first = (int)support_below(seed, 4);
    for (int part = first; part < first + 4; part++) {
        switch (part % 4) {
        case 0: proto_int(&tensor, 1, n); break;
        case 1: proto_int(&tensor, 2, 3); break; /* i8 */
        case 2: proto_text(&tensor, 8, name); break;
        default: proto_bytes(&tensor, list ? 5 : 9, bytes, n); break;
        }
        if (support_below(seed, 4) == 0) proto_bytes(&tensor, 12, bytes, support_below(seed, 9000));
    }
    free(bytes);
    return tensor;
}

/* A large file, which is passed through a window, gives the same graph as its bytes in memory. */
static void windowed_or_in_place(void **state) {
    (void)state;
    uint64_t seed = 5;
    proto graph = {0};
    for (int i = 0; graph.n < 3 << 20; i++) {
        proto_message(&graph, 5, shuffled_tensor(&seed, i));
        if (i % 3 == 0) proto_message(&graph, 1, onnx_node("Custom", "", ""));
        if (i == 500) proto_text(&graph, 2, "the name of the graph");
    }
    proto model = onnx_model(graph);
    char path[] = "/tmp/berth-onnx-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, model.bytes, model.n), model.n);
    close(fd);
    berth_graph *windowed = NULL, *in_place = NULL;
    berth_status status = berth_graph_read(ctx, &windowed, path, NULL);
    unlink(path);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(berth_graph_read_memory(ctx, &in_place, model.bytes, model.n, "test", NULL), BERTH_OK);
    proto_free(&model);
    assert_string_equal(berth_graph_name(windowed), "the name of the graph");
    assert_string_equal(berth_graph_fingerprint(windowed), berth_graph_fingerprint(in_place));
    assert_true(berth_graph_tensor_count(windowed) > 500);
    for (int32_t i = 0; i < berth_graph_tensor_count(windowed); i++) {
        const berth_tensor *a = berth_graph_tensor(windowed, i), *b = berth_graph_tensor(in_place, i);
        assert_string_equal(a->name, b->name);
        assert_true(a->bytes == b->bytes && a->payload_bytes == b->payload_bytes);
        assert_true(a->content_size == b->content_size && !a->content == !b->content);
        if (a->content) assert_memory_equal(a->content, b->content, (size_t)a->content_size);
    }
    berth_graph_free(windowed);
    berth_graph_free(in_place);
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
        cmocka_unit_test(weights_are_not_read), /* first: it looks at the peak of the process */
        cmocka_unit_test(plain_model),
        cmocka_unit_test(nodes_in_any_order),
        cmocka_unit_test(inputs_left_out),
        cmocka_unit_test(made_up_names_differ),
        cmocka_unit_test(default_domain),
        cmocka_unit_test(initializer_among_inputs),
        cmocka_unit_test(declarations_complete_each_other),
        cmocka_unit_test(attributes_of_all_kinds),
        cmocka_unit_test(values_left_out_are_zero),
        cmocka_unit_test(captures_two_deep),
        cmocka_unit_test(captures_and_shadows),
        cmocka_unit_test(broken_nesting),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(digests_tell_apart),
        cmocka_unit_test(contents_are_packed),
        cmocka_unit_test(contents_up_to_a_limit),
        cmocka_unit_test(large_lists),
        cmocka_unit_test(external_tensors),
        cmocka_unit_test(sparse_initializers),
        cmocka_unit_test(constants_of_all_kinds),
        cmocka_unit_test(broken_constants),
        cmocka_unit_test(broken_models),
        cmocka_unit_test(broken_nodes),
        cmocka_unit_test(broken_attributes),
        cmocka_unit_test(broken_tensors),
        cmocka_unit_test(broken_declarations),
        cmocka_unit_test(other_types),
        cmocka_unit_test(unknown_fields),
        cmocka_unit_test(no_operations),
        cmocka_unit_test(bindings),
        cmocka_unit_test(recognition),
        cmocka_unit_test(damaged_models),
        cmocka_unit_test(large_models),
        cmocka_unit_test(windowed_or_in_place),
        cmocka_unit_test(memory_ladder),
    };
    return cmocka_run_group_tests_name("read.onnx", tests, set_up, tear_down);
}
