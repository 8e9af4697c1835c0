/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of costs share. */
#ifndef BERTH_TESTS_COST_CASES_H
#define BERTH_TESTS_COST_CASES_H

#include "graphs.h"

#include "cost/costs.h"
#include "graph/graph.h"

#include <math.h>

static inline berth_device_set *read_devices(berth_ctx *ctx, const char *text) {
    berth_device_set *set = NULL;
    if (berth_device_set_read(ctx, &set, text) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return set;
}

/* main: 1 GFLOP/s, 0.1 GB/s, launch 0.001. fast: 8 GFLOP/s, 1 GB/s, launch 0.01, efficiency 0.5, convolutions 0.25. */
static inline berth_device_set *golden_devices(berth_ctx *ctx) {
    return read_devices(ctx, support_source("tests/golden/devices.json"));
}

/* Checked costs; any failure fails the test. */
static inline berth_costs *make_costs(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *set,
                                      const berth_cost_options *options) {
    berth_costs *costs = NULL;
    if (berth_costs_new(ctx, &costs, graph, set, options) != BERTH_OK || berth_costs_check(ctx, costs) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return costs;
}

static inline void refuse_costs(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *set,
                                const berth_cost_options *options, berth_status status, const char *fragment) {
    berth_costs *costs = (berth_costs *)1;
    berth_status got = berth_costs_new(ctx, &costs, graph, set, options);
    if (got != status) fail_msg("%d, not %d: %s", got, status, berth_ctx_message(ctx));
    assert_null(costs);
    if (!strstr(berth_ctx_message(ctx), fragment)) fail_msg("'%s' lacks '%s'", berth_ctx_message(ctx), fragment);
}

static inline void expect_ms(double got, double wanted) {
    if (!(got == wanted || fabs(got - wanted) <= 1e-12 * fabs(wanted))) fail_msg("%.17g, not %.17g", got, wanted);
}

#endif
