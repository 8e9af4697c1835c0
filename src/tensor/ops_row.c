/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on whole rows: neighbourhood sums, gathering, segments, putting matrices together. Rows are added in the
 * order of the indices, so that the result does not depend on anything else. */
#include "tensor/node.h"
#include "tensor/reduce.h"
#include "tensor/wide.h"

#include <assert.h>

/* into += factor * from, n elements. */
static inline void add_row(size_t n, berth_real factor, const berth_real *restrict from, berth_real *restrict into) {
    for (size_t c = 0; c < n; c++) into[c] += factor * from[c];
}

/* --- sparse products -------------------------------------------------------------------------------------------- */

berth_matrix *berth_sparse(berth_tape *tape, berth_matrix *a, const berth_csr *csr, const berth_csr *transposed) {
    assert(!a || (csr->cols == a->rows && transposed->rows == csr->cols && transposed->cols == csr->rows));
    return berth_tape_push(tape,
                           &(berth_node){.op = BERTH_TAPE_SPARSE, .in = {a}, .csr = *csr, .transposed = *transposed},
                           csr->rows, berth_cols(a), 0);
}

/* Neighbourhoods are short: berth_real is enough for their sums. */
BERTH_WIDE static void multiply(const berth_csr *csr, size_t cols, const berth_real *from, bool set, berth_real *into) {
    for (int32_t row = 0; row < csr->rows; row++) {
        berth_real *y = into + (size_t)row * cols;
        if (set) memset(y, 0, cols * sizeof *y);
        for (int32_t k = csr->start[row]; k < csr->start[row + 1]; k++)
            add_row(cols, csr->weight ? csr->weight[k] : 1, from + (size_t)csr->index[k] * cols, y);
    }
}

void berth_sparse_forward(berth_node *node) {
    multiply(&node->csr, (size_t)node->out.cols, node->in[0]->value, true, node->out.value);
}

void berth_sparse_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    if (a->grad) multiply(&node->transposed, (size_t)a->cols, node->out.grad, berth_grad_set(a), a->grad);
}

/* --- gathering -------------------------------------------------------------------------------------------------- */

berth_matrix *berth_gather(berth_tape *tape, berth_matrix *a, const int32_t *index, int32_t n) {
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_GATHER, .in = {a}, .index = {index}}, n, berth_cols(a),
                           0);
}

void berth_gather_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    size_t n = (size_t)a->cols;
    for (int32_t r = 0; n && r < node->out.rows; r++) {
        assert(node->index[0][r] >= 0 && node->index[0][r] < a->rows);
        memcpy(node->out.value + (size_t)r * n, a->value + (size_t)node->index[0][r] * n, n * sizeof *a->value);
    }
}

void berth_gather_backward(const berth_node *node) {
    berth_real *ga = berth_grad_add(node->in[0]);
    size_t n = (size_t)node->out.cols;
    for (int32_t r = 0; ga && r < node->out.rows; r++)
        add_row(n, 1, node->out.grad + (size_t)r * n, ga + (size_t)node->index[0][r] * n);
}

berth_matrix *berth_gather_mul(berth_tape *tape, berth_matrix *a, const int32_t *u, const int32_t *v, int32_t n) {
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_GATHER_MUL, .in = {a}, .index = {u, v}}, n,
                           berth_cols(a), 0);
}

void berth_gather_mul_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    size_t n = (size_t)a->cols;
    for (int32_t r = 0; r < node->out.rows; r++) {
        assert(node->index[0][r] >= 0 && node->index[0][r] < a->rows);
        assert(node->index[1][r] >= 0 && node->index[1][r] < a->rows);
        const berth_real *restrict u = a->value + (size_t)node->index[0][r] * n;
        const berth_real *restrict v = a->value + (size_t)node->index[1][r] * n;
        berth_real *restrict y = node->out.value + (size_t)r * n;
        for (size_t c = 0; c < n; c++) y[c] = u[c] * v[c];
    }
}

/* into += g * other. */
static inline void add_product(size_t n, const berth_real *restrict g, const berth_real *restrict other,
                               berth_real *restrict into) {
    for (size_t c = 0; c < n; c++) into[c] += g[c] * other[c];
}

