/* SPDX-License-Identifier: Apache-2.0 */
/* Table 3-7 of the Unicode standard, "well-formed UTF-8 byte sequences": the first byte decides how many follow, and
 * for five first bytes the second one has a narrower range, which is what excludes overlong forms and surrogates. */
#include "base/utf8.h"

size_t berth_utf8_next(const char *bytes, size_t n, bool *good) {
    const unsigned char *c = (const unsigned char *)bytes;
    *good = true;
    if (c[0] < 0x80) return 1;
    size_t length = c[0] < 0xc2 ? 1 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 1;
    unsigned char low = 0x80, high = 0xbf;
    if (c[0] == 0xe0) low = 0xa0;
    if (c[0] == 0xed) high = 0x9f;
    if (c[0] == 0xf0) low = 0x90;
    if (c[0] == 0xf4) high = 0x8f;
    *good = false;
    if (length == 1) return 1;
    for (size_t i = 1; i < length; i++) {
        if (i == n || c[i] < low || c[i] > high) return i;
        low = 0x80, high = 0xbf;
    }
    *good = true;
    return length;
}

size_t berth_utf8_put(char out[4], uint32_t code) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length - 1; i > 0; i--, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[length] | code);
    return length;
}
