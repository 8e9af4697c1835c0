/* SPDX-License-Identifier: Apache-2.0 */
/* What the system could give without swapping, and what the container that we are in may still take: whoever takes more
 * has the system choose which process to end, and that may be another. */
#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number behind `key`, or the first one if there is none; INFINITY if there is no such line. */
static double number_in(const char *path, const char *key) {
    char line[128];
    double found = INFINITY;
    FILE *file = fopen(path, "re");
    while (file && isinf(found) && fgets(line, sizeof line, file)) {
        char *end = NULL;
        if (strncmp(line, key, strlen(key)) != 0) continue;
        double value = strtod(line + strlen(key), &end);
        if (end != line + strlen(key) && value >= 0) found = value; /* "max": no limit */
    }
    if (file) fclose(file);
    return found;
}

double berth_memory_available(void) {
    double most = number_in("/sys/fs/cgroup/memory.max", ""), used = number_in("/sys/fs/cgroup/memory.current", "");
    double system = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    return isfinite(most) && isfinite(used) ? fmin(system, fmax(most - used, 0)) : system;
}
