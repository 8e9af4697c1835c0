/* SPDX-License-Identifier: Apache-2.0 */
/* Groups around a unit: others on its device that hang together with it, in one of several shapes. */
#ifndef BERTH_LEARN_SHAPE_H
#define BERTH_LEARN_SHAPE_H

#include "search/local_walk.h"

typedef struct berth_shapes {
    berth_stroll *walk;
    int32_t *after, *before; /* [n_units] the only unit that reads from this one, if that reads from no other; -1: none
                              */
} berth_shapes;

berth_status berth_shapes_init(berth_shapes *shapes, berth_stroll *walk, berth_arena *arena);
/* Up to `size` units, the first among them; their number. The shape is drawn: what is nearest (a ball), a path of
 * producers and readers, or, whatever the size, the branch that the unit is part of. */
int32_t berth_shapes_grow(const berth_shapes *shapes, int32_t unit, int32_t size, int32_t *units);

#endif
