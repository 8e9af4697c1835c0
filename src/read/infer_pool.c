/* SPDX-License-Identifier: Apache-2.0 */
/* Windows, and the pools that use them. The number of positions of a window of extent e = (k - 1) d + 1 with stride s
 * over a padded size p is floor((p - e) / s) + 1. With ceil_mode it is rounded up, but a window must not start in the
 * padding at the end. SAME pads so that there are ceil(size / s) positions. */
#include "read/infer_rows.h"
#include "read/infer_window.h"

#include <inttypes.h>

/* --- the window --- */

/* An attribute with one entry for each spatial dimension, all at least `low`. */
static berth_status read_entries(berth_infer *in, const char *name, int32_t n, int64_t low, int64_t fallback,
                                 int64_t *out) {
    int32_t given = 0;
    const int64_t *ints = berth_infer_ints(in, name, &given);
    if (ints && given != n)
        return berth_infer_refuse(in, "'%s' has %d entries instead of %d", name, (int)given, (int)n);
    for (int32_t i = 0; i < n; i++) {
        out[i] = ints ? ints[i] : fallback;
        if (out[i] < low) return berth_infer_refuse(in, "'%s' has the entry %" PRId64, name, out[i]);
    }
    return BERTH_OK;
}

static berth_status read_auto_pad(berth_infer *in, berth_window *window) {
    window->auto_pad = BERTH_PAD_GIVEN;
    if (berth_infer_says(in, "auto_pad", "NOTSET", true) || berth_infer_says(in, "auto_pad", "", false))
        return BERTH_OK;
    if (berth_infer_says(in, "auto_pad", "VALID", false))
        window->auto_pad = BERTH_PAD_NONE;
    else if (berth_infer_says(in, "auto_pad", "SAME_UPPER", false) ||
             berth_infer_says(in, "auto_pad", "SAME_LOWER", false))
        window->auto_pad = BERTH_PAD_SAME;
    else
        return berth_infer_refuse(in, "'auto_pad' is none of NOTSET, VALID, SAME_UPPER and SAME_LOWER");
    return BERTH_OK;
}

berth_status berth_window_read(berth_infer *in, berth_window *window, int32_t n) {
    int64_t kernel[BERTH_MAX_RANK] = {0}, pads[2 * BERTH_MAX_RANK] = {0};
    window->n = n;
    window->ceil_mode = berth_infer_int(in, "ceil_mode", 0) != 0;
    BERTH_TRY(read_entries(in, "kernel_shape", n, 1, 1, kernel));
    BERTH_TRY(read_entries(in, "strides", n, 1, 1, window->stride));
    BERTH_TRY(read_entries(in, "dilations", n, 1, 1, window->dilation));
    BERTH_TRY(read_auto_pad(in, window));
    bool padded = window->auto_pad == BERTH_PAD_GIVEN && berth_infer_given(in, "pads");
    if (padded) BERTH_TRY(read_entries(in, "pads", 2 * n, 0, 0, pads));
    bool given = berth_infer_given(in, "kernel_shape");
    for (int32_t i = 0; i < n; i++) {
        window->kernel[i] = given ? berth_dim_static(kernel[i]) : berth_dim_unknown();
        window->pad_begin[i] = padded ? pads[i] : 0;
        window->pad_end[i] = padded ? pads[n + i] : 0;
    }
    return BERTH_OK;
}

bool berth_window_extent(const berth_window *window, int32_t i, int64_t *extent) {
    return !__builtin_mul_overflow(window->kernel[i].min - 1, window->dilation[i], extent) &&
           !__builtin_add_overflow(*extent, 1, extent);
}

