/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on known values, as ONNX Runtime does it: integers in the width of their type (a result that does not fit
 * counts as not known), division of integers toward zero, floating point rounded to the type after each step. What is
 * not known of an integer is a range; a dimension is at least zero, which is what decides the test for -1 that
 * exporters put around Expand. */
#include "read/infer_value.h"

#include <math.h>
#include <string.h>

/* --- one operand --- */

/* `ints` says false where the result is not known; `reals` is NaN there. Either may be NULL: never known. */
typedef struct unary {
    bool (*ints)(int64_t a, int64_t *out);
    double (*reals)(double a);
} unary;

static void apply_unary(berth_infer *in, const unary *what) {
    const berth_value *from = berth_infer_value(in, 0);
    if (!from || (from->ints ? !what->ints : !what->reals)) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || to->n != from->n || !to->ints != !from->ints) return;
    berth_type type = berth_infer_type(in, 0);
    for (int32_t i = 0; i < to->n; i++) {
        int64_t number;
        if (!to->ints)
            to->reals[i] = berth_value_round(type, what->reals(from->reals[i]));
        else if (berth_dim_is_static(&from->ints[i]) && what->ints(from->ints[i].min, &number))
            to->ints[i] = berth_value_fit(type, number);
    }
}

static bool int_abs(int64_t a, int64_t *out) {
    *out = a;
    return a >= 0 || !__builtin_sub_overflow(0, a, out);
}

static bool int_neg(int64_t a, int64_t *out) {
    return !__builtin_sub_overflow(0, a, out);
}

static bool int_not(int64_t a, int64_t *out) {
    *out = !a;
    return true;
}

static bool int_sign(int64_t a, int64_t *out) {
    *out = (a > 0) - (a < 0);
    return true;
}

static double real_neg(double a) {
    return -a;
}

static double real_reciprocal(double a) {
    return 1 / a;
}

static double real_sign(double a) {
    return isnan(a) ? a : (double)((a > 0) - (a < 0));
}

void berth_value_abs(berth_infer *in) {
    apply_unary(in, &(unary){int_abs, fabs});
}

void berth_value_ceil(berth_infer *in) {
    apply_unary(in, &(unary){NULL, ceil});
}

void berth_value_floor(berth_infer *in) {
    apply_unary(in, &(unary){NULL, floor});
}

void berth_value_neg(berth_infer *in) {
    apply_unary(in, &(unary){int_neg, real_neg});
}

void berth_value_not(berth_infer *in) {
    apply_unary(in, &(unary){int_not, NULL});
}

void berth_value_reciprocal(berth_infer *in) {
    apply_unary(in, &(unary){NULL, real_reciprocal});
}

void berth_value_round_half(berth_infer *in) {
    apply_unary(in, &(unary){NULL, rint}); /* halves to even, as ONNX asks */
}

void berth_value_sign(berth_infer *in) {
    apply_unary(in, &(unary){int_sign, real_sign});
}

void berth_value_sqrt(berth_infer *in) {
    apply_unary(in, &(unary){NULL, sqrt});
}

/* --- two operands --- */

typedef struct binary {
    bool (*ints)(int64_t a, int64_t b, int64_t *out);
    double (*reals)(double a, double b);
    int64_t neutral; /* a op neutral = a; INT64_MIN: there is none */
    bool commutes;   /* and neutral op a = a */
    bool keeps_sign; /* of two that are not negative neither is the result */
} binary;

static berth_dim binary_ints(const binary *what, berth_type type, const berth_dim *a, const berth_dim *b) {
    int64_t number;
    if (berth_dim_is_static(a) && berth_dim_is_static(b))
        return what->ints(a->min, b->min, &number) ? berth_value_fit(type, number) : berth_value_unknown();
    bool has_neutral = what->neutral != INT64_MIN;
    if (has_neutral && berth_dim_is(b, what->neutral)) return *a;
    if (has_neutral && what->commutes && berth_dim_is(a, what->neutral)) return *b;
    if (what->keeps_sign && a->min >= 0 && b->min >= 0) return berth_dim_unknown();
    return berth_value_unknown();
}

