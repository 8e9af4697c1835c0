/* SPDX-License-Identifier: Apache-2.0 */
/* Layer norm (Ba, Kiros and Hinton 2016) and dropout (Srivastava and others 2014): after the products these take the
 * most time of a network, one pass over memory each. */
#include "tensor/node.h"
#include "tensor/reduce.h"

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
        double mean = berth_sum_of(n, x) / (double)n;
        double scale = 1 / sqrt(berth_spread_of(n, x, mean) / (double)n + node->low);
        row_stats[0] = mean;
        row_stats[1] = scale;
        berth_real m = (berth_real)mean, s = (berth_real)scale;
        for (size_t c = 0; c < n; c++) y[c] = (x[c] - m) * s * gain[c] + shift[c];
    }
}

/* One row on the way back, with h = (x - mean) * scale and d = g * gain: dx = scale * (d - mean(d) - h * mean(d h)). */
static void norm_row_back(size_t n, const berth_real *restrict x, const berth_real *restrict g,
                          const berth_real *restrict gain, const double stats[2], bool set, berth_real *restrict gx) {
    enum { LANES = 8 };
    double lanes[LANES] = {0}, lanes_h[LANES] = {0}, sum = 0, sum_h = 0;
    berth_real mean = (berth_real)stats[0], scale = (berth_real)stats[1];
    size_t c = 0;
    for (; c + LANES <= n; c += LANES) {
        for (size_t l = 0; l < LANES; l++) {
            berth_real d = g[c + l] * gain[c + l];
            lanes[l] += (double)d;
            lanes_h[l] += (double)(d * ((x[c + l] - mean) * scale));
        }
    }
    for (size_t l = 0; c < n; c++, l++) {
        berth_real d = g[c] * gain[c];
        lanes[l] += (double)d;
        lanes_h[l] += (double)(d * ((x[c] - mean) * scale));
    }
    for (int l = 0; l < LANES; l++) sum += lanes[l], sum_h += lanes_h[l];
    berth_real d_mean = (berth_real)(sum / (double)n), h_mean = (berth_real)(sum_h / (double)n);
    for (c = 0; c < n; c++)
        gx[c] = (set ? 0 : gx[c]) + scale * (g[c] * gain[c] - d_mean - (x[c] - mean) * scale * h_mean);
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
    double *restrict of_gain = (double *)node->saved + 2 * a->rows, *restrict of_shift = of_gain + n;
    memset(of_gain, 0, 2 * n * sizeof *of_gain);
    bool set = a->grad && berth_grad_set(a);
    for (int32_t r = 0; n && r < a->rows; r++, stats += 2) {
        const berth_real *restrict x = a->value + (size_t)r * n, *restrict g = node->out.grad + (size_t)r * n;
        berth_real mean = (berth_real)stats[0], scale = (berth_real)stats[1];
        for (size_t c = 0; c < n; c++) {
            of_gain[c] += (double)(g[c] * ((x[c] - mean) * scale));
            of_shift[c] += (double)g[c];
        }
        if (a->grad) norm_row_back(n, x, g, node->in[1]->value, stats, set, a->grad + (size_t)r * n);
    }
    add_sums(node->in[1], of_gain);
    add_sums(node->in[2], of_shift);
}

/* --- dropout ---------------------------------------------------------------------------------------------------- */

/* Each element is decided by 16 random bits, two elements by each number of the generator; the probability is therefore
 * a multiple of 2^-16, and the survivors are divided by what that leaves. Saved: one byte per element, 1 where it
 * stays.
 */
enum { CHUNK = 512 };

static double rounded(double p) {
    return fmin(floor(p * 65536 + 0.5), 65535) / 65536;
}

berth_matrix *berth_dropout(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng) {
    assert(p >= 0 && p < 1);
    if (a && rounded(p) == 0) return a;
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_DROPOUT, .in = {a}, .low = rounded(p), .rng = rng},
                           berth_rows(a), berth_cols(a), a ? berth_count(a) : 0);
}

/* The next n <= CHUNK decisions. An odd one out takes a number of its own. */
static void decide(berth_rng *rng, uint32_t drop_below, size_t n, uint8_t *restrict keep) {
    uint32_t bits[CHUNK / 2];
    berth_rng_fill(rng, bits, (n + 1) / 2);
    for (size_t i = 0; i < n / 2; i++) {
        keep[2 * i] = (bits[i] & 0xffff) >= drop_below;
        keep[2 * i + 1] = (bits[i] >> 16) >= drop_below;
    }
    if (n % 2) keep[n - 1] = (bits[n / 2] & 0xffff) >= drop_below;
}

void berth_dropout_forward(berth_node *node) {
    const berth_real *restrict x = node->in[0]->value;
    berth_real *restrict y = node->out.value;
    uint8_t *restrict keep = node->saved;
    berth_real scale = (berth_real)(1 / (1 - node->low));
    for (size_t n = berth_count(&node->out), first = 0; first < n; first += CHUNK) {
        size_t end = n - first < CHUNK ? n : first + CHUNK;
        decide(node->rng, (uint32_t)(node->low * 65536), end - first, keep + first);
        for (size_t i = first; i < end; i++) y[i] = keep[i] ? x[i] * scale : 0;
    }
}

void berth_dropout_backward(const berth_node *node) {
    berth_matrix *a = node->in[0];
    if (!a->grad) return;
    bool set = berth_grad_set(a);
    const berth_real *restrict g = node->out.grad;
    berth_real *restrict ga = a->grad;
    const uint8_t *restrict keep = node->saved;
    berth_real scale = (berth_real)(1 / (1 - node->low));
    for (size_t i = 0; i < berth_count(a); i++) ga[i] = (set ? 0 : ga[i]) + (keep[i] ? g[i] * scale : 0);
}
