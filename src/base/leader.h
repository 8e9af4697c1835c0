/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of numbers that are joined: leader[i] is a member of the same set, and one that is its own leader stands for all
 * of them. To join two sets, make one's leader the other's. */
#ifndef BERTH_BASE_LEADER_H
#define BERTH_BASE_LEADER_H

#include <stdint.h>

/* Halves the way for those who come after. */
static inline int32_t berth_leader_find(int32_t *leader, int32_t i) {
    while (leader[i] != i) i = leader[i] = leader[leader[i]];
    return i;
}

#endif
