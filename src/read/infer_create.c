/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that make a tensor from a description: constants, ranges, random numbers, windows and spectra; and those
 * of sequences, which have no shape of their own. */
#include "read/infer_rows.h"

#include <inttypes.h>
#include <math.h>

/* A shape given by an input, one element per dimension. */
static berth_status shape_from(berth_infer *in, int32_t port, berth_dims *dims) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    const berth_value *value = berth_infer_value(in, port);
    int64_t rank = tensor ? berth_shape_elements(&tensor->shape) : -1;
    if (rank > BERTH_MAX_RANK) return berth_infer_refuse(in, "a shape of %" PRId64 " dimensions", rank);
    berth_dims_blank(dims, (int32_t)rank);
    for (int32_t i = 0; value && value->ints && i < value->n; i++) {
        if (value->ints[i].max < 0) return berth_infer_refuse(in, "a dimension of %" PRId64, value->ints[i].min);
        if (value->ints[i].min >= 0) dims->at[i] = value->ints[i];
    }
    return BERTH_OK;
}

/* The type is that of the attribute 'value', which the reader sets; without it the tensor is of f32 zeros. */
berth_status berth_infer_constant_of_shape(berth_infer *in) {
    berth_dims dims;
    BERTH_TRY(shape_from(in, 0, &dims));
    return berth_infer_out(in, 0, berth_infer_given(in, "value") ? BERTH_TYPE_UNKNOWN : BERTH_TYPE_F32, &dims);
}

/* ceil((limit - start) / delta), not below zero, computed in the type of the inputs. */
static bool count_ints(int64_t start, int64_t limit, int64_t delta, int64_t *count) {
    int64_t span;
    *count = 0;
    if (delta == 0 || delta == INT64_MIN || __builtin_sub_overflow(limit, start, &span)) return false;
    if ((span > 0) == (delta > 0) && span != 0) *count = span / delta + (span % delta != 0);
    return true;
}

static bool count_reals(const double bounds[3], bool single, int64_t *count) {
    double span = bounds[1] - bounds[0];
    double n = ceil((single ? (double)(float)span : span) / bounds[2]);
    if (!(n < 0x1p62)) return false;
    *count = n > 0 ? (int64_t)n : 0;
    return true;
}

berth_status berth_infer_range(berth_infer *in) {
    berth_dims dims = {.rank = 1, .at = {{0, INT64_MAX, NULL}}};
    int64_t ints[3], count;
    double reals[3];
    bool whole = true, real = true;
    for (int32_t port = 0; port < 3; port++) {
        const berth_value *value = berth_infer_value(in, port);
        whole = whole && berth_infer_scalar(in, port, &ints[port]);
        real = real && value && value->reals && value->n == 1;
        reals[port] = real ? value->reals[0] : NAN;
    }
    berth_type type = berth_infer_type(in, 0);
    if (whole && ints[2] == 0) return berth_infer_refuse(in, "a step of 0");
    if ((whole && count_ints(ints[0], ints[1], ints[2], &count)) ||
        (real && count_reals(reals, type == BERTH_TYPE_F32, &count)))
        dims.at[0] = berth_dim_static(count);
    return berth_infer_out(in, 0, type, &dims);
}

/* RandomNormal, RandomUniform. */
berth_status berth_infer_random(berth_infer *in) {
    berth_dims dims;
    berth_list shape;
    BERTH_TRY(berth_infer_list(in, "shape", -1, &shape));
    if (shape.state == BERTH_LIST_ABSENT) return berth_infer_refuse(in, "'shape' is missing");
    dims.rank = shape.n;
    for (int32_t i = 0; i < shape.n; i++) {
        if (shape.at[i] < 0) return berth_infer_refuse(in, "a dimension of %" PRId64, shape.at[i]);
        dims.at[i] = berth_dim_static(shape.at[i]);
    }
    return berth_infer_out(in, 0, berth_infer_type_named(in, "dtype", BERTH_TYPE_F32), &dims);
}

berth_status berth_infer_multinomial(berth_infer *in) {
    berth_dims data, dims;
    int64_t samples = berth_infer_int(in, "sample_size", 1);
    BERTH_TRY(berth_infer_rank(in, 0, 2, 2));
    if (samples < 0) return berth_infer_refuse(in, "'sample_size' is %" PRId64, samples);
    berth_dims_blank(&dims, 2);
    if (berth_infer_dims(in, 0, &data)) dims.at[0] = data.at[0];
    dims.at[1] = berth_dim_static(samples);
    return berth_infer_out(in, 0, berth_infer_type_named(in, "dtype", BERTH_TYPE_I32), &dims);
}

