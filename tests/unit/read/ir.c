/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "read/readers.h"

#include <stdio.h>

/* Documents are put together from these, one element a line, so that the lines in messages can be counted. */
#define HEAD                  "<net name=\"n\" version=\"11\">\n<layers>\n"
#define OLD_HEAD              "<net name=\"n\" version=\"6\">\n<layers>\n"
#define OPEN                  "<layer id=\"0\" name=\"p\" type=\"Parameter\" version=\"opset1\">\n"
#define PARAMETER(id, name)   PARAMETER_LIKE(id, name, "element_type=\"f32\" shape=\"1,3\"", "<dim>1</dim><dim>3</dim>")
#define OUTPUT(id, dims)      "<output><port id=\"" #id "\" precision=\"FP32\">" dims "</port></output>"
#define INPUT(id)             "<input><port id=\"" #id "\"/></input>"
#define LAYER(id, name, type) "<layer id=\"" #id "\" name=\"" name "\" type=\"" type "\" version=\"opset1\">"
#define END                   "</layer>\n"
#define UNARY(id, name, type) LAYER(id, name, type) INPUT(0) OUTPUT(1, "<dim>1</dim><dim>3</dim>") END
#define RESULT(id)            LAYER(id, "r", "Result") INPUT(0) END
#define EDGES                 "</layers>\n<edges>\n"
#define EDGE(from, fp, to, tp) \
    "<edge from-layer=\"" #from "\" from-port=\"" #fp "\" to-layer=\"" #to "\" to-port=\"" #tp "\"/>\n"
#define FOOT                                 "</edges>\n</net>\n"
#define PARAMETER_LIKE(id, name, data, dims) LAYER(id, name, "Parameter") "<data " data "/>" OUTPUT(0, dims) END
#define CONSTANT(id, data)                   LAYER(id, "c", "Const") "<data " data "/>" OUTPUT(0, "") END
/* One layer before a Result. */
#define ALONE(layer) HEAD layer RESULT(9) EDGES EDGE(0, 0, 9, 0) FOOT

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

static berth_graph *read_text(const char *text) {
    berth_graph *graph = NULL;
    if (berth_graph_read_memory(ctx, &graph, text, strlen(text), "test", NULL) != BERTH_OK)
        fail_msg("%s in: %s", berth_ctx_message(ctx), text);
    return graph;
}

static const berth_tensor *output_of(const berth_graph *graph, int32_t op) {
    return berth_graph_tensor(graph, berth_graph_op(graph, op)->outputs[0]);
}

static void reads_a_small_network(void **state) {
    (void)state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/cnn.xml"));
    assert_int_equal(berth_graph_format(graph), BERTH_FORMAT_OPENVINO_IR);
    assert_int_equal(berth_graph_version(graph), 11);
    assert_string_equal(berth_graph_name(graph), "cnn");
    assert_int_equal(berth_graph_op_count(graph), 6);
    assert_int_equal(berth_graph_edge_count(graph), 5);
    assert_int_equal(berth_graph_tensor_count(graph), 6); /* MaxPool has two outputs, Result none */

    const berth_op *conv = berth_graph_op(graph, 2);
    assert_string_equal(conv->name, "conv");
    assert_string_equal(conv->type, "Convolution");
    assert_string_equal(conv->domain, "opset1");
    assert_int_equal(conv->id, 2);
    assert_int_equal(conv->where, 16);
    assert_int_equal(conv->n_inputs, 2);
    assert_int_equal(conv->n_attributes, 5);
    assert_int_equal(berth_op_attribute(conv, "pads_begin")->kind, BERTH_ATTRIBUTE_STRING);
    assert_string_equal(berth_op_attribute(conv, "pads_begin")->string, "1, 1");
    assert_int_equal(berth_op_attribute(conv, "pads_begin")->count, 4);

    const berth_tensor *weights = berth_graph_tensor(graph, conv->inputs[1]);
    assert_string_equal(weights->name, "weights");
    assert_int_equal(weights->producer, 1);
    assert_int_equal(weights->type, BERTH_TYPE_F32);
    assert_int_equal(weights->shape.rank, 4);
    assert_int_equal(weights->shape.dims[0].min, 4);
    assert_int_equal(weights->bytes, 432);
    assert_int_equal(weights->payload_bytes, 432);
    assert_true(weights->flags & BERTH_TENSOR_EXTERNAL);
    assert_true(weights->flags & BERTH_TENSOR_CONSTANT);
    assert_null(weights->content);

    int32_t n = 0;
    const int32_t *inputs = berth_graph_inputs(graph, &n);
    assert_int_equal(n, 1);
    assert_string_equal(berth_graph_tensor(graph, inputs[0])->name, "image");
    assert_true(berth_graph_op(graph, 0)->flags & BERTH_OP_INPUT);
    const int32_t *outputs = berth_graph_outputs(graph, &n);
    assert_int_equal(n, 1);
    assert_string_equal(berth_graph_tensor(graph, outputs[0])->name, "features");
    assert_true(berth_graph_op(graph, 5)->flags & BERTH_OP_OUTPUT);

    const berth_edge *edge = berth_graph_edge(graph, 4);
    assert_int_equal(edge->from, 4);
    assert_int_equal(edge->from_port, 0); /* the position, not the id */
    assert_int_equal(edge->to, 5);
    assert_int_equal(edge->tensor, outputs[0]);
    berth_graph_free(graph);
}

static void counts_nested_graphs(void **state) {
    (void)state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/if.xml"));
    assert_int_equal(berth_graph_op_count(graph), 4);
    assert_int_equal(berth_graph_op(graph, 2)->n_bodies, 2);
    assert_int_equal(berth_graph_op(graph, 2)->n_nested_ops, 6);
    assert_int_equal(berth_graph_op(graph, 2)->n_captures, 0);
    assert_int_equal(berth_op_attribute(berth_graph_op(graph, 2), "then_body")->kind, BERTH_ATTRIBUTE_OPAQUE);
    assert_int_equal(berth_op_attribute(berth_graph_op(graph, 2), "else_port_map")->count, 32);
    berth_graph_free(graph);
    graph = support_read(ctx, support_source("tests/golden/loop.xml"));
    assert_int_equal(berth_graph_op_count(graph), 5);
    assert_int_equal(berth_graph_op(graph, 3)->n_bodies, 3); /* an If with two branches inside the body */
    assert_int_equal(berth_graph_op(graph, 3)->n_nested_ops, 11);
    berth_graph_free(graph);
}

