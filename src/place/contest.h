/* SPDX-License-Identifier: Apache-2.0 */
/* A search whose evaluations are real runs: single devices first, then whatever the method asks for. */
#ifndef BERTH_PLACE_CONTEST_H
#define BERTH_PLACE_CONTEST_H

#include "berth/real.h"
#include "place/referee.h"

enum { BERTH_CONTEST_SPLITS = 8 };

typedef struct berth_contest {
    berth_referee referee;
    berth_plan *plan; /* of the search: what it did. Its placement is the best by one process each */
    const berth_ruling *splits[BERTH_CONTEST_SPLITS]; /* the best, if faster than the device below */
    int32_t n_splits;
    const berth_ruling *single; /* the best device that may be the answer alone; NULL: none runs */
} berth_contest;

/* What is to be searched: the graph of the model file, on devices with a profile that the options name. */
typedef struct berth_contest_job {
    berth_subject subject;
    const berth_device_set *set;
    const berth_place_options *place;
    const berth_real_options *real;
    const int32_t *const *starts; /* [n_starts][n_ops] */
    int32_t n_starts;
    const bool *allowed; /* [n_devices] may be the answer alone */
} berth_contest_job;

/* Free in any case.
 * BERTH_OK; BERTH_E_UNSUPPORTED (neither a device alone nor a split could be run); what berth_place(),
 * berth_costs_new() and berth_run_model_init() return */
berth_status berth_contest_run(berth_ctx *ctx, berth_contest *contest, const berth_contest_job *job);
void berth_contest_free(berth_contest *contest);

#endif
