/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator: what a placement takes under an execution model.
 *
 * A simulator is set up once for some costs and then evaluates any number of placements without allocating. It is
 * not shared between threads: each has its own. `device` has an entry per task; `priority` (smaller first) is a
 * permutation of the numbers below n_tasks, or NULL: the task's own number under `concurrent`, file order under
 * `queued`. The other models have no use for it.
 *
 * Infeasible placements (a task where it cannot run, a copy where no link leads, a device over capacity, a part that is
 * not convex under `contiguous`) take INFINITY.
 *
 * A value is at home where it is made, or where it is from the start. It is wanted on the devices of its readers and on
 * its target.
 *
 * serial      sum of times + one copy per (value, other device where it is wanted) + piece_ms per piece.
 *             level(t) = max over predecessors p of level(p) + [device differs]; a piece is a connected set of tasks
 *             of equal device and level. Tasks run in task order or, where pieces cost, by level, device, number; each
 *             copy just before the first reader there, those to targets at the end.
 * queued      host clock h, one queue clock q per other device; tasks in file order, or by priority, each after its
 *             predecessors. On the host: h += t. Elsewhere: h += launch (unless t is 0), q = max(q, h) + t. Copy in:
 *             h += fixed, q = max(q, h) + rest. Copy out: h = max(h, q) + fixed + rest. Between two other devices: out
 *             (unless it is on the host already), then in. A copy happens just before its first reader; values still
 *             missing on their target are copied at the end, in value order. The makespan is the largest clock. Copies
 *             from a table have no fixed part.
 * concurrent  devices run side by side. Without priorities: at every moment first all tasks that end then are
 *             completed (by task number), then every free device (by number) starts, among its tasks whose inputs have
 *             arrived, the one of smallest number. With priorities: every device runs its tasks in the order of
 *             priorities (each task after its predecessors, the smallest first) and waits where inputs are missing, as
 *             an in-order queue does; waiting for a task that matters can be worth more than starting another. Copies
 *             start when their producer ends (values from the start: at 0), values in order; on a queued link each
 *             waits for the one before. The makespan is the last end or arrival at a target.
 * contiguous  every device but the host runs one convex set of tasks: starts when all inputs from outside are on
 *             the host, takes inputs in + times + outputs out (each value once, by task, then value), and only then are
 *             its outputs on the host. The host runs any number of tasks at once. Values that start on another device
 *             and are wanted elsewhere are copied to the host at 0; those wanted on a target whose part does not read
 *             them follow as soon as they are on the host. No priorities.
 *
 * Load of a device, for throughput under every model: times + one copy from the host per value that is wanted there and
 * at home elsewhere + one copy to the host per value at home there and wanted elsewhere; of the host: its times, shared
 * by max_cpus cores.
 *
 * Memory. Where the costs give task_memory, a device needs the sum over its tasks. Else positions 0, 1, ... are the
 * tasks in the order of execution (`concurrent`: by start, then number; `contiguous`: by number), and a device needs
 * the largest sum over all positions of the weights of all its tasks, each once, and the values that lie there:
 * - at home: from its producer's position (from the start: 0);
 * - elsewhere: from its first reader's position there (`concurrent`: from the first position that starts no sooner than
 *   the copy ends), at the latest from the last position;
 * - to its last reader's position there (`concurrent`: to the last position that starts before all readers there have
 *   ended, if that is later); to the last position on its target;
 * - and until the copies that leave from there are done: the position of the first reader at the other end, or the last
 *   position if none reads it there (`concurrent`: the last position that starts before the copy ends).
 * Under `queued` and `contiguous` copies between two other devices go through the host: home sends one copy there, at
 * the first position where it is wanted away from home; the host sends the others. */
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
/* Peak bytes per device of a placement, also where there is no limit; NAN if it cannot be run at all. */
void berth_sim_memory(berth_sim *sim, const int32_t *device, const int32_t *priority, double *peak);

/* Single moves. `load` evaluates a placement and keeps it; `try` says what it would take with the tasks of a list on
 * another device, without changing it; `move` changes it. Under `serial` without pieces and without a memory limit that
 * may bind a try costs only the values around the moved tasks; otherwise it is a full run. The kept makespan drifts by
 * rounding under many moves: `load` again, or run, for a number to report. Tasks of a list are distinct. Starts and
 * ends are those of the last full run. */
double berth_sim_load(berth_sim *sim, const int32_t *device, const int32_t *priority);
double berth_sim_try(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to);
double berth_sim_move(berth_sim *sim, const int32_t *tasks, int32_t n, int32_t to);

#endif
