/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that pick elements by index or by condition. */
#include "read/infer_rows.h"
#include "read/infer_value.h"

#include <inttypes.h>
#include <math.h>

/* --- Slice --- */

/* Along each axis: where the slice starts, its step and how many it takes; or nothing known. */
typedef struct slice {
    berth_dims dims; /* of the result */
    int64_t start[BERTH_MAX_RANK], step[BERTH_MAX_RANK];
    bool known[BERTH_MAX_RANK];
} slice;

static int64_t clamp(int64_t number, int64_t low, int64_t high) {
    return number < low ? low : number > high ? high : number;
}

/* `start`, `end` as written against a size: negative ones count from the end, then both are clamped. */
static void slice_axis(slice *s, int32_t axis, int64_t start, int64_t end, int64_t step) {
    int64_t size = s->dims.at[axis].min, back = step < 0 ? 1 : 0, span, count = 0;
    if (start < 0) start += size;
    if (end < 0) end = end < -size ? -1 : end + size;
    start = clamp(start, 0, size - back);
    end = clamp(end, -back, size);
    if (step > 0 && end > start) {
        span = end - start;
        count = span / step + (span % step != 0);
    } else if (step < 0 && end < start) {
        span = start - end;
        count = step == INT64_MIN ? 1 : span / -step + (span % -step != 0);
    }
    s->dims.at[axis] = berth_dim_static(size == 0 ? 0 : count);
    s->start[axis] = start;
    s->step[axis] = step;
    s->known[axis] = true;
}

/* Where the size is not known, a slice that takes all keeps it; exporters write all as the largest number. */
static void slice_unknown(slice *s, int32_t axis, int64_t start, int64_t end, int64_t step) {
    s->known[axis] = start == 0 && end >= INT32_MAX && step == 1;
    s->start[axis] = 0;
    s->step[axis] = 1;
    if (!s->known[axis]) s->dims.at[axis] = berth_dim_unknown();
}

/* Element i of a list whose entries may be known one by one; `n` is its length. */
static bool entry(const int64_t *ints, const berth_value *value, int32_t i, int64_t *out) {
    if (ints) *out = ints[i];
    if (ints) return true;
    if (!value || !value->ints || !berth_dim_is_static(&value->ints[i])) return false;
    *out = value->ints[i].min;
    return true;
}

/* starts, ends, axes, steps: attributes before opset 10 (steps are then one), inputs since. */
static berth_status read_slice(berth_infer *in, slice *s) {
    int32_t n = -1, ends = 0;
    berth_list axes;
    const int64_t *start = berth_infer_ints(in, "starts", &n), *end = berth_infer_ints(in, "ends", &ends);
    BERTH_TRY(berth_infer_list(in, "axes", 3, &axes));
    const berth_value *starts = start ? NULL : berth_infer_value(in, 1), *stops = end ? NULL : berth_infer_value(in, 2);
    const berth_value *steps = berth_infer_value(in, 4);
    if (!start) n = starts ? starts->n : -1;
    if (!end) ends = stops ? stops->n : n;
    if (n < 0) n = ends;
    int32_t rank = s->dims.rank;
    bool fits = n <= rank && ends == n && (axes.state != BERTH_LIST_KNOWN || axes.n == n) && (!steps || steps->n == n);
    if (n >= 0 && !fits) return berth_infer_refuse(in, "starts, ends, axes and steps differ in number");
    for (int32_t i = 0; i < rank; i++) s->known[i] = false;
    if (axes.state == BERTH_LIST_UNKNOWN || (n < 0 && axes.state == BERTH_LIST_ABSENT)) {
        berth_dims_blank(&s->dims, rank);
        return BERTH_OK;
    }
    bool marks[BERTH_MAX_RANK] = {false};
    for (int32_t i = 0; i < (n < 0 ? axes.n : n); i++) {
        int32_t axis = i;
        int64_t from = 0, to = 0, step = 1;
        if (axes.state == BERTH_LIST_KNOWN) BERTH_TRY(berth_infer_axis(in, axes.at[i], rank, &axis));
        if (marks[axis]) return berth_infer_refuse(in, "axis %d is named twice", (int)axis);
        marks[axis] = true;
        bool known = n >= 0 && entry(start, starts, i, &from) && entry(end, stops, i, &to) &&
                     (!berth_infer_in(in, 4) || entry(NULL, steps, i, &step));
        if (known && step == 0) return berth_infer_refuse(in, "a step of 0");
        if (!known)
            s->dims.at[axis] = berth_dim_unknown();
        else if (berth_dim_is_static(&s->dims.at[axis]))
            slice_axis(s, axis, from, to, step);
        else
            slice_unknown(s, axis, from, to, step);
    }
    for (int32_t i = 0; i < rank; i++) {
        if (marks[i]) continue;
        s->known[i] = true;
        s->start[i] = 0;
        s->step[i] = 1;
    }
    return BERTH_OK;
}

