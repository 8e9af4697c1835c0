/* SPDX-License-Identifier: Apache-2.0 */
/* Constant by constant: who reads it decides what it is. */
#include "runtime/ir_weights.h"

#include "base/arena.h"
#include "base/rng.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WEIGHTS_STREAM = 74, PATTERN = 1 << 16, MOST_NUMBERS = 64 };
static const int64_t most_bytes = (int64_t)1 << 40;

/* Who reads a constant, behind what only converts it. */
typedef struct use {
    const berth_op *reader;
    const berth_tensor *tensor; /* of the constant */
    int32_t port;
    int64_t offset, size;
} use;

typedef struct maker {
    berth_ctx *ctx;
    const berth_graph *graph;
    FILE *file;
    berth_rng rng;
    float *noise; /* [PATTERN] normal, repeated */
} maker;

static const berth_shape *shape_at(const maker *m, const int32_t *tensors, int32_t n, int32_t i) {
    static const berth_shape unknown = {.rank = -1};
    return i < n && tensors[i] >= 0 ? &berth_graph_tensor(m->graph, tensors[i])->shape : &unknown;
}

static const berth_shape *input_of(const maker *m, const berth_op *op, int32_t i) {
    return shape_at(m, op->inputs, op->n_inputs, i);
}

static const berth_shape *output_of(const maker *m, const berth_op *op, int32_t i) {
    return shape_at(m, op->outputs, op->n_outputs, i);
}

static int64_t dim(const berth_shape *shape, int32_t i) {
    return i >= 0 && i < shape->rank ? shape->dims[i].min : 1;
}

static bool is_true(const berth_op *op, const char *name) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    return attribute && attribute->kind == BERTH_ATTRIBUTE_STRING &&
           (strcmp(attribute->string, "true") == 0 || strcmp(attribute->string, "1") == 0);
}

/* --- integers --------------------------------------------------------------------------------------------------- */

static int32_t put_dims(const berth_shape *shape, int32_t first, int64_t *out) {
    int32_t n = 0;
    for (int32_t i = first < 0 ? 0 : first; i < shape->rank && n < MOST_NUMBERS; i++) out[n++] = dim(shape, i);
    return n;
}

/* Axes of the larger shape that the smaller one lacks: those of Unsqueeze, or of Squeeze the other way round. */
static void find_extra_axes(const berth_shape *small, const berth_shape *large, int64_t *out, int32_t n) {
    int32_t at = 0, found = 0;
    for (int32_t i = 0; i < large->rank && found < n; i++) {
        bool matches = at < small->rank && dim(small, at) == dim(large, i);
        if (dim(large, i) == 1 && !matches)
            out[found++] = i;
        else
            at++;
    }
}

/* Axes along which something was lost. */
static void find_reduced_axes(const berth_shape *in, const berth_shape *out, int64_t *axes, int32_t n) {
    int32_t found = 0, at = 0;
    bool keeps = in->rank == out->rank;
    for (int32_t i = 0; i < in->rank && found < n; i++) {
        if (dim(in, i) != dim(out, keeps ? i : at))
            axes[found++] = i;
        else
            at++;
    }
    for (int32_t i = in->rank - 1; i >= 0 && found < n; i--) axes[found++] = i;
}

/* The first order of dimensions that makes the one shape of the other. */
static void find_order(const berth_shape *in, const berth_shape *out, int64_t *order, int32_t n) {
    bool used[BERTH_MAX_RANK] = {false};
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < in->rank; k++) {
            if (used[k] || dim(in, k) != dim(out, i)) continue;
            used[k] = true;
            order[i] = k;
            break;
        }
}

/* data[..axis..] with indices in the place of the axis is the output. */
static int64_t find_gather_axis(const berth_shape *data, const berth_shape *indices, const berth_shape *out) {
    for (int32_t axis = 0; axis < data->rank; axis++) {
        bool fits = true;
        for (int32_t i = 0; i < out->rank && fits; i++) {
            int32_t behind = i - indices->rank + 1;
            int64_t wanted = i < axis                   ? dim(data, i)
                             : i < axis + indices->rank ? dim(indices, i - axis)
                                                        : dim(data, behind);
            fits = dim(out, i) == wanted;
        }
        if (fits) return axis;
    }
    return 0;
}

static int64_t find_split_axis(const berth_shape *in, const berth_shape *out) {
    for (int32_t i = 0; i < in->rank; i++)
        if (dim(in, i) != dim(out, i)) return i;
    return 0;
}

