/* SPDX-License-Identifier: Apache-2.0 */
/* `single`: everything on one device, for every device that may run everything. */
#include "search/search_methods.h"

berth_status berth_search_single(berth_search *search) {
    const berth_problem *p = search->problem;
    const berth_costs *c = p->costs;
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    size_t room = (size_t)c->n_tasks + 1;
    uint64_t common = UINT64_MAX;
    int32_t *device = berth_resize(allocator, NULL, 0, room, sizeof *device);
    if (!device) return berth_fail_nomem(search->ctx);
    for (int32_t unit = 0; unit < p->n_units; unit++) common &= p->allowed[unit];
    for (int32_t d = 0; d < c->n_devices && !berth_search_stop(search); d++) {
        if (!(common >> d & 1)) continue;
        for (int32_t task = 0; task < c->n_tasks; task++) device[task] = d;
        if (berth_search_evaluate(search, device, NULL) < search->best_ms)
            berth_search_offer(search, device, NULL, BERTH_SOURCE_SEED, "single");
    }
    berth_resize(allocator, device, room, 0, sizeof *device);
    return BERTH_OK;
}
