/* SPDX-License-Identifier: Apache-2.0 */
/* From a problem to its answer, by one method or the portfolio; costs and plans are not its business. */
#ifndef BERTH_PLACE_SOLVE_H
#define BERTH_PLACE_SOLVE_H

#include "place/crew.h"

/* Run the method with the whole budget of the crew, whose best is then the answer, or has none (and BERTH_OK) if
 * nothing feasible was found. single_ms [n_devices] gets what everything on one device takes, INFINITY where that is
 * not feasible. */
berth_status berth_crew_solve(berth_crew *crew, const berth_method *method, double *single_ms);

/* Whether the method, with these settings if it learns, is asked about the crew's starts first. */
bool berth_crew_takes_starts(const berth_method *method, const berth_settings *settings);

#endif
