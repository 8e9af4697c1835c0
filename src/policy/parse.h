/* SPDX-License-Identifier: Apache-2.0 */
/* Dominant-edge parsing (Graph Parsing Networks, ICLR 2024; shared/HSDAG.md 4.3): scored pairs in, communities out.
 *
 * Every node is drawn to the neighbour of its best pair, its dominant. From the best of these pairs downwards, a
 * community is a node, its dominant, and all whose dominants lead there. A node that may also choose itself
 * (self-pairs) can stay alone, and so end the merging; ties are never won by a self-pair. */
#ifndef BERTH_POLICY_PARSE_H
#define BERTH_POLICY_PARSE_H

#include "policy/links.h"
#include "tensor/real.h"

/* Pairs with their scores: as in berth_links, but self-pairs may be among them. */
typedef struct berth_scored {
    int32_t n_nodes, n_pairs, n_graphs;
    const int32_t *start, *target; /* CSR by source, targets ascending */
    const int32_t *graph_start;
    const berth_real *score; /* [n_pairs] finite */
} berth_scored;

typedef struct berth_parsed {
    int32_t n_communities;                 /* those of a graph stand side by side, in the order they were found */
    const int32_t *community;              /* [n_nodes] */
    const int32_t *inside_start, *inside;  /* CSR by the community of their source: pairs inside one, ascending */
    const int32_t *member_start, *members; /* CSR: nodes of a community, ascending */
    berth_links pooled;                    /* between communities; a link to a node that was drawn away later is lost */
    bool merged;                           /* some graph has fewer communities than nodes */
} berth_parsed;

/* Everything in the arena. False: no memory. O(m + n log n). */
bool berth_parse(berth_arena *arena, const berth_scored *scored, berth_parsed *out);
/* Mean score of the pairs inside a community, 1 if there are none; and how many there are, at least 1. */
double berth_parsed_nu(const berth_parsed *parsed, const berth_real *score, int32_t community);
double berth_parsed_lambda(const berth_parsed *parsed, int32_t community);

#endif
