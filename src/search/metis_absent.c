/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of metis.c where METIS was not found when this was built. */
#include "search/search_methods.h"

berth_status berth_search_metis(berth_search *search) {
    return berth_fail(search->ctx, BERTH_E_UNSUPPORTED, "this berth was built without METIS");
}

bool berth_search_has_metis(void) {
    return false;
}