/* `n` numbers for a constant of whole numbers; those that nothing is known of stay 0. */
static void find_numbers(const maker *m, const use *u, int64_t *numbers, int32_t n) {
    const berth_op *op = u->reader;
    if (!op) return;
    const char *type = op->type;
    const berth_shape *in = input_of(m, op, 0), *out = output_of(m, op, 0);
    int64_t dims[MOST_NUMBERS] = {0};
    bool is_slice = strcmp(type, "StridedSlice") == 0;
    if (u->port == 1 && (strcmp(type, "Reshape") == 0 || strcmp(type, "Broadcast") == 0)) {
        put_dims(out, 0, dims);
        memcpy(numbers, dims, (size_t)n * sizeof *numbers);
    } else if (u->port == 1 && strncmp(type, "Adaptive", 8) == 0) {
        put_dims(out, 2, dims);
        memcpy(numbers, dims, (size_t)n * sizeof *numbers);
    } else if (u->port == 1 && strcmp(type, "Unsqueeze") == 0) {
        find_extra_axes(in, out, numbers, n);
    } else if (u->port == 1 && strcmp(type, "Squeeze") == 0) {
        find_extra_axes(out, in, numbers, n);
    } else if (u->port == 1 && (strncmp(type, "Reduce", 6) == 0 || strcmp(type, "MVN") == 0)) {
        find_reduced_axes(in, out, numbers, n);
    } else if (u->port == 1 && strcmp(type, "Transpose") == 0) {
        find_order(in, out, numbers, n);
    } else if (u->port == 2 && strcmp(type, "Gather") == 0) {
        numbers[0] = find_gather_axis(in, input_of(m, op, 1), out);
    } else if (u->port == 1 && (strcmp(type, "Split") == 0 || strcmp(type, "VariadicSplit") == 0)) {
        numbers[0] = find_split_axis(in, out);
    } else if (u->port == 2 && strcmp(type, "VariadicSplit") == 0) {
        int32_t axis = (int32_t)find_split_axis(in, out);
        for (int32_t i = 0; i < n; i++) numbers[i] = dim(output_of(m, op, i), axis);
    } else if (is_slice && u->port == 2) {
        for (int32_t i = 0; i < n; i++) numbers[i] = dim(in->rank == out->rank ? out : in, i);
    } else if (u->port == 3 && (is_slice || strcmp(type, "Slice") == 0)) {
        for (int32_t i = 0; i < n; i++) numbers[i] = 1;
    }
}

/* --- floats ----------------------------------------------------------------------------------------------------- */

/* By how much noise is scaled, and around which number. */
static void find_floats(const use *u, double *scale, double *middle) {
    const berth_op *op = u->reader;
    const berth_shape *shape = &u->tensor->shape;
    const char *type = op ? op->type : "";
    double fan_in = 1;
    *middle = 0;
    if (strcmp(type, "Multiply") == 0 || strcmp(type, "Divide") == 0 || strcmp(type, "Power") == 0 ||
        strcmp(type, "Sqrt") == 0 || strcmp(type, "PRelu") == 0 ||
        (strncmp(type, "BatchNorm", 9) == 0 && u->port != 2)) {
        *middle = 1;
        *scale = 0.05;
        return;
    }
    if (berth_shape_elements(shape) == 1 || strcmp(type, "Add") == 0 || strcmp(type, "Subtract") == 0) {
        *scale = 0.05;
        return;
    }
    if (strcmp(type, "MatMul") == 0)
        fan_in = (double)dim(shape, is_true(op, "transpose_b") ? shape->rank - 1 : shape->rank - 2);
    else
        for (int32_t i = 1; i < shape->rank; i++) fan_in *= (double)dim(shape, i);
    *scale = sqrt(2 / fmax(fan_in, 1));
}

static uint16_t to_half(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    int exponent = (int)(bits >> 23 & 255) - 112;
    uint16_t sign = (uint16_t)(bits >> 16 & 0x8000);
    if (exponent <= 0) return sign;
    if (exponent >= 31) return (uint16_t)(sign | 0x7bff);
    return (uint16_t)(sign | exponent << 10 | (bits >> 13 & 1023));
}

/* Little-endian, as an IR has it. */
static void put_float(char *at, berth_type type, double value) {
    float single = (float)value;
    uint16_t half = to_half(single);
    if (type == BERTH_TYPE_F64) {
        memcpy(at, &value, sizeof value);
    } else if (type == BERTH_TYPE_F32) {
        memcpy(at, &single, sizeof single);
    } else if (type == BERTH_TYPE_BF16) {
        uint32_t bits;
        memcpy(&bits, &single, sizeof bits);
        half = (uint16_t)(bits >> 16);
        memcpy(at, &half, sizeof half);
    } else {
        memcpy(at, &half, sizeof half);
    }
}

/* --- one constant ----------------------------------------------------------------------------------------------- */

static bool is_float(berth_type type) {
    return type == BERTH_TYPE_F32 || type == BERTH_TYPE_F16 || type == BERTH_TYPE_BF16 || type == BERTH_TYPE_F64;
}

static berth_status put_bytes(const maker *m, const char *bytes, size_t n) {
    if (fwrite(bytes, 1, n, m->file) == n) return BERTH_OK;
    return berth_fail(m->ctx, BERTH_E_IO, "cannot write made-up weights: %s", strerror(errno));
}

