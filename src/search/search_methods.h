/* SPDX-License-Identifier: Apache-2.0 */
/* The classical methods, one file each. What a method is stands in search.h; the table of all is in place/. */
#ifndef BERTH_SEARCH_SEARCH_METHODS_H
#define BERTH_SEARCH_SEARCH_METHODS_H

#include "search/search.h"

berth_status berth_search_single(berth_search *search);
berth_status berth_search_random(berth_search *search);
berth_status berth_search_greedy(berth_search *search);
berth_status berth_search_fastest(berth_search *search);
berth_status berth_search_cut(berth_search *search);
berth_status berth_search_heft(berth_search *search);
berth_status berth_search_m_etf(berth_search *search);
berth_status berth_search_m_sct(berth_search *search);
/* BERTH_E_UNSUPPORTED where METIS was not there when this was built. */
berth_status berth_search_metis(berth_search *search);
bool berth_search_has_metis(void);
/* What those who improve may start from: `greedy`, `fastest`, `heft`, `m-etf`, `m-sct`, under `serial` the minimum cut,
 * `metis` with at most half of what is then left of the evaluations; `single` only if the search has no placement yet.
 * All are counted. */
berth_status berth_search_seeds(berth_search *search);
berth_status berth_search_local(berth_search *search);
berth_status berth_search_anneal(berth_search *search);

#endif
