/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/map.h"

#include <stdio.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_map map;
} fixture;

static int set_up(void **state) {
    static fixture f;
    if (berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    berth_map_init(&f.map, f.ctx);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_map_deinit(&f->map);
    berth_ctx_free(f->ctx);
    return 0;
}

static void starts_empty(void **state) {
    fixture *f = *state;
    assert_null(berth_map_find(&f->map, "a", 1));
    assert_null(berth_map_find(&f->map, "", 0));
    berth_map_deinit(&f->map);
    berth_map_deinit(&f->map);
    assert_non_null(berth_map_insert(&f->map, "a", 1, 1, NULL));
}

static void inserts_once(void **state) {
    fixture *f = *state;
    bool inserted = false;
    int32_t *value = berth_map_insert(&f->map, "key", 3, 5, &inserted);
    assert_true(inserted);
    assert_int_equal(*value, 5);
    *value = 6;
    value = berth_map_insert(&f->map, "key", 3, 7, &inserted);
    assert_false(inserted);
    assert_int_equal(*value, 6);
    assert_int_equal(f->map.n, 1);
    assert_int_equal(*berth_map_find(&f->map, "keyring", 3), 6);
    assert_null(berth_map_find(&f->map, "keyring", 4));
    assert_null(berth_map_find(&f->map, "ke", 2));
}

static void keys_are_bytes(void **state) {
    fixture *f = *state;
    static const char zeros[64] = {0};
    for (int n = 0; n < 64; n++) assert_int_equal(*berth_map_insert(&f->map, zeros, (size_t)n, n, NULL), n);
    assert_int_equal(f->map.n, 64);
    for (int n = 0; n < 64; n++) assert_int_equal(*berth_map_find(&f->map, zeros, (size_t)n), n);
    assert_non_null(berth_map_insert(&f->map, "a\0b", 3, 1, NULL));
    assert_null(berth_map_find(&f->map, "a\0c", 3));
    assert_null(berth_map_find(&f->map, "a", 1));
}

static void many_keys(void **state) {
    fixture *f = *state;
    enum { N = 100000 };
    char(*keys)[12] = calloc(N, sizeof *keys);
    assert_non_null(keys);
    for (int i = 0; i < N; i++) {
        int n = snprintf(keys[i], sizeof keys[i], "node%d", i);
        assert_int_equal(*berth_map_insert(&f->map, keys[i], (size_t)n, i, NULL), i);
    }
    assert_int_equal(f->map.n, N);
    for (int i = 0; i < N; i++) {
        char key[12];
        int n = snprintf(key, sizeof key, "node%d", i);
        const int32_t *found = berth_map_find(&f->map, key, (size_t)n);
        assert_non_null(found);
        assert_int_equal(*found, i);
        n = snprintf(key, sizeof key, "edge%d", i);
        assert_null(berth_map_find(&f->map, key, (size_t)n));
    }
    /* At most three quarters full, and never emptier than half of that after growth. */
    assert_true(f->map.n * 4 <= f->map.n_slots * 3 && f->map.n_slots * 3 <= f->map.n * 8 + 32);
    free(keys);
}

/* Against a list that is searched from the front; few short keys, so that most insertions meet an old one. */
static void equals_its_naive_twin(void **state) {
    fixture *f = *state;
    enum { N = 400 };
    static char keys[N][4];
    static size_t sizes[N];
    static int32_t values[N];
    int n = 0;
    uint64_t random = 31;
    for (int step = 0; step < 20000; step++) {
        char key[4];
        size_t size = support_below(&random, 4);
        for (size_t i = 0; i < size; i++) key[i] = "ab\0c\xff"[support_below(&random, 5)];
        int twin = 0;
        while (twin < n && !(sizes[twin] == size && memcmp(keys[twin], key, size) == 0)) twin++;
        const int32_t *found = berth_map_find(&f->map, key, size);
        assert_int_equal(found != NULL, twin < n);
        if (found) assert_int_equal(*found, values[twin]);
        if (support_below(&random, 2)) continue;
        bool inserted = false;
        if (twin == n) {
            memcpy(keys[n], key, size);
            sizes[n] = size;
            values[n++] = step;
        }
        int32_t *value = berth_map_insert(&f->map, keys[twin], size, step, &inserted);
        assert_int_equal(inserted, values[twin] == step);
        assert_int_equal(*value, values[twin]);
        *value = values[twin] = -step;
        assert_int_equal(f->map.n, n);
    }
    assert_int_equal(n, 1 + 5 + 25 + 125);
}

static berth_status run_inserts(berth_ctx *ctx, void *user) {
    static char keys[300][8];
    (void)user;
    berth_map map;
    berth_map_init(&map, ctx);
    berth_status status = BERTH_OK;
    int done = 0;
    for (; done < 300 && status == BERTH_OK; done++) {
        int n = snprintf(keys[done], sizeof keys[done], "%d", done);
        if (!berth_map_insert(&map, keys[done], (size_t)n, done, NULL)) status = berth_fail_nomem(ctx);
    }
    /* A refusal leaves what was there. */
    int kept = status == BERTH_OK ? done : done - 1;
    assert_int_equal(map.n, kept);
    for (int i = 0; i < kept; i++) assert_int_equal(*berth_map_find(&map, keys[i], strlen(keys[i])), i);
    berth_map_deinit(&map);
    return status;
}

static void ladder(void **state) {
    (void)state;
    assert_true(support_ladder(run_inserts, NULL, 1) > 5);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(starts_empty), CASE(inserts_once),          CASE(keys_are_bytes),
        CASE(many_keys),    CASE(equals_its_naive_twin), CASE(ladder),
    };
    return cmocka_run_group_tests_name("base.map", tests, NULL, NULL);
}
