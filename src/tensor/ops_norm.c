/* SPDX-License-Identifier: Apache-2.0 */
/* Layer norm (Ba, Kiros and Hinton 2016) and dropout (Srivastava and others 2014): after the products these take the
 * most time of a network, one pass over memory each. */
#include "tensor/node.h"
#include "tensor/reduce.h"
#include "tensor/wide.h"

#include <assert.h>
#include <math.h>

/* --- layer norm ------------------------------------------------------------------------------------------------- */

/* Saved: of each row its mean and 1 / deviation, then room for the sums of two gradients over rows. */
berth_matrix *berth_layer_norm(berth_tape *tape, berth_matrix *a, berth_matrix *gain, berth_matrix *shift, double eps) {
    assert(!a || !gain || (gain->rows == 1 && gain->cols == a->cols));
    assert(!a || !shift || (shift->rows == 1 && shift->cols == a->cols));
    size_t rows = (size_t)berth_rows(a), cols = (size_t)berth_cols(a);
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_LAYER_NORM, .in = {a, gain, shift}, .low = eps},
                           berth_rows(a), berth_cols(a), 2 * (rows + cols) * sizeof(double));
}

void berth_layer_norm_forward(berth_node *node) {
    const berth_matrix *a = node->in[0];
    const berth_real *restrict gain = node->in[1]->value, *restrict shift = node->in[2]->value;
    size_t n = (size_t)a->cols;
    double *row_stats = node->saved;
    for (int32_t r = 0; n && r < a->rows; r++, row_stats += 2) {
        const berth_real *restrict x = a->value + (size_t)r * n;
        berth_real *restrict y = node->out.value + (size_t)r * n;
        row_stats[0] = berth_sum_of(n, x) / (double)n;
        row_stats[1] = 1 / sqrt(berth_spread_of(n, x, row_stats[0]) / (double)n + node->low);
        berth_real mean = (berth_real)row_stats[0], scale = (berth_real)row_stats[1];
        for (size_t c = 0; c < n; c++) y[c] = (x[c] - mean) * scale * gain[c] + shift[c];
    }
}

/* One row on the way back, with h = (x - mean) * scale and d = g * gain: dx = scale * (d - mean(d) - h * mean(d h)). */
BERTH_WIDE static void norm_row_back(size_t n, const berth_real *restrict x, const berth_real *restrict g,
                                     const berth_real *restrict gain, const double stats[2], bool set,
                                     berth_real *restrict gx) {
    enum { SUMS = 8 };
    double d_sums[SUMS], h_sums[SUMS], d_sum = 0, h_sum = 0;
    berth_real mean = (berth_real)stats[0], scale = (berth_real)stats[1];
    size_t whole = n - n % SUMS;
    for (int l = 0; l < SUMS; l++) d_sums[l] = h_sums[l] = 0;
    for (size_t c = 0; c < whole; c += SUMS) {
        for (size_t l = 0; l < SUMS; l++) {
            berth_real d = g[c + l] * gain[c + l];
            d_sums[l] += (double)d;
            h_sums[l] += (double)(d * ((x[c + l] - mean) * scale));
        }
    }
    for (size_t c = whole; c < n; c++) {
        berth_real d = g[c] * gain[c];
        d_sum += (double)d;
        h_sum += (double)(d * ((x[c] - mean) * scale));
    }
    for (int l = 0; l < SUMS; l++) d_sum += d_sums[l], h_sum += h_sums[l];
    berth_real d_mean = (berth_real)(d_sum / (double)n), h_mean = (berth_real)(h_sum / (double)n);
    for (size_t c = 0; c < n; c++)
        gx[c] = (set ? 0 : gx[c]) + scale * (g[c] * gain[c] - d_mean - (x[c] - mean) * scale * h_mean);
}

/* Adds one row to the sums of the gradients of gain and shift. */
BERTH_WIDE static void sum_row(size_t n, const berth_real *restrict x, const berth_real *restrict g,
                               const double stats[2], double *restrict of_gain, double *restrict of_shift) {
    berth_real mean = (berth_real)stats[0], scale = (berth_real)stats[1];
    for (size_t c = 0; c < n; c++) {
        of_gain[c] += (double)(g[c] * ((x[c] - mean) * scale));
        of_shift[c] += (double)g[c];
    }
}

/* Adds sums of columns to the gradient of a parameter. */
static void add_sums(berth_matrix *t, const double *sums) {
    if (!t->grad) return;
    bool set = berth_grad_set(t);
    for (int32_t c = 0; c < t->cols; c++) t->grad[c] = (berth_real)((set ? 0 : (double)t->grad[c]) + sums[c]);
}

void berth_layer_norm_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    size_t n = (size_t)a->cols;
    const double *stats = node->saved;
    double *of_gain = (double *)node->saved + 2 * a->rows, *of_shift = of_gain + n;
    memset(of_gain, 0, 2 * n * sizeof *of_gain);
    bool set = a->grad && berth_grad_set(a);
    for (int32_t r = 0; n && r < a->rows; r++, stats += 2) {
        const berth_real *restrict x = a->value + (size_t)r * n, *restrict g = node->out.grad + (size_t)r * n;
        sum_row(n, x, g, stats, of_gain, of_shift);
        if (a->grad) norm_row_back(n, x, g, node->in[1]->value, stats, set, a->grad + (size_t)r * n);
    }
    add_sums(node->in[1], of_gain);
    add_sums(node->in[2], of_shift);
}

