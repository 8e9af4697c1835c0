/* SPDX-License-Identifier: Apache-2.0 */
/* The set of ready tasks against an array of flags, at sizes around each number of levels. */
#include "support.h"

#include "simulate/ready.h"

static void compare(int32_t n, uint64_t *state) {
    uint64_t *words = calloc(berth_ready_words(n), sizeof *words);
    bool *member = calloc((size_t)n, sizeof *member);
    assert_true(words && member);
    berth_ready set;
    berth_ready_init(&set, n, words);
    assert_true(berth_ready_is_empty(&set));
    int32_t n_members = 0;
    for (int step = 0; step < 400; step++) {
        if (support_below(state, 2)) {
            int32_t any = (int32_t)support_below(state, (uint32_t)n);
            n_members += !member[any];
            member[any] = true;
            berth_ready_insert(&set, any);
        } else if (n_members > 0) {
            int32_t least = berth_ready_pop(&set);
            for (int32_t i = 0; i < least; i++) assert_false(member[i]);
            assert_true(member[least]);
            member[least] = false;
            n_members--;
        }
        assert_int_equal(berth_ready_is_empty(&set), n_members == 0);
    }
    free(words);
    free(member);
}

static void flags(void **unused) {
    (void)unused;
    uint64_t state = 3;
    static const int32_t sizes[] = {1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 262144, 262145};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) compare(sizes[i], &state);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(flags)};
    return cmocka_run_group_tests_name("simulate.ready", tests, NULL, NULL);
}
