/* SPDX-License-Identifier: Apache-2.0 */
/* Cutting NAME=VALUE apart. */
#include "cli/pairs.h"

#include <stdio.h>
#include <string.h>

bool cli_pairs_parse(cli_pairs *out, const cli_list *values, const char *form, char *message, size_t size) {
    cli_scan at = values->start;
    for (const char *value; (value = cli_list_next(values, &at));) {
        const char *equals = strrchr(value, '=');
        size_t n = equals ? (size_t)(equals - value) : 0;
        if (n == 0 || !equals[1]) {
            snprintf(message, size, "'%.100s' is not of the form %s", value, form);
            return false;
        }
        if (out->n == CLI_MAX_PAIRS || n >= (size_t)(CLI_MAX_PAIR_BYTES - out->n_bytes)) {
            snprintf(message, size, "too many options of the form %s", form);
            return false;
        }
        char *name = out->bytes + out->n_bytes;
        memcpy(name, value, n);
        name[n] = 0;
        for (int32_t i = 0; i < out->n; i++)
            if (strcmp(out->pairs[i].name, name) == 0 && strcmp(out->pairs[i].value, equals + 1) != 0) {
                snprintf(message, size, "%.*s: '%.100s' is given twice, and differently", (int)strcspn(form, " "), form,
                         name);
                return false;
            }
        out->n_bytes += (int32_t)n + 1;
        out->pairs[out->n].name = name;
        out->pairs[out->n++].value = equals + 1;
    }
    return true;
}
