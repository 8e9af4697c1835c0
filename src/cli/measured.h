/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, in words; for `berth measure` and `berth place`. */
#ifndef BERTH_CLI_MEASURED_H
#define BERTH_CLI_MEASURED_H

#include "berth/profile.h"

/* How well a profile of several devices predicts. */
void cli_prediction_summary(berth_text *text, const berth_profile *profile);
void cli_measured_summary(berth_text *text, const berth_graph *graph, const berth_measured *measured);

#endif
