/* SPDX-License-Identifier: Apache-2.0 */
/* What each operation takes on each device, from the runtime's own profile of everything on that device. */
#ifndef BERTH_RUNTIME_OP_TIMES_H
#define BERTH_RUNTIME_OP_TIMES_H

#include "berth/work.h"
#include "runtime/model.h"

/* [op * n_devices + device] in the arena: ms; 0: folded away, or part of nothing; INFINITY: the runtime does not run it
 * there; NAN: it ran there, but the device does not say how long (its kernels are not seen).
 *
 * The time of a node goes to the operations behind it by the work of each. Times of the host are taken where the device
 * is the host or the host can be told to wait for it, kernels elsewhere: what the host says of an asynchronous device
 * is only when it was handed over.
 *
 * Each device has up to so many processes, and its share of the seconds, after which no second one begins.
 *
 * A device that compiles whole sub-graphs has no operations: all of its times are NAN, and pieces tell
 * (place/pieces.h). BERTH_OK; BERTH_E_ARG (no such device); what the jobs return: every device must run. */
berth_status berth_op_times_take(berth_ctx *ctx, berth_arena *arena, berth_run_model *model, const char *const *devices,
                                 int32_t n_devices, int32_t processes, double seconds, bool native_precision,
                                 const double **out);

/* How large a part of the time of what it was fused into an operation is likely to be: bytes, and what arithmetic costs
 * in bytes. */
double berth_op_times_weight(const berth_op_work *work);

#endif
