/* SPDX-License-Identifier: Apache-2.0 */
/* Globs: how pins, bans and together name operations. */
#ifndef BERTH_DEVICE_PATTERN_H
#define BERTH_DEVICE_PATTERN_H

#include "berth/graph.h"

/* Whether the pattern matches the whole text. `*` is any number of bytes, `?` one character, `[abc]`, `[a-z]` and
 * `[!a-z]` one byte; a backslash takes away the meaning of what follows. A `[` that nothing closes means itself. */
bool berth_pattern_matches(const char *pattern, const char *text);
/* Whether it matches the name of the operation or its type. A name that is the pattern, letter for letter, matches
 * even if it has special characters. */
bool berth_pattern_matches_op(const char *pattern, const berth_op *op);

#endif
