/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of the `serial` model, bounded by changes of device along paths. */
#ifndef BERTH_SEARCH_BOUND_PIECES_H
#define BERTH_SEARCH_BOUND_PIECES_H

#include "search/terms.h"

typedef struct berth_pieces {
    bool any;             /* pieces cost */
    int32_t n_parts;      /* connected sets of tasks */
    int32_t *part_of;     /* [n_tasks] */
    int32_t *via;         /* [n_tasks] room: position of the read on the best path that ends here, or -1 */
    int32_t *changes;     /* [n_tasks] room: on that path */
    int32_t *length;      /* [n_tasks] room: tasks on it */
    int32_t *end;         /* [n_parts] room: where the part's best path ends */
    int32_t *producer_of; /* by position in costs->readers: the task that makes the value, or -1 */
    double *spread;       /* the same: weights of changes, in all at most piece_ms on each path */
} berth_pieces;

bool berth_pieces_init(berth_pieces *pieces, berth_arena *arena, const berth_problem *problem);
/* Moves a share of the weight to the paths with the most changes of device in a placement of nodes (NULL: to the
 * longest paths). */
void berth_pieces_move(berth_pieces *pieces, const berth_terms *terms, const int32_t *device, double share);

#endif
