/* SPDX-License-Identifier: Apache-2.0 */
/* Values known before the model runs. Exporters compute shapes by small sub-graphs (Shape, Gather, Concat, Reshape); to
 * know the shapes one has to run these. This file reads stored constants and holds the functions that move elements;
 * infer_arith.c has those that compute. Each element is known or not by itself: the shape of a tensor with a free batch
 * dimension still has three known elements, and the symbol of the fourth travels with it.
 *
 * A value belongs to a tensor of static shape and has one element for each of its positions, in row-major order. Values
 * are made at most once per tensor and out of a budget. */
#include "read/infer_value.h"

#include <math.h>
#include <string.h>

/* --- making --- */

static bool is_real(berth_type type) {
    return type == BERTH_TYPE_F32 || type == BERTH_TYPE_F64;
}

static bool is_int(berth_type type) {
    switch (type) {
    case BERTH_TYPE_I64:
    case BERTH_TYPE_I32:
    case BERTH_TYPE_I16:
    case BERTH_TYPE_I8:
    case BERTH_TYPE_U64:
    case BERTH_TYPE_U32:
    case BERTH_TYPE_U16:
    case BERTH_TYPE_U8:
    case BERTH_TYPE_BOOL: return true;
    default: return false;
    }
}

static berth_value *new_value(berth_infer *in, int32_t tensor) {
    const berth_tensor *row = &in->graph->tensors[tensor];
    int64_t n = berth_shape_elements(&row->shape);
    bool real = is_real(row->type);
    if (n < 0 || (!real && !is_int(row->type))) return NULL;
    if (n > (real ? BERTH_VALUE_MAX_REALS : BERTH_VALUE_MAX_INTS) || n >= in->value_room) return NULL;
    berth_value *value = berth_arena_push(&in->scratch, 1, sizeof *value);
    if (!value) return NULL;
    value->n = (int32_t)n;
    if (real)
        value->reals = berth_arena_push(&in->scratch, (size_t)n, sizeof *value->reals);
    else
        value->ints = berth_arena_push(&in->scratch, (size_t)n, sizeof *value->ints);
    if (in->scratch.failed) return NULL;
    for (int32_t i = 0; i < value->n; i++) {
        if (real)
            value->reals[i] = NAN;
        else
            value->ints[i] = berth_value_unknown();
    }
    in->value_room -= n + 1;
    in->values[tensor] = value;
    return value;
}

berth_value *berth_value_new(berth_infer *in, int32_t port) {
    if (port >= in->op->n_outputs || in->op->outputs[port] < 0) return NULL;
    return new_value(in, in->op->outputs[port]);
}

berth_dim berth_value_fit(berth_type type, int64_t number) {
    int bits = type == BERTH_TYPE_BOOL ? 1 : berth_type_bits(type);
    bool is_signed =
        type == BERTH_TYPE_I64 || type == BERTH_TYPE_I32 || type == BERTH_TYPE_I16 || type == BERTH_TYPE_I8;
    bool fits = is_signed ? bits == 64 || (number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1))
                          : number >= 0 && (bits == 64 || number < INT64_C(1) << bits);
    return fits ? berth_dim_static(number) : berth_value_unknown();
}

double berth_value_round(berth_type type, double number) {
    return type == BERTH_TYPE_F32 ? (double)(float)number : number;
}

/* --- stored constants --- */

static uint64_t little_endian(const unsigned char *bytes, int n) {
    uint64_t number = 0;
    for (int i = n - 1; i >= 0; i--) number = number << 8 | bytes[i];
    return number;
}

