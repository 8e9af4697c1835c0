/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "tensor/params.h"

#include <float.h>
#include <math.h>

static berth_ctx *new_ctx(void) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    return ctx;
}

static void declare(berth_params *params, berth_ctx *ctx) {
    berth_params_init(params, ctx);
    assert_int_equal(berth_params_add(params, "weight", 3, 5), 0);
    assert_int_equal(berth_params_add(params, "bias", 1, 3), 1);
    assert_int_equal(berth_params_add(params, "scale", 1, 1), 2);
    assert_int_equal(berth_params_fix(params), BERTH_OK);
}

static void layout(void **state) {
    (void)state;
    berth_ctx *ctx = new_ctx();
    berth_params params;
    declare(&params, ctx);
    assert_int_equal(params.n, 3 * 5 + 3 + 1);
    /* Windows of one array, in the order of their declaration, without gaps. */
    assert_ptr_equal(berth_params_at(&params, 0)->value, params.value);
    assert_ptr_equal(berth_params_at(&params, 1)->value, params.value + 15);
    assert_ptr_equal(berth_params_at(&params, 2)->grad, params.grad + 18);
    assert_ptr_equal(berth_params_find(&params, "bias"), berth_params_at(&params, 1));
    assert_null(berth_params_find(&params, "bia"));
    assert_int_equal(berth_params_at(&params, 0)->rows, 3);
    assert_int_equal(berth_params_at(&params, 0)->cols, 5);
    for (size_t i = 0; i < params.n; i++) {
        assert_true(params.value[i] == 0 && params.grad[i] == 0);
        assert_true(params.moment1[i] == 0 && params.moment2[i] == 0);
    }
    berth_params_deinit(&params);
    berth_params_deinit(&params);
    berth_ctx_free(ctx);
}

static void initial_values(void **state) {
    (void)state;
    enum { N = 20000 };
    berth_ctx *ctx = new_ctx();
    berth_params params;
    berth_params_init(&params, ctx);
    berth_params_add(&params, "x", 100, N / 100);
    assert_int_equal(berth_params_fix(&params), BERTH_OK);
    berth_rng rng;
    berth_rng_init(&rng, 4, 0);
    berth_param_uniform(berth_params_at(&params, 0), 0.25, &rng);
    double sum = 0, squares = 0, most = 0;
    for (int i = 0; i < N; i++) {
        double x = (double)params.value[i];
        sum += x, squares += x * x;
        most = fmax(most, fabs(x));
    }
    /* Uniform in +-l: mean 0 with deviation l / sqrt(3 n), mean square l^2 / 3. */
    assert_true(most <= 0.25 && most > 0.2499);
    assert_true(fabs(sum / N) < 5 * 0.25 / sqrt(3.0 * N));
    assert_true(fabs(squares / N - 0.0625 / 3) < 5 * 0.0625 * sqrt(4.0 / 45 / N));
    berth_param_fill(berth_params_at(&params, 0), -1.5);
    for (int i = 0; i < N; i++) assert_true(params.value[i] == -1.5f);
    berth_params_deinit(&params);
    berth_ctx_free(ctx);
}

/* Adam as its paper writes it, one number at a time, in double. */
typedef struct twin {
    double value, m, v;
} twin;

static void step_twin(twin *t, double g, const berth_adam *adam, int64_t step) {
    t->m = adam->beta1 * t->m + (1 - adam->beta1) * g;
    t->v = adam->beta2 * t->v + (1 - adam->beta2) * g * g;
    double m = t->m / (1 - pow(adam->beta1, (double)step)), v = t->v / (1 - pow(adam->beta2, (double)step));
    t->value -= adam->rate * m / (sqrt(v) + adam->eps);
}

static void adam_equals_its_twin(void **state) {
    (void)state;
    static const double clips[] = {0, 0.5, 100};
    for (size_t n_clip = 0; n_clip < sizeof clips / sizeof *clips; n_clip++) {
        berth_adam adam = {.rate = 0.01, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = clips[n_clip]};
        berth_ctx *ctx = new_ctx();
        berth_params params;
        declare(&params, ctx);
        twin twins[19] = {0};
        uint64_t random = 9;
        for (int64_t step = 1; step <= 60; step++) {
            double squares = 0;
            for (size_t i = 0; i < params.n; i++) {
                params.grad[i] = (berth_real)((double)support_below(&random, 2001) / 1000 - 1);
                if (i == 3) params.grad[i] = 0; /* never any gradient: never moves */
                squares += (double)params.grad[i] * (double)params.grad[i];
            }
            double norm = sqrt(squares), shrink = adam.clip > 0 && norm > adam.clip ? adam.clip / norm : 1;
            for (size_t i = 0; i < params.n; i++) step_twin(&twins[i], shrink * (double)params.grad[i], &adam, step);
            assert_true(fabs(berth_params_step(&params, &adam) - norm) < 1e-6);
        }
        for (size_t i = 0; i < params.n; i++) assert_true(fabs((double)params.value[i] - twins[i].value) < 1e-5);
        assert_true(params.value[3] == 0);
        assert_int_equal(params.steps, 60);
        berth_params_deinit(&params);
        berth_ctx_free(ctx);
    }
}

