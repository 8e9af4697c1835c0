/* SPDX-License-Identifier: Apache-2.0 */
/* Reading whole files: documents of at most some MiB, from a regular file or a pipe. The buffer grows as bytes come,
 * whatever size the file claims to have. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { FIRST_BUFFER = 1 << 14 };

typedef struct buffer {
    char *bytes;
    size_t used, size;
} buffer;

/* `limit` + 1 bytes are read before the file is refused. */
static berth_status collect(berth_ctx *ctx, const char *name, int fd, size_t limit, buffer *to) {
    for (;;) {
        if (to->used > limit)
            return berth_fail(ctx, BERTH_E_LIMIT, "%.600s: has more than %zu bytes, too many for such a file", name,
                              limit);
        if (to->used == to->size) {
            size_t wanted = to->size ? to->size * 2 : FIRST_BUFFER;
            char *grown = berth_resize(berth_ctx_allocator(ctx), to->bytes, to->size, wanted, 1);
            if (!grown) return berth_fail_nomem(ctx);
            to->bytes = grown;
            to->size = wanted;
        }
        ssize_t got = read(fd, to->bytes + to->used, to->size - to->used);
        if (got == 0) return BERTH_OK;
        if (got > 0) to->used += (size_t)got;
        if (got > 0 || (errno == EINTR && !berth_cancelled(ctx))) continue;
        if (errno == EINTR) return berth_fail(ctx, BERTH_E_CANCELLED, "%.600s: interrupted", name);
        return berth_fail(ctx, BERTH_E_IO, "%.600s: cannot read: %s", name, strerror(errno));
    }
}

berth_status berth_file_read(berth_ctx *ctx, berth_arena *arena, const char *path, size_t limit, const char **bytes,
                             size_t *n) {
    bool standard = strcmp(path, "-") == 0;
    const char *name = standard ? "standard input" : path;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return berth_fail(ctx, BERTH_E_IO, "%.600s: cannot open: %s", name, strerror(errno));
    buffer all = {0};
    berth_status status = collect(ctx, name, fd, limit, &all);
    if (!standard) close(fd);
    if (status == BERTH_OK) {
        *bytes = berth_arena_string(arena, all.bytes, all.used);
        *n = all.used;
        if (!*bytes) status = berth_fail_nomem(ctx);
    }
    berth_resize(berth_ctx_allocator(ctx), all.bytes, all.size, 0, 1);
    return status;
}
