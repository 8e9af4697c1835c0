/* SPDX-License-Identifier: Apache-2.0 */
/* The seeds are those of search/seeds.c, so that whatever is compared with a learned method starts from the same. */
#include "learn/seeds.h"

#include "learn/settings.h"
#include "search/search_methods.h"

berth_status berth_learn_seeds(berth_search *search, int which) {
    if (which == BERTH_SEEDS_ALL) return berth_search_seeds(search);
    return which == BERTH_SEEDS_SINGLE && !search->has_best ? berth_search_single(search) : BERTH_OK;
}
