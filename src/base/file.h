/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing whole files. */
#ifndef BERTH_BASE_FILE_H
#define BERTH_BASE_FILE_H

#include "base/arena.h"

/* The file holds either what it held before or all n bytes, never a part of them: they are written under a temporary
 * name in the same folder, which is then renamed. An existing file keeps its permissions, and a symbolic link keeps
 * pointing at it. What is no regular file (a pipe, a terminal, /dev/null) is written directly, and so is standard
 * output, which "-" means. BERTH_OK, BERTH_E_IO, BERTH_E_NOMEM. */
berth_status berth_file_write(berth_ctx *ctx, const char *path, const char *bytes, size_t n);

/* Whether berth_file_write() could begin to write there: what is known before there is anything to write. It leaves
 * nothing behind and changes no file. BERTH_OK, BERTH_E_IO, BERTH_E_NOMEM. */
berth_status berth_file_try(berth_ctx *ctx, const char *path);

/* Right after a write that failed: BERTH_E_LIMIT in place of BERTH_E_IO if there was no room for it, by errno: a full
 * disk is no fault of what was read. The message stays. */
berth_status berth_file_judge(berth_status status);

/* All n bytes at the end of the file, which is made if it is not there: for lines of a growing log. Whoever is killed
 * meanwhile leaves a part of them. BERTH_OK, BERTH_E_IO. */
berth_status berth_file_append(berth_ctx *ctx, const char *path, const char *bytes, size_t n);

/* All bytes of a file ("-": standard input) into the arena, with a NUL behind them. For small documents: more than
 * `limit` bytes are BERTH_E_LIMIT. BERTH_OK, BERTH_E_IO, BERTH_E_LIMIT, BERTH_E_CANCELLED, BERTH_E_NOMEM. */
berth_status berth_file_read(berth_ctx *ctx, berth_arena *arena, const char *path, size_t limit, const char **bytes,
                             size_t *n);

/* All n bytes to a descriptor, however often that is interrupted. 0, or errno. */
int berth_file_put(int fd, const char *bytes, size_t n);

#endif
