/* SPDX-License-Identifier: Apache-2.0 */
/* What benchmarks share: a clock, the fastest and the middle of several runs, and limits that are held or broken. */
#ifndef BERTH_BENCH_TIMING_H
#define BERTH_BENCH_TIMING_H

#include <stdbool.h>
#include <stddef.h>

double timing_now_ms(void);

#define TIMING_MAX_RUNS 200

typedef struct timing {
    size_t n;
    double ms[TIMING_MAX_RUNS];
} timing;

/* Runs beyond TIMING_MAX_RUNS are not kept. */
void timing_add(timing *t, double ms);
double timing_fastest(const timing *t);
double timing_median(const timing *t);

/* Prints "what: value unit (at most limit): ok" or "... BROKEN"; returns true if the limit holds. */
bool timing_limit(const char *what, double value, double limit, const char *unit);

#endif
