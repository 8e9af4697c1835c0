/* SPDX-License-Identifier: Apache-2.0 */
/* The best placement under `contiguous`, by walks over ideals that keep more and more of what they see. */
#include "search/exact_contiguous.h"
#include "search/exact.h"

#include "search/exact_contiguous_walk.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

berth_status berth_search_exact_contiguous(berth_search *search) {
    berth_contiguous *m = NULL;
    BERTH_TRY(berth_search_bound_contiguous(search));
    BERTH_TRY(berth_contiguous_new(search, &m, (berth_contiguous_options){.drop = true}));
    berth_status status = BERTH_OK;
    bool talk = getenv("TALK") != NULL;
    if (talk)
        fprintf(stderr, "tasks %d blocks %d dropped %d states %d bound %g\n", m->c->n_tasks, m->n_blocks, m->n_dropped,
                m->n_states, search->bound_ms);
    size_t widths[] = {1, 4, 16, 64, SIZE_MAX};
    for (int i = 0; i < 5 && status == BERTH_OK; i++) {
        berth_walk_limits limits = {widths[i], widths[i], widths[i] == SIZE_MAX ? SIZE_MAX : 1000 * widths[i],
                                    (size_t)3 << 29};
        berth_walk_result r = {0};
        double t = berth_search_clock();
        int64_t ev = search->evaluations;
        status = berth_contiguous_walk(search, m, limits, &r);
        if (talk)
            fprintf(stderr, "width %zu: best %.6f least %.6f complete %d search %.6f, %.3f s %ld labels\n", widths[i],
                    r.best_ms, r.least_ms, r.complete, search->best_ms, berth_search_clock() - t,
                    (long)(search->evaluations - ev));
        if (m->problem->bounds_hold)
            berth_search_bound(search, r.least_ms < search->best_ms * (1 - 1e-9) ? r.least_ms : search->best_ms);
        if (r.complete || berth_search_stop(search)) break;
    }
    berth_contiguous_free(m);
    return status;
}
