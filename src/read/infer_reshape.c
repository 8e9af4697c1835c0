/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that keep the elements and their order under another shape, and those that ask for a shape. */
#include "read/infer_rows.h"

#include <inttypes.h>

/* The product of the dimensions of `dims` that are static, and (by a greedy pairing) which of the others stand on both
 * sides: those cancel, whatever their size. True if nothing unknown remains but the dimension `hole` of `target`. */
static berth_status cancel(berth_infer *in, const berth_dims *dims, const berth_dims *target, int32_t hole,
                           int64_t *numerator, int64_t *denominator, bool *solved) {
    bool used[BERTH_MAX_RANK] = {false};
    berth_dim top = berth_dim_static(1), bottom = berth_dim_static(1);
    *solved = true;
    for (int32_t i = 0; i < target->rank; i++) {
        if (i == hole) continue;
        if (berth_dim_is_static(&target->at[i])) {
            if (!berth_dim_multiply(&bottom, &target->at[i])) return berth_infer_overflow(in);
            continue;
        }
        int32_t j = 0;
        while (j < dims->rank && (used[j] || !berth_dim_equal(&dims->at[j], &target->at[i]))) j++;
        if (j == dims->rank)
            *solved = false;
        else
            used[j] = true;
    }
    for (int32_t i = 0; i < dims->rank; i++) {
        if (used[i]) continue;
        if (!berth_dim_is_static(&dims->at[i]))
            *solved = false;
        else if (!berth_dim_multiply(&top, &dims->at[i]))
            return berth_infer_overflow(in);
    }
    *numerator = top.min;
    *denominator = bottom.min;
    return BERTH_OK;
}

static berth_status refuse_reshape(berth_infer *in, const berth_dims *dims, const berth_dims *target) {
    char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
    return berth_infer_refuse(in, "%s does not reshape to %s", berth_dims_text(dims, a), berth_dims_text(target, b));
}

/* Fill the hole, and where there is none compare the counts of elements. */
static berth_status fit(berth_infer *in, const berth_dims *dims, berth_dims *target, int32_t hole) {
    int64_t top = 0, bottom = 0;
    bool solved;
    if (dims->rank < 0) return BERTH_OK;
    BERTH_TRY(cancel(in, dims, target, hole, &top, &bottom, &solved));
    if (!solved) return BERTH_OK;
    if (hole < 0) return top == bottom ? BERTH_OK : refuse_reshape(in, dims, target);
    if (bottom == 0 && top == 0) return BERTH_OK; /* any size would do */
    if (bottom == 0 || top % bottom) return refuse_reshape(in, dims, target);
    target->at[hole] = berth_dim_static(top / bottom);
    return BERTH_OK;
}

/* One entry of the shape asked for: -1 is the hole, 0 copies the dimension of the data unless `zero` says it is one. */
static berth_status target_dim(berth_infer *in, const berth_dims *dims, berth_dims *target, int32_t i,
                               const berth_dim *asked, bool zero, int32_t *hole) {
    target->at[i] = asked->min < 0 ? berth_dim_unknown() : *asked;
    if (!berth_dim_is_static(asked)) return BERTH_OK;
    if (asked->min < -1) return berth_infer_refuse(in, "the shape has the entry %" PRId64, asked->min);
    if (asked->min == -1) {
        if (*hole >= 0) return berth_infer_refuse(in, "the shape has more than one entry of -1");
        *hole = i;
    }
    if (asked->min == 0 && !zero) {
        if (dims->rank >= 0 && i >= dims->rank)
            return berth_infer_refuse(in, "entry %d copies a dimension that the data has not", (int)i);
        target->at[i] = dims->rank < 0 ? berth_dim_unknown() : dims->at[i];
    }
    return BERTH_OK;
}

/* The shape is an attribute before opset 5. */
berth_status berth_infer_reshape(berth_infer *in) {
    berth_dims dims, target;
    int32_t n = 0, hole = -1;
    berth_type type = berth_infer_type(in, 0);
    const int64_t *ints = berth_infer_ints(in, "shape", &n);
    const berth_value *value = ints ? NULL : berth_infer_value(in, 1);
    berth_infer_dims(in, 0, &dims);
    if (!ints && !(value && value->ints)) {
        const berth_tensor *shape = berth_infer_in(in, 1);
        int64_t rank = shape ? berth_shape_elements(&shape->shape) : -1;
        if (rank > BERTH_MAX_RANK) return berth_infer_refuse(in, "a shape of %" PRId64 " dimensions", rank);
        berth_dims_blank(&target, (int32_t)rank);
        return berth_infer_out(in, 0, type, &target);
    }
    if (value) n = value->n;
    if (n > BERTH_MAX_RANK) return berth_infer_refuse(in, "a shape of %d dimensions", (int)n);
    bool zero = berth_infer_int(in, "allowzero", 0) != 0, negative = false;
    target.rank = n;
    for (int32_t i = 0; i < n; i++) {
        berth_dim asked = ints ? berth_dim_static(ints[i]) : value->ints[i];
        /* An entry not known may itself be the -1: then nothing can be filled in. */
        negative = negative || (!berth_dim_is_static(&asked) && asked.min < 0);
        BERTH_TRY(target_dim(in, &dims, &target, i, &asked, zero, &hole));
    }
    if (!negative) BERTH_TRY(fit(in, &dims, &target, hole));
    return berth_infer_out(in, 0, type, &target);
}

