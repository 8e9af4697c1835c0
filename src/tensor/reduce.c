/* SPDX-License-Identifier: Apache-2.0 */
/* Why in double: a float sum over 10^5 rows keeps three digits. Why partial sums: a compiler may not reorder additions,
 * so that a single sum would take one addition after another; LANES of them are a few vector registers, whatever the
 * machine's width, and the result is the same on all. */
#include "tensor/reduce.h"

#include "tensor/wide.h"

enum { LANES = 16, BLOCK = 32 };

static inline double sum_lanes(double lanes[LANES]) {
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) lanes[i] += lanes[i + half];
    return lanes[0];
}

/* Sum of TERM, an expression of the element number k, for k below n. What is left of the last LANES is a sum of its
 * own, so that the lanes stay in registers. */
#define SUM(n, k, TERM)                                       \
    double lanes[LANES], rest = 0;                            \
    size_t whole = (n) - (n) % LANES;                         \
    for (int lane = 0; lane < LANES; lane++) lanes[lane] = 0; \
    for (size_t first = 0; first < whole; first += LANES) {   \
        for (size_t lane = 0; lane < LANES; lane++) {         \
            size_t k = first + lane;                          \
            lanes[lane] += TERM;                              \
        }                                                     \
    }                                                         \
    for (size_t k = whole; k < (n); k++) rest += TERM;        \
    return sum_lanes(lanes) + rest

BERTH_WIDE double berth_sum_of(size_t n, const berth_real *x) {
    SUM(n, i, (double)x[i]);
}

BERTH_WIDE double berth_dot_of(size_t n, const berth_real *x, const berth_real *y) {
    SUM(n, i, (double)x[i] * (double)y[i]);
}

static inline double square(double x) {
    return x * x;
}

BERTH_WIDE double berth_spread_of(size_t n, const berth_real *x, double center) {
    SUM(n, i, square((double)x[i] - center));
}

/* Sums of `n` <= BLOCK columns. With n a constant at the call, the sums stay in registers. */
static inline void sum_block(int32_t rows, int32_t cols, int32_t n, const berth_real *x, const berth_real *y,
                             double sums[BLOCK]) {
    for (int32_t c = 0; c < n; c++) sums[c] = 0;
    for (int32_t r = 0; r < rows; r++) {
        const berth_real *p = x + (int64_t)r * cols;
        if (y) {
            const berth_real *q = y + (int64_t)r * cols;
            for (int32_t c = 0; c < n; c++) sums[c] += (double)p[c] * (double)q[c];
        } else {
            for (int32_t c = 0; c < n; c++) sums[c] += (double)p[c];
        }
    }
}

BERTH_WIDE void berth_column_sums(int32_t rows, int32_t cols, const berth_real *x, const berth_real *y, double factor,
                                  bool set, berth_real *into) {
    double sums[BLOCK];
    for (int32_t first = 0; first < cols; first += BLOCK) {
        int32_t n = cols - first < BLOCK ? cols - first : BLOCK;
        const berth_real *p = x + first, *q = y ? y + first : NULL;
        if (n == BLOCK)
            sum_block(rows, cols, BLOCK, p, q, sums);
        else
            sum_block(rows, cols, n, p, q, sums);
        for (int32_t c = 0; c < n; c++)
            into[first + c] = (berth_real)((set ? 0.0 : (double)into[first + c]) + factor * sums[c]);
    }
}
