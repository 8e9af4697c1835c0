/* SPDX-License-Identifier: Apache-2.0 */
/* The network of `placeto` (Addanki and others 2019): nodes are embedded, then send messages along the edges for some
 * rounds, and against them by a second pair of functions; the device of one node is chosen from what it became and from
 * the means over its ancestors, its descendants, and the nodes parallel to it.
 *
 *     x_v      = embed(features of v)
 *     x_v     += g(mean over the predecessors u of v of f(x_u))       some rounds; y_v the same over successors
 *     choice   = head[x_v, y_v, mean of a(x, y) over ancestors, of d(x, y) over descendants, of p(x, y) over the rest]
 */
#ifndef BERTH_LEARN_PLACETO_NET_H
#define BERTH_LEARN_PLACETO_NET_H

#include "policy/layers.h"

enum { BERTH_PLACETO_SETS = 3 };

typedef struct berth_placeto_net {
    int32_t width, hidden, n_devices, n_rounds;
    int32_t embedding; /* columns of x and of y */
    berth_mlp embed, send[2], receive[2], pool[BERTH_PLACETO_SETS], head;
} berth_placeto_net;

/* Declares the parameters. False: no memory. */
bool berth_placeto_declare(berth_placeto_net *net, berth_params *params);
void berth_placeto_reset(const berth_placeto_net *net, berth_params *params, berth_rng *rng);

/* What the graph looks like from one node: means over predecessors and over successors, each with its transposed; and
 * the sets of other nodes. Borrowed until the tape is cleared. */
typedef struct berth_placeto_look {
    berth_csr mean[2], transposed[2];
    int32_t node;
    const int32_t *set[BERTH_PLACETO_SETS]; /* ancestors, descendants, others */
    int32_t span[BERTH_PLACETO_SETS][2];    /* 0 and the size of each */
} berth_placeto_look;

/* Log-probabilities of devices: 1 x n_devices. */
berth_matrix *berth_placeto_forward(const berth_placeto_net *net, const berth_run *run, berth_matrix *features,
                                    const berth_placeto_look *look, const uint64_t *mask);

#endif
