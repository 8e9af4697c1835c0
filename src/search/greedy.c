/* SPDX-License-Identifier: Apache-2.0 */
/* `greedy`: each unit on the first device of a list that may run it and still has room, which is what runtimes do
 * today. The list is first the devices other than the host in their order, then the host; the reverse list is tried
 * too. */
#include "search/search_methods.h"
#include "search/search_room.h"

static int32_t first_device(const berth_room *room, int32_t unit, bool reverse) {
    const berth_costs *c = room->problem->costs;
    for (int32_t i = 0; i < c->n_devices; i++) {
        int32_t at = reverse ? c->n_devices - 1 - i : i;
        /* The host stands last: everything after it moves up by one. */
        int32_t d = at == c->n_devices - 1 ? c->host : at < c->host ? at : at + 1;
        if (berth_problem_allows(room->problem, unit, d) && berth_room_fits(room, unit, d)) return d;
    }
    return berth_room_fastest(room, unit);
}

static berth_status place(berth_search *search, berth_arena *arena, bool reverse) {
    const berth_problem *p = search->problem;
    berth_room room;
    int32_t *device = berth_arena_push(arena, (size_t)p->costs->n_tasks, sizeof *device);
    if (!berth_room_build(arena, p, &room)) return berth_fail_nomem(search->ctx);
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        int32_t d = first_device(&room, unit, reverse);
        berth_room_put(&room, unit, d);
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
    }
    return berth_search_finish(search, device, NULL, "greedy");
}

berth_status berth_search_greedy(berth_search *search) {
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = place(search, &arena, false);
    if (status == BERTH_OK) status = place(search, &arena, true);
    berth_arena_deinit(&arena);
    return status;
}
