/* SPDX-License-Identifier: Apache-2.0 */
/* What a network sees of a problem: nodes that get one device each, and the edges between them.
 *
 * A node is a co-located group of operations, constants included as the published system has them, or, without a rule
 * or without a graph, a unit of the problem. Whatever the rule says, tasks of one unit are in one node, and the tasks
 * of a node share a device that all of them may use: a device for every node is a placement that obeys all of the
 * problem's constraints but for memory. */
#ifndef BERTH_POLICY_VIEW_H
#define BERTH_POLICY_VIEW_H

#include "cost/costs.h"
#include "policy/links.h"

/* In the order of the setting `colocate`. */
typedef enum berth_view_rule {
    BERTH_VIEW_PAPER,
    BERTH_VIEW_CODE,
    BERTH_VIEW_FUSED,
    BERTH_VIEW_NONE, /* units */
} berth_view_rule;

/* A problem, as far as it matters here (search/problem.h). */
typedef struct berth_view_source {
    const berth_costs *costs;
    int32_t n_units;
    const int32_t *unit_of;  /* [n_tasks] */
    const uint64_t *allowed; /* [n_units] devices by bit, never 0 */
} berth_view_source;

typedef struct berth_view {
    berth_arena arena;
    const berth_costs *costs;
    int32_t n_nodes;                       /* by the topological position of their last operation; units by number */
    const int32_t *node_of;                /* [n_tasks] */
    const int32_t *task_start, *tasks;     /* CSR: tasks of a node, ascending; none in a node of constants */
    const int32_t *op_start, *ops;         /* CSR: operations of a node in topological order; NULL without a graph */
    const uint64_t *allowed;               /* [n_nodes] devices by bit, never 0; all for a node without tasks */
    int32_t n_edges;                       /* directed, distinct, between different nodes */
    const int32_t *edge_from, *edge_to;    /* [n_edges] sorted by (from, to) */
    const int32_t *in_degree, *out_degree; /* [n_nodes] */
    berth_links links;                     /* the same edges both ways */
} berth_view;

/* The costs must outlive the view. BERTH_OK, BERTH_E_NOMEM. Linear but for the groups' own rules. */
berth_status berth_view_new(berth_ctx *ctx, berth_view **out, const berth_view_source *source, berth_view_rule rule);
void berth_view_free(berth_view *view);

/* device [n_tasks] of tasks from that of nodes, [n_nodes]. */
void berth_view_spread(const berth_view *view, const int32_t *node_device, int32_t *device);
/* mask [n_clusters]: the devices that all nodes of a cluster may use; 0 where they share none. */
void berth_view_masks(const berth_view *view, const int32_t *cluster_of, int32_t n_clusters, uint64_t *mask);

#endif
