/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear together. Each is written under a temporary name beside its target, and all are renamed at the end,
 * the one that was begun first as the last, so that whoever sees it sees the others:
 *
 *     berth_stage stage;
 *     berth_stage_init(&stage, ctx);
 *     status = berth_stage_begin(&stage, "model.onnx");
 *     if (status == BERTH_OK) status = berth_stage_put(&stage, bytes, n);         any number of times
 *     if (status == BERTH_OK) status = berth_stage_commit(&stage);
 *     berth_stage_deinit(&stage);                            takes back whatever was not committed
 *
 * Until the commit nothing has happened to any target, whether the disk was full or somebody gave up. An existing file
 * keeps its permissions, and a symbolic link keeps pointing at it; what is no regular file is refused. After
 * BERTH_E_IO errno says why, also after berth_stage_deinit(). */
#ifndef BERTH_BASE_STAGE_H
#define BERTH_BASE_STAGE_H

#include "base/arena.h"
#include "base/vec.h"

typedef struct berth_stage_entry {
    const char *path;   /* as the caller calls it, for messages */
    const char *target; /* the file itself, behind symbolic links */
    const char *name;   /* the temporary one; NULL: `target` is a folder that was made */
} berth_stage_entry;

typedef struct berth_stage {
    berth_ctx *ctx;
    berth_arena arena;
    BERTH_VEC(berth_stage_entry) entries;
    int fd; /* of the last entry while it is being written, else -1 */
    char *buffer;
    size_t used; /* of the buffer */
} berth_stage;

void berth_stage_init(berth_stage *stage, berth_ctx *ctx);
void berth_stage_deinit(berth_stage *stage);

/* Begin a file; the one before is complete with that. BERTH_OK, BERTH_E_IO, BERTH_E_NOMEM. */
berth_status berth_stage_begin(berth_stage *stage, const char *path);
berth_status berth_stage_put(berth_stage *stage, const char *bytes, size_t n);
/* A file of the same content as `source`: a hard link where the file system can, else a copy. Also BERTH_E_CANCELLED.
 */
berth_status berth_stage_link(berth_stage *stage, const char *path, const char *source);
/* The folders around `path` that are not there yet. */
berth_status berth_stage_folders(berth_stage *stage, const char *path);
/* Give every file its name. If that fails halfway, those that were begun later have theirs. */
berth_status berth_stage_commit(berth_stage *stage);

#endif
