/* SPDX-License-Identifier: Apache-2.0 */
/* What operations take on a device that does not tell, or that compiles whole parts of a model into one: by timed
 * pieces. */
#ifndef BERTH_PLACE_PIECES_H
#define BERTH_PLACE_PIECES_H

#include "berth/profile.h"
#include "runtime/model.h"

enum { BERTH_MOST_PIECES = 12 };

/* The operations in the order of execution are cut into pieces of about equal work, where little crosses. The model is
 * run with the first k pieces on the device and the rest on the host, for every k. What piece k takes there is what the
 * run gets longer by when it moves, and what it took on the host: what is copied into the first one and launched goes
 * there, and nothing is counted twice that is compiled into one. All of them together take what everything on the
 * device takes. Within a piece the work of each operation decides.
 *
 * host_ms [n_ops]: what operations take on the host, which is devices[0]. ms [n_ops]: those that are INFINITY do not
 * run on devices[1] and stay on the host; what the others are found to take there replaces what was there.
 * BERTH_OK; what running returns: everything must run on both; cuts that do not are told from their neighbours. */
berth_status berth_pieces_take(berth_run_model *model, const char *const *devices, const berth_run_options *options,
                               const double *host_ms, double *ms);

/* op_ms [op * n_devices + device]: does device d tell of less than half of what runs on it? And its column in such a
 * table, but for what does not run there; d is not the host, which is device 0. */
bool berth_pieces_wanted(const double *op_ms, int32_t n_ops, int32_t n_devices, int32_t d);
berth_status berth_pieces_fill(berth_run_model *model, const char *const *devices, int32_t n_devices, int32_t d,
                               const berth_run_options *options, double *op_ms);

/* Cuts [*n + 1] into the order of execution: piece i is from cut i to cut i + 1. At most `most`, in the arena. */
berth_status berth_pieces_cut(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph, int32_t most,
                              const int32_t **cuts, int32_t *n);

#endif
