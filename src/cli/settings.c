/* SPDX-License-Identifier: Apache-2.0 */
/* Settings of learned methods: taken from options, and listed. */
#include "cli/settings.h"

#include <stdio.h>
#include <string.h>

bool cli_settings_parse(cli_settings *out, const cli_list *list, const char *method, char *message, size_t size) {
    cli_scan at = list->start;
    bool learns = strcmp(method, "auto") == 0;
    for (int32_t i = 0; berth_learned_method(i); i++) learns |= strcmp(method, berth_learned_method(i)) == 0;
    if (list->n > 0 && !learns) {
        snprintf(message, size, "method %.60s has no settings", method);
        return false;
    }
    for (const char *text; (text = cli_list_next(list, &at));) {
        if (out->n == BERTH_MAX_SETTINGS) {
            snprintf(message, size, "--set can be given %d times", (int)BERTH_MAX_SETTINGS);
            return false;
        }
        out->set[out->n++] = text;
    }
    return true;
}

/* Rows of at most this many methods. */
enum { MOST_METHODS = 8 };

static int32_t find_defaults(berth_settings settings[MOST_METHODS]) {
    berth_ctx *ctx = NULL;
    int32_t n = 0;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return 0;
    while (n < MOST_METHODS && berth_learned_method(n) &&
           berth_settings_default(ctx, &settings[n], berth_learned_method(n)) == BERTH_OK)
        n++;
    berth_ctx_free(ctx);
    return n;
}

static void put_cell(berth_text *text, const char *word, bool last) {
    berth_text_printf(text, last ? "  %s" : "  %-11s", word);
}

void cli_settings_list(berth_text *text) {
    berth_settings settings[MOST_METHODS];
    int32_t n = find_defaults(settings);
    berth_text_printf(text, "Settings of the learned methods, for --set NAME=VALUE, and their defaults:\n\n%-18s", "");
    for (int32_t m = 0; m < n; m++) put_cell(text, settings[m].method, m == n - 1);
    berth_text_printf(text, "\n");
    for (int32_t i = 0; berth_setting_at(i); i++) {
        const berth_setting *row = berth_setting_at(i);
        berth_text_printf(text, "%-18s", row->name);
        for (int32_t m = 0; m < n; m++) {
            char value[64] = "-";
            if (berth_setting_applies(settings[m].method, i)) berth_settings_text(&settings[m], i, value, sizeof value);
            put_cell(text, value, m == n - 1);
        }
        berth_text_printf(text, "\n    %s%s%s\n", row->choices ? row->choices : "", row->choices ? ": " : "",
                          row->summary);
    }
}
