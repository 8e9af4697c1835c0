/* SPDX-License-Identifier: Apache-2.0 */
/* "Did you mean ...": the name nearest to a mistyped one. */
#ifndef BERTH_BASE_NEAREST_H
#define BERTH_BASE_NEAREST_H

typedef struct berth_nearest {
    const char *typed;
    const char *best; /* NULL: nothing is near enough */
    int distance;
} berth_nearest;

berth_nearest berth_nearest_begin(const char *typed);
void berth_nearest_offer(berth_nearest *nearest, const char *name);

#endif
