/* SPDX-License-Identifier: Apache-2.0 */
/* The context: the last error's sentence, the allocator, the log sink and the cancel callback. The sentence lives in
 * a fixed buffer, so that reporting a failure can never fail itself. This is the only file that calls the C library's
 * allocator (scripts/check-banned holds the others to it). */
#include "base/ctx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#ifndef BERTH_VERSION
#define BERTH_VERSION "0.0.0"
#endif

struct berth_ctx {
    berth_allocator allocator;
    berth_log_fn log;
    void *log_user;
    berth_cancel_fn cancel;
    void *cancel_user;
    uint64_t hash_key[2];
    char message[1024];
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

/* A message is one line of valid UTF-8 text: what a file put into it must not break a terminal or a log. */
static void make_printable(char *text) {
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = '?';
    /* A sequence cut at the end of the buffer, or bytes that are no UTF-8. */
    for (unsigned char *c = (unsigned char *)text; *c;) {
        int tail = *c < 0x80 ? 0 : (*c & 0xe0) == 0xc0 ? 1 : (*c & 0xf0) == 0xe0 ? 2 : (*c & 0xf8) == 0xf0 ? 3 : -1;
        bool good = tail >= 0;
        for (int i = 1; good && i <= tail; i++) good = (c[i] & 0xc0) == 0x80;
        if (!good) *c = '?';
        c += good ? tail + 1 : 1;
    }
}

berth_status berth_fail_va(berth_ctx *ctx, berth_status code, const char *format, va_list args) {
    vsnprintf(ctx->message, sizeof ctx->message, format, args);
    make_printable(ctx->message);
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
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    make_printable(line);
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
    if (new_n == 0) {
        if (old) allocator->resize(allocator->user, old, old_n * size, 0);
        return NULL;
    }
    if (size != 0 && new_n > (size_t)PTRDIFF_MAX / size) return NULL;
    char *block = allocator->resize(allocator->user, old, old_n * size, new_n * size);
    if (block && new_n > old_n) memset(block + old_n * size, 0, (new_n - old_n) * size);
    return block;
}
