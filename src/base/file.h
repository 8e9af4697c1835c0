/* SPDX-License-Identifier: Apache-2.0 */
/* Writing whole files. */
#ifndef BERTH_BASE_FILE_H
#define BERTH_BASE_FILE_H

#include "base/ctx.h"

/* The file holds either what it held before or all n bytes, never a part of them: they are written under a temporary
 * name in the same folder, which is then renamed. An existing file keeps its permissions, and a symbolic link keeps
 * pointing at it. What is no regular file (a pipe, a terminal, /dev/null) is written directly, and so is standard
 * output, which "-" means. BERTH_OK, BERTH_E_IO, BERTH_E_NOMEM. */
berth_status berth_file_write(berth_ctx *ctx, const char *path, const char *bytes, size_t n);

#endif
