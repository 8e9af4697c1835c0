/* SPDX-License-Identifier: Apache-2.0 */
/* The context: the last error's sentence, the allocator, the log sink and the cancel callback. The sentence lives in
 * a fixed buffer, so that reporting a failure can never fail itself. This is the only file that calls the C library's
 * allocator (scripts/check-banned holds the others to it). */
#include "base/ctx.h"

#include "base/utf8.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#ifndef BERTH_VERSION
#define BERTH_VERSION "0.0.0"
#endif

enum { LINE_SIZE = 1024 };

struct berth_ctx {
    berth_allocator allocator;
    berth_log_fn log;
    void *log_user;
    berth_cancel_fn cancel;
    void *cancel_user;
    uint64_t hash_key[2];
    char message[LINE_SIZE];
};

static void *default_resize(void *user, void *old, size_t old_size, size_t new_size) {
    (void)user;
    (void)old_size;
    if (new_size == 0) {
        free(old);
        return NULL;
    }
    return realloc(old, new_size);
}

static const berth_allocator default_allocator = {default_resize, NULL};

berth_status berth_ctx_new(berth_ctx **out, const berth_allocator *allocator) {
    *out = NULL;
    if (!allocator) allocator = &default_allocator;
    berth_ctx *ctx = berth_resize(allocator, NULL, 0, 1, sizeof *ctx);
    if (!ctx) return BERTH_E_NOMEM;
    ctx->allocator = *allocator;
    if (getrandom(ctx->hash_key, sizeof ctx->hash_key, GRND_NONBLOCK) != (ssize_t)sizeof ctx->hash_key) {
        ctx->hash_key[0] = (uint64_t)(uintptr_t)ctx;
        ctx->hash_key[1] = 0x9e3779b97f4a7c15u;
    }
    *out = ctx;
    return BERTH_OK;
}

void berth_ctx_free(berth_ctx *ctx) {
    if (!ctx) return;
    berth_allocator allocator = ctx->allocator;
    berth_resize(&allocator, ctx, 1, 0, sizeof *ctx);
}

const char *berth_ctx_message(const berth_ctx *ctx) {
    return ctx->message;
}

void berth_ctx_set_log(berth_ctx *ctx, berth_log_fn log, void *user) {
    ctx->log = log;
    ctx->log_user = user;
}

void berth_ctx_set_cancel(berth_ctx *ctx, berth_cancel_fn cancel, void *user) {
    ctx->cancel = cancel;
    ctx->cancel_user = user;
}

const char *berth_version(void) {
    return BERTH_VERSION;
}

const char *berth_status_name(berth_status status) {
    switch (status) {
    case BERTH_OK: return "ok";
    case BERTH_E_NOMEM: return "out of memory";
    case BERTH_E_IO: return "input or output failed";
    case BERTH_E_FORMAT: return "malformed input";
    case BERTH_E_UNSUPPORTED: return "not supported";
    case BERTH_E_ARG: return "bad argument";
    case BERTH_E_NUMERIC: return "numbers diverged";
    case BERTH_E_LIMIT: return "limit reached";
    case BERTH_E_INFEASIBLE: return "no feasible placement";
    case BERTH_E_CANCELLED: return "cancelled";
    }
    return "unknown status";
}

/* Control characters, and what breaks lines or turns the direction of writing (U+0080 to U+009F, U+2028 to U+202E,
 * U+2066 to U+2069). `c` is valid UTF-8. */
static bool is_unprintable(const unsigned char *c) {
    if (c[0] < 0x20 || c[0] == 0x7f) return true;
    if (c[0] == 0xc2) return c[1] < 0xa0;
    if (c[0] != 0xe2) return false;
    return (c[1] == 0x80 && c[2] >= 0xa8 && c[2] <= 0xae) || (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

/* A message is one line of valid UTF-8 text: what a file put into it must not break a terminal or a log. Whatever
 * does not belong there becomes '?', so that the text never grows. */
static void make_printable(char *text) {
    size_t n = strlen(text), to = 0;
    for (size_t from = 0; from < n;) {
        bool good = true;
        size_t length = berth_utf8_next(text + from, n - from, &good);
        if (!good || is_unprintable((const unsigned char *)text + from))
            text[to++] = '?';
        else
            for (size_t i = 0; i < length; i++) text[to++] = text[from + i];
        from += length;
    }
    text[to] = 0;
}

/* What vsnprintf, which returned n, wrote into the line: one that was cut ends in "...", and the character that this
 * cuts is dropped. */
static void finish_line(char line[LINE_SIZE], int n) {
    static const char dots[] = "...";
    if (n < 0) line[0] = 0;
    if (n >= LINE_SIZE) {
        size_t end = LINE_SIZE - sizeof dots;
        while (end > 0 && ((unsigned char)line[end] & 0xc0) == 0x80) end--;
        memcpy(line + end, dots, sizeof dots);
    }
    make_printable(line);
}

berth_status berth_fail_va(berth_ctx *ctx, berth_status code, const char *format, va_list args) {
    char line[LINE_SIZE]; /* the arguments may point into the present message */
    finish_line(line, vsnprintf(line, sizeof line, format, args));
    memcpy(ctx->message, line, sizeof line);
    return code;
}

berth_status berth_fail(berth_ctx *ctx, berth_status code, const char *format, ...) {
    va_list args;
    va_start(args, format);
    berth_fail_va(ctx, code, format, args);
    va_end(args);
    return code;
}

berth_status berth_fail_nomem(berth_ctx *ctx) {
    static const char text[] = "out of memory";
    memcpy(ctx->message, text, sizeof text);
    return BERTH_E_NOMEM;
}

void berth_log(berth_ctx *ctx, berth_log_level level, const char *format, ...) {
    if (!ctx->log) return;
    char line[LINE_SIZE];
    va_list args;
    va_start(args, format);
    finish_line(line, vsnprintf(line, sizeof line, format, args));
    va_end(args);
    ctx->log(ctx->log_user, level, line);
}

bool berth_cancelled(berth_ctx *ctx) {
    return ctx->cancel && ctx->cancel(ctx->cancel_user);
}

const berth_allocator *berth_ctx_allocator(const berth_ctx *ctx) {
    return &ctx->allocator;
}

const uint64_t *berth_ctx_hash_key(const berth_ctx *ctx) {
    return ctx->hash_key;
}

void *berth_resize(const berth_allocator *allocator, void *old, size_t old_n, size_t new_n, size_t size) {
    assert(size > 0); /* else the allocator would free `old`, which the caller still holds */
    if (new_n == 0) {
        if (old) allocator->resize(allocator->user, old, old_n * size, 0);
        return NULL;
    }
    if (new_n > (size_t)PTRDIFF_MAX / size) return NULL;
    char *block = allocator->resize(allocator->user, old, old_n * size, new_n * size);
    if (block && new_n > old_n) memset(block + old_n * size, 0, (new_n - old_n) * size);
    return block;
}
