/* SPDX-License-Identifier: Apache-2.0 */
/* The affinity mask, which containers and taskset narrow, rather than what the machine has; names as Linux has them. */
#define _GNU_SOURCE /* NOLINT: the mask is Linux's own */
#include "base/processors.h"

#include "berth/base.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int32_t berth_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int32_t)n : 1;
}

void berth_processor_name(char *name, size_t size) {
    static const char key[] = "model name";
    char line[256] = "", *found = NULL;
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && !found && fgets(line, sizeof line, file))
        if (strncmp(line, key, sizeof key - 1) == 0) found = strchr(line, ':');
    if (file) fclose(file);
    line[strcspn(line, "\n")] = 0;
    snprintf(name, size, "%s", found && found[1] && found[2] ? found + 2 : "unknown");
}
