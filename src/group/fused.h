/* SPDX-License-Identifier: Apache-2.0 */
/* Groups in the making, for the rule `fused`. Only operations that are no constant expressions take part, and only the
 * edges between them. */
#ifndef BERTH_GROUP_FUSED_H
#define BERTH_GROUP_FUSED_H

#include "graph/kind.h"
#include "group/group.h"

typedef struct berth_fuser {
    const berth_graph *graph;
    const berth_kind **kinds; /* of each operation; NULL if its type is not known */
    int32_t *leader;          /* disjoint sets: towards the leader */
    bool *is_constant;        /* the operation is a constant expression: it takes no part */
    bool *in_pattern;         /* the operation is part of a closed pattern */
} berth_fuser;

/* Whether the edge is between two operations that take part. */
bool berth_fuser_counts(const berth_fuser *fuser, int32_t edge);
bool berth_fuser_has_trait(const berth_fuser *fuser, int32_t op, uint32_t trait);
int32_t berth_fuser_find(berth_fuser *fuser, int32_t op);
/* Join the group of `op` to that of `next`. */
void berth_fuser_join(berth_fuser *fuser, int32_t op, int32_t next);

/* Join each closed pattern of cheap operations (pattern.c). False: no memory. */
bool berth_fuser_join_patterns(berth_fuser *fuser, berth_arena *scratch);

#endif
