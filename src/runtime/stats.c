/* SPDX-License-Identifier: Apache-2.0 */
/* Order statistics and a bootstrap. */
#include "runtime/stats.h"

#include "base/rng.h"

#include <math.h>
#include <string.h>

enum { MOST_ROUNDS = 1024, RESAMPLES = 2000, FEWEST_PAIRS = 5 };

/* Few values, often sorted already. */
static void sort(double *values, size_t n) {
    for (size_t gap = n / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < n; i++) {
            double value = values[i];
            size_t at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap) values[at] = values[at - gap];
            values[at] = value;
        }
}

static double quantile_of_sorted(const double *values, size_t n, double q) {
    double at = q * (double)(n - 1);
    size_t below = (size_t)at;
    if (below + 1 >= n) return values[n - 1];
    if (at == (double)below || values[below] == values[below + 1]) return values[below]; /* be they infinite */
    return values[below] + (at - (double)below) * (values[below + 1] - values[below]);
}

double berth_stats_quantile(double *values, size_t n, double q) {
    sort(values, n);
    return quantile_of_sorted(values, n, q);
}

/* P(at most k of n fall below the median), by logarithms, because 2^-n may be 0. */
static double binomial_tail(size_t n, size_t k) {
    double sum = 0, log_half = (double)n * log(0.5);
    for (size_t i = 0; i <= k; i++)
        sum += exp(lgamma((double)n + 1) - lgamma((double)i + 1) - lgamma((double)(n - i) + 1) + log_half);
    return sum;
}

void berth_stats_median_interval(double *values, size_t n, double *low, double *high) {
    size_t k = 0; /* the interval is from value k to value n - 1 - k */
    sort(values, n);
    while (k + 1 < n / 2 && binomial_tail(n, k + 1) <= 0.025) k++;
    *low = values[k];
    *high = values[n - 1 - k];
}

void berth_stats_paired_gain(const double *a, const double *b, size_t n, double *gain, double *low) {
    static const double level = 0.05;
    double gains[MOST_ROUNDS], drawn[MOST_ROUNDS], medians[RESAMPLES];
    berth_rng rng;
    *gain = *low = NAN;
    if (n == 0) return;
    if (n > MOST_ROUNDS) n = MOST_ROUNDS;
    for (size_t i = 0; i < n; i++) gains[i] = 1 - b[i] / a[i];
    memcpy(drawn, gains, n * sizeof *drawn);
    *gain = berth_stats_quantile(drawn, n, 0.5);
    if (n < FEWEST_PAIRS) return;
    berth_rng_init(&rng, n, 0);
    for (int k = 0; k < RESAMPLES; k++) {
        for (size_t i = 0; i < n; i++) drawn[i] = gains[berth_rng_below(&rng, (uint32_t)n)];
        medians[k] = berth_stats_quantile(drawn, n, 0.5);
    }
    *low = berth_stats_quantile(medians, RESAMPLES, level);
}
