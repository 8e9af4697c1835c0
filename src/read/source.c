/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input. A regular file is mapped, so that the weights inside it cost no memory; a pipe is collected
 * in a growing buffer; gzip is inflated in memory, within the limits of the options (a few KiB of gzip can unpack to
 * gigabytes). */
#include "read/source.h"

#include "read/sized.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* zlib counts in unsigned int. */
enum { FIRST_BUFFER = 1 << 16, FREE_EXPANSION = 16 << 20, LARGEST_PIECE = 1 << 30 };

static berth_status fail_io(berth_ctx *ctx, const berth_source *source, const char *what) {
    int error = errno;
    return berth_fail(ctx, BERTH_E_IO, "%s: %s: %s", source->name, what, strerror(error));
}

static berth_status grow_buffer(berth_ctx *ctx, berth_source *source, size_t wanted) {
    char *grown = berth_resize(berth_ctx_allocator(ctx), source->buffer, source->buffer_size, wanted, 1);
    if (!grown) return berth_fail_nomem(ctx);
    source->buffer = grown;
    source->buffer_size = wanted;
    return BERTH_OK;
}

static berth_status collect(berth_ctx *ctx, berth_source *source, int fd) {
    for (size_t used = 0;;) {
        if (used == source->buffer_size) {
            size_t wanted = used ? used * 2 : FIRST_BUFFER;
            BERTH_TRY(grow_buffer(ctx, source, wanted));
        }
        ssize_t got = read(fd, source->buffer + used, source->buffer_size - used);
        if (got < 0 && errno == EINTR) {
            if (berth_cancelled(ctx)) return berth_fail(ctx, BERTH_E_CANCELLED, "%s: interrupted", source->name);
            continue;
        }
        if (got < 0) return fail_io(ctx, source, "cannot read");
        if (got == 0) {
            source->bytes = source->buffer;
            source->size = used;
            return BERTH_OK;
        }
        used += (size_t)got;
    }
}

static berth_status map_or_collect(berth_ctx *ctx, berth_source *source, int fd) {
    struct stat st;
    if (fstat(fd, &st) != 0) return fail_io(ctx, source, "cannot read");
    if (S_ISDIR(st.st_mode)) return berth_fail(ctx, BERTH_E_IO, "%s: is a directory", source->name);
    /* Files of size 0 may still have content (/proc). A file already partly read (standard input) is collected. */
    if (!S_ISREG(st.st_mode) || st.st_size == 0 || lseek(fd, 0, SEEK_CUR) != 0) return collect(ctx, source, fd);
    void *mapped = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) return collect(ctx, source, fd);
    source->mapped = mapped;
    source->fd = fd;
    source->mapped_size = (size_t)st.st_size;
    source->bytes = mapped;
    source->size = (size_t)st.st_size;
    return BERTH_OK;
}

static bool is_gzip(const berth_source *source) {
    return source->bytes && source->size >= 3 && memcmp(source->bytes, "\x1f\x8b\x08", 3) == 0;
}

static void *zlib_alloc(void *opaque, unsigned n, unsigned size) {
    return berth_sized_resize(opaque, NULL, (size_t)n * size);
}

static void zlib_free(void *opaque, void *address) {
    berth_sized_resize(opaque, address, 0);
}

static int64_t inflate_limit(const berth_source *source, const berth_read_options *options) {
    int64_t by_ratio = INT64_MAX;
    if (__builtin_mul_overflow((int64_t)source->size, (int64_t)options->max_expansion, &by_ratio)) by_ratio = INT64_MAX;
    if (by_ratio < FREE_EXPANSION) by_ratio = FREE_EXPANSION;
    int64_t limit = by_ratio < options->max_inflated ? by_ratio : options->max_inflated;
    return limit < 0 ? 0 : limit;
}

/* Room for at least one more byte. The buffer never grows past one byte more than allowed, which tells. */
static berth_status make_room(berth_ctx *ctx, berth_source *source, size_t used, int64_t limit) {
    if (used < source->buffer_size) return BERTH_OK;
    size_t wanted = used ? used * 2 : FIRST_BUFFER;
    return grow_buffer(ctx, source, (int64_t)wanted > limit ? (size_t)limit + 1 : wanted);
}

/* What follows a member: another one (true), or nothing but zeros, with which tapes are filled up. */
static berth_status find_member(berth_ctx *ctx, const berth_source *source, size_t taken, bool *more) {
    *more = source->size - taken >= 2 && memcmp(source->bytes + taken, "\x1f\x8b", 2) == 0;
    for (size_t i = taken; !*more && i < source->size; i++)
        if (source->bytes[i] != 0)
            return berth_fail(ctx, BERTH_E_FORMAT, "%s: byte %zu: other data follow the gzip data", source->name, i);
    return BERTH_OK;
}

