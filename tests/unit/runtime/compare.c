/* SPDX-License-Identifier: Apache-2.0 */
/* Outputs that are equal, nearly equal and not equal, in every kind of type. */
#include "runtime/compare.h"

#include "support.h"

#include <math.h>

static berth_npy tensor_of(char kind, int32_t item_size, int64_t n, const void *data) {
    return (berth_npy){.kind = kind,
                       .item_size = item_size,
                       .rank = 1,
                       .dims = {n},
                       .count = n,
                       .data = data,
                       .size = (size_t)n * (size_t)item_size};
}

static berth_difference difference_of(berth_ctx *ctx, const berth_npy *a, const berth_npy *b, berth_type type) {
    berth_difference d = berth_difference_none();
    assert_int_equal(berth_compare(ctx, "y", a, b, type, (berth_leeway){0}, &d), BERTH_OK);
    return d;
}

static void floats(void **state) {
    float x[] = {1, -2, 1e-6f, INFINITY, NAN}, y[] = {1, -2, 1e-6f, INFINITY, NAN};
    berth_npy a = tensor_of('f', 4, 5, x), b = tensor_of('f', 4, 5, y);
    berth_difference d = difference_of(*state, &a, &b, BERTH_TYPE_F32);
    assert_true(d.equal && d.max_abs == 0 && d.max_rel == 0 && fabs(d.cosine - 1) < 1e-12);
    x[1] = -2.0001f; /* noise */
    x[2] = 3e-6f;    /* small beside the others */
    d = difference_of(*state, &a, &b, BERTH_TYPE_F32);
    assert_true(d.equal && d.max_abs > 5e-5 && d.max_abs < 2e-4 && d.cosine > 0.999999);
    x[1] = 2;
    d = difference_of(*state, &a, &b, BERTH_TYPE_F32);
    assert_true(!d.equal && d.max_abs == 4 && d.max_rel == 2 && d.cosine < 0);
    assert_true(fabs(d.distance - 4) < 1e-9 && fabs(d.mean_square - 16.0 / 5) < 1e-9);
    x[1] = NAN;
    d = difference_of(*state, &a, &b, BERTH_TYPE_F32);
    assert_true(!d.equal && d.max_abs == INFINITY);
    x[1] = -2;
    x[3] = -INFINITY;
    assert_false(difference_of(*state, &a, &b, BERTH_TYPE_F32).equal);
}

