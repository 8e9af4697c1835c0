/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of an input: mapped from a regular file, collected from a pipe, or inflated from gzip. */
#ifndef BERTH_READ_SOURCE_H
#define BERTH_READ_SOURCE_H

#include "base/ctx.h"
#include "berth/read.h"

typedef struct berth_source {
    const char *name; /* for messages: the path, "standard input", or what the caller of read_memory said */
    const char *bytes;
    size_t size;
    /* what to give back */
    void *mapped;
    size_t mapped_size;
    int fd; /* of what is mapped */
    bool owns_fd;
    char *buffer;
    size_t buffer_size;
} berth_source;

/* Open a path ("-": standard input) and unpack it if it is gzip. Close it in every case. */
berth_status berth_source_open(berth_ctx *ctx, berth_source *source, const char *path,
                               const berth_read_options *options);
/* Borrow bytes; they are unpacked into a buffer if they are gzip. */
berth_status berth_source_memory(berth_ctx *ctx, berth_source *source, const void *bytes, size_t size, const char *name,
                                 const berth_read_options *options);
/* Copy a range of the bytes. Of a mapped file the range is read, not mapped: for a reader that needs a few bytes here
 * and there in a large file a read is several times cheaper than a page fault. */
void berth_source_copy(const berth_source *source, size_t at, size_t n, void *to);
/* Give the pages of a mapped file back to the system; those that are touched again are mapped again. For readers that
 * pass by weights: the kernel maps some pages around each one that is read. */
void berth_source_relax(const berth_source *source);
void berth_source_close(berth_ctx *ctx, berth_source *source);

#endif
