/* SPDX-License-Identifier: Apache-2.0 */
/* Placements for more than two devices by expansion moves. */
#ifndef BERTH_SEARCH_EXPANSION_H
#define BERTH_SEARCH_EXPANSION_H

#include "search/bound.h"
#include "search/flow.h"
#include "search/terms.h"

/* Improves a placement of nodes until no move of any device helps, patience ends or the search is to stop; its cost.
 * `other`, `next`: [n_nodes] room. */
berth_status berth_expansion_improve(berth_search *search, berth_patience *patience, berth_flow *flow,
                                     const berth_terms *terms, int32_t *device, int32_t *other, int32_t *next,
                                     double *cost);

#endif
