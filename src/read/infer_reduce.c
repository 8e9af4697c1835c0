/* SPDX-License-Identifier: Apache-2.0 */
/* Reductions along axes, and normalisations, whose extra outputs are reductions. The axes are an attribute in older
 * opsets and an input in newer ones; a file may hold either, so both are looked at whatever the opset. */
#include "read/infer_rows.h"

#include <inttypes.h>

/* Take the marked axes out of `dims`, or make them one. */
static void collapse(berth_dims *dims, const bool marks[BERTH_MAX_RANK], bool keep) {
    int32_t rank = 0;
    for (int32_t i = 0; i < dims->rank; i++) {
        if (!marks[i])
            dims->at[rank++] = dims->at[i];
        else if (keep)
            dims->at[rank++] = berth_dim_static(1);
    }
    dims->rank = rank;
}

berth_status berth_infer_reduce(berth_infer *in) {
    berth_dims dims;
    berth_list axes;
    bool marks[BERTH_MAX_RANK];
    berth_type type = berth_infer_type(in, 0);
    bool keep = berth_infer_int(in, "keepdims", 1) == 1;
    BERTH_TRY(berth_infer_list(in, "axes", 1, &axes));
    if (!berth_infer_dims(in, 0, &dims)) {
        /* All axes are reduced where none is named. */
        if (!keep && axes.state == BERTH_LIST_ABSENT && berth_infer_int(in, "noop_with_empty_axes", 0) != 1)
            dims.rank = 0;
        return berth_infer_out(in, 0, type, &dims);
    }
    if (axes.state == BERTH_LIST_UNKNOWN) {
        if (axes.n > dims.rank) return berth_infer_refuse(in, "%d axes of %d dimensions", (int)axes.n, (int)dims.rank);
        berth_dims_blank(&dims, keep ? dims.rank : axes.n > 0 ? dims.rank - axes.n : -1);
        return berth_infer_out(in, 0, type, &dims);
    }
    bool nothing = axes.n == 0 && berth_infer_int(in, "noop_with_empty_axes", 0) == 1;
    /* Exporters reduce scalars too, along an axis that these have not. */
    if (nothing || dims.rank == 0) return berth_infer_out(in, 0, type, &dims);
    BERTH_TRY(berth_infer_axes(in, &axes, dims.rank, marks));
    for (int32_t i = 0; i < dims.rank && axes.n == 0; i++) marks[i] = true;
    collapse(&dims, marks, keep);
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_arg_reduce(berth_infer *in) {
    berth_dims dims;
    bool marks[BERTH_MAX_RANK] = {false};
    if (berth_infer_dims(in, 0, &dims) && dims.rank > 0) {
        int32_t axis;
        BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), dims.rank, &axis));
        marks[axis] = true;
        collapse(&dims, marks, berth_infer_int(in, "keepdims", 1) == 1);
    }
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &dims);
}

/* Before opset 13 the axis splits the dimensions in two, and may stand behind the last. */
berth_status berth_infer_softmax(berth_infer *in) {
    const berth_tensor *data = berth_infer_in(in, 0);
    int64_t axis = berth_infer_int(in, "axis", -1);
    if (data && data->shape.rank >= 0 && (axis < -(int64_t)data->shape.rank || axis > data->shape.rank) &&
        berth_infer_given(in, "axis"))
        return berth_infer_refuse(in, "axis %" PRId64 " of %d dimensions", axis, (int)data->shape.rank);
    return berth_infer_same(in);
}

/* Y; mean and inverse standard deviation, where dimensions from the axis on are one. */
berth_status berth_infer_layer_norm(berth_infer *in) {
    berth_dims dims;
    BERTH_TRY(berth_infer_same(in));
    berth_type type = berth_infer_type_named(in, "stash_type", BERTH_TYPE_F32);
    if (berth_infer_dims(in, 0, &dims)) {
        int32_t axis;
        BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", -1), dims.rank, &axis));
        for (int32_t i = axis; i < dims.rank; i++) dims.at[i] = berth_dim_static(1);
    }
    BERTH_TRY(berth_infer_out(in, 1, type, &dims));
    return berth_infer_out(in, 2, type, &dims);
}

/* Y; then two (opset 14 and later) or four statistics of C elements, in training only. */
berth_status berth_infer_batch_norm(berth_infer *in) {
    berth_dims data, one, channels;
    BERTH_TRY(berth_infer_rank(in, 0, 1, BERTH_MAX_RANK));
    /* Before opset 9 there may be a statistic for each position. */
    if (berth_infer_int(in, "spatial", 1) == 0) return berth_infer_same(in);
    berth_dims_blank(&channels, 1);
    if (berth_infer_dims(in, 0, &data) && data.rank > 1) channels.at[0] = data.at[1];
    for (int32_t port = 1; port < 5; port++) {
        BERTH_TRY(berth_infer_rank(in, port, 1, 1));
        if (!berth_infer_dims(in, port, &one)) continue;
        if (!berth_dim_agree(&channels.at[0], &one.at[0]))
            return berth_infer_refuse(in, "%" PRId64 " channels, but input %d has %" PRId64, channels.at[0].min,
                                      (int)port, one.at[0].min);
        channels.at[0] = berth_dim_best(&channels.at[0], &one.at[0]);
    }
    BERTH_TRY(berth_infer_same(in));
    for (int32_t port = 1; port < 5; port++)
        BERTH_TRY(berth_infer_out(in, port, berth_infer_type(in, port < 3 ? 3 : 0), &channels));
    return BERTH_OK;
}

/* k is an attribute before opset 10. */
berth_status berth_infer_top_k(berth_infer *in) {
    berth_dims dims;
    int64_t k = berth_infer_int(in, "k", -1);
    bool known = berth_infer_given(in, "k") || berth_infer_scalar(in, 1, &k);
    if (known && k < 0) return berth_infer_refuse(in, "k is %" PRId64, k);
    if (berth_infer_dims(in, 0, &dims)) {
        int32_t axis;
        BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", -1), dims.rank, &axis));
        const berth_dim *size = &dims.at[axis];
        if (known && berth_dim_is_static(size) && k > size->min)
            return berth_infer_refuse(in, "the first %" PRId64 " of %" PRId64, k, size->min);
        dims.at[axis] = known ? berth_dim_static(k) : berth_dim_unknown();
    }
    BERTH_TRY(berth_infer_out(in, 0, berth_infer_type(in, 0), &dims));
    return berth_infer_out(in, 1, BERTH_TYPE_I64, &dims);
}

/* NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss: scores N x C x ..., labels N x ...; a scalar, or one loss for
 * each label. */
berth_status berth_infer_loss(berth_infer *in) {
    berth_dims dims = {.rank = 0}, scores;
    berth_type type = berth_infer_type(in, 0);
    if (berth_infer_says(in, "reduction", "none", false)) {
        bool known = berth_infer_dims(in, 1, &dims);
        for (int32_t i = 0; known && berth_infer_dims(in, 0, &scores) && i < dims.rank; i++)
            if (scores.rank == dims.rank + 1) dims.at[i] = berth_dim_best(&dims.at[i], &scores.at[i == 0 ? 0 : i + 1]);
    }
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));
    return berth_infer_copy(in, 1, type, 0); /* SoftmaxCrossEntropyLoss: logarithms of the probabilities */
}
