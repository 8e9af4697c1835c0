/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/number.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

/* Reads a copy in a block of exactly its size: the text is not NUL-terminated. */
static bool read_exact(const char *text, size_t n, berth_number *out) {
    char *copy = malloc(n ? n : 1);
    assert_non_null(copy);
    memcpy(copy, text, n);
    bool good = berth_number_read(copy, n, out);
    free(copy);
    return good;
}

static double value_of(const char *text) {
    berth_number number;
    if (!read_exact(text, strlen(text), &number)) fail_msg("'%s' is a number", text);
    return number.value;
}

static void check_same(const char *text, double expected) {
    double value = value_of(text);
    if (memcmp(&value, &expected, sizeof value) != 0) fail_msg("%s read as %a, not %a", text, value, expected);
}

static void reads(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"-0", -0.0},
        {"+7", 7},
        {".5", 0.5},
        {"5.", 5},
        {"-00012.3400e+02", -1234},
        {"1E3", 1000},
        {"0e999999999999999999999", 0},
        {"-0.000e-5", -0.0},
        {"1e308", 1e308},
        {"1.7976931348623157e308", DBL_MAX},
        {"1.7976931348623158e308", DBL_MAX},
        {"1.7976931348623159e308", INFINITY},
        {"-1e309", -INFINITY},
        {"1e99999999999999999999", INFINITY},
        {"2.2250738585072014e-308", DBL_MIN},
        {"4.9406564584124654e-324", 0x1p-1074},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062329e-324", 0x1p-1074},
        {"1e-99999999999999999999", 0},
        {"9007199254740993", 9007199254740992},
        {"9007199254740993.0000000000000000000000000001", 9007199254740994},
        {"2.2250738585072011e-308", 0x0.fffffffffffffp-1022}, /* made some parsers loop for ever */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_same(cases[i].text, cases[i].value);
}

static void refuses(void **state) {
    (void)state;
    static const char *const cases[] = {"",     "-",   "+",     ".",   "-.",    "e5",   "1e",      "1e+", "1e-",
                                        " 1",   "1 ",  "--1",   "+-1", "1.2.3", "1..2", "0x10",    "inf", "nan",
                                        "1e5.", "1,5", "1e5e5", "1_0", "1f",    "1d0",  "\xd9\xa1"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_number number = {.value = 42};
        if (read_exact(cases[i], strlen(cases[i]), &number)) fail_msg("'%s' is no number", cases[i]);
        assert_true(number.value == 42);
    }
    berth_number number;
    assert_false(read_exact("1\0002", 3, &number));
}

/* Against strtod, which in the C locale rounds correctly. */
static void agrees_with_strtod(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int round = 0; round < support_cases(100000); round++) {
        char text[64];
        int n = 0, whole = (int)support_below(&random, 22), fraction = (int)support_below(&random, 22);
        if (support_below(&random, 2)) text[n++] = '-';
        for (int i = 0; i < whole + !fraction; i++) text[n++] = (char)('0' + support_below(&random, 10));
        if (fraction) text[n++] = '.';
        for (int i = 0; i < fraction; i++) text[n++] = (char)('0' + support_below(&random, 10));
        text[n] = 0;
        if (support_below(&random, 2)) snprintf(text + n, 16, "e%d", (int)support_below(&random, 700) - 350);
        check_same(text, strtod(text, NULL));
    }
}

/* Adds the digits of b to those of a; both have the same length and the point at the same place. */
static void add_decimals(char *a, const char *b) {
    int carry = 0;
    for (size_t i = strlen(a); i-- > 0;) {
        if (a[i] == '.') continue;
        int sum = a[i] - '0' + b[i] - '0' + carry;
        a[i] = (char)('0' + sum % 10);
        carry = sum / 10;
    }
    assert_int_equal(carry, 0);
}

/* Exactly in the middle between two doubles, and a trifle beyond it after hundreds of digits. */
static void rounds_long_numbers(void **state) {
    (void)state;
    enum { ROOM = 4000, MORE = 1100 };
    static char middle[ROOM], half_step[ROOM];
    for (int exponent = -1021; exponent < 1000; exponent += 53) {
        double low = ldexp(1, exponent), high = nextafter(low, INFINITY);
        snprintf(middle, ROOM, "%0*.*f", 1400, 1074, low);
        snprintf(half_step, ROOM, "%0*.*f", 1400, 1074, (high - low) / 2);
        add_decimals(middle, half_step);
        size_t n = strlen(middle);
        assert_true(n < ROOM - MORE - 1);
        check_same(middle, low); /* its last bit is 0: the even one */
        memset(middle + n, '0', MORE);
        middle[n + MORE] = 0;
        check_same(middle, low);
        middle[n + MORE - 1] = '1';
        check_same(middle, high);
    }
}

