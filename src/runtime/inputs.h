/* SPDX-License-Identifier: Apache-2.0 */
/* Inputs to run a model with: the same files for every candidate. */
#ifndef BERTH_RUNTIME_INPUTS_H
#define BERTH_RUNTIME_INPUTS_H

#include "berth/runtime.h"
#include "runtime/job.h"

/* A file for every model input in `folder`: the user's own where one is named, else random by type. Floats are uniform
 * in [-1, 1). Integers that select (indices of a Gather, directly or through casts and reshapes) stay below what they
 * select from, others are 0 or 1, as masks are. Every dimension must be known.
 * BERTH_OK; BERTH_E_ARG (an open dimension, a name that is no input); BERTH_E_UNSUPPORTED (not a tensor, a type of less
 * than a byte); BERTH_E_FORMAT (a file of the user's); BERTH_E_IO; BERTH_E_NOMEM */
berth_status berth_inputs_make(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph, const char *folder,
                               const berth_input_file *given, int32_t n_given, uint64_t seed,
                               const berth_job_file **out, int32_t *n);

#endif