berth_status berth_infer_slice(berth_infer *in) {
    slice s;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &s.dims)) return berth_infer_out(in, 0, type, NULL);
    BERTH_TRY(read_slice(in, &s));
    return berth_infer_out(in, 0, type, &s.dims);
}

void berth_value_slice(berth_infer *in) {
    slice s;
    berth_walk source, walk;
    const berth_value *from = berth_infer_value(in, 0);
    if (!from || !berth_infer_dims(in, 0, &s.dims)) return;
    berth_walk_start(&source, &s.dims);
    if (read_slice(in, &s) != BERTH_OK) return;
    for (int32_t i = 0; i < s.dims.rank; i++)
        if (!s.known[i]) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || to->n == 0) return;
    berth_walk_start(&walk, &s.dims);
    for (int32_t i = 0; i < s.dims.rank; i++) {
        walk.index += s.start[i] * source.step[i];
        /* A single one is never stepped from, however long the step. */
        walk.step[i] = walk.size[i] > 1 ? s.step[i] * source.step[i] : 0;
    }
    for (int32_t i = 0; i < to->n; i++, berth_walk_next(&walk)) berth_value_move(to, i, from, walk.index);
}

/* --- Gather --- */

/* Data with one axis replaced by the dimensions of the indices. */
berth_status berth_infer_gather(berth_infer *in) {
    berth_dims data, indices, dims;
    berth_type type = berth_infer_type(in, 0);
    if (!berth_infer_dims(in, 0, &data) || !berth_infer_dims(in, 1, &indices))
        return berth_infer_out(in, 0, type, NULL);
    int32_t axis;
    BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), data.rank, &axis));
    if (data.rank + indices.rank - 1 > BERTH_MAX_RANK)
        return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
    dims.rank = 0;
    for (int32_t i = 0; i < axis; i++) dims.at[dims.rank++] = data.at[i];
    for (int32_t i = 0; i < indices.rank; i++) dims.at[dims.rank++] = indices.at[i];
    for (int32_t i = axis + 1; i < data.rank; i++) dims.at[dims.rank++] = data.at[i];
    return berth_infer_out(in, 0, type, &dims);
}

berth_status berth_infer_gather_elements(berth_infer *in) {
    berth_dims data, indices;
    if (berth_infer_dims(in, 0, &data) && berth_infer_dims(in, 1, &indices)) {
        int32_t axis;
        if (data.rank != indices.rank)
            return berth_infer_refuse(in, "indices of %d dimensions for data of %d", (int)indices.rank, (int)data.rank);
        BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), data.rank, &axis));
    }
    return berth_infer_copy(in, 0, berth_infer_type(in, 0), 1);
}

/* indices[:-1] + data[batch_dims + indices[-1]:] */
berth_status berth_infer_gather_nd(berth_infer *in) {
    berth_dims data, indices;
    berth_type type = berth_infer_type(in, 0);
    int64_t batch = berth_infer_int(in, "batch_dims", 0);
    BERTH_TRY(berth_infer_rank(in, 0, 1, BERTH_MAX_RANK));
    BERTH_TRY(berth_infer_rank(in, 1, 1, BERTH_MAX_RANK));
    if (!berth_infer_dims(in, 0, &data) || !berth_infer_dims(in, 1, &indices) ||
        !berth_dim_is_static(&indices.at[indices.rank - 1]))
        return berth_infer_out(in, 0, type, NULL);
    int64_t depth = indices.at[indices.rank - 1].min;
    if (batch < 0 || batch >= indices.rank || batch > data.rank || depth < 1 || depth > data.rank - batch)
        return berth_infer_refuse(in, "indices of %" PRId64 " for data of %d dimensions, %" PRId64 " of them batches",
                                  depth, (int)data.rank, batch);
    berth_dims dims;
    berth_dims_assign(&dims, &indices);
    dims.rank--;
    for (int32_t i = (int32_t)(batch + depth); i < data.rank; i++) {
        if (dims.rank == BERTH_MAX_RANK) return berth_infer_refuse(in, "more than %d dimensions", BERTH_MAX_RANK);
        dims.at[dims.rank++] = data.at[i];
    }
    return berth_infer_out(in, 0, type, &dims);
}

