/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds, for every execution model and both objectives. All hold for placements of single tasks (of classes that
 * must share a device) and with memory limits, under `concurrent` in any order, under `queued` in file order. */
#ifndef BERTH_SEARCH_BOUND_H
#define BERTH_SEARCH_BOUND_H

#include "search/search.h"

/* How long, and how much work, is left for bounds: where there is no clock the work is what ends them, so that the
 * result does not depend on the machine. */
typedef struct berth_patience {
    double until; /* clock */
    double work;  /* additions */
} berth_patience;

/* Raises the search's bound until it stands still or patience ends. Where a bound comes with a placement that has it,
 * that is offered, too, and the search is proven. */
berth_status berth_search_bounds(berth_search *search, berth_patience *patience);

/* Raises it by what can be said in linear time. */
berth_status berth_bound_quick(berth_search *search);

/* For that many seconds from now, at most to the end of the search's own budget; with as much work as takes a few
 * seconds. */
berth_patience berth_patience_for(const berth_search *search, double seconds);
/* Seconds that are left. */
double berth_patience_left(const berth_patience *patience);
/* Spent, cancelled, or nothing left to prove. Evaluations do not count here. */
bool berth_patience_ends(const berth_search *search, const berth_patience *patience);

/* `serial`, latency. */
berth_status berth_bound_serial(berth_search *search, berth_patience *patience);
/* Every other model, and throughput: paths and loads. In any order under `queued`, too. */
berth_status berth_bound_dual(berth_search *search, berth_patience *patience);
/* `queued`, latency: tasks in file order. */
berth_status berth_bound_queued(berth_search *search, berth_patience *patience);

#endif
