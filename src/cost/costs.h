/* SPDX-License-Identifier: Apache-2.0 */
/* Costs: a graph on a set of devices as flat arrays. This is all that simulators and searches see of either.
 *
 * Tasks are the operations that run and are placed: neither constant expressions nor the stand-ins of model inputs and
 * outputs. They are numbered by the graph's topological order, so that values flow from smaller to larger tasks.
 * Values are the tensors that travel: made by a task, or there from the start (model inputs), and read by tasks or
 * wanted at the end (model outputs). Weights are constants that tasks read: never copied, they lie on every device
 * that reads them. */
#ifndef BERTH_COST_COSTS_H
#define BERTH_COST_COSTS_H

#include "base/arena.h"
#include "berth/cost.h"

struct berth_costs {
    berth_arena arena;
    const berth_graph *graph; /* borrowed, as the devices, both for names; NULL in a block made by hand */
    const berth_device_set *devices;
    int32_t n_devices, n_ops, n_tasks, n_values, n_weights;
    int32_t host;

    const int32_t *task_op;    /* [n_tasks] operation of the graph */
    const int32_t *op_task;    /* [n_ops] task, or -1 */
    const int32_t *file_order; /* [n_tasks] tasks as `queued` runs them: file order, or the topological order with the
                                  smallest operation first where the file is out of order */
    const double *time_ms;     /* [task * n_devices + device]; INFINITY: cannot run there */

    const int32_t *value_tensor;   /* [n_values] tensor of the graph */
    const int32_t *value_producer; /* [n_values] task, or -1 */
    const int32_t *value_home;     /* [n_values] device where a value without producer starts, else -1 */
    const int32_t *value_target;   /* [n_values] device where it must end, or -1 */
    int32_t n_given;
    const int32_t *given_values;           /* [n_given] values without producer, ascending */
    const double *value_bytes;             /* for memory; 0 where the file gives memory per task */
    const int32_t *reader_start, *readers; /* CSR by value: distinct tasks, ascending */
    const int32_t *in_start, *in_values;   /* CSR by task: distinct values read, ascending */
    const int32_t *out_start, *out_values; /* CSR by task: values made that anyone wants, ascending */
    const int32_t *pred_start, *preds;     /* CSR by task: distinct producing tasks, ascending */
    const int32_t *succ_start, *succs;     /* CSR by task: distinct reading tasks, ascending */

    /* Time of one copy: copy_table[(value * n_devices + from) * n_devices + to] if there is a table, else
     * copy_fixed[from * n_devices + to] + value_amount[value] * copy_per_unit[from * n_devices + to]. */
    const double *copy_table;
    const double *value_amount;
    const double *copy_fixed, *copy_per_unit;
    const bool *link_queued; /* [from * n_devices + to] */
    const double *launch_ms; /* [n_devices]; in time_ms already, but for devices other than the host under
                                `queued`, which charges it to the host's clock */

    /* Memory. Where task_memory is given (workload files), a device's need is the sum over its tasks; else its peak
     * of weights and live values. */
    const double *capacity;                /* [n_devices]; INFINITY: no limit */
    const double *task_memory;             /* [n_tasks] or NULL */
    const double *weight_bytes;            /* [n_weights] */
    const int32_t *weight_start, *weights; /* CSR by task: distinct weights read */

    const int32_t *colour; /* [n_tasks] equal colours share a device, -1: free; or NULL */
    berth_model model;
    berth_objective objective;
    double piece_ms;
    int32_t max_cpus; /* `contiguous`, throughput: the host's cores share its load; 0 or 1: one */
};

/* One task reads one value. */
typedef struct berth_read {
    int32_t value, task;
} berth_read;

/* An empty block with its arena, for whoever fills in the arrays: from a graph (build.c), or a test by hand. */
berth_status berth_costs_alloc(berth_ctx *ctx, berth_costs **out);
/* Derive the rows of all CSR arrays and file_order's default (task order) from n_tasks, n_values, value_producer and
 * the reads, which may come in any order and may repeat. Everything else is the caller's. BERTH_E_ARG if a value is
 * read by its producer or by a smaller task. */
berth_status berth_costs_link(berth_ctx *ctx, berth_costs *costs, const berth_read *reads, size_t n_reads);
/* Every invariant of the block, slowly: for tests and debug builds. */
berth_status berth_costs_check(berth_ctx *ctx, const berth_costs *costs);

static inline double berth_costs_copy(const berth_costs *c, int32_t value, int32_t from, int32_t to) {
    size_t link = (size_t)from * (size_t)c->n_devices + (size_t)to;
    if (from == to) return 0;
    if (c->copy_table) return c->copy_table[(size_t)value * (size_t)c->n_devices * (size_t)c->n_devices + link];
    return c->copy_fixed[link] + c->value_amount[value] * c->copy_per_unit[link];
}

#endif
