/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/text.h: a growing text and a JSON writer on it, for everything that prints.
 *
 * Failure is sticky: after the allocator refused once, further calls do nothing and berth_text_status() says so, so
 * that a page of output is checked once at its end.
 */
#ifndef BERTH_TEXT_H
#define BERTH_TEXT_H

#include "berth/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_text berth_text;

BERTH_API BERTH_MUST_CHECK berth_status berth_text_new(berth_ctx *ctx, berth_text **out);
BERTH_API void berth_text_free(berth_text *text);
BERTH_API void berth_text_printf(berth_text *text, const char *format, ...) BERTH_PRINTF(2, 3);
BERTH_API void berth_text_append(berth_text *text, const char *bytes, size_t n);
/** NUL-terminated; valid until the next change. */
BERTH_API const char *berth_text_string(const berth_text *text);
BERTH_API size_t berth_text_size(const berth_text *text);
BERTH_API berth_status berth_text_status(const berth_text *text);

#define BERTH_ESCAPE_SIZE 12

/**
 * The character at the start of a string that is not empty, escaped where it must be so that it stays on one line and
 * cannot steer a terminal: backslash, tab and newline become \\, \t and \n, other control characters and bytes that are
 * no UTF-8 become \xNN. `piece` has BERTH_ESCAPE_SIZE bytes; *width is how many columns it takes.
 * @return the bytes taken from the string
 */
BERTH_API size_t berth_escape(const char *string, char *piece, int *width);

/** Appends a string in some form. */
typedef void (*berth_append_fn)(berth_text *text, const char *string);

/** Escaped for the inside of a quoted label of Graphviz, which gives a meaning to \, " and & as well. */
BERTH_API void berth_text_label(berth_text *text, const char *string);

/**
 * JSON, indented by two blanks a level. Commas and newlines are the writer's business:
 *
 *     berth_json_object_begin(t, NULL);
 *     berth_json_int(t, "schema", 1);
 *     berth_json_object_end(t);
 *
 * `key` is NULL inside arrays and at the top. Strings are escaped; bytes that are not UTF-8 become U+FFFD. Numbers
 * that are not finite become null; doubles are written with the fewest digits that read back the same.
 */
BERTH_API void berth_json_object_begin(berth_text *text, const char *key);
BERTH_API void berth_json_object_end(berth_text *text);
BERTH_API void berth_json_array_begin(berth_text *text, const char *key);
BERTH_API void berth_json_array_end(berth_text *text);
BERTH_API void berth_json_string(berth_text *text, const char *key, const char *value);
BERTH_API void berth_json_int(berth_text *text, const char *key, int64_t value);
BERTH_API void berth_json_double(berth_text *text, const char *key, double value);
BERTH_API void berth_json_bool(berth_text *text, const char *key, bool value);
BERTH_API void berth_json_null(berth_text *text, const char *key);
/** The next object or array and everything in it stands on one line (rows of tables). */
BERTH_API void berth_json_inline(berth_text *text);

/** Write the text to a file by way of a temporary name and a rename; "-" is standard output. After BERTH_E_IO errno
 *  says why. */
BERTH_API BERTH_MUST_CHECK berth_status berth_text_write(berth_ctx *ctx, const berth_text *text, const char *path);

/**
 * "Did you mean ...": the name nearest to a mistyped one. Begin, offer every name there is, look at `best`.
 */
typedef struct berth_nearest {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    int distance;
} berth_nearest;

BERTH_API berth_nearest berth_nearest_begin(const char *typed);
BERTH_API void berth_nearest_offer(berth_nearest *nearest, const char *name);

#ifdef __cplusplus
}
#endif
#endif
