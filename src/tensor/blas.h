/* SPDX-License-Identifier: Apache-2.0 */
/* The only door to a BLAS library. Two files implement it, one of which is built: blas_open.c on OpenBLAS,
 * blas_naive.c on nothing, which is also the oracle of the test. Row-major; one thread per call, since callers run
 * side by side. */
#ifndef BERTH_TENSOR_BLAS_H
#define BERTH_TENSOR_BLAS_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/real.h"

/* c (m x n, rows ldc apart) = beta c + op(a) op(b), where op(a) is m x k and op(b) k x n. */
void berth_gemm(bool a_transposed, bool b_transposed, int32_t m, int32_t n, int32_t k, const berth_real *a, int32_t lda,
                const berth_real *b, int32_t ldb, berth_real beta, berth_real *c, int32_t ldc);
/* y (m) = beta y + op(a) x; a is rows x cols. */
void berth_gemv(bool transposed, int32_t rows, int32_t cols, const berth_real *a, int32_t lda, const berth_real *x,
                berth_real beta, berth_real *y);
/* y += alpha x. */
void berth_axpy(int64_t n, berth_real alpha, const berth_real *x, berth_real *y);

#endif
