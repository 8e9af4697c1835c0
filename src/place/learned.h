/* SPDX-License-Identifier: Apache-2.0 */
/* What a learned method is told in berth_place(): settings and a policy, from options. */
#ifndef BERTH_PLACE_LEARNED_H
#define BERTH_PLACE_LEARNED_H

#include "berth/place.h"
#include "learn/learn.h"
#include "place/methods.h"
#include "plan/plan.h"

typedef struct berth_learned {
    const berth_method *method; /* the one that learns: that of the options, or the portfolio's; NULL: none */
    berth_settings settings;
    berth_policy *policy; /* owned; NULL: none */
    char policy_sha256[65];
    berth_learn learn; /* what goes to the crew */
} berth_learned;

/* BERTH_E_ARG: a setting that the method does not have, or any for a method that does not learn; a policy of another
 * method. What berth_policy_load returns. Free in any case. */
berth_status berth_learned_init(berth_ctx *ctx, berth_learned *out, const berth_method *method,
                                const berth_place_options *options);
void berth_learned_deinit(berth_learned *learned);

/* Writes settings and policy into the plan, and into the log. */
berth_status berth_learned_store(berth_ctx *ctx, const berth_learned *learned, berth_plan_draft *draft);

#endif
