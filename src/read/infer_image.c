/* SPDX-License-Identifier: Apache-2.0 */
/* Resizing, and moving elements between channels and space. A scaled size is computed in 32-bit floating point, as the
 * runtime does it: floor(size * scale). */
#include "read/infer_rows.h"

#include <inttypes.h>
#include <math.h>

static berth_status scaled(berth_infer *in, const berth_dim *dim, double scale, berth_dim *out) {
    *out = scale == 1 ? *dim : berth_dim_unknown();
    if (isnan(scale) || scale == 1 || !berth_dim_is_static(dim)) return BERTH_OK;
    float size = floorf((float)dim->min * (float)scale);
    if (!(scale > 0) || !(size < 0x1p62f)) return berth_infer_refuse(in, "a scale of %g", scale);
    *out = berth_dim_static((int64_t)size);
    return BERTH_OK;
}

/* Which dimension each entry of scales or sizes is for: `axes`, else all in order. */
static berth_status resize_axes(berth_infer *in, int32_t rank, int32_t *n, int32_t axis[BERTH_MAX_RANK]) {
    berth_list axes;
    BERTH_TRY(berth_infer_list(in, "axes", -1, &axes));
    *n = axes.state == BERTH_LIST_ABSENT ? rank : axes.n;
    for (int32_t i = 0; i < *n; i++) {
        axis[i] = i;
        if (axes.state == BERTH_LIST_KNOWN) BERTH_TRY(berth_infer_axis(in, axes.at[i], rank, &axis[i]));
    }
    return BERTH_OK;
}

static berth_status by_scales(berth_infer *in, const berth_value *scales, const berth_value *roi, berth_dims *dims) {
    int32_t n, axis[BERTH_MAX_RANK];
    BERTH_TRY(resize_axes(in, dims->rank, &n, axis));
    if (scales && scales->n != n) return berth_infer_refuse(in, "%d scales for %d axes", (int)scales->n, (int)n);
    bool crop = berth_infer_says(in, "coordinate_transformation_mode", "tf_crop_and_resize", false);
    for (int32_t i = 0; i < n; i++) {
        double scale = scales ? scales->reals[i] : NAN;
        /* The region of interest is a part of the dimension, from roi[i] to roi[n + i]. */
        if (crop) scale = roi && roi->reals && roi->n == 2 * n ? scale * (roi->reals[n + i] - roi->reals[i]) : NAN;
        berth_dim dim = dims->at[axis[i]];
        BERTH_TRY(scaled(in, &dim, scale, &dims->at[axis[i]]));
    }
    return BERTH_OK;
}

/* One scale for all axes, so that the result is not larger (or not smaller) than the sizes. False: not known. */
static bool common_scale(const berth_value *sizes, const berth_dims *dims, const int32_t *axis, int32_t n, bool larger,
                         float *scale) {
    for (int32_t i = 0; i < n; i++) {
        const berth_dim *dim = &dims->at[axis[i]];
        if (!berth_dim_is_static(&sizes->ints[i]) || !berth_dim_is_static(dim) || dim->min == 0) return false;
        float ratio = (float)sizes->ints[i].min / (float)dim->min;
        if (i == 0 || (larger ? ratio > *scale : ratio < *scale)) *scale = ratio;
    }
    return n > 0;
}

static berth_status by_sizes(berth_infer *in, const berth_value *sizes, berth_dims *dims) {
    int32_t n, axis[BERTH_MAX_RANK];
    BERTH_TRY(resize_axes(in, dims->rank, &n, axis));
    if (sizes && sizes->n != n) return berth_infer_refuse(in, "%d sizes for %d axes", (int)sizes->n, (int)n);
    bool stretch = berth_infer_says(in, "keep_aspect_ratio_policy", "stretch", true);
    bool larger = berth_infer_says(in, "keep_aspect_ratio_policy", "not_smaller", false);
    float scale = 0;
    bool common = !stretch && sizes && common_scale(sizes, dims, axis, n, larger, &scale);
    for (int32_t i = 0; i < n; i++) {
        berth_dim *dim = &dims->at[axis[i]];
        if (sizes && sizes->ints[i].max < 0) return berth_infer_refuse(in, "a size of %" PRId64, sizes->ints[i].min);
        if (common) {
            float size = roundf(scale * (float)dim->min);
            *dim = size < 0x1p62f ? berth_dim_static((int64_t)size) : berth_dim_unknown();
        } else {
            *dim = stretch && sizes && sizes->ints[i].min >= 0 ? sizes->ints[i] : berth_dim_unknown();
        }
    }
    return BERTH_OK;
}

