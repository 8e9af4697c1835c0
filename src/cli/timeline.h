/* SPDX-License-Identifier: Apache-2.0 */
/* What a timeline tells, as lines of a summary: for `place` and `simulate`. */
#ifndef BERTH_CLI_TIMELINE_H
#define BERTH_CLI_TIMELINE_H

#include "berth/plan.h"
#include "cli/output.h"

/* The first column of a summary. */
void cli_text_key(berth_text *text, const char *key);

/* How many operations each device runs, for how long, and what memory it needs. */
void cli_timeline_devices(berth_text *text, const berth_plan *plan, const berth_timeline *timeline);
/* How many copies, of how many bytes. */
void cli_timeline_copies(berth_text *text, const berth_graph *graph, const berth_timeline *timeline);
/* Time from left to right, a row per device and one for all copies. */
void cli_timeline_bars(berth_text *text, const berth_plan *plan, const berth_timeline *timeline);

#endif
