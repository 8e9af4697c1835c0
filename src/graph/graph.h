/* SPDX-License-Identifier: Apache-2.0 */
/* The graph's arrays, for the folders that walk them. Everything lives in the arena. */
#ifndef BERTH_GRAPH_GRAPH_H
#define BERTH_GRAPH_GRAPH_H

#include "base/arena.h"
#include "berth/graph.h"

struct berth_graph {
    berth_arena arena;
    berth_format format;
    const char *name;
    int64_t version;
    char fingerprint[65];

    int32_t n_ops, n_tensors, n_edges, n_captures, n_pairs;
    berth_op *ops;
    berth_tensor *tensors;
    berth_edge *edges; /* [n_edges + n_captures] */

    int32_t *out_start, *out_edges; /* CSR over all edges; within an operation in edge order */
    int32_t *in_start, *in_edges;
    int32_t *order, *rank;

    int32_t n_inputs, n_outputs;
    int32_t *inputs, *outputs;

    berth_given_costs *given;
};

#endif
