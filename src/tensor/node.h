/* SPDX-License-Identifier: Apache-2.0 */
/* What stands on a tape, for the files that implement operations: a matrix, how it was made, and what the way back
 * needs. An operation is a function of ops.h that fills a node and hands it to berth_tape_push, and a row of
 * berth_tape_ops.
 */
#ifndef BERTH_TENSOR_NODE_H
#define BERTH_TENSOR_NODE_H

#include <string.h>

#include "tensor/ops.h"

typedef enum berth_tape_op_id {
    BERTH_TAPE_LINEAR,
    BERTH_TAPE_MATMUL,
    BERTH_TAPE_ADD,
    BERTH_TAPE_SUB,
    BERTH_TAPE_MUL,
    BERTH_TAPE_MIN,
    BERTH_TAPE_SCALE,
    BERTH_TAPE_RELU,
    BERTH_TAPE_TANH,
    BERTH_TAPE_SIGMOID,
    BERTH_TAPE_EXP,
    BERTH_TAPE_SQUARE,
    BERTH_TAPE_CLAMP,
    BERTH_TAPE_DROPOUT,
    BERTH_TAPE_RELU_DROPOUT,
    BERTH_TAPE_RELU_DROPOUT_OVER,
    BERTH_TAPE_LAYER_NORM,
    BERTH_TAPE_ADD_NORM,
    BERTH_TAPE_SPARSE,
    BERTH_TAPE_GATHER,
    BERTH_TAPE_GATHER_MUL,
    BERTH_TAPE_SEGMENT_SUM,
    BERTH_TAPE_SEGMENT_MEAN,
    BERTH_TAPE_SEGMENT_MAX,
    BERTH_TAPE_CONCAT,
    BERTH_TAPE_COLUMNS,
    BERTH_TAPE_STACK,
    BERTH_TAPE_LOG_SOFTMAX,
    BERTH_TAPE_SEGMENT_LOG_SOFTMAX,
    BERTH_TAPE_PICK,
    BERTH_TAPE_ENTROPY,
    BERTH_TAPE_SEGMENT_ENTROPY,
    BERTH_TAPE_GRU,
    BERTH_TAPE_ADDITIVE,
    BERTH_TAPE_SUM,
    BERTH_TAPE_MEAN,
    BERTH_TAPE_DOT,
    BERTH_TAPE_COUNT,
} berth_tape_op_id;

enum { BERTH_TAPE_INPUTS = 4 };

typedef struct berth_node {
    berth_matrix out; /* first: a tensor on the tape is its node */
    struct berth_node *older;
    berth_tape_op_id op;
    berth_matrix *in[BERTH_TAPE_INPUTS]; /* as many as the op's arity; an optional last one may be NULL */
    /* What the operation was told; which of these it uses is its own affair. */
    double low, high; /* or the factor, the probability, the epsilon in `low` */
    bool flag[2];
    bool over; /* the result takes the place of in[0], value and gradient */
    int32_t n;
    const int32_t *index[2];
    const uint64_t *mask;
    const berth_real *constant;
    berth_csr csr, transposed;
    berth_rng *rng;             /* only during forward */
    berth_matrix *const *parts; /* n of them, on the tape */
    /* What forward leaves for backward. */
    void *saved;
} berth_node;

/* A row of the table. `forward` fills out.value (not cleared before) and `saved`; `backward` adds what out.grad means
 * for each input that has a grad. Neither can fail. */
typedef struct berth_tape_op {
    const char *name;
    int arity; /* inputs that must be there */
    void (*forward)(berth_node *node);
    void (*backward)(const berth_node *node);
} berth_tape_op;

extern const berth_tape_op berth_tape_ops[BERTH_TAPE_COUNT];

/* Puts a node with `rows` x `cols` results on the tape, with `saved` bytes for backward, and computes it. NULL if an
 * input is NULL or memory is short; the tape has then failed. */
berth_matrix *berth_tape_push(berth_tape *tape, const berth_node *node, int32_t rows, int32_t cols, size_t saved);

static inline int32_t berth_rows(const berth_matrix *t) {
    return t ? t->rows : 0;
}

static inline int32_t berth_cols(const berth_matrix *t) {
    return t ? t->cols : 0;
}

static inline size_t berth_count(const berth_matrix *t) {
    return (size_t)t->rows * (size_t)t->cols;
}

/* The gradient of an input for a backward that writes every element of it: true means that nothing is there yet, so
 * set; false: add. */
static inline bool berth_grad_set(berth_matrix *t) {
    bool fresh = t->fresh;
    t->fresh = false;
    return fresh;
}

/* The same for one that only adds: cleared if nothing is there yet. NULL if nobody wants it. */
static inline berth_real *berth_grad_add(berth_matrix *t) {
    if (!t->grad) return NULL;
    if (berth_grad_set(t)) memset(t->grad, 0, berth_count(t) * sizeof *t->grad);
    return t->grad;
}

/* Rows of the table, by family. */
#define BERTH_TAPE_DECLARE(op)                   \
    void berth_##op##_forward(berth_node *node); \
    void berth_##op##_backward(const berth_node *node);
BERTH_TAPE_DECLARE(linear)
BERTH_TAPE_DECLARE(matmul)
BERTH_TAPE_DECLARE(add)
BERTH_TAPE_DECLARE(sub)
BERTH_TAPE_DECLARE(mul)
BERTH_TAPE_DECLARE(min)
BERTH_TAPE_DECLARE(scale)
BERTH_TAPE_DECLARE(relu)
BERTH_TAPE_DECLARE(tanh)
BERTH_TAPE_DECLARE(sigmoid)
BERTH_TAPE_DECLARE(exp)
BERTH_TAPE_DECLARE(square)
BERTH_TAPE_DECLARE(clamp)
BERTH_TAPE_DECLARE(dropout)
BERTH_TAPE_DECLARE(relu_dropout)
BERTH_TAPE_DECLARE(relu_dropout_over)
BERTH_TAPE_DECLARE(layer_norm)
BERTH_TAPE_DECLARE(add_norm)
BERTH_TAPE_DECLARE(sparse)
BERTH_TAPE_DECLARE(gather)
BERTH_TAPE_DECLARE(gather_mul)
BERTH_TAPE_DECLARE(segment_sum)
BERTH_TAPE_DECLARE(segment_mean)
BERTH_TAPE_DECLARE(segment_max)
BERTH_TAPE_DECLARE(concat)
BERTH_TAPE_DECLARE(columns)
BERTH_TAPE_DECLARE(stack)
BERTH_TAPE_DECLARE(log_softmax)
BERTH_TAPE_DECLARE(segment_log_softmax)
BERTH_TAPE_DECLARE(pick)
BERTH_TAPE_DECLARE(entropy)
BERTH_TAPE_DECLARE(segment_entropy)
BERTH_TAPE_DECLARE(gru)
BERTH_TAPE_DECLARE(additive)
BERTH_TAPE_DECLARE(sum)
BERTH_TAPE_DECLARE(mean)
BERTH_TAPE_DECLARE(dot)
#undef BERTH_TAPE_DECLARE

#endif
