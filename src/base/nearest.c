/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance: insert, delete or replace a letter, or swap two neighbours (optimal string alignment, Damerau 1964). A
 * name is near if at most a third of its letters, and at least one, differ. */
#include "berth/text.h"

#include <string.h>

enum { MAX_LENGTH = 40, FAR = 1000 };

static int smaller(int a, int b) {
    return a < b ? a : b;
}

static int edit_distance(const char *a, const char *b) {
    size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size > MAX_LENGTH || b_size > MAX_LENGTH) return FAR;
    int cost[MAX_LENGTH + 1][MAX_LENGTH + 1]; /* [i][j]: from the first i letters of a to the first j of b */
    for (size_t i = 0; i <= a_size; i++) cost[i][0] = (int)i;
    for (size_t j = 0; j <= b_size; j++) cost[0][j] = (int)j;
    for (size_t i = 1; i <= a_size; i++)
        for (size_t j = 1; j <= b_size; j++) {
            int best = smaller(cost[i - 1][j], cost[i][j - 1]) + 1;
            best = smaller(best, cost[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, cost[i - 2][j - 2] + 1);
            cost[i][j] = best;
        }
    return cost[a_size][b_size];
}

berth_nearest berth_nearest_begin(const char *typed) {
    return (berth_nearest){.typed = typed, .distance = FAR};
}

void berth_nearest_offer(berth_nearest *nearest, const char *name) {
    int distance = edit_distance(nearest->typed, name);
    int allowed = (int)strlen(name) / 3;
    if (distance > (allowed > 1 ? allowed : 1) || distance >= nearest->distance) return;
    nearest->best = name;
    nearest->distance = distance;
}
