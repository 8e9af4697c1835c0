/* SPDX-License-Identifier: Apache-2.0 */
/* Made with a name that nobody else has, for us alone; removed without following links. */
#define _XOPEN_SOURCE 700 /* NOLINT: nftw */
#include "runtime/scratch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

berth_status berth_scratch_make(berth_ctx *ctx, berth_arena *arena, const char **path) {
    const char *folder = getenv("TMPDIR");
    char *name = berth_arena_printf(arena, "%s/berth-XXXXXX", folder && *folder ? folder : "/tmp");
    *path = NULL;
    if (!name) return berth_fail_nomem(ctx);
    if (!mkdtemp(name)) return berth_fail(ctx, BERTH_E_IO, "cannot make a folder %.600s: %s", name, strerror(errno));
    *path = name;
    return BERTH_OK;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    remove(path);
    return 0;
}

void berth_scratch_remove(const char *path) {
    enum { OPEN = 16 };
    if (path) nftw(path, remove_one, OPEN, FTW_DEPTH | FTW_PHYS);
}
