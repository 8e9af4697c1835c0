/* SPDX-License-Identifier: Apache-2.0 */
/* An operation is a constant expression if it is pure, has no nested graphs, and every value it reads is constant; or
 * if it asks for the shape of a tensor whose shape is static. A source without inputs is constant only where its type
 * says that it stores or derives its value (a custom operation without inputs may be a camera). */
#include "graph/constant.h"

#include <string.h>

static bool is_one_of(const char *type, const char *const *list) {
    for (; *list; list++)
        if (strcmp(type, *list) == 0) return true;
    return false;
}

bool berth_type_is_impure(const char *op_type) {
    static const char *const impure[] = {"RandomNormal",     "RandomUniform",
                                         "RandomNormalLike", "RandomUniformLike",
                                         "Multinomial",      "Bernoulli",
                                         "ReadValue",        "Assign",
                                         "Memory",           NULL};
    return is_one_of(op_type, impure);
}

bool berth_type_asks_shape(const char *op_type) {
    static const char *const askers[] = {"Shape", "ShapeOf", "Size", NULL};
    return is_one_of(op_type, askers);
}

bool berth_type_is_stored(const char *op_type) {
    static const char *const stored[] = {"Constant", "Const", "ConstantOfShape", "ConstantFill", "Range", NULL};
    return is_one_of(op_type, stored);
}

static bool asks_static_shape(const berth_graph *graph, const berth_op *op) {
    if (op->n_inputs < 1 || op->inputs[0] < 0 || !berth_type_asks_shape(op->type)) return false;
    return berth_shape_is_static(&graph->tensors[op->inputs[0]].shape);
}

static bool is_constant(const berth_graph *graph, const berth_op *op) {
    if (op->flags & (BERTH_OP_INPUT | BERTH_OP_OUTPUT | BERTH_OP_IMPURE) || op->n_bodies > 0) return false;
    if (asks_static_shape(graph, op)) return true;
    bool reads_any = false;
    for (int32_t i = 0; i < op->n_inputs + op->n_captures; i++) {
        if (op->inputs[i] < 0) continue;
        reads_any = true;
        if (!(graph->tensors[op->inputs[i]].flags & BERTH_TENSOR_CONSTANT)) return false;
    }
    return reads_any || op->blob_bytes > 0 || berth_type_is_stored(op->type);
}

void berth_graph_mark_constants(berth_graph *graph) {
    for (int32_t t = 0; t < graph->n_tensors; t++)
        if (graph->tensors[t].flags & BERTH_TENSOR_INITIALIZER) graph->tensors[t].flags |= BERTH_TENSOR_CONSTANT;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        berth_op *op = &graph->ops[graph->order[i]];
        if (berth_type_is_impure(op->type)) op->flags |= BERTH_OP_IMPURE;
        if (!is_constant(graph, op)) continue;
        op->flags |= BERTH_OP_CONSTANT;
        for (int32_t o = 0; o < op->n_outputs; o++)
            if (op->outputs[o] >= 0) graph->tensors[op->outputs[o]].flags |= BERTH_TENSOR_CONSTANT;
    }
}