/* Inflate all members of the stream into source->buffer. */
static berth_status inflate_all(berth_ctx *ctx, berth_source *source, z_stream *z, int64_t limit) {
    size_t used = 0, taken = 0;
    for (bool more = true; more;) {
        BERTH_TRY(make_room(ctx, source, used, limit));
        size_t in = source->size - taken, room = source->buffer_size - used;
        z->next_in = (z_const Bytef *)(source->bytes + taken);
        z->avail_in = in > LARGEST_PIECE ? LARGEST_PIECE : (unsigned)in;
        z->next_out = (Bytef *)source->buffer + used;
        z->avail_out = room > LARGEST_PIECE ? LARGEST_PIECE : (unsigned)room;
        unsigned in_before = z->avail_in, out_before = z->avail_out;
        int code = inflate(z, Z_NO_FLUSH);
        taken += in_before - z->avail_in;
        used += out_before - z->avail_out;
        if ((int64_t)used > limit)
            return berth_fail(ctx, BERTH_E_LIMIT, "%s: unpacks to more than %" PRId64 " bytes", source->name, limit);
        if (code == Z_MEM_ERROR) return berth_fail_nomem(ctx);
        if (code == Z_STREAM_END) {
            BERTH_TRY(find_member(ctx, source, taken, &more));
            inflateReset(z);
        } else if (code != Z_OK && !(code == Z_BUF_ERROR && z->avail_out == 0)) {
            return berth_fail(ctx, BERTH_E_FORMAT, "%s: byte %zu: %s", source->name, taken,
                              code == Z_BUF_ERROR ? "the gzip data end too early" : "the gzip data are damaged");
        }
    }
    source->bytes = source->buffer;
    source->size = used;
    return BERTH_OK;
}

static berth_status unpack(berth_ctx *ctx, berth_source *source, const berth_read_options *options) {
    if (!is_gzip(source)) return BERTH_OK;
    /* The packed bytes may themselves stand in the buffer (a pipe): set them aside. */
    char *packed = source->buffer;
    size_t packed_size = source->buffer_size;
    source->buffer = NULL;
    source->buffer_size = 0;
    berth_allocator allocator = *berth_ctx_allocator(ctx);
    z_stream z = {.zalloc = zlib_alloc, .zfree = zlib_free, .opaque = &allocator};
    berth_status status = BERTH_OK;
    if (inflateInit2(&z, 15 + 16) != Z_OK) {
        status = berth_fail_nomem(ctx);
    } else {
        status = inflate_all(ctx, source, &z, inflate_limit(source, options));
        inflateEnd(&z);
    }
    berth_resize(&allocator, packed, packed_size, 0, 1);
    return status;
}

berth_status berth_source_open(berth_ctx *ctx, berth_source *source, const char *path,
                               const berth_read_options *options) {
    bool standard = strcmp(path, "-") == 0;
    *source = (berth_source){.name = standard ? "standard input" : path};
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_io(ctx, source, "cannot open");
    berth_status status = map_or_collect(ctx, source, fd);
    source->owns_fd = !standard && source->mapped;
    if (!standard && !source->mapped) close(fd);
    return status == BERTH_OK ? unpack(ctx, source, options) : status;
}

berth_status berth_source_memory(berth_ctx *ctx, berth_source *source, const void *bytes, size_t size, const char *name,
                                 const berth_read_options *options) {
    *source = (berth_source){.name = name, .bytes = bytes, .size = size};
    return unpack(ctx, source, options);
}

void berth_source_copy(const berth_source *source, size_t at, size_t n, void *to) {
    bool in_file = source->mapped && source->bytes == source->mapped;
    ssize_t got = in_file ? pread(source->fd, to, n, (off_t)at) : -1;
    size_t done = got > 0 ? (size_t)got : 0;
    if (done < n) memcpy((char *)to + done, source->bytes + at + done, n - done);
}

void berth_source_relax(const berth_source *source) {
    if (source->mapped) madvise(source->mapped, source->mapped_size, MADV_DONTNEED);
}

void berth_source_close(berth_ctx *ctx, berth_source *source) {
    if (source->mapped) munmap(source->mapped, source->mapped_size);
    if (source->owns_fd) close(source->fd);
    berth_resize(berth_ctx_allocator(ctx), source->buffer, source->buffer_size, 0, 1);
    *source = (berth_source){.name = source->name};
}
