/* SPDX-License-Identifier: Apache-2.0 */
/* A store in a folder of its own, and its warnings. */
#ifndef BERTH_TESTS_STORE_FIXTURE_H
#define BERTH_TESTS_STORE_FIXTURE_H

#ifndef _GNU_SOURCE
#define _XOPEN_SOURCE 700 /* nftw */
#endif
#include "store/store.h"

#include "support.h"

#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    berth_store *store;
    char folder[512], path[600];
    int n_warnings;
    char warning[2048]; /* the last */
} fixture;

static void on_log(void *user, berth_log_level level, const char *message) {
    fixture *f = user;
    if (level != BERTH_LOG_WARNING) return;
    f->n_warnings++;
    snprintf(f->warning, sizeof f->warning, "%s", message);
}

/* The context and what hangs on it; a forked process makes its own. */
static inline void begin(fixture *f) {
    if (berth_ctx_new(&f->ctx, NULL) != BERTH_OK) abort();
    berth_ctx_set_log(f->ctx, on_log, f);
    berth_arena_init(&f->arena, berth_ctx_allocator(f->ctx));
    f->store = NULL;
    f->n_warnings = 0;
    f->warning[0] = 0;
}

static inline int set_up(void **state) {
    static fixture f;
    const char *folder = getenv("TMPDIR");
    snprintf(f.folder, sizeof f.folder, "%s/berth-store-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(f.folder)) return -1;
    chmod(f.folder, 0755);
    snprintf(f.path, sizeof f.path, "%s/store.sqlite", f.folder);
    begin(&f);
    *state = &f;
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *at) {
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void end(fixture *f) {
    berth_store_close(f->store);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
}

static inline int tear_down(void **state) {
    fixture *f = *state;
    end(f);
    return nftw(f->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline void reopen(fixture *f, const char *path) {
    berth_store_close(f->store);
    assert_int_equal(berth_store_open(f->ctx, &f->store, path), BERTH_OK);
}

static inline void put(fixture *f, const char *key, const char *value) {
    assert_int_equal(berth_store_put(f->store, "run", key, value, strlen(value)), BERTH_OK);
}

/* NULL: not there. */
static inline const char *get(fixture *f, const char *key) {
    const char *bytes = NULL;
    size_t n = 0;
    assert_int_equal(berth_store_get(f->store, "run", key, &f->arena, &bytes, &n), BERTH_OK);
    if (bytes) assert_int_equal(strlen(bytes), n);
    return bytes;
}

static inline void expect(fixture *f, const char *key, const char *value) {
    const char *bytes = get(f, key);
    if (!bytes) fail_msg("%s is not there", key);
    assert_string_equal(bytes, value);
}

/* One warning since the last time, with these words. */
static inline void expect_warning(fixture *f, const char *fragment) {
    if (f->n_warnings != 1 || !strstr(f->warning, fragment))
        fail_msg("%d warnings, the last one '%s', not one with '%s'", f->n_warnings, f->warning, fragment);
    f->n_warnings = 0;
}

#endif
