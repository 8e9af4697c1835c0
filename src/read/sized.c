/* SPDX-License-Identifier: Apache-2.0 */
/* The door to memory wants the old size with every call. Foreign libraries do not know it, so each piece carries its
 * size in front, in as many bytes as keep the rest aligned for any type. */
#include "read/sized.h"

#include <string.h>

enum { HEADER = sizeof(max_align_t) };

void *berth_sized_resize(const berth_allocator *allocator, void *old, size_t size) {
    char *block = old ? (char *)old - HEADER : NULL;
    size_t old_total = 0;
    if (block) memcpy(&old_total, block, sizeof old_total);
    if (size > SIZE_MAX - HEADER) return NULL;
    size_t total = size ? HEADER + size : 0;
    block = berth_resize(allocator, block, old_total, total, 1);
    if (!block) return NULL;
    memcpy(block, &total, sizeof total);
    return block + HEADER;
}
