/* SPDX-License-Identifier: Apache-2.0 */
/* Weights for a model that comes without: numbers of about the size that training gives, so that every layer stays
 * finite and takes the time of the real one. */
#ifndef BERTH_RUNTIME_WEIGHTS_H
#define BERTH_RUNTIME_WEIGHTS_H

#include "base/arena.h"
#include "berth/graph.h"

/* Writes the missing external files of the model at `path` into `folder`, under their own names; those that are there
 * are linked to, so that `folder` has them all. *n_made: files that were made.
 * BERTH_OK; BERTH_E_FORMAT (locations outside the model's folder); BERTH_E_IO; BERTH_E_LIMIT (an offset or length
 * beyond all reason); BERTH_E_NOMEM; BERTH_E_CANCELLED */
berth_status berth_weights_make(berth_ctx *ctx, const berth_graph *graph, const char *path, const char *folder,
                                uint64_t seed, int32_t *n_made);

#endif
