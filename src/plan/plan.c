/* SPDX-License-Identifier: Apache-2.0 */
/* The plan itself: its life, and what it takes over from a model, its devices and the user. */
#include "plan/plan.h"

#include "base/file.h"
#include "base/sha256.h"

#include <string.h>

enum { MAX_PROFILE_BYTES = 1 << 30 };

berth_status berth_plan_draft_new(berth_ctx *ctx, berth_plan_draft **out) {
    berth_arena arena;
    *out = NULL;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_plan_draft *draft = berth_arena_push(&arena, 1, sizeof *draft);
    if (!draft) {
        berth_arena_deinit(&arena);
        return berth_fail_nomem(ctx);
    }
    draft->arena = arena; /* the draft lies in its own arena */
    draft->plan.version = berth_version();
    *out = draft;
    return BERTH_OK;
}

void berth_plan_free(berth_plan *plan) {
    if (!plan) return;
    berth_plan_draft *draft = (berth_plan_draft *)plan;
    berth_arena arena = draft->arena;
    berth_device_set_free(draft->devices);
    berth_arena_deinit(&arena);
}

/* --- the model -------------------------------------------------------------------------------------------------- */

/* Inputs of an IR may be known by their layer alone. */
static const char *tensor_name(const berth_graph *graph, const berth_tensor *tensor) {
    if (*tensor->name || tensor->producer < 0) return tensor->name;
    return berth_graph_op(graph, tensor->producer)->name;
}

static bool take_inputs(berth_plan_draft *draft, const berth_graph *graph) {
    int32_t n = 0;
    const int32_t *tensors = berth_graph_inputs(graph, &n);
    berth_plan_input *inputs = berth_arena_push(&draft->arena, (size_t)n, sizeof *inputs);
    if (!inputs) return false;
    for (int32_t i = 0; i < n; i++) {
        const berth_tensor *tensor = berth_graph_tensor(graph, tensors[i]);
        int32_t rank = tensor->shape.rank;
        int64_t *dims = berth_arena_push(&draft->arena, rank > 0 ? (size_t)rank : 0, sizeof *dims);
        if (!dims) return false;
        for (int32_t k = 0; k < rank; k++) {
            const berth_dim *dim = &tensor->shape.dims[k];
            dims[k] = dim->min == dim->max ? dim->min : -1;
        }
        inputs[i] = (berth_plan_input){tensor_name(graph, tensor), berth_type_name(tensor->type), rank, dims};
    }
    draft->plan.n_inputs = n;
    draft->plan.inputs = inputs;
    return true;
}

berth_status berth_plan_take_model(berth_ctx *ctx, berth_plan_draft *draft, const berth_graph *graph,
                                   const berth_device_set *devices) {
    berth_plan *plan = &draft->plan;
    plan->model_name = berth_graph_name(graph);
    plan->model_format = berth_format_name(berth_graph_format(graph));
    plan->fingerprint = berth_graph_fingerprint(graph);
    plan->costs = berth_graph_given_costs(graph) ? "given" : "estimated";
    plan->n_ops = berth_graph_op_count(graph);
    plan->n_devices = devices->n_devices;
    plan->devices = devices;
    const char **names = berth_arena_push(&draft->arena, (size_t)devices->n_devices, sizeof *names);
    berth_plan_op *ops = berth_arena_push(&draft->arena, (size_t)plan->n_ops, sizeof *ops);
    if (!names || !ops || !take_inputs(draft, graph)) return berth_fail_nomem(ctx);
    for (int32_t d = 0; d < devices->n_devices; d++) names[d] = devices->devices[d].name;
    for (int32_t i = 0; i < plan->n_ops; i++) {
        const berth_op *op = berth_graph_op(graph, i);
        ops[i] = (berth_plan_op){.name = op->name, .type = op->type};
    }
    plan->device_names = names;
    plan->ops = draft->ops = ops;
    return BERTH_OK;
}

