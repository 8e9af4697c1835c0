/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/utf8.h"

/* The naive twin: read lead and tail bits blindly, then ask whether encoding the result gives the same bytes. */
static size_t naive_length(const unsigned char *c, size_t n) {
    size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc0 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf8 ? 4 : 0;
    if (length == 0 || length > n) return 0;
    uint32_t code = length == 1 ? c[0] : c[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (c[i] >> 6 != 2) return 0;
        code = code << 6 | (c[i] & 0x3f);
    }
    char again[4];
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return 0;
    return berth_utf8_put(again, code) == length && memcmp(again, c, length) == 0 ? length : 0;
}

/* The corners of the ranges that bytes behind the first may have. */
static const unsigned char tails[] = {0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf};

/* The longest start of a valid character, at least 1: by trying ways to go on. */
static bool can_go_on(const unsigned char *start, size_t n) {
    unsigned char c[4];
    memcpy(c, start, n);
    if (naive_length(c, n) == n) return true;
    if (n == 4) return false;
    for (size_t i = 0; i < sizeof tails; i++) {
        c[n] = tails[i];
        if (can_go_on(c, n + 1)) return true;
    }
    return false;
}

static size_t naive_broken(const unsigned char *c, size_t n) {
    size_t length = 1;
    while (length < n && length < 4 && can_go_on(c, length + 1)) length++;
    return length;
}

static void check(const unsigned char *c, size_t n) {
    bool good = false;
    size_t length = berth_utf8_next((const char *)c, n, &good), naive = naive_length(c, n);
    if (naive) {
        assert_true(good);
        assert_int_equal(length, naive);
    } else {
        assert_false(good);
        assert_int_equal(length, naive_broken(c, n));
    }
}

static void short_sequences(void **state) {
    (void)state;
    for (unsigned a = 0; a < 256; a++) {
        unsigned char one[1] = {(unsigned char)a};
        check(one, 1);
        for (unsigned b = 0; b < 256; b++) {
            unsigned char two[2] = {(unsigned char)a, (unsigned char)b};
            check(two, 2);
        }
    }
}

/* Every lead byte with tails at the corners of every range in the standard's table. */
static void long_sequences(void **state) {
    (void)state;
    static const unsigned char corners[] = {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xe2, 0xff};
    enum { N = sizeof corners };
    for (unsigned a = 0xc0; a < 256; a++)
        for (size_t i = 0; i < N * N * N; i++) {
            unsigned char c[4] = {(unsigned char)a, corners[i % N], corners[i / N % N], corners[i / N / N]};
            check(c, 4);
            check(c, 3);
        }
}

static void every_code_point(void **state) {
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        if (code >= 0xd800 && code < 0xe000) continue;
        char c[4];
        bool good = false;
        size_t length = berth_utf8_put(c, code);
        assert_int_equal(length, code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
        assert_int_equal(berth_utf8_next(c, length, &good), length);
        assert_true(good);
    }
    char euro[4];
    assert_int_equal(berth_utf8_put(euro, 0x20ac), 3);
    assert_memory_equal(euro, "\xe2\x82\xac", 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_sequences),
        cmocka_unit_test(long_sequences),
        cmocka_unit_test(every_code_point),
    };
    return cmocka_run_group_tests_name("base.utf8", tests, NULL, NULL);
}
