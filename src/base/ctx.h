/* SPDX-License-Identifier: Apache-2.0 */
/* The context as the library sees it: failing, allocating, logging. */
#ifndef BERTH_BASE_CTX_H
#define BERTH_BASE_CTX_H

#include "berth/base.h"

#include <stdarg.h>

/* Records the sentence and returns `code`, so that a failing function ends in `return berth_fail(...)`. */
berth_status berth_fail(berth_ctx *ctx, berth_status code, const char *format, ...) BERTH_PRINTF(3, 4);
berth_status berth_fail_va(berth_ctx *ctx, berth_status code, const char *format, va_list args) BERTH_PRINTF(3, 0);
/* Out of memory; never allocates. */
berth_status berth_fail_nomem(berth_ctx *ctx);

void berth_log(berth_ctx *ctx, berth_log_level level, const char *format, ...) BERTH_PRINTF(3, 4);
bool berth_cancelled(berth_ctx *ctx);

const berth_allocator *berth_ctx_allocator(const berth_ctx *ctx);
/* A secret of this context, so that no file can be made to collide in its hash tables. */
const uint64_t *berth_ctx_hash_key(const berth_ctx *ctx);

/* The one door to memory: resize an array from old_n to new_n elements of `size` bytes. New elements are zero.
 * NULL if new_n is 0 (freed), if the product overflows or if the allocator refuses (old is then still valid). */
void *berth_resize(const berth_allocator *allocator, void *old, size_t old_n, size_t new_n, size_t size);

#define BERTH_TRY(call)                            \
    do {                                           \
        berth_status berth_s_ = (call);            \
        if (berth_s_ != BERTH_OK) return berth_s_; \
    } while (0)

#endif
