/* SPDX-License-Identifier: Apache-2.0 */
/* Minimum cuts of directed graphs with two terminals.
 *
 *     berth_flow_clear(flow, n_nodes);
 *     berth_flow_terminal(flow, node, from_source, to_sink);
 *     berth_flow_arc(flow, from, to, forward, backward);
 *     BERTH_TRY(berth_flow_solve(ctx, flow, &finite));
 *     if (berth_flow_on_source_side(flow, node)) ...
 *
 * Capacities are not negative and may be INFINITY. Everything is summed in doubles: exact while capacities are whole
 * numbers whose sum stays below 2^53; else the cut exceeds the best one by rounding alone, about 1e-16 of the sum of
 * capacities for each time that an arc was used. No tolerance is applied. What a cut is worth is for the caller to add
 * up from the sides of the nodes. */
#ifndef BERTH_SEARCH_FLOW_H
#define BERTH_SEARCH_FLOW_H

#include "base/ctx.h"

typedef struct berth_flow berth_flow;

berth_status berth_flow_new(berth_ctx *ctx, berth_flow **out);
void berth_flow_free(berth_flow *flow);

/* Forget everything and start again with that many nodes and no arcs. */
berth_status berth_flow_clear(berth_ctx *ctx, berth_flow *flow, int32_t n_nodes);
/* One more node; its number. Failure is sticky and reported by solve. */
int32_t berth_flow_node(berth_flow *flow);
/* Adds to what the node costs on the sink's side (the source is cut off) and on the source's side. */
void berth_flow_terminal(berth_flow *flow, int32_t node, double from_source, double to_sink);
/* `forward` is paid if `from` is on the source's side and `to` is not; `backward` the other way round. Arcs may repeat;
 * one without any capacity, or from a node to itself, is dropped. */
void berth_flow_arc(berth_flow *flow, int32_t from, int32_t to, double forward, double backward);

/* Once per clear. `finite`: false if every cut is infinite; there are no sides then. BERTH_E_CANCELLED if the context
 * says so before it is done. */
berth_status berth_flow_solve(berth_ctx *ctx, berth_flow *flow, bool *finite);
bool berth_flow_on_source_side(const berth_flow *flow, int32_t node);

#endif
