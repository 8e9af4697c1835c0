/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this folder share. A rule assigns every operation a leader: two operations are in one group if
 * they have the same one. */
#ifndef BERTH_GROUP_GROUP_H
#define BERTH_GROUP_GROUP_H

#include "base/arena.h"
#include "berth/group.h"
#include "graph/graph.h"

/* Whether an edge of the graph counts between groups under that rule. */
bool berth_group_edge_counts(const berth_graph *graph, berth_group_rule rule, const berth_edge *edge);

/* The only operation that feeds `op` / that `op` feeds, by any number of edges; -1 if there is none or more. */
int32_t berth_group_sole_parent(const berth_graph *graph, int32_t op);
int32_t berth_group_sole_child(const berth_graph *graph, int32_t op);

/* Fill leader[n_ops] by the rule `fused`. False: no memory in `scratch`. */
bool berth_group_fuse(const berth_graph *graph, berth_arena *scratch, int32_t *leader);

#endif
