/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits as prices: what a device holds beyond its capacity costs, what it does not use is given back. */
#ifndef BERTH_SEARCH_BOUND_MEMORY_H
#define BERTH_SEARCH_BOUND_MEMORY_H

#include "search/terms.h"

typedef struct berth_prices {
    bool any;      /* some limit may bind */
    double *need;  /* [n_nodes] bytes that a node needs wherever it is, shared weights divided among their readers */
    double *price; /* [n_devices] ms per byte, >= 0 */
    double *held;  /* [n_devices] room: bytes by the placement at hand */
} berth_prices;

bool berth_prices_init(berth_prices *prices, berth_arena *arena, const berth_problem *problem,
                       const berth_terms *terms);
/* Adds the prices to node_ms; what to subtract from the least cost. */
double berth_prices_apply(const berth_prices *prices, berth_terms *terms);
/* Whether the placement keeps all limits as far as they are counted here; values that are alive come on top. */
bool berth_prices_fit(const berth_prices *prices, const berth_terms *terms, const int32_t *device);
/* Moves the prices towards what the placement, which gave that bound, asks for; `above` is at least the optimum. False:
 * no limit is exceeded and nothing has a price. */
bool berth_prices_move(berth_prices *prices, const berth_terms *terms, const int32_t *device, double bound,
                       double above, double scale);

#endif
