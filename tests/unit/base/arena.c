/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#define IS_POISONED(address, otherwise) (__asan_address_is_poisoned(address) != 0)
#else
#define IS_POISONED(address, otherwise) ((void)(address), (otherwise))
#endif

/* An allocator that can be told to refuse and that counts bytes. */
typedef struct meter {
    bool refuse;
    size_t live;
} meter;

static void *meter_resize(void *user, void *old, size_t old_size, size_t new_size) {
    meter *m = user;
    if (new_size && m->refuse) return NULL;
    m->live += new_size - old_size;
    if (new_size) return realloc(old, new_size);
    free(old);
    return NULL;
}

typedef struct fixture {
    meter meter;
    berth_arena arena;
} fixture;

static int set_up(void **state) {
    static fixture f;
    f = (fixture){0};
    berth_arena_init(&f.arena, &(berth_allocator){meter_resize, &f.meter});
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_arena_deinit(&f->arena);
    return f->meter.live == 0 ? 0 : -1;
}

/* Pieces of all sizes are zero, aligned, apart from each other, and keep what is written. */
static void pushes(void **state) {
    fixture *f = *state;
    enum { N = 3000 };
    static unsigned char *pieces[N];
    static size_t sizes[N];
    uint64_t random = 5;
    for (int i = 0; i < N; i++) {
        sizes[i] = support_below(&random, support_below(&random, 100) ? 100 : 20000);
        pieces[i] = berth_arena_push(&f->arena, sizes[i], 1);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], 0);
        memset(pieces[i], i % 255 + 1, sizes[i]);
    }
    for (int i = 0; i < N; i++)
        for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], i % 255 + 1);
    assert_int_equal(f->arena.total, f->meter.live);
    assert_false(f->arena.failed);
}

static void copies(void **state) {
    fixture *f = *state;
    static const int32_t numbers[] = {1, 2, 3};
    int32_t *copy = berth_arena_copy(&f->arena, numbers, 3, sizeof *numbers);
    assert_memory_equal(copy, numbers, sizeof numbers);
    assert_non_null(berth_arena_copy(&f->arena, NULL, 0, sizeof *numbers));
    assert_string_equal(berth_arena_string(&f->arena, "abcdef", 3), "abc");
    assert_string_equal(berth_arena_string(&f->arena, NULL, 0), "");
    assert_memory_equal(berth_arena_string(&f->arena, "a\0b", 3), "a\0b", 4);
    assert_string_equal(berth_arena_printf(&f->arena, "%s-%d", "x", 12), "x-12");
    char *blanks = berth_arena_printf(&f->arena, "%5000d", 7);
    assert_int_equal(strlen(blanks), 5000);
}

