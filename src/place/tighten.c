/* SPDX-License-Identifier: Apache-2.0 */
/* The peak of the plan that failed, less a fifth, as one more rule. */
#include "place/tighten.h"

#include <math.h>
#include <string.h>

static const double share = 0.8; /* of what was too much */

berth_status berth_tighten(berth_ctx *ctx, berth_arena *arena, const berth_plan *plan, const berth_graph *graph,
                           int32_t d, const char *name, const berth_limits *before, berth_limits *limits,
                           double *bytes) {
    berth_timeline *timeline = NULL;
    int32_t n = before ? before->n_memory : 0, at = 0;
    berth_memory_rule *rules = berth_arena_push(arena, (size_t)n + 1, sizeof *rules);
    if (!rules) return berth_fail_nomem(ctx);
    *limits = before ? *before : (berth_limits){0};
    BERTH_TRY(berth_plan_simulate(ctx, &timeline, plan, graph, plan->profile, false));
    *bytes = share * timeline->memory_peak_bytes[d];
    berth_timeline_free(timeline);
    if (n > 0) memcpy(rules, before->memory, (size_t)n * sizeof *rules);
    while (at < n && strcmp(rules[at].device, name) != 0) at++;
    if (at < n) *bytes = fmin(*bytes, rules[at].bytes);
    rules[at] = (berth_memory_rule){.device = name, .bytes = *bytes};
    limits->memory = rules;
    limits->n_memory = at < n ? n : n + 1;
    return BERTH_OK;
}
