/* SPDX-License-Identifier: Apache-2.0 */
/* Weights for an IR that comes without its .bin.
 *
 * Floats are noise of the size that training gives; what scales is near one, what is added small. Integers say how an
 * operation reshapes, reduces or selects, and follow from the shapes of what it reads and makes, which an IR has: they
 * are found so that the operation makes that shape. Where nothing follows they are 0. */
#ifndef BERTH_RUNTIME_IR_WEIGHTS_H
#define BERTH_RUNTIME_IR_WEIGHTS_H

#include "berth/graph.h"

/* The file at `path`, as large as the constants of the graph say.
 * BERTH_OK; BERTH_E_UNSUPPORTED (weights inside layers, IR before version 10); BERTH_E_LIMIT (an offset or a size
 * beyond all reason); BERTH_E_IO; BERTH_E_NOMEM */
berth_status berth_ir_weights_make(berth_ctx *ctx, const berth_graph *graph, const char *path, uint64_t seed);

#endif
