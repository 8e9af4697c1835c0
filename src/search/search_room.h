/* SPDX-License-Identifier: Apache-2.0 */
/* Memory while a placement is being built, and the repair of one that does not fit. */
#ifndef BERTH_SEARCH_SEARCH_ROOM_H
#define BERTH_SEARCH_SEARCH_ROOM_H

#include "search/search.h"

/* What has been put where. Given sizes add up exactly; weights are counted for every unit that reads them and live
 * values not at all, so that the true peak is known only to the simulator. */
typedef struct berth_room {
    const berth_problem *problem;
    double *need; /* [n_units] bytes that stay where the unit is */
    double *used; /* [n_devices] */
} berth_room;

/* An empty room, in the arena; false: no memory. */
bool berth_room_build(berth_arena *arena, const berth_problem *problem, berth_room *out);
void berth_room_put(berth_room *room, int32_t unit, int32_t device);

static inline bool berth_room_fits(const berth_room *room, int32_t unit, int32_t device) {
    return room->used[device] + room->need[unit] <= room->problem->costs->capacity[device];
}

/* Among the unit's devices with room, or among all its devices if none has any, the one where it runs fastest. */
int32_t berth_room_fastest(const berth_room *room, int32_t unit);
/* Time of all tasks of the unit on a device. */
double berth_room_unit_ms(const berth_problem *problem, int32_t unit, int32_t device);

/* What every constructive method ends with: evaluate the placement of tasks (counted as one); if it does not fit,
 * move units off full devices, those first that lose least per byte, until it does; offer it. device is changed. Does
 * nothing if the search is to stop. */
berth_status berth_search_finish(berth_search *search, int32_t *device, const int32_t *priority, const char *method);

#endif
