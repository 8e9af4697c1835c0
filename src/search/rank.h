/* SPDX-License-Identifier: Apache-2.0 */
/* Mean costs and upward ranks (Topcuoglu, Hariri and Wu 2002, section 4.1): how long, on average devices, from a task's
 * start to the end of everything. */
#ifndef BERTH_SEARCH_RANK_H
#define BERTH_SEARCH_RANK_H

#include "search/problem.h"

typedef struct berth_rank {
    double *mean_time; /* [n_tasks] over the devices that its unit may run on */
    double *mean_copy; /* [n_values] over all pairs of devices, equal ones included at 0 */
    double *upward;    /* [n_tasks] */
    int32_t *order;    /* [n_tasks] by falling upward rank, then task number: a topological order */
    int32_t *position; /* [n_tasks] its inverse */
} berth_rank;

/* In the arena; false: no memory. Linear but for the sort. */
bool berth_rank_build(berth_arena *arena, const berth_problem *problem, berth_rank *out);

#endif
