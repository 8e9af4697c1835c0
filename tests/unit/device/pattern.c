/* SPDX-License-Identifier: Apache-2.0 */
/* Globs: cases, and a recursive twin on all short patterns and texts. */
#include "support.h"

#include "device/pattern.h"

#include <time.h>

static void cases(void **state) {
    static const struct {
        const char *pattern, *text;
        bool matches;
    } all[] = {
        {"", "", true},
        {"", "a", false},
        {"*", "", true},
        {"*", "abc", true},
        {"a*c", "abbc", true},
        {"a*c", "abcd", false},
        {"?", "", false},
        {"?", "a", true},
        {"?", "\xc3\xa9", true},
        {"??", "\xc3\xa9", false},
        {"[abc]x", "bx", true},
        {"[a-c]", "d", false},
        {"[!a-c]", "d", true},
        {"[!a-c]", "b", false},
        {"[]]", "]", true},
        {"[a", "[a", true},
        {"[", "[", true},
        {"\\*", "*", true},
        {"\\*", "a", false},
        {"a\\", "a\\", true},
        {"layer3/*", "layer3/conv", true},
        {"layer3/*", "layer33/conv", false},
        {"*.weight", "a.weight", true},
        {"**a**", "bab", true},
        {"a[0-9]", "a5", true},
        {"a[-9]", "a-", true},
        {"a[0-]", "a-", true},
        {"Conv", "conv", false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (berth_pattern_matches(all[i].pattern, all[i].text) != all[i].matches)
            fail_msg("'%s' on '%s'", all[i].pattern, all[i].text);
}

/* Only *, ? and letters. */
static bool twin(const char *pattern, const char *text) {
    if (!*pattern) return !*text;
    if (*pattern == '*') return twin(pattern + 1, text) || (*text && twin(pattern, text + 1));
    return *text && (*pattern == '?' || *pattern == *text) && twin(pattern + 1, text + 1);
}

static void word(char *out, uint32_t number, const char *letters, uint32_t base) {
    for (; number > 0; number /= base + 1)
        if (number % (base + 1) > 0) *out++ = letters[number % (base + 1) - 1];
    *out = 0;
}

static void equals_its_twin(void **state) {
    (void)state;
    char pattern[8], text[8];
    for (uint32_t p = 0; p < 5 * 5 * 5 * 5; p++)
        for (uint32_t t = 0; t < 3 * 3 * 3 * 3 * 3; t++) {
            word(pattern, p, "ab*?", 4);
            word(text, t, "ab", 2);
            if (berth_pattern_matches(pattern, text) != twin(pattern, text)) fail_msg("'%s' on '%s'", pattern, text);
        }
}

static void operations_match_by_name_or_type(void **state) {
    (void)state;
    berth_op op = {.name = "layer[3]/conv*", .type = "Conv"};
    assert_true(berth_pattern_matches_op("Conv", &op));
    assert_true(berth_pattern_matches_op("layer*", &op));
    assert_true(berth_pattern_matches_op("layer[3]/conv*", &op)); /* the name itself, special characters and all */
    assert_false(berth_pattern_matches_op("Con", &op));
    assert_false(berth_pattern_matches_op("layer3/conv*", &op));
}

/* Many stars must not take exponential time. */
static void stars_are_cheap(void **state) {
    (void)state;
    char pattern[401], text[20001];
    for (size_t i = 0; i < 400; i++) pattern[i] = i % 2 ? 'a' : '*';
    pattern[399] = 'b';
    pattern[400] = 0;
    memset(text, 'a', 20000);
    text[20000] = 0;
    clock_t begin = clock();
    assert_false(berth_pattern_matches(pattern, text));
    assert_true(clock() - begin < 2 * CLOCKS_PER_SEC);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases),
        cmocka_unit_test(equals_its_twin),
        cmocka_unit_test(operations_match_by_name_or_type),
        cmocka_unit_test(stars_are_cheap),
    };
    return cmocka_run_group_tests_name("device.pattern", tests, NULL, NULL);
}
