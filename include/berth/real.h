/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/real.h: the closed loop: profile a model on the devices of this machine, search, run what is best, and choose
 * by what was measured.
 */
#ifndef BERTH_REAL_H
#define BERTH_REAL_H

#include "berth/place.h"
#include "berth/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_real_options {
    berth_place_options place; /* its seconds are for everything; its profile, if set, is read or, if the file is not
                                  there yet, written */
    berth_profile_options profile; /* its run options are for all runs */
    double min_gain;               /* a split is chosen only if it surely gains more than this share */
    int32_t candidates;            /* placements that are run, at most */
    bool measured;                 /* evaluations of the search are real runs, not simulated ones; each is one process
                                      of so many runs: */
    int32_t least_runs, most_runs;
    double run_seconds; /* no more runs after so many seconds of them, but the least */
} berth_real_options;

/** Those of berth_place() and berth_profile_take() with 120 seconds; 3 %, 8 candidates; simulated evaluations, else 3
 * to 10 runs in a tenth of a second each. */
BERTH_API berth_real_options berth_real_options_default(void);

typedef struct berth_real_plan {
    berth_plan *plan;         /* the answer: a split, or everything on the best single device */
    berth_profile *profile;   /* NULL: it was read from a file */
    berth_measured *measured; /* of the best split, against every single device; NULL: no split was worth a run */
    bool is_split;
    const char *verdict; /* why, in one line */
    double predicted_ms; /* of the split that was measured */
    berth_device_set *devices;
} berth_real_plan;

/**
 * Place a model on real devices. Where no split surely gains `min_gain` over the fastest single device on fresh runs,
 * the answer is that device.
 *
 * With `measured`, every placement that the method compares is run, one process at a time, and its median is what the
 * method sees and learns from. Placements that differ only within what a runtime runs as one are one placement, and no
 * placement is run twice: what the search asks for again counts a sixteenth of an evaluation. What cannot be run
 * or computes other numbers is left out; methods that build or prove do so on the calibrated model, and their
 * placements are run. Every device alone is run first. The best splits are then run again, as without `measured`. With
 * the same seed, no limit of time and `resume` on a store that has all results the search is the same on any number of
 * threads. The cancel callback ends the search; since no split is then confirmed, the answer is the fastest single
 * device.
 * @param model    path of the file that the graph was read from, in a format that the runtime takes
 * @param devices  of the runtime, the cpu first
 * @return BERTH_OK; what berth_profile_take(), berth_place() and berth_measure() return
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_place_real(berth_ctx *ctx, berth_real_plan **out, berth_runtime *runtime,
                                                         const berth_graph *graph, const char *model,
                                                         const char *const *devices, int32_t n_devices,
                                                         const berth_real_options *options);
BERTH_API void berth_real_plan_free(berth_real_plan *real);

#ifdef __cplusplus
}
#endif
#endif
