/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/json.h"

#include <math.h>
#include <stdio.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
} fixture;

static int set_up(void **state) {
    static fixture f;
    if (berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

/* Parses a copy in a block of exactly its size, so that the sanitizer sees every byte read beyond it. */
static berth_status parse(fixture *f, const char *bytes, size_t size, const berth_json **out) {
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    berth_status status = berth_json_parse(f->ctx, &f->arena, "t.json", size ? copy : NULL, size, 200, out);
    free(copy);
    if (status != BERTH_OK) assert_null(*out);
    return status;
}

#define BYTES(text) (text), sizeof(text) - 1

static const berth_json *parsed(fixture *f, const char *bytes, size_t size) {
    const berth_json *root = NULL;
    if (parse(f, bytes, size, &root) != BERTH_OK) fail_msg("%.*s: %s", (int)size, bytes, berth_ctx_message(f->ctx));
    return root;
}

typedef struct text_case {
    const char *bytes;
    size_t size;
} text_case;

static void accepts(void **state) {
    fixture *f = *state;
    static const text_case cases[] = {
        {BYTES("[]")},
        {BYTES("{}")},
        {BYTES("null")},
        {BYTES("true")},
        {BYTES("false")},
        {BYTES("0")},
        {BYTES("-0")},
        {BYTES("\"\"")},
        {BYTES(" \t\r\n[ \t\r\n] \t\r\n")},
        {BYTES("\xef\xbb\xbf[1]")},
        {BYTES("[1,2,3]")},
        {BYTES("[[],[[]],{}]")},
        {BYTES("[ 1 , 2 ]")},
        {BYTES("{\"a\":1,\"b\":{\"a\":2}}")},
        {BYTES("{ \"a\" : 1 , \"b\" : 2 }")},
        {BYTES("{\"\":0}")},
        {BYTES("{\"a\":1,\"A\":1,\"a\\u0000\":1,\"\\u0000a\":1}")},
        {BYTES("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"]")},
        {BYTES("[\"\\u0000\"]")},
        {BYTES("[\"\\uD834\\uDd1e\"]")},
        {BYTES("[\"\\uDBFF\\uDFFF\"]")},
        {BYTES("[\"\\uFFFF\\uFDD0\"]")},
        {BYTES("[\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\x7f\"]")},
        {BYTES("[\"\xf4\x8f\xbf\xbf\"]")},
        {BYTES("[\"\xed\x9f\xbf\xee\x80\x80\"]")},
        {BYTES("[\"\\\\u0000\"]")},
        {BYTES("[\"/*no comment*/\"]")},
        {BYTES("[0.5,-0.5,1e1,1E+1,1e-1,0e0,0.0e+00,123.456E-7]")},
        {BYTES("[1e308,-1e308,1e-400,-1e-400]")},
        {BYTES("[123456789012345678901234567890]")},
        {BYTES("[-0.000000000000000000000000000000000000000000000000000000000000000000000001]")},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) parsed(f, cases[i].bytes, cases[i].size);
}

static void refuses(void **state) {
    fixture *f = *state;
    static const struct {
        text_case text;
        const char *says;
    } cases[] = {
        {{BYTES("")}, "1:1: expected a value, not the end"},
        {{BYTES(" \n ")}, "2:2: expected a value, not the end"},
        {{BYTES("\xef\xbb\xbf")}, "1:4: expected a value"},
        {{BYTES("\xef\xbb")}, "expected a value, not the byte 0xef"},
        {{BYTES("\xfe\xff\0[\0]")}, "not the byte 0xfe"},
        {{BYTES("[")}, "1:2: expected a value, not the end"},
        {{BYTES("[1")}, "expected ',' or ']', not the end"},
        {{BYTES("[1,")}, "expected a value, not the end"},
        {{BYTES("[1,]")}, "1:4: expected a value, not ']'"},
        {{BYTES("[,1]")}, "1:2: expected a value, not ','"},
        {{BYTES("[1,,2]")}, "1:4: expected a value, not ','"},
        {{BYTES("[1 2]")}, "1:4: expected ',' or ']', not '2'"},
        {{BYTES("[1}")}, "expected ',' or ']', not '}'"},
        {{BYTES("[1]]")}, "1:4: expected the end of the file, not ']'"},
        {{BYTES("[1]\0")}, "expected the end of the file, not the byte 0x00"},
        {{BYTES("1 2")}, "expected the end of the file, not '2'"},
        {{BYTES("[]\xef\xbb\xbf")}, "expected the end of the file"},
        {{BYTES("]")}, "expected a value, not ']'"},
        {{BYTES("}")}, "expected a value"},
        {{BYTES("{")}, "expected a key in quotes, not the end"},
        {{BYTES("{]")}, "expected a key in quotes, not ']'"},
        {{BYTES("{\"a\"")}, "expected ':', not the end"},
        {{BYTES("{\"a\":")}, "expected a value, not the end"},
        {{BYTES("{\"a\" 1}")}, "expected ':', not '1'"},
        {{BYTES("{\"a\":1")}, "expected ',' or '}', not the end"},
        {{BYTES("{\"a\":1,}")}, "1:8: expected a key in quotes, not '}'"},
        {{BYTES("{\"a\":1]")}, "expected ',' or '}', not ']'"},
        {{BYTES("{\"a\":1 \"b\":2}")}, "expected ',' or '}'"},
        {{BYTES("{a:1}")}, "expected a key in quotes, not 'a'"},
        {{BYTES("{'a':1}")}, "expected a key in quotes, not '''"},
        {{BYTES("{1:1}")}, "expected a key in quotes, not '1'"},
        {{BYTES("{\"a\"::1}")}, "expected a value, not ':'"},
        {{BYTES("{\"a\"}")}, "expected ':', not '}'"},
        {{BYTES("{,}")}, "expected a key in quotes"},
        {{BYTES("{\"a\":1,\n\"b\":2,\n\"a\":3}")}, "t.json:3: the key 'a' appears twice"},
        {{BYTES("{\"a\":1,\"\\u0061\":3}")}, "appears twice"},
        {{BYTES("{\"a\":1,\"b\":{\"c\":1,\"c\":1}}")}, "the key 'c' appears twice"},
        {{BYTES("nul")}, "expected a value, not 'n'"},
        {{BYTES("nullx")}, "1:5: expected the end of the file, not 'x'"},
        {{BYTES("True")}, "expected a value, not 'T'"},
        {{BYTES("NaN")}, "expected a value"},
        {{BYTES("Infinity")}, "expected a value"},
        {{BYTES("-Infinity")}, "malformed number"},
        {{BYTES("-")}, "malformed number"},
        {{BYTES("+1")}, "expected a value, not '+'"},
        {{BYTES(".5")}, "expected a value, not '.'"},
        {{BYTES("-.5")}, "malformed number"},
        {{BYTES("5.")}, "malformed number"},
        {{BYTES("[5.]")}, "malformed number"},
        {{BYTES("1e")}, "malformed number"},
        {{BYTES("1e+")}, "malformed number"},
        {{BYTES("1.e1")}, "malformed number"},
        {{BYTES("1e1.5")}, "expected the end of the file, not '.'"},
        {{BYTES("01")}, "malformed number"},
        {{BYTES("-01")}, "malformed number"},
        {{BYTES("00")}, "malformed number"},
        {{BYTES("0x10")}, "expected the end of the file, not 'x'"},
        {{BYTES("1_000")}, "expected the end of the file, not '_'"},
        {{BYTES("1,5")}, "expected the end of the file, not ','"},
        {{BYTES("\xef\xbc\x91")}, "expected a value"},
        {{BYTES("1e309")}, "the number is too large"},
        {{BYTES("-1e309")}, "the number is too large"},
        {{BYTES("1e99999999999999999999999999")}, "the number is too large"},
        {{BYTES("\"")}, "1:1: a string does not end"},
        {{BYTES("[\"a]")}, "1:2: a string does not end"},
        {{BYTES("\"\\\"")}, "a string does not end"},
        {{BYTES("\"\\")}, "a string does not end"},
        {{BYTES("'a'")}, "expected a value, not '''"},
        {{BYTES("\"\\a\"")}, "1:2: unknown escape"},
        {{BYTES("\"\\\0\"")}, "unknown escape"},
        {{BYTES("\"\\\n\"")}, "unknown escape"},
        {{BYTES("\"\\U0041\"")}, "unknown escape"},
        {{BYTES("\"\\x41\"")}, "unknown escape"},
        {{BYTES("\"\\\xc3\xa9\"")}, "UTF-8"},
        {{BYTES("\"\\u\"")}, "four hexadecimal digits"},
        {{BYTES("\"\\u123\"")}, "four hexadecimal digits"},
        {{BYTES("\"\\u123")}, "a string does not end"},
        {{BYTES("\"\\u12g4\"")}, "four hexadecimal digits"},
        {{BYTES("\"\\u+123\"")}, "four hexadecimal digits"},
        {{BYTES("\"\\ud800\"")}, "half a surrogate pair"},
        {{BYTES("\"\\udc00\"")}, "half a surrogate pair"},
        {{BYTES("\"\\ud800\\n\"")}, "half a surrogate pair"},
        {{BYTES("\"\\ud800\\u0041\"")}, "half a surrogate pair"},
        {{BYTES("\"\\ud800\\ud800\"")}, "half a surrogate pair"},
        {{BYTES("\"\\ud800\\u\"")}, "half a surrogate pair"},
        {{BYTES("\"\\ud800\\")}, "a string does not end"},
        {{BYTES("\"\\udfff\\udbff\"")}, "half a surrogate pair"},
        {{BYTES("\"\t\"")}, "1:2: control character"},
        {{BYTES("\"\n\"")}, "control character"},
        {{BYTES("\"\0\"")}, "control character"},
        {{BYTES("\"\x1f\"")}, "control character"},
        {{BYTES("\"\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xc0\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xc1\xbf\"")}, "not valid UTF-8"},
        {{BYTES("\"\xe0\x80\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xe0\x9f\xbf\"")}, "not valid UTF-8"},
        {{BYTES("\"\xed\xa0\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xf0\x8f\xbf\xbf\"")}, "not valid UTF-8"},
        {{BYTES("\"\xf4\x90\x80\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xf5\x80\x80\x80\"")}, "not valid UTF-8"},
        {{BYTES("\"\xff\"")}, "not valid UTF-8"},
        {{BYTES("\"\xe2\x82\"")}, "1:2: a string is not valid UTF-8"},
        {{BYTES("\"\xe2\x82")}, "not valid UTF-8"},
        {{BYTES("\"\xf0\x9d\x84")}, "not valid UTF-8"},
        {{BYTES("[1] // no")}, "expected the end of the file, not '/'"},
        {{BYTES("[/**/1]")}, "expected a value, not '/'"},
        {{BYTES("[1\f]")}, "not the byte 0x0c"},
        {{BYTES("[1\v]")}, "not the byte 0x0b"},
        {{BYTES("[1\xc2\xa0]")}, "not the byte 0xc2"},
        {{BYTES("\n\n  [1,\n   x]")}, "t.json:4:4: expected a value, not 'x'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const berth_json *root = NULL;
        const text_case *text = &cases[i].text;
        berth_status status = parse(f, text->bytes, text->size, &root);
        const char *message = berth_ctx_message(f->ctx);
        if (status != BERTH_E_FORMAT)
            fail_msg("case %zu (%.*s): status %d", i, (int)text->size, text->bytes, (int)status);
        if (strncmp(message, "t.json:", 7) != 0 || !strstr(message, cases[i].says))
            fail_msg("'%s' does not say '%s'", message, cases[i].says);
    }
    assert_int_equal(f->arena.total, 0);
}

/* Every prefix of a document that has everything in it is refused, and without reading beyond its end. */
static void refuses_prefixes(void **state) {
    fixture *f = *state;
    static const char text[] =
        "{\"a\": [1, -2.5e+3, true, false, null], \"b\\u00e9\\ud834\\udd1e\": {\"\xc3\xa9\": \"\\n\xf0\x9d\x84\x9e\"}}";
    const berth_json *root = NULL;
    for (size_t n = 0; n < sizeof text - 1; n++) assert_int_equal(parse(f, text, n, &root), BERTH_E_FORMAT);
    assert_int_equal(parse(f, text, sizeof text - 1, &root), BERTH_OK);
}

static void builds_the_tree(void **state) {
    fixture *f = *state;
    const berth_json *root = parsed(f, BYTES("{\"a\": [1,\n \"x\\u0000y\", {}, []],\n\n \"b\": null}"));
    assert_int_equal(root->kind, BERTH_JSON_OBJECT);
    assert_int_equal(root->count, 2);
    assert_int_equal(root->line, 1);
    assert_null(root->key);
    assert_null(root->next);
    const berth_json *a = root->child, *b = a->next;
    assert_string_equal(a->key, "a");
    assert_int_equal(a->kind, BERTH_JSON_ARRAY);
    assert_int_equal(a->count, 4);
    assert_string_equal(b->key, "b");
    assert_int_equal(b->key_size, 1);
    assert_int_equal(b->kind, BERTH_JSON_NULL);
    assert_int_equal(b->line, 4);
    assert_null(b->next);
    const berth_json *one = a->child, *string = one->next, *object = string->next, *array = object->next;
    assert_int_equal(one->kind, BERTH_JSON_NUMBER);
    assert_null(one->key);
    assert_int_equal(string->kind, BERTH_JSON_STRING);
    assert_int_equal(string->line, 2);
    assert_int_equal(string->size, 3);
    assert_memory_equal(string->string, "x\0y", 4);
    assert_int_equal(object->kind, BERTH_JSON_OBJECT);
    assert_null(object->child);
    assert_int_equal(array->kind, BERTH_JSON_ARRAY);
    assert_int_equal(array->count, 0);
    assert_null(array->next);
    assert_ptr_equal(berth_json_get(root, "b"), b);
    assert_null(berth_json_get(root, "c"));
    assert_null(berth_json_get(root, ""));
    assert_null(berth_json_get(a, "b"));
}

static void decodes_escapes(void **state) {
    fixture *f = *state;
    const berth_json *s = parsed(f, BYTES("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud834\\udd1e\\uffff\""));
    static const char expected[] = "\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\xef\xbf\xbf";
    assert_int_equal(s->size, sizeof expected - 1);
    assert_memory_equal(s->string, expected, sizeof expected);
}

static void tells_integers(void **state) {
    fixture *f = *state;
    static const struct {
        const char *text;
        bool is_integer;
        int64_t integer;
        double number;
    } cases[] = {
        {"0", true, 0, 0},
        {"-0", true, 0, -0.0},
        {"42", true, 42, 42},
        {"1.0", true, 1, 1},
        {"1.5", false, 0, 1.5},
        {"2e3", true, 2000, 2000},
        {"25e-1", false, 0, 2.5},
        {"250e-1", true, 25, 25},
        {"9223372036854775807", true, INT64_MAX, 9223372036854775807.0},
        {"9223372036854775808", false, 0, 9223372036854775808.0},
        {"-9223372036854775808", true, INT64_MIN, -9223372036854775808.0},
        {"-9223372036854775809", false, 0, -9223372036854775808.0},
        {"9007199254740993", true, 9007199254740993, 9007199254740992.0},
        {"1.00000000000000000000000001", false, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const berth_json *value = parsed(f, cases[i].text, strlen(cases[i].text));
        assert_int_equal(value->is_integer, cases[i].is_integer);
        assert_true(value->integer == cases[i].integer);
        assert_true(value->number == cases[i].number && signbit(value->number) == signbit(cases[i].number));
    }
}

static void typed_members(void **state) {
    fixture *f = *state;
    const berth_json *root = parsed(f, BYTES("{\"n\": 2.5,\n \"i\": 7, \"s\": \"x\", \"z\": \"a\\u0000\",\n"
                                             " \"t\": true, \"l\": [{}]}"));
    double number = -1;
    int64_t integer = -1;
    const char *string = NULL;
    bool truth = false;
    const berth_json *list = NULL;
    assert_int_equal(berth_json_want_number(f->ctx, "t", root, "n", &number), BERTH_OK);
    assert_true(number == 2.5);
    assert_int_equal(berth_json_want_integer(f->ctx, "t", root, "i", 7, 7, &integer), BERTH_OK);
    assert_int_equal(integer, 7);
    assert_int_equal(berth_json_want_string(f->ctx, "t", root, "s", &string), BERTH_OK);
    assert_string_equal(string, "x");
    assert_int_equal(berth_json_want_bool(f->ctx, "t", root, "t", &truth), BERTH_OK);
    assert_true(truth);
    assert_int_equal(berth_json_want(f->ctx, "t", root, "l", BERTH_JSON_ARRAY, &list), BERTH_OK);
    assert_int_equal(list->count, 1);

    assert_int_equal(berth_json_want_number(f->ctx, "t", root, "s", &number), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:2: 's' must be a number, not a string");
    assert_int_equal(berth_json_want_integer(f->ctx, "t", root, "n", 0, 9, &integer), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:1: 'n' must be an integer from 0 to 9");
    assert_int_equal(berth_json_want_integer(f->ctx, "t", root, "i", 8, 9, &integer), BERTH_E_FORMAT);
    assert_int_equal(berth_json_want_integer(f->ctx, "t", root, "i", 0, 6, &integer), BERTH_E_FORMAT);
    assert_int_equal(berth_json_want_integer(f->ctx, "t", root, "t", 0, 9, &integer), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:3: 't' must be an integer, not true or false");
    assert_int_equal(berth_json_want_string(f->ctx, "t", root, "z", &string), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:2: 'z' must not hold the character U+0000");
    assert_int_equal(berth_json_want_bool(f->ctx, "t", root, "n", &truth), BERTH_E_FORMAT);
    assert_int_equal(berth_json_want(f->ctx, "t", root, "gone", BERTH_JSON_NULL, &list), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:1: 'gone' is missing");
    assert_int_equal(berth_json_want(f->ctx, "t", list, "x", BERTH_JSON_NULL, &list), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t:3: expected an object with 'x', not an array");
    assert_true(number == 2.5 && integer == 7 && truth && list->count == 1);
    assert_string_equal(string, "x");
}

static void limits_depth(void **state) {
    fixture *f = *state;
    enum { DEPTH = 1000000 };
    char *text = malloc(2 * DEPTH);
    assert_non_null(text);
    const berth_json *root = NULL;
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH);
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", text, 2 * DEPTH, DEPTH, &root), BERTH_OK);
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", text, 2 * DEPTH, DEPTH - 1, &root), BERTH_E_FORMAT);
    assert_null(root);
    assert_string_equal(berth_ctx_message(f->ctx), "t:1:1000000: nested deeper than 999999");
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", "[]", 2, 0, &root), BERTH_E_FORMAT);
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", "[]", 2, -1, &root), BERTH_E_FORMAT);
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", "7", 1, 0, &root), BERTH_OK);
    free(text);
}

/* 2^31 bytes are refused before any of them is looked at. */
static void limits_size(void **state) {
    fixture *f = *state;
    const berth_json *root = NULL;
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", "", (size_t)INT32_MAX + 1, 9, &root), BERTH_E_LIMIT);
}

static void small_memory(void **state) {
    fixture *f = *state;
    enum { N = 1 << 20 };
    char *text = malloc(2 * N + 1);
    assert_non_null(text);
    for (size_t i = 0; i < N; i++) memcpy(text + 2 * i, ",0", 2);
    text[0] = '[';
    text[2 * N] = ']';
    const berth_json *root = NULL;
    assert_int_equal(berth_json_parse(f->ctx, &f->arena, "t", text, 2 * N + 1, 9, &root), BERTH_OK);
    assert_int_equal(root->count, N);
    assert_true(f->arena.total <= (size_t)26 * (2 * N + 1));
    free(text);
}

/* An object of n distinct keys, `twice` >= 0 replaced by another occurrence of the first. */
static char *many_keys(int n, int twice, size_t *size) {
    char *text = malloc((size_t)n * 20 + 2);
    assert_non_null(text);
    size_t at = 0;
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, 20, "%c\"k%d\":0\n", i ? ',' : '{', i == twice ? 0 : i);
    text[at++] = '}';
    *size = at;
    return text;
}

static void duplicate_keys_in_large_objects(void **state) {
    fixture *f = *state;
    static const int sizes[] = {2, 15, 16, 17, 18, 1000, 200000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        size_t size = 0;
        const berth_json *root = NULL;
        char *text = many_keys(sizes[i], -1, &size);
        assert_int_equal(parse(f, text, size, &root), BERTH_OK);
        assert_int_equal(root->count, sizes[i]);
        free(text);
        text = many_keys(sizes[i], sizes[i] - 1, &size);
        assert_int_equal(parse(f, text, size, &root), BERTH_E_FORMAT);
        char expected[80];
        snprintf(expected, sizeof expected, "t.json:%d: the key 'k0' appears twice in one object", sizes[i]);
        assert_string_equal(berth_ctx_message(f->ctx), expected);
        free(text);
    }
}

static berth_status run_parse(berth_ctx *ctx, void *user) {
    const text_case *text = user;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    const berth_json *root = NULL;
    berth_status status = berth_json_parse(ctx, &arena, "t", text->bytes, text->size, 100, &root);
    assert_int_equal(status == BERTH_OK, root != NULL);
    if (status != BERTH_OK) assert_int_equal(arena.total, 0);
    berth_arena_deinit(&arena);
    return status;
}

static void ladder(void **state) {
    (void)state;
    size_t size = 0;
    char *text = many_keys(500, -1, &size);
    assert_true(support_ladder(run_parse, &(text_case){text, size}, 1) > 5);
    free(text);
    assert_true(support_ladder(run_parse, &(text_case){BYTES("[[[[[[[[[[[[[[[[[[[[\"a\"]]]]]]]]]]]]]]]]]]]]")}, 1) > 3);
}

static void only_listed_keys(void **state) {
    static const char *const keys[] = {"name", "kind", NULL};
    fixture *f = *state;
    const berth_json *root = NULL;
    assert_int_equal(parse(f, BYTES("{\"kind\": 1, \"name\": 2}"), &root), BERTH_OK);
    assert_int_equal(berth_json_only(f->ctx, "t.json", root, keys), BERTH_OK);
    assert_int_equal(parse(f, BYTES("{\"kind\": 1,\n \"nmae\": 2}"), &root), BERTH_OK);
    assert_int_equal(berth_json_only(f->ctx, "t.json", root, keys), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t.json:2: unknown key 'nmae', did you mean 'name'?");
    assert_int_equal(parse(f, BYTES("{\"name\\u0000\": 1}"), &root), BERTH_OK);
    assert_int_equal(berth_json_only(f->ctx, "t.json", root, keys), BERTH_E_FORMAT);
    assert_int_equal(parse(f, BYTES("{\"colour\": 1}"), &root), BERTH_OK);
    assert_int_equal(berth_json_only(f->ctx, "t.json", root, keys), BERTH_E_FORMAT);
    assert_string_equal(berth_ctx_message(f->ctx), "t.json:1: unknown key 'colour'");
    assert_int_equal(parse(f, BYTES("[]"), &root), BERTH_OK);
    assert_int_equal(berth_json_only(f->ctx, "t.json", root, keys), BERTH_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(accepts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_prefixes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(builds_the_tree, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decodes_escapes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tells_integers, set_up, tear_down),
        cmocka_unit_test_setup_teardown(typed_members, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_depth, set_up, tear_down),
        cmocka_unit_test_setup_teardown(limits_size, set_up, tear_down),
        cmocka_unit_test_setup_teardown(small_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(duplicate_keys_in_large_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_listed_keys, set_up, tear_down),
        cmocka_unit_test(ladder),
    };
    return cmocka_run_group_tests_name("base.json", tests, NULL, NULL);
}
