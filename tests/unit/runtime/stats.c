/* SPDX-License-Identifier: Apache-2.0 */
/* Quantiles against a count; intervals against how often they hold what they promise to hold. */
#include "runtime/stats.h"

#include "support.h"

#include <math.h>

static double uniform(uint64_t *random) {
    return (double)(support_random(random) >> 11) * 0x1p-53;
}

static void quantiles(void **state) {
    (void)state;
    double one[] = {7}, some[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2};
    assert_true(berth_stats_quantile(one, 1, 0.5) == 7 && berth_stats_quantile(one, 1, 0.99) == 7);
    assert_true(berth_stats_quantile(some, 5, 0) == 1 && berth_stats_quantile(some, 5, 1) == 5);
    assert_true(berth_stats_quantile(some, 5, 0.5) == 3 && berth_stats_quantile(even, 4, 0.5) == 2.5);
    uint64_t random = 1;
    for (int i = 0; i < support_cases(200); i++) {
        double values[100];
        size_t n = 1 + support_below(&random, 100), below = 0;
        for (size_t k = 0; k < n; k++) values[k] = uniform(&random);
        double median = berth_stats_quantile(values, n, 0.5);
        for (size_t k = 0; k < n; k++) below += values[k] < median;
        assert_true(below <= (n + 1) / 2 && below + 1 >= n / 2);
        for (size_t k = 1; k < n; k++) assert_true(values[k - 1] <= values[k]);
    }
}

/* Of a skewed distribution with a known median, as times are. */
static void intervals_hold_the_median(void **state) {
    (void)state;
    uint64_t random = 2;
    static const size_t sizes[] = {6, 10, 25, 100};
    for (size_t s = 0; s < 4; s++) {
        int held = 0, n = support_cases(4000);
        for (int i = 0; i < n; i++) {
            double values[100], low, high;
            for (size_t k = 0; k < sizes[s]; k++) values[k] = -log(1 - uniform(&random));
            berth_stats_median_interval(values, sizes[s], &low, &high);
            held += low <= log(2) && log(2) <= high;
            assert_true(low <= high);
        }
        if (n >= 1000) assert_true(held >= 0.935 * n);
    }
    double few[] = {3, 1, 2}, low, high;
    berth_stats_median_interval(few, 3, &low, &high);
    assert_true(low == 1 && high == 3);
}

static void gains_are_not_imagined(void **state) {
    (void)state;
    uint64_t random = 3;
    int wrong = 0, found = 0, n = support_cases(400);
    for (int i = 0; i < n; i++) {
        double a[15], b[15], c[15], gain, low;
        for (int k = 0; k < 15; k++) {
            double noise = 1 + 0.1 * uniform(&random); /* of the machine in that round */
            a[k] = noise * (10 + 0.5 * uniform(&random));
            b[k] = noise * (10 + 0.5 * uniform(&random));
            c[k] = 0.9 * b[k];
        }
        berth_stats_paired_gain(a, b, 15, &gain, &low);
        assert_true(low <= gain);
        wrong += low > 0;
        berth_stats_paired_gain(a, c, 15, &gain, &low);
        found += low > 0.05;
        assert_true(fabs(gain - 0.1) < 0.06);
    }
    if (n >= 100) assert_true(wrong <= 0.1 * n && found >= 0.95 * n);
}

/* The same gain in every round is sure from five on. */
static void few_pairs_are_not_sure(void **state) {
    const double a[6] = {10, 11, 12, 13, 14, 15}, b[6] = {5, 5.5, 6, 6.5, 7, 7.5};
    double gain, low;
    (void)state;
    for (size_t n = 0; n <= 6; n++) {
        berth_stats_paired_gain(a, b, n, &gain, &low);
        assert_true(n == 0 ? isnan(gain) : fabs(gain - 0.5) < 1e-12);
        assert_true(n < 5 ? isnan(low) : fabs(low - 0.5) < 1e-12);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles),
        cmocka_unit_test(intervals_hold_the_median),
        cmocka_unit_test(gains_are_not_imagined),
        cmocka_unit_test(few_pairs_are_not_sure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
