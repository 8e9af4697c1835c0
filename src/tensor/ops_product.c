/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products, by blas.h. One output column, as scores have, is a product of a matrix and a vector. */
#include "tensor/blas.h"
#include "tensor/node.h"
#include "tensor/reduce.h"

#include <assert.h>

berth_matrix *berth_linear(berth_tape *tape, berth_matrix *x, berth_matrix *w, berth_matrix *b) {
    assert(!x || !w || x->cols == w->cols);
    assert(!w || !b || (b->rows == 1 && b->cols == w->rows));
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_LINEAR, .in = {x, w, b}}, berth_rows(x), berth_rows(w),
                           0);
}

void berth_linear_forward(berth_node *node) {
    const berth_matrix *x = node->in[0], *w = node->in[1], *b = node->in[2];
    berth_matrix *y = &node->out;
    for (int32_t r = 0; b && y->cols && r < y->rows; r++)
        memcpy(y->value + (int64_t)r * y->cols, b->value, (size_t)y->cols * sizeof *y->value);
    berth_real beta = b ? 1 : 0;
    if (y->cols == 1)
        berth_gemv(false, x->rows, x->cols, x->value, x->cols, w->value, beta, y->value);
    else
        berth_gemm(false, true, y->rows, y->cols, x->cols, x->value, x->cols, w->value, w->cols, beta, y->value,
                   y->cols);
}

/* dx += g w for one output column: every row of dx gets a multiple of w. */
static void add_outer(const berth_matrix *y, const berth_matrix *w, berth_matrix *x) {
    bool set = berth_grad_set(x);
    for (int32_t r = 0; r < x->rows; r++) {
        berth_real g = y->grad[r], *row = x->grad + (int64_t)r * x->cols;
        for (int32_t c = 0; c < x->cols; c++) row[c] = (set ? 0 : row[c]) + g * w->value[c];
    }
}

void berth_linear_backward(const berth_node *node) {
    berth_matrix *x = node->in[0], *w = node->in[1], *b = node->in[2];
    const berth_matrix *y = &node->out;
    if (x->grad && y->cols == 1)
        add_outer(y, w, x);
    else if (x->grad)
        berth_gemm(false, false, x->rows, x->cols, y->cols, y->grad, y->cols, w->value, w->cols,
                   berth_grad_set(x) ? 0 : 1, x->grad, x->cols);
    if (w->grad && y->cols == 1)
        berth_gemv(true, x->rows, x->cols, x->value, x->cols, y->grad, berth_grad_set(w) ? 0 : 1, w->grad);
    else if (w->grad)
        berth_gemm(true, false, w->rows, w->cols, y->rows, y->grad, y->cols, x->value, x->cols,
                   berth_grad_set(w) ? 0 : 1, w->grad, w->cols);
    if (b && b->grad) berth_column_sums(y->rows, y->cols, y->grad, NULL, 1, berth_grad_set(b), b->grad);
}

berth_matrix *berth_matmul(berth_tape *tape, berth_matrix *a, bool a_transposed, berth_matrix *b, bool b_transposed) {
    int32_t m = a_transposed ? berth_cols(a) : berth_rows(a), n = b_transposed ? berth_rows(b) : berth_cols(b);
    assert(!a || !b || (a_transposed ? a->rows : a->cols) == (b_transposed ? b->cols : b->rows));
    return berth_tape_push(
        tape, &(berth_node){.op = BERTH_TAPE_MATMUL, .in = {a, b}, .flag = {a_transposed, b_transposed}}, m, n, 0);
}

void berth_matmul_forward(berth_node *node) {
    const berth_matrix *a = node->in[0], *b = node->in[1];
    berth_matrix *y = &node->out;
    berth_gemm(node->flag[0], node->flag[1], y->rows, y->cols, node->flag[0] ? a->rows : a->cols, a->value, a->cols,
               b->value, b->cols, 0, y->value, y->cols);
}

/* With y = op(a) op(b): d op(a) = g op(b)^T and d op(b) = op(a)^T g, and the transposed of these where a or b was. */
void berth_matmul_backward(const berth_node *node) {
    berth_matrix *a = node->in[0], *b = node->in[1];
    const berth_matrix *y = &node->out;
    bool ta = node->flag[0], tb = node->flag[1];
    if (a->grad && ta)
        berth_gemm(tb, true, a->rows, a->cols, y->cols, b->value, b->cols, y->grad, y->cols, berth_grad_set(a) ? 0 : 1,
                   a->grad, a->cols);
    else if (a->grad)
        berth_gemm(false, !tb, a->rows, a->cols, y->cols, y->grad, y->cols, b->value, b->cols,
                   berth_grad_set(a) ? 0 : 1, a->grad, a->cols);
    if (b->grad && tb)
        berth_gemm(true, ta, b->rows, b->cols, y->rows, y->grad, y->cols, a->value, a->cols, berth_grad_set(b) ? 0 : 1,
                   b->grad, b->cols);
    else if (b->grad)
        berth_gemm(!ta, false, b->rows, b->cols, y->rows, a->value, a->cols, y->grad, y->cols,
                   berth_grad_set(b) ? 0 : 1, b->grad, b->cols);
}