/* The digest of the nested graph of a TensorIterator with that content. */
static void digest_body(const char *content, char digest[32]) {
    char text[2048];
    snprintf(text, sizeof text,
             HEAD PARAMETER(0, "p") LAYER(1, "t", "TensorIterator") INPUT(0)
                 OUTPUT(1, "") "<body>%s</body>" END RESULT(2) EDGES EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0) FOOT,
             content);
    berth_graph *graph = read_text(text);
    memcpy(digest, berth_op_attribute(berth_graph_op(graph, 1), "body")->string, 32);
    berth_graph_free(graph);
}

static void tells_nested_graphs_apart(void **state) {
    (void)state;
    const char *base = "<layers><layer type=\"Const\"><data offset=\"0\" size=\"4\"/><dim>12</dim></layer></layers>";
    const char *same[] = {
        "<layers>\n <layer type=\"Const\">\t<data offset=\"8\" size=\"4\"/><dim> 12 </dim></layer></layers>",
        "<layers><layer type=\"Const\"><rt_info><layer/>text</rt_info><data offset=\"8\" size=\"4\"/><dim>12</dim>"
        "</layer></layers><rt_info a=\"b\"/>",
    };
    const char *other[] = {
        "<layers><layer type=\"Const\"><data offset=\"0\" size=\"8\"/><dim>12</dim></layer></layers>",
        "<layers><layer type=\"Const\"><data offset=\"0\" size=\"4\"/><dim>1</dim><dim>2</dim></layer></layers>",
        "<layers><layer type=\"Cons\" t=\"\"><data offset=\"0\" size=\"4\"/><dim>12</dim></layer></layers>",
        "<layers><layer type=\"Const\"><data offset=\"0\" size=\"4\"><dim>12</dim></data></layer></layers>",
        "<layers><layer type=\"Const\"><data offset=\"0\" size=\"4\"/><dim>12</dim></layer></layers><edges/>",
    };
    char expected[32], digest[32];
    digest_body(base, expected);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        digest_body(same[i], digest);
        assert_memory_equal(digest, expected, 32);
    }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        digest_body(other[i], digest);
        assert_memory_not_equal(digest, expected, 32);
    }
}

static void check_dim(const berth_tensor *tensor, int32_t dim, int64_t min, int64_t max) {
    assert_int_equal(tensor->shape.dims[dim].min, min);
    assert_int_equal(tensor->shape.dims[dim].max, max);
}

static void reads_dynamic_shapes(void **state) {
    (void)state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/dynamic.xml"));
    const berth_tensor *tokens = output_of(graph, 0);
    assert_int_equal(tokens->shape.rank, 4);
    check_dim(tokens, 0, 0, INT64_MAX);
    check_dim(tokens, 1, 1, 512);
    check_dim(tokens, 2, 0, 8);
    check_dim(tokens, 3, 2, INT64_MAX);
    assert_int_equal(tokens->bytes, -1);
    assert_int_equal(output_of(graph, 1)->shape.rank, -1);
    assert_int_equal(output_of(graph, 2)->shape.rank, 0);
    assert_int_equal(output_of(graph, 2)->bytes, 2);
    assert_int_equal(output_of(graph, 3)->shape.rank, 1);
    assert_int_equal(output_of(graph, 4)->shape.rank, -1); /* reads one of unknown rank */
    assert_int_equal(output_of(graph, 5)->shape.rank, 0);
    berth_graph_free(graph);
}

/* A port without dimensions behind an operation that can lose the rank is no certain scalar. */
static void doubts_scalars_where_rank_may_be_lost(void **state) {
    (void)state;
    static const struct {
        const char *type, *shape;
        int32_t rank;
    } cases[] = {
        {"Squeeze", "?,3", -1},
        {"Squeeze", "1,1", 0},
        {"Abs", "?,3", 0},
        {"Abs", "...", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 HEAD PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"%s\"", "") LAYER(1, "o", "%s") INPUT(0)
                     OUTPUT(1, "") END RESULT(2) EDGES EDGE(0, 0, 1, 0) EDGE(1, 1, 2, 0) FOOT,
                 cases[i].shape, cases[i].type);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 1)->shape.rank, cases[i].rank);
        berth_graph_free(graph);
    }
    berth_graph *graph =
        read_text(HEAD PARAMETER(0, "p") PARAMETER_LIKE(1, "s", "element_type=\"i64\" shape=\"?\"", "")
                      LAYER(2, "o", "Reshape") "<input><port id=\"0\"/><port id=\"1\"/></input>" OUTPUT(2, "")
                          END RESULT(3) EDGES EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) FOOT);
    assert_int_equal(output_of(graph, 2)->shape.rank, -1);
    berth_graph_free(graph);
}

static void reads_version_6(void **state) {
    (void)state;
    berth_graph *graph = support_read(ctx, support_source("tests/golden/legacy_v6.xml"));
    assert_int_equal(berth_graph_version(graph), 6);
    assert_int_equal(berth_graph_op_count(graph), 7);
    assert_string_equal(berth_graph_op(graph, 1)->domain, "");
    assert_int_equal(berth_graph_op(graph, 1)->blob_bytes, 32);
    assert_int_equal(output_of(graph, 1)->type, BERTH_TYPE_F32);
    /* An Input with a blob is a constant ... */
    assert_false(berth_graph_op(graph, 2)->flags & BERTH_OP_INPUT);
    assert_true(berth_graph_op(graph, 2)->flags & BERTH_OP_CONSTANT);
    assert_int_equal(berth_graph_op(graph, 2)->blob_bytes, 128);
    /* ... a Const stores its bytes in its tensor, and is a scalar if they are one element ... */
    assert_int_equal(berth_graph_op(graph, 4)->blob_bytes, 0);
    assert_int_equal(output_of(graph, 4)->payload_bytes, 4);
    assert_int_equal(output_of(graph, 4)->shape.rank, 0);
    /* ... and any other port without dimensions is of unknown shape. */
    assert_int_equal(output_of(graph, 5)->shape.rank, -1);
    int32_t n = 0;
    berth_graph_inputs(graph, &n);
    assert_int_equal(n, 1);
    const int32_t *outputs = berth_graph_outputs(graph, &n);
    assert_int_equal(n, 2);
    assert_string_equal(berth_graph_tensor(graph, outputs[0])->name, "halves.0");
    assert_string_equal(berth_graph_tensor(graph, outputs[1])->name, "halves.1");
    berth_graph_free(graph);
}

