/* SPDX-License-Identifier: Apache-2.0 */
/* What choices need: log-probabilities, in log space throughout, of what was chosen, and entropies. A column that is
 * masked has log-probability -INFINITY, adds nothing to an entropy, and gets no gradient. */
#include "tensor/node.h"

#include <assert.h>
#include <math.h>

static bool may(const berth_node *node, int32_t row, int32_t column) {
    return !node->mask || node->mask[row] >> column & 1;
}

/* --- log-softmax ------------------------------------------------------------------------------------------------ */

berth_matrix *berth_log_softmax(berth_tape *tape, berth_matrix *a, const uint64_t *mask) {
    assert(!a || !mask || a->cols <= 64);
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_LOG_SOFTMAX, .in = {a}, .mask = mask}, berth_rows(a),
                           berth_cols(a), 0);
}

void berth_log_softmax_forward(berth_node *node) {
    int32_t n = node->out.cols;
    for (int32_t r = 0; n && r < node->out.rows; r++) {
        const berth_real *x = node->in[0]->value + (int64_t)r * n;
        berth_real *y = node->out.value + (int64_t)r * n;
        double most = -INFINITY, sum = 0;
        for (int32_t c = 0; c < n; c++)
            if (may(node, r, c) && (double)x[c] > most) most = (double)x[c];
        for (int32_t c = 0; c < n; c++)
            if (may(node, r, c)) sum += exp((double)x[c] - most);
        double total = most + log(sum);
        for (int32_t c = 0; c < n; c++)
            y[c] = may(node, r, c) ? (berth_real)((double)x[c] - total) : (berth_real)-INFINITY;
    }
}

void berth_log_softmax_backward(const berth_node *node) {
    berth_real *ga = berth_grad_add(node->in[0]);
    int32_t n = node->out.cols;
    for (int32_t r = 0; ga && r < node->out.rows; r++, ga += n) {
        const berth_real *y = node->out.value + (int64_t)r * n, *g = node->out.grad + (int64_t)r * n;
        double sum = 0;
        for (int32_t c = 0; c < n; c++)
            if (may(node, r, c)) sum += (double)g[c];
        for (int32_t c = 0; c < n; c++)
            if (may(node, r, c)) ga[c] += (berth_real)((double)g[c] - exp((double)y[c]) * sum);
    }
}

berth_matrix *berth_segment_log_softmax(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments) {
    assert(!a || (a->cols == 1 && start[0] == 0 && start[n_segments] == a->rows));
    berth_node node = {.op = BERTH_TAPE_SEGMENT_LOG_SOFTMAX, .in = {a}, .index = {start}, .n = n_segments};
    return berth_tape_push(tape, &node, berth_rows(a), 1, 0);
}

void berth_segment_log_softmax_forward(berth_node *node) {
    const berth_real *x = node->in[0]->value;
    for (int32_t s = 0; s < node->n; s++) {
        int32_t first = node->index[0][s], end = node->index[0][s + 1];
        double most = -INFINITY, sum = 0;
        for (int32_t i = first; i < end; i++) most = (double)x[i] > most ? (double)x[i] : most;
        for (int32_t i = first; i < end; i++) sum += exp((double)x[i] - most);
        double total = most + log(sum);
        for (int32_t i = first; i < end; i++) node->out.value[i] = (berth_real)((double)x[i] - total);
    }
}

void berth_segment_log_softmax_backward(const berth_node *node) {
    berth_real *ga = berth_grad_add(node->in[0]);
    const berth_real *g = node->out.grad, *y = node->out.value;
    for (int32_t s = 0; ga && s < node->n; s++) {
        int32_t first = node->index[0][s], end = node->index[0][s + 1];
        double sum = 0;
        for (int32_t i = first; i < end; i++) sum += (double)g[i];
        for (int32_t i = first; i < end; i++) ga[i] += (berth_real)((double)g[i] - exp((double)y[i]) * sum);
    }
}

/* --- what was chosen -------------------------------------------------------------------------------------------- */

berth_matrix *berth_pick(berth_tape *tape, berth_matrix *a, const int32_t *column) {
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_PICK, .in = {a}, .index = {column}}, berth_rows(a), 1,
                           0);
}

void berth_pick_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    for (int32_t r = 0; r < a->rows; r++) {
        assert(node->index[0][r] >= 0 && node->index[0][r] < a->cols);
        node->out.value[r] = a->value[(int64_t)r * a->cols + node->index[0][r]];
    }
}

void berth_pick_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    berth_real *ga = berth_grad_add(a);
    for (int32_t r = 0; ga && r < a->rows; r++) ga[(int64_t)r * a->cols + node->index[0][r]] += node->out.grad[r];
}

/* --- entropy ---------------------------------------------------------------------------------------------------- */

/* -p log p, and its slope by log p. */
static double surprise(double log_p) {
    return log_p > -INFINITY ? -exp(log_p) * log_p : 0;
}

static double surprise_slope(double log_p) {
    return log_p > -INFINITY ? -exp(log_p) * (log_p + 1) : 0;
}

berth_matrix *berth_entropy(berth_tape *tape, berth_matrix *log_p) {
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_ENTROPY, .in = {log_p}}, berth_rows(log_p), 1, 0);
}

void berth_entropy_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    for (int32_t r = 0; r < a->rows; r++) {
        double sum = 0;
        for (int32_t c = 0; c < a->cols; c++) sum += surprise((double)a->value[(int64_t)r * a->cols + c]);
        node->out.value[r] = (berth_real)sum;
    }
}

void berth_entropy_backward(const berth_node *node) {
    const berth_matrix *a = node->in[0];
    berth_real *ga = berth_grad_add(node->in[0]);
    for (int64_t i = 0; ga && i < (int64_t)berth_count(a); i++)
        ga[i] += (berth_real)((double)node->out.grad[i / a->cols] * surprise_slope((double)a->value[i]));
}

berth_matrix *berth_segment_entropy(berth_tape *tape, berth_matrix *log_p, const int32_t *start, int32_t n_segments) {
    assert(!log_p || log_p->cols == 1);
    berth_node node = {.op = BERTH_TAPE_SEGMENT_ENTROPY, .in = {log_p}, .index = {start}};
    return berth_tape_push(tape, &node, n_segments, 1, 0);
}

void berth_segment_entropy_forward(berth_node *node) {
    for (int32_t s = 0; s < node->out.rows; s++) {
        double sum = 0;
        for (int32_t i = node->index[0][s]; i < node->index[0][s + 1]; i++)
            sum += surprise((double)node->in[0]->value[i]);
        node->out.value[s] = (berth_real)sum;
    }
}

void berth_segment_entropy_backward(const berth_node *node) {
    const berth_matrix *a = node->in[0];
    berth_real *ga = berth_grad_add(node->in[0]);
    for (int32_t s = 0; ga && s < node->out.rows; s++)
        for (int32_t i = node->index[0][s]; i < node->index[0][s + 1]; i++)
            ga[i] += (berth_real)((double)node->out.grad[s] * surprise_slope((double)a->value[i]));
}