/* --- results whose size depends on values --- */

/* How many of the first n elements of a known value are not zero; false if that is not known. */
static bool count_nonzero(const berth_value *value, int64_t n, int64_t *count) {
    *count = 0;
    for (int32_t i = 0; i < value->n && i < n; i++) {
        if (value->ints ? !berth_dim_is_static(&value->ints[i]) : isnan(value->reals[i])) return false;
        *count += value->ints ? value->ints[i].min != 0 : value->reals[i] != 0;
    }
    return true;
}

/* One row for each dimension of the data, one column for each element that is not zero. For a scalar the specification
 * asks for no row, but the runtime makes one. */
berth_status berth_infer_non_zero(berth_infer *in) {
    berth_dims data, dims;
    int64_t count;
    berth_dims_blank(&dims, 2);
    if (berth_infer_dims(in, 0, &data) && data.rank > 0) dims.at[0] = berth_dim_static(data.rank);
    const berth_value *value = berth_infer_value(in, 0);
    if (value && count_nonzero(value, value->n, &count)) dims.at[1] = berth_dim_static(count);
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &dims);
}

/* One row of batch, class and box for each box selected. */
berth_status berth_infer_non_max_suppression(berth_infer *in) {
    berth_dims dims;
    BERTH_TRY(berth_infer_rank(in, 0, 3, 3));
    BERTH_TRY(berth_infer_rank(in, 1, 3, 3));
    berth_dims_blank(&dims, 2);
    dims.at[1] = berth_dim_static(3);
    return berth_infer_out(in, 0, BERTH_TYPE_I64, &dims);
}

/* Y, then indices, inverse indices and counts. */
berth_status berth_infer_unique(berth_infer *in) {
    berth_dims data, dims, list;
    berth_dims_blank(&dims, 1);
    berth_dims_blank(&list, 1);
    bool known = berth_infer_dims(in, 0, &data);
    berth_dim inverse = berth_dim_unknown();
    if (berth_infer_given(in, "axis")) {
        int32_t axis;
        dims.rank = -1;
        if (known) {
            BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), data.rank, &axis));
            berth_dims_assign(&dims, &data);
            inverse = data.at[axis];
            dims.at[axis] = berth_dim_unknown();
        }
    } else if (known && !berth_dims_product(&data, 0, data.rank, &inverse)) {
        return berth_infer_overflow(in);
    }
    BERTH_TRY(berth_infer_out(in, 0, berth_infer_type(in, 0), &dims));
    BERTH_TRY(berth_infer_out(in, 1, BERTH_TYPE_I64, &list));
    BERTH_TRY(berth_infer_out(in, 3, BERTH_TYPE_I64, &list));
    list.at[0] = inverse;
    return berth_infer_out(in, 2, BERTH_TYPE_I64, &list);
}

/* Where the condition holds, along an axis or of all elements. A condition that is too long is cut off. */
berth_status berth_infer_compress(berth_infer *in) {
    berth_dims dims;
    berth_dim size = berth_dim_unknown();
    int64_t count = 0;
    int32_t axis = 0;
    BERTH_TRY(berth_infer_rank(in, 1, 1, 1));
    bool known = berth_infer_dims(in, 0, &dims);
    if (!berth_infer_given(in, "axis")) {
        if (known && !berth_dims_product(&dims, 0, dims.rank, &size)) return berth_infer_overflow(in);
        berth_dims_blank(&dims, 1);
    } else if (known) {
        BERTH_TRY(berth_infer_axis(in, berth_infer_int(in, "axis", 0), dims.rank, &axis));
        size = dims.at[axis];
    }
    const berth_value *condition = berth_infer_value(in, 1);
    bool counted = condition && berth_dim_is_static(&size) && count_nonzero(condition, size.min, &count);
    if (dims.rank >= 0) dims.at[axis] = counted ? berth_dim_static(count) : berth_dim_unknown();
    return berth_infer_out(in, 0, berth_infer_type(in, 0), &dims);
}
