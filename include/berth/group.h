/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/group.h: co-located groups, the first coarsening of the graph.
 */
#ifndef BERTH_GROUP_H
#define BERTH_GROUP_H

#include "berth/graph.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum berth_group_rule {
    BERTH_GROUP_PAPER, /* sole child with its sole parent: maximal chains */
    BERTH_GROUP_CODE,  /* every operation with one predecessor joins it: out-trees */
    BERTH_GROUP_FUSED, /* chains, and what runtimes fuse or fold: see docs/architecture.md */
} berth_group_rule;

/** "paper", "code", "fused". */
BERTH_API const char *berth_group_rule_name(berth_group_rule rule);

typedef struct berth_group_edge {
    int32_t from, to;
} berth_group_edge;

/**
 * A partition of the operations whose quotient is acyclic. Groups are numbered by the topological position of
 * their last member, members are listed in topological order, edges are distinct and sorted by (from, to).
 * Edges between groups come from all edges, captures included. Under BERTH_GROUP_FUSED an edge out of or into a
 * constant expression is no edge between groups: it is computed before the model runs, and its value is on every
 * device that reads it.
 */
typedef struct berth_groups {
    berth_group_rule rule;
    int32_t n_ops;
    int32_t n_groups;
    const int32_t *group_of;     /* [n_ops] */
    const int32_t *member_start; /* [n_groups + 1] */
    const int32_t *members;      /* [n_ops] */
    int32_t n_edges;
    const berth_group_edge *edges; /* [n_edges] */
} berth_groups;

/**
 * Group the operations. Linear in the graph. Free with berth_groups_free().
 * @return BERTH_OK; BERTH_E_ARG (no such rule); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_groups_build(berth_ctx *ctx, berth_groups **out, const berth_graph *graph,
                                                           berth_group_rule rule);
BERTH_API void berth_groups_free(berth_groups *groups);

/** Check that maps agree in both directions, numbering is as stated and the group graph has no cycle. */
BERTH_API BERTH_MUST_CHECK berth_status berth_groups_check(berth_ctx *ctx, const berth_groups *groups,
                                                           const berth_graph *graph);

#ifdef __cplusplus
}
#endif
#endif
