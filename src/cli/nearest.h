/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...": the name nearest to a mistyped one. */
#ifndef BERTH_CLI_NEAREST_H
#define BERTH_CLI_NEAREST_H

typedef struct cli_nearest {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    int distance;
} cli_nearest;

cli_nearest cli_nearest_begin(const char *typed);
void cli_nearest_offer(cli_nearest *nearest, const char *name);

#endif
