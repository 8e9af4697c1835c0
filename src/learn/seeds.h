/* SPDX-License-Identifier: Apache-2.0 */
/* Classical placements to start from. They are candidates for the answer and never training data. */
#ifndef BERTH_LEARN_SEEDS_H
#define BERTH_LEARN_SEEDS_H

#include "search/search.h"

/* Offers what the setting asks for (BERTH_SEEDS_ALL, BERTH_SEEDS_SINGLE, BERTH_SEEDS_NONE); each counts its
 * evaluations. Methods that this build lacks, or that do not fit the problem, are left out. */
berth_status berth_learn_seeds(berth_search *search, int which);

#endif
