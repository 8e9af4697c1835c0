/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products by OpenBLAS, in float or double as berth_real is. The library runs threads of its own unless told
 * otherwise; ours run side by side already, so the first product sets it to one. That holds for the whole process, and
 * is the only thing of it that we touch. */
#include "tensor/blas.h"

#include <cblas.h>
#include <pthread.h>
#include <string.h>

#ifdef BERTH_REAL_DOUBLE
#define CBLAS(name) cblas_d##name
#else
#define CBLAS(name) cblas_s##name
#endif

static void use_one_thread(void) {
    openblas_set_num_threads(1);
}

static void set_up(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, use_one_thread);
}

static CBLAS_TRANSPOSE transpose(bool transposed) {
    return transposed ? CblasTrans : CblasNoTrans;
}

/* Leading dimensions must be positive even where there is nothing. */
static int at_least_1(int32_t n) {
    return n > 0 ? n : 1;
}

void berth_gemm(bool a_transposed, bool b_transposed, int32_t m, int32_t n, int32_t k, const berth_real *a, int32_t lda,
                const berth_real *b, int32_t ldb, berth_real beta, berth_real *c, int32_t ldc) {
    if (m == 0 || n == 0) return;
    set_up();
    CBLAS(gemm)
    (CblasRowMajor, transpose(a_transposed), transpose(b_transposed), m, n, k, 1, a, at_least_1(lda), b,
     at_least_1(ldb), beta, c, at_least_1(ldc));
}

void berth_gemv(bool transposed, int32_t rows, int32_t cols, const berth_real *a, int32_t lda, const berth_real *x,
                berth_real beta, berth_real *y) {
    int32_t n = transposed ? cols : rows;
    if (n == 0) return;
    if (rows == 0 || cols == 0) { /* OpenBLAS then leaves y as it is */
        for (int32_t i = 0; i < n; i++) y[i] = beta == 0 ? 0 : beta * y[i];
        return;
    }
    set_up();
    CBLAS(gemv)(CblasRowMajor, transpose(transposed), rows, cols, 1, a, at_least_1(lda), x, 1, beta, y, 1);
}

void berth_axpy(int64_t n, berth_real alpha, const berth_real *x, berth_real *y) {
    for (int64_t i = 0; i < n; i++) y[i] += alpha * x[i];
}
