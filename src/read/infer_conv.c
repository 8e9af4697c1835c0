/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions: data N x C x spatial, weights M x C/group x kernel, output N x M x spatial (transposed convolution:
 * weights C x M/group x kernel). */
#include "read/infer_rows.h"
#include "read/infer_window.h"

#include <inttypes.h>

/* The window of a convolution: the kernel is the attribute's, and must be that of the weights. */
static berth_status conv_window(berth_infer *in, berth_window *window, const berth_dims *weights, int32_t n) {
    BERTH_TRY(berth_window_read(in, window, n));
    for (int32_t i = 0; i < n && weights->rank >= 0; i++) {
        const berth_dim *kernel = &weights->at[2 + i];
        if (!berth_dim_agree(&window->kernel[i], kernel))
            return berth_infer_refuse(in, "'kernel_shape' has %" PRId64 " where the weights have %" PRId64,
                                      window->kernel[i].min, kernel->min);
        window->kernel[i] = berth_dim_best(&window->kernel[i], kernel);
        if (berth_dim_is(&window->kernel[i], 0)) return berth_infer_refuse(in, "the kernel is empty");
    }
    return BERTH_OK;
}

static berth_status read_group(berth_infer *in, int64_t *group) {
    *group = berth_infer_int(in, "group", 1);
    return *group >= 1 ? BERTH_OK : berth_infer_refuse(in, "'group' is %" PRId64, *group);
}

/* Data channels against `per_group` * group, and output channels against the groups. */
static berth_status check_channels(berth_infer *in, const berth_dims *data, const berth_dims *weights, int64_t group) {
    berth_dim channels = weights->at[1], groups = berth_dim_static(group);
    if (!berth_dim_multiply(&channels, &groups)) return berth_infer_overflow(in);
    if (data->rank >= 0 && !berth_dim_agree(&channels, &data->at[1])) {
        char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
        return berth_infer_refuse(in, "weights of %s in %" PRId64 " groups do not go with data of %s",
                                  berth_dims_text(weights, b), group, berth_dims_text(data, a));
    }
    if (berth_dim_is_static(&weights->at[0]) && weights->at[0].min % group)
        return berth_infer_refuse(in, "%" PRId64 " channels in %" PRId64 " groups", weights->at[0].min, group);
    return BERTH_OK;
}

/* Data with the channels last, as with the channels second, and back. */
static void move_channels(berth_dims *dims, bool to_last) {
    if (dims->rank < 3) return;
    int32_t last = dims->rank - 1;
    berth_dim channels = dims->at[to_last ? 1 : last];
    if (to_last)
        for (int32_t i = 1; i < last; i++) dims->at[i] = dims->at[i + 1];
    else
        for (int32_t i = last; i > 1; i--) dims->at[i] = dims->at[i - 1];
    dims->at[to_last ? last : 1] = channels;
}

