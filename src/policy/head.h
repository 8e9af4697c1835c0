/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing: devices of clusters (shared/HSDAG.md section 5), and groups of nodes for the architecture that learns to
 * assign a fixed number of groups. */
#ifndef BERTH_POLICY_HEAD_H
#define BERTH_POLICY_HEAD_H

#include "policy/gpn.h"

/* Linear, ReLU, Linear. */
typedef struct berth_head {
    int32_t weight[2], bias[2];
} berth_head;

/* classifier.0 and classifier.2, from `width` features over `hidden` to a number per device. False: no memory. */
bool berth_head_declare(berth_head *head, berth_params *params, int32_t width, int32_t hidden, int32_t n_devices);
void berth_head_reset(const berth_head *head, berth_params *params, berth_rng *rng);
/* Log-probability of each device for each row of f; those outside of its mask (NULL: none) get none. */
berth_matrix *berth_head_forward(const berth_head *head, const berth_run *run, berth_matrix *f, const uint64_t *mask);

/* One column for each row of log-probabilities. BERTH_E_NUMERIC if they are no numbers. */
berth_status berth_draw(berth_ctx *ctx, const berth_matrix *log_p, berth_rng *rng, int32_t *column);

/* Grouper-placer: every node is assigned to one of n_groups at random, by a softmax over the encoder's z; clusters are
 * the groups that got any. */
typedef struct berth_grouper {
    int32_t n_groups;
    int32_t weight, bias;
} berth_grouper;

bool berth_grouper_declare(berth_grouper *grouper, berth_params *params, int32_t hidden, int32_t n_groups);
void berth_grouper_reset(const berth_grouper *grouper, berth_params *params, berth_rng *rng);
/* As berth_gpn_forward, with *log_p the log-probability of each node's group: n_nodes x 1. */
berth_status berth_grouper_forward(berth_ctx *ctx, const berth_grouper *grouper, const berth_gpn *gpn, berth_run run,
                                   berth_arena *arena, berth_matrix *x, const berth_links *links, berth_rng *draws,
                                   const berth_gpn_pass *given, berth_gpn_pass *out, berth_matrix **log_p);

#endif
