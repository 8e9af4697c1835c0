/* SPDX-License-Identifier: Apache-2.0 */
/* A placement: zeroed arrays of the right size, and what happens without memory. */
#include "support.h"

static berth_status make(berth_ctx *ctx, void *n_ops) {
    for (int with_priority = 0; with_priority < 2; with_priority++) {
        berth_placement *placement = NULL;
        int32_t n = *(int32_t *)n_ops;
        berth_status status = berth_placement_new(ctx, &placement, n, with_priority);
        if (status != BERTH_OK) {
            assert_null(placement);
            return status;
        }
        assert_int_equal(placement->n_ops, n);
        assert_int_equal(placement->priority != NULL, with_priority);
        for (int32_t op = 0; op < n; op++) assert_int_equal(placement->device[op], 0);
        for (int32_t op = 0; op < n && with_priority; op++) assert_int_equal(placement->priority[op], 0);
        berth_placement_free(placement);
    }
    return BERTH_OK;
}

static void new_and_free(void **state) {
    (void)state;
    int32_t sizes[] = {0, 1, 1000}, negative = -1;
    for (size_t i = 0; i < 3; i++) assert_int_equal(support_ladder(make, &sizes[i], 1), 6);
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(make(ctx, &negative), BERTH_E_ARG);
    berth_ctx_free(ctx);
    berth_placement_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(new_and_free)};
    return cmocka_run_group_tests_name("device.placement", tests, NULL, NULL);
}
