/* SPDX-License-Identifier: Apache-2.0 */
/* What keeps which resource busy, by execution model: devices and queued links, in each module (bound_modules.h). */
#ifndef BERTH_SEARCH_BOUND_LOADS_H
#define BERTH_SEARCH_BOUND_LOADS_H

#include "search/bound_modules.h"
#include "search/terms.h"

typedef struct berth_loads {
    const berth_costs *costs;
    const berth_modules *modules;
    bool via_host;       /* copies go through the host */
    bool launches;       /* `queued`: the host launches what others run */
    bool host_pays;      /* `queued`: the host pays for copies out and for the fixed part of copies in */
    bool parts;          /* `contiguous`: only what a part brings in and out itself keeps its device busy */
    bool links_count;    /* `concurrent`: queued links are resources */
    double host_share;   /* of a host task's time that counts */
    int32_t n_resources; /* of a module: devices, then links if they count */
} berth_loads;

void berth_loads_init(berth_loads *loads, const berth_costs *costs, const berth_modules *modules);
/* Whether copies of the value count. */
bool berth_loads_count(const berth_loads *loads, int32_t value);
/* Where the load of a resource in a module stands among all loads. */
static inline size_t berth_loads_at(const berth_loads *loads, int32_t module, int32_t resource) {
    return (size_t)module * (size_t)loads->n_resources + (size_t)resource;
}
/* Loads of a placement of the terms' nodes. */
void berth_loads_of(const berth_loads *loads, const berth_terms *terms, const int32_t *device, double *busy);
/* Sets node_ms and the weights of links, so that the cost of a placement is the sum over tasks of task_weight * time +
 * the sum over all loads of weight * load. */
void berth_loads_weigh(const berth_loads *loads, berth_terms *terms, const double *task_weight, const double *weight);

#endif
