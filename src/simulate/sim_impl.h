/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the simulator share: its arrays, and the recorder of timelines. */
#ifndef BERTH_SIMULATE_SIM_IMPL_H
#define BERTH_SIMULATE_SIM_IMPL_H

#include "simulate/ready.h"
#include "simulate/sim.h"

/* Takes down copies and pieces while a model runs; tasks are read from starts and ends. NULL: nobody asks. */
typedef struct berth_recorder {
    void (*copy)(void *user, int32_t value, int32_t from, int32_t to, double start, double end);
    void (*piece)(void *user, int32_t task, int32_t device, double start, double end);
    void *user;
} berth_recorder;

typedef struct berth_arrival {
    double time;
    int32_t task;
} berth_arrival;

struct berth_sim {
    berth_arena arena;
    const berth_costs *costs;
    double (*model)(berth_sim *sim, const int32_t *device, const int32_t *priority);
    const berth_recorder *recorder;
    bool memory_may_bind; /* some device's capacity is below all that could lie there */
    bool moves_are_local; /* `serial`, latency, no pieces, no memory limit that may bind */

    double *start, *end;   /* [n_tasks] of the last run */
    int32_t *order;        /* [n_tasks] tasks as the last run executed them */
    int32_t *position;     /* [n_tasks] its inverse */
    int32_t *scratch_task; /* [n_tasks] */
    double *arrived;       /* [n_values * n_devices] when a value is there; valid where stamp == generation */
    int32_t *stamp;        /* [n_values * n_devices] */
    int32_t generation;
    double *clock; /* [n_devices] */

    /* concurrent */
    int32_t *missing;      /* [n_tasks] inputs not yet there */
    double *ready_time;    /* [n_tasks] latest arrival so far */
    berth_arrival *waiting; /* [n_tasks] heap: tasks all of whose inputs are known to come, by arrival */
    int32_t n_waiting;
    berth_ready *ready;    /* [n_devices] */
    int32_t *running;      /* [n_devices] or -1 */
    double *link_free;     /* [n_devices * n_devices] */

    /* serial */
    int32_t *level, *leader; /* [n_tasks] */
    int32_t *bucket;         /* [n_tasks + 1] */

    /* contiguous */
    double *part_start;    /* [n_devices] */
    int32_t *part_missing; /* [n_devices] */

    /* single moves */
    int32_t *device;    /* [n_tasks] kept placement */
    int32_t *priority;  /* [n_tasks] kept priority */
    bool has_priority;
    int32_t *count; /* [n_values * n_devices] readers (and the target) of a value on a device */
    double kept_ms;
};

double berth_sim_serial(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_queued(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_concurrent(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_contiguous(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_load_of_devices(berth_sim *sim, const int32_t *device, const int32_t *priority);

/* Peak bytes per device of the run just made (order, starts and ends are in place). */
void berth_sim_peaks(berth_sim *sim, const int32_t *device, double *peak);
/* The task before which a value is copied to a device: its first reader there in execution order; -1: none. */

static inline void berth_sim_note_copy(const berth_sim *sim, int32_t value, int32_t from, int32_t to, double start,
                                       double end) {
    if (sim->recorder) sim->recorder->copy(sim->recorder->user, value, from, to, start, end);
}

#endif
