/* SPDX-License-Identifier: Apache-2.0 */
/* Writing whole files. A regular one goes through a stage of its own, so that neither a full disk nor a crash leaves
 * half a file under the target's name. */
#include "base/file.h"

#include "base/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Leaves errno at `error`: the caller may want to tell a full disk from a reader that went away. */
static berth_status fail_io(berth_ctx *ctx, const char *path, int error) {
    berth_fail(ctx, BERTH_E_IO, "%.600s: cannot write: %s", path, strerror(error));
    errno = error;
    return BERTH_E_IO;
}

berth_status berth_file_judge(berth_status status) {
    bool is_full = errno == ENOSPC || errno == EDQUOT || errno == EFBIG;
    return status == BERTH_E_IO && is_full ? BERTH_E_LIMIT : status;
}

int berth_file_put(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t written = write(fd, bytes, n);
        if (written < 0 && errno != EINTR) return errno;
        if (written < 0) continue;
        bytes += written;
        n -= (size_t)written;
    }
    return 0;
}

static berth_status write_stdout(berth_ctx *ctx, const char *bytes, size_t n) {
    /* What the program printed before stays before. */
    int error = fflush(stdout) == 0 ? berth_file_put(STDOUT_FILENO, bytes, n) : errno;
    return error ? fail_io(ctx, "standard output", error) : BERTH_OK;
}

static berth_status write_directly(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = berth_file_put(fd, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    return error ? fail_io(ctx, path, error) : BERTH_OK;
}

static berth_status replace(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    berth_stage stage;
    berth_stage_init(&stage, ctx);
    berth_status status = berth_stage_begin(&stage, path);
    if (status == BERTH_OK) status = berth_stage_put(&stage, bytes, n);
    if (status == BERTH_OK) status = berth_stage_commit(&stage);
    berth_stage_deinit(&stage);
    return status;
}

berth_status berth_file_write(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    struct stat st;
    if (strcmp(path, "-") == 0) return write_stdout(ctx, bytes, n);
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    return special ? write_directly(ctx, path, bytes, n) : replace(ctx, path, bytes, n);
}

/* Of a device only: opening a pipe would wait for its reader, and closing it would tell the reader that this is all. No
 * bytes at all are already too many for a device that is full. */
static berth_status try_device(berth_ctx *ctx, const char *path) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = write(fd, "", 0) < 0 ? errno : 0;
    close(fd);
    return error ? fail_io(ctx, path, error) : BERTH_OK;
}

berth_status berth_file_try(berth_ctx *ctx, const char *path) {
    struct stat st;
    berth_stage stage;
    if (strcmp(path, "-") == 0) return BERTH_OK;
    bool there = stat(path, &st) == 0;
    if (there && S_ISCHR(st.st_mode)) return try_device(ctx, path);
    if (there && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return BERTH_OK;
    berth_stage_init(&stage, ctx);
    berth_status status = berth_stage_begin(&stage, path);
    int error = status == BERTH_OK ? berth_file_put(stage.fd, "", 1) : 0; /* a full disk has no room for one byte */
    if (error) status = fail_io(ctx, path, error);
    berth_stage_deinit(&stage);
    return status;
}

berth_status berth_file_append(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = berth_file_put(fd, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    return error ? fail_io(ctx, path, error) : BERTH_OK;
}
