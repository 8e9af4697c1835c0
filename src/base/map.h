/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table from byte strings to int32. Keys are borrowed: they must outlive the map. */
#ifndef BERTH_BASE_MAP_H
#define BERTH_BASE_MAP_H

#include "base/ctx.h"

typedef struct berth_map_slot {
    const char *key; /* NULL: empty */
    size_t size;
    uint64_t hash;
    int32_t value;
} berth_map_slot;

typedef struct berth_map {
    berth_allocator allocator;
    uint64_t hash_key[2];
    berth_map_slot *slots;
    size_t n_slots; /* 0 or a power of two, at most three quarters full */
    size_t n;
} berth_map;

void berth_map_init(berth_map *map, berth_ctx *ctx);
void berth_map_deinit(berth_map *map);

/* The value of the key, or NULL. */
const int32_t *berth_map_find(const berth_map *map, const char *key, size_t size);
/* The slot's value, inserted as `fresh` if the key is new (*inserted, which may be NULL, says so). NULL: no memory.
 * The pointer is valid until the next insertion. */
int32_t *berth_map_insert(berth_map *map, const char *key, size_t size, int32_t fresh, bool *inserted);

#endif
