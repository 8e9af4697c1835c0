/* SPDX-License-Identifier: Apache-2.0 */
/* A problem as decisions one after another, for methods that place node by node (rnn, placeto): the nodes of a view
 * that hold tasks, each after those it reads from wherever the groups allow. A graph with more nodes than such a method
 * can walk is cut into stretches, in each of which nodes with the same choice of devices are decided together. */
#ifndef BERTH_LEARN_SEQUENCE_H
#define BERTH_LEARN_SEQUENCE_H

#include "learn/policy.h"
#include "policy/view.h"

typedef struct berth_sequence {
    berth_arena arena;
    const berth_problem *problem;
    berth_view *view;
    int32_t n_steps;
    const int32_t *step_of;            /* [n_tasks] */
    const int32_t *task_start, *tasks; /* CSR: tasks of a step */
    const int32_t *node_start, *nodes; /* CSR: nodes of the view of a step, at least one */
    const uint64_t *allowed;           /* [n_steps] devices by bit, never 0 */
    const int32_t *pred_start, *preds; /* CSR: distinct other steps that it reads from, and that read from it */
    const int32_t *succ_start, *succs;
    const double *need; /* [n_steps] bytes that it surely takes where it is; 0 where no limit binds. A weight that
                           several read counts for the first of them only */
} berth_sequence;

/* Nodes by the setting `colocate`; at most `most` steps, times the number of different masks. BERTH_OK, BERTH_E_NOMEM.
 */
berth_status berth_sequence_new(berth_search *search, const berth_settings *settings, int32_t most,
                                berth_sequence **out);
void berth_sequence_free(berth_sequence *sequence);
/* device [n_tasks] from that of steps. */
void berth_sequence_spread(const berth_sequence *sequence, const int32_t *of_step, int32_t *device);

/* A placement while it is being made, step by step in order: which devices are left for the next. */
typedef struct berth_making {
    const berth_sequence *sequence;
    int32_t *device; /* [n_steps] of the steps put so far */
    double *used;    /* [n_devices] bytes */
    /* Under `contiguous`, where each device but the host runs its part in one go: the parts whose outputs a step on the
     * host waits for, or its own part; and the parts that must have ended before a device's part begins. */
    uint64_t *waits;  /* [n_steps] */
    uint64_t *before; /* [n_devices] */
} berth_making;

/* In the arena; false: no memory. */
bool berth_making_init(berth_making *making, berth_arena *arena, const berth_sequence *sequence);
void berth_making_restart(berth_making *making);
/* The devices that step may have, without those where no continuation fits; all that are allowed if none is left. */
uint64_t berth_making_mask(const berth_making *making, int32_t step);
void berth_making_put(berth_making *making, int32_t step, int32_t device);

#endif
