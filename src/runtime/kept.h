/* SPDX-License-Identifier: Apache-2.0 */
/* What finished jobs said, in the runtime's store, under everything that it depends on: a command that is run again
 * with `resume` finds it there and does not repeat the job. All do nothing where the runtime has no store. */
#ifndef BERTH_RUNTIME_KEPT_H
#define BERTH_RUNTIME_KEPT_H

#include "runtime/model.h"

/* NULL in *bytes: it is not there, or not wanted. */
berth_status berth_kept_get(berth_runtime *runtime, berth_arena *arena, const char *kind, const char *key,
                            const char **bytes, size_t *n);
berth_status berth_kept_put(berth_runtime *runtime, const char *kind, const char *key, const void *bytes, size_t n);

/* An answer with the files of its outputs. They are found again only together: *found says whether they were, and they
 * are then in `folder` (NULL: no outputs are wanted). */
berth_status berth_kept_get_answer(berth_ctx *ctx, berth_runtime *runtime, berth_arena *arena, const char *key,
                                   const char *folder, berth_answer *answer, bool *found);
berth_status berth_kept_put_answer(berth_ctx *ctx, berth_runtime *runtime, berth_arena *arena, const char *key,
                                   const berth_answer *answer);

/* What the files in a folder and a few others hold, as text in the arena: by their names in the folder, their sizes and
 * samples of their content. Two models whose weights differ differ nearly everywhere. NULL: no memory. */
const char *berth_kept_digest(berth_arena *arena, const char *folder, const berth_job_file *files, int32_t n);

#endif
