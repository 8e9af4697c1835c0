/* SPDX-License-Identifier: Apache-2.0 */
/* Earliest task first under memory limits, with or without favourite children. */
#ifndef BERTH_SEARCH_M_ETF_H
#define BERTH_SEARCH_M_ETF_H

#include "search/heft_schedule.h"

/* Place all tasks of a fresh schedule. `favourite` [n_tasks] is the child for which a device is kept free after a task,
 * or -1; NULL: none. */
berth_status berth_etf_fill(berth_schedule *schedule, berth_search *search, const int32_t *favourite);

#endif
