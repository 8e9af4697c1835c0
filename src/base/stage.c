/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear together. Temporary files are made with O_EXCL under short names of their own (the target's name
 * plus a suffix could exceed what the file system takes) and synchronised before anything is renamed, so that neither a
 * full disk nor a crash leaves half a file under a target's name. Small pieces go through a buffer, large ones do not.
 */
#define _GNU_SOURCE /* copy_file_range */
#include "base/stage.h"

#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100, BUFFER_SIZE = 1 << 16, COPIED_AT_ONCE = 1 << 24 };

/* Leaves errno at `error`: the caller may want to tell a full disk from other troubles. */
static berth_status fail_io(berth_stage *stage, const char *path, int error) {
    berth_fail(stage->ctx, BERTH_E_IO, "%.600s: cannot write: %s", path, strerror(error));
    errno = error;
    return BERTH_E_IO;
}

static berth_stage_entry *last(berth_stage *stage) {
    return &stage->entries.items[stage->entries.n - 1];
}

void berth_stage_init(berth_stage *stage, berth_ctx *ctx) {
    *stage = (berth_stage){.ctx = ctx, .fd = -1};
    berth_arena_init(&stage->arena, berth_ctx_allocator(ctx));
}

void berth_stage_deinit(berth_stage *stage) {
    int error = errno;
    if (stage->fd >= 0) close(stage->fd);
    while (stage->entries.n > 0) { /* inner folders were made last */
        const berth_stage_entry *entry = last(stage);
        if (entry->name)
            unlink(entry->name);
        else
            rmdir(entry->target);
        stage->entries.n--;
    }
    berth_vec_free(berth_ctx_allocator(stage->ctx), &stage->entries);
    berth_arena_deinit(&stage->arena);
    errno = error;
}

/* --- writing ---------------------------------------------------------------------------------------------------- */

static berth_status flush(berth_stage *stage) {
    int error = stage->used ? berth_file_put(stage->fd, stage->buffer, stage->used) : 0;
    stage->used = 0;
    return error ? fail_io(stage, last(stage)->path, error) : BERTH_OK;
}

/* The file is complete and on the disk. */
static berth_status finish(berth_stage *stage) {
    if (stage->fd < 0) return BERTH_OK;
    BERTH_TRY(flush(stage));
    int error = fsync(stage->fd) != 0 ? errno : 0;
    if (close(stage->fd) != 0 && !error) error = errno;
    stage->fd = -1;
    return error ? fail_io(stage, last(stage)->path, error) : BERTH_OK;
}

static berth_status make_buffer(berth_stage *stage) {
    if (!stage->buffer) stage->buffer = berth_arena_push(&stage->arena, BUFFER_SIZE, 1);
    return stage->buffer ? BERTH_OK : berth_fail_nomem(stage->ctx);
}

berth_status berth_stage_put(berth_stage *stage, const char *bytes, size_t n) {
    if (n > BUFFER_SIZE - stage->used) BERTH_TRY(flush(stage));
    if (n >= BUFFER_SIZE) {
        int error = berth_file_put(stage->fd, bytes, n);
        return error ? fail_io(stage, last(stage)->path, error) : BERTH_OK;
    }
    BERTH_TRY(make_buffer(stage));
    if (n) memcpy(stage->buffer + stage->used, bytes, n);
    stage->used += n;
    return BERTH_OK;
}

/* --- names ------------------------------------------------------------------------------------------------------ */

/* Find out what is to be replaced. `mode` is that of the existing file, 0 if there is none. */
static berth_status resolve(berth_stage *stage, const char *path, const char **target, mode_t *mode) {
    char real[PATH_MAX];
    struct stat st;
    *mode = 0;
    if (strlen(path) >= PATH_MAX) return fail_io(stage, path, ENAMETOOLONG);
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return fail_io(stage, path, EISDIR);
        if (!S_ISREG(st.st_mode)) {
            errno = EINVAL;
            return berth_fail(stage->ctx, BERTH_E_IO, "%.600s: cannot write: not a regular file", path);
        }
        if (!realpath(path, real)) return fail_io(stage, path, errno);
        *mode = st.st_mode & 0777;
        path = real;
    } else if (errno != ENOENT) {
        return fail_io(stage, path, errno);
    }
    *target = berth_arena_string(&stage->arena, path, strlen(path));
    return *target ? BERTH_OK : berth_fail_nomem(stage->ctx);
}

/* Makes a file, or a link to `source` unless it is NULL, beside the target and leaves its name in `name`. The
 * descriptor (of a link 0), or -1 with errno set. */
