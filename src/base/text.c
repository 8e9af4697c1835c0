/* SPDX-License-Identifier: Apache-2.0 */
/* A growing text: one block that doubles, always NUL-terminated. */
#include "base/text.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_SIZE = 256 };

berth_status berth_text_new(berth_ctx *ctx, berth_text **out) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_text *text = berth_resize(allocator, NULL, 0, 1, sizeof *text);
    if (!text) return berth_fail_nomem(ctx);
    text->allocator = *allocator;
    *out = text;
    return BERTH_OK;
}

void berth_text_free(berth_text *text) {
    if (!text) return;
    berth_allocator allocator = text->allocator;
    berth_resize(&allocator, text->bytes, text->capacity, 0, 1);
    berth_vec_free(&allocator, &text->levels);
    berth_resize(&allocator, text, 1, 0, sizeof *text);
}

char *berth_text_room(berth_text *text, size_t n) {
    if (text->status != BERTH_OK) return NULL;
    if (n < text->capacity - text->size) return text->bytes + text->size;
    size_t wanted = text->capacity ? text->capacity : FIRST_SIZE;
    while (wanted - text->size <= n) {
        if (wanted > (size_t)PTRDIFF_MAX / 2) break;
        wanted *= 2;
    }
    char *grown =
        wanted - text->size <= n ? NULL : berth_resize(&text->allocator, text->bytes, text->capacity, wanted, 1);
    if (!grown) {
        text->status = BERTH_E_NOMEM;
        return NULL;
    }
    text->bytes = grown;
    text->capacity = wanted;
    return text->bytes + text->size;
}

void berth_text_append(berth_text *text, const char *bytes, size_t n) {
    char *room = berth_text_room(text, n);
    if (!room) return;
    if (n) memcpy(room, bytes, n);
    room[n] = 0;
    text->size += n;
}

void berth_text_printf(berth_text *text, const char *format, ...) {
    char *room = berth_text_room(text, 0);
    if (!room) return;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(room, text->capacity - text->size, format, args);
    va_end(args);
    if (n < 0) {
        *room = 0;
        text->status = BERTH_E_ARG;
        return;
    }
    if ((size_t)n >= text->capacity - text->size) {
        *room = 0;
        room = berth_text_room(text, (size_t)n);
        if (!room) return;
        va_start(args, format);
        vsnprintf(room, (size_t)n + 1, format, args);
        va_end(args);
    }
    text->size += (size_t)n;
}

const char *berth_text_string(const berth_text *text) {
    return text->bytes ? text->bytes : "";
}

size_t berth_text_size(const berth_text *text) {
    return text->size;
}

berth_status berth_text_status(const berth_text *text) {
    return text->status;
}

berth_status berth_text_write(berth_ctx *ctx, const berth_text *text, const char *path) {
    if (text->status == BERTH_E_NOMEM) return berth_fail_nomem(ctx);
    if (text->status != BERTH_OK)
        return berth_fail(ctx, text->status, "%s: not written, because its text is not well formed", path);
    return berth_file_write(ctx, path, berth_text_string(text), text->size);
}
