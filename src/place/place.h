/* SPDX-License-Identifier: Apache-2.0 */
/* berth_place() with somebody who runs placements in place of the simulator. */
#ifndef BERTH_PLACE_PLACE_H
#define BERTH_PLACE_PLACE_H

#include "berth/place.h"

typedef struct berth_runner {
    /* What a placement of operations takes, ms; INFINITY: it could not be run. `by`: the method that wants to know.
     * *known: it was asked for before. Not BERTH_OK: it is not asked further, and BERTH_E_LIMIT is no failure then if
     * something could be run. */
    berth_status (*run)(void *user, const int32_t *device, const char *by, double *ms, bool *known);
    void *user;
    /* Placements of operations that are asked for after single devices, if the method starts from classical ones. */
    const int32_t *const *starts; /* [n_starts] */
    int32_t n_starts;
} berth_runner;

/* Every device alone is asked for first, whatever the method. The makespan and the single devices of the plan are as
 * predicted; there is no bound. Units are kernels (kernels.h) unless the options say otherwise; everything is done by
 * the calling thread. `runner` NULL: berth_place().
 * @return what berth_place() returns; what the runner returned */
berth_status berth_place_by(berth_ctx *ctx, berth_plan **out, const berth_graph *graph, const berth_device_set *devices,
                            const berth_place_options *options, const berth_runner *runner);

#endif
