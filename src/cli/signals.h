/* SPDX-License-Identifier: Apache-2.0 */
/* What the outside may do to a run: Ctrl-C, a reader that goes away, standard streams that are closed. */
#ifndef BERTH_CLI_SIGNALS_H
#define BERTH_CLI_SIGNALS_H

#include <stdbool.h>

/* Call once, before any file is opened. */
void cli_signals_install(void);

/* True once Ctrl-C was pressed: a berth_cancel_fn. A second Ctrl-C ends the program at once. */
bool cli_interrupted(void *user);

#endif
