/* SPDX-License-Identifier: Apache-2.0 */
/* Reads documents as lines of hexadecimal digits; for each prints "refused" or what the JSON writer makes of the tree
 * that the JSON reader built. tests/oracle/json_twin.py compares both with Python's. */
#include "base/json.h"

#include "berth/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_value(berth_text *text, const berth_json *value) {
    switch (value->kind) {
    case BERTH_JSON_NULL: berth_json_null(text, value->key); return;
    case BERTH_JSON_FALSE: berth_json_bool(text, value->key, false); return;
    case BERTH_JSON_TRUE: berth_json_bool(text, value->key, true); return;
    case BERTH_JSON_STRING: berth_json_string(text, value->key, value->string); return;
    case BERTH_JSON_NUMBER:
        if (value->is_integer)
            berth_json_int(text, value->key, value->integer);
        else
            berth_json_double(text, value->key, value->number);
        return;
    case BERTH_JSON_ARRAY:
        berth_json_array_begin(text, value->key);
        for (const berth_json *item = value->child; item; item = item->next) write_value(text, item);
        berth_json_array_end(text);
        return;
    case BERTH_JSON_OBJECT:
        berth_json_object_begin(text, value->key);
        for (const berth_json *item = value->child; item; item = item->next) write_value(text, item);
        berth_json_object_end(text);
        return;
    }
}

/* The line's digits become bytes in place. */
static size_t unhex(char *line) {
    size_t n = 0;
    for (; line[2 * n] && line[2 * n] != '\n'; n++) {
        const char digits[3] = {line[2 * n], line[2 * n + 1], 0};
        line[n] = (char)strtoul(digits, NULL, 16);
    }
    return n;
}

static int echo(berth_ctx *ctx, char *line) {
    berth_arena arena;
    berth_text *text = NULL;
    const berth_json *root = NULL;
    size_t n = unhex(line);
    if (berth_text_new(ctx, &text) != BERTH_OK) return 1;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_json_parse(ctx, &arena, "document", line, n, 1000, &root);
    if (status == BERTH_OK) {
        berth_json_inline(text);
        write_value(text, root);
        status = berth_text_status(text);
        fputs(berth_text_string(text), stdout);
    } else {
        printf("refused %s\n", berth_ctx_message(ctx));
    }
    berth_arena_deinit(&arena);
    berth_text_free(text);
    return status == BERTH_OK || status == BERTH_E_FORMAT ? 0 : 1;
}

int main(void) {
    berth_ctx *ctx = NULL;
    char *line = NULL;
    size_t room = 0;
    int failed = berth_ctx_new(&ctx, NULL) != BERTH_OK;
    while (!failed && getline(&line, &room, stdin) > 0) failed = echo(ctx, line);
    free(line);
    berth_ctx_free(ctx);
    return failed;
}
