/* SPDX-License-Identifier: Apache-2.0 */
/* Names in a model file are bytes that anyone could have put there. What reaches a terminal, a table or a drawing goes
 * through berth_escape(), one character at a time. */
#include "cli/output.h"

#include "cli/report.h"
#include "cli/signals.h"

#include <stdio.h>
#include <string.h>

void cli_text_escaped(berth_text *text, const char *string) {
    char piece[BERTH_ESCAPE_SIZE];
    for (int width = 0; *string;) {
        string += berth_escape(string, piece, &width);
        berth_text_append(text, piece, strlen(piece));
    }
}

int cli_columns(const char *string, int enough) {
    char piece[BERTH_ESCAPE_SIZE];
    int used = 0;
    while (*string && used <= enough) {
        int width = 0;
        string += berth_escape(string, piece, &width);
        used += width;
    }
    return used;
}

void cli_text_cell(berth_text *text, const char *string, int least, int most) {
    char piece[BERTH_ESCAPE_SIZE];
    int used = 0;
    bool fits = cli_columns(string, most) <= most;
    while (*string) {
        int width = 0;
        string += berth_escape(string, piece, &width);
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
