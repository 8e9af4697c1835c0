/* SPDX-License-Identifier: Apache-2.0 */
/* Ideals of a partial order: sets of blocks that hold, with a block, all its predecessors. Each is stored once, found
 * by its bits, and listed by its size. */
#ifndef BERTH_SEARCH_IDEALS_H
#define BERTH_SEARCH_IDEALS_H

#include "base/arena.h"

typedef struct berth_ideal {
    uint64_t hash;            /* sum of its members' keys */
    struct berth_ideal *next; /* in the list of its size */
    int32_t n_members;
    void *data; /* the user's */
    uint64_t bits[];
} berth_ideal;

typedef struct berth_ideals {
    berth_arena arena; /* of the ideals */
    int32_t n_blocks, n_words;
    const uint64_t *key; /* [n_blocks] random: sums tell sets apart before their bits are compared */
    berth_ideal **slots; /* open addressing, at most half full */
    size_t n_slots, n;
    berth_ideal **of_size; /* [n_blocks + 1] */
} berth_ideals;

berth_status berth_ideals_init(berth_ctx *ctx, berth_ideals *ideals, int32_t n_blocks);
void berth_ideals_deinit(berth_ideals *ideals);

/* The ideal with these bits and the sum of their keys, or NULL. */
berth_ideal *berth_ideals_find(const berth_ideals *ideals, const uint64_t *bits, uint64_t hash);
/* One that is not there yet; NULL: no memory. */
berth_ideal *berth_ideals_add(berth_ideals *ideals, const uint64_t *bits, uint64_t hash, int32_t n_members);

static inline bool berth_bits_have(const uint64_t *bits, int32_t at) {
    return bits[at >> 6] >> (at & 63) & 1;
}

static inline void berth_bits_set(uint64_t *bits, int32_t at) {
    bits[at >> 6] |= (uint64_t)1 << (at & 63);
}

static inline void berth_bits_clear(uint64_t *bits, int32_t at) {
    bits[at >> 6] &= ~((uint64_t)1 << (at & 63));
}

#endif
