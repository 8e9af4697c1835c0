/* SPDX-License-Identifier: Apache-2.0 */
/* A set of small numbers whose smallest member is found at once: a tree of bits, 64 to a node. */
#ifndef BERTH_SIMULATE_READY_H
#define BERTH_SIMULATE_READY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BERTH_READY_LEVELS = 6 }; /* 64^6 exceeds any int32 */

typedef struct berth_ready {
    uint64_t *level[BERTH_READY_LEVELS]; /* level[0] has the members, each above says which words below have any */
    int n_levels;
} berth_ready;

/* Words needed for members below n, over all levels. */
size_t berth_ready_words(int32_t n);
/* `words` are berth_ready_words(n) zeros. */
void berth_ready_init(berth_ready *set, int32_t n, uint64_t *words);

static inline void berth_ready_insert(berth_ready *set, int32_t member) {
    uint32_t at = (uint32_t)member;
    for (int i = 0; i < set->n_levels; i++, at >>= 6) set->level[i][at >> 6] |= (uint64_t)1 << (at & 63);
}

static inline bool berth_ready_is_empty(const berth_ready *set) {
    return set->level[set->n_levels - 1][0] == 0;
}

/* Takes the smallest member out; the set must not be empty. */
static inline int32_t berth_ready_pop(berth_ready *set) {
    uint32_t at = 0;
    for (int i = set->n_levels - 1; i >= 0; i--) at = at << 6 | (uint32_t)__builtin_ctzll(set->level[i][at]);
    uint32_t member = at;
    for (int i = 0; i < set->n_levels; i++, at >>= 6) {
        set->level[i][at >> 6] &= ~((uint64_t)1 << (at & 63));
        if (set->level[i][at >> 6]) break;
    }
    return (int32_t)member;
}

#endif
