/* SPDX-License-Identifier: Apache-2.0 */
/* Layer norm (Ba, Kiros and Hinton 2016) and dropout (Srivastava and others 2014): after the products these take the
 * most time of a network, one pass over memory each. */
#include "tensor/node.h"
#include "tensor/reduce.h"
#include "tensor/wide.h"

#include <assert.h>
#include <math.h>

/* --- layer norm ------------------------------------------------------------------------------------------------- */

/* Saved: of each row its mean and 1 / deviation, room for the sums of two gradients over rows, and for two rows. */
static berth_matrix *push_norm(berth_tape *tape, const berth_node *node) {
    const berth_matrix *a = node->in[0];
    for (int i = 1; a && i <= 2; i++) /* gain and shift */
        assert(!node->in[i] || (node->in[i]->rows == 1 && node->in[i]->cols == a->cols));
    size_t rows = (size_t)berth_rows(a), cols = (size_t)berth_cols(a);
    return berth_tape_push(tape, node, berth_rows(a), berth_cols(a),
                           2 * (rows + cols) * sizeof(double) + 2 * cols * sizeof(berth_real));
}

berth_matrix *berth_layer_norm(berth_tape *tape, berth_matrix *a, berth_matrix *gain, berth_matrix *shift, double eps) {
    return push_norm(tape, &(berth_node){.op = BERTH_TAPE_LAYER_NORM, .in = {a, gain, shift}, .low = eps});
}

berth_matrix *berth_add_norm(berth_tape *tape, berth_matrix *a, berth_matrix *b, berth_matrix *gain,
                             berth_matrix *shift, double eps) {
    assert(!a || !b || (a->rows == b->rows && a->cols == b->cols));
    return push_norm(tape, &(berth_node){.op = BERTH_TAPE_ADD_NORM, .in = {a, gain, shift, b}, .low = eps});
}

/* Where the parts of `saved` lie, for the way there and back. */
typedef struct norm_room {
    double *stats, *of_gain, *of_shift;
    berth_real *sum, *slope; /* a row each */
} norm_room;

static norm_room room_of(const berth_node *node) {
    size_t rows = (size_t)node->out.rows, cols = (size_t)node->out.cols;
    double *stats = node->saved, *of_gain = stats + 2 * rows, *of_shift = of_gain + cols;
    berth_real *sum = (berth_real *)(of_shift + cols);
    return (norm_room){stats, of_gain, of_shift, sum, sum + cols};
}

BERTH_WIDE static void add_rows(size_t n, const berth_real *restrict a, const berth_real *restrict b,
                                berth_real *restrict sum) {
    for (size_t c = 0; c < n; c++) sum[c] = a[c] + b[c];
}

/* What is normed: a row of the input, or of the sum of both, which is not kept. */
static const berth_real *normed_row(const berth_node *node, int32_t r, berth_real *sum) {
    size_t n = (size_t)node->out.cols;
    const berth_real *a = node->in[0]->value + (size_t)r * n;
    if (!node->in[3]) return a;
    add_rows(n, a, node->in[3]->value + (size_t)r * n, sum);
    return sum;
}

BERTH_WIDE static void norm_row(size_t n, const berth_real *restrict x, const berth_real *restrict gain,
                                const berth_real *restrict shift, const double stats[2], berth_real *restrict y) {
    berth_real mean = (berth_real)stats[0], scale = (berth_real)stats[1];
    for (size_t c = 0; c < n; c++) y[c] = (x[c] - mean) * scale * gain[c] + shift[c];
}

void berth_layer_norm_forward(berth_node *node) {
    size_t n = (size_t)node->out.cols;
    norm_room room = room_of(node);
    for (int32_t r = 0; n && r < node->out.rows; r++) {
        const berth_real *x = normed_row(node, r, room.sum);
        double *stats = room.stats + 2 * (size_t)r;
        stats[0] = berth_sum_of(n, x) / (double)n;
        stats[1] = 1 / sqrt(berth_spread_of(n, x, stats[0]) / (double)n + node->low);
        norm_row(n, x, node->in[1]->value, node->in[2]->value, stats, node->out.value + (size_t)r * n);
    }
}

void berth_add_norm_forward(berth_node *node) {
    berth_layer_norm_forward(node);
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

BERTH_WIDE static void pass_row(size_t n, const berth_real *restrict slope, bool set, berth_real *restrict into) {
    for (size_t c = 0; c < n; c++) into[c] = (set ? 0 : into[c]) + slope[c];
}

void berth_layer_norm_backward(const berth_node *node) {
    berth_matrix *a = node->in[0], *b = node->in[3];
    size_t n = (size_t)node->out.cols;
    norm_room room = room_of(node);
    memset(room.of_gain, 0, 2 * n * sizeof *room.of_gain);
    bool into_a = a->grad, set_a = into_a && berth_grad_set(a);
    bool into_b = b && b->grad, set_b = into_b && berth_grad_set(b);
    for (int32_t r = 0; n && r < node->out.rows; r++) {
        const berth_real *x = normed_row(node, r, room.sum), *g = node->out.grad + (size_t)r * n;
        const double *stats = room.stats + 2 * (size_t)r;
        sum_row(n, x, g, stats, room.of_gain, room.of_shift);
        if (into_b) {
            norm_row_back(n, x, g, node->in[1]->value, stats, true, room.slope);
            if (into_a) pass_row(n, room.slope, set_a, a->grad + (size_t)r * n);
            pass_row(n, room.slope, set_b, b->grad + (size_t)r * n);
        } else if (into_a) {
            norm_row_back(n, x, g, node->in[1]->value, stats, set_a, a->grad + (size_t)r * n);
        }
    }
    add_sums(node->in[1], room.of_gain);
    add_sums(node->in[2], room.of_shift);
}

void berth_add_norm_backward(const berth_node *node) {
    berth_layer_norm_backward(node);
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

BERTH_WIDE static void keep_in_place(size_t n, const uint8_t *restrict keep, berth_real scale, berth_real *restrict x) {
    for (size_t i = 0; i < n; i++) x[i] = (berth_real)keep[i] * scale * x[i];
}

berth_matrix *berth_relu_dropout_over(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng) {
    assert(p >= 0 && p < 1);
    return berth_tape_push(
        tape, &(berth_node){.op = BERTH_TAPE_RELU_DROPOUT_OVER, .in = {a}, .low = rounded(p), .rng = rng, .over = true},
        berth_rows(a), berth_cols(a), a ? berth_count(a) : 0);
}

void berth_relu_dropout_over_forward(berth_node *node) {
    size_t n = berth_count(&node->out);
    if (node->low > 0)
        decide_all(node, n, node->saved);
    else if (n > 0)
        memset(node->saved, 1, n);
    keep_positive(n, node->out.value, node->saved);
    keep_in_place(n, node->saved, scale_of(node), node->out.value);
}

/* The gradient is that of the input once it is masked. */
void berth_relu_dropout_over_backward(const berth_node *node) {
    bool alone = berth_grad_set(node->in[0]);
    assert(alone);
    (void)alone;
    keep_in_place(berth_count(&node->out), node->saved, scale_of(node), node->out.grad);
}
