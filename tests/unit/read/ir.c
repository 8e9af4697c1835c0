/* SPDX-License-Identifier: Apache-2.0 */
/* read.ir: whole networks of every version, and what the reader owes its caller. */
#include "ir_fixture.h"

#include "read/readers.h"

#include <stdio.h>

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
        cmocka_unit_test_setup_teardown(reads_version_6, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_blobs_beside_each_other, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_both_dialects_in_version_9, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reads_execution_graphs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(binds_shapes_of_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(recognises_its_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(survives_lack_of_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(can_be_interrupted, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("read.ir", tests, NULL, NULL);
}
