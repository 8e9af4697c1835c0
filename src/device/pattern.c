/* SPDX-License-Identifier: Apache-2.0 */
/* Globs. On a mismatch only the last `*` has to be tried again one byte further on, so that the time is at most the
 * product of both lengths. */
#include "device/pattern.h"

#include <string.h>

/* The byte after the `]` that closes the set at `at` (on its `[`), or NULL. A `]` right at its start belongs to it. */
static const char *set_end(const char *at) {
    at += at[1] == '!' ? 2 : 1;
    if (*at == ']') at++;
    while (*at && *at != ']') at++;
    return *at ? at + 1 : NULL;
}

static bool set_holds(const char *at, const char *end, unsigned char byte) {
    bool negated = at[1] == '!', found = false;
    at += negated ? 2 : 1;
    for (const char *last = end - 1; at < last; at++) {
        unsigned char low = (unsigned char)*at, high = low;
        if (at + 2 < last && at[1] == '-') {
            high = (unsigned char)at[2];
            at += 2;
        }
        found |= low <= byte && byte <= high;
    }
    return found != negated;
}

/* Match what stands before the next `*` at one place: bytes of text taken, or 0; *pattern moves on. */
static size_t take_one(const char **pattern, const char *text) {
    const char *at = *pattern, *end = NULL;
    if (!*text) return 0;
    if (*at == '?') {
        size_t n = 1;
        while (((unsigned char)text[n] & 0xc0) == 0x80) n++;
        *pattern = at + 1;
        return n;
    }
    if (*at == '[' && (end = set_end(at))) {
        if (!set_holds(at, end, (unsigned char)*text)) return 0;
        *pattern = end;
        return 1;
    }
    if (*at == '\\' && at[1]) at++;
    if (*at != *text) return 0;
    *pattern = at + 1;
    return 1;
}

bool berth_pattern_matches(const char *pattern, const char *text) {
    const char *star = NULL, *star_text = NULL;
    for (;;) {
        if (*pattern == '*') {
            star = ++pattern;
            star_text = text;
            continue;
        }
        if (!*pattern && !*text) return true;
        size_t taken = take_one(&pattern, text);
        if (taken > 0) {
            text += taken;
            continue;
        }
        if (!star || !*star_text) return false;
        pattern = star;
        text = ++star_text;
    }
}

bool berth_pattern_matches_op(const char *pattern, const berth_op *op) {
    return strcmp(pattern, op->name) == 0 || berth_pattern_matches(pattern, op->name) ||
           berth_pattern_matches(pattern, op->type);
}
