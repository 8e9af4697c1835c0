/* SPDX-License-Identifier: Apache-2.0 */
/* The option parser, on a table with one row of each kind. */
#include "cli/options.h"

#include "support.h"

typedef struct values {
    cli_common common;
    bool flag;
    const char *string;
    int64_t count;
    double ratio;
    int64_t any;
    cli_list items;
} values;

static const cli_option table[] = {
    {"flag", 'f', CLI_FLAG, CLI_USUAL, offsetof(values, flag), NULL, .help = "a flag"},
    {"string", 's', CLI_STRING, CLI_USUAL, offsetof(values, string), "TEXT", .help = "a string"},
    {"count", 'c', CLI_INT, CLI_USUAL, offsetof(values, count), "N", .help = "a whole number", .low = 1, .high = 10},
    {"ratio", 0, CLI_DOUBLE, CLI_USUAL, offsetof(values, ratio), "X", .help = "a number", .low = 0, .high = 1},
    {"any", 0, CLI_INT, CLI_USUAL, offsetof(values, any), "N", .help = "an unbounded number"},
    {"item", 'i', CLI_LIST, CLI_USUAL, offsetof(values, items), "ITEM", .help = "a list"},
    {0},
};

static const cli_command command = {
    .name = "try", .operands = "FILE...", .min_operands = 1, .max_operands = 3, .options = table};

static char message[256];

/* Parse the words of one line. `words` keeps them; values point into it. */
static bool parse(values *got, char *words, char **argv, const char *line) {
    int argc = 0;
    char *rest = NULL;
    memcpy(words, line, strlen(line) + 1);
    for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) argv[argc++] = word;
    *got = (values){.count = 7, .ratio = 0.5};
    message[0] = '\0';
    return cli_options_parse(&command, got, argc, argv, message, sizeof message);
}

static void accept(values *got, const char *line) {
    static char words[4096];
    static char *argv[256];
    if (!parse(got, words, argv, line)) fail_msg("'%s' is refused: %s", line, message);
}

static void refuse(const char *line, const char *expected) {
    values got;
    char words[1024];
    char *argv[64];
    if (parse(&got, words, argv, line)) fail_msg("'%s' is accepted", line);
    assert_string_equal(message, expected);
}

static void spellings(void **state) {
    (void)state;
    static const char *const lines[] = {"--flag --string a --count 3 file",
                                        "--flag --string=a --count=3 file",
                                        "-f -s a -c 3 file",
                                        "-fsa -c3 file",
                                        "file -fc3 -s a",
                                        "-f -sa --count 9 --count 3 -- file"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        values got;
        accept(&got, lines[i]);
        assert_true(got.flag);
        assert_string_equal(got.string, "a");
        assert_int_equal(got.count, 3);
        cli_scan at = got.common.operands.start;
        assert_string_equal(cli_list_next(&got.common.operands, &at), "file");
        assert_null(cli_list_next(&got.common.operands, &at));
    }
}

static void defaults_stay(void **state) {
    (void)state;
    values got;
    accept(&got, "-");
    assert_false(got.flag);
    assert_null(got.string);
    assert_int_equal(got.count, 7);
    assert_true(got.ratio == 0.5);
    assert_int_equal(got.items.n, 0);
    cli_scan at = got.items.start;
    assert_null(cli_list_next(&got.items, &at));
    at = got.common.operands.start;
    assert_string_equal(cli_list_next(&got.common.operands, &at), "-");
}

static void lists_in_order(void **state) {
    (void)state;
    values got;
    accept(&got, "--item a=1 x --item=b -ic y -fi d -- --item");
    static const char *const items[] = {"a=1", "b", "c", "d"}, *const operands[] = {"x", "y", "--item"};
    assert_int_equal(got.items.n, 4);
    assert_int_equal(got.common.operands.n, 3);
    for (int again = 0; again < 2; again++) {
        cli_scan at = got.items.start;
        for (int i = 0; i < 4; i++) assert_string_equal(cli_list_next(&got.items, &at), items[i]);
        assert_null(cli_list_next(&got.items, &at));
        at = got.common.operands.start;
        for (int i = 0; i < 3; i++) assert_string_equal(cli_list_next(&got.common.operands, &at), operands[i]);
        assert_null(cli_list_next(&got.common.operands, &at));
    }
}