static berth_status conv(berth_infer *in, int32_t x, int32_t w, berth_type type, bool channels_last) {
    berth_dims data, weights, dims;
    berth_window window;
    int64_t group;
    BERTH_TRY(berth_infer_rank(in, x, 3, BERTH_MAX_RANK));
    BERTH_TRY(berth_infer_rank(in, w, 3, BERTH_MAX_RANK));
    BERTH_TRY(read_group(in, &group));
    berth_infer_dims(in, x, &data);
    berth_infer_dims(in, w, &weights);
    if (data.rank < 0 && weights.rank < 0) return berth_infer_out(in, 0, type, NULL);
    if (channels_last) move_channels(&data, false);
    if (data.rank >= 0 && weights.rank >= 0 && data.rank != weights.rank) {
        char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
        return berth_infer_refuse(in, "weights of %s for data of %s", berth_dims_text(&weights, b),
                                  berth_dims_text(&data, a));
    }
    berth_dims_blank(&dims, data.rank >= 0 ? data.rank : weights.rank);
    BERTH_TRY(conv_window(in, &window, &weights, dims.rank - 2));
    if (weights.rank >= 0) {
        BERTH_TRY(check_channels(in, &data, &weights, group));
        dims.at[1] = weights.at[0];
    }
    if (data.rank >= 0) dims.at[0] = data.at[0];
    for (int32_t i = 0; i < window.n && data.rank >= 0; i++)
        BERTH_TRY(berth_window_count(in, &window, i, &data.at[2 + i], &dims.at[2 + i]));
    if (channels_last) move_channels(&dims, true);
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_conv(berth_infer *in) {
    return conv(in, 0, 1, berth_infer_type(in, 0), false);
}

berth_status berth_infer_nhwc_conv(berth_infer *in) {
    return conv(in, 0, 1, berth_infer_type(in, 0), true);
}

berth_status berth_infer_conv_integer(berth_infer *in) {
    return conv(in, 0, 1, BERTH_TYPE_I32, false);
}

/* x, its scale and zero point, w, its scale and zero point, y's scale and zero point. */
berth_status berth_infer_qlinear_conv(berth_infer *in) {
    return conv(in, 0, 3, berth_infer_type(in, 7), berth_infer_int(in, "channels_last", 0) != 0);
}

/* (size - 1) s + output_padding + extent - pads, unless the output's size is given. SAME pads so that size * s remains,
 * where there is that much. */
static berth_status transposed_size(berth_infer *in, const berth_window *window, int32_t i, int64_t extra,
                                    const berth_dim *size, berth_dim *out) {
    int64_t result, extent, same;
    if (!berth_dim_is_static(size) || !berth_dim_is_static(&window->kernel[i])) return BERTH_OK;
    if (!berth_window_extent(window, i, &extent) || __builtin_mul_overflow(size->min, window->stride[i], &same) ||
        __builtin_add_overflow(same - window->stride[i], extent, &result) ||
        __builtin_add_overflow(result, extra, &result) ||
        __builtin_sub_overflow(result, window->pad_begin[i], &result) ||
        __builtin_sub_overflow(result, window->pad_end[i], &result))
        return berth_infer_overflow(in);
    if (window->auto_pad == BERTH_PAD_SAME && same < result) result = same;
    if (result < 0) return berth_infer_refuse(in, "the output would have size %" PRId64, result);
    *out = berth_dim_static(result);
    return BERTH_OK;
}

/* output_shape and output_padding, one entry for each spatial dimension; older files give the whole output_shape. */
static berth_status read_output(berth_infer *in, int32_t n, const int64_t **shape, const int64_t **padding) {
    int32_t shapes = 0, paddings = 0;
    *shape = berth_infer_ints(in, "output_shape", &shapes);
    *padding = berth_infer_ints(in, "output_padding", &paddings);
    if (shapes == 0) *shape = NULL;
    if (paddings == 0) *padding = NULL;
    if (*shape && shapes != n && shapes != n + 2)
        return berth_infer_refuse(in, "'output_shape' has %d entries instead of %d", (int)shapes, (int)n);
    if (*padding && paddings != n)
        return berth_infer_refuse(in, "'output_padding' has %d entries instead of %d", (int)paddings, (int)n);
    if (shapes == n + 2) *shape += 2;
    for (int32_t i = 0; i < n; i++)
        if ((*shape && (*shape)[i] < 0) || (*padding && (*padding)[i] < 0))
            return berth_infer_refuse(in, "'output_shape' or 'output_padding' has a negative entry");
    return BERTH_OK;
}

berth_status berth_infer_conv_transpose(berth_infer *in) {
    berth_dims data, weights, dims;
    berth_window window;
    int64_t group;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_rank(in, 0, 3, BERTH_MAX_RANK));
    BERTH_TRY(berth_infer_rank(in, 1, 3, BERTH_MAX_RANK));
    BERTH_TRY(read_group(in, &group));
    if (!berth_infer_dims(in, 0, &data) || !berth_infer_dims(in, 1, &weights))
        return berth_infer_out(in, 0, type, NULL);
    char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
    if (data.rank != weights.rank || !berth_dim_agree(&data.at[1], &weights.at[0]))
        return berth_infer_refuse(in, "weights of %s for data of %s", berth_dims_text(&weights, b),
                                  berth_dims_text(&data, a));
    const int64_t *shape, *padding;
    berth_dims_blank(&dims, data.rank);
    BERTH_TRY(conv_window(in, &window, &weights, dims.rank - 2));
    BERTH_TRY(read_output(in, window.n, &shape, &padding));
    berth_dim groups = berth_dim_static(group);
    dims.at[0] = data.at[0];
    dims.at[1] = weights.at[1];
    if (!berth_dim_multiply(&dims.at[1], &groups)) return berth_infer_overflow(in);
    for (int32_t i = 0; i < window.n; i++) {
        if (shape)
            dims.at[2 + i] = berth_dim_static(shape[i]);
        else
            BERTH_TRY(transposed_size(in, &window, i, padding ? padding[i] : 0, &data.at[2 + i], &dims.at[2 + i]));
    }
    return berth_infer_out(in, 0, type, &dims);
}
