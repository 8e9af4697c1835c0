/* SPDX-License-Identifier: Apache-2.0 */
/* Why in double: a float sum over 10^5 rows keeps three digits. Why partial sums: a compiler may not reorder additions,
 * so that a single sum would take one addition after another; LANES of them are a few vector registers, whatever the
 * machine's width, and the result is the same on all. */
#include "tensor/reduce.h"

enum { LANES = 16, BLOCK = 32 };

static double sum_lanes(const double lanes[LANES]) {
    double tree[LANES];
    for (int i = 0; i < LANES; i++) tree[i] = lanes[i];
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++) tree[i] += tree[i + half];
    return tree[0];
}

double berth_sum_of(size_t n, const berth_real *x) {
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) lanes[lane] += (double)x[i + lane];
    for (int lane = 0; i < n; i++, lane++) lanes[lane] += (double)x[i];
    return sum_lanes(lanes);
}

double berth_dot_of(size_t n, const berth_real *x, const berth_real *y) {
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) lanes[lane] += (double)x[i + lane] * (double)y[i + lane];
    for (int lane = 0; i < n; i++, lane++) lanes[lane] += (double)x[i] * (double)y[i];
    return sum_lanes(lanes);
}

static inline double square(double x) {
    return x * x;
}

double berth_spread_of(size_t n, const berth_real *x, double center) {
    double lanes[LANES] = {0};
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int lane = 0; lane < LANES; lane++) lanes[lane] += square((double)x[i + lane] - center);
    for (int lane = 0; i < n; i++, lane++) lanes[lane] += square((double)x[i] - center);
    return sum_lanes(lanes);
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

void berth_column_sums(int32_t rows, int32_t cols, const berth_real *x, const berth_real *y, double factor, bool set,
                       berth_real *into) {
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
