/* SPDX-License-Identifier: Apache-2.0 */
/* Results in a table of SQLite's. A row is found by the SHA-256 of its key, which is also there as text; the bytes have
 * a SHA-256 of their own, since SQLite does not notice when a disk changes them.
 *
 * Every put is a transaction, so that a process may die at any moment. What goes wrong is told once for reading and
 * once for writing, and never ends a run. Writing is tried again with the next result: a disk that was full may have
 * room by then. */
#include "store/store.h"

#include "base/sha256.h"
#include "store/database.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TROUBLE_SIZE = 1024 };
static const double default_patience = 20;

struct berth_store {
    berth_ctx *ctx;
    berth_arena arena; /* the paths */
    berth_database db; /* not open: nothing is kept */
    const char *aside; /* where a damaged file goes */
    bool renewed;      /* at most once, so that a failing disk does not make us go round in circles */
    bool told_reading, told_writing;
    char trouble[TROUBLE_SIZE];
};

/* The parts of a row; the value only for writing. */
typedef struct row {
    const char *kind, *key;
    unsigned char key_sha256[BERTH_SHA256_SIZE];
    const void *value;
    size_t n;
    unsigned char value_sha256[BERTH_SHA256_SIZE];
} row;

static void hash(const void *bytes, size_t n, unsigned char digest[BERTH_SHA256_SIZE]) {
    berth_sha256 sha;
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, bytes, n);
    berth_sha256_finish(&sha, digest);
}

static void warn(berth_store *store, const char *format, ...) BERTH_PRINTF(2, 3);

static void warn(berth_store *store, const char *format, ...) {
    char text[TROUBLE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!*store->trouble) memcpy(store->trouble, text, sizeof text);
    berth_log(store->ctx, BERTH_LOG_WARNING, "%s", text);
}

/* A damaged file gives way to a new one, once. True: the database is open. */
static bool renew(berth_store *store) {
    bool moved = false;
    if (store->renewed) return false;
    store->renewed = true;
    const char *path = store->db.location.path;
    berth_database_state state = berth_database_renew(&store->db, store->aside, &moved);
    if (moved)
        warn(store, "%.400s is damaged: it is now %.400s, and a new one begins", path, store->aside);
    else if (state != BERTH_DATABASE_OPEN)
        warn(store, "%.600s: is damaged or gone, and cannot be replaced: %s", path, store->db.reason);
    return state == BERTH_DATABASE_OPEN;
}

static berth_status attach(berth_store *store) {
    const char *path = store->db.location.path;
    const char *folder = berth_location_make(&store->arena, path);
    if (store->arena.failed) return berth_fail_nomem(store->ctx);
    if (folder) {
        warn(store, "cannot make the folder %.600s: %s; results are not kept", folder, strerror(errno));
        return BERTH_OK;
    }
    switch (berth_database_open(&store->db)) {
    case BERTH_DATABASE_OPEN: break;
    case BERTH_DATABASE_NO_MEMORY: return berth_fail_nomem(store->ctx);
    case BERTH_DATABASE_DAMAGED: renew(store); break;
    case BERTH_DATABASE_LEFT_ALONE: warn(store, "%.600s %s; results are not kept", path, store->db.reason); break;
    case BERTH_DATABASE_REFUSED:
        warn(store, "%.600s: cannot open: %s; results are not kept", path, store->db.reason);
        break;
    }
    return BERTH_OK;
}

berth_status berth_store_open(berth_ctx *ctx, berth_store **out, const char *path) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    *out = NULL;
    berth_store *store = berth_resize(allocator, NULL, 0, 1, sizeof *store);
    if (!store) return berth_fail_nomem(ctx);
    store->ctx = ctx;
    store->db.ctx = ctx;
    store->db.patience = default_patience;
    berth_arena_init(&store->arena, allocator);
    berth_status status = berth_location_find(ctx, &store->arena, path, &store->db.location);
    if (status == BERTH_OK && store->db.location.path) {
        store->aside = berth_arena_printf(&store->arena, "%s.corrupt", store->db.location.path);
        status = store->aside ? attach(store) : berth_fail_nomem(ctx);
    }
    if (status == BERTH_OK)
        *out = store;
    else
        berth_store_close(store);
    return status;
}

