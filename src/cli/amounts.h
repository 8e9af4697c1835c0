/* SPDX-License-Identifier: Apache-2.0 */
/* Amounts with a unit, as options take them. */
#ifndef BERTH_CLI_AMOUNTS_H
#define BERTH_CLI_AMOUNTS_H

#include <stdbool.h>

/* "10s", "500ms", "2m", "1h", or a plain number of seconds; above 0. */
bool cli_parse_seconds(const char *text, double *seconds);
/* "1500000", "512M", "8G" (powers of 1000), "2GiB", "64KiB" (of 1024), each with or without a B; at least 0. */
bool cli_parse_bytes(const char *text, double *bytes);

#endif
