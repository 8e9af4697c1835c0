/* SPDX-License-Identifier: Apache-2.0 */
/* `random`: every unit on any of its devices, each equally likely, until the budget ends. */
#include "search/search_methods.h"

/* The n-th device of a mask, from 0. */
static int32_t nth_device(uint64_t mask, uint32_t n) {
    while (n-- > 0) mask &= mask - 1;
    return __builtin_ctzll(mask);
}

static void draw(berth_search *search, int32_t *device) {
    const berth_problem *p = search->problem;
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        uint64_t allowed = p->allowed[unit];
        int32_t d = nth_device(allowed, berth_rng_below(&search->rng, (uint32_t)__builtin_popcountll(allowed)));
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
    }
}

berth_status berth_search_random(berth_search *search) {
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    size_t room = (size_t)search->problem->costs->n_tasks + 1;
    int32_t *device = berth_resize(allocator, NULL, 0, room, sizeof *device);
    if (!device) return berth_fail_nomem(search->ctx);
    while (!berth_search_stop(search)) {
        draw(search, device);
        if (berth_search_evaluate(search, device, NULL) < search->best_ms)
            berth_search_offer(search, device, NULL, BERTH_SOURCE_SEED, "random");
    }
    berth_resize(allocator, device, room, 0, sizeof *device);
    return BERTH_OK;
}