/* Where size and kernel are static and padding is given. */
static berth_status count_positions(berth_infer *in, const berth_window *window, int32_t i, int64_t size,
                                    int64_t *count) {
    int64_t stride = window->stride[i], start, padded, extent;
    if (__builtin_add_overflow(size, window->pad_begin[i], &start) ||
        __builtin_add_overflow(start, window->pad_end[i], &padded) || !berth_window_extent(window, i, &extent))
        return berth_infer_overflow(in);
    if (padded < extent)
        return berth_infer_refuse(in, "a window of %" PRId64 " does not fit into %" PRId64, extent, padded);
    *count = (padded - extent) / stride + 1;
    if (!window->ceil_mode || (padded - extent) % stride == 0) return BERTH_OK;
    int64_t last; /* where one more window would start */
    if (!__builtin_mul_overflow(*count, stride, &last) && last < start) (*count)++;
    return BERTH_OK;
}

berth_status berth_window_count(berth_infer *in, const berth_window *window, int32_t i, const berth_dim *size,
                                berth_dim *count) {
    int64_t stride = window->stride[i];
    bool same = window->auto_pad == BERTH_PAD_SAME;
    *count = berth_dim_unknown();
    if (berth_dim_is_static(size) && same) {
        *count = berth_dim_static(size->min / stride + (size->min % stride != 0));
    } else if (berth_dim_is_static(size) && berth_dim_is_static(&window->kernel[i])) {
        int64_t positions = 0;
        BERTH_TRY(count_positions(in, window, i, size->min, &positions));
        *count = berth_dim_static(positions);
    } else if (stride == 1 && same) {
        *count = *size;
    } else if (stride == 1 && berth_dim_is_static(&window->kernel[i])) {
        /* Padding that makes up for the window keeps the dimension, and its symbol. */
        int64_t extent, pads;
        if (!berth_window_extent(window, i, &extent) ||
            __builtin_add_overflow(window->pad_begin[i], window->pad_end[i], &pads))
            return berth_infer_overflow(in);
        if (pads == extent - 1) *count = *size;
    }
    return BERTH_OK;
}

/* --- pools --- */

/* N x C x spatial, or N x spatial x C. */
static berth_status pool(berth_infer *in, bool channels_last) {
    berth_dims dims;
    berth_window window;
    int32_t kernel = 0;
    berth_infer_ints(in, "kernel_shape", &kernel);
    berth_type type = berth_infer_type(in, 0);
    if (kernel == 0 || kernel > BERTH_MAX_RANK - 2)
        return berth_infer_refuse(in, "'kernel_shape' has %d entries", (int)kernel);
    if (!berth_infer_dims(in, 0, &dims)) berth_dims_blank(&dims, kernel + 2);
    if (dims.rank != kernel + 2)
        return berth_infer_refuse(in, "%d dimensions for a kernel of %d", (int)dims.rank, (int)kernel);
    BERTH_TRY(berth_window_read(in, &window, kernel));
    int32_t first = channels_last ? 1 : 2;
    for (int32_t i = 0; i < kernel; i++) {
        berth_dim size = dims.at[first + i];
        BERTH_TRY(berth_window_count(in, &window, i, &size, &dims.at[first + i]));
    }
    BERTH_TRY(berth_infer_out(in, 0, type, &dims));
    return berth_infer_out(in, 1, BERTH_TYPE_I64, &dims); /* MaxPool: indices */
}

berth_status berth_infer_pool(berth_infer *in) {
    return pool(in, berth_infer_int(in, "channels_last", 0) != 0);
}

berth_status berth_infer_nhwc_pool(berth_infer *in) {
    return pool(in, true);
}

