/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/vec.h"

typedef struct point {
    double x, y;
} point;

static berth_status run_pushes(berth_ctx *ctx, void *user) {
    size_t n = *(size_t *)user;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    BERTH_VEC(int32_t) numbers = {0};
    BERTH_VEC(point) points = {0};
    berth_status status = BERTH_OK;
    for (size_t i = 0; i < n && status == BERTH_OK; i++) {
        if (!berth_vec_push(allocator, &numbers, (int32_t)i) ||
            !berth_vec_push(allocator, &points, (point){.x = (double)i, .y = -1}))
            status = berth_fail_nomem(ctx);
        assert_true(numbers.n <= numbers.capacity && points.n <= points.capacity);
    }
    /* A refusal leaves what was there. */
    for (size_t i = 0; i < numbers.n; i++) assert_int_equal(numbers.items[i], i);
    for (size_t i = 0; i < points.n; i++) assert_true(points.items[i].x == (double)i && points.items[i].y == -1);
    if (status == BERTH_OK) assert_int_equal(points.n, n);
    if (numbers.n > 100) assert_true(numbers.capacity <= 2 * numbers.n);
    berth_vec_free(allocator, &numbers);
    berth_vec_free(allocator, &points);
    assert_null(numbers.items);
    assert_int_equal(numbers.n + numbers.capacity, 0);
    return status;
}

static void pushes(void **state) {
    (void)state;
    /* Few allocations for many elements: growth is geometric. */
    assert_in_range(support_ladder(run_pushes, &(size_t){10000}, 1), 10, 60);
    assert_int_equal(support_ladder(run_pushes, &(size_t){0}, 1), 1);
}

static void reserves_one(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    BERTH_VEC(char) bytes = {0};
    for (int i = 0; i < 100; i++) {
        assert_true(berth_vec_reserve(berth_ctx_allocator(ctx), &bytes));
        assert_true(bytes.n < bytes.capacity);
        bytes.items[bytes.n++] = 'x';
    }
    berth_vec_free(berth_ctx_allocator(ctx), &bytes);
    berth_ctx_free(ctx);
}

static void overflow_is_refused(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    static const size_t capacities[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX / 3 * 2, (size_t)PTRDIFF_MAX / 8};
    for (size_t i = 0; i < sizeof capacities / sizeof *capacities; i++) {
        size_t capacity = capacities[i];
        int64_t item = 7;
        assert_ptr_equal(berth_vec_grow(berth_ctx_allocator(ctx), &item, &capacity, sizeof item), &item);
        assert_true(capacity == capacities[i]);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes),
        cmocka_unit_test(reserves_one),
        cmocka_unit_test(overflow_is_refused),
    };
    return cmocka_run_group_tests_name("base.vec", tests, NULL, NULL);
}
