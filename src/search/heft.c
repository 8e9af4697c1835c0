/* SPDX-License-Identifier: Apache-2.0 */
/* `heft`: heterogeneous earliest finish time (Topcuoglu, Hariri and Wu, IEEE TPDS 13(3), 2002): tasks by falling upward
 * rank, each on the device where it ends earliest, gaps between earlier placed tasks included. Devices that are full
 * are passed over. Ties go to the smaller device. Where a unit has several tasks, the time of those still to come
 * counts as if they followed at once. */
#include <math.h>

#include "search/heft_schedule.h"
#include "search/search_methods.h"

/* Time on a device of the unit's tasks other than this one. */
static double rest_of_unit(const berth_schedule *s, int32_t task, int32_t d) {
    const berth_problem *p = s->problem;
    int32_t unit = p->unit_of[task];
    if (p->unit_start[unit + 1] - p->unit_start[unit] == 1 || s->unit_device[unit] >= 0) return 0;
    return berth_room_unit_ms(p, unit, d) - s->costs->time_ms[(size_t)task * (size_t)s->costs->n_devices + (size_t)d];
}

static bool place_task(berth_schedule *s, int32_t task) {
    const berth_costs *c = s->costs;
    int32_t best = -1;
    double best_start = 0, best_end = INFINITY;
    for (int32_t d = 0; d < c->n_devices; d++) {
        if (!berth_schedule_allows(s, task, d)) continue;
        double ms = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
        double start = berth_schedule_gap(s, d, berth_schedule_arrival(s, task, d), ms);
        double end = start + ms + rest_of_unit(s, task, d);
        if (best >= 0 && end >= best_end) continue;
        best = d;
        best_start = start;
        best_end = end;
    }
    if (best < 0) {
        best = berth_schedule_last_resort(s, task);
        best_start = s->idle_from[best];
    }
    return berth_schedule_put(s, task, best, best_start);
}

berth_status berth_search_heft(berth_search *search) {
    berth_schedule s;
    berth_status status = BERTH_OK;
    bool done = true;
    BERTH_TRY(berth_schedule_init(&s, search));
    for (int32_t i = 0; i < s.costs->n_tasks && done && !berth_search_interrupted(search); i++)
        done = place_task(&s, s.rank.order[i]);
    if (!done)
        status = berth_fail_nomem(search->ctx);
    else if (!berth_search_interrupted(search))
        status = berth_schedule_finish(&s, search, "heft");
    berth_schedule_deinit(&s);
    return status;
}
