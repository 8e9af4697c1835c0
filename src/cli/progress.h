/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows how a search stands: on a terminal only, on standard error. */
#ifndef BERTH_CLI_PROGRESS_H
#define BERTH_CLI_PROGRESS_H

#include "berth/place.h"

/* The callback, or NULL where nobody looks. */
berth_progress_fn cli_progress(bool quiet);
/* The same for `berth train`, a few times a second; `name` is that of the graph. */
void cli_progress_train(const berth_train_progress *progress, const char *name);
/* The same for processes that run a model. */
void cli_progress_runs(void *user, const char *label, int32_t done, int32_t of);
/* Remove the line. */
void cli_progress_end(bool quiet);

#endif