static void reads_blobs_beside_each_other(void **state) {
    (void)state;
    berth_graph *graph =
        read_text("<net version=\"4\"><layers>"
                  "<layer id=\"1\" name=\"i\" type=\"Input\" precision=\"FP16\">" OUTPUT(
                      0, "") "</layer>"
                             "<layer id=\"2\" name=\"c\" type=\"Convolution\" precision=\"FP16\">" INPUT(
                                 0) "<output><port id=\"1\"/></output><weights offset=\"0\" size=\"10\"/>"
                                    "<biases offset=\"10\" size=\"2\"/></layer>"
                                    "<layer id=\"3\" name=\"k\" type=\"Const\" precision=\"Q78\">"
                                    "<output><port id=\"0\"/></output><blobs><custom offset=\"0\" size=\"3\"/></blobs>"
                                    "</layer></layers><edges>" EDGE(1, 0, 2, 0) "</edges></net>");
    assert_string_equal(berth_graph_name(graph), "");
    assert_int_equal(berth_graph_op(graph, 1)->blob_bytes, 12);
    assert_int_equal(output_of(graph, 0)->type, BERTH_TYPE_F32); /* the port's own precision */
    assert_int_equal(output_of(graph, 0)->shape.rank, -1);
    assert_int_equal(output_of(graph, 1)->type, BERTH_TYPE_F16); /* the layer's */
    assert_int_equal(output_of(graph, 2)->type, BERTH_TYPE_UNKNOWN);
    assert_int_equal(output_of(graph, 2)->shape.rank, -1);
    assert_int_equal(output_of(graph, 2)->payload_bytes, 3);
    berth_graph_free(graph);
}

/* Version 9 was never published; what is there follows one dialect or the other. */
static void reads_both_dialects_in_version_9(void **state) {
    (void)state;
    berth_graph *graph =
        read_text("<net version=\"9\"><layers>" PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 0) FOOT);
    assert_string_equal(berth_graph_op(graph, 0)->domain, "opset1");
    assert_int_equal(output_of(graph, 0)->shape.rank, 2);
    berth_graph_free(graph);
    graph = read_text("<net version=\"8\"><layers><layer id=\"0\" name=\"i\" type=\"Input\" precision=\"I8\"><output>"
                      "<port id=\"7\"/></output></layer></layers></net>");
    assert_int_equal(output_of(graph, 0)->type, BERTH_TYPE_I8);
    assert_int_equal(output_of(graph, 0)->shape.rank, -1);
    int32_t n = 0;
    berth_graph_outputs(graph, &n);
    assert_int_equal(n, 0); /* an input that nobody reads is no output */
    berth_graph_free(graph);
}

/* Graphs of a running network, as runtimes dump them: version 10, but no opsets. */
static void reads_execution_graphs(void **state) {
    (void)state;
    berth_graph *graph =
        read_text("<net version=\"10\"><layers><layer id=\"0\" name=\"i\" type=\"Input\">" OUTPUT(0, "") END
                  "<layer id=\"1\" name=\"k\" type=\"Const\"><data execOrder=\"1\"/>" OUTPUT(0, "") END
                  "<layer id=\"2\" name=\"e\" type=\"Eltwise\"><input><port id=\"0\"/>"
                  "<port id=\"1\"/></input>" OUTPUT(2, "") END "<layer id=\"3\" name=\"o\" type=\"Output\">" INPUT(0)
                      END EDGES EDGE(0, 0, 2, 0) EDGE(1, 0, 2, 1) EDGE(2, 2, 3, 0) FOOT);
    assert_true(berth_graph_op(graph, 0)->flags & BERTH_OP_INPUT);
    assert_true(berth_graph_op(graph, 3)->flags & BERTH_OP_OUTPUT);
    assert_true(berth_graph_op(graph, 1)->flags & BERTH_OP_CONSTANT);
    int32_t n = 0;
    berth_graph_outputs(graph, &n);
    assert_int_equal(n, 1);
    berth_graph_free(graph);
}

static void names_every_element_type(void **state) {
    (void)state;
    static const struct {
        const char *name;
        berth_type type;
    } cases[] = {
        {"FP32", BERTH_TYPE_F32},  {"f32", BERTH_TYPE_F32},         {"FP16", BERTH_TYPE_F16},
        {"f16", BERTH_TYPE_F16},   {"BF16", BERTH_TYPE_BF16},       {"FP64", BERTH_TYPE_F64},
        {"I4", BERTH_TYPE_I4},     {"I8", BERTH_TYPE_I8},           {"I16", BERTH_TYPE_I16},
        {"I32", BERTH_TYPE_I32},   {"I64", BERTH_TYPE_I64},         {"U1", BERTH_TYPE_U1},
        {"BIN", BERTH_TYPE_U1},    {"U2", BERTH_TYPE_U2},           {"U3", BERTH_TYPE_U3},
        {"U4", BERTH_TYPE_U4},     {"U6", BERTH_TYPE_U6},           {"U8", BERTH_TYPE_U8},
        {"U16", BERTH_TYPE_U16},   {"U32", BERTH_TYPE_U32},         {"U64", BERTH_TYPE_U64},
        {"BOOL", BERTH_TYPE_BOOL}, {"boolean", BERTH_TYPE_BOOL},    {"STRING", BERTH_TYPE_STRING},
        {"NF4", BERTH_TYPE_NF4},   {"F8E4M3", BERTH_TYPE_F8},       {"F8E5M2", BERTH_TYPE_F8},
        {"F8E8M0", BERTH_TYPE_F8}, {"F4E2M1", BERTH_TYPE_F4},       {"UNSPECIFIED", BERTH_TYPE_UNKNOWN},
        {"i2", BERTH_TYPE_I2},     {"dynamic", BERTH_TYPE_UNKNOWN}, {"undefined", BERTH_TYPE_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 HEAD LAYER(0, "x", "Camera") "<output><port id=\"0\" precision=\"%s\"/></output>" END
                                              "</layers></net>",
                 cases[i].name);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 0)->type, cases[i].type);
        berth_graph_free(graph);
    }
}

