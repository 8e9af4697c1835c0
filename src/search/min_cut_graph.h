/* SPDX-License-Identifier: Apache-2.0 */
/* The best choice between two devices for every node, as a minimum cut. */
#ifndef BERTH_SEARCH_MIN_CUT_GRAPH_H
#define BERTH_SEARCH_MIN_CUT_GRAPH_H

#include "search/flow.h"
#include "search/terms.h"

/* Each node gets keep[node] or move[node] (equal: no choice), both among its devices. The choice is the best if no
 * device is both kept by one reader of a value and moved to by another, and keeping costs no more copies than moving
 * (two devices: always so). Else some terms count for more than they are, but never where all is kept: the choice is at
 * least as good as that. `chosen` may be either array. */
berth_status berth_min_cut_choose(berth_ctx *ctx, berth_flow *flow, const berth_terms *terms, const int32_t *keep,
                                  const int32_t *move, int32_t *chosen);

/* Of one choice, about, in additions. */
double berth_min_cut_work(const berth_terms *terms);

#endif
