/* SPDX-License-Identifier: Apache-2.0 */
/* The affinity mask, which containers and taskset narrow, rather than what the machine has. */
#define _GNU_SOURCE /* NOLINT: the mask is Linux's own */
#include "base/processors.h"

#include <sched.h>
#include <unistd.h>

int32_t berth_processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int32_t)n : 1;
}
