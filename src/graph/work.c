/* SPDX-License-Identifier: Apache-2.0 */
/* Work: one pass over the operations for FLOPs and bytes, one over the tensors for the totals. Sums of bytes stop at
 * the largest number instead of overflowing: a file may declare any number of huge tensors. */
#include "berth/work.h"

#include "base/map.h"
#include "base/sort.h"
#include "graph/kind.h"

#include <math.h>
#include <string.h>

typedef struct holder {
    berth_work work; /* what the caller sees; first, so that its address is the holder's */
    berth_arena arena;
} holder;

typedef struct worker {
    berth_ctx *ctx;
    const berth_graph *graph;
    berth_work *work;
    berth_op_work *ops;
    berth_arena *arena, scratch;
    const berth_kind **kinds; /* [n_ops] */
    int32_t *reader;          /* [n_tensors] the operation that counted a tensor last, plus one */
} worker;

const char *berth_work_class_name(berth_work_class cls) {
    switch (cls) {
    case BERTH_WORK_FREE: return "free";
    case BERTH_WORK_CONV: return "conv";
    case BERTH_WORK_DEPTHWISE: return "depthwise";
    case BERTH_WORK_MATMUL: return "matmul";
    case BERTH_WORK_POOL: return "pool";
    case BERTH_WORK_REDUCE: return "reduce";
    case BERTH_WORK_ELEMENTWISE: return "elementwise";
    case BERTH_WORK_MOVE: return "move";
    case BERTH_WORK_CONTROL: return "control";
    case BERTH_WORK_OTHER:
    case BERTH_WORK_CLASS_COUNT: break;
    }
    return "other";
}

static void add_bytes(int64_t *sum, int64_t bytes) {
    if (bytes > 0 && __builtin_add_overflow(*sum, bytes, sum)) *sum = INT64_MAX;
}

static bool is_stored(const berth_tensor *tensor) {
    return (tensor->flags & BERTH_TENSOR_INITIALIZER) || tensor->content || tensor->payload_bytes > 0;
}

static bool is_float(berth_type type) {
    switch (type) {
    case BERTH_TYPE_F32:
    case BERTH_TYPE_F64:
    case BERTH_TYPE_F16:
    case BERTH_TYPE_BF16:
    case BERTH_TYPE_F8:
    case BERTH_TYPE_F4:
    case BERTH_TYPE_NF4:
    case BERTH_TYPE_C64:
    case BERTH_TYPE_C128: return true;
    default: return false;
    }
}

static bool is_integer(berth_type type) {
    return type >= BERTH_TYPE_I64 && type <= BERTH_TYPE_U1;
}

static berth_work_class classify(const berth_graph *graph, const berth_op *op, const berth_kind *kind) {
    if (op->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT)) return BERTH_WORK_FREE;
    if (op->n_bodies > 0) return BERTH_WORK_CONTROL;
    if (!kind) return BERTH_WORK_OTHER;
    if (kind->cls == BERTH_WORK_CONV && berth_flops_is_depthwise(graph, op, kind->flops)) return BERTH_WORK_DEPTHWISE;
    return kind->cls;
}

/* A tensor that an operation reads at several ports is read once. */
static void count_bytes(worker *w, int32_t index) {
    const berth_op *op = &w->graph->ops[index];
    berth_op_work *out = &w->ops[index];
    for (int32_t i = 0; i < op->n_inputs + op->n_captures; i++) {
        int32_t t = op->inputs[i];
        if (t < 0 || w->reader[t] == index + 1) continue;
        w->reader[t] = index + 1;
        const berth_tensor *tensor = &w->graph->tensors[t];
        add_bytes(tensor->flags & BERTH_TENSOR_CONSTANT ? &out->parameter_bytes : &out->input_bytes, tensor->bytes);
    }
    add_bytes(&out->parameter_bytes, op->blob_bytes);
    for (int32_t i = 0; i < op->n_outputs; i++)
        if (op->outputs[i] >= 0) add_bytes(&out->output_bytes, w->graph->tensors[op->outputs[i]].bytes);
}

static void count_op(worker *w, int32_t index) {
    const berth_op *op = &w->graph->ops[index];
    const berth_kind *kind = berth_kind_find(w->graph, op);
    berth_op_work *out = &w->ops[index];
    w->kinds[index] = kind;
    out->cls = classify(w->graph, op, kind);
    out->known = true;
    if (op->flags & BERTH_OP_CONSTANT) return;
    count_bytes(w, index);
    if (out->cls == BERTH_WORK_FREE) return;
    double flops = kind && op->n_bodies == 0 ? kind->flops(w->graph, op, kind->parameter) : NAN;
    out->known = isfinite(flops) && flops >= 0;
    if (out->known) out->flops = flops;
    w->work->flops += out->flops;
}

/* Mark the constants that a product reads as data, then what those are computed from. A shape or a list of axes on the
 * way is no data, nor is a zero point. */
