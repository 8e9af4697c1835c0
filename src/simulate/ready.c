/* SPDX-License-Identifier: Apache-2.0 */
/* Set-up of a set of ready tasks: how many words its levels take, and where each begins. */
#include "simulate/ready.h"

size_t berth_ready_words(int32_t n) {
    size_t total = 0, words = (size_t)n;
    do {
        words = (words + 63) / 64;
        if (words == 0) words = 1;
        total += words;
    } while (words > 1);
    return total;
}

void berth_ready_init(berth_ready *set, int32_t n, uint64_t *bits) {
    size_t words = (size_t)n;
    *set = (berth_ready){0};
    do {
        words = (words + 63) / 64;
        if (words == 0) words = 1;
        set->level[set->n_levels++] = bits;
        bits += words;
    } while (words > 1);
}
