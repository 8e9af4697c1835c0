/* SPDX-License-Identifier: Apache-2.0 */
/* A plan in the making, for those who fill one in: berth_place() and the reader. */
#ifndef BERTH_PLAN_PLAN_H
#define BERTH_PLAN_PLAN_H

#include "base/arena.h"
#include "berth/plan.h"

typedef struct berth_plan_draft {
    berth_plan plan; /* what the caller sees; first, so that its address is the draft's */
    berth_arena arena;
    berth_plan_op *ops;        /* the same rows as plan.ops, to be written */
    berth_device_set *devices; /* owned; NULL where they are borrowed */
} berth_plan_draft;

berth_status berth_plan_draft_new(berth_ctx *ctx, berth_plan_draft **out);

/* Fill in what follows from the model and its devices, which are borrowed: names, inputs, operations (devices 0). */
berth_status berth_plan_take_model(berth_ctx *ctx, berth_plan_draft *draft, const berth_graph *graph,
                                   const berth_device_set *devices);
/* A copy of the limits in the plan's arena. */
berth_status berth_plan_take_limits(berth_ctx *ctx, berth_plan_draft *draft, const berth_limits *limits);
/* A copy of bindings, in the plan's arena. */
berth_status berth_plan_copy_shapes(berth_ctx *ctx, berth_plan_draft *draft, const berth_shape_binding *shapes,
                                    int32_t n, const berth_shape_binding **out);
/* A copy of the bindings that the model was read with. */
berth_status berth_plan_take_shapes(berth_ctx *ctx, berth_plan_draft *draft, const berth_shape_binding *shapes,
                                    int32_t n);
/* The path and the digest of the profile; NULL: none. */
berth_status berth_plan_take_profile(berth_ctx *ctx, berth_plan_draft *draft, const char *path);

/* Operations that run; all others follow those that need or feed them. */
static inline bool berth_op_runs(const berth_op *op) {
    return !(op->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT));
}
/* SHA-256 of a file in hexadecimal. */
berth_status berth_plan_digest(berth_ctx *ctx, const char *path, char text[65]);

#endif
