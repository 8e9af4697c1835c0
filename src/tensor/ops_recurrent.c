/* SPDX-License-Identifier: Apache-2.0 */
/* What recurrent networks repeat at every step, in one operation each: the gates of a GRU (Cho and others 2014), and
 * additive attention (Bahdanau, Cho and Bengio 2015), whose tanh of every query with every key is computed again on the
 * way back instead of being kept. */
#include "tensor/node.h"
#include "tensor/real_math.h"
#include "tensor/reduce.h"
#include "tensor/wide.h"

#include <assert.h>

/* --- gated recurrent unit --------------------------------------------------------------------------------------- */

/* Saved: the gates r and z and the candidate n, one matrix after the other. */
berth_matrix *berth_gru(berth_tape *tape, berth_matrix *x, berth_matrix *u, berth_matrix *h) {
    assert(!x || !u || !h || (x->cols == 3 * h->cols && u->cols == 3 * h->cols));
    assert(!x || !u || !h || (x->rows == h->rows && u->rows == h->rows));
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_GRU, .in = {x, u, h}}, berth_rows(h), berth_cols(h),
                           h ? 3 * berth_count(h) * sizeof(berth_real) : 0);
}

BERTH_WIDE static void gru_row(size_t n, const berth_real *restrict x, const berth_real *restrict u,
                               const berth_real *restrict h, berth_real *restrict r, berth_real *restrict z,
                               berth_real *restrict candidate, berth_real *restrict y) {
    for (size_t i = 0; i < n; i++) r[i] = berth_real_sigmoid(x[i] + u[i]);
    for (size_t i = 0; i < n; i++) z[i] = berth_real_sigmoid(x[n + i] + u[n + i]);
    for (size_t i = 0; i < n; i++) candidate[i] = berth_real_tanh(x[2 * n + i] + r[i] * u[2 * n + i]);
    for (size_t i = 0; i < n; i++) y[i] = candidate[i] + z[i] * (h[i] - candidate[i]);
}

void berth_gru_forward(berth_node *node) {
    const berth_matrix *h = node->in[2];
    size_t n = (size_t)h->cols, all = berth_count(h);
    for (size_t row = 0; row < (size_t)h->rows; row++) {
        berth_real *gates = (berth_real *)node->saved + row * n;
        gru_row(n, node->in[0]->value + 3 * row * n, node->in[1]->value + 3 * row * n, h->value + row * n, gates,
                gates + all, gates + 2 * all, node->out.value + row * n);
    }
}

enum { CHUNK = 64 };

static inline void add_to(size_t n, const berth_real *restrict from, berth_real *restrict into) {
    for (size_t i = 0; i < n; i++) into[i] += from[i];
}

/* What m <= CHUNK columns of a row, whose states have n, add to the gradients of x, u and h, each of which may be NULL.
 */
BERTH_WIDE static void gru_back(size_t m, size_t n, const berth_real *restrict g, const berth_real *restrict u,
                                const berth_real *restrict h, const berth_real *restrict gates, size_t all,
                                berth_real *gx, berth_real *gu, berth_real *gh) {
    berth_real dr[CHUNK], dz[CHUNK], dc[CHUNK], du[CHUNK], dh[CHUNK];
    for (size_t i = 0; i < m; i++) {
        berth_real r = gates[i], z = gates[all + i], c = gates[2 * all + i];
        dc[i] = g[i] * (1 - z) * (1 - c * c);
        dz[i] = g[i] * (h[i] - c) * z * (1 - z);
        dr[i] = dc[i] * u[2 * n + i] * r * (1 - r);
        du[i] = dc[i] * r;
        dh[i] = g[i] * z;
    }
    if (gx) add_to(m, dr, gx), add_to(m, dz, gx + n), add_to(m, dc, gx + 2 * n);
    if (gu) add_to(m, dr, gu), add_to(m, dz, gu + n), add_to(m, du, gu + 2 * n);
    if (gh) add_to(m, dh, gh);
}

