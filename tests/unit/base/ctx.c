/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/ctx.h"

#include <stdio.h>

static void starts_silent(void **state) {
    berth_ctx *ctx = *state;
    assert_string_equal(berth_ctx_message(ctx), "");
    assert_false(berth_cancelled(ctx));
    berth_log(ctx, BERTH_LOG_INFO, "to nobody");
    berth_ctx_free(NULL);
    assert_true(strlen(berth_version()) >= 5);
}

static void every_status_has_a_name(void **state) {
    (void)state;
    for (int a = BERTH_OK; a >= BERTH_E_CANCELLED; a--) {
        assert_string_not_equal(berth_status_name((berth_status)a), "unknown status");
        for (int b = BERTH_OK; b > a; b--)
            assert_string_not_equal(berth_status_name((berth_status)a), berth_status_name((berth_status)b));
    }
    assert_string_equal(berth_status_name((berth_status)-100), "unknown status");
    assert_string_equal(berth_status_name((berth_status)1), "unknown status");
}

static void fails_with_a_sentence(void **state) {
    berth_ctx *ctx = *state;
    assert_int_equal(berth_fail(ctx, BERTH_E_IO, "%s:%d: no", "file", 7), BERTH_E_IO);
    assert_string_equal(berth_ctx_message(ctx), "file:7: no");
    assert_int_equal(berth_fail_nomem(ctx), BERTH_E_NOMEM);
    assert_string_equal(berth_ctx_message(ctx), "out of memory");
}

/* A caller may put the message so far into the next one. */
static void wraps_its_own_message(void **state) {
    berth_ctx *ctx = *state;
    (void)berth_fail(ctx, BERTH_E_ARG, "inner");
    (void)berth_fail(ctx, BERTH_E_ARG, "outer: %s, again %s", berth_ctx_message(ctx), berth_ctx_message(ctx));
    assert_string_equal(berth_ctx_message(ctx), "outer: inner, again inner");
}

static void makes_messages_printable(void **state) {
    berth_ctx *ctx = *state;
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"plain text", "plain text"},
        {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9d\x84\x9e"},
        {"two\nlines\r\n", "two?lines??"},
        {"\x1b[31mred\x7f\x01\t", "?[31mred???"},
        {"\xff\xfe", "??"},
        {"a\x80z", "a?z"},
        {"\xc0\xafz", "??z"},           /* overlong */
        {"\xe0\x80\x8az", "???z"},      /* overlong line feed */
        {"\xed\xa0\x80z", "???z"},      /* a surrogate */
        {"\xf4\x90\x80\x80z", "????z"}, /* beyond U+10FFFF */
        {"\xe2\x82z", "?z"},            /* cut short */
        {"\xe2\x82", "?"},              /* cut short at the end */
        {"\xc2\x9b"
         "31m\xc2\xa0",
         "?31m\xc2\xa0"},                            /* a C1 control; a blank that does not break is fine */
        {"\xc2\x85\xe2\x80\xa8\xe2\x80\xa9", "???"}, /* other line ends */
        {"\xe2\x80\xae"
         "txt\xe2\x81\xa6",
         "?txt?"}, /* turned direction */
        {"\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa", "\xe2\x80\xa7\xe2\x80\xaf\xe2\x81\xa5\xe2\x81\xaa"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        (void)berth_fail(ctx, BERTH_E_FORMAT, "%s", cases[i].text);
        assert_string_equal(berth_ctx_message(ctx), cases[i].message);
    }
}

/* Messages that are cut end in dots and never within a character, whatever length comes before it. */
static void cuts_long_messages(void **state) {
    berth_ctx *ctx = *state;
    static char tail[3001];
    for (int i = 0; i < 1000; i++) memcpy(tail + 3 * i, "\xe2\x82\xac", 4);
    for (int lead = 0; lead < 8; lead++) {
        (void)berth_fail(ctx, BERTH_E_FORMAT, "%.*s%s", lead, "aaaaaaaa", tail);
        const char *message = berth_ctx_message(ctx);
        size_t n = strlen(message);
        assert_true(n <= 1023 && n >= 1020);
        assert_null(strchr(message, '?'));
        assert_string_equal(message + n - 3, "...");
        assert_int_equal((n - 3 - (size_t)lead) % 3, 0);
    }
    /* The longest that fits is whole. */
    (void)berth_fail(ctx, BERTH_E_FORMAT, "%.1023s", tail);
    assert_int_equal(strlen(berth_ctx_message(ctx)), 1023);
    assert_null(strstr(berth_ctx_message(ctx), "..."));
}

