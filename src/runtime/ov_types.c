/* SPDX-License-Identifier: Apache-2.0 */
/* Read off the headers of the releases. 2024.0: undefined 0, dynamic 1, and neither u2, u3 nor u6. From 2024.1: those
 * three in their places. From 2025.1: undefined and dynamic are one, so that all others move down. Later releases only
 * added at the end. */
#include "runtime/ov_types.h"

#include <stdlib.h>

/* The order of all releases, from `boolean` on. */
static const berth_type types[] = {
    BERTH_TYPE_BOOL, BERTH_TYPE_BF16,   BERTH_TYPE_F16, BERTH_TYPE_F32, BERTH_TYPE_F64, BERTH_TYPE_I4,  BERTH_TYPE_I8,
    BERTH_TYPE_I16,  BERTH_TYPE_I32,    BERTH_TYPE_I64, BERTH_TYPE_U1,  BERTH_TYPE_U2,  BERTH_TYPE_U3,  BERTH_TYPE_U4,
    BERTH_TYPE_U6,   BERTH_TYPE_U8,     BERTH_TYPE_U16, BERTH_TYPE_U32, BERTH_TYPE_U64, BERTH_TYPE_NF4, BERTH_TYPE_F8,
    BERTH_TYPE_F8,   BERTH_TYPE_STRING, BERTH_TYPE_F4,  BERTH_TYPE_F8,
};
enum { N_TYPES = sizeof types / sizeof *types };

static bool is_before(int year, int number, int other_year, int other_number) {
    return year < other_year || (year == other_year && number < other_number);
}

static bool is_absent(int year, int number, berth_type type) {
    bool is_new = type == BERTH_TYPE_U2 || type == BERTH_TYPE_U3 || type == BERTH_TYPE_U6;
    return is_new && is_before(year, number, 2024, 1);
}

bool berth_ov_version(const char *text, int *year, int *number) {
    char *end = NULL;
    long first = strtol(text, &end, 10);
    if (end == text || *end != '.' || first < 2000 || first > 9999) return false;
    const char *behind = end + 1;
    long second = strtol(behind, &end, 10);
    if (end == behind || second < 0 || second > 99) return false;
    *year = (int)first;
    *number = (int)second;
    return true;
}

berth_type berth_ov_type(int year, int number, int type) {
    int at = is_before(year, number, 2025, 1) ? 2 : 1;
    for (int i = 0; i < N_TYPES; i++) {
        if (is_absent(year, number, types[i])) continue;
        if (at++ == type) return types[i];
    }
    return BERTH_TYPE_UNKNOWN;
}

int berth_ov_type_number(int year, int number, berth_type type) {
    if (type == BERTH_TYPE_F8) return -1; /* one of several */
    for (int i = 0; i < N_TYPES + 2; i++)
        if (berth_ov_type(year, number, i) == type && type != BERTH_TYPE_UNKNOWN) return i;
    return -1;
}
