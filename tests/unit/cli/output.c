/* SPDX-License-Identifier: Apache-2.0 */
/* How strings, numbers and shapes are written. */
#include "cli/output.h"

#include "cli/shapes.h"
#include "cli/tensors.h"
#include "support.h"

#include <stdio.h>

static berth_ctx *ctx;
static berth_text *text;

static int begin(void **state) {
    (void)state;
    return berth_ctx_new(&ctx, NULL) != BERTH_OK || berth_text_new(ctx, &text) != BERTH_OK;
}

static int end(void **state) {
    (void)state;
    berth_text_free(text);
    berth_ctx_free(ctx);
    return 0;
}

static void escaped(void **state) {
    (void)state;
    cli_text_escaped(text,
                     "a\\b\tc\nd\re\x1b[0m\x7f \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 \xc2\x9b|\xff|\xc3|\xed\xa0\x80");
    assert_string_equal(berth_text_string(text),
                        "a\\\\b\\tc\\nd\\x0de\\x1b[0m\\x7f \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80 "
                        "\\xc2\\x9b|\\xff|\\xc3|\\xed\\xa0\\x80");
}

static void label(void **state) {
    (void)state;
    berth_text_label(text, "\"a\" & \\N\n\\");
    assert_string_equal(berth_text_string(text), "\\\"a\\\" &amp; \\\\\\\\N\\\\n\\\\\\\\");
}

