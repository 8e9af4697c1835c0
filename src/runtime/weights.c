/* SPDX-License-Identifier: Apache-2.0 */
/* What a tensor is used for decides what is put into it: variances and scales are near one, biases and means small,
 * tables and matrices are noise of standard deviation sqrt(2 / fan-in). Integers are 0, which selects what there is,
 * but quantised weights, which are noise, too. */
#include "runtime/weights.h"

#include "base/file.h"
#include "base/map.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/stage.h"
#include "read/onnx_external.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WEIGHTS_STREAM = 73, CHUNK = 1 << 14, PATTERN = 1 << 16 };
static const int64_t most_bytes = (int64_t)1 << 40;

typedef enum role { NOISE, NEAR_ONE, SMALL } role;

typedef struct maker {
    berth_ctx *ctx;
    berth_arena arena;
    const berth_graph *graph;
    const char *folder;
    berth_onnx_externals found;
    berth_map tensors; /* of the graph, by name */
    int32_t *reader;   /* [tensors] first operation that reads it, one that it scales before others; or -1 */
    int32_t *port;     /* [tensors] at which port */
    int32_t *order;    /* [external tensors] as they follow each other in the files */
    float *noise;      /* [PATTERN] normal, repeated: large files take no longer than they must */
} maker;

static bool is_one_of(const char *type, const char *const *types) {
    for (; *types; types++)
        if (strcmp(type, *types) == 0) return true;
    return false;
}

/* Ports that scale, or by whose root is divided: BatchNormalization's scale and variance, others' scale. */
static bool is_scale(const berth_op *op, int32_t port) {
    static const char *const normalises[] = {"LayerNormalization", "InstanceNormalization",  "GroupNormalization",
                                             "RMSNormalization",   "SkipLayerNormalization", NULL};
    if (strcmp(op->type, "BatchNormalization") == 0) return port == 1 || port == 4;
    return port == 1 && is_one_of(op->type, normalises);
}

/* Who reads an input of an operation in the end: exporters part equal tensors by Identity. */
static void note_reader(maker *m, int32_t op, int32_t port) {
    static const char *const passes[] = {"Identity", "Cast", "Reshape", "Squeeze", "Unsqueeze", NULL};
    const berth_op *row = berth_graph_op(m->graph, op);
    int32_t tensor = row->inputs[port], output = row->n_outputs > 0 ? row->outputs[0] : -1;
    if (tensor < 0) return;
    if (port == 0 && output >= 0 && m->reader[output] >= 0 && is_one_of(row->type, passes)) {
        op = m->reader[output];
        port = m->port[output];
    }
    int32_t other = m->reader[tensor];
    if (other >= 0 && is_scale(berth_graph_op(m->graph, other), m->port[tensor]) &&
        !is_scale(berth_graph_op(m->graph, op), port))
        return;
    m->reader[tensor] = op;
    m->port[tensor] = port;
}

static berth_status index_readers(maker *m) {
    size_t n = (size_t)berth_graph_tensor_count(m->graph);
    m->reader = berth_arena_push(&m->arena, n, sizeof *m->reader);
    m->port = berth_arena_push(&m->arena, n, sizeof *m->port);
    m->noise = berth_arena_push(&m->arena, PATTERN, sizeof *m->noise);
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    for (size_t i = 0; i < n; i++) {
        const char *name = berth_graph_tensor(m->graph, (int32_t)i)->name;
        bool fresh;
        m->reader[i] = -1;
        if (*name && !berth_map_insert(&m->tensors, name, strlen(name), (int32_t)i, &fresh))
            return berth_fail_nomem(m->ctx);
    }
    for (int32_t i = berth_graph_op_count(m->graph) - 1; i >= 0; i--) {
        int32_t op = berth_graph_order(m->graph)[i];
        for (int32_t k = berth_graph_op(m->graph, op)->n_inputs - 1; k >= 0; k--) note_reader(m, op, k);
    }
    return BERTH_OK;
}

static role role_of(const maker *m, int32_t tensor) {
    static const char *const divides[] = {"Div", "Sqrt", "Pow", "Mul", "Reciprocal", NULL};
    if (tensor < 0 || m->reader[tensor] < 0) return NOISE;
    const berth_op *op = berth_graph_op(m->graph, m->reader[tensor]);
    bool is_flat = berth_graph_tensor(m->graph, tensor)->shape.rank <= 1;
    int32_t port = m->port[tensor];
    if (is_scale(op, port) || is_one_of(op->type, divides)) return NEAR_ONE;
    if (strstr(op->type, "Normalization")) return SMALL;
    if (strstr(op->type, "QuantizeLinear") && port == 1) return NEAR_ONE;
    return is_flat ? SMALL : NOISE;
}