/* The first step has the size of the rate, whatever the gradient: its moments cancel. */
static void first_step(void **state) {
    (void)state;
    berth_ctx *ctx = new_ctx();
    berth_params params;
    declare(&params, ctx);
    params.grad[0] = (berth_real)1e-4, params.grad[1] = -300;
    berth_adam adam = {.rate = 0.125, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    assert_true(fabs(berth_params_step(&params, &adam) - 300) < 1e-4);
    assert_true(fabs((double)params.value[0] + 0.125) < 2e-5);
    assert_true(fabs((double)params.value[1] - 0.125) < 1e-6);
    berth_params_zero_grad(&params);
    assert_true(berth_params_norm(&params) == 0);
    /* Without a gradient the moments still carry on. */
    assert_true(berth_params_step(&params, &adam) == 0);
    assert_true((double)params.value[1] > 0.125);
    berth_params_deinit(&params);
    berth_ctx_free(ctx);
}

static void divergence_changes_nothing(void **state) {
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    berth_ctx *ctx = new_ctx();
    berth_params params, before;
    declare(&params, ctx);
    declare(&before, ctx);
    berth_adam adam = {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .clip = 1};
    for (size_t i = 0; i < params.n; i++) params.grad[i] = 1;
    assert_true(isfinite(berth_params_step(&params, &adam)));
    berth_params_copy(&before, &params);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        params.grad[7] = (berth_real)bad[i];
        assert_false(isfinite(berth_params_norm(&params)));
        assert_false(isfinite(berth_params_step(&params, &adam)));
        assert_memory_equal(params.value, before.value, params.n * sizeof *params.value);
        assert_memory_equal(params.moment1, before.moment1, params.n * sizeof *params.value);
        assert_memory_equal(params.moment2, before.moment2, params.n * sizeof *params.value);
        assert_int_equal(params.steps, 1);
    }
    /* As large as floats get, but finite: that is a gradient. */
    params.grad[7] = FLT_MAX;
    assert_true(isfinite(berth_params_step(&params, &adam)));
    berth_params_deinit(&params);
    berth_params_deinit(&before);
    berth_ctx_free(ctx);
}

/* A copy goes on exactly as the original would have. */
static void copies(void **state) {
    (void)state;
    berth_ctx *ctx = new_ctx();
    berth_params params, copy;
    declare(&params, ctx);
    declare(&copy, ctx);
    berth_adam adam = {.rate = 0.1, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
    for (int step = 0; step < 4; step++) {
        for (size_t i = 0; i < params.n; i++)
            params.grad[i] = copy.grad[i] = (berth_real)(i + 1) / (berth_real)(step + 1);
        berth_params_step(&params, &adam);
        if (step == 1) berth_params_copy(&copy, &params);
        if (step > 1) berth_params_step(&copy, &adam);
    }
    assert_memory_equal(params.value, copy.value, params.n * sizeof *params.value);
    assert_int_equal(params.steps, copy.steps);
    berth_params_deinit(&params);
    berth_params_deinit(&copy);
    berth_ctx_free(ctx);
}

static berth_status make(berth_ctx *ctx, void *user) {
    (void)user;
    berth_params params;
    berth_params_init(&params, ctx);
    berth_status status = BERTH_OK;
    for (int i = 0; i < 40 && status == BERTH_OK; i++) {
        char name[3] = {'p', (char)('0' + i), 0};
        if (berth_params_add(&params, name, 2, 3) < 0) status = BERTH_E_NOMEM;
    }
    if (status == BERTH_OK) status = berth_params_fix(&params);
    berth_params_deinit(&params);
    return status;
}

static void ladder(void **state) {
    (void)state;
    assert_true(support_ladder(make, NULL, 1) >= 6);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layout),     cmocka_unit_test(initial_values),
        cmocka_unit_test(first_step), cmocka_unit_test(adam_equals_its_twin),
        cmocka_unit_test(copies),     cmocka_unit_test(divergence_changes_nothing),
        cmocka_unit_test(ladder),
    };
    return cmocka_run_group_tests_name("tensor.params", tests, NULL, NULL);
}
