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

/* Somebody who wants a value: a reading task, or the target device d as ~d. */
typedef struct berth_want {
    int32_t value, task;
} berth_want;

/* A device under `concurrent`. */
typedef struct berth_lane {
    double end;      /* when the running task ends */
    int32_t running; /* task */
    int32_t first;   /* smallest ready task */
} berth_lane;

/* What a task still waits for. */
typedef struct berth_need {
    double time;     /* latest arrival so far */
    int32_t missing; /* inputs not yet known to come */
    int32_t n_inputs;
} berth_need;

/* Runs a placement: fills start, end and order; the makespan, or INFINITY. */
typedef double (*berth_sim_model)(berth_sim *sim, const int32_t *device, const int32_t *priority);

struct berth_sim {
    berth_arena arena;
    const berth_costs *costs;
    berth_sim_model model;
    const berth_recorder *recorder;
    bool memory_may_bind; /* some device's capacity is below all that could lie there */
    bool moves_are_local; /* `serial`, latency, no pieces, finite copies, no memory limit that may bind */

    double *start, *end;   /* [n_tasks] of the last run */
    int32_t *order;        /* [n_tasks] tasks as the last run executed them */
    int32_t *scratch_task; /* [n_tasks] */
    int32_t *stamp;     /* [n_values * n_devices] equal to generation: the value was brought there; NULL where unused */
    int32_t generation; /* > 0 */
    double *clock;      /* [n_devices] */
    double *load;       /* [n_devices] */

    /* concurrent; ready also queued */
    double *arrived;  /* [n_values * n_devices] when a value is there, where it was copied to */
    berth_need *need; /* [n_tasks]; between runs nothing has come */
    int32_t *sources; /* tasks without inputs */
    int32_t n_sources;
    int32_t *want_start;    /* [n_tasks + n_given + 1] rows of `wants`: by task, then by given value */
    berth_want *wants;      /* by value, readers first */
    berth_arrival *waiting; /* [n_tasks + 1] heap: tasks all of whose inputs are known to come, by arrival */
    berth_lane *lane;       /* [n_devices] */
    berth_ready *ready;     /* [n_devices] ready tasks but the first of each; empty between runs */
    double *link_free;      /* [n_devices * n_devices] */

    /* serial; bucket also contiguous */
    int32_t *level, *leader; /* [n_tasks] */
    int32_t *bucket;         /* [max(n_tasks, n_devices) + 2] */

    /* contiguous; missing also queued and, with priorities, concurrent; ready_time too */
    int32_t *missing;      /* [n_tasks] inputs not yet there */
    double *ready_time;    /* [n_tasks] latest arrival so far */
    double *part_start;    /* [n_devices] */
    int32_t *part_missing; /* [n_devices] */

    /* memory */
    double *peak, *held;   /* [n_devices] */
    int32_t *position;     /* [n_tasks] inverse of order */
    double *start_at;      /* [n_tasks] start of the task at each position; `concurrent` */
    double *change;        /* [(n_tasks + 2) * n_devices] of bytes at each position; 0 between runs */
    int32_t *weight_stamp; /* [n_weights * n_devices] */

    /* single moves */
    int32_t *device;   /* [n_tasks] kept placement */
    int32_t *priority; /* [n_tasks] kept priority */
    bool has_priority;
    int32_t *undo;       /* [n_tasks] */
    int32_t *count;      /* [n_values * n_devices] readers (and the target) of a value on a device */
    int32_t *home;       /* [n_values] */
    double kept_ms;      /* where moves are local: of the tasks that can run where they are */
    int32_t n_misplaced; /* tasks that cannot */
};

double berth_sim_serial(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_queued(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_concurrent(berth_sim *sim, const int32_t *device, const int32_t *priority);
/* `concurrent` with priorities. */
double berth_sim_ordered(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_contiguous(berth_sim *sim, const int32_t *device, const int32_t *priority);
/* The largest load of a device; sim->load has them all. */
double berth_sim_largest_load(berth_sim *sim, const int32_t *device);

/* sim->order by priority, each task after its predecessors; needs one ready set. */
void berth_sim_order(berth_sim *sim, const int32_t *priority);

/* Peak bytes per device of the run just made (order, starts and ends are in place). */
void berth_sim_peaks(berth_sim *sim, const int32_t *device, double *peak);
/* Whether they are within all capacities. */
bool berth_sim_fits(berth_sim *sim, const int32_t *device);

/* Where a value comes into being. */
static inline int32_t berth_sim_home(const berth_costs *c, const int32_t *device, int32_t value) {
    int32_t producer = c->value_producer[value];
    return producer < 0 ? c->value_home[value] : device[producer];
}

/* Stamps of earlier runs no longer count. */
void berth_sim_forget_stamps(berth_sim *sim);
static inline void berth_sim_next_generation(berth_sim *sim) {
    if (sim->generation == INT32_MAX)
        berth_sim_forget_stamps(sim);
    else
        sim->generation++;
}

static inline void berth_sim_note_copy(const berth_sim *sim, int32_t value, int32_t from, int32_t to, double start,
                                       double end) {
    if (sim->recorder) sim->recorder->copy(sim->recorder->user, value, from, to, start, end);
}

/* `concurrent`: the copy of a value that is on `from` since `now`; its arrival. */
static inline double berth_sim_copy_now(berth_sim *sim, int32_t value, int32_t from, int32_t to, double now) {
    const berth_costs *c = sim->costs;
    size_t link = (size_t)from * (size_t)c->n_devices + (size_t)to;
    double start = now, took = berth_costs_copy(c, value, from, to);
    if (c->link_queued[link]) {
        if (sim->link_free[link] > start) start = sim->link_free[link];
        sim->link_free[link] = start + took;
    }
    berth_sim_note_copy(sim, value, from, to, start, start + took);
    sim->arrived[(size_t)value * (size_t)c->n_devices + (size_t)to] = start + took;
    return start + took;
}

#endif
