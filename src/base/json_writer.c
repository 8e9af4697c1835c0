/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON writer (RFC 8259) on a growing text. A stack of open arrays and objects knows whether a comma is due and
 * how far to indent. A document ends with a newline, so that several in one text are JSON Lines. Calls that cannot
 * yield JSON (a key missing in an object or given in an array, an end without its begin) make the text fail with
 * BERTH_E_ARG instead of writing something that nobody can read. */
#include "base/number.h"
#include "base/text.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static berth_text_level *top(berth_text *text) {
    return text->levels.n ? &text->levels.items[text->levels.n - 1] : NULL;
}

static void misuse(berth_text *text) {
    if (text->status == BERTH_OK) text->status = BERTH_E_ARG;
}

static void new_line(berth_text *text) {
    static const char blanks[] = "                                ";
    berth_text_append(text, "\n", 1);
    for (size_t left = 2 * text->levels.n; left > 0;) {
        size_t n = left < sizeof blanks - 1 ? left : sizeof blanks - 1;
        berth_text_append(text, blanks, n);
        left -= n;
    }
}

/* The escape of a byte below 0x20, of a quote or a backslash; its length. */
static size_t escape(char out[8], unsigned char c) {
    static const char letters[] = "btn\0fr"; /* 8 to 13, without 11 */
    out[0] = '\\';
    out[1] = (char)c;
    if (c == '"' || c == '\\') return 2;
    if (c >= 8 && c <= 13 && c != 11) {
        out[1] = letters[c - 8];
        return 2;
    }
    return (size_t)snprintf(out, 8, "\\u%04x", c);
}

static void quote(berth_text *text, const char *value) {
    size_t n = strlen(value), done = 0; /* value[done..i) needs no change and is not yet written */
    berth_text_append(text, "\"", 1);
    for (size_t i = 0; i < n;) {
        bool good = true;
        unsigned char c = (unsigned char)value[i];
        size_t length = berth_utf8_next(value + i, n - i, &good);
        if (good && c >= 0x20 && c != '"' && c != '\\') {
            i += length;
            continue;
        }
        char out[8];
        berth_text_append(text, value + done, i - done);
        if (good)
            berth_text_append(text, out, escape(out, c));
        else
            berth_text_append(text, "\xef\xbf\xbd", 3);
        done = i += length;
    }
    berth_text_append(text, value + done, n - done);
    berth_text_append(text, "\"", 1);
}

/* What stands before a value: comma, line, key. False if no value may stand here. */
static bool begin_value(berth_text *text, const char *key) {
    berth_text_level *level = top(text);
    if ((level && level->is_object) != (key != NULL)) misuse(text);
    if (text->status != BERTH_OK) return false;
    if (!level) return true;
    if (!level->is_empty) berth_text_append(text, ",", 1);
    if (!level->is_inline)
        new_line(text);
    else if (!level->is_empty)
        berth_text_append(text, " ", 1);
    level->is_empty = false;
    if (key) {
        quote(text, key);
        berth_text_append(text, ": ", 2);
    }
    return true;
}

static void end_value(berth_text *text) {
    if (!top(text)) berth_text_append(text, "\n", 1);
}

static void scalar(berth_text *text, const char *key, const char *value, size_t n) {
    if (!begin_value(text, key)) return;
    berth_text_append(text, value, n);
    end_value(text);
}

static void open_level(berth_text *text, const char *key, bool is_object) {
    if (!begin_value(text, key)) return;
    const berth_text_level *outer = top(text);
    berth_text_level level = {.is_object = is_object, .is_empty = true};
    level.is_inline = text->inline_next || (outer && outer->is_inline);
    text->inline_next = false;
    berth_text_append(text, is_object ? "{" : "[", 1);
    if (!berth_vec_push(&text->allocator, &text->levels, level)) text->status = BERTH_E_NOMEM;
}

static void close_level(berth_text *text, bool is_object) {
    const berth_text_level *level = top(text);
    if (!level || level->is_object != is_object) misuse(text);
    if (text->status != BERTH_OK) return;
    bool own_line = !level->is_inline && !level->is_empty;
    text->levels.n--;
    if (own_line) new_line(text);
    berth_text_append(text, is_object ? "}" : "]", 1);
    end_value(text);
}

void berth_json_object_begin(berth_text *text, const char *key) {
    open_level(text, key, true);
}

void berth_json_object_end(berth_text *text) {
    close_level(text, true);
}

void berth_json_array_begin(berth_text *text, const char *key) {
    open_level(text, key, false);
}

void berth_json_array_end(berth_text *text) {
    close_level(text, false);
}

void berth_json_string(berth_text *text, const char *key, const char *value) {
    if (!value) {
        berth_json_null(text, key);
        return;
    }
    if (!begin_value(text, key)) return;
    quote(text, value);
    end_value(text);
}

void berth_json_int(berth_text *text, const char *key, int64_t value) {
    char digits[32];
    scalar(text, key, digits, (size_t)snprintf(digits, sizeof digits, "%" PRId64, value));
}

void berth_json_double(berth_text *text, const char *key, double value) {
    char digits[BERTH_NUMBER_ROOM];
    if (!isfinite(value))
        berth_json_null(text, key);
    else
        scalar(text, key, digits, berth_number_write(digits, value));
}

void berth_json_bool(berth_text *text, const char *key, bool value) {
    scalar(text, key, value ? "true" : "false", value ? 4 : 5);
}

void berth_json_null(berth_text *text, const char *key) {
    scalar(text, key, "null", 4);
}

void berth_json_inline(berth_text *text) {
    text->inline_next = true;
}
