/* SPDX-License-Identifier: Apache-2.0 */
/* What a network is told of each node: numbers in columns, block by block, each block switchable.
 *
 *     type         mean of the one-hots of the operations' types          shared/HSDAG.md 3.1, the six of the paper
 *     shape        log(1 + dimension) of what its last operation yields
 *     in, out      one-hot of the degree's place among all degrees
 *     fractal      how fast the neighbourhood grows
 *     position     index, rank or sinusoids of the topological position
 *     cost         times, copies, bytes and slack, scaled to this problem  ours, 14.6
 *
 * The code of the paper has type and index only. A plan fixes the columns, from one view or from all that a network is
 * to learn on, so that a column means the same in each. What it does not know (a type, a further dimension) is left
 * out; a degree that it does not know counts as the next smaller one that it knows. */
#ifndef BERTH_POLICY_FEATURES_H
#define BERTH_POLICY_FEATURES_H

#include "policy/view.h"
#include "tensor/real.h"

/* In the order of the setting `feature_position`. */
typedef enum berth_position {
    BERTH_POSITION_NONE,
    BERTH_POSITION_INDEX,    /* 0, 1, ...: as the code has it */
    BERTH_POSITION_RANK,     /* the same over the number of nodes */
    BERTH_POSITION_SINUSOID, /* of 1, 2, ... */
} berth_position;

typedef struct berth_feature_options {
    bool type, shape, in_degree, out_degree, fractal, cost;
    berth_position position;
    int32_t position_width; /* of sinusoids */
} berth_feature_options;

typedef struct berth_feature_plan {
    berth_arena arena;
    berth_feature_options options;
    int32_t n_types;
    const char *const *types; /* sorted by bytes */
    int32_t n_dims;           /* the largest rank */
    int32_t n_in, n_out;
    const int32_t *in_degrees, *out_degrees; /* ascending */
    int32_t n_devices;
    int32_t width; /* columns in all */
} berth_feature_plan;

/* All views have the same number of devices. Names are copied. BERTH_OK, BERTH_E_NOMEM. */
berth_status berth_feature_plan_new(berth_ctx *ctx, berth_feature_plan **out, const berth_feature_options *options,
                                    const berth_view *const *views, int32_t n_views);
void berth_feature_plan_free(berth_feature_plan *plan);
/* x [n_nodes * width]. BERTH_OK, BERTH_E_NOMEM. */
berth_status berth_features_fill(berth_ctx *ctx, const berth_feature_plan *plan, const berth_view *view, berth_real *x);

/* --- the blocks, one by one; columns that they do not set are 0 already ------------------------------------------ */
/* Where a block lies: the row of a node starts at first[node * stride]. */
typedef struct berth_block {
    berth_real *first;
    int32_t stride;
} berth_block;

void berth_feature_type(const berth_view *view, int32_t n_types, const char *const *types, berth_block block);
/* The rank of what the node's last operation yields, -1 if it yields nothing or that is not known. */
int32_t berth_node_rank(const berth_view *view, int32_t node);
void berth_feature_shape(const berth_view *view, int32_t n_dims, berth_block block);
void berth_feature_degree(int32_t n_nodes, const int32_t *degree, int32_t n_values, const int32_t *values,
                          berth_block block);
void berth_feature_index(int32_t n_nodes, berth_block block);
void berth_feature_rank(int32_t n_nodes, berth_block block);
void berth_feature_sinusoid(int32_t n_nodes, int32_t width, berth_block block);

/* D(v): least-squares slope of log N(v, r) over log r, where N(v, r) nodes other than v lie within r links of it,
 * directions ignored, one point for each r up to the farthest node; 0 for fewer than two points.
 *
 * That walks the graph once from every node. Where it would visit more than 2^24 nodes and links in all, each walk ends
 * at its share of them (at least 256), and the radius it was at is left out: then D(v) is the growth nearby. */
bool berth_feature_fractal(berth_arena *scratch, const berth_links *links, berth_block block);
/* The slope alone: of y over x. */
double berth_slope(int32_t n, const double *x, const double *y);

/* Columns of the cost block for so many devices. */
int32_t berth_cost_width(int32_t n_devices);
bool berth_feature_cost(berth_arena *scratch, const berth_view *view, berth_block block);

#endif
