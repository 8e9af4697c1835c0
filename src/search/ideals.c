/* SPDX-License-Identifier: Apache-2.0 */
/* Ideals, each stored once: a hash table whose key is the sum of random numbers of the members, so that adding a block
 * to an ideal changes its key by one addition. */
#include "search/ideals.h"

#include <string.h>

#include "base/rng.h"

berth_status berth_ideals_init(berth_ctx *ctx, berth_ideals *ideals, int32_t n_blocks) {
    memset(ideals, 0, sizeof *ideals);
    berth_arena_init(&ideals->arena, berth_ctx_allocator(ctx));
    ideals->n_blocks = n_blocks;
    ideals->n_words = n_blocks / 64 + 1;
    ideals->n_slots = 1024;
    uint64_t *key = berth_arena_push(&ideals->arena, (size_t)n_blocks, sizeof *key);
    ideals->of_size = berth_arena_push(&ideals->arena, (size_t)n_blocks + 1, sizeof *ideals->of_size);
    ideals->slots = berth_resize(&ideals->arena.allocator, NULL, 0, ideals->n_slots, sizeof *ideals->slots);
    if (ideals->arena.failed || !ideals->slots) return berth_fail_nomem(ctx);
    berth_rng rng;
    berth_rng_init(&rng, 1, 0);
    for (int32_t b = 0; b < n_blocks; b++) {
        uint64_t high = berth_rng_next(&rng);
        key[b] = high << 32 | berth_rng_next(&rng);
    }
    ideals->key = key;
    return BERTH_OK;
}

void berth_ideals_deinit(berth_ideals *ideals) {
    berth_allocator allocator = ideals->arena.allocator;
    if (ideals->slots) berth_resize(&allocator, ideals->slots, ideals->n_slots, 0, sizeof *ideals->slots);
    berth_arena_deinit(&ideals->arena);
    ideals->slots = NULL;
}

berth_ideal *berth_ideals_find(const berth_ideals *ideals, const uint64_t *bits, uint64_t hash) {
    size_t n_bytes = (size_t)ideals->n_words * sizeof *bits;
    for (size_t at = hash & (ideals->n_slots - 1); ideals->slots[at]; at = (at + 1) & (ideals->n_slots - 1)) {
        berth_ideal *ideal = ideals->slots[at];
        if (ideal->hash == hash && memcmp(ideal->bits, bits, n_bytes) == 0) return ideal;
    }
    return NULL;
}

static void put(berth_ideal **slots, size_t n_slots, berth_ideal *ideal) {
    size_t at = ideal->hash & (n_slots - 1);
    while (slots[at]) at = (at + 1) & (n_slots - 1);
    slots[at] = ideal;
}

static bool grow(berth_ideals *ideals) {
    const berth_allocator *allocator = &ideals->arena.allocator;
    size_t n_slots = 2 * ideals->n_slots;
    berth_ideal **slots = berth_resize(allocator, NULL, 0, n_slots, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < ideals->n_slots; i++)
        if (ideals->slots[i]) put(slots, n_slots, ideals->slots[i]);
    berth_resize(allocator, ideals->slots, ideals->n_slots, 0, sizeof *slots);
    ideals->slots = slots;
    ideals->n_slots = n_slots;
    return true;
}

berth_ideal *berth_ideals_add(berth_ideals *ideals, const uint64_t *bits, uint64_t hash, int32_t n_members) {
    size_t n_bytes = (size_t)ideals->n_words * sizeof *bits;
    if (2 * (ideals->n + 1) > ideals->n_slots && !grow(ideals)) return NULL;
    berth_ideal *ideal = berth_arena_push(&ideals->arena, 1, sizeof *ideal + n_bytes);
    if (!ideal) return NULL;
    ideal->hash = hash;
    ideal->n_members = n_members;
    memcpy(ideal->bits, bits, n_bytes);
    ideal->next = ideals->of_size[n_members];
    ideals->of_size[n_members] = ideal;
    put(ideals->slots, ideals->n_slots, ideal);
    ideals->n++;
    return ideal;
}
