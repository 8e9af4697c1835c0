/* SPDX-License-Identifier: Apache-2.0 */
/* The portfolio. */
#ifndef BERTH_PLACE_AUTO_H
#define BERTH_PLACE_AUTO_H

#include "place/crew.h"

/* Everything, within the budget of the crew, whose best is already the best single device, if one is feasible. */
berth_status berth_place_auto(berth_crew *crew);

#endif