typedef struct heard {
    int count;
    berth_log_level level;
    char line[1100];
} heard;

static void hear(void *user, berth_log_level level, const char *message) {
    heard *h = user;
    h->count++;
    h->level = level;
    snprintf(h->line, sizeof h->line, "%s", message);
}

static bool always(void *user) {
    ++*(int *)user;
    return true;
}

static void calls_back(void **state) {
    berth_ctx *ctx = *state;
    heard h = {0};
    berth_ctx_set_log(ctx, hear, &h);
    berth_log(ctx, BERTH_LOG_DEBUG, "%d\n%s", 5, "x");
    assert_int_equal(h.count, 1);
    assert_int_equal(h.level, BERTH_LOG_DEBUG);
    assert_string_equal(h.line, "5?x");
    berth_ctx_set_log(ctx, NULL, NULL);
    berth_log(ctx, BERTH_LOG_DEBUG, "unheard");
    assert_int_equal(h.count, 1);
    int asked = 0;
    berth_ctx_set_cancel(ctx, always, &asked);
    assert_true(berth_cancelled(ctx));
    assert_int_equal(asked, 1);
}

static void resizes(void **state) {
    berth_ctx *ctx = *state;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    int32_t *numbers = berth_resize(allocator, NULL, 0, 4, sizeof *numbers);
    assert_non_null(numbers);
    for (int i = 0; i < 4; i++) assert_int_equal(numbers[i], 0);
    for (int i = 0; i < 4; i++) numbers[i] = i + 1;
    numbers = berth_resize(allocator, numbers, 4, 1000, sizeof *numbers);
    assert_non_null(numbers);
    for (int i = 0; i < 1000; i++) assert_int_equal(numbers[i], i < 4 ? i + 1 : 0);
    assert_null(berth_resize(allocator, numbers, 1000, SIZE_MAX / 2, sizeof *numbers));
    assert_null(berth_resize(allocator, numbers, 1000, SIZE_MAX, sizeof *numbers));
    assert_null(berth_resize(allocator, numbers, 1000, SIZE_MAX / sizeof *numbers + 2, sizeof *numbers));
    assert_int_equal(numbers[3], 4);
    numbers = berth_resize(allocator, numbers, 1000, 2, sizeof *numbers);
    assert_int_equal(numbers[1], 2);
    assert_null(berth_resize(allocator, numbers, 2, 0, sizeof *numbers));
    assert_null(berth_resize(allocator, NULL, 0, 0, sizeof *numbers));
}

static void hash_keys_differ(void **state) {
    berth_ctx *ctx = *state, *other = NULL;
    assert_int_equal(berth_ctx_new(&other, NULL), BERTH_OK);
    assert_memory_not_equal(berth_ctx_hash_key(ctx), berth_ctx_hash_key(other), 2 * sizeof(uint64_t));
    berth_ctx_free(other);
}

static berth_status run_nothing(berth_ctx *ctx, void *user) {
    (void)user;
    assert_non_null(ctx);
    return BERTH_OK;
}

static void ladder(void **state) {
    (void)state;
    assert_int_equal(support_ladder(run_nothing, NULL, 1), 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, support_open, support_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(starts_silent),
        CASE(every_status_has_a_name),
        CASE(fails_with_a_sentence),
        CASE(wraps_its_own_message),
        CASE(makes_messages_printable),
        CASE(cuts_long_messages),
        CASE(calls_back),
        CASE(resizes),
        CASE(hash_keys_differ),
        CASE(ladder),
    };
    return cmocka_run_group_tests_name("base.ctx", tests, NULL, NULL);
}