static void values_that_look_like_options(void **state) {
    (void)state;
    values got;
    accept(&got, "--string --flag --any -5 -i -- f");
    assert_string_equal(got.string, "--flag");
    assert_false(got.flag);
    assert_int_equal(got.any, -5);
    assert_int_equal(got.items.n, 1);
    assert_int_equal(got.common.operands.n, 1);
    accept(&got, "--string= f");
    assert_string_equal(got.string, "");
}

static void numbers_in_bounds(void **state) {
    (void)state;
    values got;
    accept(&got, "--any 9223372036854775807 --ratio 1e-3 -c10 f");
    assert_true(got.any == INT64_MAX);
    assert_true(got.ratio == 1e-3);
    refuse("--count 0 f", "--count needs a whole number from 1 to 10, not '0'");
    refuse("--count 11 f", "--count needs a whole number from 1 to 10, not '11'");
    refuse("--count 3x f", "--count needs a whole number from 1 to 10, not '3x'");
    refuse("-c= f", "-c needs a whole number from 1 to 10, not '='");
    refuse("--any 9223372036854775808 f", "--any needs a whole number, not '9223372036854775808'");
    refuse("--any= f", "--any needs a whole number, not ''");
    refuse("--ratio nan f", "--ratio needs a number from 0 to 1, not 'nan'");
    refuse("--ratio inf f", "--ratio needs a number from 0 to 1, not 'inf'");
    refuse("--ratio 1.01 f", "--ratio needs a number from 0 to 1, not '1.01'");
}

static void misuse(void **state) {
    (void)state;
    refuse("", "needs FILE...");
    refuse("a b c d", "unexpected argument 'd'");
    refuse("--strng a f", "unknown option --strng; did you mean --string?");
    refuse("--zzz f", "unknown option --zzz");
    refuse("-z f", "unknown option -z");
    refuse("-fz f", "unknown option -z");
    refuse("f --string", "--string needs a value");
    refuse("f -s", "-s needs a value");
    refuse("--flag=1 f", "--flag takes no value");
    refuse("--hepl", "unknown option --hepl; did you mean --help?");
}

static void help_ends_the_parse(void **state) {
    (void)state;
    values got;
    accept(&got, "-h --nonsense");
    assert_true(got.common.help && !got.common.long_help);
    accept(&got, "--flag --help");
    assert_true(got.common.long_help && !got.common.help && got.flag);
}

static void nearest_name(void **state) {
    (void)state;
    static const struct {
        const char *typed, *best;
    } cases[] = {{"inspect", "inspect"},
                 {"inspct", "inspect"},
                 {"ispetc", "inspect"},
                 {"repot", "report"},
                 {"xyz", NULL},
                 {"", NULL},
                 {"i", NULL},
                 {"inspectinspect", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_nearest nearest = berth_nearest_begin(cases[i].typed);
        berth_nearest_offer(&nearest, "report");
        berth_nearest_offer(&nearest, "inspect");
        if (cases[i].best)
            assert_string_equal(nearest.best, cases[i].best);
        else
            assert_null(nearest.best);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spellings),           cmocka_unit_test(defaults_stay),
        cmocka_unit_test(lists_in_order),      cmocka_unit_test(values_that_look_like_options),
        cmocka_unit_test(numbers_in_bounds),   cmocka_unit_test(misuse),
        cmocka_unit_test(help_ends_the_parse), cmocka_unit_test(nearest_name),
    };
    return cmocka_run_group_tests_name("cli.options", tests, NULL, NULL);
}