berth_status berth_infer_flatten(berth_infer *in) {
    berth_dims data, dims;
    int64_t axis = berth_infer_int(in, "axis", 1);
    berth_dims_blank(&dims, 2);
    if (berth_infer_dims(in, 0, &data)) {
        if (axis < -(int64_t)data.rank || axis > data.rank)
            return berth_infer_refuse(in, "axis %" PRId64 " of %d dimensions", axis, (int)data.rank);
        int32_t split = (int32_t)(axis < 0 ? axis + data.rank : axis);
        if (!berth_dims_product(&data, 0, split, &dims.at[0]) ||
            !berth_dims_product(&data, split, data.rank, &dims.at[1]))
            return berth_infer_overflow(in);
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

berth_status berth_infer_squeeze(berth_infer *in) {
    berth_dims dims;
    berth_list axes;
    bool marks[BERTH_MAX_RANK];
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_list(in, "axes", 1, &axes));
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    if (axes.state == BERTH_LIST_UNKNOWN) {
        if (axes.n > dims.rank) return berth_infer_refuse(in, "%d axes of %d dimensions", (int)axes.n, (int)dims.rank);
        berth_dims_blank(&dims, axes.n >= 0 ? dims.rank - axes.n : -1);
        return berth_infer_out(in, 0, type, &dims);
    }
    BERTH_TRY(berth_infer_axes(in, &axes, dims.rank, marks));
    int32_t rank = 0;
    for (int32_t i = 0; i < dims.rank; i++) {
        bool named = axes.state == BERTH_LIST_KNOWN;
        /* Without axes all ones go, so every dimension must be known to be one or not. */
        if (!named && !berth_dim_is_static(&dims.at[i])) return berth_infer_out(in, 0, type, NULL);
        if (named && marks[i] && berth_dim_is_static(&dims.at[i]) && dims.at[i].min != 1)
            return berth_infer_refuse(in, "dimension %d is %" PRId64, (int)i, dims.at[i].min);
        if (named ? !marks[i] : dims.at[i].min != 1) dims.at[rank++] = dims.at[i];
    }
    dims.rank = rank;
    return berth_infer_out(in, 0, type, &dims);
}

/* The axes are those of the output. */
berth_status berth_infer_unsqueeze(berth_infer *in) {
    berth_dims data, dims;
    berth_list axes;
    bool marks[BERTH_MAX_RANK];
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_list(in, "axes", 1, &axes));
    if (axes.state == BERTH_LIST_ABSENT) return berth_infer_refuse(in, "'axes' is missing");
    if (!berth_infer_dims(in, 0, &data) || axes.n < 0) return berth_infer_out(in, 0, type, NULL);
    if (data.rank + axes.n > BERTH_MAX_RANK)
        return berth_infer_refuse(in, "%d dimensions, more than %d", (int)(data.rank + axes.n), BERTH_MAX_RANK);
    berth_dims_blank(&dims, data.rank + axes.n);
    if (axes.state == BERTH_LIST_UNKNOWN) return berth_infer_out(in, 0, type, &dims);
    BERTH_TRY(berth_infer_axes(in, &axes, dims.rank, marks));
    int32_t from = 0;
    for (int32_t i = 0; i < dims.rank; i++) {
        if (!marks[i] && from == data.rank) return berth_infer_refuse(in, "an axis is named twice");
        dims.at[i] = marks[i] ? berth_dim_static(1) : data.at[from++];
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* Shape; start and end (opset 15) count as in Python. */
berth_status berth_infer_shape_of(berth_infer *in) {
    berth_dims data, dims = {.rank = 1, .at = {{0, INT64_MAX, NULL}}};
    if (berth_infer_dims(in, 0, &data)) {
        int64_t rank = data.rank, start = berth_infer_int(in, "start", 0), end = berth_infer_int(in, "end", rank);
        start = start < -rank ? 0 : start < 0 ? start + rank : start > rank ? rank : start;
        end = end < -rank ? 0 : end < 0 ? end + rank : end > rank ? rank : end;
        dims.at[0] = berth_dim_static(end > start ? end - start : 0);
    }
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &dims);
}

berth_status berth_infer_size(berth_infer *in) {
    berth_dims scalar = {.rank = 0};
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &scalar);
}
