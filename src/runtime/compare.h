/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two runs gave the same outputs. */
#ifndef BERTH_RUNTIME_COMPARE_H
#define BERTH_RUNTIME_COMPARE_H

#include "berth/runtime.h"
#include "runtime/npy.h"

/* What is allowed besides the tolerance of the elements' own type. */
typedef struct berth_leeway {
    berth_type computed; /* the tolerance of a narrower type that was computed in; BERTH_TYPE_UNKNOWN: none was */
    double slack;        /* every element may be off by so much */
} berth_leeway;

/* The widest difference of one tensor to a reference is taken into `difference`, which starts as
 * berth_difference_none(). Integers, booleans and strings must be equal; floats within a tolerance of their type: |a -
 * b| <= rel |b| + abs, with abs relative to the largest |b| of the tensor, because values near zero carry the noise of
 * the large ones they were summed from. An infinity equals itself. A NaN is right exactly where the reference has one,
 * which is then the model's own doing, and a difference on one side alone; where the reference has nothing else there
 * is nothing to compare, which a warning says. `type` is the element type where the file cannot say (bfloat16). */
berth_status berth_compare(berth_ctx *ctx, const char *name, const berth_npy *tensor, const berth_npy *reference,
                           berth_type type, berth_leeway leeway, berth_difference *difference);

#endif