/* out = a op b, with broadcasting; `dims` is the shape of out. */
static void binary_values(const binary *what, berth_type type, berth_value *out, berth_walk *wa, const berth_value *a,
                          berth_walk *wb, const berth_value *b) {
    for (int32_t i = 0; i < out->n; i++) {
        if (out->reals && what->reals)
            out->reals[i] = berth_value_round(type, what->reals(a->reals[wa->index], b->reals[wb->index]));
        else if (out->ints && what->ints)
            out->ints[i] = binary_ints(what, type, &a->ints[wa->index], &b->ints[wb->index]);
        berth_walk_next(wa);
        berth_walk_next(wb);
    }
}

/* Folds all inputs from the left: Sum, Min and Max take any number of them. No shape is made from more than a few, and
 * a file could name one input a million times. */
static void apply_binary(berth_infer *in, const binary *what) {
    enum { FOLDED = 16 };
    berth_dims dims, source;
    if (in->op->n_inputs > FOLDED) return;
    for (int32_t port = 0; port < in->op->n_inputs; port++) {
        const berth_value *value = berth_infer_value(in, port);
        if (!value || !value->ints != !berth_infer_value(in, 0)->ints) return;
    }
    const berth_value *first = berth_infer_value(in, 0);
    berth_value *to = first ? berth_value_new(in, 0) : NULL;
    if (!to || !to->ints != !first->ints) return;
    berth_value_dims(in, 0, &dims);
    berth_infer_dims(in, 0, &source);
    berth_walk a, b;
    berth_walk_broadcast(&a, &dims, &source);
    for (int32_t i = 0; i < to->n; i++, berth_walk_next(&a)) berth_value_move(to, i, first, a.index);
    for (int32_t port = 1; port < in->op->n_inputs; port++) {
        berth_infer_dims(in, port, &source);
        berth_walk_start(&a, &dims);
        berth_walk_broadcast(&b, &dims, &source);
        binary_values(what, berth_infer_type(in, 0), to, &a, to, &b, berth_infer_value(in, port));
    }
}

