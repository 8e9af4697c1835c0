/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays grow by half, so that pushing costs constant time on average and at most a third of the room stays empty. */
#include "base/vec.h"

void *berth_vec_grow(const berth_allocator *allocator, void *items, size_t *capacity, size_t size) {
    size_t wanted = *capacity ? *capacity + *capacity / 2 + 1 : 8;
    if (wanted < *capacity) return items;
    void *grown = berth_resize(allocator, items, *capacity, wanted, size);
    if (!grown) return items;
    *capacity = wanted;
    return grown;
}
