/* SPDX-License-Identifier: Apache-2.0 */
/* The last resort of a repair where memory is given per task: packing the units anew. */
#ifndef BERTH_SEARCH_SEARCH_PACK_H
#define BERTH_SEARCH_SEARCH_PACK_H

#include "search/problem.h"

/* Change device[n_tasks] so that every device holds what is on it; false if that was not found in a bounded number of
 * steps (device is then as it was) or there is no memory (the arena says so). The costs must have task_memory. */
bool berth_search_pack(berth_arena *arena, const berth_problem *problem, int32_t *device);

#endif
