/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for libraries that do not say how much they give back (zlib, expat). */
#ifndef BERTH_READ_SIZED_H
#define BERTH_READ_SIZED_H

#include "base/ctx.h"

/* As realloc: `old` NULL makes a piece, `size` 0 frees it and returns NULL. NULL if the allocator refuses; `old` is
 * then still valid. */
void *berth_sized_resize(const berth_allocator *allocator, void *old, size_t size);

#endif
