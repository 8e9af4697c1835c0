/* SPDX-License-Identifier: Apache-2.0 */
/* The line that shows how a search stands: on a terminal only, on standard error. */
#ifndef BERTH_CLI_PROGRESS_H
#define BERTH_CLI_PROGRESS_H

#include "berth/place.h"

/* The callback, or NULL where nobody looks. */
berth_progress_fn cli_progress(bool quiet);
/* Remove the line. */
void cli_progress_end(bool quiet);

#endif
