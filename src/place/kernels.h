/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime runs as one, about: operations that it fuses or folds. The finest places worth telling apart on real
 * devices: placements that differ only within a kernel are one placement. */
#ifndef BERTH_PLACE_KERNELS_H
#define BERTH_PLACE_KERNELS_H

#include "berth/group.h"
#include "cost/costs.h"

/* Whether member k of the groups of BERTH_GROUP_FUSED is the first of a kernel. Such groups are chains as well: a
 * matrix product or convolution in one begins a kernel of its own, so that a placement may change device before it. */
bool berth_kernel_begins(const berth_graph *graph, const berth_groups *groups, int32_t k);

/* kernel_of [n_ops]: numbers below n_ops. Members that may not run on the same devices as the first one, as the costs
 * have it, are kernels of their own: one that only the host can run does not keep the others there. */
berth_status berth_kernels_find(berth_ctx *ctx, const berth_costs *costs, int32_t *kernel_of);

#endif
