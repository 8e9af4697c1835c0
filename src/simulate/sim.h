/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: what a placement takes under an execution model.
 *
 * A simulator is set up once for some costs and then evaluates any number of placements without allocating. It is
 * not shared between threads: each has its own. `device` has an entry per task; `priority` (smaller first) may be
 * NULL: the task's own number under `concurrent`, file order under `queued`. Ties break by task number.
 *
 * Infeasible placements (a task where it cannot run, a device over capacity, a part that is not convex under
 * `contiguous`) take INFINITY.
 *
 * serial      sum of times + one copy per (value, other device that reads it or wants it) + piece_ms per piece.
 *             level(t) = max over predecessors p of level(p) + [device differs]; a piece is a connected set of tasks
 *             of equal device and level.
 * queued      host clock h, one queue clock q per other device; tasks in file order (or by priority). On the host:
 *             h += t. Elsewhere: h += launch, q = max(q, h) + t. Copy in: h += fixed, q = max(q, h) + rest. Copy out:
 *             h = max(h, q) + fixed + rest. Between two other devices: out, then in. A copy happens just before its
 *             first reader; outputs still missing on their target are copied at the end, in value order. The
 *             makespan is the largest clock.
 * concurrent  at every moment first all tasks that end then are completed (by task number), then every free device
 *             (by number) starts, among its tasks whose inputs have arrived, the one of smallest priority. Copies
 *             start when their producer ends (values from the start: at 0), values in order, devices in order; on a
 *             queued link each waits for the one before. The makespan is the last end or arrival at a target.
 * contiguous  every device but the host runs one convex set of tasks: starts when all inputs from outside are on
 *             the host, takes inputs in + times + outputs out (each value once), and only then are its outputs on
 *             the host. The host runs any number of tasks at once. */
#ifndef BERTH_SIMULATE_SIM_H
#define BERTH_SIMULATE_SIM_H

#include "cost/costs.h"

typedef struct berth_sim berth_sim;

berth_status berth_sim_new(berth_ctx *ctx, berth_sim **out, const berth_costs *costs);
void berth_sim_free(berth_sim *sim);

/* The makespan, or the largest load for BERTH_OBJECTIVE_THROUGHPUT. */
double berth_sim_run(berth_sim *sim, const int32_t *device, const int32_t *priority);
/* After a run: when each task started and ended, [n_tasks]; for policies and reports. Valid under every model. */
const double *berth_sim_starts(const berth_sim *sim);
const double *berth_sim_ends(const berth_sim *sim);
/* After a run: peak bytes per device (computed even where there is no limit, on demand). */
void berth_sim_memory(berth_sim *sim, const int32_t *device, const int32_t *priority, double *peak);

/* Single moves. `load` evaluates a placement and keeps it; `try` says what it would take with the tasks of a list on
 * another device, without changing it; `move` changes it. Under `serial` without pieces and without a binding memory
 * limit a try costs only the values around the moved tasks; otherwise it is a full run. The kept makespan drifts by
 * rounding under many moves: `load` again, or run, for a number to report. */
double berth_sim_load(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_try(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to);
double berth_sim_move(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to);

#endif
