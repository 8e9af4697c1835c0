/* SPDX-License-Identifier: Apache-2.0 */
/* The classical placements that improvement may start from, each counted: one list, so that methods that are compared
 * start from the same. Those that try very many placements are not in it: `cut` never, METIS as far as half of what
 * is left allows, which on many devices is hundreds.
 *
 * Where a judge decides they are not built here: decisions on the way would be taken for evaluations, which are dear
 * there. Whoever has a judge asks him about what was built on the model beforehand. */
#include "search/min_cut.h"
#include "search/search_methods.h"

static berth_status build_some(berth_search *search) {
    berth_status (*const build[])(berth_search *) = {
        berth_search_greedy, berth_search_fastest, berth_search_heft, berth_search_m_etf, berth_search_m_sct, NULL,
    };
    if (!search->has_best) BERTH_TRY(berth_search_single(search));
    for (int i = 0; build[i] && !berth_search_stop(search); i++) BERTH_TRY(build[i](search));
    bool serial = search->problem->costs->model == BERTH_MODEL_SERIAL;
    return serial && !berth_search_stop(search) ? berth_search_min_cut(search) : BERTH_OK;
}

berth_status berth_search_seeds(berth_search *search) {
    if (search->judge) return search->has_best ? BERTH_OK : berth_search_single(search);
    BERTH_TRY(build_some(search));
    if (!berth_search_has_metis() || berth_search_stop(search)) return BERTH_OK;
    int64_t whole = search->budget.evaluations;
    if (whole < INT64_MAX) search->budget.evaluations -= berth_search_left(search) / 2;
    berth_status status = berth_search_metis(search);
    search->budget.evaluations = whole;
    return status == BERTH_E_UNSUPPORTED ? BERTH_OK : status;
}
