/* SPDX-License-Identifier: Apache-2.0 */
/* Operations element by element. The loops are plain, over restricted pointers, so that compilers turn them into
 * vectors. A second operand may be a row, a column or a number that is used again and again: it has steps of 0 there,
 * and its gradient is the sum over all uses. */
#include "tensor/node.h"
#include "tensor/real_math.h"
#include "tensor/reduce.h"
#include "tensor/wide.h"

#include <assert.h>

/* --- two operands ----------------------------------------------------------------------------------------------- */

static berth_matrix *binary(berth_tape *tape, berth_tape_op_id op, berth_matrix *a, berth_matrix *b) {
    assert(!a || !b || ((b->rows == a->rows || b->rows == 1) && (b->cols == a->cols || b->cols == 1)));
    return berth_tape_push(tape, &(berth_node){.op = op, .in = {a, b}}, berth_rows(a), berth_cols(a), 0);
}

berth_matrix *berth_add(berth_tape *tape, berth_matrix *a, berth_matrix *b) {
    return binary(tape, BERTH_TAPE_ADD, a, b);
}

berth_matrix *berth_sub(berth_tape *tape, berth_matrix *a, berth_matrix *b) {
    return binary(tape, BERTH_TAPE_SUB, a, b);
}

berth_matrix *berth_mul(berth_tape *tape, berth_matrix *a, berth_matrix *b) {
    return binary(tape, BERTH_TAPE_MUL, a, b);
}

/* How to walk both operands: rows of n elements, b's steps. Equal shapes are one long row. */
typedef struct walk {
    int32_t rows;
    size_t n, b_row, b_col;
} walk;

static bool same_shape(const berth_matrix *a, const berth_matrix *b) {
    return a->rows == b->rows && a->cols == b->cols;
}

static walk walk_of(const berth_matrix *a, const berth_matrix *b) {
    if (same_shape(a, b)) return (walk){1, berth_count(a), 0, 1};
    return (walk){a->rows, (size_t)a->cols, b->rows == 1 ? 0 : (size_t)b->cols, b->cols == 1 ? 0 : 1};
}

/* y = a + factor * b. */
static void add_scaled(berth_node *node, berth_real factor) {
    walk w = walk_of(node->in[0], node->in[1]);
    for (int32_t r = 0; r < w.rows; r++) {
        const berth_real *restrict a = node->in[0]->value + (size_t)r * w.n;
        const berth_real *restrict b = node->in[1]->value + (size_t)r * w.b_row;
        berth_real *restrict y = node->out.value + (size_t)r * w.n;
        if (w.b_col)
            for (size_t i = 0; i < w.n; i++) y[i] = a[i] + factor * b[i];
        else
            for (size_t i = 0; i < w.n; i++) y[i] = a[i] + factor * b[0];
    }
}

/* Gradient of a second operand: factor * g (* by, unless NULL), summed over where it was used. */
static void add_to_second(berth_matrix *b, const berth_matrix *y, const berth_real *by, double factor) {
    size_t n = (size_t)y->cols;
    bool set = berth_grad_set(b);
    if (same_shape(y, b)) {
        berth_real *restrict gb = b->grad;
        const berth_real *restrict g = y->grad;
        berth_real f = (berth_real)factor;
        if (by)
            for (size_t i = 0; i < berth_count(b); i++) gb[i] = (set ? 0 : gb[i]) + f * g[i] * by[i];
        else
            for (size_t i = 0; i < berth_count(b); i++) gb[i] = (set ? 0 : gb[i]) + f * g[i];
    } else if (b->rows == 1 && b->cols > 1) {
        berth_column_sums(y->rows, y->cols, y->grad, by, factor, set, b->grad);
    } else {
        double all = 0;
        for (int32_t r = 0; r < y->rows; r++) {
            const berth_real *g = y->grad + (size_t)r * n;
            double sum = factor * (by ? berth_dot_of(n, g, by + (size_t)r * n) : berth_sum_of(n, g));
            all += sum;
            if (b->rows > 1) b->grad[r] = (berth_real)((set ? 0 : (double)b->grad[r]) + sum);
        }
        if (b->rows == 1) b->grad[0] = (berth_real)((set ? 0 : (double)b->grad[0]) + all);
    }
}

/* ga += g. */
static void pass(berth_matrix *a, const berth_matrix *y) {
    if (!a->grad) return;
    bool set = berth_grad_set(a);
    berth_real *restrict ga = a->grad;
    const berth_real *restrict g = y->grad;
    for (size_t i = 0; i < berth_count(a); i++) ga[i] = (set ? 0 : ga[i]) + g[i];
}

void berth_add_forward(berth_node *node) {
    add_scaled(node, 1);
}

void berth_add_backward(const berth_node *node) {
    pass(node->in[0], &node->out);
    if (node->in[1]->grad) add_to_second(node->in[1], &node->out, NULL, 1);
}

void berth_sub_forward(berth_node *node) {
    add_scaled(node, -1);
}

void berth_sub_backward(const berth_node *node) {
    pass(node->in[0], &node->out);
    if (node->in[1]->grad) add_to_second(node->in[1], &node->out, NULL, -1);
}

/* into = (set ? 0 : into) + a * b, b by its steps. */
static void multiply(walk w, const berth_real *a_all, const berth_real *b_all, bool set, berth_real *into) {
    for (int32_t r = 0; r < w.rows; r++) {
        const berth_real *restrict a = a_all + (size_t)r * w.n;
        const berth_real *restrict b = b_all + (size_t)r * w.b_row;
        berth_real *restrict y = into + (size_t)r * w.n;
        if (w.b_col)
            for (size_t i = 0; i < w.n; i++) y[i] = (set ? 0 : y[i]) + a[i] * b[i];
        else
            for (size_t i = 0; i < w.n; i++) y[i] = (set ? 0 : y[i]) + a[i] * b[0];
    }
}