static double stored_real(const unsigned char *bytes, int n) {
    uint64_t bits = little_endian(bytes, n);
    uint32_t half = (uint32_t)bits;
    float single;
    double number;
    memcpy(&single, &half, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return n == 4 ? (double)single : number;
}

static berth_dim stored_int(berth_type type, const unsigned char *bytes, int n) {
    uint64_t bits = little_endian(bytes, n);
    switch (type) {
    case BERTH_TYPE_BOOL: return berth_dim_static(bits != 0);
    case BERTH_TYPE_I8: return berth_dim_static((int8_t)bits);
    case BERTH_TYPE_I16: return berth_dim_static((int16_t)bits);
    case BERTH_TYPE_I32: return berth_dim_static((int32_t)bits);
    default: break;
    }
    if (type == BERTH_TYPE_U64 && bits > INT64_MAX) return berth_value_unknown();
    return berth_dim_static((int64_t)bits);
}

const berth_value *berth_infer_value(berth_infer *in, int32_t port) {
    const berth_tensor *tensor = berth_infer_in(in, port);
    if (!tensor) return NULL;
    int32_t index = in->op->inputs[port];
    if (in->values[index]) return in->values[index];
    bool stored = tensor->content && tensor->content_size == berth_tensor_size(tensor->type, &tensor->shape);
    if (!stored && berth_shape_elements(&tensor->shape) != 0) return NULL;
    berth_value *value = new_value(in, index);
    if (!value || value->n == 0) return value;
    int width = (int)(tensor->content_size / value->n);
    const unsigned char *bytes = tensor->content;
    for (int32_t i = 0; i < value->n; i++, bytes += width) {
        if (value->reals)
            value->reals[i] = stored_real(bytes, width);
        else
            value->ints[i] = stored_int(tensor->type, bytes, width);
    }
    return value;
}

/* --- walking --- */

void berth_value_dims(const berth_infer *in, int32_t port, berth_dims *dims) {
    const berth_shape *shape = &in->graph->tensors[in->op->outputs[port]].shape;
    dims->rank = shape->rank;
    for (int32_t i = 0; i < shape->rank; i++) dims->at[i] = shape->dims[i];
}

/* Row-major steps of a static shape. Values are small, so nothing overflows unless a dimension is zero, and then nobody
 * walks. */
static void steps_of(const berth_dims *dims, int64_t step[BERTH_MAX_RANK]) {
    int64_t product = 1;
    for (int32_t i = dims->rank - 1; i >= 0; i--) {
        step[i] = product;
        if (__builtin_mul_overflow(product, dims->at[i].min, &product)) product = 0;
    }
}

void berth_walk_start(berth_walk *walk, const berth_dims *dims) {
    walk->rank = dims->rank;
    walk->index = 0;
    steps_of(dims, walk->step);
    for (int32_t i = 0; i < dims->rank; i++) {
        walk->size[i] = dims->at[i].min;
        walk->count[i] = 0;
    }
}

void berth_walk_broadcast(berth_walk *walk, const berth_dims *dims, const berth_dims *source) {
    int64_t step[BERTH_MAX_RANK];
    berth_walk_start(walk, dims);
    steps_of(source, step);
    int32_t skip = dims->rank - source->rank;
    for (int32_t i = 0; i < dims->rank; i++)
        walk->step[i] = i < skip || berth_dim_is(&source->at[i - skip], 1) ? 0 : step[i - skip];
}

void berth_walk_next(berth_walk *walk) {
    for (int32_t i = walk->rank - 1; i >= 0; i--) {
        walk->index += walk->step[i];
        if (++walk->count[i] < walk->size[i]) return;
        walk->index -= walk->step[i] * walk->size[i];
        walk->count[i] = 0;
    }
}

void berth_value_move(berth_value *to, int32_t at, const berth_value *from, int64_t index) {
    if (to->reals && from->reals) to->reals[at] = from->reals[index];
    if (to->ints && from->ints) to->ints[at] = from->ints[index];
}

static void move_along(berth_value *to, const berth_value *from, berth_walk *walk) {
    for (int32_t i = 0; i < to->n; i++) {
        berth_value_move(to, i, from, walk->index);
        berth_walk_next(walk);
    }
}

/* --- functions of the table --- */

void berth_value_same(berth_infer *in) {
    const berth_value *from = berth_infer_value(in, 0);
    berth_value *to = from ? berth_value_new(in, 0) : NULL;
    if (!to || to->n != from->n) return;
    for (int32_t i = 0; i < to->n; i++) berth_value_move(to, i, from, i);
}

void berth_value_shape(berth_infer *in) {
    berth_dims dims;
    if (!berth_infer_dims(in, 0, &dims)) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || !to->ints) return;
    int64_t start = berth_infer_int(in, "start", 0);
    if (start < 0) start += dims.rank;
    if (start < 0) start = 0;
    for (int32_t i = 0; i < to->n && start + i < dims.rank; i++) to->ints[i] = dims.at[start + i];
}

void berth_value_size(berth_infer *in) {
    berth_dims dims;
    berth_dim product;
    if (!berth_infer_dims(in, 0, &dims) || !berth_dims_product(&dims, 0, dims.rank, &product)) return;
    berth_value *to = berth_value_new(in, 0);
    if (to && to->ints) to->ints[0] = product;
}

