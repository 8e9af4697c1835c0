/* SPDX-License-Identifier: Apache-2.0 */
/* What `placeto` looks at and changes: a placement, one node of which is at hand, as features of all nodes.
 *
 * Columns: log(1 + time) by device and log(1 + copy of its output), over their means; done in this episode; at hand;
 * start in the schedule, over the makespan; one-hot of its device. */
#ifndef BERTH_LEARN_PLACETO_STATE_H
#define BERTH_LEARN_PLACETO_STATE_H

#include "learn/placeto_net.h"
#include "learn/score.h"
#include "learn/sequence.h"

typedef struct berth_placeto_state {
    const berth_sequence *sequence;
    berth_scores *scores;
    int32_t width;
    berth_real *features;    /* [n_steps * width] */
    berth_placeto_look look; /* from the node at hand */
    int32_t *device;         /* [n_steps] */
    double score;            /* of the placement */
    bool feasible;
    /* the best so far, where episodes begin */
    int32_t *best_device;    /* [n_steps] */
    berth_real *best_begins; /* [n_steps] starts in its schedule */
    double best_score;
    bool best_feasible;
    /* scratch */
    int32_t *task_device; /* [n_tasks] */
    int32_t *order;       /* [n_steps] the sets of look, one after the other */
    uint8_t *seen;        /* [n_steps] */
    double *used;         /* [n_devices] bytes that nodes surely take */
} berth_placeto_state;

/* Columns for so many devices. */
int32_t berth_placeto_width(int32_t n_devices);
/* All in the arena; false: no memory. */
bool berth_placeto_state_init(berth_placeto_state *state, berth_arena *arena, const berth_sequence *sequence,
                              berth_scores *scores);
/* Evaluates everything on each device, as far as allowed, and, if none of that fits, everything where there is room.
 * False: the search stopped before the first. */
bool berth_placeto_find_first(berth_placeto_state *state);
/* Back to the best so far. */
void berth_placeto_restart(berth_placeto_state *state);
/* Take a node in hand: it is marked, and `look` is from there. Gives the devices that it may have, without those that
 * surely lack the room. */
uint64_t berth_placeto_take(berth_placeto_state *state, int32_t step);
/* Put the node at hand on a device. Gives what that gained: old minus new score. What cannot run is undone, unless
 * the placement could not run before. */
double berth_placeto_put(berth_placeto_state *state, int32_t device);

#endif
