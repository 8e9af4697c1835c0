/* SPDX-License-Identifier: Apache-2.0 */
/* Element by element, in double. */
#include "runtime/compare.h"

#include <math.h>
#include <string.h>

berth_difference berth_difference_none(void) {
    return (berth_difference){.cosine = 1, .equal = true};
}

/* What a sum of some thousand products in this type may be off by, relative. */
static double tolerance(const berth_npy *tensor, berth_type type, berth_type computed) {
    if (type == BERTH_TYPE_BF16 || computed == BERTH_TYPE_BF16) return 5e-2;
    if (computed == BERTH_TYPE_F16) return 1e-2;
    if (tensor->kind == 'c') return tensor->item_size == 8 ? 1e-3 : 1e-9;
    switch (tensor->item_size) {
    case 2: return 1e-2;
    case 4: return 1e-3;
    default: return 1e-9;
    }
}

static double half_to_double(uint16_t bits) {
    int exponent = bits >> 10 & 31, sign = bits >> 15;
    double fraction = bits & 1023, value;
    if (exponent == 31)
        value = fraction > 0 ? NAN : INFINITY;
    else
        value = exponent > 0 ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return sign ? -value : value;
}

static double brain_to_double(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return (double)value;
}

/* Element i of a tensor of floats, complex ones as two. */
static double element(const berth_npy *t, berth_type type, int64_t i) {
    const char *at = (const char *)t->data + (size_t)i * (size_t)(t->kind == 'c' ? t->item_size / 2 : t->item_size);
    int32_t width = t->kind == 'c' ? t->item_size / 2 : t->item_size;
    uint16_t bits;
    float single;
    double wide;
    switch (width) {
    case 2:
        memcpy(&bits, at, sizeof bits);
        return type == BERTH_TYPE_BF16 ? brain_to_double(bits) : half_to_double(bits);
    case 4: memcpy(&single, at, sizeof single); return (double)single;
    default: memcpy(&wide, at, sizeof wide); return wide;
    }
}

static bool same_shape(const berth_npy *a, const berth_npy *b) {
    return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims) == 0;
}

/* False: the reference has no numbers at all. */
static bool compare_floats(const berth_npy *a, const berth_npy *b, berth_type type, double allowed, double slack,
                           berth_difference *d) {
    int64_t n = b->kind == 'c' ? 2 * b->count : b->count, n_numbers = 0;
    double largest = 0, aa = 0, bb = 0, ab = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        double value = fabs(element(b, type, i));
        n_numbers += !isnan(value);
        if (value > largest && value < INFINITY) largest = value;
    }
    for (int64_t i = 0; i < n; i++) {
        double x = element(a, type, i), y = element(b, type, i);
        if ((isnan(x) && isnan(y)) || x == y) {
            if (isfinite(x)) aa += x * x, bb += y * y, ab += x * y;
            continue;
        }
        double off = fabs(x - y);
        squares += off * off;
        if (!isfinite(x) || !isfinite(y) || off > fmax(allowed * (fabs(y) + largest), slack)) d->equal = false;
        if (!(off <= d->max_abs)) d->max_abs = isnan(off) ? INFINITY : off;
        double relative = off / fmax(fabs(y), 1e-3 * largest);
        if (!(relative <= d->max_rel)) d->max_rel = isnan(relative) ? INFINITY : relative;
        if (isfinite(x) && isfinite(y)) aa += x * x, bb += y * y, ab += x * y;
    }
    double cosine = aa > 0 && bb > 0 ? ab / sqrt(aa) / sqrt(bb) : aa == bb ? 1 : 0;
    d->cosine = fmin(d->cosine, cosine);
    d->mean_square = fmax(d->mean_square, isnan(squares) ? INFINITY : n > 0 ? squares / (double)n : 0);
    d->distance = fmax(d->distance, isnan(squares) ? INFINITY : sqrt(squares));
    return n_numbers > 0 || n == 0;
}

berth_status berth_compare(berth_ctx *ctx, const char *name, const berth_npy *tensor, const berth_npy *reference,
                           berth_type type, berth_leeway leeway, berth_difference *difference) {
    if (tensor->kind != reference->kind || (tensor->kind != 'S' && tensor->item_size != reference->item_size) ||
        !same_shape(tensor, reference))
        return berth_fail(ctx, BERTH_E_NUMERIC, "the output '%.200s' has another type or shape on another device",
                          name);
    bool is_brain = type == BERTH_TYPE_BF16 && reference->kind != 'S' && reference->item_size == 2;
    if (reference->kind == 'f' || reference->kind == 'c' || is_brain) {
        double allowed = tolerance(reference, type, leeway.computed);
        if (!compare_floats(tensor, reference, type, allowed, leeway.slack, difference))
            berth_log(ctx, BERTH_LOG_WARNING, "the output '%.200s' is nothing but NaN: there is nothing to compare",
                      name);
        return BERTH_OK;
    }
    bool equal = tensor->size == reference->size && memcmp(tensor->data, reference->data, reference->size) == 0;
    if (equal) return BERTH_OK;
    difference->equal = false;
    difference->max_abs = difference->max_rel = difference->mean_square = difference->distance = INFINITY;
    difference->cosine = 0;
    return BERTH_OK;
}
