/* SPDX-License-Identifier: Apache-2.0 */
/* The table of operations. Tests walk it, so that one without a gradient check cannot exist. */
#include "tensor/node.h"

#define ROW(name, arity) \
    { #name, arity, berth_##name##_forward, berth_##name##_backward }

const berth_tape_op berth_tape_ops[] = {
    [BERTH_TAPE_LINEAR] = ROW(linear, 2), /* and b, which may be NULL */
    [BERTH_TAPE_MATMUL] = ROW(matmul, 2),
    [BERTH_TAPE_ADD] = ROW(add, 2),
    [BERTH_TAPE_SUB] = ROW(sub, 2),
    [BERTH_TAPE_MUL] = ROW(mul, 2),
    [BERTH_TAPE_MIN] = ROW(min, 2),
    [BERTH_TAPE_SCALE] = ROW(scale, 1),
    [BERTH_TAPE_RELU] = ROW(relu, 1),
    [BERTH_TAPE_TANH] = ROW(tanh, 1),
    [BERTH_TAPE_SIGMOID] = ROW(sigmoid, 1),
    [BERTH_TAPE_EXP] = ROW(exp, 1),
    [BERTH_TAPE_SQUARE] = ROW(square, 1),
    [BERTH_TAPE_CLAMP] = ROW(clamp, 1),
    [BERTH_TAPE_DROPOUT] = ROW(dropout, 1),
    [BERTH_TAPE_RELU_DROPOUT] = ROW(relu_dropout, 1),
    [BERTH_TAPE_RELU_DROPOUT_OVER] = ROW(relu_dropout_over, 1),
    [BERTH_TAPE_LAYER_NORM] = ROW(layer_norm, 3),
    [BERTH_TAPE_ADD_NORM] = ROW(add_norm, 4),
    [BERTH_TAPE_SPARSE] = ROW(sparse, 1),
    [BERTH_TAPE_GATHER] = ROW(gather, 1),
    [BERTH_TAPE_GATHER_MUL] = ROW(gather_mul, 1),
    [BERTH_TAPE_SEGMENT_SUM] = ROW(segment_sum, 1),
    [BERTH_TAPE_SEGMENT_MEAN] = ROW(segment_mean, 1),
    [BERTH_TAPE_SEGMENT_MAX] = ROW(segment_max, 1),
    [BERTH_TAPE_CONCAT] = ROW(concat, 2),
    [BERTH_TAPE_COLUMNS] = ROW(columns, 1),
    [BERTH_TAPE_STACK] = ROW(stack, 0), /* its inputs are `parts` */
    [BERTH_TAPE_LOG_SOFTMAX] = ROW(log_softmax, 1),
    [BERTH_TAPE_SEGMENT_LOG_SOFTMAX] = ROW(segment_log_softmax, 1),
    [BERTH_TAPE_PICK] = ROW(pick, 1),
    [BERTH_TAPE_ENTROPY] = ROW(entropy, 1),
    [BERTH_TAPE_SEGMENT_ENTROPY] = ROW(segment_entropy, 1),
    [BERTH_TAPE_GRU] = ROW(gru, 3),
    [BERTH_TAPE_ADDITIVE] = ROW(additive, 3),
    [BERTH_TAPE_SUM] = ROW(sum, 1),
    [BERTH_TAPE_MEAN] = ROW(mean, 1),
    [BERTH_TAPE_DOT] = ROW(dot, 1),
};
_Static_assert(sizeof berth_tape_ops / sizeof *berth_tape_ops == BERTH_TAPE_COUNT, "every operation needs a row");
