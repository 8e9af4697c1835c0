/* SPDX-License-Identifier: Apache-2.0 */
/* Operations in float, as they are used: values against plain loops in double, limits of the functions, dropout. That
 * gradients are right is shown in double (gradient.c). */
#include "support.h"

#include "tensor/ops.h"
#include "tensor/real_math.h"
#include "tensor/reduce.h"

#include <float.h>
#include <math.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_tape *tape;
    uint64_t random;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.random = 1};
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    assert_int_equal(berth_tape_new(f.ctx, &f.tape), BERTH_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_tape_free(f->tape);
    berth_ctx_free(f->ctx);
    return 0;
}

/* Numbers in [-2, 2). */
static berth_matrix *matrix(fixture *f, int32_t rows, int32_t cols) {
    berth_matrix *a = berth_blank(f->tape, rows, cols);
    for (int32_t i = 0; i < rows * cols; i++) a->value[i] = (float)support_below(&f->random, 4000) / 1000 - 2;
    return a;
}

static void check(const berth_matrix *a, int32_t row, int32_t col, double want) {
    double got = (double)a->value[row * a->cols + col];
    if (!(fabs(got - want) <= 1e-5 * fmax(1, fabs(want)))) fail_msg("(%d, %d): %g instead of %g", row, col, got, want);
}

static double at(const berth_matrix *a, int32_t row, int32_t col) {
    return (double)a->value[row * a->cols + col];
}

static void products(void **state) {
    fixture *f = *state;
    for (int32_t out = 1; out <= 50; out += 7) {
        berth_matrix *x = matrix(f, 9, 33), *w = matrix(f, out, 33), *b = matrix(f, 1, out);
        berth_matrix *y = berth_linear(f->tape, x, w, b), *z = berth_linear(f->tape, x, w, NULL);
        berth_matrix *p = berth_matmul(f->tape, x, true, matrix(f, 9, out), false);
        assert_true(y->rows == 9 && y->cols == out && p->rows == 33 && p->cols == out);
        for (int32_t r = 0; r < 9; r++) {
            for (int32_t c = 0; c < out; c++) {
                double sum = 0;
                for (int32_t k = 0; k < 33; k++) sum += at(x, r, k) * at(w, c, k);
                check(z, r, c, sum);
                check(y, r, c, sum + at(b, 0, c));
            }
        }
        berth_tape_clear(f->tape);
    }
}

static void second_operands(void **state) {
    fixture *f = *state;
    static const int32_t shapes[][2] = {{5, 37}, {1, 37}, {5, 1}, {1, 1}};
    berth_matrix *a = matrix(f, 5, 37);
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        berth_matrix *b = matrix(f, shapes[s][0], shapes[s][1]);
        berth_matrix *sum = berth_add(f->tape, a, b), *difference = berth_sub(f->tape, a, b);
        berth_matrix *product = berth_mul(f->tape, a, b);
        for (int32_t r = 0; r < 5; r++) {
            for (int32_t c = 0; c < 37; c++) {
                double x = at(a, r, c), y = at(b, b->rows == 1 ? 0 : r, b->cols == 1 ? 0 : c);
                check(sum, r, c, x + y);
                check(difference, r, c, x - y);
                check(product, r, c, x * y);
            }
        }
    }
}

static void elements(void **state) {
    fixture *f = *state;
    berth_matrix *a = matrix(f, 7, 41), *b = matrix(f, 7, 41);
    const berth_matrix *low = berth_min(f->tape, a, b), *scaled = berth_scale(f->tape, a, 3),
                       *kept = berth_relu(f->tape, a);
    const berth_matrix *tanhs = berth_tanh(f->tape, a), *sigmoids = berth_sigmoid(f->tape, a),
                       *exps = berth_exp(f->tape, a);
    const berth_matrix *squares = berth_square(f->tape, a), *clamped = berth_clamp(f->tape, a, -1, 0.5);
    for (int32_t r = 0; r < 7; r++) {
        for (int32_t c = 0; c < 41; c++) {
            double x = at(a, r, c);
            check(low, r, c, fmin(x, at(b, r, c)));
            check(scaled, r, c, 3 * x);
            check(kept, r, c, fmax(x, 0));
            check(tanhs, r, c, tanh(x));
            check(sigmoids, r, c, 1 / (1 + exp(-x)));
            check(exps, r, c, exp(x));
            check(squares, r, c, x * x);
            check(clamped, r, c, fmin(fmax(x, -1), 0.5));
        }
    }
}

