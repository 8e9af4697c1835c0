/* SPDX-License-Identifier: Apache-2.0 */
/* The model at each of the shapes that one plan is for. */
#ifndef BERTH_CLI_CASES_H
#define BERTH_CLI_CASES_H

#include "berth/cases.h"
#include "cli/shapes.h"

typedef struct cli_model {
    berth_graph *graphs[CLI_MAX_CASES];
    berth_shape_case cases[CLI_MAX_CASES];
    int32_t n;
} cli_model;

/* Reads it once for each case. Free it also after a failure. */
berth_status cli_model_read(berth_ctx *ctx, cli_model *model, const char *path, const cli_cases *cases);
void cli_model_free(cli_model *model);

/* What a plan loses with each shape; nothing if it is for one. */
void cli_cases_summary(berth_text *text, const berth_plan *plan);

#endif
