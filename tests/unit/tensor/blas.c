/* SPDX-License-Identifier: Apache-2.0 */
/* Both doors to matrix products against a triple loop in double: the one that the library was built with, and the plain
 * one, which is compiled in here under other names. Also built in double (blas_double.c). */
#include "support.h"

#include "tensor/blas.h"

#include <float.h>
#include <math.h>

#define berth_gemm naive_gemm
#define berth_gemv naive_gemv
#define berth_axpy naive_axpy
void naive_gemm(bool a_transposed, bool b_transposed, int32_t m, int32_t n, int32_t k, const berth_real *a, int32_t lda,
                const berth_real *b, int32_t ldb, berth_real beta, berth_real *c, int32_t ldc);
void naive_gemv(bool transposed, int32_t rows, int32_t cols, const berth_real *a, int32_t lda, const berth_real *x,
                berth_real beta, berth_real *y);
void naive_axpy(int64_t n, berth_real alpha, const berth_real *x, berth_real *y);
#include "tensor/blas_naive.c"
#undef berth_gemm
#undef berth_gemv
#undef berth_axpy

enum { MOST = 70, ROOM = MOST * (MOST + 3) };

typedef struct door {
    void (*gemm)(bool, bool, int32_t, int32_t, int32_t, const berth_real *, int32_t, const berth_real *, int32_t,
                 berth_real, berth_real *, int32_t);
    void (*gemv)(bool, int32_t, int32_t, const berth_real *, int32_t, const berth_real *, berth_real, berth_real *);
    void (*axpy)(int64_t, berth_real, const berth_real *, berth_real *);
} door;

static const door doors[] = {{berth_gemm, berth_gemv, berth_axpy}, {naive_gemm, naive_gemv, naive_axpy}};
enum { DOORS = sizeof doors / sizeof *doors };

static berth_real a[ROOM], b[ROOM], c[ROOM], result[ROOM];

static void fill(uint64_t *state, berth_real *x) {
    for (int i = 0; i < ROOM; i++) x[i] = (berth_real)((double)support_below(state, 2001) / 1000 - 1);
}

static int32_t size(uint64_t *state) {
    return (int32_t)support_below(state, support_below(state, 3) ? 6 : MOST + 1);
}

/* Of sums of at most MOST products of numbers up to 1. */
static void check(double got, double want) {
    if (!(fabs(got - want) <= MOST * (sizeof(berth_real) == 4 ? FLT_EPSILON : DBL_EPSILON)))
        fail_msg("%.17g instead of %.17g", got, want);
}

/* beta 0 must not look at what was there; the others add to it. */
static berth_real draw_beta(uint64_t *state, berth_real *x) {
    static const berth_real betas[] = {0, 1, (berth_real)-0.5};
    berth_real beta = betas[support_below(state, 3)];
    for (int i = 0; beta == 0 && i < ROOM; i++) x[i] = (berth_real)NAN;
    return beta;
}

static void matrix_by_matrix(void **unused) {
    (void)unused;
    uint64_t state = 1;
    for (int n_case = 0; n_case < support_cases(400); n_case++) {
        bool ta = support_below(&state, 2), tb = support_below(&state, 2);
        int32_t m = size(&state), n = size(&state), k = size(&state);
        int32_t lda = (ta ? m : k) + (int32_t)support_below(&state, 3),
                ldb = (tb ? k : n) + (int32_t)support_below(&state, 3);
        int32_t ldc = n + (int32_t)support_below(&state, 3);
        fill(&state, a), fill(&state, b), fill(&state, c);
        berth_real beta = draw_beta(&state, c);
        for (int d = 0; d < DOORS; d++) {
            memcpy(result, c, sizeof c);
            doors[d].gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, result, ldc);
            for (int32_t i = 0; i < m; i++) {
                for (int32_t j = 0; j < n; j++) {
                    double sum = beta == 0 ? 0 : (double)beta * (double)c[i * ldc + j];
                    for (int32_t l = 0; l < k; l++)
                        sum += (double)a[ta ? l * lda + i : i * lda + l] * (double)b[tb ? j * ldb + l : l * ldb + j];
                    check((double)result[i * ldc + j], sum);
                }
                /* What lies between the rows is not ours. */
                for (int32_t j = n; j < ldc; j++) assert_memory_equal(&result[i * ldc + j], &c[i * ldc + j], sizeof *c);
            }
        }
    }
}

static void matrix_by_vector(void **unused) {
    (void)unused;
    uint64_t state = 2;
    for (int n_case = 0; n_case < support_cases(400); n_case++) {
        bool t = support_below(&state, 2);
        int32_t rows = size(&state), cols = size(&state), lda = cols + (int32_t)support_below(&state, 3);
        int32_t m = t ? cols : rows, k = t ? rows : cols;
        fill(&state, a), fill(&state, b), fill(&state, c);
        berth_real beta = draw_beta(&state, c);
        for (int d = 0; d < DOORS; d++) {
            memcpy(result, c, sizeof c);
            doors[d].gemv(t, rows, cols, a, lda, b, beta, result);
            for (int32_t i = 0; i < m; i++) {
                double sum = beta == 0 ? 0 : (double)beta * (double)c[i];
                for (int32_t l = 0; l < k; l++) sum += (double)a[t ? l * lda + i : i * lda + l] * (double)b[l];
                check((double)result[i], sum);
            }
            assert_memory_equal(&result[m], &c[m], sizeof *c);
        }
    }
}

static void vector_to_vector(void **unused) {
    (void)unused;
    uint64_t state = 3;
    for (int32_t n = 0; n < 40; n++) {
        fill(&state, a), fill(&state, c);
        for (int d = 0; d < DOORS; d++) {
            memcpy(result, c, sizeof c);
            doors[d].axpy(n, (berth_real)0.75, a, result);
            for (int32_t i = 0; i < n; i++) check((double)result[i], (double)c[i] + 0.75 * (double)a[i]);
            assert_memory_equal(&result[n], &c[n], sizeof *c);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_by_matrix),
        cmocka_unit_test(matrix_by_vector),
        cmocka_unit_test(vector_to_vector),
    };
    return cmocka_run_group_tests_name("tensor.blas", tests, NULL, NULL);
}
