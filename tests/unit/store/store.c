/* SPDX-License-Identifier: Apache-2.0 */
/* What a store keeps, where it lies, and what it leaves alone. */
#include "fixture.h"

#include <fcntl.h>
#include <sqlite3.h>

static void keeps_by_kind_and_key(void **state) {
    fixture *f = *state;
    const char *bytes;
    size_t n;
    reopen(f, f->path);
    assert_null(get(f, "a"));
    put(f, "a", "first");
    put(f, "b", "second");
    put(f, "", "of the empty key");
    put(f, "\xff\xfe no UTF-8", "third");
    assert_int_equal(berth_store_put(f->store, "profile", "a", "other kind", 10), BERTH_OK);
    put(f, "b", "second, again");
    for (int round = 0; round < 2; round++, reopen(f, f->path)) {
        expect(f, "a", "first");
        expect(f, "b", "second, again");
        expect(f, "", "of the empty key");
        expect(f, "\xff\xfe no UTF-8", "third");
        assert_null(get(f, "A"));
        assert_int_equal(berth_store_get(f->store, "profile", "a", &f->arena, &bytes, &n), BERTH_OK);
        assert_string_equal(bytes, "other kind");
        assert_int_equal(berth_store_get(f->store, "profile", "b", &f->arena, &bytes, &n), BERTH_OK);
        assert_null(bytes);
    }
    assert_string_equal(berth_store_path(f->store), f->path);
    assert_null(berth_store_trouble(f->store));
    assert_int_equal(f->n_warnings, 0);
}

static void keeps_any_bytes(void **state) {
    enum { N = 3 << 20 };
    static const char nul[] = {'a', 0, 'b', 0, 0};
    fixture *f = *state;
    const char *bytes;
    size_t n;
    reopen(f, f->path);
    assert_int_equal(berth_store_put(f->store, "run", "nul", nul, sizeof nul), BERTH_OK);
    assert_int_equal(berth_store_put(f->store, "run", "empty", NULL, 0), BERTH_OK);
    unsigned char *large = malloc(N);
    uint64_t random = 7;
    for (int i = 0; i < N; i++) large[i] = (unsigned char)support_random(&random);
    assert_int_equal(berth_store_put(f->store, "run", "large", large, N), BERTH_OK);
    reopen(f, f->path);
    assert_int_equal(berth_store_get(f->store, "run", "nul", &f->arena, &bytes, &n), BERTH_OK);
    assert_int_equal(n, sizeof nul);
    assert_memory_equal(bytes, nul, sizeof nul);
    assert_int_equal(berth_store_get(f->store, "run", "empty", &f->arena, &bytes, &n), BERTH_OK);
    assert_non_null(bytes);
    assert_int_equal(n, 0);
    assert_int_equal(berth_store_get(f->store, "run", "large", &f->arena, &bytes, &n), BERTH_OK);
    assert_int_equal(n, N);
    assert_memory_equal(bytes, large, N);
    free(large);
}

static void has_limits(void **state) {
    fixture *f = *state;
    const char *bytes;
    size_t n;
    reopen(f, f->path);
    char *large = calloc(1, BERTH_STORE_LARGEST + 1);
    large[BERTH_STORE_LARGEST - 1] = 'z';
    char *key = malloc(BERTH_STORE_LONGEST_KEY + 2);
    memset(key, 'k', BERTH_STORE_LONGEST_KEY + 1);
    key[BERTH_STORE_LONGEST_KEY + 1] = 0;
    assert_int_equal(berth_store_put(f->store, "run", key, "", 0), BERTH_E_LIMIT);
    key[BERTH_STORE_LONGEST_KEY] = 0;
    assert_int_equal(berth_store_put(f->store, "run", key, large, BERTH_STORE_LARGEST + 1), BERTH_E_LIMIT);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "67108865 bytes"));
    assert_null(get(f, key));
    size_t most = (size_t)BERTH_STORE_LARGEST >> (support_cases(2) == 2 ? 0 : 6); /* slow launchers get a smaller one */
    assert_int_equal(berth_store_put(f->store, "run", key, large + BERTH_STORE_LARGEST - most, most), BERTH_OK);
    assert_int_equal(berth_store_get(f->store, "run", key, &f->arena, &bytes, &n), BERTH_OK);
    assert_int_equal(n, most);
    assert_memory_equal(bytes, large + BERTH_STORE_LARGEST - most, n);
    free(large);
    free(key);
    static const char *const kinds[] = {"", "Run", "a b", "run;", "\xc3\xa4", "abcdefghijklmnopqrstuvwxyz1234567"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_int_equal(berth_store_put(f->store, kinds[i], "k", "v", 1), BERTH_E_ARG);
        assert_int_equal(berth_store_get(f->store, kinds[i], "k", &f->arena, &bytes, &n), BERTH_E_ARG);
        assert_int_equal(berth_store_forget(f->store, kinds[i], NULL), BERTH_E_ARG);
    }
    assert_int_equal(f->n_warnings, 0);
}