static void cell(void **state) {
    (void)state;
    static const struct {
        const char *string;
        int least, most;
        const char *expected;
    } cases[] = {
        {"abc", 5, 9, "abc  "}, {"abcdefghi", 0, 9, "abcdefghi"}, {"abcdefghij", 0, 9, "abcdef..."},
        {"", 2, 9, "  "},       {"\xc3\xa4", 3, 9, "\xc3\xa4  "}, {"\n\n\n\n\n", 0, 9, "\\n\\n\\n..."},
        {"abc", 3, 3, "abc"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t before = berth_text_size(text);
        cli_text_cell(text, cases[i].string, cases[i].least, cases[i].most);
        assert_string_equal(berth_text_string(text) + before, cases[i].expected);
    }
}

static void scaled(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *unit, *expected;
    } cases[] = {
        {0, "B", "0 B"},
        {7, "", "7"},
        {999, "B", "999 B"},
        {999.4, "B", "999 B"},
        {999.5, "B", "1.00 kB"},
        {1234, "", "1.23 k"},
        {9994, "B", "9.99 kB"},
        {9995, "B", "10.0 kB"},
        {99949, "B", "99.9 kB"},
        {99950, "B", "100 kB"},
        {999499, "B", "999 kB"},
        {999500, "B", "1.00 MB"},
        {8.18e9, "FLOP", "8.18 GFLOP"},
        {4e18, "FLOP", "4.00 EFLOP"},
        {5e21, "FLOP", "5000 EFLOP"},
    };
    char buffer[CLI_SCALED_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(cli_scaled(cases[i].value, cases[i].unit, buffer), cases[i].expected);
}

static void dimensions(void **state) {
    (void)state;
    const berth_dim dims[] = {{3, 3, NULL},       {0, INT64_MAX, NULL},    {0, INT64_MAX, "batch"}, {1, 8, NULL},
                              {2, INT64_MAX, ""}, {4, 4, "bound already"}, {0, INT64_MAX, "\t"}};
    berth_text_shape(text, &(berth_shape){7, dims}, cli_text_escaped);
    assert_string_equal(berth_text_string(text), "3 x ? x batch x 1..8 x 2.. x 4 x \\t");
    size_t before = berth_text_size(text);
    berth_text_shape(text, &(berth_shape){2, (berth_dim[]){{3, 3, "n"}, {0, 0, NULL}}}, cli_text_escaped);
    assert_string_equal(berth_text_string(text) + before, "3x0");
    before = berth_text_size(text);
    berth_text_shape(text, &(berth_shape){0, NULL}, cli_text_escaped);
    berth_text_shape(text, &(berth_shape){-1, NULL}, cli_text_escaped);
    assert_string_equal(berth_text_string(text) + before, "scalar?");
}

static void long_dimensions(void **state) {
    (void)state;
    char symbol[1000], word[BERTH_DIM_SIZE], expected[BERTH_DIM_SIZE] = {0};
    memset(symbol, 'a', sizeof symbol);
    symbol[sizeof symbol - 1] = '\0';
    memcpy(symbol + BERTH_DIM_SIZE - 5, "\xe2\x82\xac", 3); /* would be cut in half */
    memset(expected, 'a', BERTH_DIM_SIZE - 5);
    memcpy(expected + BERTH_DIM_SIZE - 5, "...", 3);
    assert_string_equal(berth_dim_word(&(berth_dim){0, INT64_MAX, symbol}, word), expected);
    berth_dim dims[BERTH_MAX_RANK];
    for (int i = 0; i < BERTH_MAX_RANK; i++) dims[i] = (berth_dim){0, INT64_MAX, symbol};
    berth_text_shape(text, &(berth_shape){BERTH_MAX_RANK, dims}, cli_text_escaped);
    assert_in_range(berth_text_size(text), 200, 300);
    assert_string_equal(berth_text_string(text) + berth_text_size(text) - 6, " x ...");
}

/* One --shape, as the parser would hand it over. */
static bool bind(cli_shapes *shapes, const char *value, char *message, size_t size) {
    static const cli_option options[] = {{"shape", 0, CLI_LIST, CLI_USUAL, 0, "NAME=DIMS", .help = ""}, {0}};
    static const cli_command command = {.name = "try", .options = options};
    char copy[256], first[] = "--shape";
    snprintf(copy, sizeof copy, "%s", value);
    char *argv[] = {first, copy};
    cli_list list = {.n = 1, .start = {.command = &command, .argc = 2, .argv = argv}, .option = options};
    return cli_shapes_parse(shapes, &list, message, size);
}

static void bindings(void **state) {
    (void)state;
    static cli_shapes shapes;
    char message[256];
    assert_true(bind(&shapes, "input=1x3x224x224", message, sizeof message));
    assert_true(bind(&shapes, "a=b:0=7", message, sizeof message));
    assert_true(bind(&shapes, "zero=0x9223372036854775807", message, sizeof message));
    assert_int_equal(shapes.n, 3);
    assert_string_equal(shapes.bindings[0].input, "input");
    assert_int_equal(shapes.bindings[0].rank, 4);
    assert_int_equal(shapes.bindings[0].dims[2], 224);
    assert_string_equal(shapes.bindings[1].input, "a=b:0");
    assert_int_equal(shapes.bindings[1].rank, 1);
    assert_int_equal(shapes.bindings[1].dims[0], 7);
    assert_true(shapes.bindings[2].dims[1] == INT64_MAX);
    static const char *const bad[] = {"x",    "x=",   "=1",    "x=1x", "x=x1", "x=1xx2",
                                      "x=-1", "x=+1", "x=1,3", "x= 1", "x=1 ", "x=0x9223372036854775808",
                                      "x=1.5"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (bind(&shapes, bad[i], message, sizeof message)) fail_msg("'%s' is accepted", bad[i]);
        assert_non_null(strstr(message, bad[i]));
        assert_int_equal(shapes.n, 3);
    }
    char many[256] = "x=1";
    for (size_t i = 0; i < BERTH_MAX_RANK - 1; i++) memcpy(many + 3 + 2 * i, "x1", 3);
    assert_true(bind(&shapes, many, message, sizeof message));
    memcpy(many + 3 + 2 * (BERTH_MAX_RANK - 1), "x1", 3);
    assert_false(bind(&shapes, many, message, sizeof message));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(escaped, begin, end),
        cmocka_unit_test_setup_teardown(label, begin, end),
        cmocka_unit_test_setup_teardown(cell, begin, end),
        cmocka_unit_test(scaled),
        cmocka_unit_test_setup_teardown(dimensions, begin, end),
        cmocka_unit_test_setup_teardown(long_dimensions, begin, end),
        cmocka_unit_test(bindings),
    };
    return cmocka_run_group_tests_name("cli.output", tests, NULL, NULL);
}