/* --- the user's wishes ------------------------------------------------------------------------------------------ */

static const char *copy_text(berth_arena *arena, const char *text) {
    return text ? berth_arena_string(arena, text, strlen(text)) : NULL;
}

static const berth_rule *copy_rules(berth_arena *arena, const berth_rule *rules, int32_t n) {
    berth_rule *copy = berth_arena_push(arena, (size_t)n, sizeof *copy);
    for (int32_t i = 0; copy && i < n; i++)
        copy[i] = (berth_rule){copy_text(arena, rules[i].pattern), copy_text(arena, rules[i].device)};
    return copy;
}

berth_status berth_plan_take_limits(berth_ctx *ctx, berth_plan_draft *draft, const berth_limits *limits) {
    if (!limits) return BERTH_OK;
    berth_arena *arena = &draft->arena;
    berth_memory_rule *memory = berth_arena_push(arena, (size_t)limits->n_memory, sizeof *memory);
    for (int32_t i = 0; memory && i < limits->n_memory; i++)
        memory[i] = (berth_memory_rule){copy_text(arena, limits->memory[i].device), limits->memory[i].bytes};
    draft->plan.limits = *limits;
    draft->plan.limits.memory = memory;
    draft->plan.limits.pins = copy_rules(arena, limits->pins, limits->n_pins);
    draft->plan.limits.bans = copy_rules(arena, limits->bans, limits->n_bans);
    draft->plan.limits.together = copy_rules(arena, limits->together, limits->n_together);
    draft->plan.limits.io = copy_rules(arena, limits->io, limits->n_io);
    return arena->failed ? berth_fail_nomem(ctx) : BERTH_OK;
}

berth_status berth_plan_copy_shapes(berth_ctx *ctx, berth_plan_draft *draft, const berth_shape_binding *shapes,
                                    int32_t n, const berth_shape_binding **out) {
    berth_shape_binding *copy = berth_arena_push(&draft->arena, (size_t)n, sizeof *copy);
    for (int32_t i = 0; copy && i < n; i++)
        copy[i] = (berth_shape_binding){
            .input = copy_text(&draft->arena, shapes[i].input),
            .rank = shapes[i].rank,
            .dims = berth_arena_copy(&draft->arena, shapes[i].dims, (size_t)shapes[i].rank, sizeof *shapes[i].dims),
        };
    *out = copy;
    return draft->arena.failed ? berth_fail_nomem(ctx) : BERTH_OK;
}

berth_status berth_plan_take_shapes(berth_ctx *ctx, berth_plan_draft *draft, const berth_shape_binding *shapes,
                                    int32_t n) {
    draft->plan.n_shapes = n;
    return berth_plan_copy_shapes(ctx, draft, shapes, n, &draft->plan.shapes);
}

berth_status berth_plan_digest(berth_ctx *ctx, const char *path, char text[65]) {
    berth_arena scratch;
    berth_sha256 sha;
    unsigned char digest[BERTH_SHA256_SIZE];
    const char *bytes = NULL;
    size_t size = 0;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_status status = berth_file_read(ctx, &scratch, path, MAX_PROFILE_BYTES, &bytes, &size);
    berth_sha256_init(&sha);
    if (status == BERTH_OK) berth_sha256_update(&sha, bytes, size);
    berth_sha256_finish(&sha, digest);
    berth_sha256_hex(digest, text);
    berth_arena_deinit(&scratch);
    return status;
}

berth_status berth_plan_take_profile(berth_ctx *ctx, berth_plan_draft *draft, const char *path) {
    char digest[65];
    if (!path) return BERTH_OK;
    BERTH_TRY(berth_plan_digest(ctx, path, digest));
    draft->plan.costs = "profile";
    draft->plan.profile = copy_text(&draft->arena, path);
    draft->plan.profile_sha256 = copy_text(&draft->arena, digest);
    return draft->arena.failed ? berth_fail_nomem(ctx) : BERTH_OK;
}
