/* SPDX-License-Identifier: Apache-2.0 */
/* Results: how strings from a file are shown, and where the finished text goes. */
#ifndef BERTH_CLI_OUTPUT_H
#define BERTH_CLI_OUTPUT_H

#include "berth/text.h"

/* Append a string so that it stays on one line and cannot steer a terminal: backslash, tab and newline become \\, \t
 * and \n, other control characters and bytes that are no UTF-8 become \xNN. */
void cli_text_escaped(berth_text *text, const char *string);

/* How many columns the escaped string takes; counting ends once it is more than `enough`. */
int cli_columns(const char *string, int enough);

/* Escaped, cut to `most` columns ("..." stands for the rest) and filled with blanks up to `least`. */
void cli_text_cell(berth_text *text, const char *string, int least, int most);

enum { CLI_SCALED_SIZE = 32 };

/* "8.18 GFLOP": three digits, a decimal prefix and the unit (at most a few letters). Returns the buffer. */
const char *cli_scaled(double value, const char *unit, char buffer[static CLI_SCALED_SIZE]);

/* Write the text to `path` (NULL: standard output) and report what goes wrong. Returns the exit code. */
int cli_output_write(berth_ctx *ctx, const berth_text *text, const char *path);
/* The same after Ctrl-C, for what is worth keeping then: it is written, and the exit code says 130. */
int cli_output_keep(berth_ctx *ctx, const berth_text *text, const char *path);

#endif
