/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by plain loops, for builds without OpenBLAS. Sums of rows are in the order that lets the innermost
 * loop run along rows of both matrices wherever the layout allows; where op(b) is transposed, b's rows are the columns
 * that are needed, and the products are dots in double. */
#include "tensor/blas.h"

#include <stddef.h>
#include <string.h>

static void scale_row(int32_t n, berth_real beta, berth_real *y) {
    if (beta == 0)
        memset(y, 0, (size_t)n * sizeof *y);
    else if (beta != 1)
        for (int32_t i = 0; i < n; i++) y[i] *= beta;
}

static berth_real dot(int32_t n, const berth_real *x, int64_t stride, const berth_real *y) {
    double sum = 0;
    for (int32_t i = 0; i < n; i++) sum += (double)x[i * stride] * (double)y[i];
    return (berth_real)sum;
}

void berth_gemm(bool a_transposed, bool b_transposed, int32_t m, int32_t n, int32_t k, const berth_real *a, int32_t lda,
                const berth_real *b, int32_t ldb, berth_real beta, berth_real *c, int32_t ldc) {
    int64_t a_row = a_transposed ? 1 : lda, a_col = a_transposed ? lda : 1;
    for (int32_t i = 0; i < m; i++) {
        berth_real *row = c + (int64_t)i * ldc;
        scale_row(n, beta, row);
        if (b_transposed)
            for (int32_t j = 0; j < n; j++) row[j] += dot(k, a + i * a_row, a_col, b + (int64_t)j * ldb);
        else
            for (int32_t l = 0; l < k; l++) berth_axpy(n, a[i * a_row + l * a_col], b + (int64_t)l * ldb, row);
    }
}

void berth_gemv(bool transposed, int32_t rows, int32_t cols, const berth_real *a, int32_t lda, const berth_real *x,
                berth_real beta, berth_real *y) {
    scale_row(transposed ? cols : rows, beta, y);
    for (int32_t i = 0; i < rows; i++) {
        const berth_real *row = a + (int64_t)i * lda;
        if (transposed)
            berth_axpy(cols, x[i], row, y);
        else
            y[i] += dot(cols, row, 1, x);
    }
}

void berth_axpy(int64_t n, berth_real alpha, const berth_real *x, berth_real *y) {
    for (int64_t i = 0; i < n; i++) y[i] += alpha * x[i];
}
