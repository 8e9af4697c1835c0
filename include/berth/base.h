/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/base.h: status codes and the context.
 *
 * Every call that can fail takes a context and returns a berth_status. The context holds the allocator, the
 * sentence that explains the last failure, the log sink and the cancel callback. The library has no mutable
 * globals: use one context per thread and any number of threads.
 *
 * Ownership, everywhere in this library: what is written through `T **out` belongs to the caller and is freed
 * by the noun's `_free` call; a pointer returned directly is borrowed from its first argument. After a failure
 * every `*out` is NULL.
 */
#ifndef BERTH_BASE_H
#define BERTH_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define BERTH_API                 __attribute__((visibility("default")))
#define BERTH_MUST_CHECK          __attribute__((warn_unused_result))
#define BERTH_PRINTF(text, first) __attribute__((__format__(__printf__, text, first)))
#else
#define BERTH_API
#define BERTH_MUST_CHECK
#define BERTH_PRINTF(text, first)
#endif

typedef enum berth_status {
    BERTH_OK = 0,
    BERTH_E_NOMEM = -1,
    BERTH_E_IO = -2,
    BERTH_E_FORMAT = -3,      /* malformed input; the message names the place */
    BERTH_E_UNSUPPORTED = -4, /* valid, but not handled here */
    BERTH_E_ARG = -5,         /* a value out of bounds, an unknown option */
    BERTH_E_NUMERIC = -6,     /* NaN, divergence */
    BERTH_E_LIMIT = -7,       /* a configured limit was reached */
    BERTH_E_INFEASIBLE = -8,  /* no placement satisfies the constraints */
    BERTH_E_CANCELLED = -9,   /* the cancel callback asked to stop before there was an answer */
} berth_status;

/** The name of a status, such as "malformed input". Never NULL. */
BERTH_API const char *berth_status_name(berth_status status);

/**
 * Where memory comes from: realloc with sizes. `new_size` 0 frees and returns NULL; `old` may be NULL (then
 * `old_size` is 0). Returns NULL if it cannot serve `new_size` > 0, and `old` is then still valid.
 */
typedef struct berth_allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t new_size);
    void *user;
} berth_allocator;

typedef enum berth_log_level { BERTH_LOG_WARNING, BERTH_LOG_INFO, BERTH_LOG_DEBUG } berth_log_level;
typedef void (*berth_log_fn)(void *user, berth_log_level level, const char *message);
/** Returns true when the work in progress should stop as soon as it can. */
typedef bool (*berth_cancel_fn)(void *user);

typedef struct berth_ctx berth_ctx;

/** Make a context. `allocator` NULL means the C library's; it is copied. */
BERTH_API BERTH_MUST_CHECK berth_status berth_ctx_new(berth_ctx **out, const berth_allocator *allocator);
BERTH_API void berth_ctx_free(berth_ctx *ctx);

/** One line about the last failure on this context, without a newline; "" if nothing failed yet. */
BERTH_API const char *berth_ctx_message(const berth_ctx *ctx);

BERTH_API void berth_ctx_set_log(berth_ctx *ctx, berth_log_fn log, void *user);
BERTH_API void berth_ctx_set_cancel(berth_ctx *ctx, berth_cancel_fn cancel, void *user);

/** The version of the library, such as "0.1.0". */
BERTH_API const char *berth_version(void);
/** What the processor of this machine is called, or "unknown". */
BERTH_API void berth_processor_name(char *name, size_t size);

#ifdef __cplusplus
}
#endif
#endif
