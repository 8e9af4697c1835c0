/* SPDX-License-Identifier: Apache-2.0 */
/* Into how many pieces a placement falls where each piece is run as a whole: a piece is a connected set of operations
 * on one device that no path leaves and enters again. The `serial` execution model counts the same (simulate/sim.h). */
#ifndef BERTH_RUNTIME_PARTS_H
#define BERTH_RUNTIME_PARTS_H

#include "berth/device.h"

/* Constants, inputs and outputs are part of no piece. BERTH_OK; BERTH_E_NOMEM. */
berth_status berth_parts_count(berth_ctx *ctx, const berth_graph *graph, const int32_t *device, int32_t *n);

#endif
