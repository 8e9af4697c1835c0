/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a model file are bytes that anyone could have put there. What reaches a terminal, a table or a drawing goes
 * through `escape`, one character at a time. */
#include "cli/output.h"

#include "cli/report.h"
#include "cli/signals.h"

#include <stdio.h>
#include <string.h>

enum { PIECE_SIZE = 12 };

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

/* Write the character at `s` to `piece`, escaped where it must be; *width is how many columns it takes. Returns the
 * bytes taken from `s`. Control characters are those of ASCII and of Latin-1, which some terminals obey as well. */
static size_t escape(const char *string, char piece[static PIECE_SIZE], int *width) {
    const unsigned char *s = (const unsigned char *)string;
    size_t n = sequence_length(s);
    bool control = s[0] < 0x20 || s[0] == 0x7f || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);
    if (s[0] == '\\' || s[0] == '\t' || s[0] == '\n')
        *width = snprintf(piece, PIECE_SIZE, "\\%c", s[0] == '\\' ? '\\' : s[0] == '\t' ? 't' : 'n');
    else if (n == 2 && control)
        *width = snprintf(piece, PIECE_SIZE, "\\x%02x\\x%02x", s[0], s[1]);
    else if (n == 0 || control)
        *width = snprintf(piece, PIECE_SIZE, "\\x%02x", s[0]);
    else {
        memcpy(piece, s, n);
        piece[n] = '\0';
        *width = 1;
    }
    return n ? n : 1;
}

void cli_text_escaped(berth_text *text, const char *string) {
    char piece[PIECE_SIZE];
    for (int width = 0; *string;) {
        string += escape(string, piece, &width);
        berth_text_append(text, piece, strlen(piece));
    }
}

void cli_text_label(berth_text *text, const char *string) {
    char piece[PIECE_SIZE];
    for (int width = 0; *string;) {
        string += escape(string, piece, &width);
        for (const char *c = piece; *c; c++) {
            if (*c == '\\' || *c == '"') berth_text_append(text, "\\", 1);
            berth_text_append(text, c, 1);
            if (*c == '&') berth_text_append(text, "amp;", 4);
        }
    }
}

int cli_columns(const char *string, int enough) {
    char piece[PIECE_SIZE];
    int used = 0;
    while (*string && used <= enough) {
        int width = 0;
        string += escape(string, piece, &width);
        used += width;
    }
    return used;
}

void cli_text_cell(berth_text *text, const char *string, int least, int most) {
    char piece[PIECE_SIZE];
    int used = 0;
    bool fits = cli_columns(string, most) <= most;
    while (*string) {
        int width = 0;
        string += escape(string, piece, &width);
        if (!fits && used + width > most - 3) {
            berth_text_append(text, "...", 3);
            used += 3;
            break;
        }
        berth_text_append(text, piece, strlen(piece));
        used += width;
    }
    for (; used < least; used++) berth_text_append(text, " ", 1);
}

const char *cli_scaled(double value, const char *unit, char buffer[static CLI_SCALED_SIZE]) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t prefix = 0;
    for (; prefix + 1 < sizeof prefixes / sizeof *prefixes && value >= 999.5; prefix++) value /= 1000;
    int decimals = prefix == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    const char *blank = *prefixes[prefix] || *unit ? " " : "";
    snprintf(buffer, CLI_SCALED_SIZE, "%.*f%s%s%s", decimals, value, blank, prefixes[prefix], unit);
    return buffer;
}

static int write_text(berth_ctx *ctx, const berth_text *text, const char *path) {
    berth_status status = berth_text_write(ctx, text, path ? path : "-");
    return status == BERTH_OK ? CLI_DONE : cli_report_failure(ctx, status, CLI_WRITING);
}

int cli_output_write(berth_ctx *ctx, const berth_text *text, const char *path) {
    berth_status status = berth_text_status(text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    return cli_interrupted(NULL) ? CLI_INTERRUPTED : write_text(ctx, text, path);
}

int cli_output_keep(berth_ctx *ctx, const berth_text *text, const char *path) {
    berth_status status = berth_text_status(text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    int code = write_text(ctx, text, path);
    return code == CLI_DONE && cli_interrupted(NULL) ? CLI_INTERRUPTED : code;
}
