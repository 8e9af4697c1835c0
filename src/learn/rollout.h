/* SPDX-License-Identifier: Apache-2.0 */
/* The published policy on one problem: a network over the nodes of a view that draws placements. What the nodes,
 * features, layers and the architecture are, the settings say. */
#ifndef BERTH_LEARN_ROLLOUT_H
#define BERTH_LEARN_ROLLOUT_H

#include "learn/policy.h"
#include "policy/features.h"
#include "policy/head.h"
#include "policy/view.h"

/* In the order of the setting `architecture`. */
typedef enum berth_architecture {
    BERTH_ENCODER_PLACER, /* every node is placed */
    BERTH_GROUPER_PLACER, /* a fixed number of groups, drawn */
    BERTH_JOINT,          /* as many clusters as parsing gives */
} berth_architecture;

typedef struct berth_rollout {
    berth_search *search;
    berth_policy *policy;
    berth_view *view;
    berth_architecture architecture;
    berth_gpn gpn;
    berth_head head;
    berth_grouper grouper;
    int32_t width;
    berth_real *start; /* [n_nodes * width] features of the nodes */
    berth_tape *tape;
    berth_rng drops, draws;
    int32_t *device; /* [n_tasks] of the last sample */
} berth_rollout;

/* A placement that was drawn, and what is needed to ask for its probability again. */
typedef struct berth_sample {
    const berth_real *x; /* [n_nodes * width] what the network saw */
    berth_rng drops;     /* before its dropouts */
    berth_gpn_pass pass;
    int32_t *action;       /* [n_clusters] device */
    berth_matrix *log_p;   /* 1 x 1: of the whole placement; on the tape */
    berth_matrix *entropy; /* 1 x 1: of all choices */
} berth_sample;

/* What the settings say of features and of the network. */
berth_feature_options berth_settings_features(const berth_settings *settings);
berth_gpn_options berth_settings_network(const berth_settings *settings, int32_t width);

/* Views the problem, declares the network and gives it initial weights if the policy is fresh. BERTH_E_ARG if the
 * policy learnt on other features. Close whatever open gave. */
berth_status berth_rollout_open(berth_rollout *rollout, berth_search *search, berth_policy *policy);
void berth_rollout_close(berth_rollout *rollout);

/* Draws a placement, into rollout->device. What is on the tape stays until that is cleared; the rest is in the arena.
 * BERTH_OK, BERTH_E_NOMEM, BERTH_E_NUMERIC. */
berth_status berth_rollout_sample(berth_rollout *rollout, berth_arena *arena, const berth_real *x, berth_sample *out);
/* Puts a sample on the tape again, under the parameters of now: log_p and entropy; communities and choices stay. */
berth_status berth_rollout_replay(berth_rollout *rollout, berth_arena *arena, berth_sample *sample);
/* Every node adds its cluster's output to what it looks like (shared/HSDAG.md 6.1). */
void berth_rollout_advance(const berth_rollout *rollout, const berth_sample *sample, berth_real *x);

#endif
