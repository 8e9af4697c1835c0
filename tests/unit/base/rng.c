/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/rng.h"

#include <math.h>

/* The known answers of Random123, the authors' library (kat_vectors, philox4x32 10). */
static void known_answers(void **state) {
    (void)state;
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t got[4];
        berth_rng_philox(cases[i].counter, cases[i].key, got);
        assert_memory_equal(got, cases[i].out, sizeof got);
    }
    berth_rng rng;
    berth_rng_init(&rng, 0, 0);
    for (int i = 0; i < 4; i++) assert_int_equal(berth_rng_next(&rng), cases[0].out[i]);
    /* Seed, stream and position reach the block function whole. */
    berth_rng_init(&rng, 0x299f31d0a4093822u, 0x0370734413198a2eu);
    berth_rng_seek(&rng, 0x05a308d3243f6a88u * 4);
    uint32_t out[4];
    berth_rng_philox((const uint32_t[4]){0x243f6a88, 0x05a308d3, 0x13198a2e, 0x03707344}, cases[2].key, out);
    for (int i = 0; i < 4; i++) assert_int_equal(berth_rng_next(&rng), out[i]);
}

static void seeks(void **state) {
    (void)state;
    berth_rng walk, jump;
    berth_rng_init(&walk, 5, 6);
    uint32_t numbers[40];
    for (int i = 0; i < 40; i++) numbers[i] = berth_rng_next(&walk);
    for (uint64_t start = 0; start < 40; start++) {
        berth_rng_init(&jump, 5, 6);
        berth_rng_seek(&jump, start);
        for (uint64_t i = start; i < 40; i++) assert_int_equal(berth_rng_next(&jump), numbers[i]);
    }
}

/* No number of bits that two streams, or two seeds, share differs from chance by more than five deviations. */
static void streams_are_unlike(void **state) {
    (void)state;
    enum { N = 20000 };
    static const struct {
        uint64_t seed[2], stream[2];
    } pairs[] = {
        {{1, 1}, {0, 1}},
        {{0, 1}, {0, 0}},
        {{7, 7}, {UINT64_C(1) << 32, 0}},
        {{UINT64_C(1) << 32, 0}, {3, 3}},
        {{1, 0}, {0, 1}},
        {{UINT64_C(1) << 63, 0}, {UINT64_C(1) << 63, UINT64_C(1) << 62}},
    };
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++)
        for (int shift = 0; shift < 8; shift++) {
            berth_rng a, b;
            berth_rng_init(&a, pairs[p].seed[0], pairs[p].stream[0]);
            berth_rng_init(&b, pairs[p].seed[1], pairs[p].stream[1]);
            berth_rng_seek(&b, (uint64_t)shift);
            int64_t equal_bits = 0;
            for (int i = 0; i < N; i++) equal_bits += 32 - __builtin_popcount(berth_rng_next(&a) ^ berth_rng_next(&b));
            assert_true(fabs((double)equal_bits - 16.0 * N) < 5 * sqrt(8.0 * N));
        }
}

static void uniform_numbers(void **state) {
    (void)state;
    enum { N = 200000 };
    berth_rng rng;
    berth_rng_init(&rng, 2, 0);
    double sum = 0, squares = 0, low = 1, high = 0;
    for (int i = 0; i < N; i++) {
        double x = berth_rng_uniform(&rng);
        assert_true(x >= 0 && x < 1);
        assert_true(x * 0x1p53 == floor(x * 0x1p53));
        sum += x;
        squares += x * x;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    assert_true(fabs(sum / N - 0.5) < 5 * sqrt(1.0 / 12 / N));
    assert_true(fabs(squares / N - 1.0 / 3) < 5 * sqrt(4.0 / 45 / N));
    assert_true(low < 1e-4 && high > 1 - 1e-4);
    assert_int_equal(rng.position, 2 * N);
}

/* Chi-squared over the values; for n = 3 * 2^30 a plain multiplication would favour every third value. */
static void below_is_fair(void **state) {
    (void)state;
    static const uint32_t limits[] = {1, 2, 3, 10, 1000, 3u << 30, UINT32_MAX};
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        berth_rng rng;
        berth_rng_init(&rng, 9, k);
        enum { N = 120000 };
        uint32_t n = limits[k], bins = n < 1000 ? n : 6;
        double count[1000] = {0}, chi = 0;
        for (int i = 0; i < N; i++) {
            uint32_t x = berth_rng_below(&rng, n);
            assert_true(x < n);
            /* By remainder where there are many: the bias of a plain multiplication shows in it. */
            count[n == bins ? x : k == 5 ? x % 3 : (uint32_t)((uint64_t)x * bins / n)]++;
        }
        if (k == 5) bins = 3;
        for (uint32_t i = 0; i < bins; i++) chi += (count[i] - (double)N / bins) * (count[i] - (double)N / bins);
        chi /= (double)N / bins;
        if (chi > bins - 1 + 5 * sqrt(2.0 * bins) + 10) fail_msg("n %u: chi-squared %g in %u bins", n, chi, bins);
    }
}

static void normal_numbers(void **state) {
    (void)state;
    enum { N = 200000 };
    berth_rng rng;
    berth_rng_init(&rng, 4, 0);
    double moments[5] = {0};
    int beyond_two = 0;
    for (int i = 0; i < N; i++) {
        double x = berth_rng_normal(&rng);
        assert_true(isfinite(x));
        for (int power = 1; power < 5; power++) moments[power] += pow(x, power) / N;
        beyond_two += fabs(x) > 2;
    }
    assert_true(fabs(moments[1]) < 5 / sqrt(N));
    assert_true(fabs(moments[2] - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(moments[3]) < 5 * sqrt(15.0 / N));
    assert_true(fabs(moments[4] - 3) < 5 * sqrt(96.0 / N));
    assert_true(fabs(beyond_two / (double)N - 0.0455003) < 5 * sqrt(0.0455 * 0.9545 / N));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),   cmocka_unit_test(seeks),         cmocka_unit_test(streams_are_unlike),
        cmocka_unit_test(uniform_numbers), cmocka_unit_test(below_is_fair), cmocka_unit_test(normal_numbers),
    };
    return cmocka_run_group_tests_name("base.rng", tests, NULL, NULL);
}
