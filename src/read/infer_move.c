/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that copy elements to other places: joining, splitting, permuting, padding and repeating. */
#include "read/infer_rows.h"

#include <inttypes.h>
#include <string.h>

/* Joins the inputs at ports first, first + step, ... */
static berth_status concat(berth_infer *in, int32_t first, int32_t step, berth_type type, int64_t axis_given) {
    berth_dims dims = {.rank = -1}, more;
    int32_t axis = 0;
    for (int32_t port = first; port < in->op->n_inputs; port += step) {
        /* The rank is known once any input's is, but then nothing can be said of the sum. */
        if (!berth_infer_dims(in, port, &more)) return berth_infer_out(in, 0, type, NULL);
        if (port == first) {
            BERTH_TRY(berth_infer_axis(in, axis_given, more.rank, &axis));
            berth_dims_assign(&dims, &more);
            continue;
        }
        bool agree = dims.rank == more.rank;
        for (int32_t i = 0; agree && i < dims.rank; i++) agree = i == axis || berth_dim_agree(&dims.at[i], &more.at[i]);
        if (!agree) {
            char a[BERTH_DIMS_TEXT], b[BERTH_DIMS_TEXT];
            return berth_infer_refuse(in, "%s and %s do not join along axis %d", berth_dims_text(&dims, a),
                                      berth_dims_text(&more, b), (int)axis);
        }
        for (int32_t i = 0; i < dims.rank; i++)
            if (i != axis) dims.at[i] = berth_dim_best(&dims.at[i], &more.at[i]);
        if (!berth_dim_add(&dims.at[axis], &more.at[axis])) return berth_infer_overflow(in);
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* The axis had a default, 1, before opset 4. */
berth_status berth_infer_concat(berth_infer *in) {
    if (in->opset >= 4 && !berth_infer_given(in, "axis")) return berth_infer_refuse(in, "'axis' is missing");
    return concat(in, 0, 1, berth_infer_type(in, 0), berth_infer_int(in, "axis", 1));
}

/* Scale and zero point of the output, then each input with scale and zero point. */
berth_status berth_infer_qlinear_concat(berth_infer *in) {
    return concat(in, 2, 3, berth_infer_type(in, 1), berth_infer_int(in, "axis", 1));
}

/* How the axis is split. Attributes are looked up once, not for each output: there may be many of either. */
typedef struct parts {
    const int64_t *ints;      /* the attribute 'split', or NULL */
    const berth_value *value; /* the input of that name, or NULL */
    bool given;               /* by either, known or not; else the parts are equal */
    bool uneven;              /* num_outputs (opset 18): the last part may be smaller */
} parts;

static berth_status read_parts(berth_infer *in, parts *p) {
    int32_t n = 0, n_outputs = in->op->n_outputs;
    *p = (parts){.ints = berth_infer_ints(in, "split", &n)};
    if (!p->ints) p->value = berth_infer_value(in, 1);
    if (p->value && !p->value->ints) p->value = NULL;
    if (p->value) n = p->value->n;
    p->given = p->ints || berth_infer_in(in, 1);
    p->uneven = berth_infer_given(in, "num_outputs");
    if ((p->ints || p->value) && n != n_outputs)
        return berth_infer_refuse(in, "%d parts for %d outputs", (int)n, (int)n_outputs);
    if (!p->given && p->uneven && berth_infer_int(in, "num_outputs", 0) != n_outputs)
        return berth_infer_refuse(in, "'num_outputs' is not %d, the number of outputs", (int)n_outputs);
    return BERTH_OK;
}

static berth_status given_part(berth_infer *in, const parts *p, int32_t port, berth_dim *part) {
    *part = p->ints ? berth_dim_static(p->ints[port]) : p->value ? p->value->ints[port] : berth_dim_unknown();
    if (part->max < 0) return berth_infer_refuse(in, "a part of %" PRId64, part->min);
    if (part->min < 0) *part = berth_dim_unknown();
    return BERTH_OK;
}

static berth_status equal_part(berth_infer *in, const parts *p, const berth_dim *size, int32_t port, berth_dim *part) {
    int64_t n = in->op->n_outputs, each;
    *part = berth_dim_unknown();
    if (!berth_dim_is_static(size)) return BERTH_OK;
    if (size->min % n && !p->uneven)
        return berth_infer_refuse(in, "%" PRId64 " in %" PRId64 " equal parts", size->min, n);
    each = size->min / n + (size->min % n != 0);
    /* each * (n - 1) is below size + n, so it overflows only where size nearly does. */
    if (port == n - 1 && __builtin_mul_overflow(each, n - 1, &each)) return berth_infer_overflow(in);
    if (port == n - 1) each = size->min - each;
    if (each < 0) return berth_infer_refuse(in, "%" PRId64 " in %" PRId64 " parts", size->min, n);
    *part = berth_dim_static(each);
    return BERTH_OK;
}

berth_status berth_infer_split(berth_infer *in) {
    berth_dims dims;
    parts p;
    berth_type type = berth_infer_type(in, 0);
    bool known = berth_infer_dims(in, 0, &dims);
    int32_t axis = 0;
    BERTH_TRY(read_parts(in, &p));
    if (known) BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), dims.rank, &axis));
    berth_dim size = known ? dims.at[axis] : berth_dim_unknown(), sum = berth_dim_static(0);
    for (int32_t port = 0; port < in->op->n_outputs; port++) {
        if (known && p.given) BERTH_TRY(given_part(in, &p, port, &dims.at[axis]));
        if (known && !p.given) BERTH_TRY(equal_part(in, &p, &size, port, &dims.at[axis]));
        if (known && !berth_dim_add(&sum, &dims.at[axis])) return berth_infer_overflow(in);
        BERTH_TRY(berth_infer_out(in, port, type, known ? &dims : NULL));
    }
    if (known && !berth_dim_agree(&size, &sum))
        return berth_infer_refuse(in, "the parts are %" PRId64 " of %" PRId64, sum.min, size.min);
    return BERTH_OK;
}

