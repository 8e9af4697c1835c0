/* SPDX-License-Identifier: Apache-2.0 */
/* Why a placement cannot be run, as a sentence. */
#ifndef BERTH_SIMULATE_REFUSAL_H
#define BERTH_SIMULATE_REFUSAL_H

#include "simulate/sim.h"

/* For a placement that took INFINITY: always BERTH_E_INFEASIBLE, the message names what is in the way. */
berth_status berth_sim_refusal(berth_ctx *ctx, berth_sim *sim, const int32_t *device, const int32_t *priority);

#endif
