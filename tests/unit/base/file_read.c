/* SPDX-License-Identifier: Apache-2.0 */
/* Reading small files whole: sizes around the buffer, the limit, pipes, what cannot be read. */
#include "support.h"

#include "base/file.h"

#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    char path[40];
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){.path = "/tmp/berth-file-XXXXXX"};
    int fd = mkstemp(f.path);
    if (fd < 0 || close(fd) != 0 || berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return unlink(f->path);
}

static void fill(const fixture *f, size_t n) {
    FILE *file = fopen(f->path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < n; i++) fputc((int)(i % 251), file);
    assert_int_equal(fclose(file), 0);
}

static void all_bytes(void **state) {
    static const size_t sizes[] = {0, 1, (1 << 14) - 1, 1 << 14, (1 << 14) + 1, 100000};
    fixture *f = *state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *bytes = NULL;
        size_t n = 7;
        fill(f, sizes[i]);
        assert_int_equal(berth_file_read(f->ctx, &f->arena, f->path, 100000, &bytes, &n), BERTH_OK);
        assert_int_equal(n, sizes[i]);
        for (size_t k = 0; k < n; k++) assert_int_equal((unsigned char)bytes[k], k % 251);
        assert_int_equal(bytes[n], 0);
    }
}

static void refusals(void **state) {
    fixture *f = *state;
    const char *bytes = NULL;
    size_t n = 0;
    fill(f, 11);
    assert_int_equal(berth_file_read(f->ctx, &f->arena, f->path, 10, &bytes, &n), BERTH_E_LIMIT);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "more than 10 bytes"));
    assert_int_equal(berth_file_read(f->ctx, &f->arena, "/dev/zero", 1 << 20, &bytes, &n), BERTH_E_LIMIT);
    assert_int_equal(berth_file_read(f->ctx, &f->arena, "no/such", 10, &bytes, &n), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "no/such: cannot open"));
    assert_int_equal(berth_file_read(f->ctx, &f->arena, "/", 10, &bytes, &n), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "cannot read"));
}

static berth_status ladder_run(berth_ctx *ctx, void *path) {
    berth_arena arena;
    const char *bytes = NULL;
    size_t n = 0;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_file_read(ctx, &arena, path, 1 << 20, &bytes, &n);
    berth_arena_deinit(&arena);
    return status;
}

static void memory_may_run_out(void **state) {
    fixture *f = *state;
    fill(f, 50000);
    assert_true(support_ladder(ladder_run, f->path, 1) >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("base.file_read", tests, NULL, NULL);
}
