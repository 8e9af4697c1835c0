/* SPDX-License-Identifier: Apache-2.0 */
#include "timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double timing_now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

void timing_add(timing *t, double ms) {
    if (t->n < TIMING_MAX_RUNS) t->ms[t->n++] = ms;
}

static int compare_ms(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static timing sorted(const timing *t) {
    timing copy = *t;
    qsort(copy.ms, copy.n, sizeof *copy.ms, compare_ms);
    return copy;
}

double timing_fastest(const timing *t) {
    timing copy = sorted(t);
    return copy.ms[0];
}

double timing_median(const timing *t) {
    timing copy = sorted(t);
    return copy.ms[copy.n / 2];
}

bool timing_limit(const char *what, double value, double limit, const char *unit) {
    bool holds = value <= limit;
    printf("%s: %.2f %s (at most %g): %s\n", what, value, unit, limit, holds ? "ok" : "BROKEN");
    return holds;
}