static void overflow_fails(void **state) {
    fixture *f = *state;
    static const size_t cases[][2] = {
        {SIZE_MAX, 2}, {SIZE_MAX / 2 + 1, 2}, {SIZE_MAX, 1}, {SIZE_MAX - 7, 1}, {PTRDIFF_MAX, 1}, {SIZE_MAX / 8 + 2, 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_mark mark = berth_arena_mark(&f->arena);
        assert_null(berth_arena_push(&f->arena, cases[i][0], cases[i][1]));
        assert_true(f->arena.failed);
        berth_arena_release(&f->arena, mark);
        assert_false(f->arena.failed);
    }
    assert_null(berth_arena_string(&f->arena, "x", SIZE_MAX));
    assert_true(f->arena.failed);
}

static void failure_is_sticky(void **state) {
    fixture *f = *state;
    char *first = berth_arena_push(&f->arena, 100, 1);
    memset(first, 7, 100);
    berth_mark good = berth_arena_mark(&f->arena);
    f->meter.refuse = true;
    assert_non_null(berth_arena_push(&f->arena, 100, 1)); /* still from the first block */
    assert_null(berth_arena_push(&f->arena, 1000000, 1));
    f->meter.refuse = false;
    assert_true(f->arena.failed);
    assert_null(berth_arena_push(&f->arena, 1, 1));
    assert_null(berth_arena_push(&f->arena, 0, 1));
    assert_null(berth_arena_copy(&f->arena, "x", 1, 1));
    assert_null(berth_arena_string(&f->arena, "x", 1));
    assert_null(berth_arena_printf(&f->arena, "x"));
    /* A mark made after the failure does not forgive it; one from before does. */
    berth_mark bad = berth_arena_mark(&f->arena);
    berth_arena_release(&f->arena, bad);
    assert_true(f->arena.failed);
    berth_arena_release(&f->arena, good);
    assert_false(f->arena.failed);
    assert_non_null(berth_arena_push(&f->arena, 1, 1));
    for (int i = 0; i < 100; i++) assert_int_equal(first[i], 7);
}

static void deinit_empties(void **state) {
    fixture *f = *state;
    f->meter.refuse = true;
    assert_null(berth_arena_push(&f->arena, 1, 1));
    f->meter.refuse = false;
    berth_arena_deinit(&f->arena);
    assert_false(f->arena.failed);
    assert_int_equal(f->arena.total, 0);
    assert_non_null(berth_arena_push(&f->arena, 5000, 1));
}

/* What was pushed once can be pushed again without asking for memory, zeroed again; the first failure is forgotten. */
static void empty_keeps_the_memory(void **state) {
    fixture *f = *state;
    for (int round = 0; round < 3; round++) {
        uint64_t random = 6;
        f->meter.refuse = round > 0;
        for (int i = 0; i < 500; i++) {
            size_t size = support_below(&random, 3000);
            unsigned char *piece = berth_arena_push(&f->arena, size, 1);
            assert_non_null(piece);
            for (size_t k = 0; k < size; k++) assert_int_equal(piece[k], 0);
            memset(piece, 255, size);
        }
        if (round == 2) assert_null(berth_arena_push(&f->arena, 1 << 24, 1));
        f->meter.refuse = false;
        berth_arena_empty(&f->arena);
        assert_false(f->arena.failed);
    }
    size_t live = f->meter.live;
    berth_arena_empty(&f->arena);
    assert_int_equal(f->meter.live, live);
    berth_arena_deinit(&f->arena);
    berth_arena_empty(&f->arena);
    assert_int_equal(f->meter.live, 0);
}

/* Nested scratch use, as a random walk that never forgets to compare what must have stayed. */
static void marks_and_releases(void **state) {
    fixture *f = *state;
    enum { DEPTH = 20 };
    berth_mark marks[DEPTH];
    unsigned char *pieces[DEPTH];
    size_t sizes[DEPTH];
    int depth = 0;
    uint64_t random = 17;
    for (int step = 0; step < 20000; step++) {
        if (depth < DEPTH && support_below(&random, 2)) {
            marks[depth] = berth_arena_mark(&f->arena);
            sizes[depth] = support_below(&random, support_below(&random, 10) ? 200 : 5000);
            pieces[depth] = berth_arena_push(&f->arena, sizes[depth], 1);
            for (size_t k = 0; k < sizes[depth]; k++) assert_int_equal(pieces[depth][k], 0);
            memset(pieces[depth], depth + 1, sizes[depth]);
            depth++;
        } else if (depth > 0) {
            depth -= 1 + (int)support_below(&random, (uint32_t)depth);
            berth_arena_release(&f->arena, marks[depth]);
            for (int i = 0; i < depth; i++)
                for (size_t k = 0; k < sizes[i]; k++) assert_int_equal(pieces[i][k], i + 1);
        }
        assert_int_equal(f->arena.total, f->meter.live);
    }
    if (depth > 0) berth_arena_release(&f->arena, marks[0]);
    assert_int_equal(f->arena.total, 0);
}

/* At most twice what was pushed (rounded to the alignment) plus one step, whatever the sizes; 5 % for the headers. */
static void memory_is_bounded(void **state) {
    fixture *f = *state;
    uint64_t random = 23;
    for (int round = 0; round < 60; round++) {
        size_t pushed = 0;
        for (int i = 0; i < 300; i++) {
            size_t size =
                support_below(&random, 3) ? support_below(&random, 64) : (size_t)1 << support_below(&random, 22);
            /* The worst there is: a piece just too large for what is left, then a small one. */
            if (round % 2) size = i % 2 ? ((size_t)1 << (i / 2 % 21)) + 16 : 16;
            assert_non_null(berth_arena_push(&f->arena, size, 1));
            pushed += (size + 15) / 16 * 16;
            size_t step = pushed < (1 << 20) ? pushed : 1 << 20;
            assert_true((double)f->arena.total <= 1.05 * (2.0 * (double)pushed + 2.0 * (double)step) + 1100);
        }
        berth_arena_deinit(&f->arena);
    }
}

static void poisons_what_is_not_in_use(void **state) {
    fixture *f = *state;
    berth_mark mark = berth_arena_mark(&f->arena);
    char *first = berth_arena_push(&f->arena, 21, 1);
    assert_false(IS_POISONED(first, false));
    assert_false(IS_POISONED(first + 20, false));
    assert_true(IS_POISONED(first + 21, true));
    assert_true(IS_POISONED(first + 32, true));
    berth_mark inner = berth_arena_mark(&f->arena);
    char *second = berth_arena_push(&f->arena, 64, 1);
    assert_false(IS_POISONED(second + 63, false));
    berth_arena_release(&f->arena, inner);
    assert_true(IS_POISONED(second, true));
    assert_false(IS_POISONED(first + 20, false));
    assert_ptr_equal(berth_arena_push(&f->arena, 8, 1), second);
    assert_false(IS_POISONED(second + 7, false));
    assert_true(IS_POISONED(second + 8, true));
    berth_arena_release(&f->arena, mark);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(pushes),
        CASE(copies),
        CASE(overflow_fails),
        CASE(failure_is_sticky),
        CASE(deinit_empties),
        CASE(empty_keeps_the_memory),
        CASE(marks_and_releases),
        CASE(memory_is_bounded),
        CASE(poisons_what_is_not_in_use),
    };
    return cmocka_run_group_tests_name("base.arena", tests, NULL, NULL);
}