berth_status berth_infer_transpose(berth_infer *in) {
    berth_dims data, dims;
    int32_t n = 0;
    const int64_t *permutation = berth_infer_ints(in, "perm", &n);
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &data)) return berth_infer_out(in, 0, type, NULL);
    if (permutation && n != data.rank)
        return berth_infer_refuse(in, "'perm' has %d entries for %d dimensions", (int)n, (int)data.rank);
    bool taken[BERTH_MAX_RANK] = {false};
    dims.rank = data.rank;
    for (int32_t i = 0; i < data.rank; i++) {
        int64_t from = permutation ? permutation[i] : data.rank - 1 - i;
        if (from < 0 || from >= data.rank || taken[from])
            return berth_infer_refuse(in, "'perm' is not a permutation of %d dimensions", (int)data.rank);
        taken[from] = true;
        dims.at[i] = data.at[from];
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* --- padding --- */

/* Adds what stands before and behind a dimension; negative numbers take away. */
static berth_status pad_dim(berth_infer *in, berth_dim *dim, const berth_dim *begin, const berth_dim *end) {
    bool known = berth_dim_is_static(begin) && berth_dim_is_static(end);
    if (known && begin->min == 0 && end->min == 0) return BERTH_OK;
    if (!known || !berth_dim_is_static(dim)) {
        *dim = berth_dim_unknown();
        return BERTH_OK;
    }
    int64_t size;
    if (__builtin_add_overflow(dim->min, begin->min, &size) || __builtin_add_overflow(size, end->min, &size))
        return berth_infer_overflow(in);
    if (size < 0) return berth_infer_refuse(in, "%" PRId64 " remain of a dimension", size);
    *dim = berth_dim_static(size);
    return BERTH_OK;
}

/* pads: an attribute before opset 11 ("paddings" before 2), then an input; axes from opset 18 on. */
berth_status berth_infer_pad(berth_infer *in) {
    berth_dims dims;
    berth_list axes;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    BERTH_TRY(berth_infer_list(in, "axes", 3, &axes));
    int32_t n = 0, count = axes.state == BERTH_LIST_ABSENT ? dims.rank : axes.n;
    const int64_t *ints = berth_infer_ints(in, berth_infer_given(in, "paddings") ? "paddings" : "pads", &n);
    const berth_value *value = ints ? NULL : berth_infer_value(in, 1);
    if (value && value->ints) n = value->n;
    if (axes.state == BERTH_LIST_UNKNOWN || (!ints && !(value && value->ints))) {
        if (!berth_infer_in(in, 1)) return berth_infer_refuse(in, "'pads' is missing");
        berth_dims_blank(&dims, dims.rank);
        return berth_infer_out(in, 0, type, &dims);
    }
    if (n != 2 * count) return berth_infer_refuse(in, "%d pads for %d axes", (int)n, (int)count);
    for (int32_t i = 0; i < count; i++) {
        int32_t axis = i;
        if (axes.state == BERTH_LIST_KNOWN) BERTH_TRY(berth_infer_axis(in, axes.at[i], dims.rank, &axis));
        berth_dim begin = ints ? berth_dim_static(ints[i]) : value->ints[i];
        berth_dim end = ints ? berth_dim_static(ints[count + i]) : value->ints[count + i];
        BERTH_TRY(pad_dim(in, &dims.at[axis], &begin, &end));
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* The shape of the axes named, whether that crops or pads. */
berth_status berth_infer_center_crop_pad(berth_infer *in) {
    berth_dims dims;
    berth_list axes;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    BERTH_TRY(berth_infer_list(in, "axes", -1, &axes));
    int32_t count = axes.state == BERTH_LIST_ABSENT ? dims.rank : axes.n;
    const berth_value *shape = berth_infer_value(in, 1);
    if (shape && shape->ints && shape->n != count)
        return berth_infer_refuse(in, "%d sizes for %d axes", (int)shape->n, (int)count);
    for (int32_t i = 0; i < count; i++) {
        int32_t axis = i;
        if (axes.state == BERTH_LIST_KNOWN) BERTH_TRY(berth_infer_axis(in, axes.at[i], dims.rank, &axis));
        dims.at[axis] = shape && shape->ints && shape->ints[i].min >= 0 ? shape->ints[i] : berth_dim_unknown();
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* --- repeating --- */

berth_status berth_infer_tile(berth_infer *in) {
    berth_dims dims;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &dims)) return berth_infer_out(in, 0, type, NULL);
    const berth_value *repeats = berth_infer_value(in, 1);
    bool known = repeats && repeats->ints;
    if (known && repeats->n != dims.rank)
        return berth_infer_refuse(in, "%d repeats for %d dimensions", (int)repeats->n, (int)dims.rank);
    for (int32_t i = 0; i < dims.rank; i++) {
        berth_dim by = known ? repeats->ints[i] : berth_dim_unknown();
        if (berth_dim_is_static(&by) && by.min < 0) return berth_infer_refuse(in, "%" PRId64 " repeats", by.min);
        if (by.min < 0) by = berth_dim_unknown();
        if (!berth_dim_multiply(&dims.at[i], &by)) return berth_infer_overflow(in);
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* Both ways: the shape asked for may have ones where the data has more. */
berth_status berth_infer_expand(berth_infer *in) {
    berth_dims dims, target;
    berth_type type = berth_infer_type(in, 0);
    berth_infer_dims(in, 0, &dims);
    const berth_value *shape = berth_infer_value(in, 1);
    if (shape && shape->ints) {
        if (shape->n > BERTH_MAX_RANK) return berth_infer_refuse(in, "a shape of %d dimensions", (int)shape->n);
        target.rank = shape->n;
        for (int32_t i = 0; i < shape->n; i++) {
            if (shape->ints[i].max < 0) return berth_infer_refuse(in, "a dimension of %" PRId64, shape->ints[i].min);
            target.at[i] = shape->ints[i].min < 0 ? berth_dim_unknown() : shape->ints[i];
        }
    } else {
        const berth_tensor *tensor = berth_infer_in(in, 1);
        int64_t n = tensor ? berth_shape_elements(&tensor->shape) : -1;
        if (n > BERTH_MAX_RANK) return berth_infer_refuse(in, "a shape of %" PRId64 " dimensions", n);
        berth_dims_blank(&target, (int32_t)n);
    }
    BERTH_TRY(berth_infer_broadcast(in, &dims, &target));
    return berth_infer_out(in, 0, type, &dims);
}