static void rows(void **state) {
    fixture *f = *state;
    static const int32_t start[] = {0, 2, 2, 6}, index[] = {0, 3, 2, 2, 5, 1}, u[] = {4, 0, 4}, v[] = {1, 1, 4};
    static const float weight[] = {1, -2, 0.5f, 3, 1, 0.25f};
    static const int32_t start_t[] = {0, 1, 2, 4, 5, 5, 6}, index_t[] = {0, 2, 2, 2, 0, 2};
    static const float weight_t[] = {1, 0.25f, 0.5f, 3, -2, 1};
    const berth_csr csr = {3, 6, start, index, weight}, back = {6, 3, start_t, index_t, weight_t};
    berth_matrix *a = matrix(f, 6, 35), *b = matrix(f, 6, 2);
    const berth_matrix *y = berth_sparse(f->tape, a, &csr, &back), *g = berth_gather(f->tape, a, u, 3);
    const berth_matrix *gg = berth_gather_mul(f->tape, a, u, v, 3), *both = berth_concat(f->tape, a, b);
    const berth_matrix *sum = berth_segment_sum(f->tape, a, start, 3), *mean = berth_segment_mean(f->tape, a, start, 3);
    const berth_matrix *max = berth_segment_max(f->tape, a, start, 3), *part = berth_columns(f->tape, a, 30, 5);
    const berth_matrix *high = berth_stack(f->tape, (berth_matrix *[]){a, berth_gather(f->tape, a, v, 2)}, 2);
    assert_true(high->rows == 8 && part->cols == 5 && both->cols == 37);
    for (int32_t c = 0; c < 35; c++) {
        for (int32_t r = 0; r < 3; r++) {
            double sparse = 0, all = 0, most = start[r] < start[r + 1] ? -INFINITY : 0;
            for (int32_t k = start[r]; k < start[r + 1]; k++) {
                sparse += (double)weight[k] * at(a, index[k], c);
                all += at(a, k, c);
                most = fmax(most, at(a, k, c));
            }
            check(y, r, c, sparse);
            check(sum, r, c, all);
            check(mean, r, c, start[r] < start[r + 1] ? all / (start[r + 1] - start[r]) : 0);
            check(max, r, c, most);
            check(g, r, c, at(a, u[r], c));
            check(gg, r, c, at(a, u[r], c) * at(a, v[r], c));
        }
        check(high, 7, c, at(a, 1, c));
        check(both, 4, c, at(a, 4, c));
    }
    check(both, 3, 36, at(b, 3, 1));
    check(part, 5, 4, at(a, 5, 34));
}

static void norms(void **state) {
    fixture *f = *state;
    for (int32_t n = 1; n < 70; n += 4) {
        berth_matrix *a = matrix(f, 3, n), *gain = matrix(f, 1, n), *shift = matrix(f, 1, n);
        /* Far from 0, where squares in float would lose the variance. */
        for (int32_t c = 0; c < n; c++) a->value[c] += 1000;
        const berth_matrix *y = berth_layer_norm(f->tape, a, gain, shift, 1e-5);
        for (int32_t r = 0; r < 3; r++) {
            double mean = 0, variance = 0;
            for (int32_t c = 0; c < n; c++) mean += at(a, r, c) / n;
            for (int32_t c = 0; c < n; c++) variance += (at(a, r, c) - mean) * (at(a, r, c) - mean) / n;
            for (int32_t c = 0; c < n; c++) {
                double want = (at(a, r, c) - mean) / sqrt(variance + 1e-5) * at(gain, 0, c) + at(shift, 0, c);
                assert_true(fabs(at(y, r, c) - want) < (r ? 1e-5 : 2e-3));
            }
        }
        berth_tape_clear(f->tape);
    }
}

