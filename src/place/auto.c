/* SPDX-License-Identifier: Apache-2.0 */
/* `auto`: cheap methods first, then what may prove an optimum, then improvement on all threads until the budget ends.
 * It stops as soon as the best placement meets the bound. */
#include "place/auto.h"

/* What is left of the whole budget, or the given share of the whole in seconds if that is less. */
static berth_budget budget_left(const berth_crew *crew, double share) {
    const berth_budget *whole = &crew->best->budget;
    double until = berth_crew_seconds(crew) + share * whole->seconds;
    return (berth_budget){
        .evaluations = berth_search_left(crew->best),
        .seconds = until < whole->seconds ? until : whole->seconds,
    };
}

static berth_status build_all(berth_crew *crew) {
    static const char *const builders[] = {"greedy", "fastest", "heft", "cut", "m-etf", "m-sct"};
    for (size_t i = 0; i < sizeof builders / sizeof *builders && !berth_crew_done(crew); i++)
        BERTH_TRY(berth_crew_try(crew, builders[i], budget_left(crew, 0.25)));
    return BERTH_OK;
}

berth_status berth_place_auto(berth_crew *crew) {
    BERTH_TRY(build_all(crew));
    if (!berth_crew_done(crew)) BERTH_TRY(berth_crew_try(crew, "exact", budget_left(crew, 1)));
    return BERTH_OK;
}
