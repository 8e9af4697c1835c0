/* SPDX-License-Identifier: Apache-2.0 */
/* Less memory, after a run that had too little. */
#ifndef BERTH_PLACE_TIGHTEN_H
#define BERTH_PLACE_TIGHTEN_H

#include "base/arena.h"
#include "berth/plan.h"

/* A plan was run and the memory of device d did not suffice. What runtimes take for themselves is not in the model, so
 * that how much there really is stays unknown; but what the model says this plan needs there is too much, by the
 * model's own measure. The capacity of d, called `name`, becomes four fifths of that: enough less for another
 * placement, little enough not to give up what fits. *limits, with what `before` (or NULL) has, in the arena; *bytes:
 * the new capacity. BERTH_OK; what berth_plan_simulate() returns */
berth_status berth_tighten(berth_ctx *ctx, berth_arena *arena, const berth_plan *plan, const berth_graph *graph,
                           int32_t d, const char *name, const berth_limits *before, berth_limits *limits,
                           double *bytes);

#endif
