/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the ONNX reader share: a context, small models made by hand, and how they are read or refused. */
#ifndef BERTH_TESTS_ONNX_FIXTURE_H
#define BERTH_TESTS_ONNX_FIXTURE_H

#include "proto.h"
#include "reading.h"

enum { FLOAT = 1, INT64 = 7, STRING = 8 };
enum { A_FLOAT = 1, A_INT, A_STRING, A_TENSOR, A_GRAPH, A_FLOATS, A_INTS, A_STRINGS, A_GRAPHS = 10, A_SPARSE };

static inline berth_graph *read_graph(proto graph) {
    proto model = onnx_model(graph);
    berth_graph *out = NULL;
    berth_status status = berth_graph_read_memory(ctx, &out, model.bytes, model.n, "test", NULL);
    proto_free(&model);
    if (status != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return out;
}

/* A model refused as malformed, with a place in the message. */
static inline void refuse_model(proto model, const char *fragment) {
    support_refuse(ctx, model.bytes, model.n, BERTH_E_FORMAT, fragment);
    if (!strstr(berth_ctx_message(ctx), "test: byte ")) fail_msg("no place in '%s'", berth_ctx_message(ctx));
    proto_free(&model);
}

static inline void refuse_graph(proto graph, const char *fragment) {
    refuse_model(onnx_model(graph), fragment);
}

/* x -> Relu -> y, to which a test adds the field that it is about. */
static inline proto small(void) {
    proto graph = {0};
    proto_message(&graph, 1, onnx_node("Relu", "x", "y"));
    proto_message(&graph, 11, onnx_value("x", FLOAT, "2,n"));
    proto_message(&graph, 12, onnx_value("y", FLOAT, NULL));
    return graph;
}

static inline proto with(uint32_t field, proto inner) {
    proto graph = small();
    proto_message(&graph, field, inner);
    return graph;
}

/* A nested graph: `in` are its inputs, then nodes, then outputs. */
static inline proto body(const char *inputs, proto node, const char *outputs) {
    proto graph = {0};
    for (const char *c = inputs; *c; c++) proto_message(&graph, 11, onnx_value((char[]){*c, 0}, FLOAT, NULL));
    proto_message(&graph, 1, node);
    for (const char *c = outputs; *c; c++) proto_message(&graph, 12, onnx_value((char[]){*c, 0}, FLOAT, NULL));
    return graph;
}

static inline proto nesting(const char *type, const char *inputs, const char *outputs, proto nested) {
    proto node = onnx_node(type, inputs, outputs), attribute = onnx_attribute("body", A_GRAPH);
    proto_message(&attribute, 6, nested);
    proto_message(&node, 5, attribute);
    return node;
}

static inline proto tensor_attribute(proto tensor) {
    proto attribute = onnx_attribute("t", A_TENSOR);
    proto_message(&attribute, 5, tensor);
    return attribute;
}

static inline int32_t tensor_of(const berth_graph *graph, const char *name) {
    for (int32_t i = 0; i < berth_graph_tensor_count(graph); i++)
        if (strcmp(berth_graph_tensor(graph, i)->name, name) == 0) return i;
    fail_msg("there is no tensor '%s'", name);
    return -1;
}

#endif
