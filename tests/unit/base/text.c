/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

#include "base/ctx.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_text *text;
    char folder[64];
} fixture;

static int set_up(void **state) {
    static fixture f;
    snprintf(f.folder, sizeof f.folder, "/tmp/berth-text-XXXXXX");
    if (!mkdtemp(f.folder) || berth_ctx_new(&f.ctx, NULL) != BERTH_OK) return -1;
    if (berth_text_new(f.ctx, &f.text) != BERTH_OK) return -1;
    *state = &f;
    return 0;
}

/* A file left behind makes rmdir fail, and so the test: temporaries must be gone. */
static int tear_down(void **state) {
    fixture *f = *state;
    berth_text_free(f->text);
    berth_ctx_free(f->ctx);
    return rmdir(f->folder);
}

static const char *path_of(const fixture *f, const char *name) {
    static char paths[4][512];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", f->folder, name);
    return path;
}

static void starts_empty(void **state) {
    fixture *f = *state;
    assert_string_equal(berth_text_string(f->text), "");
    assert_int_equal(berth_text_size(f->text), 0);
    assert_int_equal(berth_text_status(f->text), BERTH_OK);
    berth_text_append(f->text, NULL, 0);
    berth_text_printf(f->text, "%s", "");
    assert_string_equal(berth_text_string(f->text), "");
    berth_text_free(NULL);
}

/* Against a plain buffer: pieces of all sizes, so that every way to grow is taken. */
static void appends(void **state) {
    fixture *f = *state;
    enum { ROOM = 400000 };
    char *expected = malloc(ROOM);
    assert_non_null(expected);
    size_t n = 0;
    uint64_t random = 7;
    while (n < ROOM - 3000) {
        char piece[2001];
        size_t size = support_below(&random, support_below(&random, 4) ? 20 : 2000);
        memset(piece, 'a' + (int)support_below(&random, 26), size);
        piece[size] = 0;
        memcpy(expected + n, piece, size + 1);
        n += size;
        if (support_below(&random, 2))
            berth_text_append(f->text, piece, size);
        else
            berth_text_printf(f->text, "%s", piece);
        assert_int_equal(berth_text_size(f->text), n);
        assert_int_equal(berth_text_string(f->text)[n], 0);
    }
    assert_string_equal(berth_text_string(f->text), expected);
    free(expected);
}

/* Exactly as much as there is room for, one less and one more. */
static void fills_to_the_brim(void **state) {
    fixture *f = *state;
    for (int width = 1; width < 600; width++) {
        berth_text *text = NULL;
        assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
        berth_text_printf(text, "%*d", width, 7);
        berth_text_printf(text, "%*d", width, 8);
        assert_int_equal(berth_text_size(text), 2 * width);
        assert_int_equal(strlen(berth_text_string(text)), 2 * width);
        assert_int_equal(berth_text_string(text)[2 * width - 1], '8');
        berth_text_free(text);
    }
}

