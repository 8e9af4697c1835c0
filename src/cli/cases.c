/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a model at several shapes; what a plan for all of them loses. */
#include "cli/cases.h"

#include "cli/timeline.h"

#include <inttypes.h>

berth_status cli_model_read(berth_ctx *ctx, cli_model *model, const char *path, const cli_cases *cases) {
    berth_read_options read = berth_read_options_default();
    for (int32_t k = 0; k < cases->n; k++) {
        read.shapes = cases->bindings + cases->start[k];
        read.n_shapes = cases->start[k + 1] - cases->start[k];
        berth_status status = berth_graph_read(ctx, &model->graphs[k], path, &read);
        if (status != BERTH_OK) return status;
        model->cases[k] = (berth_shape_case){model->graphs[k], read.shapes, read.n_shapes, cases->weight[k]};
        model->n = k + 1;
    }
    return BERTH_OK;
}

void cli_model_free(cli_model *model) {
    for (int32_t k = 0; k < CLI_MAX_CASES; k++) berth_graph_free(model->graphs[k]);
}

void cli_cases_summary(berth_text *text, const berth_plan *plan) {
    for (int32_t k = 0; k < plan->n_cases; k++) {
        const berth_plan_case *c = &plan->cases[k];
        cli_text_key(text, k == 0 ? "shapes" : "");
        for (int32_t i = 0; i < c->n_shapes; i++) {
            if (i > 0) berth_text_printf(text, ", ");
            cli_text_escaped(text, c->shapes[i].input);
            for (int32_t d = 0; d < c->shapes[i].rank; d++)
                berth_text_printf(text, "%s%" PRId64, d ? "x" : "=", c->shapes[i].dims[d]);
        }
        berth_text_printf(text, " (%.3g %%): %.4g ms, %.1f %% over %.4g ms of its own best\n", 100 * c->weight, c->ms,
                          100 * c->loss, c->best_ms);
    }
}
