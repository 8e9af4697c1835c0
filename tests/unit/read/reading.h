/* SPDX-License-Identifier: Apache-2.0 */
/* A context for all cases of a program, for readers that every line of a test talks to. */
#ifndef BERTH_TESTS_READING_H
#define BERTH_TESTS_READING_H

#include "support.h"

static berth_ctx *ctx;

static inline int set_up(void **state) {
    (void)state;
    return berth_ctx_new(&ctx, NULL);
}

static inline int tear_down(void **state) {
    (void)state;
    berth_ctx_free(ctx);
    return 0;
}

#endif
