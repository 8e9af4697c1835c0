/* SPDX-License-Identifier: Apache-2.0 */
/* All methods that make a placement in one go, but for `cut`, which evaluates every cut between every two devices and
 * would leave nothing of a small budget. */
#include "learn/seeds.h"

#include "learn/settings.h"
#include "search/min_cut.h"
#include "search/search_methods.h"

berth_status berth_learn_seeds(berth_search *search, int which) {
    static berth_status (*const methods[])(berth_search *) = {
        berth_search_single, berth_search_fastest, berth_search_greedy, berth_search_heft,
        berth_search_m_etf,  berth_search_m_sct,   berth_search_metis,  berth_search_min_cut,
    };
    enum { N_METHODS = sizeof methods / sizeof *methods };
    int n = which == BERTH_SEEDS_ALL ? N_METHODS : which == BERTH_SEEDS_SINGLE ? 1 : 0;
    for (int i = 0; i < n && !berth_search_stop(search); i++) {
        berth_status status = methods[i](search);
        if (status != BERTH_OK && status != BERTH_E_UNSUPPORTED) return status;
    }
    return BERTH_OK;
}