static void reads_every_spelling_of_a_shape(void **state) {
    (void)state;
    static const struct {
        const char *shape;
        int32_t rank;
        int64_t first_min, first_max;
    } cases[] = {
        {"1,3,224,224", 4, 1, 1},
        {"", 0, 0, 0},
        {"  ", 0, 0, 0},
        {"?", 1, 0, INT64_MAX},
        {"-1", 1, 0, INT64_MAX},
        {" 7 , 8 ", 2, 7, 7},
        {"1..10", 1, 1, 10},
        {"..10", 1, 0, 10},
        {"5..", 1, 5, INT64_MAX},
        {" 2 .. 3 ,?", 2, 2, 3},
        {"...", -1, 0, 0},
        {"[1,2]", 2, 1, 1},
        {"[]", 0, 0, 0},
        {"0", 1, 0, 0},
        {"..", 1, 0, INT64_MAX},
        {"4..4", 1, 4, 4},
        {"[...]", -1, 0, 0},
        {"\t3\n", 1, 3, 3},
        {"9223372036854775807", 1, INT64_MAX, INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text, ALONE(PARAMETER_LIKE(0, "p", "element_type=\"u8\" shape=\"%s\"", "")),
                 cases[i].shape);
        berth_graph *graph = read_text(text);
        assert_int_equal(output_of(graph, 0)->shape.rank, cases[i].rank);
        if (cases[i].rank > 0) check_dim(output_of(graph, 0), 0, cases[i].first_min, cases[i].first_max);
        berth_graph_free(graph);
    }
    const char *bad[] = {"1s",
                         "1,,2",
                         ",",
                         "1,",
                         ",1",
                         "1,...",
                         "...,...",
                         "1..g",
                         "3..2",
                         "-2",
                         "1.5",
                         "+1",
                         "0x10",
                         "1 2",
                         "?1",
                         "1...3",
                         "-1..3",
                         "1..-1",
                         "[1",
                         "1]",
                         "....",
                         "--1",
                         "-",
                         "1..2..3",
                         "[[1]]",
                         "..,",
                         "9223372036854775808",
                         "99999999999999999999999",
                         "\xc3\xa9"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[1024];
        snprintf(text, sizeof text, ALONE(PARAMETER_LIKE(0, "p", "element_type=\"u8\" shape=\"%s\"", "")), bad[i]);
        support_refuse(ctx, text, strlen(text), BERTH_E_FORMAT, "test:3: bad shape");
    }
}

static void takes_the_first_name(void **state) {
    (void)state;
    static const struct {
        const char *names, *first;
    } cases[] = {{"a", "a"},      {"a,b", "a"},       {"a\\,b,c", "a,b"}, {"a\\b,c", "a\\b"}, {"", "layer"},
                 {",b", "layer"}, {" a b ,c", "a b"}, {"a\\,", "a,"},     {"\\,\\,", ",,"},   {"a\\", "a\\"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ALONE(LAYER(0, "layer",
                             "Parameter") "<data element_type=\"f32\" shape=\"\"/>"
                                          "<output><port id=\"0\" precision=\"FP32\" names=\"%s\"/></output>" END),
                 cases[i].names);
        berth_graph *graph = read_text(text);
        assert_string_equal(output_of(graph, 0)->name, cases[i].first);
        berth_graph_free(graph);
    }
}

/* What <data> of a Parameter or Const says counts, whatever its port says. */
static void trusts_data_before_ports(void **state) {
    (void)state;
    berth_graph *graph = read_text(
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f16\" shape=\"1,22,22,3\"", "<dim>1</dim><dim>3</dim>")));
    assert_int_equal(output_of(graph, 0)->type, BERTH_TYPE_F16);
    assert_int_equal(output_of(graph, 0)->shape.rank, 4);
    check_dim(output_of(graph, 0), 3, 3, 3);
    berth_graph_free(graph);
    graph = read_text(ALONE(CONSTANT(0, "element_type=\"u4\" shape=\"5\" offset=\"1\" size=\"3\"")));
    assert_int_equal(output_of(graph, 0)->bytes, 3);
    berth_graph_free(graph);
}