berth_status berth_infer_global_pool(berth_infer *in) {
    berth_dims dims;
    bool channels_last = berth_infer_int(in, "channels_last", 0) != 0;
    BERTH_TRY(berth_infer_rank(in, 0, 2, BERTH_MAX_RANK));
    if (berth_infer_dims(in, 0, &dims))
        for (int32_t i = channels_last ? 1 : 2; i < dims.rank - (channels_last ? 1 : 0); i++)
            dims.at[i] = berth_dim_static(1);
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

/* The inverse of a pool without dilation: (size - 1) s - pads + k, unless an input says the shape. */
static berth_status unpool_size(berth_infer *in, const berth_window *window, int32_t i, berth_dim *dim) {
    if (!berth_dim_is_static(dim)) return BERTH_OK;
    int64_t size;
    if (__builtin_mul_overflow(dim->min - 1, window->stride[i], &size) ||
        __builtin_add_overflow(size, window->kernel[i].min, &size) ||
        __builtin_sub_overflow(size, window->pad_begin[i], &size) ||
        __builtin_sub_overflow(size, window->pad_end[i], &size))
        return berth_infer_overflow(in);
    if (size < 0) return berth_infer_refuse(in, "the output would have %" PRId64 " elements in a dimension", size);
    *dim = berth_dim_static(size);
    return BERTH_OK;
}

berth_status berth_infer_max_unpool(berth_infer *in) {
    berth_dims dims, indices;
    berth_window window;
    berth_list shape;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_rank(in, 0, 3, BERTH_MAX_RANK));
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    /* The indices have the shape of the data. */
    berth_infer_dims(in, 1, &indices);
    for (int32_t i = 0; i < dims.rank && indices.rank == dims.rank; i++)
        dims.at[i] = berth_dim_best(&dims.at[i], &indices.at[i]);
    BERTH_TRY(berth_infer_list(in, "output_shape", 2, &shape));
    if (shape.state == BERTH_LIST_KNOWN && shape.n != dims.rank)
        return berth_infer_refuse(in, "'output_shape' has %d entries instead of %d", (int)shape.n, (int)dims.rank);
    BERTH_TRY(berth_window_read(in, &window, dims.rank - 2));
    if (!berth_infer_given(in, "kernel_shape")) return berth_infer_refuse(in, "'kernel_shape' is missing");
    for (int32_t i = 0; i < dims.rank; i++) {
        if (shape.state == BERTH_LIST_KNOWN && shape.at[i] < 0)
            return berth_infer_refuse(in, "'output_shape' has the entry %" PRId64, shape.at[i]);
        if (shape.state == BERTH_LIST_KNOWN)
            dims.at[i] = berth_dim_static(shape.at[i]);
        else if (shape.state == BERTH_LIST_UNKNOWN)
            dims.at[i] = berth_dim_unknown();
        else if (i >= 2)
            BERTH_TRY(unpool_size(in, &window, i - 2, &dims.at[i]));
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* --- pools of regions: one output for each region --- */

/* Data N x C x H x W; `boxes`, and `batches` where there are any, have a row for each region. */
static berth_status regions(berth_infer *in, int32_t batches, int64_t height, int64_t width) {
    berth_dims data, rows, dims;
    BERTH_TRY(berth_infer_rank(in, 0, 4, 4));
    BERTH_TRY(berth_infer_rank(in, 1, 2, 2));
    BERTH_TRY(berth_infer_rank(in, batches, 1, 1));
    if (height < 1 || width < 1) return berth_infer_refuse(in, "an output of %" PRId64 "x%" PRId64, height, width);
    berth_dims_blank(&dims, 4);
    if (berth_infer_dims(in, 0, &data)) dims.at[1] = data.at[1];
    if (berth_infer_dims(in, 1, &rows)) dims.at[0] = rows.at[0];
    if (berth_infer_dims(in, batches, &rows)) dims.at[0] = berth_dim_best(&dims.at[0], &rows.at[0]);
    dims.at[2] = berth_dim_static(height);
    dims.at[3] = berth_dim_static(width);
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

berth_status berth_infer_max_roi_pool(berth_infer *in) {
    int32_t n = 0;
    const int64_t *size = berth_infer_ints(in, "pooled_shape", &n);
    if (n != 2) return berth_infer_refuse(in, "'pooled_shape' has %d entries instead of 2", (int)n);
    return regions(in, -1, size[0], size[1]);
}

berth_status berth_infer_roi_align(berth_infer *in) {
    return regions(in, 2, berth_infer_int(in, "output_height", 1), berth_infer_int(in, "output_width", 1));
}