static void choices(void **state) {
    fixture *f = *state;
    static const uint64_t mask[] = {1, 6, 31, 16};
    static const int32_t column[] = {0, 2, 4, 4}, start[] = {0, 1, 1, 4};
    berth_matrix *a = matrix(f, 4, 5);
    for (int32_t c = 0; c < 5; c++) a->value[10 + c] = 1e4f * (float)c; /* exp would overflow */
    berth_matrix *log_p = berth_log_softmax(f->tape, a, mask), *free_p = berth_log_softmax(f->tape, a, NULL);
    const berth_matrix *picked = berth_pick(f->tape, log_p, column), *h = berth_entropy(f->tape, log_p);
    for (int32_t r = 0; r < 4; r++) {
        double total = 0, free_total = 0, entropy = 0;
        for (int32_t c = 0; c < 5; c++) {
            free_total += exp(at(free_p, r, c));
            if (!(mask[r] >> c & 1))
                assert_true(at(log_p, r, c) == -INFINITY);
            else
                total += exp(at(log_p, r, c));
            if (at(log_p, r, c) > -INFINITY) entropy -= exp(at(log_p, r, c)) * at(log_p, r, c);
        }
        assert_true(fabs(total - 1) < 1e-5 && fabs(free_total - 1) < 1e-5);
        check(h, r, 0, entropy);
        check(picked, r, 0, at(log_p, r, column[r]));
    }
    check(picked, 0, 0, 0); /* no choice: certain */
    check(log_p, 1, 1, -log(1 + exp(at(a, 1, 2) - at(a, 1, 1))));
    berth_matrix *s = berth_segment_log_softmax(f->tape, berth_columns(f->tape, a, 1, 1), start, 3);
    const berth_matrix *sh = berth_segment_entropy(f->tape, s, start, 3);
    check(s, 0, 0, 0);
    assert_true(fabs(exp(at(s, 1, 0)) + exp(at(s, 2, 0)) + exp(at(s, 3, 0)) - 1) < 1e-5);
    check(sh, 0, 0, 0);
    check(sh, 1, 0, 0);
}

static double sigmoid_of(double x) {
    return 1 / (1 + exp(-x));
}

static void sequences(void **state) {
    fixture *f = *state;
    berth_matrix *x = matrix(f, 4, 3 * 19), *u = matrix(f, 4, 3 * 19), *h = matrix(f, 4, 19);
    const berth_matrix *y = berth_gru(f->tape, x, u, h);
    for (int32_t r = 0; r < 4; r++) {
        for (int32_t c = 0; c < 19; c++) {
            double reset = sigmoid_of(at(x, r, c) + at(u, r, c)),
                   keep = sigmoid_of(at(x, r, 19 + c) + at(u, r, 19 + c));
            double candidate = tanh(at(x, r, 38 + c) + reset * at(u, r, 38 + c));
            check(y, r, c, (1 - keep) * candidate + keep * at(h, r, c));
        }
    }
    berth_matrix *queries = matrix(f, 3, 150), *keys = matrix(f, 5, 150), *v = matrix(f, 1, 150);
    const berth_matrix *s = berth_additive(f->tape, queries, keys, v);
    assert_true(s->rows == 3 && s->cols == 5);
    for (int32_t j = 0; j < 3; j++) {
        for (int32_t i = 0; i < 5; i++) {
            double sum = 0;
            for (int32_t a = 0; a < 150; a++) sum += at(v, 0, a) * tanh(at(queries, j, a) + at(keys, i, a));
            check(s, j, i, sum);
        }
    }
}

