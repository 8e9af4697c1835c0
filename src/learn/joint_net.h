/* SPDX-License-Identifier: Apache-2.0 */
/* The network of the one-shot policy: groups and their devices, many placements at once, each decision with its
 * log-probability.
 *
 * Every node draws a parent from the softmax over itself and its neighbours; whoever is linked by that is a cluster,
 * and choosing itself is the stop. Clusters draw devices. Encoder, scores of edges, pooling and device head are those
 * of the published network (policy/gpn.h, policy/head.h): what differs is that scores are probabilities of what was
 * drawn, not factors of features. The other two architectures draw a group of a fixed number, or nothing. */
#ifndef BERTH_LEARN_JOINT_NET_H
#define BERTH_LEARN_JOINT_NET_H

#include "learn/rollout.h"

/* What was drawn for one placement. */
typedef struct berth_joint_draw {
    int32_t *choice;     /* [n_nodes] row of its parent, or group; not used by encoder-placer */
    int32_t *cluster_of; /* [n_nodes] */
    int32_t *device;     /* [n_nodes] of clusters */
    int32_t n_clusters;
    double score; /* smaller is better */
} berth_joint_draw;

typedef struct berth_joint_net {
    berth_rollout rollout; /* view, features, parameters, tape, random numbers */
    berth_csr sums;
    /* parents to choose from: for each node itself, then its neighbours */
    int32_t n_rows, *row_start; /* [n_nodes + 1] */
    int32_t *row_from, *row_to; /* [n_rows] */
    double *time;               /* [n_nodes * n_devices] on devices that it may use */
    int32_t *root, *number;     /* [n_nodes] scratch of clusters */
    uint64_t *mask;             /* [n_nodes] the same: devices of a cluster, by its root */
    int32_t *first;             /* [n_groups] the same: first node of a group */
} berth_joint_net;

/* What the network says of some draws, on the tape. */
typedef struct berth_joint_pass {
    berth_matrix *hidden, *summed; /* nodes */
    berth_matrix *choices;         /* log-probabilities: rows x 1, or nodes x groups; NULL: nothing to choose */
    berth_matrix *of_choices;      /* draws * nodes x 1: of what was chosen; NULL likewise */
    berth_matrix *devices;         /* clusters of all draws x devices */
    int32_t n_clusters;
} berth_joint_pass;

/* Arrays in the arena. Close whatever open gave. */
berth_status berth_joint_net_open(berth_joint_net *net, berth_search *search, berth_policy *policy, berth_arena *arena);
void berth_joint_net_close(berth_joint_net *net);
bool berth_joint_draw_init(const berth_joint_net *net, berth_arena *arena, berth_joint_draw *draw);
void berth_joint_draw_copy(const berth_joint_net *net, berth_joint_draw *to, const berth_joint_draw *from);

/* Draws n placements; pass->devices is what the last of the choices were drawn from. The arena is for arrays that live
 * as long as what is on the tape. */
berth_status berth_joint_sample(berth_joint_net *net, berth_arena *arena, berth_joint_draw *draws, int32_t n,
                                berth_joint_pass *pass);
/* The log-probabilities of what was drawn, under the parameters of now. */
berth_status berth_joint_replay(berth_joint_net *net, berth_arena *arena, const berth_joint_draw *const *draws,
                                int32_t n, berth_joint_pass *pass);
/* device [n_tasks] of a draw. */
void berth_joint_spread(const berth_joint_net *net, const berth_joint_draw *draw, int32_t *device);

#endif
