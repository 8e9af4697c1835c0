/* SPDX-License-Identifier: Apache-2.0 */
/* Who runs placements for a search: each in a process of its own, once, a few runs; what is known is not run again, in
 * this search or, with `resume`, after it was killed. What fails, or computes other numbers than a single device does,
 * is masked: it has no time. */
#ifndef BERTH_PLACE_REFEREE_H
#define BERTH_PLACE_REFEREE_H

#include "base/map.h"
#include "base/vec.h"
#include "berth/plan.h"
#include "runtime/measure.h"
#include "runtime/model.h"

/* A placement that was run, or could not be. */
typedef struct berth_ruling {
    const char *device; /* [n_ops] number of the device of each operation */
    const char *by;     /* the method that wanted to know */
    double ms;          /* INFINITY: it could not be run, ... */
    const char *reason; /* ... and why; "" if it could */
    int32_t single;     /* the device that has all it can, as a stock session; -1: a split */
    bool asked;         /* by the search; else only run because it is a single device */
} berth_ruling;

typedef struct berth_referee {
    berth_ctx *ctx;
    berth_subject subject;
    int32_t n_ops;
    berth_trial_options how; /* of one evaluation */
    berth_run_model model;
    berth_arena arena, once; /* what stays; of one run */
    berth_map known;         /* from devices of operations to rulings */
    BERTH_VEC(berth_ruling) rulings;
    char *key;                 /* [n_ops] scratch */
    bool *has_run;             /* [n_devices] alone; ... */
    berth_trial_result *alone; /* ... and what it has computed; nothing else of it is there */
    berth_plan_runs tally;     /* what was done */
    int32_t n_in_vain;         /* splits that failed, one after another */
    bool split_ran;            /* at least one */
    double longest_seconds;    /* that a single device took, to load and run */
} berth_referee;

/* Runs are made as `run` says (inputs, weights, seed, precision), with those of one process as `least_runs`,
 * `most_runs` and `run_seconds` say. Free also after a failure. What berth_run_model_init() returns. */
berth_status berth_referee_init(berth_referee *referee, berth_ctx *ctx, const berth_subject *subject,
                                const berth_run_options *run);
void berth_referee_deinit(berth_referee *referee);

/* Everything that can be on device d is: device [n_ops]. It is run as a stock session, and whoever asks for this
 * placement gets that time. To be done before anything else: outputs of splits are compared with those of a device. */
berth_status berth_referee_run_single(berth_referee *referee, int32_t d, const int32_t *device);

/* For berth_runner. BERTH_E_LIMIT: so many splits failed one after another that there is no sense in trying more. */
berth_status berth_referee_run(void *referee, const int32_t *device, const char *by, double *ms, bool *known);

/* The fastest device alone of those that are allowed [n_devices], or of all (NULL); NULL: none runs. */
const berth_ruling *berth_referee_best_single(const berth_referee *referee, const bool *allowed);
/* The fastest splits that are faster than that one, if there is one, best first; their number. */
int32_t berth_referee_best_splits(const berth_referee *referee, const berth_ruling *single, const berth_ruling **out,
                                  int32_t most);
/* Why something could not be run, the last one; NULL: everything could. */
const char *berth_referee_reason(const berth_referee *referee);

#endif
