/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of one layer, numbered as they come (exact_queued.h). Nothing here depends on secrets: keys come from
 * placements, not from files, and results must be the same on every run. */
#include "search/exact_queued.h"

#include <string.h>

bool berth_queued_keys_init(berth_queued_keys *keys, berth_arena *arena, int32_t n_words, int32_t capacity) {
    *keys = (berth_queued_keys){.n_words = n_words, .n_slots = 16};
    while (keys->n_slots < 2 * (uint32_t)capacity) keys->n_slots *= 2;
    keys->keys = berth_arena_push(arena, (size_t)capacity * (size_t)n_words, sizeof *keys->keys);
    keys->slots = berth_arena_push(arena, keys->n_slots, sizeof *keys->slots);
    if (arena->failed) return false;
    memset(keys->slots, -1, keys->n_slots * sizeof *keys->slots);
    return true;
}

static uint32_t slot_of(const berth_queued_keys *keys, const uint64_t *key) {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int32_t i = 0; i < keys->n_words; i++) {
        hash = (hash ^ key[i]) * 0xff51afd7ed558ccdu;
        hash ^= hash >> 32;
    }
    uint32_t slot = (uint32_t)hash & (keys->n_slots - 1);
    while (keys->slots[slot] >= 0 && memcmp(keys->keys + (size_t)keys->slots[slot] * (size_t)keys->n_words, key,
                                            (size_t)keys->n_words * sizeof *key) != 0)
        slot = (slot + 1) & (keys->n_slots - 1);
    return slot;
}

void berth_queued_keys_clear(berth_queued_keys *keys) {
    memset(keys->slots, -1, keys->n_slots * sizeof *keys->slots);
    keys->n = 0;
}

int32_t berth_queued_keys_find(const berth_queued_keys *keys, const uint64_t *key) {
    return keys->slots[slot_of(keys, key)];
}

int32_t berth_queued_keys_add(berth_queued_keys *keys, const uint64_t *key) {
    uint32_t slot = slot_of(keys, key);
    if (keys->slots[slot] < 0) {
        memcpy(keys->keys + (size_t)keys->n * (size_t)keys->n_words, key, (size_t)keys->n_words * sizeof *key);
        keys->slots[slot] = keys->n++;
    }
    return keys->slots[slot];
}