void berth_mul_forward(berth_node *node) {
    const berth_matrix *a = node->in[0], *b = node->in[1];
    multiply(walk_of(a, b), a->value, b->value, true, node->out.value);
}

void berth_mul_backward(const berth_node *node) {
    berth_matrix *a = node->in[0], *b = node->in[1];
    if (a->grad) multiply(walk_of(a, b), node->out.grad, b->value, berth_grad_set(a), a->grad);
    if (b->grad) add_to_second(b, &node->out, a->value, 1);
}

berth_matrix *berth_min(berth_tape *tape, berth_matrix *a, berth_matrix *b) {
    assert(!a || !b || same_shape(a, b));
    return binary(tape, BERTH_TAPE_MIN, a, b);
}

void berth_min_forward(berth_node *node) {
    const berth_real *restrict a = node->in[0]->value, *restrict b = node->in[1]->value;
    berth_real *restrict y = node->out.value;
    for (size_t i = 0; i < berth_count(&node->out); i++) y[i] = a[i] <= b[i] ? a[i] : b[i];
}

void berth_min_backward(const berth_node *node) {
    const berth_real *restrict g = node->out.grad;
    const berth_real *a = node->in[0]->value, *b = node->in[1]->value;
    for (int side = 0; side < 2; side++) {
        berth_matrix *t = node->in[side];
        if (!t->grad) continue;
        bool set = berth_grad_set(t), first = side == 0;
        berth_real *restrict gt = t->grad;
        for (size_t i = 0; i < berth_count(t); i++) gt[i] = (set ? 0 : gt[i]) + ((a[i] <= b[i]) == first ? g[i] : 0);
    }
}

/* --- one operand ------------------------------------------------------------------------------------------------ */

static berth_matrix *unary(berth_tape *tape, berth_tape_op_id op, berth_matrix *a, double low, double high) {
    berth_node node = {.op = op, .in = {a}, .low = low, .high = high};
    return berth_tape_push(tape, &node, berth_rows(a), berth_cols(a), 0);
}

/* Forward y = VALUE, which may use x, low and high; backward dx += g * SLOPE, which may also use y. */
#define UNARY(name, VALUE, SLOPE)                                                                         \
    static inline berth_real name##_value(berth_real x, berth_real low, berth_real high) {                \
        (void)low, (void)high;                                                                            \
        return VALUE;                                                                                     \
    }                                                                                                     \
    static inline berth_real name##_slope(berth_real x, berth_real y, berth_real low, berth_real high) {  \
        (void)x, (void)y, (void)low, (void)high;                                                          \
        return SLOPE;                                                                                     \
    }                                                                                                     \
    BERTH_WIDE void berth_##name##_forward(berth_node *node) {                                            \
        berth_real low = (berth_real)node->low, high = (berth_real)node->high;                            \
        const berth_real *restrict x = node->in[0]->value;                                                \
        berth_real *restrict y = node->out.value;                                                         \
        for (size_t i = 0, n = berth_count(&node->out); i < n; i++) y[i] = name##_value(x[i], low, high); \
    }                                                                                                     \
    BERTH_WIDE void berth_##name##_backward(const berth_node *node) {                                     \
        berth_real low = (berth_real)node->low, high = (berth_real)node->high;                            \
        const berth_real *restrict x = node->in[0]->value, *restrict y = node->out.value;                 \
        const berth_real *restrict g = node->out.grad;                                                    \
        berth_real *restrict gx = node->in[0]->grad;                                                      \
        if (!gx) return;                                                                                  \
        bool set = berth_grad_set(node->in[0]);                                                           \
        for (size_t i = 0, n = berth_count(&node->out); i < n; i++)                                       \
            gx[i] = (set ? 0 : gx[i]) + g[i] * name##_slope(x[i], y[i], low, high);                       \
    }

UNARY(scale, x *low, low)
/* NaN stays NaN: divergence must be seen. */
UNARY(relu, x < 0 ? 0 : x, (berth_real)(x > 0))
UNARY(tanh, berth_real_tanh(x), 1 - y * y)
UNARY(sigmoid, berth_real_sigmoid(x), y *(1 - y))
UNARY(exp, berth_real_exp(x), y)
UNARY(square, x *x, 2 * x)
UNARY(clamp, x<low ? low : x> high ? high : x, (berth_real)(x >= low && x <= high))

berth_matrix *berth_scale(berth_tape *tape, berth_matrix *a, double factor) {
    return unary(tape, BERTH_TAPE_SCALE, a, factor, 0);
}

berth_matrix *berth_relu(berth_tape *tape, berth_matrix *a) {
    return unary(tape, BERTH_TAPE_RELU, a, 0, 0);
}

berth_matrix *berth_tanh(berth_tape *tape, berth_matrix *a) {
    return unary(tape, BERTH_TAPE_TANH, a, 0, 0);
}

berth_matrix *berth_sigmoid(berth_tape *tape, berth_matrix *a) {
    return unary(tape, BERTH_TAPE_SIGMOID, a, 0, 0);
}

berth_matrix *berth_exp(berth_tape *tape, berth_matrix *a) {
    return unary(tape, BERTH_TAPE_EXP, a, 0, 0);
}

berth_matrix *berth_square(berth_tape *tape, berth_matrix *a) {
    return unary(tape, BERTH_TAPE_SQUARE, a, 0, 0);
}

berth_matrix *berth_clamp(berth_tape *tape, berth_matrix *a, double low, double high) {
    return unary(tape, BERTH_TAPE_CLAMP, a, low, high);
}
