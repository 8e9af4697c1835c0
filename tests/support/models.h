/* SPDX-License-Identifier: Apache-2.0 */
/* A model file on devices, opened down to its problem, for tests of networks and of learning. */
#ifndef BERTH_TESTS_MODELS_H
#define BERTH_TESTS_MODELS_H

#include "problems.h"

#include "policy/view.h"

typedef struct support_model {
    berth_graph *graph; /* NULL if only the costs were given */
    berth_device_set *devices;
    berth_costs *costs;
    berth_problem *problem;
} support_model;

static inline berth_view_source support_view_source(const berth_problem *problem) {
    return (berth_view_source){problem->costs, problem->n_units, problem->unit_of, problem->allowed};
}

/* Takes the graph. `limits` may be NULL. False if constraints leave no placement; any other failure fails the test. */
static inline bool support_model_try(berth_ctx *ctx, support_model *out, berth_graph *graph, const char *devices,
                                     const berth_limits *limits) {
    berth_cost_options options = berth_cost_options_default();
    *out = (support_model){.graph = graph};
    options.limits = limits;
    if (berth_device_set_read(ctx, &out->devices, devices) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    berth_status status = berth_costs_new(ctx, &out->costs, graph, out->devices, &options);
    if (status == BERTH_OK) status = berth_problem_new(ctx, &out->problem, out->costs, limits, NULL);
    if (status != BERTH_OK && status != BERTH_E_INFEASIBLE && status != BERTH_E_ARG)
        fail_msg("%s", berth_ctx_message(ctx));
    return status == BERTH_OK;
}

static inline void support_model_close(support_model *model) {
    berth_problem_free(model->problem);
    berth_costs_free(model->costs);
    berth_device_set_free(model->devices);
    berth_graph_free(model->graph);
}

/* A file of the source tree. */
static inline support_model support_model_open(berth_ctx *ctx, const char *path, const char *devices) {
    support_model model;
    if (!support_model_try(ctx, &model, support_read(ctx, support_source(path)), devices, NULL))
        fail_msg("%s", berth_ctx_message(ctx));
    return model;
}

static inline berth_view *support_view(berth_ctx *ctx, const berth_problem *problem, berth_view_rule rule) {
    berth_view_source source = support_view_source(problem);
    berth_view *view = NULL;
    if (berth_view_new(ctx, &view, &source, rule) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return view;
}

#endif
