/* SPDX-License-Identifier: Apache-2.0 */
/* The least cost of terms, by whichever way is best: a minimum cut for two devices, elimination for more. */
#ifndef BERTH_SEARCH_MINIMISE_H
#define BERTH_SEARCH_MINIMISE_H

#include "search/eliminate.h"
#include "search/flow.h"

typedef struct berth_minimiser {
    const berth_terms *terms;
    berth_flow *flow;      /* two devices */
    berth_eliminate *plan; /* or this; if neither, every node for itself */
    int32_t *keep, *move;
    bool is_exact; /* runs give the least cost, not only a bound */
    double work;   /* of a run, about, in additions */
} berth_minimiser;

/* Terms are borrowed; arrays are the arena's. max_total: table entries for elimination. A run is to take no longer than
 * those seconds, about (INFINITY: as long as it takes): else it does less, and gives a weaker bound. */
berth_status berth_minimiser_init(berth_ctx *ctx, berth_minimiser *m, const berth_terms *terms, berth_arena *arena,
                                  double max_total, double seconds);
void berth_minimiser_deinit(berth_minimiser *m);
/* device, [n_nodes]: a placement; *bound: no placement costs less. */
berth_status berth_minimiser_run(berth_ctx *ctx, berth_minimiser *m, int32_t *device, double *bound);

#endif
