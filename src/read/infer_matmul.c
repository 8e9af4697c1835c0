/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products. MatMul follows numpy: leading dimensions broadcast, a vector on the left is a row and on the right a
 * column, and that dimension then drops out of the result. */
#include "read/infer_rows.h"

#include <inttypes.h>

static berth_status refuse_inner(berth_infer *in, const berth_dims *a, const berth_dims *b) {
    char left[BERTH_DIMS_TEXT], right[BERTH_DIMS_TEXT];
    return berth_infer_refuse(in, "the inner dimensions of %s and %s differ", berth_dims_text(a, left),
                              berth_dims_text(b, right));
}

/* The product of a and b, both of known rank, into `dims`. */
static berth_status product(berth_infer *in, const berth_dims *a, const berth_dims *b, berth_dims *dims) {
    if (a->rank == 0 || b->rank == 0) return berth_infer_refuse(in, "an input is a scalar");
    const berth_dim *inner = &a->at[a->rank - 1], *other = &b->at[b->rank == 1 ? 0 : b->rank - 2];
    if (!berth_dim_agree(inner, other)) return refuse_inner(in, a, b);
    berth_dims more;
    berth_dims_assign(dims, a);
    berth_dims_assign(&more, b);
    dims->rank = a->rank > 2 ? a->rank - 2 : 0;
    more.rank = b->rank > 2 ? b->rank - 2 : 0;
    BERTH_TRY(berth_infer_broadcast(in, dims, &more));
    if (a->rank > 1) dims->at[dims->rank++] = a->at[a->rank - 2];
    if (b->rank > 1) dims->at[dims->rank++] = b->at[b->rank - 1];
    return BERTH_OK;
}

static berth_status matmul(berth_infer *in, int32_t left, int32_t right, berth_type type) {
    berth_dims a, b, dims = {.rank = -1};
    if (berth_infer_dims(in, left, &a) && berth_infer_dims(in, right, &b)) BERTH_TRY(product(in, &a, &b, &dims));
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_matmul(berth_infer *in) {
    return matmul(in, 0, 1, berth_infer_type(in, 0));
}

berth_status berth_infer_matmul_integer(berth_infer *in) {
    return matmul(in, 0, 1, BERTH_TYPE_I32);
}

/* MatMulIntegerToFloat, DynamicQuantizeMatMul. */
berth_status berth_infer_matmul_to_f32(berth_infer *in) {
    return matmul(in, 0, 1, BERTH_TYPE_F32);
}

/* a, its scale and zero point, b, its scale and zero point, y's scale and zero point. */
berth_status berth_infer_qlinear_matmul(berth_infer *in) {
    return matmul(in, 0, 3, berth_infer_type(in, 7));
}

static void swap(berth_dims *dims, int32_t i, int32_t j) {
    berth_dim kept = dims->at[i];
    dims->at[i] = dims->at[j];
    dims->at[j] = kept;
}

/* transBatch moves the batch in front of the rows instead: b1 b2 M K is stored as M b1 b2 K. */
static void transpose_batch(berth_dims *dims) {
    for (int32_t i = 0; i + 2 < dims->rank; i++) swap(dims, i, i + 1);
}

berth_status berth_infer_fused_matmul(berth_infer *in) {
    berth_dims a, b, dims;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &a) || !berth_infer_dims(in, 1, &b)) return berth_infer_out(in, 0, type, NULL);
    if (berth_infer_int(in, "transBatchA", 0)) transpose_batch(&a);
    if (berth_infer_int(in, "transBatchB", 0)) transpose_batch(&b);
    if (berth_infer_int(in, "transA", 0) && a.rank > 1) swap(&a, a.rank - 2, a.rank - 1);
    if (berth_infer_int(in, "transB", 0) && b.rank > 1) swap(&b, b.rank - 2, b.rank - 1);
    BERTH_TRY(product(in, &a, &b, &dims));
    return berth_infer_out(in, 0, type, &dims);
}

/* A times a stored matrix of K x N in few bits. */
berth_status berth_infer_matmul_nbits(berth_infer *in) {
    berth_dims dims;
    int64_t k = berth_infer_int(in, "K", -1), n = berth_infer_int(in, "N", -1);
    if (k < 0 || n < 0) return berth_infer_refuse(in, "'K' or 'N' is missing or negative");
    BERTH_TRY(berth_infer_rank(in, 0, 1, BERTH_MAX_RANK));
    if (berth_infer_dims(in, 0, &dims)) {
        berth_dim *last = &dims.at[dims.rank - 1], inner = berth_dim_static(k);
        if (!berth_dim_agree(last, &inner))
            return berth_infer_refuse(in, "the last dimension is %" PRId64 ", 'K' is %" PRId64, last->min, k);
        *last = berth_dim_static(n);
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

static berth_status gemm(berth_infer *in, int32_t left, int32_t right, berth_type type) {
    berth_dims a, b, dims;
    BERTH_TRY(berth_infer_rank(in, left, 2, 2));
    BERTH_TRY(berth_infer_rank(in, right, 2, 2));
    berth_dims_blank(&dims, 2);
    bool has_a = berth_infer_dims(in, left, &a), has_b = berth_infer_dims(in, right, &b);
    if (has_a && berth_infer_int(in, "transA", 0)) swap(&a, 0, 1);
    if (has_b && berth_infer_int(in, "transB", 0)) swap(&b, 0, 1);
    if (has_a && has_b && !berth_dim_agree(&a.at[1], &b.at[0])) return refuse_inner(in, &a, &b);
    if (has_a) dims.at[0] = a.at[0];
    if (has_b) dims.at[1] = b.at[1];
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_gemm(berth_infer *in) {
    return gemm(in, 0, 1, berth_infer_type(in, 0));
}

/* A, its scale and zero point, B, its scale and zero point, C, y's scale and zero point (none: the output is f32). */
berth_status berth_infer_qgemm(berth_infer *in) {
    return gemm(in, 0, 3, berth_infer_in(in, 8) ? berth_infer_type(in, 8) : BERTH_TYPE_F32);
}

berth_status berth_infer_det(berth_infer *in) {
    berth_dims dims;
    BERTH_TRY(berth_infer_rank(in, 0, 2, BERTH_MAX_RANK));
    if (berth_infer_dims(in, 0, &dims)) {
        if (!berth_dim_agree(&dims.at[dims.rank - 1], &dims.at[dims.rank - 2])) {
            char text[BERTH_DIMS_TEXT];
            return berth_infer_refuse(in, "the matrices of %s are not square", berth_dims_text(&dims, text));
        }
        dims.rank -= 2;
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}