/* Sums over 10^6 floats, exact to the last digit of a float; and of every length, in parts of the lanes. */
static void sums(void **state) {
    fixture *f = *state;
    berth_matrix *a = matrix(f, 1000, 1000);
    double sum = 0, dot = 0;
    for (int32_t i = 0; i < 1000000; i++) {
        a->value[i] += 100;
        sum += (double)a->value[i];
        dot += (double)a->value[i] * (double)a->value[i];
    }
    assert_true(at(berth_sum(f->tape, a), 0, 0) == (double)(float)sum);
    assert_true(fabs(at(berth_mean(f->tape, a), 0, 0) - sum / 1e6) < 1e-5);
    assert_true(fabs(at(berth_dot(f->tape, a, a->value), 0, 0) - dot) < 1e-7 * dot);
    for (size_t n = 0; n < 100; n++) {
        double total = 0, spread = 0;
        for (size_t i = 0; i < n; i++) {
            total += (double)a->value[i];
            spread += ((double)a->value[i] - 3) * ((double)a->value[i] - 3);
        }
        assert_true(fabs(berth_sum_of(n, a->value) - total) <= 1e-12 * fmax(1, total));
        assert_true(fabs(berth_spread_of(n, a->value, 3) - spread) <= 1e-12 * fmax(1, spread));
    }
}

/* Units in the last place of the exact value. */
static double ulps(float got, double want) {
    int exponent = 0;
    frexp((double)(float)want, &exponent);
    return fabs((double)got - want) / ldexp(1, exponent - 24);
}

static void functions_are_exact_to_three_units(void **state) {
    (void)state;
    for (float x = -87; x < 88; x += 0.00171f) {
        assert_true(ulps(berth_real_exp(x), exp((double)x)) < 1.5);
        assert_true(ulps(berth_real_sigmoid(x), 1 / (1 + exp(-(double)x))) < 3);
        assert_true(ulps(berth_real_tanh(x / 8), tanh((double)(x / 8))) < 2);
        assert_true(ulps(berth_real_tanh(x / 1000), tanh((double)(x / 1000))) < 2);
    }
    assert_true(berth_real_exp(-INFINITY) == 0 && berth_real_exp(INFINITY) == INFINITY && berth_real_exp(0) == 1);
    assert_true(berth_real_exp(-1000) == 0 && berth_real_exp(FLT_MAX) == INFINITY && isnan(berth_real_exp(NAN)));
    assert_true(berth_real_tanh(INFINITY) == 1 && berth_real_tanh(-INFINITY) == -1 && isnan(berth_real_tanh(NAN)));
    assert_true(berth_real_tanh(0) == 0 && berth_real_tanh(1e-30f) == 1e-30f);
    assert_true(berth_real_sigmoid(-INFINITY) == 0 && berth_real_sigmoid(INFINITY) == 1);
    assert_true(isnan(berth_real_sigmoid(NAN)));
}

/* --- dropout ---------------------------------------------------------------------------------------------------- */

static berth_matrix *dropped(fixture *f, berth_matrix *a, double p, uint64_t seed) {
    berth_rng rng;
    berth_rng_init(&rng, seed, 7);
    return berth_dropout(f->tape, a, p, &rng);
}

static berth_matrix *ones(fixture *f, int32_t rows, int32_t cols) {
    berth_matrix *a = berth_blank(f->tape, rows, cols);
    for (int32_t i = 0; i < rows * cols; i++) a->value[i] = 1;
    return a;
}

