/* SPDX-License-Identifier: Apache-2.0 */
/* `exact` by execution model: which of the exact searches proves what. Each leaves a valid bound where it gives up. */
#include "search/exact.h"

berth_status berth_search_exact(berth_search *search) {
    const berth_costs *c = search->problem->costs;
    if (c->objective == BERTH_OBJECTIVE_LATENCY && c->model == BERTH_MODEL_CONCURRENT)
        return berth_search_exact_concurrent(search);
    if (c->model == BERTH_MODEL_CONTIGUOUS) return berth_search_exact_contiguous(search);
    if (c->objective == BERTH_OBJECTIVE_LATENCY && c->model == BERTH_MODEL_QUEUED)
        return berth_search_exact_queued(search);
    return berth_search_exact_placements(search);
}
