/* SPDX-License-Identifier: Apache-2.0 */
/* What plans for several cases share. */
#ifndef BERTH_PLACE_CASES_H
#define BERTH_PLACE_CASES_H

#include "berth/cases.h"

/* Same operations in all, weights that are weights. */
berth_status berth_cases_check(berth_ctx *ctx, const berth_shape_case *cases, int32_t n);

/* Writes them into a plan: what it takes in each case, and what is best there. */
berth_status berth_cases_note(berth_ctx *ctx, berth_plan *plan, const berth_shape_case *cases, int32_t n,
                              const double *ms, const double *best_ms, bool measured);

#endif
