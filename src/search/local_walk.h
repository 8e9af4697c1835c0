/* SPDX-License-Identifier: Apache-2.0 */
/* A walk from placement to placement: a current one, moves that are tried and then kept or dropped, and the best seen.
 * Under `concurrent` the order is part of it: it starts from the seed's, or task order, and can be changed too. For
 * local.c and anneal.c.
 *
 * Where the simulator's moves cost only what is around them they are used; else a try is one full run. */
#ifndef BERTH_SEARCH_LOCAL_WALK_H
#define BERTH_SEARCH_LOCAL_WALK_H

#include "search/search.h"

enum { BERTH_STROLL_UNITS = 32 }; /* units in one move; a swap has as many each way */

typedef struct berth_stroll_change {
    int32_t unit, from, to;
} berth_stroll_change;

typedef struct berth_stroll {
    berth_search *search;
    const berth_problem *problem;
    const berth_costs *costs;
    const char *method;
    berth_source source; /* of what it offers; a polished seed unless changed */
    berth_rng *rng;
    berth_arena arena;
    berth_sim *sim;
    bool moves_are_cheap;
    bool has_order;
    bool may_swap;        /* memory may bind, so that single moves may be stuck */
    int32_t *device;      /* [n_tasks] current */
    int32_t *priority;    /* [n_tasks] current, if has_order: always a topological order */
    int32_t *by_priority; /* [n_tasks] its inverse */
    int32_t *near_start;  /* [n_units + 1] */
    int32_t *near;        /* units that make or read a value of a unit; -1 - d: the value starts or must end on d */
    double ms;            /* of the current placement */
    double model_ms;      /* the same as simulated: what the schedule goes with, whatever a judge says */
    int32_t *critical;    /* [n_critical] tasks of a longest chain of the current schedule, if has_order */
    int32_t n_critical;
    int32_t *before; /* [n_tasks] scratch: the task that ran before on the same device */

    /* the move that was tried last */
    berth_stroll_change changes[2 * BERTH_STROLL_UNITS];
    int32_t n_changes;
    int32_t task, place, old_place; /* a task's new and old place in the order; task -1: none */
    double tried_ms, tried_model_ms;
    int32_t *tasks; /* [n_tasks] scratch */
    uint32_t *mark; /* [n_units] scratch: the last growth that met the unit */
    uint32_t growth;

    double seen_ms;             /* best current so far */
    bool is_unoffered;          /* that best has not been offered */
    berth_stroll_change *since; /* [n_units + BERTH_STROLL_UNITS + 1] changes since then, if moves_are_cheap */
    int32_t n_since;
} berth_stroll;

/* Starts from the search's best placement, or else from the best that the quick methods find. If there is none, or
 * nothing can be moved, has_start is false and the walk must not be used. Free in any case if BERTH_OK. */
berth_status berth_stroll_init(berth_stroll *walk, berth_search *search, const char *method, bool *has_start);
void berth_stroll_deinit(berth_stroll *walk);

/* Go to a placement; priority may be NULL. Counts one evaluation. */
void berth_stroll_jump(berth_stroll *walk, const int32_t *device, const int32_t *priority);
/* Back to the best placement of the search. Counts one. */
void berth_stroll_return(berth_stroll *walk);
/* To the best placement, disturbed but feasible; if none comes up in a few tries, which count, to the best. */
void berth_stroll_restart(berth_stroll *walk);

/* Whether the last try, of whatever kind, changed anything: what is drawn at random may come to nothing. */
static inline bool berth_stroll_moved(const berth_stroll *walk) {
    return walk->n_changes > 0 || walk->task >= 0;
}

static inline int32_t berth_stroll_device(const berth_stroll *walk, int32_t unit) {
    return walk->device[walk->problem->unit_tasks[walk->problem->unit_start[unit]]];
}

/* What it would take with n units elsewhere. Each of these counts one evaluation; keep or drop must follow. */
double berth_stroll_try(berth_stroll *walk, const int32_t *units, int32_t n, int32_t to);
/* ... with two sets of units, each set on one device, changing places. Not if moves_are_cheap. */
double berth_stroll_try_swap(berth_stroll *walk, const int32_t *units, int32_t n, const int32_t *others,
                             int32_t n_others);
/* ... with the task moved to another place in the order, between its predecessors and successors. Only if has_order. */
double berth_stroll_try_order(berth_stroll *walk, int32_t task, int32_t place);
/* ... with a unit of one task on another device and that task at another place in the order. Only if has_order. */
double berth_stroll_try_at(berth_stroll *walk, int32_t unit, int32_t to, int32_t place);
/* The place that is past the next `n` tasks of a device, later or earlier, or past as many of them as the task's
 * successors or predecessors allow; its own place if there is none to pass. */
int32_t berth_stroll_find_place(const berth_stroll *walk, int32_t task, int32_t d, int32_t n, bool later);
void berth_stroll_keep(berth_stroll *walk);
void berth_stroll_drop(berth_stroll *walk);

/* Offers the best placement seen if that was not done yet. To be called before a jump and at the end. */
void berth_stroll_offer(berth_stroll *walk);

/* Up to `size` units, the first and others on its device that hang together with it, breadth first; their number. */
int32_t berth_stroll_grow(berth_stroll *walk, int32_t unit, int32_t size, int32_t *units);
/* A device other than its own for a unit: that of a random neighbour, or (one time in ten, or where that is not
 * possible) any that it may run on; -1: there is none. */
int32_t berth_stroll_draw_device(berth_stroll *walk, int32_t unit);
/* A random move of any kind; INFINITY without counting if none came up. */
double berth_stroll_try_random(berth_stroll *walk);

#endif
