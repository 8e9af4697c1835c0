/* SPDX-License-Identifier: Apache-2.0 */
/* What measured times say. None of this assumes that they are normally distributed. */
#ifndef BERTH_RUNTIME_STATS_H
#define BERTH_RUNTIME_STATS_H

#include <stddef.h>

/* All take the values in any order and may sort them. n >= 1. */

/* The q-quantile, 0 <= q <= 1, with linear interpolation between neighbours. */
double berth_stats_quantile(double *values, size_t n, double q);

/* An interval that holds the median of what the values are drawn from with 95 % confidence (more, because it lies
 * between two of them): by how many of n values are below a median, which is binomial. Below 6 values no interval has
 * that confidence: then it is from the least to the greatest. */
void berth_stats_median_interval(double *values, size_t n, double *low, double *high);

/* How much faster b is than a where both were measured in the same n rounds: the median of 1 - b/a, and the lower end
 * of its one-sided 95 % interval, by bootstrap over rounds (fixed random numbers). Below 5 rounds nothing has that
 * confidence: even the least of 4 gains is above the median of all in one case of 16. Then *low is NAN. */
void berth_stats_paired_gain(const double *a, const double *b, size_t n, double *gain, double *low);

#endif