static void mark_weights(worker *w, bool *weight) {
    const berth_graph *graph = w->graph;
    for (int32_t i = graph->n_ops - 1; i >= 0; i--) {
        const berth_op *op = &graph->ops[graph->order[i]];
        const berth_kind *kind = w->kinds[graph->order[i]];
        bool passes = kind && (kind->cls == BERTH_WORK_CONV || kind->cls == BERTH_WORK_MATMUL);
        if (op->flags & BERTH_OP_CONSTANT) {
            passes = false;
            for (int32_t k = 0; k < op->n_outputs; k++) passes |= op->outputs[k] >= 0 && weight[op->outputs[k]];
        }
        if (!passes) continue;
        bool first_only = kind && (kind->traits & BERTH_KIND_DEQUANTIZE);
        for (int32_t k = 0; k < op->n_inputs; k++) {
            bool is_shape = kind && k < 32 && (kind->shape_ports >> k & 1);
            if (op->inputs[k] >= 0 && !is_shape && !(first_only && k > 0)) weight[op->inputs[k]] = true;
        }
    }
}

static void count_blob(worker *w, const berth_op *op) {
    if (op->blob_bytes <= 0) return;
    add_bytes(&w->work->parameter_bytes, op->blob_bytes);
    berth_type type =
        op->n_outputs > 0 && op->outputs[0] >= 0 ? w->graph->tensors[op->outputs[0]].type : BERTH_TYPE_UNKNOWN;
    if (!is_float(type)) return;
    int64_t bits = berth_type_bits(type);
    add_bytes(&w->work->parameters, op->blob_bytes / bits * 8 + op->blob_bytes % bits * 8 / bits);
}

static bool count_tensors(worker *w) {
    const berth_graph *graph = w->graph;
    bool *weight = berth_arena_push(&w->scratch, (size_t)graph->n_tensors, sizeof *weight);
    if (!weight) return false;
    mark_weights(w, weight);
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        const berth_tensor *tensor = &graph->tensors[t];
        bool yielded = tensor->producer >= 0 || (tensor->flags & BERTH_TENSOR_INPUT);
        if (yielded && !graph->given && tensor->type != BERTH_TYPE_OTHER && !berth_shape_is_static(&tensor->shape))
            w->work->unknown_shapes++;
        if (!(tensor->flags & BERTH_TENSOR_CONSTANT)) add_bytes(&w->work->activation_bytes, tensor->bytes);
        if (!is_stored(tensor)) continue;
        add_bytes(&w->work->parameter_bytes, tensor->bytes >= 0 ? tensor->bytes : tensor->payload_bytes);
        int64_t elements = berth_shape_elements(&tensor->shape);
        if (is_float(tensor->type) || (is_integer(tensor->type) && weight[t] && elements > 1))
            add_bytes(&w->work->parameters, elements);
    }
    for (int32_t op = 0; op < graph->n_ops; op++) count_blob(w, &graph->ops[op]);
    return true;
}

static bool comes_before(const void *ops, int32_t a, int32_t b) {
    return strcmp(((const berth_op *)ops)[a].type, ((const berth_op *)ops)[b].type) < 0;
}

/* The first operation of each type that has no row. Workloads bring their own times, and types that mean nothing. */
static bool list_unknown_types(worker *w, berth_map *seen) {
    const berth_graph *graph = w->graph;
    size_t n = 0;
    int32_t *first = berth_arena_push(&w->scratch, (size_t)graph->n_ops, sizeof *first);
    if (!first) return false;
    for (int32_t op = 0; op < graph->n_ops && !graph->given; op++) {
        if (w->kinds[op]) continue;
        bool inserted = false;
        if (!berth_map_insert(seen, graph->ops[op].type, strlen(graph->ops[op].type), op, &inserted)) return false;
        if (inserted) first[n++] = op;
    }
    berth_sort(first, n, comes_before, graph->ops);
    const char **names = berth_arena_push(w->arena, n, sizeof *names);
    if (!names) return false;
    for (size_t i = 0; i < n; i++) {
        const char *type = graph->ops[first[i]].type;
        names[i] = berth_arena_string(w->arena, type, strlen(type)); /* the work may outlive the graph */
    }
    w->work->unknown_types = names;
    w->work->n_unknown_types = (int32_t)n;
    return !w->arena->failed;
}

static bool compute(worker *w) {
    size_t n_ops = (size_t)w->graph->n_ops;
    w->ops = berth_arena_push(w->arena, n_ops, sizeof *w->ops);
    w->kinds = berth_arena_push(&w->scratch, n_ops, sizeof *w->kinds);
    w->reader = berth_arena_push(&w->scratch, (size_t)w->graph->n_tensors, sizeof *w->reader);
    if (!w->ops || !w->kinds || !w->reader) return false;
    w->work->n_ops = w->graph->n_ops;
    w->work->ops = w->ops;
    for (int32_t op = 0; op < w->graph->n_ops; op++) count_op(w, op);
    berth_map seen;
    berth_map_init(&seen, w->ctx);
    bool done = count_tensors(w) && list_unknown_types(w, &seen);
    berth_map_deinit(&seen);
    return done;
}

berth_status berth_work_compute(berth_ctx *ctx, berth_work **out, const berth_graph *graph) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    holder *made = berth_resize(allocator, NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, allocator);
    worker w = {.ctx = ctx, .graph = graph, .work = &made->work, .arena = &made->arena};
    berth_arena_init(&w.scratch, allocator);
    bool done = compute(&w);
    berth_arena_deinit(&w.scratch);
    if (!done) {
        berth_work_free(&made->work);
        return berth_fail_nomem(ctx);
    }
    *out = &made->work;
    return BERTH_OK;
}

void berth_work_free(berth_work *work) {
    if (!work) return;
    holder *made = (holder *)work;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
