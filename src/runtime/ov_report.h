/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenVINO says of a compiled model, as the worker writes it into the job's `profile` and our side reads it:
 *
 *     pieces   the device of each, in the order of execution; one that is not split has one
 *     refused  names of operations that the first device cannot run
 *     nodes    what is executed: name, the operations that it was made of, its time, its first reader, its piece */
#ifndef BERTH_RUNTIME_OV_REPORT_H
#define BERTH_RUNTIME_OV_REPORT_H

#include "base/arena.h"
#include "berth/text.h"
#include "runtime/ov_module.h"

typedef struct berth_ov_report_node {
    berth_ov_node node;
    int32_t piece; /* -1: it was not seen to run */
} berth_ov_report_node;

typedef struct berth_ov_reported {
    int32_t n_pieces, n_refused, n_nodes;
    const char *const *pieces, *const *refused;
    const berth_ov_report_node *nodes;
} berth_ov_reported;

void berth_ov_report_write(berth_text *text, const berth_ov_reported *report);
/* In the arena. BERTH_OK; BERTH_E_IO; BERTH_E_FORMAT; BERTH_E_NOMEM. */
berth_status berth_ov_report_read(berth_ctx *ctx, berth_arena *arena, const char *path, berth_ov_reported *out);

#endif