void berth_value_gather(berth_infer *in) {
    berth_dims data, indices;
    const berth_value *from = berth_infer_value(in, 0), *at = berth_infer_value(in, 1);
    if (!from || !at || !at->ints || !berth_infer_dims(in, 0, &data) || !berth_infer_dims(in, 1, &indices)) return;
    int64_t axis = berth_infer_int(in, "axis", 0);
    if (axis < 0) axis += data.rank;
    berth_value *to = berth_value_new(in, 0);
    if (!to || axis < 0 || axis >= data.rank) return;
    /* The output is outer x indices x inner. */
    int64_t inner = 1, size = data.at[axis].min;
    for (int32_t i = (int32_t)axis + 1; i < data.rank; i++) inner *= data.at[i].min;
    for (int32_t i = 0; i < to->n; i++) {
        const berth_dim *index = &at->ints[i / inner % at->n];
        int64_t row = index->min < 0 ? index->min + size : index->min;
        if (!berth_dim_is_static(index) || row < 0 || row >= size) continue;
        berth_value_move(to, i, from, (i / inner / at->n * size + row) * inner + i % inner);
    }
}

void berth_value_transpose(berth_infer *in) {
    berth_dims data, dims;
    const berth_value *from = berth_infer_value(in, 0);
    berth_value *to = from && berth_infer_dims(in, 0, &data) ? berth_value_new(in, 0) : NULL;
    if (!to || to->n != from->n) return;
    int32_t n;
    const int64_t *permutation = berth_infer_ints(in, "perm", &n);
    int64_t step[BERTH_MAX_RANK];
    berth_walk walk;
    berth_value_dims(in, 0, &dims);
    berth_walk_start(&walk, &dims);
    steps_of(&data, step);
    for (int32_t i = 0; i < data.rank; i++) walk.step[i] = step[permutation ? permutation[i] : data.rank - 1 - i];
    move_along(to, from, &walk);
}

void berth_value_concat(berth_infer *in) {
    berth_dims dims;
    bool any = false;
    for (int32_t port = 0; port < in->op->n_inputs && !any; port++) any = berth_infer_value(in, port) != NULL;
    berth_value *to = any ? berth_value_new(in, 0) : NULL;
    if (!to) return;
    berth_value_dims(in, 0, &dims);
    int64_t axis = berth_infer_int(in, "axis", 1), inner = 1, at = 0;
    if (axis < 0) axis += dims.rank;
    for (int32_t i = (int32_t)axis + 1; i < dims.rank; i++) inner *= dims.at[i].min;
    int64_t row = dims.at[axis].min * inner;
    for (int32_t port = 0; port < in->op->n_inputs && row > 0; port++) {
        berth_dims part;
        const berth_value *from = berth_infer_value(in, port);
        if (!berth_infer_dims(in, port, &part)) return;
        if (axis >= part.rank || !berth_dim_is_static(&part.at[axis])) return;
        int64_t piece = part.at[axis].min * inner;
        for (int32_t i = 0; from && i < from->n && piece > 0; i++)
            berth_value_move(to, (int32_t)(i / piece * row + at + i % piece), from, i);
        at += piece;
    }
}

void berth_value_split(berth_infer *in) {
    berth_dims data, dims;
    const berth_value *from = berth_infer_value(in, 0);
    if (!from || !berth_infer_dims(in, 0, &data)) return;
    int64_t axis = berth_infer_int(in, "axis", 0);
    if (axis < 0) axis += data.rank;
    int64_t at = 0;
    for (int32_t port = 0; port < in->op->n_outputs; port++) {
        berth_value *to = berth_value_new(in, port);
        if (!to) return;
        berth_walk walk;
        berth_value_dims(in, port, &dims);
        berth_walk_start(&walk, &dims);
        steps_of(&data, walk.step);
        if (at + dims.at[axis].min > data.at[axis].min) return;
        walk.index = at * walk.step[axis];
        move_along(to, from, &walk);
        at += dims.at[axis].min;
    }
}

void berth_value_expand(berth_infer *in) {
    berth_dims data, dims;
    const berth_value *from = berth_infer_value(in, 0);
    berth_value *to = from && berth_infer_dims(in, 0, &data) ? berth_value_new(in, 0) : NULL;
    if (!to) return;
    berth_walk walk;
    berth_value_dims(in, 0, &dims);
    berth_walk_broadcast(&walk, &dims, &data);
    move_along(to, from, &walk);
}

