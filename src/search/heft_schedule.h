/* SPDX-License-Identifier: Apache-2.0 */
/* A schedule under construction: tasks are placed one by one, producers first; copies never hinder each other. For the
 * list schedulers (heft, m-etf, m-sct). A unit's first task decides for the whole unit. */
#ifndef BERTH_SEARCH_HEFT_SCHEDULE_H
#define BERTH_SEARCH_HEFT_SCHEDULE_H

#include "base/vec.h"
#include "search/rank.h"
#include "search/search_room.h"

typedef struct berth_busy {
    double start, end;
} berth_busy;

typedef BERTH_VEC(berth_busy) berth_busy_list;

typedef struct berth_schedule {
    berth_ctx *ctx;
    const berth_problem *problem;
    const berth_costs *costs;
    berth_arena arena;
    berth_rank rank;
    berth_room room;
    int32_t *device;       /* [n_tasks], -1: not placed */
    int32_t *unit_device;  /* [n_units], -1: free */
    double *start, *end;   /* [n_tasks] */
    double *idle_from;     /* [n_devices] end of the last task */
    double *shortest;      /* [n_devices] of all tasks that take any time there */
    berth_busy_list *busy; /* [n_devices] disjoint, ascending; gaps that nothing fits into are filled */
} berth_schedule;

berth_status berth_schedule_init(berth_schedule *schedule, berth_search *search);
void berth_schedule_deinit(berth_schedule *schedule);

/* Whether the task may go there: its unit is allowed there or already there, and there is room. */
bool berth_schedule_allows(const berth_schedule *schedule, int32_t task, int32_t device);
/* When all inputs of the task have come to a device. */
double berth_schedule_arrival(const berth_schedule *schedule, int32_t task, int32_t device);
/* The earliest start from `ready` on for something that takes `ms`, gaps between tasks included. */
double berth_schedule_gap(const berth_schedule *schedule, int32_t device, double ready, double ms);
/* False: no memory. */
bool berth_schedule_put(berth_schedule *schedule, int32_t task, int32_t device, double start);
/* The device for a task whose unit fits nowhere, so that something is there to be repaired. */
int32_t berth_schedule_last_resort(const berth_schedule *schedule, int32_t task);

/* Evaluate and offer: the devices, and under `concurrent` the order of starts. */
berth_status berth_schedule_finish(berth_schedule *schedule, berth_search *search, const char *method);

#endif
