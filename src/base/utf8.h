/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 as RFC 3629 defines it: no overlong forms, no surrogates, nothing beyond U+10FFFF. */
#ifndef BERTH_BASE_UTF8_H
#define BERTH_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character that starts at `bytes` (n > 0 of them are left), with *good set. Where there is none, *good
 * is false and the result is the length of the broken part that one U+FFFD stands for (Unicode 15, section 3.9,
 * "substitution of maximal subparts"); at least 1. */
size_t berth_utf8_next(const char *bytes, size_t n, bool *good);
/* Writes a code point (not a surrogate, at most 0x10ffff) and returns its length, 1 to 4. */
size_t berth_utf8_put(char out[4], uint32_t code);

#endif
