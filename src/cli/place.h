/* SPDX-License-Identifier: Apache-2.0 */
/* `berth place`: what was asked, what was found, and how it is shown. */
#ifndef BERTH_CLI_PLACE_H
#define BERTH_CLI_PLACE_H

#include "berth/place.h"
#include "cli/options.h"

extern const cli_command cli_place;

/* What is shown of a plan. */
typedef struct placed {
    const char *path; /* of the model */
    const berth_graph *graph;
    const berth_plan *plan;
    const berth_timeline *timeline;
    const char *output; /* where the plan was written, or NULL */
} placed;

void cli_place_summary(berth_text *text, const placed *found);

#endif