static void forgets(void **state) {
    fixture *f = *state;
    const char *bytes;
    size_t n;
    reopen(f, f->path);
    put(f, "a", "1");
    put(f, "b", "2");
    put(f, "c", "3");
    assert_int_equal(berth_store_put(f->store, "profile", "a", "4", 1), BERTH_OK);
    assert_int_equal(berth_store_forget(f->store, "run", "a"), BERTH_OK);
    assert_int_equal(berth_store_forget(f->store, "run", "nothing"), BERTH_OK);
    assert_null(get(f, "a"));
    expect(f, "b", "2");
    assert_int_equal(berth_store_forget(f->store, "run", NULL), BERTH_OK);
    assert_null(get(f, "b"));
    assert_null(get(f, "c"));
    assert_int_equal(berth_store_get(f->store, "profile", "a", &f->arena, &bytes, &n), BERTH_OK);
    assert_string_equal(bytes, "4");
}

static void lies_at(fixture *f, const char *relative) {
    char path[1200];
    snprintf(path, sizeof path, "%s/%s", f->folder, relative);
    assert_int_not_equal(access(path, F_OK), 0);
    reopen(f, NULL);
    put(f, "a", "1");
    assert_int_equal(f->n_warnings, 0);
    assert_int_equal(access(path, F_OK), 0);
}

static void lies_where_the_environment_says(void **state) {
    fixture *f = *state;
    char path[1200];
    snprintf(path, sizeof path, "%s/home", f->folder);
    unsetenv("BERTH_STORE");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", path, 1);
    lies_at(f, "home/.cache/berth/store.sqlite");
    snprintf(path, sizeof path, "%s/cache", f->folder);
    setenv("XDG_CACHE_HOME", path, 1);
    lies_at(f, "cache/berth/store.sqlite");
    snprintf(path, sizeof path, "%s/deep/er/own", f->folder);
    setenv("BERTH_STORE", path, 1);
    lies_at(f, "deep/er/own");
    setenv("BERTH_STORE", "none", 1);
    reopen(f, NULL);
    put(f, "a", "1");
    assert_null(get(f, "a"));
    assert_null(berth_store_path(f->store));
    assert_int_equal(f->n_warnings, 0); /* as it was asked for */
    setenv("BERTH_STORE", "", 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    reopen(f, NULL);
    expect(f, "a", "1");
    unsetenv("HOME");
    reopen(f, NULL);
    put(f, "a", "1");
    assert_null(get(f, "a"));
    expect_warning(f, "HOME is not set");
}

/* Names that SQLite gives a meaning to are names of files. */
static void names_are_only_names(void **state) {
    static const char *const names[] = {":memory:", "file:x?mode=memory", "./none", "a b'\"%3f?#"};
    fixture *f = *state;
    char before[1024];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        reopen(f, names[i]);
        put(f, "a", names[i]);
        assert_int_equal(access(names[i], F_OK), 0);
        reopen(f, names[i]);
        expect(f, "a", names[i]);
    }
    berth_store_close(f->store);
    assert_int_equal(berth_store_open(f->ctx, &f->store, ""), BERTH_E_ARG);
    assert_null(f->store);
    assert_int_equal(chdir(before), 0);
}

static void run_sql(const char *path, const char *sql) {
    sqlite3 *db = NULL;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK) fail_msg("%s: %s", sql, message);
    sqlite3_close(db);
}

static size_t read_all(const char *path, char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    fclose(file);
    return n;
}

/* Opened, used and closed, the file is as it was. */
static void is_left_alone(fixture *f, const char *why) {
    static char before[1 << 20], after[1 << 20];
    char aside[700];
    size_t n = read_all(f->path, before, sizeof before);
    reopen(f, f->path);
    expect_warning(f, why);
    assert_non_null(strstr(berth_store_trouble(f->store), why));
    assert_null(berth_store_path(f->store));
    put(f, "a", "1");
    assert_null(get(f, "a"));
    assert_int_equal(berth_store_forget(f->store, "run", NULL), BERTH_OK);
    assert_int_equal(f->n_warnings, 0);
    reopen(f, "none");
    assert_int_equal(read_all(f->path, after, sizeof after), n);
    assert_memory_equal(before, after, n);
    snprintf(aside, sizeof aside, "%s.corrupt", f->path);
    assert_int_not_equal(access(aside, F_OK), 0);
}