/* X, scales in opset 10; X, region, scales, sizes since. The one that is not used is left out or empty. */
berth_status berth_infer_resize(berth_infer *in) {
    berth_dims dims;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    int32_t scales_port = in->opset == 10 ? 1 : 2;
    const berth_value *sizes = berth_infer_value(in, 3), *scales = berth_infer_value(in, scales_port);
    if (berth_infer_in(in, 3) && !(sizes && sizes->n == 0))
        BERTH_TRY(by_sizes(in, sizes && sizes->ints ? sizes : NULL, &dims));
    else if (berth_infer_in(in, scales_port))
        BERTH_TRY(by_scales(in, scales && scales->reals ? scales : NULL, berth_infer_value(in, 1), &dims));
    else
        return berth_infer_refuse(in, "neither scales nor sizes");
    return berth_infer_out(in, 0, type, &dims);
}

/* scales: an attribute before opset 9, then an input. */
berth_status berth_infer_upsample(berth_infer *in) {
    berth_dims dims;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    const berth_attribute *given = berth_op_attribute(in->op, "scales");
    if (given && (given->kind != BERTH_ATTRIBUTE_FLOATS || given->count != dims.rank))
        return berth_infer_refuse(in, "'scales' does not hold %d numbers", (int)dims.rank);
    const berth_value *scales = berth_infer_value(in, 1);
    if (!given) {
        BERTH_TRY(by_scales(in, scales && scales->reals ? scales : NULL, NULL, &dims));
        return berth_infer_out(in, 0, type, &dims);
    }
    for (int32_t i = 0; i < dims.rank; i++) {
        berth_dim dim = dims.at[i];
        BERTH_TRY(scaled(in, &dim, given->floats[i], &dims.at[i]));
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* Blocks of b x b move between the channels and the last two dimensions. */
static berth_status read_block(berth_infer *in, berth_dim *block) {
    int64_t size = berth_infer_int(in, "blocksize", 0);
    if (size < 1 || size > INT32_MAX) return berth_infer_refuse(in, "'blocksize' is %" PRId64, size);
    *block = berth_dim_static(size);
    return berth_infer_rank(in, 0, 4, 4);
}

static berth_status divide(berth_infer *in, berth_dim *dim, int64_t by) {
    if (!berth_dim_is_static(dim)) {
        if (by != 1) *dim = berth_dim_unknown();
        return BERTH_OK;
    }
    if (dim->min % by) return berth_infer_refuse(in, "%" PRId64 " in blocks of %" PRId64, dim->min, by);
    *dim = berth_dim_static(dim->min / by);
    return BERTH_OK;
}

berth_status berth_infer_depth_to_space(berth_infer *in) {
    berth_dims dims;
    berth_dim block = berth_dim_static(1);
    BERTH_TRY(read_block(in, &block));
    if (berth_infer_dims(in, 0, &dims)) {
        BERTH_TRY(divide(in, &dims.at[1], block.min * block.min));
        if (!berth_dim_multiply(&dims.at[2], &block) || !berth_dim_multiply(&dims.at[3], &block))
            return berth_infer_overflow(in);
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

berth_status berth_infer_space_to_depth(berth_infer *in) {
    berth_dims dims;
    berth_dim block = berth_dim_static(1);
    BERTH_TRY(read_block(in, &block));
    if (berth_infer_dims(in, 0, &dims)) {
        BERTH_TRY(divide(in, &dims.at[2], block.min));
        BERTH_TRY(divide(in, &dims.at[3], block.min));
        if (!berth_dim_multiply(&dims.at[1], &block) || !berth_dim_multiply(&dims.at[1], &block))
            return berth_infer_overflow(in);
    }
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

/* X is N x C x spatial, the grid N x spatial of the output x dimensions. */
berth_status berth_infer_grid_sample(berth_infer *in) {
    berth_dims data, grid, dims;
    BERTH_TRY(berth_infer_rank(in, 0, 3, BERTH_MAX_RANK));
    BERTH_TRY(berth_infer_rank(in, 1, 3, BERTH_MAX_RANK));
    bool has_data = berth_infer_dims(in, 0, &data), has_grid = berth_infer_dims(in, 1, &grid);
    if (has_data && has_grid && data.rank != grid.rank)
        return berth_infer_refuse(in, "a grid of %d dimensions for data of %d", (int)grid.rank, (int)data.rank);
    berth_dims_blank(&dims, has_data ? data.rank : has_grid ? grid.rank : -1);
    for (int32_t i = 0; i < 2 && has_data; i++) dims.at[i] = data.at[i];
    if (has_grid) dims.at[0] = berth_dim_best(&dims.at[0], &grid.at[0]);
    for (int32_t i = 2; i < dims.rank && has_grid; i++) dims.at[i] = grid.at[i - 1];
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}

/* The size N x C x spatial comes as an input; the grid is N x spatial x dimensions. */
berth_status berth_infer_affine_grid(berth_infer *in) {
    berth_dims dims;
    berth_list size;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_list(in, "size", 1, &size));
    if (size.n >= 0 && size.n != 4 && size.n != 5) return berth_infer_refuse(in, "a size of %d entries", (int)size.n);
    if (size.n < 0) return berth_infer_out(in, 0, type, NULL);
    const berth_value *value = berth_infer_value(in, 1);
    berth_dims_blank(&dims, size.n);
    dims.at[size.n - 1] = berth_dim_static(size.n - 2);
    for (int32_t i = 0; value && value->ints && i < size.n - 1; i++) {
        const berth_dim *entry = &value->ints[i == 0 ? 0 : i + 1];
        if (entry->max < 0) return berth_infer_refuse(in, "a size of %" PRId64, entry->min);
        if (entry->min >= 0) dims.at[i] = *entry;
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* N x C (product of the block) x positions, the image's shape, the block's shape; N x C x image. */
berth_status berth_infer_col2im(berth_infer *in) {
    berth_dims data, dims;
    berth_list image, block;
    berth_type type = berth_infer_type(in, 0);
    BERTH_TRY(berth_infer_rank(in, 0, 3, 3));
    BERTH_TRY(berth_infer_list(in, "image_shape", 1, &image));
    BERTH_TRY(berth_infer_list(in, "block_shape", 2, &block));
    int32_t n = image.n >= 0 ? image.n : block.n;
    if (n < 0) return berth_infer_out(in, 0, type, NULL);
    if (n > BERTH_MAX_RANK - 2) return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    berth_dims_blank(&dims, n + 2);
    berth_dim product = berth_dim_static(1);
    for (int32_t i = 0; i < n; i++) {
        if (image.state == BERTH_LIST_KNOWN) dims.at[2 + i] = berth_dim_static(image.at[i]);
        berth_dim size =
            block.state == BERTH_LIST_KNOWN && i < block.n ? berth_dim_static(block.at[i]) : berth_dim_unknown();
        if (dims.at[2 + i].min < 0 || size.max < 1) return berth_infer_refuse(in, "an image or block without extent");
        if (!berth_dim_multiply(&product, &size)) return berth_infer_overflow(in);
    }
    if (berth_infer_dims(in, 0, &data)) {
        dims.at[0] = data.at[0];
        dims.at[1] = data.at[1];
        if (berth_dim_is_static(&product))
            BERTH_TRY(divide(in, &dims.at[1], product.min));
        else
            dims.at[1] = berth_dim_unknown();
    }
    return berth_infer_out(in, 0, type, &dims);
}