void berth_store_close(berth_store *store) {
    if (!store) return;
    berth_database_close(&store->db);
    berth_arena_deinit(&store->arena);
    berth_resize(berth_ctx_allocator(store->ctx), store, 1, 0, sizeof *store);
}

const char *berth_store_path(const berth_store *store) {
    return store->db.handle ? store->db.location.path : NULL;
}

const char *berth_store_trouble(const berth_store *store) {
    return *store->trouble ? store->trouble : NULL;
}

void berth_store_set_patience(berth_store *store, double seconds) {
    store->db.patience = seconds;
}

static berth_status name_row(berth_store *store, const char *kind, const char *key, row *out) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-_";
    size_t n = strlen(kind);
    *out = (row){.kind = kind, .key = key};
    if (n == 0 || n > BERTH_STORE_LONGEST_KIND || strspn(kind, letters) != n)
        return berth_fail(store->ctx, BERTH_E_ARG, "no kind of result is called '%.100s'", kind);
    if (!key) return BERTH_OK;
    n = strnlen(key, BERTH_STORE_LONGEST_KEY + 1);
    if (n > BERTH_STORE_LONGEST_KEY)
        return berth_fail(store->ctx, BERTH_E_LIMIT, "the key of a result has more than %d bytes",
                          BERTH_STORE_LONGEST_KEY);
    hash(key, n, out->key_sha256);
    return BERTH_OK;
}

/* ?1 is the kind, ?2 the key's digest, ?3 the key. */
static int prepare(berth_store *store, const char *sql, const row *r, sqlite3_stmt **out) {
    int error = sqlite3_prepare_v2(store->db.handle, sql, -1, out, NULL);
    if (error == SQLITE_OK) error = sqlite3_bind_text(*out, 1, r->kind, -1, SQLITE_STATIC);
    if (error != SQLITE_OK || !r->key) return error;
    error = sqlite3_bind_blob(*out, 2, r->key_sha256, sizeof r->key_sha256, SQLITE_STATIC);
    return error == SQLITE_OK ? sqlite3_bind_text(*out, 3, r->key, -1, SQLITE_STATIC) : error;
}

static int bind_value(sqlite3_stmt *query, const row *r) {
    int error =
        r->n ? sqlite3_bind_blob(query, 4, r->value, (int)r->n, SQLITE_STATIC) : sqlite3_bind_zeroblob(query, 4, 0);
    if (error == SQLITE_OK) error = sqlite3_bind_blob(query, 5, r->value_sha256, sizeof r->value_sha256, SQLITE_STATIC);
    return error == SQLITE_OK ? sqlite3_bind_int64(query, 6, (sqlite3_int64)time(NULL)) : error;
}

/* One statement without an answer. */
static int change(berth_store *store, const char *sql, const row *r, bool has_value) {
    sqlite3_stmt *query = NULL;
    int error = prepare(store, sql, r, &query);
    if (error == SQLITE_OK && has_value) error = bind_value(query, r);
    if (error == SQLITE_OK) error = sqlite3_step(query);
    sqlite3_finalize(query);
    if (error == SQLITE_DONE) store->db.in_vain = false;
    return error == SQLITE_DONE ? SQLITE_OK : error;
}

/* The columns of a row that was found; SQLITE_DONE if the bytes are not those that were kept. */
static int take(sqlite3_stmt *query, berth_arena *arena, const char **bytes, size_t *n) {
    unsigned char digest[BERTH_SHA256_SIZE];
    const void *value = sqlite3_column_blob(query, 0);
    size_t size = (size_t)sqlite3_column_bytes(query, 0);
    const void *expected = sqlite3_column_blob(query, 1);
    if (!value && size > 0) return SQLITE_NOMEM;
    hash(size ? value : "", size, digest);
    if (!expected || sqlite3_column_bytes(query, 1) != sizeof digest || memcmp(expected, digest, sizeof digest) != 0)
        return SQLITE_DONE;
    *bytes = berth_arena_string(arena, value, size);
    *n = size;
    return *bytes ? SQLITE_ROW : SQLITE_NOMEM;
}

