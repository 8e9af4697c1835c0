/* SPDX-License-Identifier: Apache-2.0 */
/* A placement: arrays of its own, one entry per operation. */
#include "base/ctx.h"
#include "berth/device.h"

typedef struct holder {
    berth_placement placement; /* first, so that its address is the holder's */
    berth_allocator allocator;
} holder;

berth_status berth_placement_new(berth_ctx *ctx, berth_placement **out, int32_t n_ops, bool with_priority) {
    *out = NULL;
    if (n_ops < 0) return berth_fail(ctx, BERTH_E_ARG, "a placement cannot have %d operations", (int)n_ops);
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    holder *made = berth_resize(allocator, NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_placement *placement = &made->placement;
    size_t room = (size_t)n_ops + 1; /* an empty array is one too, not NULL */
    made->allocator = *allocator;
    placement->n_ops = n_ops;
    placement->device = berth_resize(allocator, NULL, 0, room, sizeof *placement->device);
    if (with_priority) placement->priority = berth_resize(allocator, NULL, 0, room, sizeof *placement->priority);
    if (!placement->device || (with_priority && !placement->priority)) {
        berth_placement_free(placement);
        return berth_fail_nomem(ctx);
    }
    *out = placement;
    return BERTH_OK;
}

void berth_placement_free(berth_placement *placement) {
    if (!placement) return;
    holder *made = (holder *)placement;
    berth_allocator allocator = made->allocator;
    size_t room = (size_t)placement->n_ops + 1;
    berth_resize(&allocator, placement->device, room, 0, sizeof *placement->device);
    berth_resize(&allocator, placement->priority, room, 0, sizeof *placement->priority);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
