/* SPDX-License-Identifier: Apache-2.0 */
/* A problem of any size: a chain of residual blocks. */
#ifndef BERTH_BENCH_CHAIN_H
#define BERTH_BENCH_CHAIN_H

#include "cost/costs.h"

/* Blocks of three tasks and an addition that also reads what the block began with, on two devices. NULL: no memory. */
berth_costs *chain_costs(berth_ctx *ctx, int32_t n_tasks, berth_model model);
/* Uniform in [0, n), the same numbers in every run. */
uint32_t chain_below(uint32_t n);

#endif
