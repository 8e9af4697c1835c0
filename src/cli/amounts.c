/* SPDX-License-Identifier: Apache-2.0 */
/* A plain decimal number, then one of the units of a table. */
#include "cli/amounts.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
    const char *name;
    double factor;
} unit;

static bool parse(const char *text, const unit *units, double *out) {
    char *end = NULL;
    /* strtod also takes signs, blanks, hexadecimals, "inf" and "nan"; none of them starts like this. */
    if (!(*text >= '0' && *text <= '9') && *text != '.') return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) return false;
    double number = strtod(text, &end);
    if (end == text || !isfinite(number)) return false;
    for (; units->name; units++) {
        if (strcmp(units->name, end) != 0) continue;
        *out = number * units->factor;
        return isfinite(*out);
    }
    return false;
}

bool cli_parse_seconds(const char *text, double *seconds) {
    static const unit units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}, {NULL, 0}};
    return parse(text, units, seconds) && *seconds > 0;
}

bool cli_parse_bytes(const char *text, double *bytes) {
    static const unit units[] = {{"", 1},         {"B", 1},       {"k", 1e3},      {"kB", 1e3},    {"K", 1e3},
                                 {"KB", 1e3},     {"M", 1e6},     {"MB", 1e6},     {"G", 1e9},     {"GB", 1e9},
                                 {"T", 1e12},     {"TB", 1e12},   {"Ki", 1024},    {"KiB", 1024},  {"Mi", 0x1p20},
                                 {"MiB", 0x1p20}, {"Gi", 0x1p30}, {"GiB", 0x1p30}, {"Ti", 0x1p40}, {"TiB", 0x1p40},
                                 {NULL, 0}};
    return parse(text, units, bytes);
}
