/* SPDX-License-Identifier: Apache-2.0 */
/* The affinity mask, which containers and taskset narrow, rather than what the machine has; names as Linux has them. */
#define _GNU_SOURCE /* NOLINT: the mask is Linux's own */
#include "base/processors.h"

#include "berth/base.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

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

#if defined(__x86_64__) || defined(__i386__)
bool berth_processor_hides_tiles(void) {
    enum { FEATURES = 7, HAS_TILES = 1 << 24, TILES = 0x1d, PALETTE = 1 };
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || !(d & HAS_TILES)) return false;
    return !__get_cpuid_count(TILES, PALETTE, &a, &b, &c, &d) || a == 0;
}
#else
bool berth_processor_hides_tiles(void) {
    return false;
}
#endif
