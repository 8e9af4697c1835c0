/* SPDX-License-Identifier: Apache-2.0 */
/* berth_measure() for several placements at once, and what outputs are compared with. */
#ifndef BERTH_RUNTIME_MEASURE_H
#define BERTH_RUNTIME_MEASURE_H

#include "runtime/runtime.h"

/* What is to be run: a model as a graph and as a file, on devices. */
typedef struct berth_subject {
    berth_runtime *runtime;
    const berth_graph *graph;
    const char *model;
    const char *const *devices;
    int32_t n_devices;
    bool native_precision; /* devices may compute in a narrower type than the model's */
} berth_subject;

/* All placements and every single device take turns in the same rounds; `out` [n] gets what berth_measure() would say
 * of each, with single devices as all share them. Where time ends in the first round, the first placement and single
 * devices have had their turn; those after it may not have been run. `rivals` [n_devices]: single devices that are to
 * be compared with; the others run once, for their outputs. NULL: all are. `look`: also where operations ran, of each.
 * What berth_measure() returns. */
berth_status berth_measure_many(berth_ctx *ctx, berth_measured **out, const berth_subject *subject,
                                const berth_placement *const *placements, int32_t n, const berth_run_options *options,
                                const bool *rivals, bool look);

/* Whose outputs others are compared with: the CPU's, because it computes as the model says, unless it was told
 * otherwise; else those of `fastest`. Only devices that have run. */
int32_t berth_measure_reference(const berth_subject *subject, const bool *has_run, int32_t fastest);
/* The narrowest type that any of the devices was told to compute in; BERTH_TYPE_UNKNOWN: none was. *device: one of
 * those that have run; -1: none has. */
berth_type berth_measure_precision(const berth_subject *subject, const bool *has_run, int32_t *device);

#endif
