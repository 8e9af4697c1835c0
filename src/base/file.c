/* SPDX-License-Identifier: Apache-2.0 */
/* Writing whole files. The temporary file is made with O_EXCL under a short name of its own (the target's name plus a
 * suffix could exceed what the file system takes), synchronised, and only then renamed over the target, so that
 * neither a full disk nor a crash leaves half a file under the target's name. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ATTEMPTS = 100 };

/* Leaves errno at `error`: the caller may want to tell a full disk from a reader that went away. */
static berth_status fail_io(berth_ctx *ctx, const char *path, int error) {
    berth_fail(ctx, BERTH_E_IO, "%.600s: cannot write: %s", path, strerror(error));
    errno = error;
    return BERTH_E_IO;
}

/* 0 or errno. */
static int write_all(int fd, const char *bytes, size_t n) {
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
    int error = fflush(stdout) == 0 ? write_all(STDOUT_FILENO, bytes, n) : errno;
    return error ? fail_io(ctx, "standard output", error) : BERTH_OK;
}

static berth_status write_directly(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = write_all(fd, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    return error ? fail_io(ctx, path, error) : BERTH_OK;
}

/* Makes a file beside the target and leaves its name in `name`. The descriptor, or -1 with errno set. */
static int open_beside(const char *target, char name[PATH_MAX]) {
    const char *slash = strrchr(target, '/');
    int folder = slash ? (int)(slash - target) + 1 : 0;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        int n = snprintf(name, PATH_MAX, "%.*s.berth-%ld-%d", folder, target, (long)getpid(), attempt);
        if (n < 0 || n >= PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

/* `old` is the file to replace, or NULL. */
static berth_status replace(berth_ctx *ctx, const char *path, const struct stat *old, const char *bytes, size_t n) {
    char target[PATH_MAX], name[PATH_MAX];
    if (strlen(path) >= PATH_MAX) return fail_io(ctx, path, ENAMETOOLONG);
    if (!old)
        snprintf(target, sizeof target, "%s", path);
    else if (!realpath(path, target)) /* the file behind a symbolic link */
        return fail_io(ctx, path, errno);
    int fd = open_beside(target, name);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = old && fchmod(fd, old->st_mode & 0777) != 0 ? errno : 0;
    if (!error) error = write_all(fd, bytes, n);
    if (!error && fsync(fd) != 0) error = errno;
    if (close(fd) != 0 && !error) error = errno;
    if (!error && rename(name, target) != 0) error = errno;
    if (!error) return BERTH_OK;
    unlink(name);
    return fail_io(ctx, path, error);
}

berth_status berth_file_write(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    struct stat st;
    if (strcmp(path, "-") == 0) return write_stdout(ctx, bytes, n);
    if (stat(path, &st) == 0) {
        if (!S_ISREG(st.st_mode)) return write_directly(ctx, path, bytes, n);
        return replace(ctx, path, &st, bytes, n);
    }
    if (errno != ENOENT) return fail_io(ctx, path, errno);
    return replace(ctx, path, NULL, bytes, n);
}

berth_status berth_file_append(berth_ctx *ctx, const char *path, const char *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0) return fail_io(ctx, path, errno);
    int error = write_all(fd, bytes, n);
    if (close(fd) != 0 && !error) error = errno;
    return error ? fail_io(ctx, path, error) : BERTH_OK;
}
