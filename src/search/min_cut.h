/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SEARCH_MIN_CUT_H
#define BERTH_SEARCH_MIN_CUT_H

#include "search/search.h"

/* The placement of least `serial` makespan without pieces and limits: exact for two devices, by expansion moves from
 * every single device for more. Under `serial` the bound that comes with it is raised too. */
berth_status berth_search_min_cut(berth_search *search);

#endif