/* By how much the noise of a tensor is scaled. */
static double scale_of(const maker *m, int32_t tensor) {
    const berth_shape *shape = &berth_graph_tensor(m->graph, tensor)->shape;
    double fan_in = 1;
    const berth_op *op = m->reader[tensor] < 0 ? NULL : berth_graph_op(m->graph, m->reader[tensor]);
    bool by_rows = op && strcmp(op->type, "MatMul") == 0 && shape->rank == 2;
    for (int32_t i = by_rows ? 0 : 1; i < (by_rows ? 1 : shape->rank); i++) fan_in *= (double)shape->dims[i].min;
    return sqrt(2 / fmax(fan_in, 1));
}

/* --- numbers ---------------------------------------------------------------------------------------------------- */

static size_t put_number(char *at, berth_type type, double value) {
    float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    uint16_t brain = (uint16_t)(bits >> 16), half = 0;
    signed char small = (signed char)fmax(fmin(value * 40, 127), -127);
    int exponent = (int)(bits >> 23 & 255) - 112;
    if (exponent > 0) half = (uint16_t)((bits >> 16 & 0x8000) | (uint32_t)exponent << 10 | (bits >> 13 & 1023));
    switch (type) {
    case BERTH_TYPE_F64: memcpy(at, &value, sizeof value); return sizeof value;
    case BERTH_TYPE_F16: memcpy(at, &half, sizeof half); return sizeof half;
    case BERTH_TYPE_BF16: memcpy(at, &brain, sizeof brain); return sizeof brain;
    case BERTH_TYPE_I8:
    case BERTH_TYPE_U8:
    case BERTH_TYPE_I4:
    case BERTH_TYPE_U4: *at = small; return 1;
    default: memcpy(at, &single, sizeof single); return sizeof single;
    }
}

static bool is_zero_filled(berth_type type) {
    switch (type) {
    case BERTH_TYPE_F32:
    case BERTH_TYPE_F64:
    case BERTH_TYPE_F16:
    case BERTH_TYPE_BF16:
    case BERTH_TYPE_I8:
    case BERTH_TYPE_U8:
    case BERTH_TYPE_I4:
    case BERTH_TYPE_U4: return false;
    default: return true;
    }
}

static berth_status put_tensor(maker *m, berth_stage *stage, const berth_onnx_stored *stored, int64_t length) {
    const int32_t *found = berth_map_find(&m->tensors, stored->tensor, strlen(stored->tensor));
    int32_t tensor = found ? *found : -1;
    berth_type type = tensor < 0 ? BERTH_TYPE_UNKNOWN : berth_graph_tensor(m->graph, tensor)->type;
    role what = role_of(m, tensor);
    double scale = tensor < 0 ? 0 : scale_of(m, tensor);
    bool is_zero = is_zero_filled(type) || tensor < 0;
    char bytes[CHUNK + 8] = {0};
    size_t next = 0;
    for (int64_t done = 0; done < length;) {
        size_t n = 0, wanted = length - done < CHUNK ? (size_t)(length - done) : CHUNK;
        if (berth_cancelled(m->ctx)) return berth_fail(m->ctx, BERTH_E_CANCELLED, "stopped while weights were made");
        while (n < wanted && !is_zero) {
            double x = (double)m->noise[next++ % PATTERN];
            double value = what == NEAR_ONE ? 1 + 0.1 * fmax(fmin(x, 3), -3) : (what == SMALL ? 0.02 : scale) * x;
            n += put_number(bytes + n, type, value);
        }
        BERTH_TRY(berth_stage_put(stage, bytes, wanted));
        done += (int64_t)wanted;
    }
    return BERTH_OK;
}

/* --- files ------------------------------------------------------------------------------------------------------ */

static int64_t length_of(const maker *m, const berth_onnx_stored *stored) {
    if (stored->length >= 0) return stored->length;
    const int32_t *found = berth_map_find(&m->tensors, stored->tensor, strlen(stored->tensor));
    int64_t bytes = found ? berth_graph_tensor(m->graph, *found)->bytes : -1;
    return bytes > 0 ? bytes : 0;
}

/* By file and place; of those that begin at the same one the longest first, then as the model has them. */
static bool is_before(const void *user, int32_t a, int32_t b) {
    const maker *m = user;
    const berth_onnx_stored *x = &m->found.tensors[a], *y = &m->found.tensors[b];
    if (x->file != y->file) return x->file < y->file;
    if (x->offset != y->offset) return x->offset < y->offset;
    int64_t x_length = length_of(m, x), y_length = length_of(m, y);
    return x_length != y_length ? x_length > y_length : a < b;
}