void berth_gather_mul_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    berth_real *ga = berth_grad_add(a);
    size_t n = (size_t)a->cols;
    for (int32_t r = 0; ga && r < node->out.rows; r++) {
        size_t u = (size_t)node->index[0][r] * n, v = (size_t)node->index[1][r] * n;
        add_product(n, node->out.grad + (size_t)r * n, a->value + v, ga + u);
        add_product(n, node->out.grad + (size_t)r * n, a->value + u, ga + v);
    }
}

/* --- segments --------------------------------------------------------------------------------------------------- */

static berth_matrix *segments(berth_tape *tape, berth_tape_op_id op, berth_matrix *a, const int32_t *start, int32_t n,
                              size_t saved) {
    assert(!a || (start[0] >= 0 && start[n] <= a->rows));
    return berth_tape_push(tape, &(berth_node){.op = op, .in = {a}, .index = {start}}, n, berth_cols(a), saved);
}

berth_matrix *berth_segment_sum(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments) {
    return segments(tape, BERTH_TAPE_SEGMENT_SUM, a, start, n_segments, 0);
}

berth_matrix *berth_segment_mean(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments) {
    return segments(tape, BERTH_TAPE_SEGMENT_MEAN, a, start, n_segments, 0);
}

/* Saved: the row that each element came from, -1 where the segment is empty. */
berth_matrix *berth_segment_max(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments) {
    size_t n = (size_t)n_segments * (size_t)berth_cols(a);
    return segments(tape, BERTH_TAPE_SEGMENT_MAX, a, start, n_segments, n * sizeof(int32_t));
}

/* 1, or 1 / length for means; of an empty segment nobody asks. */
static double share_of(const berth_node *node, int32_t segment) {
    int32_t n = node->index[0][segment + 1] - node->index[0][segment];
    return node->op == BERTH_TAPE_SEGMENT_MEAN && n > 1 ? 1 / (double)n : 1;
}

void berth_segment_sum_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    for (int32_t s = 0; s < node->out.rows; s++) {
        int32_t first = node->index[0][s], n = node->index[0][s + 1] - first;
        berth_column_sums(n, a->cols, a->value + (int64_t)first * a->cols, NULL, share_of(node, s), true,
                          node->out.value + (int64_t)s * a->cols);
    }
}

void berth_segment_sum_backward(const berth_node *node) {
    berth_real *ga = berth_grad_add(node->in[0]);
    size_t n = (size_t)node->out.cols;
    for (int32_t s = 0; ga && s < node->out.rows; s++)
        for (int32_t r = node->index[0][s]; r < node->index[0][s + 1]; r++)
            add_row(n, (berth_real)share_of(node, s), node->out.grad + (size_t)s * n, ga + (size_t)r * n);
}

void berth_segment_mean_forward(berth_node *node) {
    berth_segment_sum_forward(node);
}

void berth_segment_mean_backward(const berth_node *node) {
    berth_segment_sum_backward(node);
}

void berth_segment_max_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    size_t n = (size_t)a->cols;
    for (int32_t s = 0; s < node->out.rows; s++) {
        berth_real *y = node->out.value + (size_t)s * n;
        int32_t *from = (int32_t *)node->saved + (size_t)s * n;
        int32_t first = node->index[0][s], end = node->index[0][s + 1];
        for (size_t c = 0; c < n; c++) {
            from[c] = first < end ? first : -1;
            y[c] = first < end ? a->value[(size_t)first * n + c] : 0;
        }
        for (int32_t r = first + 1; r < end; r++) {
            const berth_real *x = a->value + (size_t)r * n;
            for (size_t c = 0; c < n; c++) {
                from[c] = x[c] > y[c] ? r : from[c];
                y[c] = x[c] > y[c] ? x[c] : y[c];
            }
        }
    }
}

void berth_segment_max_backward(const berth_node *node) {
    berth_real *ga = berth_grad_add(node->in[0]);
    size_t n = (size_t)node->out.cols;
    const int32_t *from = node->saved;
    for (size_t i = 0; ga && i < berth_count(&node->out); i++)
        if (from[i] >= 0) ga[(size_t)from[i] * n + i % n] += node->out.grad[i];
}