static bool int_add(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static bool int_sub(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_sub_overflow(a, b, out);
}

static bool int_mul(int64_t a, int64_t b, int64_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

static bool int_div(int64_t a, int64_t b, int64_t *out) {
    if (b == 0 || (a == INT64_MIN && b == -1)) return false;
    *out = a / b;
    return true;
}

/* The remainder has the sign of the divisor, as in Python. */
static bool int_mod(int64_t a, int64_t b, int64_t *out) {
    if (b == 0) return false;
    int64_t rest = b == -1 ? 0 : a % b;
    *out = rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    return true;
}

/* The remainder has the sign of the dividend, as in C. */
static bool int_fmod(int64_t a, int64_t b, int64_t *out) {
    if (b == 0) return false;
    *out = b == -1 ? 0 : a % b;
    return true;
}

static bool int_pow(int64_t a, int64_t b, int64_t *out) {
    if (b < 0) return false;
    *out = 1;
    /* By squaring; the base is squared only while it is still needed. */
    for (; b > 0; b >>= 1) {
        if ((b & 1) && __builtin_mul_overflow(*out, a, out)) return false;
        if (b > 1 && __builtin_mul_overflow(a, a, &a)) return false;
    }
    return true;
}

static bool int_min(int64_t a, int64_t b, int64_t *out) {
    *out = a < b ? a : b;
    return true;
}

static bool int_max(int64_t a, int64_t b, int64_t *out) {
    *out = a > b ? a : b;
    return true;
}

static bool int_and(int64_t a, int64_t b, int64_t *out) {
    *out = a && b;
    return true;
}

static bool int_or(int64_t a, int64_t b, int64_t *out) {
    *out = a || b;
    return true;
}

static double real_add(double a, double b) {
    return a + b;
}

static double real_sub(double a, double b) {
    return a - b;
}

static double real_mul(double a, double b) {
    return a * b;
}

static double real_div(double a, double b) {
    return a / b;
}

/* Libraries round powers differently in the last place; a whole number is the same in all. */
static double real_pow(double a, double b) {
    double power = pow(a, b);
    return power == rint(power) && fabs(power) < 0x1p24 ? power : NAN;
}

static double real_min(double a, double b) {
    return isnan(a) || isnan(b) ? NAN : fmin(a, b);
}

static double real_max(double a, double b) {
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}

void berth_value_add(berth_infer *in) {
    apply_binary(in, &(binary){int_add, real_add, 0, true, true});
}

void berth_value_sub(berth_infer *in) {
    apply_binary(in, &(binary){int_sub, real_sub, 0, false, false});
}

void berth_value_mul(berth_infer *in) {
    apply_binary(in, &(binary){int_mul, real_mul, 1, true, true});
}

void berth_value_div(berth_infer *in) {
    apply_binary(in, &(binary){int_div, real_div, 1, false, true});
}

void berth_value_mod(berth_infer *in) {
    bool c_sign = berth_infer_int(in, "fmod", 0) == 1;
    apply_binary(in, &(binary){c_sign ? int_fmod : int_mod, c_sign ? fmod : NULL, INT64_MIN, false, true});
}

void berth_value_pow(berth_infer *in) {
    apply_binary(in, &(binary){int_pow, real_pow, 1, false, true});
}

void berth_value_min(berth_infer *in) {
    apply_binary(in, &(binary){int_min, real_min, INT64_MIN, true, true});
}

void berth_value_max(berth_infer *in) {
    apply_binary(in, &(binary){int_max, real_max, INT64_MIN, true, true});
}

void berth_value_and(berth_infer *in) {
    apply_binary(in, &(binary){int_and, NULL, 1, true, false});
}

void berth_value_or(berth_infer *in) {
    apply_binary(in, &(binary){int_or, NULL, 0, true, false});
}

/* --- comparisons: 1, 0, or -1 where it is not known --- */

typedef struct comparison {
    int (*ints)(const berth_dim *a, const berth_dim *b);
    bool (*reals)(double a, double b);
    bool swapped, negated;
} comparison;

static int ints_equal(const berth_dim *a, const berth_dim *b) {
    if (berth_dim_equal(a, b)) return 1;
    return a->max < b->min || b->max < a->min ? 0 : -1;
}

static int ints_less(const berth_dim *a, const berth_dim *b) {
    if (a->max < b->min) return 1;
    return a->min >= b->max ? 0 : -1;
}

static bool reals_equal(double a, double b) {
    return a == b;
}

static bool reals_less(double a, double b) {
    return a < b;
}

static void apply_comparison(berth_infer *in, const comparison *what) {
    int32_t left = what->swapped ? 1 : 0, right = 1 - left;
    const berth_value *a = berth_infer_value(in, left), *b = berth_infer_value(in, right);
    if (!a || !b || !a->ints != !b->ints) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || !to->ints) return;
    berth_dims dims, source;
    berth_walk wa, wb;
    berth_value_dims(in, 0, &dims);
    berth_infer_dims(in, left, &source);
    berth_walk_broadcast(&wa, &dims, &source);
    berth_infer_dims(in, right, &source);
    berth_walk_broadcast(&wb, &dims, &source);
    for (int32_t i = 0; i < to->n; i++) {
        int answer = -1;
        if (a->ints)
            answer = what->ints(&a->ints[wa.index], &b->ints[wb.index]);
        else if (!isnan(a->reals[wa.index]) && !isnan(b->reals[wb.index]))
            answer = what->reals(a->reals[wa.index], b->reals[wb.index]);
        if (answer >= 0) to->ints[i] = berth_dim_static(what->negated ? !answer : answer);
        berth_walk_next(&wa);
        berth_walk_next(&wb);
    }
}

void berth_value_equal(berth_infer *in) {
    apply_comparison(in, &(comparison){ints_equal, reals_equal, false, false});
}

void berth_value_less(berth_infer *in) {
    apply_comparison(in, &(comparison){ints_less, reals_less, false, false});
}

void berth_value_greater(berth_infer *in) {
    apply_comparison(in, &(comparison){ints_less, reals_less, true, false});
}

void berth_value_less_or_equal(berth_infer *in) {
    apply_comparison(in, &(comparison){ints_less, reals_less, true, true});
}

void berth_value_greater_or_equal(berth_infer *in) {
    apply_comparison(in, &(comparison){ints_less, reals_less, false, true});
}

/* --- the rest --- */

/* Reductions to a single element; exporters take the product or sum of a whole shape. */
static void apply_reduction(berth_infer *in, const binary *what, int64_t empty) {
    const berth_value *from = berth_infer_value(in, 0);
    if (!from || !from->ints || (from->n == 0 && empty == INT64_MIN)) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || !to->ints || to->n != 1) return;
    berth_type type = berth_infer_type(in, 0);
    berth_dim all = from->n > 0 ? from->ints[0] : berth_dim_static(empty);
    for (int32_t i = 1; i < from->n; i++) all = binary_ints(what, type, &all, &from->ints[i]);
    to->ints[0] = all;
}