/* SQLITE_OK: found, or not there. */
static int find(berth_store *store, const row *r, berth_arena *arena, const char **bytes, size_t *n) {
    static const char sql[] = "SELECT value, value_sha256 FROM result WHERE kind = ?1 AND key_sha256 = ?2 AND key = ?3";
    sqlite3_stmt *query = NULL;
    int error = prepare(store, sql, r, &query);
    if (error == SQLITE_OK) error = sqlite3_step(query);
    bool found = error == SQLITE_ROW;
    if (found) error = take(query, arena, bytes, n);
    sqlite3_finalize(query);
    if (found && error == SQLITE_DONE && !store->told_reading) {
        store->told_reading = true;
        warn(store, "%.600s: a result has changed since it was kept; it is not used", store->db.location.path);
    }
    return error == SQLITE_ROW || error == SQLITE_DONE ? SQLITE_OK : error;
}

/* What an error means to the caller; told once. *again: the database was renewed, the same may succeed now. */
static berth_status settle(berth_store *store, int error, bool *told, const char *verb, bool *again) {
    *again = false;
    if (error == SQLITE_OK) return BERTH_OK;
    berth_database_state state = berth_database_judge(&store->db, error);
    if (state == BERTH_DATABASE_NO_MEMORY) return berth_fail_nomem(store->ctx);
    if (state == BERTH_DATABASE_DAMAGED && !store->renewed) {
        *again = renew(store);
        return BERTH_OK;
    }
    if (!*told)
        warn(store, "%.600s: cannot %s results: %s; going on without", store->db.location.path, verb, store->db.reason);
    *told = true;
    return BERTH_OK;
}

berth_status berth_store_get(berth_store *store, const char *kind, const char *key, berth_arena *arena,
                             const char **bytes, size_t *n) {
    row r;
    bool again = true;
    berth_status status = BERTH_OK;
    *bytes = NULL;
    *n = 0;
    BERTH_TRY(name_row(store, kind, key, &r));
    while (store->db.handle && again && status == BERTH_OK)
        status = settle(store, find(store, &r, arena, bytes, n), &store->told_reading, "read", &again);
    return status;
}

berth_status berth_store_put(berth_store *store, const char *kind, const char *key, const void *bytes, size_t n) {
    static const char sql[] = "INSERT OR REPLACE INTO result (kind, key_sha256, key, value, value_sha256, made) "
                              "VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    row r;
    bool again = true;
    berth_status status = BERTH_OK;
    BERTH_TRY(name_row(store, kind, key, &r));
    if (n > BERTH_STORE_LARGEST)
        return berth_fail(store->ctx, BERTH_E_LIMIT, "a result of %zu bytes is too large to be kept: at most %d", n,
                          BERTH_STORE_LARGEST);
    r.value = bytes;
    r.n = n;
    hash(n ? bytes : "", n, r.value_sha256);
    while (store->db.handle && again && status == BERTH_OK)
        status = settle(store, change(store, sql, &r, true), &store->told_writing, "keep", &again);
    return status;
}

berth_status berth_store_forget(berth_store *store, const char *kind, const char *key) {
    static const char one[] = "DELETE FROM result WHERE kind = ?1 AND key_sha256 = ?2 AND key = ?3";
    static const char all[] = "DELETE FROM result WHERE kind = ?1";
    row r;
    BERTH_TRY(name_row(store, kind, key, &r));
    if (!store->db.handle) return BERTH_OK;
    int error = change(store, key ? one : all, &r, false);
    if (error == SQLITE_OK) return BERTH_OK;
    berth_database_state state = berth_database_judge(&store->db, error);
    if (state == BERTH_DATABASE_NO_MEMORY) return berth_fail_nomem(store->ctx);
    if (state == BERTH_DATABASE_DAMAGED && renew(store)) return BERTH_OK; /* with everything else */
    return berth_fail(store->ctx, BERTH_E_IO, "%.600s: cannot forget results: %s", store->db.location.path,
                      store->db.reason);
}
