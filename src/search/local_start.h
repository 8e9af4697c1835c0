/* SPDX-License-Identifier: Apache-2.0 */
/* Where walks begin. */
#ifndef BERTH_SEARCH_LOCAL_START_H
#define BERTH_SEARCH_LOCAL_START_H

#include "search/search.h"

/* Makes sure that the search has a best placement, if one is found in at most half of the budget: by the quick methods,
 * and if those are all over some device's memory, by going down from there in how much they are over. */
berth_status berth_search_find_start(berth_search *search);

/* Some units, at least one, on any of their devices, all at once; priority (NULL: none) gets as many exchanges. Now and
 * then everything is drawn anew. */
void berth_search_disturb(berth_search *search, int32_t *device, int32_t *priority);

#endif
