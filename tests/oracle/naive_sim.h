/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator once more, written from the definitions in simulate/sim.h for clarity alone: sets, loops over
 * everything, no state kept. The fast one must agree with it to the last bit. */
#ifndef BERTH_TESTS_NAIVE_SIM_H
#define BERTH_TESTS_NAIVE_SIM_H

#include "cost/costs.h"

enum { NAIVE_MAX_TASKS = 64, NAIVE_MAX_VALUES = 1024, NAIVE_MAX_DEVICES = 8 };

typedef struct naive_result {
    double ms;       /* makespan or largest load; INFINITY: infeasible */
    double makespan; /* whatever the objective, and whether or not memory suffices */
    bool ran;        /* makespan is finite: starts, ends and peaks are valid */
    double start[NAIVE_MAX_TASKS], end[NAIVE_MAX_TASKS];
    double peak[NAIVE_MAX_DEVICES];
    double load[NAIVE_MAX_DEVICES];
    int n_copies, n_pieces;
} naive_result;

/* At most the sizes above. */
naive_result naive_sim_run(const berth_costs *costs, const int32_t *device, const int32_t *priority);

#endif