static berth_status write_floats(const maker *m, const use *u) {
    size_t width = (size_t)berth_type_bits(u->tensor->type) / 8;
    int64_t n = u->size / (int64_t)width;
    double scale = 0, middle = 0;
    char bytes[4096];
    find_floats(u, &scale, &middle);
    for (int64_t i = 0; i < n;) {
        size_t used = 0;
        for (; i < n && used + width <= sizeof bytes; i++, used += width)
            put_float(bytes + used, u->tensor->type, middle + scale * (double)m->noise[(i * 7 + u->offset) % PATTERN]);
        BERTH_TRY(put_bytes(m, bytes, used));
    }
    return BERTH_OK;
}

static berth_status write_integers(const maker *m, const use *u) {
    size_t width = (size_t)berth_type_bits(u->tensor->type) / 8;
    int64_t numbers[MOST_NUMBERS] = {0}, n = berth_shape_elements(&u->tensor->shape);
    if (n > 0 && n <= MOST_NUMBERS) find_numbers(m, u, numbers, (int32_t)n);
    for (int64_t i = 0; width > 0 && i < n && (i + 1) * (int64_t)width <= u->size; i++) {
        int64_t number = i < MOST_NUMBERS ? numbers[i] : 0;
        BERTH_TRY(put_bytes(m, (const char *)&number, width));
    }
    return BERTH_OK;
}

static int64_t number_of(const berth_op *op, const char *name) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    return attribute && attribute->kind == BERTH_ATTRIBUTE_STRING ? strtoll(attribute->string, NULL, 10) : -1;
}

static use find_use(const maker *m, int32_t constant) {
    const berth_op *op = berth_graph_op(m->graph, constant);
    use found = {.offset = number_of(op, "offset"), .size = number_of(op, "size")};
    int32_t at = constant, n = 0;
    found.tensor = berth_graph_tensor(m->graph, op->outputs[0]);
    for (int hop = 0; hop < 4; hop++) {
        const int32_t *edges = berth_graph_out_edges(m->graph, at, &n);
        if (n == 0) return found;
        const berth_edge *edge = berth_graph_edge(m->graph, edges[0]);
        found.reader = berth_graph_op(m->graph, edge->to);
        found.port = edge->to_port;
        at = edge->to;
        if (strcmp(found.reader->type, "Convert") != 0) return found;
    }
    return found;
}

static berth_status write_constant(const maker *m, int32_t constant) {
    use u = find_use(m, constant);
    if (u.offset < 0 || u.size < 0 || u.size > most_bytes || u.offset > most_bytes)
        return berth_fail(m->ctx, BERTH_E_LIMIT, "the constant '%.200s' lies beyond all reason",
                          berth_graph_op(m->graph, constant)->name);
    if (u.size == 0) return BERTH_OK;
    if (fseeko(m->file, (off_t)(u.offset + u.size - 1), SEEK_SET) != 0 || fputc(0, m->file) == EOF ||
        fseeko(m->file, (off_t)u.offset, SEEK_SET) != 0)
        return berth_fail(m->ctx, BERTH_E_IO, "cannot write made-up weights: %s", strerror(errno));
    return is_float(u.tensor->type) ? write_floats(m, &u) : write_integers(m, &u);
}

berth_status berth_ir_weights_make(berth_ctx *ctx, const berth_graph *graph, const char *path, uint64_t seed) {
    maker m = {.ctx = ctx, .graph = graph};
    berth_arena arena;
    berth_status status = BERTH_OK;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    m.noise = berth_arena_push(&arena, PATTERN, sizeof *m.noise);
    m.file = m.noise ? fopen(path, "wbe") : NULL;
    if (!m.noise)
        status = berth_fail_nomem(ctx);
    else if (!m.file)
        status = berth_fail(ctx, BERTH_E_IO, "cannot write %.600s: %s", path, strerror(errno));
    berth_rng_init(&m.rng, seed, WEIGHTS_STREAM);
    for (int32_t i = 0; i < PATTERN && status == BERTH_OK; i++) m.noise[i] = (float)berth_rng_normal(&m.rng);
    for (int32_t i = 0; i < berth_graph_op_count(graph) && status == BERTH_OK; i++) {
        const berth_op *op = berth_graph_op(graph, i);
        if (op->blob_bytes > 0)
            status = berth_fail(ctx, BERTH_E_UNSUPPORTED, "weights of IRs before version 10 cannot be made up");
        else if (strcmp(op->type, "Const") == 0 && op->n_outputs > 0 && op->outputs[0] >= 0)
            status = write_constant(&m, i);
    }
    if (m.file && fclose(m.file) != 0 && status == BERTH_OK)
        status = berth_fail(ctx, BERTH_E_IO, "cannot write %.600s: %s", path, strerror(errno));
    berth_arena_deinit(&arena);
    return status;
}
