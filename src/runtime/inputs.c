/* SPDX-License-Identifier: Apache-2.0 */
/* Random tensors by type and use. */
#include "runtime/inputs.h"

#include "base/rng.h"
#include "runtime/npy.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { INPUTS_STREAM = 71, MOST_HOPS = 16 };

typedef struct maker {
    berth_ctx *ctx;
    berth_arena *arena;
    const berth_graph *graph;
    berth_rng rng;
} maker;

/* --- what an integer may be ------------------------------------------------------------------------------------- */

static bool is_one_of(const char *type, const char *const *types) {
    for (; *types; types++)
        if (strcmp(type, *types) == 0) return true;
    return false;
}

/* What a Gather selects from, or 0 if it is not known. */
static int64_t selected_from(const maker *m, const berth_op *op) {
    const berth_tensor *data = op->inputs[0] < 0 ? NULL : berth_graph_tensor(m->graph, op->inputs[0]);
    const berth_attribute *given = berth_op_attribute(op, "axis");
    int64_t axis = given && given->kind == BERTH_ATTRIBUTE_INTS && given->count == 1 ? given->ints[0] : 0;
    if (!data || data->shape.rank < 1) return 0;
    if (axis < 0) axis += data->shape.rank;
    if (axis < 0 || axis >= data->shape.rank) return 0;
    return data->shape.dims[axis].min == data->shape.dims[axis].max ? data->shape.dims[axis].min : 0;
}

/* The least number of things that an integer of this tensor selects from; INT64_MAX: it does not select. */
static int64_t limit_of(const maker *m, int32_t tensor, int hops) { /* NOLINT(misc-no-recursion) */
    static const char *const selects[] = {"Gather", "GatherElements", NULL};
    static const char *const passes[] = {"Cast",    "Identity", "Unsqueeze", "Squeeze", "Reshape",
                                         "Flatten", "Expand",   "Transpose", "Slice",   NULL};
    int64_t least = INT64_MAX;
    for (int32_t i = 0; i < berth_graph_op_count(m->graph) && hops < MOST_HOPS; i++) {
        const berth_op *op = berth_graph_op(m->graph, i);
        if (op->n_inputs > 1 && op->inputs[1] == tensor && is_one_of(op->type, selects)) {
            int64_t n = selected_from(m, op);
            if (n > 0 && n < least) least = n;
        }
        if (op->n_inputs < 1 || op->inputs[0] != tensor || op->n_outputs < 1 || op->outputs[0] < 0) continue;
        if (!is_one_of(op->type, passes)) continue;
        int64_t n = limit_of(m, op->outputs[0], hops + 1);
        if (n < least) least = n;
    }
    return least;
}

/* --- filling ---------------------------------------------------------------------------------------------------- */

static uint16_t to_half(double value) {
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* in [0.5, 1) */
    uint16_t sign = value < 0 ? 0x8000 : 0;
    if (fraction == 0 || exponent < -13) return sign; /* too small to matter here */
    return (uint16_t)(sign | (exponent + 14) << 10 | ((int)(fraction * 2048) & 1023));
}

