/* SPDX-License-Identifier: Apache-2.0 */
/* Operations on a tape (tape.h). n x m is rows x columns. Index and weight arrays are borrowed until the tape is
 * cleared. Sums over many elements accumulate in double. */
#ifndef BERTH_TENSOR_OPS_H
#define BERTH_TENSOR_OPS_H

#include "base/rng.h"
#include "tensor/tape.h"

/* --- products --------------------------------------------------------------------------------------------------- */
/* x w^T + b: x n x in, w out x in, b 1 x out or NULL. */
berth_matrix *berth_linear(berth_tape *tape, berth_matrix *x, berth_matrix *w, berth_matrix *b);
/* op(a) op(b), transposed where asked. */
berth_matrix *berth_matmul(berth_tape *tape, berth_matrix *a, bool a_transposed, berth_matrix *b, bool b_transposed);

/* --- element by element ----------------------------------------------------------------------------------------- */
berth_matrix *berth_add(berth_tape *tape, berth_matrix *a, berth_matrix *b); /* b n x m, or 1 x m, or n x 1, or 1 x 1 */
berth_matrix *berth_sub(berth_tape *tape, berth_matrix *a, berth_matrix *b); /* likewise */
berth_matrix *berth_mul(berth_tape *tape, berth_matrix *a, berth_matrix *b); /* likewise */
berth_matrix *berth_min(berth_tape *tape, berth_matrix *a, berth_matrix *b); /* same shape; ties: a's gradient */
berth_matrix *berth_scale(berth_tape *tape, berth_matrix *a, double factor);
berth_matrix *berth_relu(berth_tape *tape, berth_matrix *a);
berth_matrix *berth_tanh(berth_tape *tape, berth_matrix *a);
berth_matrix *berth_sigmoid(berth_tape *tape, berth_matrix *a);
berth_matrix *berth_exp(berth_tape *tape, berth_matrix *a);
berth_matrix *berth_square(berth_tape *tape, berth_matrix *a);
berth_matrix *berth_clamp(berth_tape *tape, berth_matrix *a, double low, double high);
/* Inverted dropout: each element 0 with probability p, else divided by 1 - p. p is rounded to a multiple of
 * 2^-16; 0 gives `a` itself. The mask is drawn from rng, 64 numbers whatever its size, and costs little beside a
 * product of the same rows. */
berth_matrix *berth_dropout(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng);
/* dropout(relu(a)), the same numbers in one pass. */
berth_matrix *berth_relu_dropout(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng);
/* The same in the place of `a`, which is gone then: only for a result that nothing else uses, of an operation that does
 * not need it on the way back (a product, a norm). Memory is what bounds this. */
berth_matrix *berth_relu_dropout_over(berth_tape *tape, berth_matrix *a, double p, berth_rng *rng);
/* (a - mean) / sqrt(variance + eps) of each row, times gain, plus shift (both 1 x m); biased variance. */
berth_matrix *berth_layer_norm(berth_tape *tape, berth_matrix *a, berth_matrix *gain, berth_matrix *shift, double eps);
/* The same of a + b (of one shape), whose sum is not kept. */
berth_matrix *berth_add_norm(berth_tape *tape, berth_matrix *a, berth_matrix *b, berth_matrix *gain,
                             berth_matrix *shift, double eps);

/* --- rows ------------------------------------------------------------------------------------------------------- */
/* Sparse product: out row i = sum over k in start[i] .. start[i + 1] of weight[k] * a row index[k]; weight NULL: 1. The
 * caller keeps the transposed arrays for the way back; where the matrix is symmetric they are the same. */
typedef struct berth_csr {
    int32_t rows, cols;
    const int32_t *start, *index;
    const berth_real *weight;
} berth_csr;
berth_matrix *berth_sparse(berth_tape *tape, berth_matrix *a, const berth_csr *csr, const berth_csr *transposed);
/* out row i = a row index[i]. */
berth_matrix *berth_gather(berth_tape *tape, berth_matrix *a, const int32_t *index, int32_t n);
/* out row i = a row u[i] * a row v[i], element by element. */
berth_matrix *berth_gather_mul(berth_tape *tape, berth_matrix *a, const int32_t *u, const int32_t *v, int32_t n);
/* Segments are rows start[s] .. start[s + 1]; an empty one gives zeros. */
berth_matrix *berth_segment_sum(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments);
berth_matrix *berth_segment_mean(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments);
berth_matrix *berth_segment_max(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments);
/* n columns: side by side; rows agree. */
berth_matrix *berth_concat(berth_tape *tape, berth_matrix *a, berth_matrix *b);
berth_matrix *berth_columns(berth_tape *tape, berth_matrix *a, int32_t first, int32_t n);
/* One below the other; columns agree. */
berth_matrix *berth_stack(berth_tape *tape, berth_matrix *const *parts, int32_t n);

/* --- choices ---------------------------------------------------------------------------------------------------- */
/* Of each row, over the columns whose bit is set in mask[row] (NULL: all; at most 64 columns, at least one bit). The
 * others get -INFINITY, and no gradient. */
berth_matrix *berth_log_softmax(berth_tape *tape, berth_matrix *a, const uint64_t *mask);
/* a n x 1: over the rows of each segment. */
berth_matrix *berth_segment_log_softmax(berth_tape *tape, berth_matrix *a, const int32_t *start, int32_t n_segments);
/* out row i = a[i][column[i]]: n x 1. */
berth_matrix *berth_pick(berth_tape *tape, berth_matrix *a, const int32_t *column);
/* Entropy of each row of log-probabilities (-INFINITY counts 0): n x 1. Of each segment of n x 1: n_segments x 1. */
berth_matrix *berth_entropy(berth_tape *tape, berth_matrix *log_p);
berth_matrix *berth_segment_entropy(berth_tape *tape, berth_matrix *log_p, const int32_t *start, int32_t n_segments);

/* --- sequences -------------------------------------------------------------------------------------------------- */
/* One step of a GRU in PyTorch's form: h n x m is the state, x and u n x 3 m are what the input and the state give to
 * the gates r and z and to the candidate c, side by side. Gives c + z (h - c), c = tanh(x_c + r u_c). */
berth_matrix *berth_gru(berth_tape *tape, berth_matrix *x, berth_matrix *u, berth_matrix *h);
/* Scores of additive attention: out[j][i] = v . tanh(query j + key i); v 1 x m. */
berth_matrix *berth_additive(berth_tape *tape, berth_matrix *queries, berth_matrix *keys, berth_matrix *v);

/* --- sums ------------------------------------------------------------------------------------------------------- */
berth_matrix *berth_sum(berth_tape *tape, berth_matrix *a);                             /* 1 x 1 */
berth_matrix *berth_mean(berth_tape *tape, berth_matrix *a);                            /* 1 x 1 */
berth_matrix *berth_dot(berth_tape *tape, berth_matrix *a, const berth_real *constant); /* sum of a * constant: 1 x 1 */

#endif