static berth_status order_tensors(maker *m) {
    size_t n = (size_t)m->found.n_tensors;
    m->order = berth_arena_push(&m->arena, n, sizeof *m->order);
    if (!m->order) return berth_fail_nomem(m->ctx);
    for (size_t i = 0; i < n; i++) m->order[i] = (int32_t)i;
    berth_sort(m->order, n, is_before, m);
    return BERTH_OK;
}

static berth_status put_zeros(berth_stage *stage, int64_t n) {
    static const char zeros[CHUNK];
    for (; n > 0; n -= CHUNK) BERTH_TRY(berth_stage_put(stage, zeros, n < CHUNK ? (size_t)n : CHUNK));
    return BERTH_OK;
}

/* Files are about as long as the tensors in them: an offset far beyond would have us write zeros for hours. */
static berth_status check_places(const maker *m, const int32_t *order, int32_t n) {
    static const int64_t alignment = 1 << 20;
    int64_t room = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t length = length_of(m, &m->found.tensors[order[i]]);
        room = length > most_bytes - room ? most_bytes : room + length;
    }
    room += alignment * n;
    for (int32_t i = 0; i < n; i++) {
        const berth_onnx_stored *t = &m->found.tensors[order[i]];
        if (t->offset > room || length_of(m, t) >= most_bytes)
            return berth_fail(m->ctx, BERTH_E_LIMIT, "the tensor '%.200s' would be at byte %" PRId64 " of its file",
                              t->tensor, t->offset);
    }
    return BERTH_OK;
}

/* Tensors by offset, zeros between them; of those that overlap, the first. */
static berth_status make_file(maker *m, berth_stage *stage, const char *path, const int32_t *order, int32_t n) {
    int64_t at = 0;
    BERTH_TRY(check_places(m, order, n));
    BERTH_TRY(berth_stage_folders(stage, path));
    BERTH_TRY(berth_stage_begin(stage, path));
    for (int32_t i = 0; i < n; i++) {
        const berth_onnx_stored *t = &m->found.tensors[order[i]];
        int64_t end = t->offset + length_of(m, t);
        if (end <= at) continue;
        BERTH_TRY(put_zeros(stage, t->offset - at));
        if (t->offset < at)
            BERTH_TRY(put_zeros(stage, end - at));
        else
            BERTH_TRY(put_tensor(m, stage, t, end - t->offset));
        at = end;
    }
    return BERTH_OK;
}

static berth_status make_all(maker *m, int32_t *n_made) {
    berth_stage stage;
    berth_status status = order_tensors(m);
    int32_t start = 0, end = 0; /* of the tensors of a file */
    berth_stage_init(&stage, m->ctx);
    for (int32_t i = 0; i < m->found.n && status == BERTH_OK; i++) {
        const berth_onnx_external *file = &m->found.files[i];
        const char *path = berth_arena_printf(&m->arena, "%s/%s", m->folder, file->location);
        for (start = end; end < m->found.n_tensors && m->found.tensors[m->order[end]].file == i;) end++;
        if (!path) {
            status = berth_fail_nomem(m->ctx);
        } else if (file->path) {
            status = berth_stage_folders(&stage, path);
            if (status == BERTH_OK) status = berth_stage_link(&stage, path, file->path);
        } else {
            status = make_file(m, &stage, path, m->order + start, end - start);
            ++*n_made;
        }
    }
    if (status == BERTH_OK) status = berth_stage_commit(&stage);
    berth_stage_deinit(&stage);
    return berth_file_judge(status);
}

static berth_status find_missing(maker *m, const char *path) {
    berth_read_options options = berth_read_options_default();
    berth_source source;
    berth_status status = berth_source_open(m->ctx, &source, path, &options);
    if (status == BERTH_OK) status = berth_onnx_external_find(m->ctx, &m->arena, &source, path, &m->found);
    berth_source_close(m->ctx, &source);
    return status;
}

berth_status berth_weights_make(berth_ctx *ctx, const berth_graph *graph, const char *path, const char *folder,
                                uint64_t seed, int32_t *n_made) {
    maker m = {.ctx = ctx, .graph = graph, .folder = folder};
    berth_rng rng;
    *n_made = 0;
    berth_arena_init(&m.arena, berth_ctx_allocator(ctx));
    berth_map_init(&m.tensors, ctx);
    berth_status status = find_missing(&m, path);
    if (status == BERTH_OK) status = index_readers(&m);
    berth_rng_init(&rng, seed, WEIGHTS_STREAM);
    for (int i = 0; i < PATTERN && status == BERTH_OK; i++) m.noise[i] = (float)berth_rng_normal(&rng);
    if (status == BERTH_OK) status = make_all(&m, n_made);
    berth_map_deinit(&m.tensors);
    berth_arena_deinit(&m.arena);
    return status;
}