static void writes_json(void **state) {
    fixture *f = *state;
    berth_text *t = f->text;
    berth_json_object_begin(t, NULL);
    berth_json_int(t, "schema", 1);
    berth_json_string(t, "name", "a \"b\"");
    berth_json_object_begin(t, "empty");
    berth_json_object_end(t);
    berth_json_array_begin(t, "none");
    berth_json_array_end(t);
    berth_json_array_begin(t, "list");
    berth_json_int(t, NULL, INT64_MIN);
    berth_json_int(t, NULL, INT64_MAX);
    berth_json_double(t, NULL, 0.1);
    berth_json_array_begin(t, NULL);
    berth_json_null(t, NULL);
    berth_json_array_end(t);
    berth_json_array_end(t);
    berth_json_array_begin(t, "rows");
    for (int row = 0; row < 2; row++) {
        berth_json_inline(t);
        berth_json_object_begin(t, NULL);
        berth_json_bool(t, "even", row % 2 == 0);
        berth_json_array_begin(t, "shape");
        berth_json_int(t, NULL, 1);
        berth_json_int(t, NULL, 3);
        berth_json_array_end(t);
        berth_json_object_begin(t, "no");
        berth_json_object_end(t);
        berth_json_object_end(t);
    }
    berth_json_array_end(t);
    berth_json_string(t, "nothing", NULL);
    berth_json_object_end(t);
    assert_int_equal(berth_text_status(t), BERTH_OK);
    assert_string_equal(berth_text_string(t), "{\n"
                                              "  \"schema\": 1,\n"
                                              "  \"name\": \"a \\\"b\\\"\",\n"
                                              "  \"empty\": {},\n"
                                              "  \"none\": [],\n"
                                              "  \"list\": [\n"
                                              "    -9223372036854775808,\n"
                                              "    9223372036854775807,\n"
                                              "    0.1,\n"
                                              "    [\n"
                                              "      null\n"
                                              "    ]\n"
                                              "  ],\n"
                                              "  \"rows\": [\n"
                                              "    {\"even\": true, \"shape\": [1, 3], \"no\": {}},\n"
                                              "    {\"even\": false, \"shape\": [1, 3], \"no\": {}}\n"
                                              "  ],\n"
                                              "  \"nothing\": null\n"
                                              "}\n");
}

static void writes_json_lines(void **state) {
    fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        berth_json_inline(f->text);
        berth_json_array_begin(f->text, NULL);
        berth_json_int(f->text, NULL, i);
        berth_json_array_end(f->text);
    }
    berth_json_double(f->text, NULL, 1e300 * 1e300);
    berth_json_double(f->text, NULL, -1e300 * 1e300);
    berth_json_double(f->text, NULL, 0 * (1e300 * 1e300));
    assert_string_equal(berth_text_string(f->text), "[0]\n[1]\nnull\nnull\nnull\n");
}

static void escapes(void **state) {
    fixture *f = *state;
    static const struct {
        const char *value, *json;
    } cases[] = {
        {"", "\"\""},
        {"\"\\/", "\"\\\"\\\\/\""},
        {"\b\t\n\v\f\r", "\"\\b\\t\\n\\u000b\\f\\r\""},
        {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e", "\"\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e\""},
        {"a\xff!", "\"a\xef\xbf\xbd!\""},
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                 /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {"\xe2\x82", "\"\xef\xbf\xbd\""}, /* cut short: one replacement */
        {"\xf0\x9d\x84x", "\"\xef\xbf\xbdx\""},
        {"\xe2\x82\"", "\"\xef\xbf\xbd\\\"\""},
        {"\x80\xe2\x82\xac\x80", "\"\xef\xbf\xbd\xe2\x82\xac\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_text *text = NULL;
        assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, cases[i].value, cases[i].value);
        berth_json_object_end(text);
        char expected[200];
        snprintf(expected, sizeof expected, "{%s: %s}\n", cases[i].json, cases[i].json);
        assert_string_equal(berth_text_string(text), expected);
        berth_text_free(text);
    }
}

static void misuse_key_missing(berth_text *text) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, NULL, 1);
}

static void misuse_key_in_array(berth_text *text) {
    berth_json_array_begin(text, NULL);
    berth_json_int(text, "key", 1);
}

static void misuse_key_at_top(berth_text *text) {
    berth_json_array_begin(text, "key");
}

static void misuse_end_alone(berth_text *text) {
    berth_json_array_end(text);
}

static void misuse_wrong_end(berth_text *text) {
    berth_json_array_begin(text, NULL);
    berth_json_object_end(text);
}

static void refuses_misuse(void **state) {
    fixture *f = *state;
    void (*const cases[])(berth_text *) = {misuse_key_missing, misuse_key_in_array, misuse_key_at_top, misuse_end_alone,
                                           misuse_wrong_end};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        berth_text *text = NULL;
        assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
        cases[i](text);
        assert_int_equal(berth_text_status(text), BERTH_E_ARG);
        size_t size = berth_text_size(text);
        berth_text_append(text, "x", 1);
        berth_text_printf(text, "x");
        berth_json_array_end(text);
        berth_json_null(text, NULL);
        assert_int_equal(berth_text_size(text), size);
        assert_int_equal(berth_text_write(f->ctx, text, path_of(f, "never")), BERTH_E_ARG);
        berth_text_free(text);
    }
}