static void accepts_what_openvino_accepts(void **state) {
    (void)state;
    const char *good[] = {
        /* blanks before the declaration, a byte order mark, comments, CDATA, characters by number */
        "\n \t\r\n<?xml version=\"1.0\"?>" ALONE(PARAMETER(0, "p")),
        "\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"UTF-8\"?>" ALONE(PARAMETER(0, "p")),
        ALONE("<!-- a comment --><?pi?>" PARAMETER(0, "&lt;&#x20AC;&amp;")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"1\"", "<dim><![CDATA[1]]></dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"1\"", "<dim>&#49;</dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"?\"", "<dim> ? </dim>")),
        ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"?\"",
                             "<dim>                                                  1"
                             "                                                  </dim>")),
        /* a constant longer than it need be, of strings, of nothing, at the end of what a file can hold */
        ALONE(CONSTANT(0, "element_type=\"u8\" shape=\"0\" offset=\"0\" size=\"1\"")),
        ALONE(CONSTANT(0, "element_type=\"string\" shape=\"7\" offset=\"0\" size=\"0\"")),
        ALONE(CONSTANT(0, "element_type=\"u8\" shape=\"1\" offset=\"9223372036854775806\" size=\"1\"")),
        /* annotations anywhere */
        ALONE("<rt_info><layer id=\"0\"/></rt_info>" PARAMETER(0, "p")),
        ALONE(LAYER(
            0, "p",
            "Parameter") "<data element_type=\"f32\" shape=\"1\"/><output><rt_info><port/></rt_info>"
                         "<port id=\"0\" precision=\"FP32\"><rt_info><dim>x</dim></rt_info><dim>1</dim></port></output>" END),
        /* ids of any size and order, edges before layers, two ports of one number on the two sides of a layer */
        "<net version=\"11\"><edges>" EDGE(
            9223372036854775807, 5, 0, 8) "</edges><layers>"
                                          "<layer id=\"0\" name=\"r\" type=\"Result\" version=\"opset1\">" INPUT(8) END
        "<layer id=\"9223372036854775807\" name=\"p\" type=\"Parameter\" version=\"opset1\">"
        "<data element_type=\"f32\" shape=\"1\"/>" OUTPUT(5, "") END "</layers></net>",
        HEAD PARAMETER(0, "p") LAYER(1, "x", "X") INPUT(3) OUTPUT(3, "") END RESULT(2) EDGES EDGE(0, 0, 1, 3)
            EDGE(1, 3, 2, 0) FOOT,
        /* one tensor, two results */
        HEAD PARAMETER(0, "p") RESULT(1) RESULT(2) EDGES EDGE(0, 0, 1, 0) EDGE(0, 0, 2, 0) FOOT,
        /* an opset of somebody else */
        ALONE("<layer id=\"0\" name=\"x\" type=\"Sensor\" version=\"custom_opset\">" OUTPUT(0, "") END),
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        berth_graph *graph = read_text(good[i]);
        berth_graph_free(graph);
    }
}

static void reads_utf16(void **state) {
    (void)state;
    static const char text[] = "<?xml version=\"1.0\" encoding=\"UTF-16\"?>" ALONE(PARAMETER(0, "p"));
    for (int big = 0; big < 2; big++) {
        char wide[2 * sizeof text];
        size_t n = 0;
        wide[n++] = big ? '\xfe' : '\xff';
        wide[n++] = big ? '\xff' : '\xfe';
        for (size_t i = 0; text[i]; i++) {
            wide[n + (size_t)big] = text[i];
            wide[n + (size_t)!big] = 0;
            n += 2;
        }
        berth_graph *graph = NULL;
        assert_int_equal(berth_graph_read_memory(ctx, &graph, wide, n, "test", NULL), BERTH_OK);
        assert_int_equal(berth_graph_op_count(graph), 2);
        berth_graph_free(graph);
    }
}