/* How often an element survives, and two in a row or in a column together, within five deviations. */
static void dropout_has_its_probability(void **state) {
    fixture *f = *state;
    enum { ROWS = 1000, COLS = 300, N = ROWS * COLS };
    static const double ps[] = {0.2, 0.5, 0.001, 0.9};
    for (size_t k = 0; k < sizeof ps / sizeof *ps; k++) {
        const berth_matrix *y = dropped(f, ones(f, ROWS, COLS), ps[k], k + 1);
        double stay = 1 - floor(ps[k] * 65536 + 0.5) / 65536, kept = 0, beside = 0, below = 0, apart = 0;
        for (int32_t i = 0; i < N; i++) {
            assert_true(y->value[i] == 0 || fabs((double)y->value[i] - 1 / stay) < 1e-4);
            kept += y->value[i] != 0;
            if (i + 1 < N) beside += y->value[i] != 0 && y->value[i + 1] != 0;
            if (i + COLS < N) below += y->value[i] != 0 && y->value[i + COLS] != 0;
            if (i + 16 < N) apart += y->value[i] != 0 && y->value[i + 16] != 0; /* of one generator */
        }
        double pair = stay * stay;
        assert_true(fabs(kept / N - stay) < 5 * sqrt(stay * (1 - stay) / N));
        assert_true(fabs(beside / (N - 1) - pair) < 8 * sqrt(pair * (1 - pair) / N));
        assert_true(fabs(below / (N - COLS) - pair) < 8 * sqrt(pair * (1 - pair) / N));
        assert_true(fabs(apart / (N - 16) - pair) < 8 * sqrt(pair * (1 - pair) / N));
        berth_tape_clear(f->tape);
    }
}

/* In one pass the same as one after the other; NaN is not hidden by either. */
static void relu_and_dropout_at_once(void **state) {
    fixture *f = *state;
    for (int32_t n = 0; n < 1500; n += 37) {
        berth_rng rng;
        berth_rng_init(&rng, 3, 7);
        berth_matrix *a = matrix(f, 1, n);
        if (n > 5) a->value[5] = NAN;
        const berth_matrix *b = dropped(f, berth_relu(f->tape, a), 0.3, 3),
                           *c = berth_relu_dropout(f->tape, a, 0.3, &rng);
        berth_rng_init(&rng, 3, 7);
        const berth_matrix *d = berth_relu_dropout_over(f->tape, a, 0.3, &rng);
        for (int32_t i = 0; i < n; i++) {
            if (i == 5)
                assert_true(isnan(b->value[i]) && isnan(c->value[i]) && isnan(d->value[i]));
            else
                assert_true(b->value[i] == c->value[i] && b->value[i] == d->value[i]);
        }
        berth_tape_clear(f->tape);
    }
}

static void dropout_repeats(void **state) {
    fixture *f = *state;
    for (int32_t n = 1; n < 1500; n += 37) {
        const berth_matrix *a = dropped(f, ones(f, 1, n), 0.5, 3), *b = dropped(f, ones(f, 1, n), 0.5, 3);
        assert_memory_equal(a->value, b->value, (size_t)n * sizeof *a->value);
        /* The generator goes on: the next mask is another. */
        berth_rng rng;
        berth_rng_init(&rng, 3, 7);
        const berth_matrix *c = berth_dropout(f->tape, ones(f, 1, n), 0.5, &rng);
        const berth_matrix *d = berth_dropout(f->tape, ones(f, 1, n), 0.5, &rng);
        assert_memory_equal(a->value, c->value, (size_t)n * sizeof *a->value);
        if (n > 64) assert_memory_not_equal(c->value, d->value, (size_t)n * sizeof *a->value);
        berth_tape_clear(f->tape);
    }
    berth_matrix *a = ones(f, 2, 2);
    assert_ptr_equal(dropped(f, a, 0, 1), a);
    /* As near to 1 as it gets. */
    const berth_matrix *rare = dropped(f, ones(f, 1, 1000), nextafter(1, 0), 1);
    for (int32_t i = 0; i < 1000; i++) assert_true(isfinite(rare->value[i]));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(products),
        CASE(second_operands),
        CASE(elements),
        CASE(rows),
        CASE(norms),
        CASE(choices),
        CASE(sequences),
        CASE(sums),
        CASE(functions_are_exact_to_three_units),
        CASE(dropout_has_its_probability),
        CASE(relu_and_dropout_at_once),
        CASE(dropout_repeats),
    };
    return cmocka_run_group_tests_name("tensor.ops", tests, NULL, NULL);
}
