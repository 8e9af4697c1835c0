/* SPDX-License-Identifier: Apache-2.0 */
/* `fastest`: each unit on the device where it runs fastest among those with room, copies not regarded. */
#include "search/search_methods.h"
#include "search/search_room.h"

static berth_status place(berth_search *search, berth_arena *arena) {
    const berth_problem *p = search->problem;
    berth_room room;
    int32_t *device = berth_arena_push(arena, (size_t)p->costs->n_tasks, sizeof *device);
    if (!berth_room_build(arena, p, &room)) return berth_fail_nomem(search->ctx);
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        int32_t d = berth_room_fastest(&room, unit);
        berth_room_put(&room, unit, d);
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) device[p->unit_tasks[i]] = d;
    }
    return berth_search_finish(search, device, NULL, "fastest");
}

berth_status berth_search_fastest(berth_search *search) {
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = place(search, &arena);
    berth_arena_deinit(&arena);
    return status;
}
