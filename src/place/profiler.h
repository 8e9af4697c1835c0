/* SPDX-License-Identifier: Apache-2.0 */
/* A profile while it is taken (profile.c), and the numbers that make its times agree with whole runs (profile_fit.c).
 */
#ifndef BERTH_PLACE_PROFILER_H
#define BERTH_PLACE_PROFILER_H

#include "base/arena.h"
#include "berth/profile.h"
#include "device/set.h"
#include "place/calibrate.h"
#include "runtime/model.h"

typedef struct berth_profiler_out { /* what is handed out, with its memory */
    berth_profile profile;
    berth_arena arena;
} berth_profiler_out;

typedef struct berth_profiler {
    berth_ctx *ctx;
    berth_runtime *runtime;
    const berth_graph *graph;
    const char *const *devices;
    int32_t n_devices;
    const berth_profile_options *options;
    double started;
    berth_run_model model;
    berth_profiler_out *out;
    double *op_ms; /* [op * n_devices + device] kernels alone */
    berth_device_draft *draft;
    berth_costs *costs;  /* with these times */
    int32_t n_runs;      /* whole runs: first everything on each device in turn */
    int32_t **op_device; /* [n_runs] */
    berth_observation *observations;
    berth_calibration fit;
} berth_profiler;

static inline double *berth_profiler_time(const berth_profiler *p, int32_t op, int32_t device) {
    return &p->op_ms[(size_t)op * (size_t)p->n_devices + (size_t)device];
}

/* From costs and observations to predictions of all runs, and what was fitted in the times, devices and links. */
berth_status berth_profiler_fit(berth_profiler *p);

#endif
