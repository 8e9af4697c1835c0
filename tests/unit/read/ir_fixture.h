/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the IR reader share: a context, the pieces of documents, and how they are read. */
#ifndef BERTH_TESTS_IR_FIXTURE_H
#define BERTH_TESTS_IR_FIXTURE_H

#include "reading.h"

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

static inline berth_graph *read_text(const char *text) {
    berth_graph *graph = NULL;
    if (berth_graph_read_memory(ctx, &graph, text, strlen(text), "test", NULL) != BERTH_OK)
        fail_msg("%s in: %s", berth_ctx_message(ctx), text);
    return graph;
}

static inline const berth_tensor *output_of(const berth_graph *graph, int32_t op) {
    return berth_graph_tensor(graph, berth_graph_op(graph, op)->outputs[0]);
}

static inline void check_dim(const berth_tensor *tensor, int32_t dim, int64_t min, int64_t max) {
    assert_int_equal(tensor->shape.dims[dim].min, min);
    assert_int_equal(tensor->shape.dims[dim].max, max);
}

#endif
