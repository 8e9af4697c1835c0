/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts, made from the tables, and the start that all commands share. */
#ifndef BERTH_CLI_USAGE_H
#define BERTH_CLI_USAGE_H

#include "berth/text.h"
#include "cli/options.h"

/* -h (`all` false) or --help of a command. */
void cli_usage_append(berth_text *text, const cli_command *command, bool all);

/* Print it to standard output. Returns the exit code. */
int cli_usage_print(berth_ctx *ctx, const cli_command *command, bool all);

/* Parse the arguments into `values` and set the log. False: there is nothing more to do than to return *code. */
bool cli_command_begin(berth_ctx *ctx, const cli_command *command, void *values, int argc, char **argv, int *code);

#endif
