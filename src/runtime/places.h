/* SPDX-License-Identifier: Apache-2.0 */
/* Whether operations ran where a placement has them, and why not. */
#ifndef BERTH_RUNTIME_PLACES_H
#define BERTH_RUNTIME_PLACES_H

#include "runtime/model.h"

typedef struct berth_places {
    const char *const *devices; /* of the placement */
    const int32_t *device;      /* [n_ops] */
    const berth_candidate *candidate;
    bool native_precision;

    int32_t n_checked; /* operations of which it is known where they ran */
    int32_t n_deviations;
    const berth_deviation *deviations;
    int32_t n_pieces; /* that the runtime has made of it; 0: it does not say */
    int32_t n_planned_pieces;
    const char *const *pieces; /* the device of each */
} berth_places;

/* One process with the runtime's own profile, and one more for a device whose operations are found on the host without
 * having been fused with what is placed there: an operation is kept there by the runtime only if a stock session with
 * everything on that device keeps it there, too, or if it computes shapes. Everything else is not explained.
 * Deviations go into `arena`, what is needed on the way into the model's. */
berth_status berth_places_check(berth_run_model *model, berth_arena *arena, berth_places *places);

/* shapes [n_ops]: the operation works on the shapes of tensors alone, which hosts know anyway: Shape and Size, and
 * whatever reads nothing but constants and results of such. */
void berth_places_shapes(const berth_graph *graph, bool *shapes);

#endif
