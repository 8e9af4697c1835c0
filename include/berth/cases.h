/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/cases.h: one plan for a model that is used with several shapes of its inputs, and what it loses at each of
 * them.
 */
#ifndef BERTH_CASES_H
#define BERTH_CASES_H

#include "berth/real.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A set of shapes, and how much it counts. */
typedef struct berth_shape_case {
    const berth_graph *graph; /* the model, read with these shapes */
    const berth_shape_binding *shapes;
    int32_t n_shapes;
    double weight; /* above 0 and up to 1e100, in any unit */
} berth_shape_case;

/**
 * The plan with the least weighted mean of what it takes in each case, found from the best plans for each case alone by
 * moving what is fused together. It is a plan for the first case; its `cases` say what it takes and loses in all of
 * them. Orders are the execution model's own. Graphs and devices are borrowed and must outlive the plan.
 *
 * @param options  as for berth_place(), without a profile, which is of one shape; its shapes are ignored
 * @return BERTH_OK; BERTH_E_ARG (no cases, other operations in one of them, a weight that is none, a profile); what
 *         berth_place() returns
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_place_cases(berth_ctx *ctx, berth_plan **out,
                                                          const berth_shape_case *cases, int32_t n,
                                                          const berth_device_set *devices,
                                                          const berth_place_options *options);

/**
 * The same on real devices: the closed loop for each case alone, then every split that it found in every case. The
 * answer is the split with the least weighted mean if, with 95 % confidence in each case, it gains `min_gain` over the
 * fastest single devices in the mean; else the single device that is best in the mean. `measured` of the result is of
 * the first case.
 * @param options  a profile of its place options is of the first case; others get ".2", ".3", ... behind it
 * @return BERTH_OK; BERTH_E_ARG as above; what berth_place_real() returns
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_place_real_cases(berth_ctx *ctx, berth_real_plan **out,
                                                               berth_runtime *runtime, const berth_shape_case *cases,
                                                               int32_t n, const char *model, const char *const *devices,
                                                               int32_t n_devices, const berth_real_options *options);

#ifdef __cplusplus
}
#endif
#endif
