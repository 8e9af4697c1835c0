/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

bool berth_vec_grow(const berth_allocator *allocator, void **items, size_t *capacity, size_t size) {
    size_t wanted = *capacity ? *capacity + *capacity / 2 + 1 : 8;
    if (wanted < *capacity) return false;
    void *grown = berth_resize(allocator, *items, *capacity, wanted, size);
    if (!grown) return false;
    *items = grown;
    *capacity = wanted;
    return true;
}
