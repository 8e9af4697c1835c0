/* SPDX-License-Identifier: Apache-2.0 */
/* Sums in double, fast and always in the same order: several partial sums side by side, added in a fixed tree at the
 * end, so that a compiler can use vectors without being allowed to reorder. */
#ifndef BERTH_TENSOR_REDUCE_H
#define BERTH_TENSOR_REDUCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tensor/real.h"

double berth_sum_of(size_t n, const berth_real *x);
/* sum of x[i] * y[i]. */
double berth_dot_of(size_t n, const berth_real *x, const berth_real *y);
/* sum of (x[i] - center)^2. */
double berth_spread_of(size_t n, const berth_real *x, double center);
/* into[c] = (set ? 0 : into[c]) + factor * sum over rows r of x[r][c] (times y[r][c], unless y is NULL). */
void berth_column_sums(int32_t rows, int32_t cols, const berth_real *x, const berth_real *y, double factor, bool set,
                       berth_real *into);

#endif
