/* SPDX-License-Identifier: Apache-2.0 */
/* The network that chooses one of several proposals, and how it learns from what came of its choices: clipped policy
 * gradient (Schulman et al. 2017). Every proposal is scored by itself, sights -> hidden -> 1, and one is drawn by the
 * softmax of the scores. */
#ifndef BERTH_LEARN_CHOOSER_H
#define BERTH_LEARN_CHOOSER_H

#include "learn/policy.h"

typedef struct berth_chooser {
    berth_policy *policy;
    berth_tape *tape;
    int32_t n_sights, most; /* proposals of one choice */
    berth_matrix *hidden_weight, *hidden_bias, *score_weight, *score_bias;

    /* the last choices, in a ring */
    int32_t window, n_choices, next;
    berth_real *sights;    /* [window * most * n_sights] */
    int32_t *n_proposals;  /* [window] */
    int32_t *picked;       /* [window] */
    berth_real *log_p;     /* [window] of what was picked, then */
    berth_real *advantage; /* [window] */

    /* scratch of updates */
    berth_real *rows;    /* [window * most * n_sights] */
    int32_t *row_start;  /* [window + 1] */
    int32_t *row_picked; /* [window] */
    double entropy;      /* of the last choice */
} berth_chooser;

/* Declares its parameters; `init` finds them again. */
void berth_chooser_declare(berth_params *layout, int32_t n_sights, int32_t hidden);
/* Initial weights. */
void berth_chooser_reset(berth_policy *policy, berth_rng *rng);
berth_status berth_chooser_init(berth_chooser *chooser, berth_ctx *ctx, berth_policy *policy, int32_t n_sights,
                                int32_t most, berth_arena *arena);
void berth_chooser_deinit(berth_chooser *chooser);

/* Where the sights of the next choice go, [most * n_sights]. */
berth_real *berth_chooser_sights(berth_chooser *chooser);
/* Draws one of the n proposals whose sights are there. */
berth_status berth_chooser_draw(berth_chooser *chooser, int32_t n, berth_rng *rng, int32_t *picked);
/* What the last choice was worth. */
void berth_chooser_reward(berth_chooser *chooser, double advantage);
/* Adds the gradient of the loss over the choices in the window. */
berth_status berth_chooser_backward(berth_chooser *chooser);

#endif