/* --- dropout ---------------------------------------------------------------------------------------------------- */

/* Each element is decided by 16 random bits; the probability is therefore a multiple of 2^-16, and the survivors are
 * divided by what that leaves. Philox would take longer than the rest of the network's elements together, so it only
 * seeds: LANES generators xoshiro128++ (Blackman and Vigna 2019) run side by side, without a multiplication. Saved: one
 * byte per element, 1 where it stays. */
enum { LANES = 16, ROUNDS = 8, CHUNK = 2 * LANES * ROUNDS };

typedef struct xoshiro {
    uint32_t s[4][LANES];
} xoshiro;

static double rounded(double p) {
    return fmin(floor(p * 65536 + 0.5), 65535) / 65536;
}

berth_matrix *berth_dropout(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng) {
    assert(p >= 0 && p < 1);
    if (a && rounded(p) == 0) return a;
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_DROPOUT, .in = {a}, .low = rounded(p), .rng = rng},
                           berth_rows(a), berth_cols(a), a ? berth_count(a) : 0);
}

static inline uint32_t rotate(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

static inline void draw(xoshiro *lanes, uint32_t *restrict bits) {
    xoshiro x = *lanes;
    for (int round = 0; round < ROUNDS; round++, bits += LANES) {
        for (int i = 0; i < LANES; i++) {
            uint32_t a = x.s[0][i], b = x.s[1][i], c = x.s[2][i] ^ a, d = x.s[3][i] ^ b;
            bits[i] = rotate(a + x.s[3][i], 7) + a;
            x.s[0][i] = a ^ d;
            x.s[1][i] = b ^ c;
            x.s[2][i] = c ^ b << 9;
            x.s[3][i] = rotate(d, 11);
        }
    }
    *lanes = x;
}

/* The next CHUNK decisions: 1 where 16 bits are not below `drop`. */
BERTH_WIDE static void decide(xoshiro *lanes, uint16_t drop, uint8_t *restrict keep) {
    union {
        uint32_t words[LANES * ROUNDS];
        uint16_t halves[CHUNK];
    } bits;
    draw(lanes, bits.words);
    for (int i = 0; i < CHUNK; i++) keep[i] = bits.halves[i] >= drop;
}

/* Decisions for all elements. */
static void decide_all(const berth_node *node, size_t n, uint8_t *keep) {
    uint16_t drop = (uint16_t)(node->low * 65536);
    uint8_t last[CHUNK];
    xoshiro lanes;
    size_t first = 0;
    for (int i = 0; i < 4 * LANES; i++) lanes.s[i / LANES][i % LANES] = berth_rng_next(node->rng);
    for (; n - first >= CHUNK; first += CHUNK) decide(&lanes, drop, keep + first);
    if (n == first) return;
    decide(&lanes, drop, last);
    memcpy(keep + first, last, n - first);
}

BERTH_WIDE static void keep_scaled(size_t n, const uint8_t *restrict keep, berth_real scale,
                                   const berth_real *restrict x, bool set, berth_real *restrict y) {
    for (size_t i = 0; i < n; i++) y[i] = (set ? 0 : y[i]) + (berth_real)keep[i] * scale * x[i];
}

BERTH_WIDE static void keep_positive(size_t n, const berth_real *restrict x, uint8_t *restrict keep) {
    for (size_t i = 0; i < n; i++) keep[i] = (uint8_t)(keep[i] & (x[i] > 0));
}

static berth_real scale_of(const berth_node *node) {
    return (berth_real)(1 / (1 - node->low));
}

void berth_dropout_forward(berth_node *node) {
    size_t n = berth_count(&node->out);
    decide_all(node, n, node->saved);
    keep_scaled(n, node->saved, scale_of(node), node->in[0]->value, true, node->out.value);
}

void berth_dropout_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    if (a->grad) keep_scaled(berth_count(a), node->saved, scale_of(node), node->out.grad, berth_grad_set(a), a->grad);
}

/* One pass over memory instead of two, and one matrix less: what is not positive counts as dropped. NaN stays NaN. */
berth_matrix *berth_relu_dropout(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng) {
    assert(p >= 0 && p < 1);
    if (a && rounded(p) == 0) return berth_relu(tape, a);
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_RELU_DROPOUT, .in = {a}, .low = rounded(p), .rng = rng},
                           berth_rows(a), berth_cols(a), a ? berth_count(a) : 0);
}

void berth_relu_dropout_forward(berth_node *node) {
    size_t n = berth_count(&node->out);
    decide_all(node, n, node->saved);
    keep_positive(n, node->in[0]->value, node->saved);
    keep_scaled(n, node->saved, scale_of(node), node->in[0]->value, true, node->out.value);
}

void berth_relu_dropout_backward(const berth_node *node) {
    berth_dropout_backward(node);
}
