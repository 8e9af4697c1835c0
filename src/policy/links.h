/* SPDX-License-Identifier: Apache-2.0 */
/* Who is linked with whom: the graph as networks walk it, without directions.
 *
 * Every edge stands twice, as the pairs (u, v) and (v, u); no pair repeats, none joins a node with itself. Pairs are
 * sorted by (source, target), which is also the order in which ties between them are broken. A batch is several graphs
 * side by side: blocks of nodes that no pair leaves. */
#ifndef BERTH_POLICY_LINKS_H
#define BERTH_POLICY_LINKS_H

#include "base/arena.h"

typedef struct berth_links {
    int32_t n_nodes, n_pairs, n_graphs;
    const int32_t *start;       /* [n_nodes + 1] pairs of a source */
    const int32_t *source;      /* [n_pairs] */
    const int32_t *target;      /* [n_pairs] */
    const int32_t *back;        /* [n_pairs] the same pair the other way round */
    const int32_t *graph_start; /* [n_graphs + 1] nodes of a graph */
} berth_links;

/* Pairs in any order, with repeats, made into sorted rows without: counting sorts, so linear. Self-pairs are left out.
 * Gives the number that is left. start [n_rows + 1], source and target [n]; scratch takes 2 n + 2 n_rows numbers.
 * False: no memory. */
bool berth_pairs_sort(berth_arena *scratch, int32_t n_rows, int32_t n, const int32_t *from, const int32_t *to,
                      int32_t *start, int32_t *source, int32_t *target);

/* Of edges in any order and direction; `n_graphs` blocks of nodes (NULL: one graph). Everything in the arena, which is
 * also used for scratch. False: no memory. */
bool berth_links_build(berth_arena *arena, int32_t n_nodes, int32_t n_edges, const int32_t *from, const int32_t *to,
                       int32_t n_graphs, const int32_t *graph_start, berth_links *out);
/* Several side by side; the same one may stand there more than once. */
bool berth_links_join(berth_arena *arena, const berth_links *const *parts, int32_t n_parts, berth_links *out);
/* Fill in `back`, [n_pairs], of sorted pairs that all stand both ways. `cursor` has room for n_nodes numbers. */
void berth_links_turn(const berth_links *links, int32_t *cursor, int32_t *back);

#endif