static void nests_deeply(void **state) {
    fixture *f = *state;
    enum { DEPTH = 300 };
    for (int i = 0; i < DEPTH; i++) berth_json_array_begin(f->text, NULL);
    for (int i = 0; i < DEPTH; i++) berth_json_array_end(f->text);
    assert_int_equal(berth_text_status(f->text), BERTH_OK);
    /* Line i of the first half is i times two blanks and a bracket; the innermost pair shares one. */
    size_t blanks = 0;
    for (int i = 1; i < DEPTH - 1; i++) blanks += 2 * 2 * (size_t)i;
    blanks += 2 * (DEPTH - 1);
    assert_int_equal(berth_text_size(f->text), blanks + 2 * DEPTH + 2 * DEPTH - 1);
}

static void check_file(const char *path, const char *expected) {
    char content[256] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(content, 1, sizeof content - 1, file);
    fclose(file);
    content[n] = 0;
    assert_string_equal(content, expected);
}

static void writes_files(void **state) {
    fixture *f = *state;
    const char *path = path_of(f, "out.json");
    mode_t mask = umask(027);
    berth_text_append(f->text, "one\n", 4);
    assert_int_equal(berth_text_write(f->ctx, f->text, path), BERTH_OK);
    check_file(path, "one\n");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(chmod(path, 0604), 0);
    berth_text_append(f->text, "two\n", 4);
    assert_int_equal(berth_text_write(f->ctx, f->text, path), BERTH_OK);
    check_file(path, "one\ntwo\n");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0604);
    umask(mask);
    assert_int_equal(unlink(path), 0);
}

static void writes_relative_names(void **state) {
    fixture *f = *state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    berth_text_append(f->text, "here", 4);
    assert_int_equal(berth_text_write(f->ctx, f->text, "plain"), BERTH_OK);
    check_file("plain", "here");
    assert_int_equal(unlink("plain"), 0);
    assert_int_equal(chdir(before), 0);
}

static void writes_names_of_full_length(void **state) {
    fixture *f = *state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(berth_text_write(f->ctx, f->text, path_of(f, name)), BERTH_OK);
    check_file(path_of(f, name), "");
    assert_int_equal(unlink(path_of(f, name)), 0);
}

static void keeps_symbolic_links(void **state) {
    fixture *f = *state;
    const char *target = path_of(f, "target"), *link = path_of(f, "link");
    berth_text_append(f->text, "first", 5);
    assert_int_equal(berth_text_write(f->ctx, f->text, target), BERTH_OK);
    assert_int_equal(symlink("target", link), 0);
    berth_text_append(f->text, " second", 7);
    assert_int_equal(berth_text_write(f->ctx, f->text, link), BERTH_OK);
    check_file(target, "first second");
    struct stat st;
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(target), 0);
}

/* What is no regular file is written to, never replaced: think of /dev/null and a caller who is root. The test must not
 * try it on /dev/null itself, which it would destroy for the whole machine if it failed. */
