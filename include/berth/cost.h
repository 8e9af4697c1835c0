/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/cost.h: what each operation takes on each device, and what moving each tensor takes.
 *
 * Times come from the workload file itself, from a profile measured elsewhere (profile.json), or from a roofline
 * estimate: launch + max(FLOPs / (peak x efficiency), bytes / (bandwidth x efficiency)). Operations that move nothing
 * are free.
 */
#ifndef BERTH_COST_H
#define BERTH_COST_H

#include "berth/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_costs berth_costs;

typedef enum berth_objective {
    BERTH_OBJECTIVE_LATENCY,    /* one inference finishes soonest */
    BERTH_OBJECTIVE_THROUGHPUT, /* the largest load of a device is smallest */
} berth_objective;

typedef struct berth_cost_options {
    const berth_limits *limits; /* NULL: none */
    const char *profile;        /* path of a profile.json whose times replace the estimates; NULL: none */
    berth_model model;          /* BERTH_MODEL_COUNT: the device set's */
    double piece_ms;            /* NAN: the device set's */
    berth_objective objective;
} berth_cost_options;

BERTH_API berth_cost_options berth_cost_options_default(void);

/**
 * Costs of a graph on devices. Graph and devices are borrowed and must outlive the costs.
 * @return BERTH_OK; BERTH_E_ARG (a rule names no device or matches nothing); BERTH_E_INFEASIBLE (an operation that may
 *         run nowhere; the message names it and why); BERTH_E_FORMAT (profile); BERTH_E_NUMERIC (a time that is NaN or
 *         negative); BERTH_E_LIMIT (more than 64 devices); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_costs_new(berth_ctx *ctx, berth_costs **out, const berth_graph *graph,
                                                        const berth_device_set *devices,
                                                        const berth_cost_options *options);
BERTH_API void berth_costs_free(berth_costs *costs);

/**
 * Time of an operation on a device: 0 if it does not run (constants, inputs, outputs); INFINITY if it cannot or, by a
 * pin or a ban, may not.
 */
BERTH_API double berth_costs_op_ms(const berth_costs *costs, int32_t op, int32_t device);
/** Time to copy a tensor; 0 on the same device and for what never travels. Logarithmic in the tensors. */
BERTH_API double berth_costs_copy_ms(const berth_costs *costs, int32_t tensor, int32_t from, int32_t to);

#ifdef __cplusplus
}
#endif
#endif
