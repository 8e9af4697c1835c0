/* SPDX-License-Identifier: Apache-2.0 */
/* A folder for files that do not outlive us, in $TMPDIR or /tmp. */
#ifndef BERTH_RUNTIME_SCRATCH_H
#define BERTH_RUNTIME_SCRATCH_H

#include "base/arena.h"

/* Its path, in the arena. */
berth_status berth_scratch_make(berth_ctx *ctx, berth_arena *arena, const char **path);
/* With everything in it, folders in it included; NULL: nothing to do. */
void berth_scratch_remove(const char *path);

#endif