/* What a narrow device is off by anyway is no reason to refuse. */
static void leeway(void **state) {
    float x[] = {1, 0.91f}, y[] = {1, 1};
    berth_npy a = tensor_of('f', 4, 2, x), b = tensor_of('f', 4, 2, y);
    static const struct {
        berth_leeway leeway;
        bool equal;
    } rows[] = {{{0}, false},
                {{BERTH_TYPE_F16, 0}, false},
                {{BERTH_TYPE_BF16, 0}, true}, /* a twentieth of it and of the largest */
                {{BERTH_TYPE_F16, 0.08}, false},
                {{BERTH_TYPE_F16, 0.1}, true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        berth_difference d = berth_difference_none();
        assert_int_equal(berth_compare(*state, "y", &a, &b, BERTH_TYPE_F32, rows[i].leeway, &d), BERTH_OK);
        assert_int_equal(d.equal, rows[i].equal);
        assert_true(fabs(d.max_abs - 0.09) < 1e-6);
    }
    x[1] = NAN; /* no leeway covers that */
    berth_difference d = berth_difference_none();
    assert_int_equal(berth_compare(*state, "y", &a, &b, BERTH_TYPE_F32, rows[4].leeway, &d), BERTH_OK);
    assert_false(d.equal);
}

static void count_warnings(void *user, berth_log_level level, const char *message) {
    *(int *)user += level == BERTH_LOG_WARNING && strstr(message, "'y' is nothing but NaN") != NULL;
}

/* Right exactly where the reference has one. */
static void not_numbers(void **state) {
    float x[] = {1, NAN, 3}, y[] = {1, NAN, 3}, none[] = {NAN, NAN, NAN};
    berth_npy a = tensor_of('f', 4, 3, x), b = tensor_of('f', 4, 3, y), c = tensor_of('f', 4, 3, none);
    int n_warnings = 0;
    berth_ctx_set_log(*state, count_warnings, &n_warnings);
    assert_true(difference_of(*state, &a, &b, BERTH_TYPE_F32).equal);
    for (int side = 0; side < 2; side++) {
        float *values = side ? y : x;
        values[0] = NAN;
        berth_difference d = difference_of(*state, &a, &b, BERTH_TYPE_F32);
        assert_true(!d.equal && d.max_abs == INFINITY && d.max_rel == INFINITY);
        values[0] = 1;
    }
    x[1] = 7; /* a number where the model has none */
    assert_false(difference_of(*state, &a, &b, BERTH_TYPE_F32).equal);
    assert_false(difference_of(*state, &c, &b, BERTH_TYPE_F32).equal);
    assert_int_equal(n_warnings, 0);
    assert_false(difference_of(*state, &a, &c, BERTH_TYPE_F32).equal);
    assert_int_equal(n_warnings, 1);
    assert_true(difference_of(*state, &c, &c, BERTH_TYPE_F32).equal);
    assert_int_equal(n_warnings, 2);
    berth_ctx_set_log(*state, NULL, NULL);
}

static void narrow_floats(void **state) {
    uint16_t x[] = {0x3c00, 0xc000, 0x0001, 0x7c00}, y[] = {0x3c01, 0xc000, 0x0002, 0x7c00}; /* 1, -2, 6e-8, infinity */
    berth_npy a = tensor_of('f', 2, 4, x), b = tensor_of('f', 2, 4, y);
    berth_difference d = difference_of(*state, &a, &b, BERTH_TYPE_F16);
    assert_true(d.equal && fabs(d.max_abs - 0x1p-10) < 1e-9);
    uint16_t u[] = {0x3f80, 0xc000}, v[] = {0x3f81, 0xc000}; /* 1 and -2 as bfloat16 */
    a = tensor_of('u', 2, 2, u);
    b = tensor_of('u', 2, 2, v);
    d = difference_of(*state, &a, &b, BERTH_TYPE_BF16);
    assert_true(d.equal && fabs(d.max_abs - 0x1p-7) < 1e-9);
    assert_false(difference_of(*state, &a, &b, BERTH_TYPE_U16).equal);
}

static void what_is_counted_must_be_equal(void **state) {
    int64_t x[] = {1, 2, 3}, y[] = {1, 2, 4};
    berth_npy a = tensor_of('i', 8, 3, x), b = tensor_of('i', 8, 3, y);
    assert_false(difference_of(*state, &a, &b, BERTH_TYPE_I64).equal);
    assert_true(difference_of(*state, &a, &a, BERTH_TYPE_I64).equal);
    b.dims[0] = 1;
    b.rank = 2;
    b.dims[1] = 3;
    berth_difference d = berth_difference_none();
    assert_int_equal(berth_compare(*state, "y", &a, &b, BERTH_TYPE_I64, (berth_leeway){0}, &d), BERTH_E_NUMERIC);
    float z[] = {1, 2, 3};
    b = tensor_of('f', 4, 3, z);
    assert_int_equal(berth_compare(*state, "y", &a, &b, BERTH_TYPE_I64, (berth_leeway){0}, &d), BERTH_E_NUMERIC);
    assert_non_null(strstr(berth_ctx_message(*state), "'y'"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats),
        cmocka_unit_test(leeway),
        cmocka_unit_test(not_numbers),
        cmocka_unit_test(narrow_floats),
        cmocka_unit_test(what_is_counted_must_be_equal),
    };
    return cmocka_run_group_tests(tests, support_open, support_close);
}
