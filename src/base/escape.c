/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a model file are bytes that anyone could have put there. What reaches a terminal, a table or a drawing goes
 * through berth_escape(), one character at a time. */
#include "berth/text.h"

#include <stdio.h>
#include <string.h>

/* Length of the UTF-8 sequence at `s` (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF), or 0. */
static size_t sequence_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    size_t n = s[0] >= 0xc2 && s[0] <= 0xdf ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : s[0] >= 0xf0 && s[0] <= 0xf4 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80) return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool outside = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || outside ? 0 : n;
}

/* Control characters are those of ASCII and of Latin-1, which some terminals obey as well. */
size_t berth_escape(const char *string, char *piece, int *width) {
    const unsigned char *s = (const unsigned char *)string;
    size_t n = sequence_length(s);
    bool control = s[0] < 0x20 || s[0] == 0x7f || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
    if (s[0] == '\\' || s[0] == '\t' || s[0] == '\n')
        *width = snprintf(piece, BERTH_ESCAPE_SIZE, "\\%c", s[0] == '\\' ? '\\' : s[0] == '\t' ? 't' : 'n');
    else if (n == 2 && control)
        *width = snprintf(piece, BERTH_ESCAPE_SIZE, "\\x%02x\\x%02x", s[0], s[1]);
    else if (n == 0 || control)
        *width = snprintf(piece, BERTH_ESCAPE_SIZE, "\\x%02x", s[0]);
    else {
        memcpy(piece, s, n);
        piece[n] = '\0';
        *width = 1;
    }
    return n ? n : 1;
}

void berth_text_label(berth_text *text, const char *string) {
    char piece[BERTH_ESCAPE_SIZE];
    for (int width = 0; *string;) {
        string += berth_escape(string, piece, &width);
        for (const char *c = piece; *c; c++) {
            if (*c == '\\' || *c == '"') berth_text_append(text, "\\", 1);
            berth_text_append(text, c, 1);
            if (*c == '&') berth_text_append(text, "amp;", 4);
        }
    }
}
