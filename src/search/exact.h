/* SPDX-License-Identifier: Apache-2.0 */
/* Exact search, by execution model: finds the optimum and proves it where the problem is small enough or falls into
 * small enough blocks; else leaves the best it found and a bound. */
#ifndef BERTH_SEARCH_EXACT_H
#define BERTH_SEARCH_EXACT_H

#include "search/search.h"

/* `exact`: by the problem's model and objective. */
berth_status berth_search_exact(berth_search *search);

/* `concurrent`, latency: placements and orders, block by block. */
berth_status berth_search_exact_concurrent(berth_search *search);
/* `contiguous`, both objectives: ideals of the graph. */
berth_status berth_search_exact_contiguous(berth_search *search);
/* `queued`, latency, tasks in file order: along that order. */
berth_status berth_search_exact_queued(berth_search *search);
/* Any model: depth-first over placements; orders are the model's own. For `serial`, memory limits and throughput. */
berth_status berth_search_exact_placements(berth_search *search);

#endif