void berth_value_reduce_sum(berth_infer *in) {
    apply_reduction(in, &(binary){int_add, NULL, 0, true, true}, 0);
}

void berth_value_reduce_prod(berth_infer *in) {
    apply_reduction(in, &(binary){int_mul, NULL, 1, true, true}, 1);
}

void berth_value_reduce_min(berth_infer *in) {
    apply_reduction(in, &(binary){int_min, NULL, INT64_MIN, true, true}, INT64_MIN);
}

void berth_value_reduce_max(berth_infer *in) {
    apply_reduction(in, &(binary){int_max, NULL, INT64_MIN, true, true}, INT64_MIN);
}

static berth_dim real_to_int(berth_type type, double number) {
    if (type == BERTH_TYPE_BOOL && !isnan(number)) return berth_dim_static(number != 0);
    if (!(number > -0x1p62 && number < 0x1p62)) return berth_value_unknown();
    return berth_value_fit(type, (int64_t)number);
}

static berth_dim int_to_int(berth_type type, const berth_dim *number) {
    if (type == BERTH_TYPE_BOOL) {
        if (berth_dim_is_static(number)) return berth_dim_static(number->min != 0);
        return number->min > 0 || number->max < 0 ? berth_dim_static(1) : berth_value_unknown();
    }
    return berth_dim_is_static(number) ? berth_value_fit(type, number->min) : *number;
}

void berth_value_cast(berth_infer *in) {
    const berth_value *from = berth_infer_value(in, 0);
    berth_value *to = from ? berth_value_new(in, 0) : NULL;
    if (!to || to->n != from->n) return;
    berth_type type = in->graph->tensors[in->op->outputs[0]].type;
    for (int32_t i = 0; i < to->n; i++) {
        if (to->ints && from->ints)
            to->ints[i] = int_to_int(type, &from->ints[i]);
        else if (to->ints)
            to->ints[i] = real_to_int(type, from->reals[i]);
        else if (from->reals)
            to->reals[i] = berth_value_round(type, from->reals[i]);
        else if (berth_dim_is_static(&from->ints[i]))
            to->reals[i] = berth_value_round(type, (double)from->ints[i].min);
    }
}

void berth_value_range(berth_infer *in) {
    int64_t start, delta, product;
    if (!berth_infer_scalar(in, 0, &start) || !berth_infer_scalar(in, 2, &delta)) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || !to->ints) return;
    berth_type type = berth_infer_type(in, 0);
    for (int32_t i = 0; i < to->n; i++)
        if (int_mul(i, delta, &product) && int_add(start, product, &product))
            to->ints[i] = berth_value_fit(type, product);
}