/* --- putting together and taking apart -------------------------------------------------------------------------- */

/* Copies an area of rows x n from one matrix to another, with their row lengths. */
static void copy_area(int32_t rows, size_t n, const berth_real *from, size_t from_cols, berth_real *to,
                      size_t to_cols) {
    for (int32_t r = 0; n && r < rows; r++)
        memcpy(to + (size_t)r * to_cols, from + (size_t)r * from_cols, n * sizeof *to);
}

static void add_area(int32_t rows, size_t n, const berth_real *from, size_t from_cols, berth_real *to, size_t to_cols) {
    for (int32_t r = 0; r < rows; r++) add_row(n, 1, from + (size_t)r * from_cols, to + (size_t)r * to_cols);
}

berth_matrix *berth_concat(berth_tape *tape, berth_matrix *a, berth_matrix *b) {
    assert(!a || !b || a->rows == b->rows);
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_CONCAT, .in = {a, b}}, berth_rows(a),
                           berth_cols(a) + berth_cols(b), 0);
}

void berth_concat_forward(berth_node *node) {
    const berth_matrix *a = node->in[0], *b = node->in[1], *y = &node->out;
    copy_area(a->rows, (size_t)a->cols, a->value, (size_t)a->cols, y->value, (size_t)y->cols);
    copy_area(b->rows, (size_t)b->cols, b->value, (size_t)b->cols, y->value + a->cols, (size_t)y->cols);
}

void berth_concat_backward(const berth_node *node) {
    berth_matrix *a = node->in[0], *b = node->in[1];
    const berth_matrix *y = &node->out;
    if (berth_grad_add(a)) add_area(a->rows, (size_t)a->cols, y->grad, (size_t)y->cols, a->grad, (size_t)a->cols);
    if (berth_grad_add(b))
        add_area(b->rows, (size_t)b->cols, y->grad + a->cols, (size_t)y->cols, b->grad, (size_t)b->cols);
}

berth_matrix *berth_columns(berth_tape *tape, berth_matrix *a, int32_t first, int32_t n) {
    assert(!a || (first >= 0 && n >= 0 && first <= a->cols - n));
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_COLUMNS, .in = {a}, .n = first}, berth_rows(a), n, 0);
}

void berth_columns_forward(berth_node *node) {
    const berth_matrix *a = node->in[0], *y = &node->out;
    copy_area(y->rows, (size_t)y->cols, a->value + node->n, (size_t)a->cols, y->value, (size_t)y->cols);
}

void berth_columns_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    const berth_matrix *y = &node->out;
    if (berth_grad_add(a))
        add_area(y->rows, (size_t)y->cols, y->grad, (size_t)y->cols, a->grad + node->n, (size_t)a->cols);
}

berth_matrix *berth_stack(berth_tape *tape, berth_matrix *const *parts, int32_t n) {
    assert(n > 0);
    berth_matrix **kept = berth_tape_memory(tape, (size_t)n, sizeof(berth_matrix *));
    int32_t rows = 0;
    for (int32_t i = 0; kept && i < n; i++) {
        if (!parts[i]) return NULL; /* the tape has failed before */
        assert(parts[i]->cols == parts[0]->cols);
        kept[i] = parts[i];
        rows += parts[i]->rows;
    }
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_STACK, .parts = kept, .n = n}, rows,
                           berth_cols(parts[0]), 0);
}

void berth_stack_forward(berth_node *node) {
    berth_real *y = node->out.value;
    for (int32_t i = 0; i < node->n; y += berth_count(node->parts[i]), i++)
        if (berth_count(node->parts[i])) memcpy(y, node->parts[i]->value, berth_count(node->parts[i]) * sizeof *y);
}

void berth_stack_backward(const berth_node *node) {
    const berth_real *g = node->out.grad;
    for (int32_t i = 0; i < node->n; g += berth_count(node->parts[i]), i++)
        if (berth_grad_add(node->parts[i])) add_row(berth_count(node->parts[i]), 1, g, node->parts[i]->grad);
}
