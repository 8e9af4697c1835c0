/* SPDX-License-Identifier: Apache-2.0 */
/* Edit distance (insert, delete, replace a letter; Wagner and Fischer 1974), one row at a time. A name is near if at
 * most a third of its letters, and at least one, differ. */
#include "cli/nearest.h"

#include <string.h>

enum { MAX_LENGTH = 40, FAR = 1000 };

static int smallest(int a, int b, int c) {
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static int edit_distance(const char *a, const char *b) {
    size_t a_size = strlen(a), b_size = strlen(b);
    if (a_size > MAX_LENGTH || b_size > MAX_LENGTH) return FAR;
    int row[MAX_LENGTH + 1];
    for (size_t j = 0; j <= b_size; j++) row[j] = (int)j;
    for (size_t i = 1; i <= a_size; i++) {
        int diagonal = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= b_size; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = smallest(replaced, row[j] + 1, row[j - 1] + 1);
        }
    }
    return row[b_size];
}

cli_nearest cli_nearest_begin(const char *typed) {
    return (cli_nearest){.typed = typed, .distance = FAR};
}

void cli_nearest_offer(cli_nearest *nearest, const char *name) {
    int distance = edit_distance(nearest->typed, name);
    int allowed = (int)strlen(name) / 3;
    if (distance > (allowed > 1 ? allowed : 1) || distance >= nearest->distance) return;
    nearest->best = name;
    nearest->distance = distance;
}
