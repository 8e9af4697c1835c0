/* SPDX-License-Identifier: Apache-2.0 */
/* Values known before the model runs: reading and making them, and the value functions of the table. */
#ifndef BERTH_READ_INFER_VALUE_H
#define BERTH_READ_INFER_VALUE_H

#include "read/infer_op.h"

/* A value for an output whose type and shape are known by now, nothing in it known, and kept for its readers. NULL if
 * the output is left out, too large or of a type that is not followed; also without memory (in->scratch.failed). */
berth_value *berth_value_new(berth_infer *in, int32_t port);

static inline berth_dim berth_value_unknown(void) {
    return (berth_dim){INT64_MIN, INT64_MAX, NULL};
}

/* An integer as an element of that type; not known if the type cannot hold it. */
berth_dim berth_value_fit(berth_type type, int64_t number);
/* A floating point number as the type holds it. */
double berth_value_round(berth_type type, double number);

/* Element number `index` of the value `from` becomes element `at` of `to`. Both are of one kind. */
void berth_value_move(berth_value *to, int32_t at, const berth_value *from, int64_t index);

/* Positions in a source while the positions of `dims` (all static) are counted through in row-major order. */
typedef struct berth_walk {
    int32_t rank;
    int64_t size[BERTH_MAX_RANK], step[BERTH_MAX_RANK], count[BERTH_MAX_RANK];
    int64_t index; /* in the source */
} berth_walk;

/* A walk over `dims` through a source of the same shape; change `index` and `step` for another way. */
void berth_walk_start(berth_walk *walk, const berth_dims *dims);
/* A walk over `dims` through a source of shape `source` that broadcasts to it. */
void berth_walk_broadcast(berth_walk *walk, const berth_dims *dims, const berth_dims *source);
void berth_walk_next(berth_walk *walk);
/* The shape of an output. */
void berth_value_dims(const berth_infer *in, int32_t port, berth_dims *dims);

/* Value functions that move elements. */
void berth_value_same(berth_infer *in);
void berth_value_shape(berth_infer *in);
void berth_value_size(berth_infer *in);
void berth_value_gather(berth_infer *in);
void berth_value_slice(berth_infer *in); /* infer_index.c */
void berth_value_transpose(berth_infer *in);
void berth_value_concat(berth_infer *in);
void berth_value_split(berth_infer *in);
void berth_value_expand(berth_infer *in);
void berth_value_tile(berth_infer *in);
void berth_value_where(berth_infer *in);
void berth_value_nonzero(berth_infer *in);
void berth_value_scatter(berth_infer *in);
void berth_value_constant_of_shape(berth_infer *in);

/* Value functions that compute. */
void berth_value_cast(berth_infer *in);
void berth_value_range(berth_infer *in);
void berth_value_abs(berth_infer *in);
void berth_value_ceil(berth_infer *in);
void berth_value_floor(berth_infer *in);
void berth_value_neg(berth_infer *in);
void berth_value_not(berth_infer *in);
void berth_value_reciprocal(berth_infer *in);
void berth_value_round_half(berth_infer *in);
void berth_value_sign(berth_infer *in);
void berth_value_sqrt(berth_infer *in);
void berth_value_add(berth_infer *in);
void berth_value_sub(berth_infer *in);
void berth_value_mul(berth_infer *in);
void berth_value_div(berth_infer *in);
void berth_value_mod(berth_infer *in);
void berth_value_pow(berth_infer *in);
void berth_value_min(berth_infer *in);
void berth_value_max(berth_infer *in);
void berth_value_and(berth_infer *in);
void berth_value_or(berth_infer *in);
void berth_value_equal(berth_infer *in);
void berth_value_less(berth_infer *in);
void berth_value_less_or_equal(berth_infer *in);
void berth_value_greater(berth_infer *in);
void berth_value_greater_or_equal(berth_infer *in);
void berth_value_reduce_sum(berth_infer *in);
void berth_value_reduce_prod(berth_infer *in);
void berth_value_reduce_min(berth_infer *in);
void berth_value_reduce_max(berth_infer *in);

#endif
