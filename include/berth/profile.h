/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/profile.h: what each operation of a model takes on the devices of this machine, measured.
 *
 * A profile is taken with a runtime, written to a profile.json (docs/formats.md) and used by berth_place(), whose
 * estimates it replaces. It brings its devices with it: `--devices profile.json`.
 */
#ifndef BERTH_PROFILE_H
#define BERTH_PROFILE_H

#include "berth/runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_profile_options {
    berth_run_options run; /* inputs, weights, precision, seed, progress; times are for each placement */
    int32_t processes;     /* that are profiled on each device */
    int32_t placements;    /* random ones to calibrate on for each device but the first, besides every single device */
    bool pieces;           /* devices but the first are timed by pieces, as one that tells nothing always is */
    int32_t held_out;      /* more of them, to see how well it predicts what it has not seen */
    int32_t more_rounds;   /* beyond run.rounds, for placements whose two fastest processes are more than 2 % apart */
} berth_profile_options;

/** 3 processes, 12 placements to calibrate on, none held out. */
BERTH_API berth_profile_options berth_profile_options_default(void);

/** A placement as it was measured and as it is predicted now. */
typedef struct berth_profiled_run {
    double measured_ms; /* mean of its two fastest processes, each by its median */
    double unrest;      /* by how much the second of them is above the first */
    double predicted_ms;
    int32_t n_processes;
    int32_t n_pieces;      /* changes of device along the order of execution, plus one */
    bool is_held_out;      /* not calibrated on */
    const char *label;     /* "cpu", ..., or "random" */
    const char *placement; /* a digit for the device of each operation */
} berth_profiled_run;

/** What was fitted: factors of the times of operations, and times that belong to no operation. */
typedef struct berth_fit {
    double run_ms;
    const double *scale; /* [n_devices] */
} berth_fit;

typedef struct berth_profile {
    const char *model_name, *fingerprint;
    const char *runtime, *runtime_version, *machine;
    bool synthesized; /* weights were made up */
    int32_t n_devices, n_ops;
    const berth_device_set
        *devices; /* with what was calibrated: launches, links, pieces; and the runtime's execution model */
    const char *const *op_names; /* [n_ops] */
    const double *op_ms;         /* [op * n_devices + device], launch included; INFINITY: not there; NAN: unknown */
    berth_fit fit;               /* what is in op_ms already */
    int32_t n_copies;            /* by size; 0: not known */
    const berth_copy *copies;    /* between the host and the other device, alone; the links are what is fitted to
                                    whole runs, from there on */
    int32_t n_runs;
    const berth_profiled_run *runs;
    int32_t n_wanted, n_left_out;        /* random placements, and those of them that there was no time for */
    double mean_error, rank_correlation; /* over the runs that were held out, if any were wanted, else over all; NAN:
                                            there are none but of single devices */
} berth_profile;

/**
 * Profile a model on devices of the runtime: the host's CPU first, then others: one with ONNX Runtime, up to 7 with
 * OpenVINO.
 * @return BERTH_OK; what berth_measure() returns
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_profile_take(berth_ctx *ctx, berth_profile **out, berth_runtime *runtime,
                                                           const berth_graph *graph, const char *model,
                                                           const char *const *devices, int32_t n_devices,
                                                           const berth_profile_options *options);
BERTH_API void berth_profile_free(berth_profile *profile);
/** Append it as a profile.json. */
BERTH_API void berth_profile_write(berth_text *text, const berth_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
