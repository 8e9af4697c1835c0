/* SPDX-License-Identifier: Apache-2.0 */
/* Which bounds hold under which model. */
#include "search/bound.h"

#include <math.h>

static const double most_work = 2e9; /* additions, a few seconds */

berth_patience berth_patience_for(const berth_search *search, double seconds) {
    double until = berth_search_clock() + seconds, end = search->started + search->budget.seconds;
    return (berth_patience){.until = until < end ? until : end, .work = most_work};
}

double berth_patience_left(const berth_patience *patience) {
    double left = patience->until - berth_search_clock();
    return left > 0 ? left : 0;
}

bool berth_patience_ends(const berth_search *search, const berth_patience *patience) {
    return patience->work < 0 || berth_search_proven(search) || berth_search_clock() >= patience->until ||
           berth_cancelled(search->ctx);
}

/* `queued`: along the order first, which often gives the optimum, but sees no end of a graph that is too large. */
static berth_status bound_queued(berth_search *search, berth_patience *patience) {
    berth_patience part = *patience;
    part.work /= 4;
    if (part.until < INFINITY) part.until -= berth_patience_left(patience) / 2;
    patience->work -= part.work;
    BERTH_TRY(berth_bound_queued(search, &part));
    patience->work += fmax(part.work, 0);
    return berth_patience_ends(search, patience) ? BERTH_OK : berth_bound_dual(search, patience);
}

berth_status berth_search_bounds(berth_search *search, berth_patience *patience) {
    const berth_costs *c = search->problem->costs;
    if (c->model == BERTH_MODEL_SERIAL && c->objective == BERTH_OBJECTIVE_LATENCY)
        return berth_bound_serial(search, patience);
    if (c->model == BERTH_MODEL_QUEUED && c->objective == BERTH_OBJECTIVE_LATENCY)
        return bound_queued(search, patience);
    return berth_bound_dual(search, patience);
}
