/* SPDX-License-Identifier: Apache-2.0 */
/* A model made ready to run: in a folder of its own, beside its weights, with inputs; and candidates of it, for as many
 * placements as there are to try. The user's file is not touched. */
#ifndef BERTH_RUNTIME_MODEL_H
#define BERTH_RUNTIME_MODEL_H

#include "runtime/trial.h"

typedef struct berth_run_model {
    berth_ctx *ctx;
    berth_runtime *runtime;
    berth_arena arena;
    const berth_graph *graph;
    const char *scratch; /* removed with everything in it */
    const char *folder;  /* of the model */
    const char *path;    /* the model as it is */
    const berth_job_file *inputs;
    int32_t n_inputs;
    const berth_job_place *io; /* inputs and outputs that do not lie on the host */
    int32_t n_io;
    int32_t n_made_files; /* of weights, because they were missing */
    int32_t n_placed;     /* placements written so far */
    const char *digest;   /* of the model's files and of the inputs, for keys of the store */
} berth_run_model;

/* `path` must be the file that the graph was read from. Every file of weights must lie in its folder, be it that the
 * runtime would look elsewhere. Free it also after a failure.
 * BERTH_OK; BERTH_E_UNSUPPORTED (not a format that the runtime reads); BERTH_E_ARG (weights are missing and
 * `synthesize` is not set); what making weights and inputs returns */
berth_status berth_run_model_init(berth_run_model *model, berth_ctx *ctx, berth_runtime *runtime,
                                  const berth_graph *graph, const char *path, const berth_run_options *options);
void berth_run_model_deinit(berth_run_model *model);

/* The model with every operation on one of these devices, which one session can have: a candidate. `devices` are names
 * that the runtime knows; device [n_ops] is by operation. Strings are the model's. */
berth_status berth_run_model_place(berth_run_model *model, const char *const *devices, int32_t n_devices,
                                   const int32_t *device, const char *label, berth_candidate *out);
/* Everything that can be on that device, as a stock session has it. */
berth_status berth_run_model_single(berth_run_model *model, const char *device, berth_candidate *out);

/* The job that runs a candidate with the runtime's own profile in a file of the scratch folder; times come from others.
 * BERTH_E_NOMEM. */
berth_status berth_run_model_profile_job(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                                         bool native_precision, berth_job *out);

#endif
