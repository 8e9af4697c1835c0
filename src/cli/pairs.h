/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the form NAME=VALUE that may be given several times. */
#ifndef BERTH_CLI_PAIRS_H
#define BERTH_CLI_PAIRS_H

#include "cli/options.h"

enum { CLI_MAX_PAIRS = 256, CLI_MAX_PAIR_BYTES = 32768 };

typedef struct cli_pairs {
    int32_t n, n_bytes;
    struct {
        const char *name, *value;
    } pairs[CLI_MAX_PAIRS];
    char bytes[CLI_MAX_PAIR_BYTES]; /* names, cut off at their '=' */
} cli_pairs;

/* The last '=' parts them: a name may hold one, and has one value. False: `message` says what is wrong with which
 * value; `form` is what is wanted, as in "--input NAME=FILE". */
bool cli_pairs_parse(cli_pairs *out, const cli_list *values, const char *form, char *message, size_t size);

#endif