static void reads_endless_numbers(void **state) {
    (void)state;
    enum { N = 1000000 };
    char *text = malloc(N + 16);
    assert_non_null(text);
    berth_number number;
    memset(text, '0', N);
    memcpy(text, "1.", 2);
    text[N - 1] = '1';
    assert_true(berth_number_read(text, N, &number));
    assert_true(number.value == 1 && !number.is_integer);
    text[N - 1] = '0';
    assert_true(berth_number_read(text, N, &number));
    assert_true(number.value == 1 && number.is_integer && number.integer == 1);
    /* 1 followed by a million zeros, and an exponent that takes them away again. */
    text[1] = '0';
    memcpy(text + N, "e-999999", 8);
    assert_true(berth_number_read(text, N + 8, &number));
    assert_true(number.value == 1 && number.is_integer && number.integer == 1);
    memset(text, '0', N);
    memcpy(text, "0.", 2);
    memcpy(text + N - 2, "12e999999", 9);
    assert_true(berth_number_read(text, N + 7, &number));
    assert_true(number.value == 120 && number.is_integer && number.integer == 120);
    free(text);
}

static void check_round_trip(double value) {
    char text[BERTH_NUMBER_ROOM];
    size_t n = berth_number_write(text, value);
    assert_int_equal(strlen(text), n);
    check_same(text, value);
    /* No shorter one reads back the same. */
    int digits = 0;
    for (const char *c = text; *c && *c != 'e'; c++) digits += *c >= '0' && *c <= '9';
    for (int fewer = 1; fewer < 17 && fewer < digits; fewer++) {
        char shorter[64];
        snprintf(shorter, sizeof shorter, "%.*g", fewer, value);
        if (strlen(shorter) < n && strtod(shorter, NULL) == value) fail_msg("%s is shorter than %s", shorter, text);
    }
}

static void writes(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {0.1, "0.1"},
        {1.0 / 3, "0.3333333333333333"},
        {1e22, "1e+22"},
        {1e-7, "1e-07"},
        {123456789012345, "123456789012345"},
        {0.1 + 0.2, "0.30000000000000004"},
        {25557032, "25557032"},
        {DBL_MAX, "1.7976931348623157e+308"},
        {0x1p-1074, "5e-324"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BERTH_NUMBER_ROOM];
        berth_number_write(text, cases[i].value);
        assert_string_equal(text, cases[i].text);
    }
    uint64_t random = 11;
    for (int round = 0; round < support_cases(100000); round++) {
        uint64_t bits = support_random(&random);
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value)) check_round_trip(value);
        check_round_trip((double)support_below(&random, 100000000) / 1000);
    }
}

/* A locale with a comma, where there is one or one can be made; NULL otherwise. */
static const char *comma_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    static char folder[] = "/tmp/berth-locale-XXXXXX";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_ALL, names[i])) return names[i];
    char command[200];
    if (!mkdtemp(folder)) return NULL;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
    int made = system(command);
    setenv("LOCPATH", folder, 1);
    const char *name = made == 0 ? setlocale(LC_ALL, "de_DE.UTF-8") : NULL;
    unsetenv("LOCPATH");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return name;
}

static void no_locale_matters(void **state) {
    (void)state;
    if (!comma_locale()) support_skip("no locale with a decimal comma is installed, and none can be made");
    char text[BERTH_NUMBER_ROOM], proof[16];
    snprintf(proof, sizeof proof, "%.1f", 0.5);
    size_t n = berth_number_write(text, -1234.5);
    double value = value_of("0.25e1");
    berth_number number;
    bool comma = berth_number_read("0,5", 3, &number);
    setlocale(LC_ALL, "C");
    assert_string_equal(proof, "0,5");
    assert_string_equal(text, "-1234.5");
    assert_int_equal(n, 7);
    assert_true(value == 2.5);
    assert_false(comma);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),
        cmocka_unit_test(refuses),
        cmocka_unit_test(agrees_with_strtod),
        cmocka_unit_test(rounds_long_numbers),
        cmocka_unit_test(reads_endless_numbers),
        cmocka_unit_test(writes),
        cmocka_unit_test(no_locale_matters),
    };
    return cmocka_run_group_tests_name("base.number", tests, NULL, NULL);
}
