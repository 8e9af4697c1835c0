/* SPDX-License-Identifier: Apache-2.0 */
/* Placements that are worth being run besides the one that a calibrated model holds best.
 *
 * What such a model knows least is what a boundary takes: that depends on what is on both sides. So there are the best
 * placements at other prices of boundaries, and the rule of priorities, which asks no model at all. */
#ifndef BERTH_PLACE_LEADS_H
#define BERTH_PLACE_LEADS_H

#include "berth/place.h"
#include "search/problem.h"

/* The device of a unit that is to be on d: another one, if it must not. */
int32_t berth_lead_device(const berth_problem *problem, int32_t unit, int32_t d);

/* Other prices of boundaries than 1, in the order in which they are tried. */
enum { BERTH_LEAD_PRICES = 4 };
extern const double berth_lead_prices[BERTH_LEAD_PRICES];

/* What options->method finds if copies and pieces take `price` times what the devices say; the plan is of that
 * placement at the devices' own prices. What berth_place() returns. */
berth_status berth_lead_at_price(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                 const berth_device_set *devices, const berth_place_options *options, double price);

/* Everything that may be on device d is there, and the rest on the host, or where it may be: what runtimes do that are
 * told to prefer that device. What must be together stays together. What berth_place() returns. */
berth_status berth_lead_by_rule(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                const berth_device_set *devices, const berth_place_options *options, int32_t d);

/* Which devices may be the answer alone: allowed [n_devices]. Not one that the user keeps an operation from which it
 * could run, not even as a stock session; nor one whose memory, as he limits it, does not suffice. What berth_place()
 * returns, but for BERTH_E_INFEASIBLE. */
berth_status berth_lead_singles(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *devices,
                                const berth_place_options *options, bool *allowed);

#endif
