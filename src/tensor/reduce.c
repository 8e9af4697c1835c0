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

typedef enum term { PLAIN, PRODUCT, SPREAD } term;

static inline double term_at(term kind, const berth_real *x, const berth_real *y, double center, size_t i) {
    double off = (double)x[i] - center;
    return kind == PLAIN ? (double)x[i] : kind == PRODUCT ? (double)x[i] * (double)y[i] : off * off;
}

/* With the kind a constant at the call, one loop without questions. What is left of the last LANES is a sum of its own,
 * so that the lanes stay in registers. */
static inline double sum_terms(term kind, size_t n, const berth_real *x, const berth_real *y, double center) {
    double lanes[LANES], rest = 0;
    size_t whole = n - n % LANES;
    for (int lane = 0; lane < LANES; lane++) lanes[lane] = 0;
    for (size_t first = 0; first < whole; first += LANES)
        for (size_t lane = 0; lane < LANES; lane++) lanes[lane] += term_at(kind, x, y, center, first + lane);
    for (size_t i = whole; i < n; i++) rest += term_at(kind, x, y, center, i);
    return sum_lanes(lanes) + rest;
}

BERTH_WIDE double berth_sum_of(size_t n, const berth_real *x) {
    return sum_terms(PLAIN, n, x, NULL, 0);
}

BERTH_WIDE double berth_dot_of(size_t n, const berth_real *x, const berth_real *y) {
    return sum_terms(PRODUCT, n, x, y, 0);
}

BERTH_WIDE double berth_spread_of(size_t n, const berth_real *x, double center) {
    return sum_terms(SPREAD, n, x, NULL, center);
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
