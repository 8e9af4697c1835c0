/* SPDX-License-Identifier: Apache-2.0 */
/* What the simulated schedule of the current placement says about changing it: who runs when and after whom, what can
 * wait, what has room, and guesses of what a change would do if everything else stayed as it is. Guesses look only at
 * what is around the change; none of them is an evaluation. */
#ifndef BERTH_LEARN_OUTLOOK_H
#define BERTH_LEARN_OUTLOOK_H

#include "search/local_walk.h"

typedef struct berth_outlook {
    const berth_stroll *walk;
    const berth_problem *problem;
    const berth_costs *costs;
    bool has_times;      /* the makespan is the end of a chain: not under `serial`, not for throughput */
    double scale;        /* mean over tasks of the shortest time: what milliseconds are compared with */
    double ms;           /* of the current placement */
    double *start, *end; /* [n_tasks]; 0 without has_times, as ready and tail */
    double *ready;       /* [n_tasks] when the last input is there, if no link is taken */
    double *tail;        /* [n_tasks] from its end to the end of everything, at least */
    int32_t *by_rank;    /* [n_tasks] tasks as they start */
    int32_t *rank;       /* [n_tasks] its inverse */
    int32_t *lane_start; /* [n_devices + 1] */
    int32_t *lane;       /* [n_tasks] tasks by device, as they start */
    int32_t *lane_place; /* [n_tasks] its inverse */
    double *load;        /* [n_devices] time of all tasks there */
    double *peak;        /* [n_devices] bytes, if memory binds */
    double *need;        /* [n_units] bytes that go where the unit goes: weights, half of what it makes; else given */

    /* scratch of guesses */
    uint32_t round;
    uint32_t *unit_mark;        /* [n_units] equal to round: in the group */
    uint32_t *value_mark;       /* [n_values] equal to round: its copies were counted */
    double *new_end, *new_tail; /* [n_tasks] of the group */
    int32_t *group;             /* [n_tasks] its tasks by rank */
    int32_t *lane_fill;         /* [n_devices] */
    berth_sim *sim;             /* for peaks */
} berth_outlook;

/* What a change would do, as guessed. Times in milliseconds. */
typedef struct berth_guess {
    int32_t n_tasks;
    double path;                           /* the longest chain through what is changed */
    double late;                           /* by how much some reader gets a value later than it can bear; or less */
    double delay;                          /* the largest change of a start */
    double push;                           /* how far it reaches into what runs next on the new device */
    double time, old_time;                 /* sums over its tasks */
    double copies;                         /* change of the sum of all copies: exact */
    double slack;                          /* least of its tasks */
    int32_t n_critical;                    /* tasks without slack */
    double critical_time;                  /* theirs, now */
    double wait;                           /* sum of what its tasks wait for their device */
    double busy;                           /* share of the time it would run in that the device is taken */
    int32_t n_near, near_there, near_here; /* ends of values at the boundary of the group, and on which device */
    double bytes;                          /* that come along */
} berth_guess;

/* Room for all of it in the arena; reads nothing yet. */
berth_status berth_outlook_init(berth_outlook *outlook, const berth_stroll *walk, berth_arena *arena);
void berth_outlook_deinit(berth_outlook *outlook);
/* Takes in the current placement of the walk, whose last run must have been of it. */
void berth_outlook_read(berth_outlook *outlook);

/* How much later the task could end without anything else ending later. */
static inline double berth_outlook_slack(const berth_outlook *s, int32_t task) {
    double slack = s->ms - s->end[task] - s->tail[task];
    return slack > 0 ? slack : 0;
}
static inline bool berth_outlook_is_critical(const berth_outlook *s, double slack) {
    return slack <= 1e-9 * s->ms;
}

/* Units on another device; `place` (-1: as it is) is the new place in the order of the only task. */
void berth_outlook_guess_move(berth_outlook *outlook, const int32_t *units, int32_t n, int32_t to, int32_t place,
                              berth_guess *out);
/* A task at another place in the order of its device. */
void berth_outlook_guess_order(berth_outlook *outlook, int32_t task, int32_t place, berth_guess *out);
/* Both at once, for swaps. */
void berth_guess_join(berth_guess *guess, const berth_guess *other);

#endif