static void writes_pipes_directly(void **state) {
    fixture *f = *state;
    const char *path = path_of(f, "pipe");
    assert_int_equal(mkfifo(path, 0600), 0);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    berth_text_append(f->text, "through", 7);
    assert_int_equal(berth_text_write(f->ctx, f->text, path), BERTH_OK);
    struct stat st;
    assert_int_equal(lstat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
    char got[16] = "";
    assert_int_equal(read(fd, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(fd);
    assert_int_equal(unlink(path), 0);
}

static void refuses_bad_paths(void **state) {
    fixture *f = *state;
    berth_text_append(f->text, "x", 1);
    static char long_path[9000];
    memset(long_path, 'a', sizeof long_path - 1);
    const char *const paths[] = {f->folder, path_of(f, "no/such/folder"), "/dev/null/x", "", long_path};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(berth_text_write(f->ctx, f->text, paths[i]), BERTH_E_IO);
        assert_non_null(strstr(berth_ctx_message(f->ctx), ": cannot write: "));
    }
}

/* A disk that is full in the middle: the old content stays, and no temporary is left (tear_down looks). */
static void failure_keeps_the_old_file(void **state) {
    fixture *f = *state;
    const char *path = path_of(f, "kept");
    berth_text_append(f->text, "old", 3);
    assert_int_equal(berth_text_write(f->ctx, f->text, path), BERTH_OK);
    /* A limit on the size of files makes write() stop short first and fail next. */
    for (int i = 0; i < 1000; i++) berth_text_append(f->text, "0123456789", 10);
    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGXFSZ, &ignore, &before);
    struct rlimit limit, old_limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old_limit), 0);
    limit = old_limit;
    limit.rlim_cur = 5000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    berth_status status = berth_text_write(f->ctx, f->text, path);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old_limit), 0);
    sigaction(SIGXFSZ, &before, NULL);
    assert_int_equal(status, BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "kept: cannot write: File too large"));
    check_file(path, "old");
    assert_int_equal(unlink(path), 0);
}

/* Runs `berth_text_write(..., "-")` with standard output replaced by fd. */
static berth_status write_to(const fixture *f, int fd) {
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    berth_status status = berth_text_write(f->ctx, f->text, "-");
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return status;
}

static void standard_output(void **state) {
    fixture *f = *state;
    int fds[2];
    char got[16] = "";
    berth_text_append(f->text, "to a pipe", 9);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write_to(f, fds[1]), BERTH_OK);
    assert_int_equal(read(fds[0], got, sizeof got), 9);
    assert_string_equal(got, "to a pipe");

    struct sigaction ignore = {.sa_handler = SIG_IGN}, before;
    sigaction(SIGPIPE, &ignore, &before);
    close(fds[0]);
    assert_int_equal(write_to(f, fds[1]), BERTH_E_IO);
    assert_string_equal(berth_ctx_message(f->ctx), "standard output: cannot write: Broken pipe");
    close(fds[1]);
    sigaction(SIGPIPE, &before, NULL);

    int full = open("/dev/full", O_WRONLY);
    assert_int_equal(write_to(f, full), BERTH_E_IO);
    assert_string_equal(berth_ctx_message(f->ctx), "standard output: cannot write: No space left on device");
    close(full);
}

static berth_status run_text(berth_ctx *ctx, void *user) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) {
        assert_null(text);
        return status;
    }
    for (int i = 0; i < 20; i++) berth_json_array_begin(text, NULL);
    for (int i = 0; i < 100; i++) berth_json_string(text, NULL, "a long enough string to make the text grow");
    for (int i = 0; i < 20; i++) berth_json_array_end(text);
    berth_text_printf(text, "%2000d", 1);
    status = berth_text_write(ctx, text, user);
    if (berth_text_status(text) != BERTH_OK) assert_int_equal(status, berth_text_status(text));
    assert_int_equal(strlen(berth_text_string(text)), berth_text_size(text));
    berth_text_free(text);
    return status;
}

static void ladder(void **state) {
    fixture *f = *state;
    char path[512];
    snprintf(path, sizeof path, "%s", path_of(f, "out"));
    assert_true(support_ladder(run_text, path, 1) > 8);
    assert_int_equal(unlink(path), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(starts_empty),
        CASE(appends),
        CASE(fills_to_the_brim),
        CASE(writes_json),
        CASE(writes_json_lines),
        CASE(escapes),
        CASE(refuses_misuse),
        CASE(nests_deeply),
        CASE(writes_files),
        CASE(writes_relative_names),
        CASE(writes_names_of_full_length),
        CASE(keeps_symbolic_links),
        CASE(writes_pipes_directly),
        CASE(refuses_bad_paths),
        CASE(failure_keeps_the_old_file),
        CASE(standard_output),
        CASE(ladder),
    };
    return cmocka_run_group_tests_name("base.text", tests, NULL, NULL);
}
