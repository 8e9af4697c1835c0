/* SPDX-License-Identifier: Apache-2.0 */
/* A context, an arena and a folder that must be gone in the end. */
#ifndef BERTH_TESTS_FOLDER_H
#define BERTH_TESTS_FOLDER_H

#include "support.h"

#include "runtime/scratch.h"

#include <unistd.h>

typedef struct foldered {
    berth_ctx *ctx;
    berth_arena arena;
    const char *folder;
} foldered;

static inline int folder_open(void **state) {
    static foldered f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    assert_int_equal(berth_scratch_make(f.ctx, &f.arena, &f.folder), BERTH_OK);
    *state = &f;
    return 0;
}

static inline int folder_close(void **state) {
    foldered *f = *state;
    berth_scratch_remove(f->folder);
    assert_int_not_equal(access(f->folder, F_OK), 0);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

#endif