static int make_beside(const char *target, const char *source, char name[PATH_MAX]) {
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int n = snprintf(name, PATH_MAX, "%.*s.berth-%ld-%d", folder, target, (long)getpid(), attempt);
        if (n < 0 || n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = source ? link(source, name) : open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* Make the temporary file and note it. Leaves the descriptor in *fd; -1 and BERTH_OK: there can be no link. */
static berth_status enter(berth_stage *stage, const char *path, const char *source, int *fd) {
    char name[PATH_MAX];
    mode_t mode = 0;
    berth_stage_entry entry = {.target = path};
    entry.path = berth_arena_string(&stage->arena, path, strlen(path));
    if (!entry.path) return berth_fail_nomem(stage->ctx);
    BERTH_TRY(resolve(stage, path, &entry.target, &mode));
    if (!berth_vec_reserve(berth_ctx_allocator(stage->ctx), &stage->entries)) return berth_fail_nomem(stage->ctx);
    *fd = make_beside(entry.target, source, name);
    if (*fd < 0) return source ? BERTH_OK : fail_io(stage, path, errno);
    entry.name = berth_arena_string(&stage->arena, name, strlen(name));
    if (!entry.name) {
        unlink(name);
        if (!source) close(*fd);
        return berth_fail_nomem(stage->ctx);
    }
    stage->entries.items[stage->entries.n++] = entry;
    if (source) return BERTH_OK;
    stage->fd = *fd;
    return mode && fchmod(*fd, mode) != 0 ? fail_io(stage, path, errno) : BERTH_OK;
}

berth_status berth_stage_begin(berth_stage *stage, const char *path) {
    int fd = -1;
    BERTH_TRY(finish(stage));
    return enter(stage, path, NULL, &fd);
}

berth_status berth_stage_folders(berth_stage *stage, const char *path) {
    const berth_allocator *allocator = berth_ctx_allocator(stage->ctx);
    BERTH_TRY(finish(stage));
    for (const char *slash = path; (slash = strchr(slash + 1, '/'));) {
        char *folder = berth_arena_string(&stage->arena, path, (size_t)(slash - path));
        if (!folder || !berth_vec_reserve(allocator, &stage->entries)) return berth_fail_nomem(stage->ctx);
        if (mkdir(folder, 0777) == 0)
            stage->entries.items[stage->entries.n++] = (berth_stage_entry){folder, folder, NULL};
        else if (errno != EEXIST)
            return fail_io(stage, folder, errno);
    }
    return BERTH_OK;
}

/* --- links and copies ------------------------------------------------------------------------------------------- */

static berth_status fail_copy(berth_stage *stage, const char *source, int error) {
    berth_fail(stage->ctx, BERTH_E_IO, "%.400s: cannot copy to %.400s: %s", source, last(stage)->path, strerror(error));
    errno = error;
    return BERTH_E_IO;
}

/* By reading and writing: for file systems that cannot copy themselves. */
static berth_status copy_plainly(berth_stage *stage, const char *source, int from) {
    BERTH_TRY(make_buffer(stage));
    for (;;) {
        ssize_t got = read(from, stage->buffer, BUFFER_SIZE);
        if (got < 0 && errno == EINTR && !berth_cancelled(stage->ctx)) continue;
        if (got < 0 && errno != EINTR) return fail_copy(stage, source, errno);
        if (got < 0 || berth_cancelled(stage->ctx)) return berth_fail(stage->ctx, BERTH_E_CANCELLED, "interrupted");
        if (got == 0) return BERTH_OK;
        int error = berth_file_put(stage->fd, stage->buffer, (size_t)got);
        if (error) return fail_copy(stage, source, error);
    }
}

/* The kernel copies, on some file systems without touching the data. */
static berth_status copy(berth_stage *stage, const char *source, int from) {
    for (;;) {
        ssize_t got = copy_file_range(from, NULL, stage->fd, NULL, COPIED_AT_ONCE, 0);
        if (berth_cancelled(stage->ctx)) return berth_fail(stage->ctx, BERTH_E_CANCELLED, "interrupted");
        if (got > 0 || (got < 0 && errno == EINTR)) continue;
        /* Some file systems answer 0 for files that they cannot copy: only reading tells the end. */
        bool other_way = got == 0 || errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP;
        return other_way ? copy_plainly(stage, source, from) : fail_copy(stage, source, errno);
    }
}

berth_status berth_stage_link(berth_stage *stage, const char *path, const char *source) {
    int fd = -1;
    BERTH_TRY(finish(stage));
    BERTH_TRY(enter(stage, path, source, &fd));
    if (fd >= 0) return BERTH_OK;
    BERTH_TRY(berth_stage_begin(stage, path));
    int from = open(source, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (from < 0) return fail_copy(stage, source, errno);
    berth_status status = copy(stage, source, from);
    int error = errno;
    close(from);
    errno = error;
    return status;
}

berth_status berth_stage_commit(berth_stage *stage) {
    BERTH_TRY(finish(stage));
    for (; stage->entries.n > 0; stage->entries.n--) {
        const berth_stage_entry *entry = last(stage);
        if (entry->name && rename(entry->name, entry->target) != 0) return fail_io(stage, entry->path, errno);
    }
    return BERTH_OK;
}