static void refuses_what_is_no_graph(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        /* not XML, or not all of it */
        {"<", "test:1: not well-formed XML"},
        {"<net", "test:1: not well-formed XML"},
        {"<net version=\"11\">\n", "test:2: not well-formed XML"},
        {HEAD PARAMETER(0, "p"), "not well-formed XML"},
        {"\n\n<net version=\"11\"></nett>", "test:3: not well-formed XML: mismatched tag"},
        {ALONE(PARAMETER(0, "p")) "\n//", "not well-formed XML"},
        {ALONE(PARAMETER(0, "p")) "<net/>", "not well-formed XML: junk after"},
        {"<net version=\"11\" version=\"11\"/>", "duplicate attribute"},
        {"<net version=\"11\" name=\"\xff\"/>", "not well-formed XML"},
        {"<net version=\"11\" name=\"&what;\"/>", "undefined entity"},
        {"<?xml version=\"1.0\" encoding=\"klingon\"?><net version=\"11\"/>", "unknown encoding"},
        /* document types and entities */
        {"<!DOCTYPE net [<!ENTITY a \"b\">]><net version=\"11\" name=\"&a;\"/>", "test:1: a document type declaration"},
        {"<?xml version=\"1.0\"?>\n<!DOCTYPE net SYSTEM \"/etc/passwd\"><net version=\"11\"/>",
         "test:2: a document type declaration"},
        /* other XML */
        {"<svg width=\"1\"/>", "test:1: the root element is <svg>"},
        {"<layers/>", "test:1: the root element is <layers>"},
        {"<net/>", "test:1: <net> has no version"},
        {"<net version=\"eleven\"/>", "test:1: <net> has a bad version"},
        {"<net version=\"11\"/>", "test:1: <net> has no <layers>"},
        {"<net version=\"11\"><a><layers/></a></net>", "<net> has no <layers>"},
        {"<net version=\"11\">\n<layers/></net>", "test:2: <net> has no layer"},
        {HEAD PARAMETER(0, "p") "</layers>\n<layers/>", "test:5: a second <layers>"},
        {"<net version=\"11\">\n<edges/>\n<edges/>", "test:3: a second <edges>"},
        /* layers */
        {HEAD "<layer name=\"a\" type=\"b\"/>", "test:3: layer has no attribute 'id'"},
        {HEAD "<layer id=\"0\" type=\"b\"/>", "test:3: layer has no attribute 'name'"},
        {HEAD "<layer id=\"0\" name=\"a\"/>", "test:3: layer has no attribute 'type'"},
        {HEAD "<layer id=\"0\" name=\"a\" type=\"\"/>", "test:3: layer 0 has an empty type"},
        {HEAD "<layer id=\"x\" name=\"a\" type=\"b\"/>", "test:3: bad id \"x\" of layer"},
        {HEAD "<layer id=\"-1\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"9223372036854775808\" name=\"a\" type=\"b\"/>", "test:3: bad id"},
        {HEAD "<layer id=\"0\" name=\"a\" type=\"b\" precision=\"FP33\"/>", "test:3: bad precision \"FP33\" of layer"},
        {HEAD PARAMETER(0, "p") PARAMETER(0, "q") EDGES FOOT, "test:4: layer id 0 is used twice (first in line 3)"},
        {HEAD OPEN "<data/>\n<data/>", "test:5: a second <data>"},
        {HEAD OPEN "<input/>\n<input/>", "test:5: a second <input>"},
        {HEAD OPEN "<output/>\n<output/>", "test:5: a second <output>"},
        {HEAD LAYER(0, "t", "Loop") "<body/>\n<body/>", "test:4: a second <body>"},
        /* sources and results */
        {HEAD OPEN OUTPUT(0, "") END EDGES FOOT, "test:3: Parameter 'p' has no <data> with an element_type"},
        {HEAD OPEN "<data element_type=\"f32\"/>" OUTPUT(0, "") END,
         "test:3: Parameter 'p' has no <data> with a shape"},
        {HEAD OPEN "\n<data element_type=\"f33\" shape=\"1\"/>", "test:5: bad element_type \"f33\" of layer"},
        {HEAD OPEN "<data element_type=\"f32\" shape=\"1\"/>" END, "test:3: Parameter 'p' has 0 inputs and 0 outputs"},
        {HEAD OPEN "<data element_type=\"f32\" shape=\"1\"/>" INPUT(0) OUTPUT(0, "") END, "1 inputs and 1 outputs"},
        {HEAD LAYER(0, "c", "Const") "<data element_type=\"f32\" shape=\"1\"/>" OUTPUT(0, "") END,
         "test:3: Const 'c' has no <data> with a size"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" size=\"4\""), "test:3: Const has no attribute 'offset'"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" offset=\"-4\" size=\"4\""), "test:3: bad offset"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"1\" offset=\"0\" size=\"4.0\""), "test:3: bad size"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"?\" offset=\"0\" size=\"4\""), "test:3: bad shape"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"...\" offset=\"0\" size=\"4\""), "test:3: bad shape"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"2\" offset=\"0\" size=\"7\""),
         "test:3: 'c' stores 7 bytes, but its shape needs 8"},
        {HEAD CONSTANT(0, "element_type=\"u4\" shape=\"5\" offset=\"0\" size=\"2\""), "stores 2 bytes"},
        {HEAD CONSTANT(0, "element_type=\"u8\" shape=\"1\" offset=\"9223372036854775807\" size=\"1\""),
         "test:3: Const: offset and size add up beyond 64 bits"},
        {HEAD CONSTANT(0, "element_type=\"f32\" shape=\"4294967296,4294967296\" offset=\"0\" size=\"4\""),
         "test:3: the dimensions of 'c' multiply beyond 64 bits"},
        {HEAD LAYER(0, "r", "Result") END, "test:3: Result 'r' has 0 inputs instead of 1"},
        {HEAD LAYER(0, "c", "Const") "<body/>" END, "test:3: Const 'c' has a nested graph"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Const\" precision=\"FP32\">" OUTPUT(
             0, "<dim>2</dim>") "<blobs><custom offset=\"0\" size=\"4\"/></blobs>" END,
         "test:3: 'c' stores 4 bytes, but its shape needs 8"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Fc\"><blobs><weights size=\"4\"/>",
         "blob has no attribute 'offset'"},
        {OLD_HEAD "<layer id=\"0\" name=\"c\" type=\"Fc\"><blobs><a offset=\"0\" size=\"9223372036854775807\"/>"
                  "<b offset=\"0\" size=\"1\"/>",
         "test:3: the blobs of layer 0 add up beyond 64 bits"},
        /* ports */
        {HEAD OPEN "<output>\n<port precision=\"FP32\"/>", "test:5: port has no attribute 'id'"},
        {HEAD OPEN "<output>\n<port id=\"0\"/>", "test:5: output port 0 has no precision"},
        {HEAD OPEN "<output>\n<port id=\"0\" precision=\"\"/>", "test:5: bad precision"},
        {HEAD OPEN "<input>\n<port id=\"zero\"/>", "test:5: bad id \"zero\" of port"},
        {HEAD OPEN "<output><port id=\"0\" precision=\"FP32\">\n<dim>-2</dim>", "test:5: bad dimension \"-2\""},
        {HEAD OPEN "<input><port id=\"0\"><dim></dim>", "test:4: bad dimension \"\""},
        {HEAD OPEN "<input><port id=\"0\"><dim>1 2</dim>", "bad dimension"},
        {HEAD OPEN "<input><port id=\"0\"><dim>1<!-- -->x</dim>", "bad dimension \"1x\""},
        {HEAD OPEN "<input><port id=\"0\"><dim>00000000000000000000000000000000000000000001</dim>", "bad dimension"},
        {HEAD LAYER(0, "x",
                    "X") "<output>\n<port id=\"1\" precision=\"I8\"/>\n<port id=\"1\" precision=\"I8\"/></output>" END
             EDGES FOOT,
         "test:5: layer 0 has two output ports with id 1"},
        {HEAD LAYER(0, "x", "X") "<input><port id=\"1\"/><port id=\"1\"/></input>" END EDGES FOOT,
         "test:3: layer 0 has two input ports with id 1"},
        {HEAD PARAMETER_LIKE(0, "p", "element_type=\"f64\" shape=\"4294967296,4294967296\"", "") EDGES FOOT,
         "test:3: the dimensions of 'p' multiply beyond 64 bits"},
        /* edges */
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES "<edge from-port=\"0\" to-layer=\"1\" to-port=\"0\"/>",
         "test:7: edge has no attribute 'from-layer'"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, -1, 1, 0), "test:7: bad from-port"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(2, 0, 1, 0) FOOT,
         "test:7: edge from layer 2, which does not exist"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 2, 0) FOOT, "test:7: edge to layer 2, which does not exist"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 1, 1, 0) FOOT, "test:7: edge from port 1 of layer 0"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 1) FOOT, "test:7: edge to port 1 of layer 1"},
        {HEAD PARAMETER(0, "p") UNARY(1, "x", "X") EDGES EDGE(0, 0, 1, 1) FOOT, "(that is an output)"},
        {HEAD UNARY(0, "x", "X") UNARY(1, "y", "X") EDGES EDGE(0, 0, 1, 0) FOOT, "(that is an input)"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 0) EDGE(0, 0, 1, 0) FOOT,
         "test:8: a second edge to input port 0 of layer 1"},
        {HEAD PARAMETER(0, "p") RESULT(1) EDGES FOOT, "test:4: no edge to input port 0 of layer 1 'r'"},
        {HEAD UNARY(0, "x", "X") EDGES EDGE(0, 1, 0, 0) FOOT, "test:3: the graph has a cycle through 'x'"},
        {HEAD UNARY(0, "x", "X") UNARY(1, "y", "X") EDGES EDGE(0, 1, 1, 0) EDGE(1, 1, 0, 0) FOOT, "cycle"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        support_refuse(ctx, cases[i].text, strlen(cases[i].text), BERTH_E_FORMAT, cases[i].says);
    static const char with_nul[] = "<net version=\"11\">\0</net>";
    support_refuse(ctx, with_nul, sizeof with_nul - 1, BERTH_E_FORMAT, "test:1: not well-formed XML");
}

