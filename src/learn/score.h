/* SPDX-License-Identifier: Apache-2.0 */
/* What a placement is worth to a method that learns: the logarithm of its makespan, so that a gain counts the same in
 * every model. What cannot run counts as worse than everything that could, by how far it is over memory: an honest
 * signal, and one that leads back. What failed in a real run is another matter: it has no score, and nothing is learnt
 * from it. */
#ifndef BERTH_LEARN_SCORE_H
#define BERTH_LEARN_SCORE_H

#include "learn/learn.h"

typedef struct berth_scores {
    berth_search *search;
    const char *method;
    double *peak; /* [n_devices] */
    double worst; /* the largest score of a feasible placement so far; before the first one, more than any would have */
    bool any;     /* there was one */
    double ms;    /* makespan of the last; INFINITY: infeasible */
    /* since the last berth_scores_tell */
    double sum_ms, best_ms, began;
    int32_t n_ok;
} berth_scores;

/* peak is in the arena; false: no memory. */
bool berth_scores_init(berth_scores *scores, berth_arena *arena, berth_search *search, const char *method);
/* Evaluate a placement of tasks, which counts as one, and offer it if it is the best. Smaller is better; finite, or NAN
 * if it is masked (search->is_masked). The simulator's starts are then those of this placement. */
double berth_scores_of(berth_scores *scores, const int32_t *device, berth_source source);
/* Tell the listener of the search how it went since the last time: entropy per decision, and decisions. */
void berth_scores_tell(berth_scores *scores, double entropy, double decisions);

#endif
