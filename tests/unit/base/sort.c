/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting against a count of each value: the result ascends and has the same values as before. */
#include "support.h"

#include "base/sort.h"

static bool is_smaller(const void *user, int32_t a, int32_t b) {
    ++*(long *)(uintptr_t)user;
    return a < b;
}

static void random_arrays(void **unused) {
    (void)unused;
    uint64_t state = 9;
    for (uint32_t n = 0; n < 300; n++) {
        int32_t items[300], before[50] = {0}, after[50] = {0};
        uint32_t n_values = 1 + support_below(&state, 50);
        for (uint32_t i = 0; i < n; i++) before[items[i] = (int32_t)support_below(&state, n_values)]++;
        long asked = 0;
        berth_sort(items, n, is_smaller, &asked);
        for (uint32_t i = 0; i < n; i++) after[items[i]]++;
        for (uint32_t i = 1; i < n; i++) assert_true(items[i - 1] <= items[i]);
        assert_memory_equal(before, after, sizeof before);
    }
}

/* Sorted, reversed, all equal: never more than about 2 n log2 n questions. */
static void no_input_is_slow(void **unused) {
    (void)unused;
    enum { N = 1 << 14 };
    static int32_t items[N];
    for (int kind = 0; kind < 3; kind++) {
        for (int32_t i = 0; i < N; i++) items[i] = kind == 0 ? i : kind == 1 ? N - i : 7;
        long asked = 0;
        berth_sort(items, N, is_smaller, &asked);
        assert_true(asked < 2L * N * 15);
        for (int32_t i = 1; i < N; i++) assert_true(items[i - 1] <= items[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_arrays),
        cmocka_unit_test(no_input_is_slow),
    };
    return cmocka_run_group_tests_name("base.sort", tests, NULL, NULL);
}