void berth_gru_backward(const berth_node *node) {
    berth_matrix *x = node->in[0], *u = node->in[1], *h = node->in[2];
    berth_real *gx = berth_grad_add(x), *gu = berth_grad_add(u), *gh = berth_grad_add(h);
    size_t n = (size_t)h->cols, all = berth_count(h);
    for (size_t row = 0; row < (size_t)h->rows; row++) {
        for (size_t first = 0; first < n; first += CHUNK) {
            size_t here = row * n + first, wide = 3 * row * n + first;
            gru_back(n - first < CHUNK ? n - first : CHUNK, n, node->out.grad + here, u->value + wide, h->value + here,
                     (const berth_real *)node->saved + here, all, gx ? gx + wide : NULL, gu ? gu + wide : NULL,
                     gh ? gh + here : NULL);
        }
    }
}

/* --- additive attention ----------------------------------------------------------------------------------------- */

berth_matrix *berth_additive(berth_tape *tape, berth_matrix *queries, berth_matrix *keys, berth_matrix *v) {
    assert(!queries || !keys || queries->cols == keys->cols);
    assert(!queries || !v || (v->rows == 1 && v->cols == queries->cols));
    return berth_tape_push(tape, &(berth_node){.op = BERTH_TAPE_ADDITIVE, .in = {queries, keys, v}},
                           berth_rows(queries), berth_rows(keys), 0);
}

/* tanh of n <= CHUNK sums. */
static inline void tanh_of_sums(size_t n, const berth_real *restrict q, const berth_real *restrict k,
                                berth_real *restrict out) {
    for (size_t i = 0; i < n; i++) out[i] = berth_real_tanh(q[i] + k[i]);
}

BERTH_WIDE static double score(size_t n, const berth_real *q, const berth_real *k, const berth_real *v) {
    berth_real t[CHUNK];
    double sum = 0;
    for (size_t first = 0; first < n; first += CHUNK) {
        size_t m = n - first < CHUNK ? n - first : CHUNK;
        tanh_of_sums(m, q + first, k + first, t);
        sum += berth_dot_of(m, t, v + first);
    }
    return sum;
}

void berth_additive_forward(berth_node *node) {
    const berth_matrix *q = node->in[0], *k = node->in[1], *v = node->in[2];
    size_t n = (size_t)q->cols;
    for (int64_t j = 0; j < q->rows; j++)
        for (int64_t i = 0; i < k->rows; i++)
            node->out.value[j * k->rows + i] =
                (berth_real)score(n, q->value + j * q->cols, k->value + i * k->cols, v->value);
}

/* Adds what one score with gradient g means for its query, its key and v, each of which may be NULL. */
BERTH_WIDE static void score_back(size_t n, berth_real g, const berth_real *q, const berth_real *k, const berth_real *v,
                                  berth_real *gq, berth_real *gk, berth_real *gv) {
    berth_real t[CHUNK], slope[CHUNK];
    for (size_t first = 0; first < n; first += CHUNK) {
        size_t m = n - first < CHUNK ? n - first : CHUNK;
        tanh_of_sums(m, q + first, k + first, t);
        for (size_t i = 0; i < m; i++) slope[i] = g * v[first + i] * (1 - t[i] * t[i]);
        for (size_t i = 0; gq && i < m; i++) gq[first + i] += slope[i];
        for (size_t i = 0; gk && i < m; i++) gk[first + i] += slope[i];
        for (size_t i = 0; gv && i < m; i++) gv[first + i] += g * t[i];
    }
}

void berth_additive_backward(const berth_node *node) {
    berth_matrix *q = node->in[0], *k = node->in[1], *v = node->in[2];
    berth_real *gq = berth_grad_add(q), *gk = berth_grad_add(k), *gv = berth_grad_add(v);
    int64_t n = q->cols;
    for (int64_t j = 0; j < q->rows; j++)
        for (int64_t i = 0; i < k->rows; i++)
            score_back((size_t)n, node->out.grad[j * k->rows + i], q->value + j * n, k->value + i * n, v->value,
                       gq ? gq + j * n : NULL, gk ? gk + i * n : NULL, gv);
}
