/* SPDX-License-Identifier: Apache-2.0 */
/* Placements for more than two devices by expansion moves. */
#ifndef BERTH_SEARCH_EXPANSION_H
#define BERTH_SEARCH_EXPANSION_H

#include "search/flow.h"
#include "search/search.h"
#include "search/terms.h"

/* Improves a placement of nodes until no move of any device helps or the search is to stop; its cost. `other`, `next`:
 * [n_nodes] room. */
berth_status berth_expansion_improve(berth_search *search, berth_flow *flow, const berth_terms *terms, int32_t *device,
                                     int32_t *other, int32_t *next, double *cost);

#endif
