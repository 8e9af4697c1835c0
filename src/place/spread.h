/* SPDX-License-Identifier: Apache-2.0 */
/* From devices of tasks to devices of all operations. */
#ifndef BERTH_PLACE_SPREAD_H
#define BERTH_PLACE_SPREAD_H

#include "cost/costs.h"

/* Operations that do not run get the device of those that do: a constant or an input that of its first reader, an
 * output that of its producer. task_device [n_tasks], op_device [n_ops]. */
void berth_spread(const berth_graph *graph, const berth_costs *costs, const int32_t *task_device, int32_t *op_device);

#endif