static void leaves_others_alone(void **state) {
    fixture *f = *state;
    run_sql(f->path, "CREATE TABLE places (url TEXT); INSERT INTO places VALUES ('x')");
    is_left_alone(f, "is another program's database");
    run_sql(f->path, "PRAGMA application_id = 77");
    is_left_alone(f, "is another program's database");
    FILE *file = fopen(f->path, "wb");
    for (int i = 0; i < 3000; i++) fprintf(file, "Chapter %d. ", i);
    fclose(file);
    is_left_alone(f, "is not a store of berth's");
}

static void leaves_newer_ones_alone(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    put(f, "a", "1");
    reopen(f, "none");
    run_sql(f->path, "PRAGMA user_version = 2");
    is_left_alone(f, "newer version");
    run_sql(f->path, "DROP TABLE result");
    is_left_alone(f, "newer version");
}

static void leaves_special_files_alone(void **state) {
    fixture *f = *state;
    reopen(f, "/dev/null");
    expect_warning(f, "/dev/null is not a regular file");
    put(f, "a", "1");
    reopen(f, f->folder);
    expect_warning(f, "is not a regular file");
    assert_int_equal(mkfifo(f->path, 0600), 0);
    reopen(f, f->path);
    expect_warning(f, "is not a regular file");
    char below[700];
    snprintf(below, sizeof below, "%s/below/store", f->path);
    reopen(f, below);
    expect_warning(f, "cannot make the folder");
}

static void an_empty_file_is_begun(void **state) {
    fixture *f = *state;
    close(open(f->path, O_CREAT | O_WRONLY, 0600));
    reopen(f, f->path);
    put(f, "a", "1");
    reopen(f, f->path);
    expect(f, "a", "1");
    assert_int_equal(f->n_warnings, 0);
}

/* The format is documented: another program reads it, and what does not fit its digest is not used. */
static void digests_are_held(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    put(f, "abc", "value");
    put(f, "good", "value");
    sqlite3 *db = NULL;
    sqlite3_stmt *query = NULL;
    assert_int_equal(sqlite3_open(f->path, &db), SQLITE_OK);
    const char sql[] = "SELECT count(*) FROM result WHERE kind = 'run' AND key = 'abc' AND value = x'76616c7565' AND "
                       "key_sha256 = x'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad' AND "
                       "value_sha256 = x'cd42404d52ad55ccfa9aca4adc828aa5800ad9d385a0671fbcbf724118320619' AND "
                       "abs(made - strftime('%s', 'now')) < 1000";
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(query), SQLITE_ROW);
    assert_int_equal(sqlite3_column_int(query, 0), 1);
    sqlite3_finalize(query);
    sqlite3_close(db);
    run_sql(f->path, "UPDATE result SET value = x'76616c7566' WHERE key = 'abc'");
    assert_null(get(f, "abc"));
    assert_null(get(f, "abc"));
    expect_warning(f, "has changed since it was kept");
    expect(f, "good", "value");
    put(f, "abc", "anew");
    expect(f, "abc", "anew");
}

static berth_status use(berth_ctx *ctx, void *user) {
    const char *bytes = NULL;
    size_t n;
    berth_arena arena;
    berth_store *store = NULL;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_store_open(ctx, &store, user);
    if (status == BERTH_OK) status = berth_store_put(store, "run", "a", "1", 1);
    if (status == BERTH_OK) status = berth_store_get(store, "run", "a", &arena, &bytes, &n);
    if (status == BERTH_OK) assert_string_equal(bytes, "1");
    if (status == BERTH_OK) status = berth_store_forget(store, "run", "a");
    berth_store_close(store);
    berth_arena_deinit(&arena);
    return status;
}

static void survives_failing_allocations(void **state) {
    fixture *f = *state;
    assert_true(support_ladder(use, f->path, 1) > 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(keeps_by_kind_and_key),
        TEST(keeps_any_bytes),
        TEST(has_limits),
        TEST(forgets),
        TEST(lies_where_the_environment_says),
        TEST(names_are_only_names),
        TEST(leaves_others_alone),
        TEST(leaves_newer_ones_alone),
        TEST(leaves_special_files_alone),
        TEST(an_empty_file_is_begun),
        TEST(digests_are_held),
        TEST(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
