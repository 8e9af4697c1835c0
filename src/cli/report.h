/* SPDX-License-Identifier: Apache-2.0 */
/* How a run ends: exit codes, and the one line on standard error. */
#ifndef BERTH_CLI_REPORT_H
#define BERTH_CLI_REPORT_H

#include "cli/options.h"

enum {
    CLI_DONE = 0,
    CLI_FAILED = 1,
    CLI_USAGE = 2,
    CLI_BAD_INPUT = 3,
    CLI_RESOURCES = 4,
    CLI_INFEASIBLE = 5,
    CLI_INTERRUPTED = 130,
};

/* The same status ends differently by what was being done: an unreadable model is bad input, an unwritable result is
 * a failure. */
typedef enum cli_phase { CLI_READING, CLI_WORKING, CLI_WRITING } cli_phase;

int cli_exit_code(berth_status status, cli_phase phase);

/* Print the context's message and return the exit code. CLI_WRITING: call it before anything changes errno. */
int cli_report_failure(const berth_ctx *ctx, berth_status status, cli_phase phase);

/* Two lines: what is wrong, and where help is. `command` NULL: berth itself. Returns CLI_USAGE. */
int cli_report_misuse(const cli_command *command, const char *message);

/* Send the library's log to standard error, as much of it as -q and -v ask for. */
void cli_report_log(berth_ctx *ctx, const cli_common *common);

#endif