static void refuses_other_versions(void **state) {
    (void)state;
    const char *old = "<?xml version=\"1.0\"?>\n<net name=\"n\" version=\"3\"><layers/></net>";
    support_refuse(ctx, old, strlen(old), BERTH_E_UNSUPPORTED, "test:2: this is OpenVINO IR version 3");
    const char *next = "<net version=\"12\"/>";
    support_refuse(ctx, next, strlen(next), BERTH_E_UNSUPPORTED, "test:1: this is OpenVINO IR version 12");
}

static berth_text *new_text(void) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    return text;
}

/* A Parameter with that many dimensions, either in <data> or at its port. */
static berth_text *parameter_of_rank(int rank, bool in_data) {
    berth_text *text = new_text();
    berth_text_printf(text, HEAD LAYER(0, "p", "Parameter") "<data element_type=\"f32\" shape=\"1");
    for (int i = 1; in_data && i < rank; i++) berth_text_printf(text, ",1");
    berth_text_printf(text, "\"/><output><port id=\"0\" precision=\"FP32\">");
    for (int i = 0; !in_data && i < rank; i++) berth_text_printf(text, "<dim>1</dim>");
    berth_text_printf(text, "</port></output>" END RESULT(9) EDGES EDGE(0, 0, 9, 0) FOOT);
    assert_int_equal(berth_text_status(text), BERTH_OK);
    return text;
}

static void refuses_too_many_dimensions(void **state) {
    (void)state;
    for (int in_data = 0; in_data < 2; in_data++) {
        berth_text *text = parameter_of_rank(BERTH_MAX_RANK, in_data);
        berth_graph_free(read_text(berth_text_string(text)));
        berth_text_free(text);
        text = parameter_of_rank(BERTH_MAX_RANK + 1, in_data);
        support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                       in_data ? "test:3: Parameter 'p' has more than 64 dimensions"
                               : "test:3: a port has more than 64 dimensions");
        berth_text_free(text);
    }
}

/* `levels` bodies inside each other, in 3 * levels + 3 elements. */
static berth_text *nest(int levels) {
    berth_text *text = new_text();
    berth_text_printf(text, HEAD);
    for (int i = 0; i < levels; i++)
        berth_text_printf(text, "<layer id=\"1\" name=\"t\" type=\"Loop\" version=\"o\"><body><layers>");
    berth_text_printf(text, "<layer id=\"0\" name=\"t\" type=\"x\" version=\"o\"/>");
    for (int i = 0; i < levels; i++) berth_text_printf(text, "</layers></body></layer>");
    berth_text_printf(text, "</layers></net>");
    assert_int_equal(berth_text_status(text), BERTH_OK);
    return text;
}

static void limits_nesting(void **state) {
    (void)state;
    berth_text *text = nest(65); /* 198 deep */
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(berth_graph_op_count(graph), 1);
    assert_int_equal(berth_graph_op(graph, 0)->n_bodies, 65);
    assert_int_equal(berth_graph_op(graph, 0)->n_nested_ops, 65);
    berth_graph_free(graph);
    berth_text_free(text);
    text = nest(66);
    support_refuse(ctx, berth_text_string(text), berth_text_size(text), BERTH_E_FORMAT,
                   "test:3: elements are nested more than 200 deep");
    berth_text_free(text);
    const int n = support_cases(100000) > 1000 ? support_cases(100000) : 1000;
    text = nest(n);
    const char *deep = berth_text_string(text);
    support_refuse(ctx, deep, strlen(deep), BERTH_E_FORMAT, "nested more than 200 deep");
    berth_read_options options = berth_read_options_default();
    options.max_depth = INT32_MAX;
    assert_int_equal(berth_graph_read_memory(ctx, &graph, deep, strlen(deep), "test", &options), BERTH_OK);
    assert_int_equal(berth_graph_op(graph, 0)->n_bodies, n);
    berth_graph_free(graph);
    options.max_depth = -1;
    assert_int_equal(berth_graph_read_memory(ctx, &graph, deep, strlen(deep), "test", &options), BERTH_E_FORMAT);
    berth_text_free(text);
}

static berth_status read_bound(const char *text, const char *input, int32_t rank, const int64_t *dims,
                               berth_graph **graph) {
    berth_shape_binding binding = {input, rank, dims};
    berth_read_options options = berth_read_options_default();
    options.shapes = &binding;
    options.n_shapes = 1;
    return berth_graph_read_memory(ctx, graph, text, strlen(text), "test", &options);
}