void berth_value_tile(berth_infer *in) {
    berth_dims data, dims;
    const berth_value *from = berth_infer_value(in, 0);
    berth_value *to = from && berth_infer_dims(in, 0, &data) ? berth_value_new(in, 0) : NULL;
    if (!to) return;
    berth_walk walk;
    int64_t step[BERTH_MAX_RANK];
    berth_value_dims(in, 0, &dims);
    berth_walk_start(&walk, &dims);
    steps_of(&data, step);
    for (int32_t i = 0; i < to->n; i++) {
        int64_t index = 0;
        for (int32_t axis = 0; axis < dims.rank; axis++) index += walk.count[axis] % data.at[axis].min * step[axis];
        berth_value_move(to, i, from, index);
        berth_walk_next(&walk);
    }
}

void berth_value_where(berth_infer *in) {
    berth_dims dims, source;
    const berth_value *from[3];
    for (int32_t port = 0; port < 3; port++) from[port] = berth_infer_value(in, port);
    if (!from[0] || !from[0]->ints || (!from[1] && !from[2])) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to) return;
    berth_walk walk[3];
    berth_value_dims(in, 0, &dims);
    for (int32_t port = 0; port < 3; port++) {
        if (!berth_infer_dims(in, port, &source)) return;
        berth_walk_broadcast(&walk[port], &dims, &source);
    }
    for (int32_t i = 0; i < to->n; i++) {
        const berth_dim *condition = &from[0]->ints[walk[0].index];
        int taken = berth_dim_is(condition, 1) ? 1 : 2;
        if (berth_dim_is_static(condition) && from[taken]) berth_value_move(to, i, from[taken], walk[taken].index);
        for (int32_t port = 0; port < 3; port++) berth_walk_next(&walk[port]);
    }
}

void berth_value_nonzero(berth_infer *in) {
    berth_dims data;
    const berth_value *from = berth_infer_value(in, 0);
    if (!from || !berth_infer_dims(in, 0, &data) || data.rank == 0) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || !to->ints) return;
    int32_t found = 0, columns = to->n / data.rank;
    berth_walk walk;
    berth_walk_start(&walk, &data);
    for (int32_t i = 0; i < from->n && found < columns; i++) {
        bool zero = from->ints ? berth_dim_is(&from->ints[i], 0) : from->reals[i] == 0;
        for (int32_t axis = 0; axis < data.rank && !zero; axis++)
            to->ints[axis * columns + found] = berth_dim_static(walk.count[axis]);
        found += !zero;
        berth_walk_next(&walk);
    }
}

void berth_value_scatter(berth_infer *in) {
    berth_dims data;
    const berth_value *from = berth_infer_value(in, 0), *at = berth_infer_value(in, 1),
                      *updates = berth_infer_value(in, 2);
    if (!from || !at || !at->ints || !updates || updates->n != at->n || berth_infer_given(in, "reduction")) return;
    for (int32_t i = 0; i < at->n; i++)
        if (!berth_dim_is_static(&at->ints[i])) return;
    if (!berth_infer_dims(in, 0, &data) || data.rank != 1) return;
    berth_value *to = berth_value_new(in, 0);
    if (!to || to->n != from->n) return;
    for (int32_t i = 0; i < to->n; i++) berth_value_move(to, i, from, i);
    for (int32_t i = 0; i < at->n; i++) {
        int64_t row = at->ints[i].min < 0 ? at->ints[i].min + to->n : at->ints[i].min;
        if (row >= 0 && row < to->n) berth_value_move(to, (int32_t)row, updates, i);
    }
}

/* The reader leaves the element in the output's content; without the attribute it is zero. */
void berth_value_constant_of_shape(berth_infer *in) {
    berth_value *to = berth_value_new(in, 0);
    if (!to) return;
    const berth_tensor *tensor = &in->graph->tensors[in->op->outputs[0]];
    bool given = berth_infer_given(in, "value");
    int width = berth_type_bits(tensor->type) / 8;
    if (given && tensor->content_size != width) return;
    for (int32_t i = 0; i < to->n; i++) {
        if (to->reals)
            to->reals[i] = given ? stored_real(tensor->content, width) : 0;
        else
            to->ints[i] = stored_int(tensor->type, tensor->content, width);
    }
}