/* Indices, depth, the two values; one new dimension of size depth. */
berth_status berth_infer_one_hot(berth_infer *in) {
    berth_dims data, dims;
    berth_type type = berth_infer_type(in, 2);
    if (!berth_infer_dims(in, 0, &data)) return berth_infer_out(in, 0, type, NULL);
    if (data.rank == BERTH_MAX_RANK) return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    int32_t axis;
    BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", -1), data.rank + 1, &axis));
    const berth_value *value = berth_infer_value(in, 1);
    int64_t depth;
    bool known = berth_infer_scalar(in, 1, &depth);
    if (value && value->reals && value->n == 1 && fabs(value->reals[0]) < 0x1p62) {
        depth = (int64_t)value->reals[0];
        known = true;
    }
    if (known && depth < 1) return berth_infer_refuse(in, "a depth of %" PRId64, depth);
    dims.rank = data.rank + 1;
    for (int32_t i = 0, from = 0; i < dims.rank; i++) {
        berth_dim fresh = known ? berth_dim_static(depth) : berth_dim_unknown();
        dims.at[i] = i == axis ? fresh : data.at[from++];
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* --- signals --- */

/* HannWindow, HammingWindow, BlackmanWindow. */
berth_status berth_infer_window(berth_infer *in) {
    berth_dims dims;
    int64_t size;
    berth_dims_blank(&dims, 1);
    if (berth_infer_scalar(in, 0, &size)) {
        if (size < 0) return berth_infer_refuse(in, "a window of %" PRId64, size);
        dims.at[0] = berth_dim_static(size);
    }
    return berth_infer_out(in, 0, berth_infer_type_named(in, "output_datatype", BERTH_TYPE_F32), &dims);
}

berth_status berth_infer_mel_weight(berth_infer *in) {
    berth_dims dims;
    int64_t bins, length;
    berth_dims_blank(&dims, 2);
    bool has_bins = berth_infer_scalar(in, 0, &bins), has_length = berth_infer_scalar(in, 1, &length);
    if ((has_bins && bins < 1) || (has_length && length < 1)) return berth_infer_refuse(in, "an empty spectrum");
    if (has_length) dims.at[0] = berth_dim_static(length / 2 + 1);
    if (has_bins) dims.at[1] = berth_dim_static(bins);
    return berth_infer_out(in, 0, berth_infer_type_named(in, "output_datatype", BERTH_TYPE_F32), &dims);
}

/* The axis: an attribute (1) before opset 20, then an input (-2). */
static bool dft_axis(berth_infer *in, int64_t *axis) {
    *axis = in->opset < 20 ? berth_infer_int(in, "axis", 1) : -2;
    return in->opset < 20 || !berth_infer_in(in, 2) || berth_infer_scalar(in, 2, axis);
}

/* ... x n x ... x (1 or 2: real or complex). */
berth_status berth_infer_dft(berth_infer *in) {
    berth_dims dims;
    berth_type type = berth_infer_type(in, 0);
    bool half = berth_infer_int(in, "onesided", 0) != 0, inverse = berth_infer_int(in, "inverse", 0) != 0;
    int64_t axis_given, length;
    BERTH_TRY(berth_infer_rank(in, 0, 2, BERTH_MAX_RANK));
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    int32_t last = dims.rank - 1, axis;
    bool known = dft_axis(in, &axis_given);
    if (known) BERTH_TRY(berth_infer_axis(in, axis_given, dims.rank, &axis));
    for (int32_t i = 0; i < last && !known; i++) dims.at[i] = berth_dim_unknown();
    if (known && axis == last) return berth_infer_refuse(in, "the axis of the complex parts");
    if (known && berth_infer_in(in, 1)) {
        dims.at[axis] = berth_dim_unknown();
        if (berth_infer_scalar(in, 1, &length)) {
            if (length < 1) return berth_infer_refuse(in, "a length of %" PRId64, length);
            dims.at[axis] = berth_dim_static(length);
        }
    } else if (known && half && inverse && berth_dim_is_static(&dims.at[axis])) {
        int64_t whole;
        if (__builtin_mul_overflow(dims.at[axis].min - 1, 2, &whole)) return berth_infer_overflow(in);
        dims.at[axis] = berth_dim_static(whole < 0 ? 0 : whole);
    }
    if (known && half && !inverse)
        dims.at[axis] =
            berth_dim_is_static(&dims.at[axis]) ? berth_dim_static(dims.at[axis].min / 2 + 1) : berth_dim_unknown();
    dims.at[last] = berth_dim_static(half && inverse ? 1 : 2);
    return berth_infer_out(in, 0, type, &dims);
}

/* Signal B x n [x 1 or 2], step, window, length; B x frames x bins x 2. */
berth_status berth_infer_stft(berth_infer *in) {
    berth_dims signal, window, dims;
    int64_t step, length = 0;
    bool half = berth_infer_int(in, "onesided", 1) != 0;
    berth_dims_blank(&dims, 4);
    dims.at[3] = berth_dim_static(2);
    BERTH_TRY(berth_infer_rank(in, 0, 2, 3));
    BERTH_TRY(berth_infer_rank(in, 2, 1, 1));
    bool has_length = berth_infer_scalar(in, 3, &length), has_step = berth_infer_scalar(in, 1, &step);
    if (!has_length && !berth_infer_in(in, 3) && berth_infer_dims(in, 2, &window)) {
        has_length = berth_dim_is_static(&window.at[0]);
        length = window.at[0].min;
    }
    /* A length or step that makes no sense is for the runtime to refuse: the graph is sound, its shape stays open. */
    has_length = has_length && length > 0;
    has_step = has_step && step > 0;
    if (has_length) dims.at[2] = berth_dim_static(half ? length / 2 + 1 : length);
    if (berth_infer_dims(in, 0, &signal)) {
        dims.at[0] = signal.at[0];
        if (has_length && berth_dim_is_static(&signal.at[1]) && signal.at[1].min < length)
            return berth_infer_refuse(in, "frames of %" PRId64 " of a signal of %" PRId64, length, signal.at[1].min);
        if (has_length && has_step && berth_dim_is_static(&signal.at[1]))
            dims.at[1] = berth_dim_static((signal.at[1].min - length) / step + 1);
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

/* --- sequences and optional values --- */

berth_status berth_infer_other(berth_infer *in) {
    return berth_infer_out(in, 0, BERTH_TYPE_OTHER, NULL);
}

berth_status berth_infer_int_scalar(berth_infer *in) {
    berth_dims scalar = {.rank = 0};
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &scalar);
}

berth_status berth_infer_bool_scalar(berth_infer *in) {
    berth_dims scalar = {.rank = 0};
    return berth_infer_out(in, 0, BERTH_TYPE_BOOL, &scalar);
}