static void binds_shapes_of_inputs(void **state) {
    (void)state;
    const char *text =
        ALONE(LAYER(0, "layer", "Parameter") "<data element_type=\"f32\" shape=\"?,3,2..8\"/><output>"
                                             "<port id=\"0\" precision=\"FP32\" names=\"tensor\"/></output>" END);
    const char *any = ALONE(PARAMETER_LIKE(0, "p", "element_type=\"f32\" shape=\"...\"", ""));
    const int64_t good[] = {4, 3, 8}, fixed[] = {4, 2, 8}, below[] = {4, 3, 1}, above[] = {4, 3, 9},
                  negative[] = {-1, 3, 8};
    const int64_t huge[] = {INT64_MAX, 3, 8};
    berth_graph *graph = NULL;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read_bound(text, i ? "tensor" : "layer", 3, good, &graph), BERTH_OK);
        assert_int_equal(output_of(graph, 0)->bytes, 4 * 3 * 8 * 4);
        berth_graph *unbound = read_text(text);
        assert_string_equal(berth_graph_fingerprint(graph), berth_graph_fingerprint(unbound));
        assert_int_equal(output_of(unbound, 0)->bytes, -1);
        berth_graph_free(unbound);
        berth_graph_free(graph);
    }
    assert_int_equal(read_bound(any, "p", 0, good, &graph), BERTH_OK);
    assert_int_equal(output_of(graph, 0)->shape.rank, 0);
    berth_graph_free(graph);
    assert_int_equal(read_bound(any, "p", 3, good, &graph), BERTH_OK);
    assert_int_equal(output_of(graph, 0)->shape.rank, 3);
    berth_graph_free(graph);

    static const struct {
        const char *input;
        int32_t rank;
        int which;
        const char *says;
    } bad[] = {
        {"r", 3, 0, "test: the model has no input 'r'"},
        {"layer", 2, 0, "test: input 'layer' does not have 2 dimensions"},
        {"layer", -1, 0, "does not have -1 dimensions"},
        {"layer", 3, 1, "dimension 1 of input 'layer' cannot be 2"},
        {"layer", 3, 2, "dimension 2 of input 'layer' cannot be 1"},
        {"layer", 3, 3, "dimension 2 of input 'layer' cannot be 9"},
        {"layer", 3, 4, "dimension 0 of input 'layer' cannot be -1"},
        {"layer", 3, 5, "beyond 64 bits"},
    };
    const int64_t *const dims[] = {good, fixed, below, above, negative, huge};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(read_bound(text, bad[i].input, bad[i].rank, dims[bad[i].which], &graph), BERTH_E_ARG);
        assert_null(graph);
        assert_non_null(strstr(berth_ctx_message(ctx), bad[i].says));
    }
    assert_int_equal(read_bound(any, "p", BERTH_MAX_RANK + 1, good, &graph), BERTH_E_ARG);
}

/* A layer with very many ports, which the file lists in falling order. */
static void stays_linear_in_ports(void **state) {
    (void)state;
    const int n_ports = support_cases(100000);
    berth_text *text = new_text();
    berth_text_printf(text, HEAD PARAMETER(0, "p") LAYER(1, "x", "Concat") "<input>");
    for (int i = n_ports; i > 0; i--) berth_text_printf(text, "<port id=\"%d\"/>", i);
    berth_text_printf(text, "</input>" OUTPUT(0, "") END RESULT(2) EDGES EDGE(1, 0, 2, 0));
    for (int i = 1; i <= n_ports; i++)
        berth_text_printf(text, "<edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" to-port=\"%d\"/>", i);
    berth_text_printf(text, FOOT);
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(berth_graph_edge_count(graph), n_ports + 1);
    assert_int_equal(berth_graph_pair_count(graph), 2);
    assert_int_equal(berth_graph_edge(graph, 1)->to_port, n_ports - 1); /* id 1 stands last */
    berth_graph_free(graph);
    berth_text_free(text);
}

/* A file of one enormous token. */
static void stays_linear_in_a_token(void **state) {
    (void)state;
    size_t size = (size_t)40 << 20; /* three pieces for expat */
    char *name = malloc(size);
    assert_non_null(name);
    memset(name, 'x', size);
    berth_text *text = new_text();
    berth_text_printf(text, "<net version=\"11\" name=\"");
    berth_text_append(text, name, size);
    berth_text_printf(text, "\"><layers>" PARAMETER(0, "p") RESULT(1) EDGES EDGE(0, 0, 1, 0) FOOT);
    berth_graph *graph = read_text(berth_text_string(text));
    assert_int_equal(strlen(berth_graph_name(graph)), size);
    berth_graph_free(graph);
    berth_text_free(text);
    free(name);
}

static void recognises_its_files(void **state) {
    (void)state;
    assert_true(berth_ir_recognise("<net", 4));
    assert_true(berth_ir_recognise("\xef\xbb\xbf \n<", 6));
    assert_true(berth_ir_recognise("\xff\xfe<\0", 4));
    assert_true(berth_ir_recognise("\xfe\xff\0<", 4));
    assert_false(berth_ir_recognise("", 0));
    assert_false(berth_ir_recognise(" \n", 2));
    assert_false(berth_ir_recognise("{\"a\": \"<\"}", 10));
    assert_false(berth_ir_recognise("\0<", 2));
}

static berth_status read_path(berth_ctx *of, void *user) {
    berth_shape_binding binding = {"x", 2, (const int64_t[]){2, 3}};
    berth_read_options options = berth_read_options_default();
    const char *path = user;
    if (strstr(path, "if.xml")) options.shapes = &binding, options.n_shapes = 1;
    berth_graph *graph = NULL;
    berth_status status = berth_graph_read(of, &graph, path, &options);
    if (status != BERTH_OK) assert_null(graph);
    berth_graph_free(graph);
    return status;
}

static void survives_lack_of_memory(void **state) {
    (void)state;
    const char *files[] = {"cnn", "if", "loop", "dynamic", "legacy_v6"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.xml", support_source("tests/golden"), files[i]);
        assert_true(support_ladder(read_path, path, 1) > 20);
    }
}

static bool stop_now(void *user) {
    return ++*(int *)user > 0;
}

static void can_be_interrupted(void **state) {
    (void)state;
    int asked = 0;
    berth_ctx_set_cancel(ctx, stop_now, &asked);
    support_refuse(ctx, ALONE(PARAMETER(0, "p")), strlen(ALONE(PARAMETER(0, "p"))), BERTH_E_CANCELLED, "interrupted");
    berth_ctx_set_cancel(ctx, NULL, NULL);
    assert_int_equal(asked, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(reads_a_small_network, set_up, tear_down),
        cmocka_unit_test_setup_teardown(counts_nested_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_nested_graphs_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_dynamic_shapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(doubts_scalars_where_rank_may_be_lost, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_version_6, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_blobs_beside_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_both_dialects_in_version_9, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_execution_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_every_element_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_every_spelling_of_a_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(takes_the_first_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trusts_data_before_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(accepts_what_openvino_accepts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_utf16, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_what_is_no_graph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_versions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_too_many_dimensions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_nesting, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binds_shapes_of_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stays_linear_in_ports, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stays_linear_in_a_token, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recognises_its_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(can_be_interrupted, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.ir", tests, NULL, NULL);
}