static uint16_t to_brain(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static void put_float(char *at, berth_type type, int32_t width, double value) {
    float single = (float)value;
    uint16_t half = type == BERTH_TYPE_BF16 ? to_brain(single) : to_half(value);
    switch (width) {
    case 1: *at = (char)(type == BERTH_TYPE_F8 ? 0x30 : 0); break; /* 0.5 or so in all 8-bit floats */
    case 2: memcpy(at, &half, sizeof half); break;
    case 4: memcpy(at, &single, sizeof single); break;
    default: memcpy(at, &value, sizeof value);
    }
}

static void fill(maker *m, const berth_npy *tensor, char *data, berth_type type, int64_t limit) {
    bool is_float = tensor->kind == 'f' || tensor->kind == 'c' || type == BERTH_TYPE_BF16 || type == BERTH_TYPE_F8;
    int32_t width = tensor->kind == 'c' ? tensor->item_size / 2 : tensor->item_size;
    int64_t n = tensor->kind == 'c' ? 2 * tensor->count : tensor->count;
    uint32_t below = limit == INT64_MAX ? 2 : limit > 1 << 30 ? 1 << 30 : (uint32_t)limit;
    if (width == 1 && below > 127) below = 127;
    if (width == 2 && below > 32767) below = 32767;
    for (int64_t i = 0; i < n; i++) {
        char *at = data + (size_t)i * (size_t)width;
        if (is_float) {
            put_float(at, type, width, 2 * berth_rng_uniform(&m->rng) - 1);
        } else if (tensor->kind == 'S') {
            *at = (char)('a' + (int)berth_rng_below(&m->rng, 26));
        } else { /* little-endian */
            uint64_t value = berth_rng_below(&m->rng, tensor->kind == 'b' ? 2 : below);
            memcpy(at, &value, (size_t)width);
        }
    }
}

static berth_status make_one(maker *m, int32_t index, const char *path) {
    const berth_tensor *t = berth_graph_tensor(m->graph, index);
    berth_npy tensor = {.count = berth_shape_elements(&t->shape)};
    if (!berth_npy_type(t->type, &tensor.kind, &tensor.item_size))
        return berth_fail(m->ctx, BERTH_E_UNSUPPORTED,
                          "the input '%.200s' is of type %s, for which no numbers can be made", t->name,
                          berth_type_name(t->type));
    if (tensor.count < 0 || t->shape.rank > BERTH_NPY_RANK)
        return berth_fail(m->ctx, BERTH_E_ARG,
                          "the input '%.200s' has open dimensions: give them, as in --shape %.200s=1x3", t->name,
                          t->name);
    tensor.rank = t->shape.rank;
    for (int32_t i = 0; i < tensor.rank; i++) tensor.dims[i] = t->shape.dims[i].min;
    tensor.size = (size_t)tensor.count * (size_t)tensor.item_size;
    char *data = berth_resize(berth_ctx_allocator(m->ctx), NULL, 0, tensor.size + 1, 1);
    if (!data) return berth_fail_nomem(m->ctx);
    tensor.data = data;
    fill(m, &tensor, data, t->type, limit_of(m, index, 0));
    berth_status status = berth_npy_write(m->ctx, path, &tensor);
    berth_resize(berth_ctx_allocator(m->ctx), data, tensor.size + 1, 0, 1);
    return status;
}

/* The user's file must fit the input. */
static berth_status check_given(const maker *m, int32_t index, const char *path) {
    const berth_tensor *t = berth_graph_tensor(m->graph, index);
    berth_npy tensor;
    char kind = 0;
    int32_t item_size = 0;
    berth_mark mark = berth_arena_mark(m->arena);
    berth_status status = berth_npy_read(m->ctx, m->arena, path, &tensor);
    berth_arena_release(m->arena, mark);
    BERTH_TRY(status);
    if (!berth_npy_type(t->type, &kind, &item_size) || kind != tensor.kind ||
        (kind != 'S' && item_size != tensor.item_size))
        return berth_fail(m->ctx, BERTH_E_ARG, "%.400s: the input '%.200s' is of type %s", path, t->name,
                          berth_type_name(t->type));
    bool fits = t->shape.rank < 0 || t->shape.rank == tensor.rank;
    for (int32_t i = 0; i < tensor.rank && fits && t->shape.rank >= 0; i++)
        fits = tensor.dims[i] >= t->shape.dims[i].min && tensor.dims[i] <= t->shape.dims[i].max;
    if (!fits) return berth_fail(m->ctx, BERTH_E_ARG, "%.400s: the input '%.200s' has another shape", path, t->name);
    return BERTH_OK;
}

static berth_status check_names(const maker *m, const berth_input_file *given, int32_t n_given) {
    int32_t n = 0;
    const int32_t *inputs = berth_graph_inputs(m->graph, &n);
    for (int32_t k = 0; k < n_given; k++) {
        bool found = false;
        for (int32_t i = 0; i < n && !found; i++)
            found = strcmp(berth_graph_tensor(m->graph, inputs[i])->name, given[k].name) == 0;
        if (!found) return berth_fail(m->ctx, BERTH_E_ARG, "the model has no input '%.200s'", given[k].name);
    }
    return BERTH_OK;
}

berth_status berth_inputs_make(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph, const char *folder,
                               const berth_input_file *given, int32_t n_given, uint64_t seed,
                               const berth_job_file **out, int32_t *n) {
    maker m = {.ctx = ctx, .arena = arena, .graph = graph};
    const int32_t *inputs = berth_graph_inputs(graph, n);
    berth_job_file *files = berth_arena_push(arena, (size_t)*n, sizeof *files);
    if (!files) return berth_fail_nomem(ctx);
    BERTH_TRY(check_names(&m, given, n_given));
    for (int32_t i = 0; i < *n; i++) {
        files[i].name = berth_graph_tensor(graph, inputs[i])->name;
        for (int32_t k = 0; k < n_given; k++)
            if (strcmp(given[k].name, files[i].name) == 0) files[i].file = given[k].file;
        berth_rng_init(&m.rng, seed, INPUTS_STREAM + (uint64_t)i);
        if (files[i].file) {
            BERTH_TRY(check_given(&m, inputs[i], files[i].file));
            continue;
        }
        files[i].file = berth_arena_printf(arena, "%s/input%" PRId32 ".npy", folder, i);
        if (!files[i].file) return berth_fail_nomem(ctx);
        BERTH_TRY(make_one(&m, inputs[i], files[i].file));
    }
    *out = files;
    return BERTH_OK;
}
