/* SPDX-License-Identifier: Apache-2.0 */
/* A cost block in the making: what the files of this folder hand each other. Arrays named here are those of the block,
 * to be written. */
#ifndef BERTH_COST_BUILD_H
#define BERTH_COST_BUILD_H

#include "cost/costs.h"

typedef struct berth_costs_build {
    berth_ctx *ctx;
    const berth_graph *graph;
    const berth_device_set *devices;
    const berth_cost_options *options;
    const berth_limits *limits; /* never NULL */
    berth_costs *costs;
    berth_arena scratch;
    size_t n_devices;
    double *time_ms, *capacity, *copy_fixed, *copy_per_unit;
    int32_t *value_home, *value_target;
    const int32_t *tensor_value; /* [n_tensors] value, or -1 */
    berth_read *reads;
    size_t n_reads;
} berth_costs_build;

/* roofline.c: times of all tasks, by estimate. */
berth_status berth_costs_estimate(berth_costs_build *b);
/* given.c: times, copies, memory and colours of a workload. */
berth_status berth_costs_take_given(berth_costs_build *b);
/* profile.c: measured times and transfers in place of the estimates, from the file options->profile. */
berth_status berth_costs_take_profile(berth_costs_build *b);
/* rules.c: --io, before the rows are linked; --memory, pins and bans; then every task must have a device left. */
berth_status berth_costs_apply_io(berth_costs_build *b);
berth_status berth_costs_apply_rules(berth_costs_build *b);
/* order.c: file_order, once the rows are linked. */
berth_status berth_costs_order(berth_costs_build *b);

/* Where a time is without the launch overhead, which the simulator charges to the host. */
static inline bool berth_costs_launch_apart(const berth_costs *c, int32_t device) {
    return c->model == BERTH_MODEL_QUEUED && device != c->host;
}

#endif
