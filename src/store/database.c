/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a store. An application id in SQLite's header marks it as ours, user_version is the number of its schema,
 * and both are written in the transaction that makes the table: there is no half-made store.
 *
 * Only what is ours is ever moved or written. A file is ours if it has the mark, or if it lies where nobody but us puts
 * one. Users mistype paths: what BERTH_STORE=model.onnx names is left alone.
 *
 * The journal is SQLite's oldest kind, beside the file during a write. The newer write-ahead log needs memory shared
 * between processes, which network file systems do not have, and cannot be read in a read-only folder; its speed is of
 * no use to results that take seconds to make.
 *
 * Two processes that find the same damage must not both move the file, since the second one would move the first one's
 * new store. The folder is locked meanwhile, and whoever gets the lock looks again. */
#include "store/database.h"

#include "store/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { APPLICATION = 0x62727468 /* "brth" */, SCHEMA = 1, ROW_BESIDES_VALUE = 2 << 20 };

static const char schema[] = "PRAGMA application_id = 1651668072;"
                             "PRAGMA user_version = 1;"
                             "CREATE TABLE result ("
                             "kind TEXT NOT NULL, "
                             "key_sha256 BLOB NOT NULL, "
                             "key TEXT NOT NULL, "
                             "value BLOB NOT NULL, "
                             "value_sha256 BLOB NOT NULL, "
                             "made INTEGER NOT NULL, " /* seconds since 1970 */
                             "UNIQUE (kind, key_sha256))";

typedef struct header {
    int tables, application, version;
} header;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* May we wait once more? `turn` counts from 0. Sleeps, each turn a little longer. */
static int wait_turn(void *user, int turn) {
    enum { LONGEST_MS = 50 };
    berth_database *db = user;
    if (turn == 0) db->waiting_since = now();
    double patience = db->in_vain || berth_cancelled(db->ctx) ? 1 : db->patience;
    if (now() - db->waiting_since >= (patience < db->patience ? patience : db->patience)) {
        db->in_vain = true;
        return 0;
    }
    struct timespec pause = {.tv_nsec = 1000000L * (turn < LONGEST_MS ? turn + 1 : LONGEST_MS)};
    nanosleep(&pause, NULL);
    return 1;
}

static berth_database_state say(berth_database *db, berth_database_state state, const char *reason) {
    snprintf(db->reason, sizeof db->reason, "%s", reason);
    return state;
}

/* The mark, which can be read as long as the first hundred bytes are sound. */
static bool has_mark(berth_database *db) {
    sqlite3_stmt *query = NULL;
    bool found = db->handle && sqlite3_prepare_v2(db->handle, "PRAGMA application_id", -1, &query, NULL) == SQLITE_OK &&
                 sqlite3_step(query) == SQLITE_ROW && sqlite3_column_int(query, 0) == APPLICATION;
    sqlite3_finalize(query);
    return found;
}

/* What the system said, or 0. SQLite remembers it in two places, neither of which always has it. */
static int system_error(berth_database *db) {
    int error = db->handle ? sqlite3_system_errno(db->handle) : 0;
    if (db->handle && !error) sqlite3_file_control(db->handle, NULL, SQLITE_FCNTL_LAST_ERRNO, &error);
    return error;
}

berth_database_state berth_database_judge(berth_database *db, int error) {
    int system = system_error(db);
    switch (error & 0xff) {
    case SQLITE_NOMEM: return say(db, BERTH_DATABASE_NO_MEMORY, "out of memory");
    case SQLITE_BUSY: return say(db, BERTH_DATABASE_REFUSED, "another process keeps it locked");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR: /* the table is not there */
        if (db->location.is_default || has_mark(db)) return say(db, BERTH_DATABASE_DAMAGED, "is damaged");
        return say(db, BERTH_DATABASE_LEFT_ALONE, "is not a store of berth's, and is left alone");
    case SQLITE_READONLY:
        if (error == SQLITE_READONLY_DBMOVED) return say(db, BERTH_DATABASE_DAMAGED, "was removed");
        break;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
        if (system) return say(db, BERTH_DATABASE_REFUSED, strerror(system));
        break;
    default: break;
    }
    return say(db, BERTH_DATABASE_REFUSED, sqlite3_errstr(error));
}

static int run(berth_database *db, const char *sql) {
    return sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
}

/* In one statement, so that nobody begins a store between two of them. */
static int read_header(berth_database *db, header *out) {
    static const char sql[] = "SELECT (SELECT count(*) FROM sqlite_master), application_id, user_version "
                              "FROM pragma_application_id, pragma_user_version";
    sqlite3_stmt *query = NULL;
    int error = sqlite3_prepare_v2(db->handle, sql, -1, &query, NULL);
    if (error == SQLITE_OK) error = sqlite3_step(query);
    if (error == SQLITE_ROW)
        *out = (header){sqlite3_column_int(query, 0), sqlite3_column_int(query, 1), sqlite3_column_int(query, 2)};
    sqlite3_finalize(query);
    return error == SQLITE_ROW ? SQLITE_OK : error;
}

static bool is_empty(const header *h) {
    return h->tables == 0 && h->application == 0 && h->version == 0;
}

/* Makes the table unless another process was first. */
static int begin(berth_database *db, header *h) {
    int error = run(db, "BEGIN IMMEDIATE");
    if (error != SQLITE_OK) return error;
    error = read_header(db, h);
    if (error == SQLITE_OK && is_empty(h)) error = run(db, schema);
    if (error == SQLITE_OK) error = run(db, "COMMIT");
    if (error == SQLITE_OK) error = read_header(db, h);
    if (!sqlite3_get_autocommit(db->handle)) run(db, "ROLLBACK");
    return error;
}

/* Can the table be asked? */
static int probe(berth_database *db) {
    sqlite3_stmt *query = NULL;
    int error = sqlite3_prepare_v2(db->handle, "SELECT kind, key_sha256, key, value, value_sha256, made FROM result",
                                   -1, &query, NULL);
    sqlite3_finalize(query);
    return error;
}

static berth_database_state settle(berth_database *db) {
    header h = {0};
    int error = read_header(db, &h);
    if (error == SQLITE_OK && is_empty(&h)) error = begin(db, &h);
    if (error != SQLITE_OK) return berth_database_judge(db, error);
    if (h.application != APPLICATION)
        return say(db, BERTH_DATABASE_LEFT_ALONE, "is another program's database, and is left alone");
    if (h.version > SCHEMA)
        return say(db, BERTH_DATABASE_LEFT_ALONE, "was made by a newer version of berth, and is left alone");
    error = h.version == SCHEMA ? probe(db) : SQLITE_CORRUPT;
    return error == SQLITE_OK ? BERTH_DATABASE_OPEN : berth_database_judge(db, error);
}

/* A file may be anybody's: nothing in its schema is run, and no row makes us take much memory. */
static void configure(berth_database *db) {
    sqlite3_extended_result_codes(db->handle, 1);
    sqlite3_busy_handler(db->handle, wait_turn, db);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, BERTH_STORE_LARGEST + ROW_BESIDES_VALUE);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    run(db, "PRAGMA cell_size_check = ON");
}

/* A new file is made here, since SQLite forgets why it could not make one; but never opened: closing it would end the
 * locks that another store of this process has on it. */
static berth_database_state make_file(berth_database *db) {
    struct stat info;
    const char *path = db->location.path;
    if (mknod(path, S_IFREG | 0666, 0) != 0 && errno != EEXIST) return say(db, BERTH_DATABASE_REFUSED, strerror(errno));
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode))
        return say(db, BERTH_DATABASE_LEFT_ALONE, "is not a regular file");
    return BERTH_DATABASE_OPEN;
}

berth_database_state berth_database_open(berth_database *db) {
    berth_database_state state = make_file(db);
    if (state != BERTH_DATABASE_OPEN) return state;
    int error = sqlite3_open_v2(db->location.path, &db->handle,
                                SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    if (error == SQLITE_OK) configure(db);
    state = error == SQLITE_OK ? settle(db) : berth_database_judge(db, error);
    if (state != BERTH_DATABASE_OPEN) berth_database_close(db);
    return state;
}

void berth_database_close(berth_database *db) {
    sqlite3_close(db->handle);
    db->handle = NULL;
}

/* Reads all of the file: only for one that is under suspicion. */
static int check(berth_database *db) {
    sqlite3_stmt *query = NULL;
    int error = sqlite3_prepare_v2(db->handle, "PRAGMA quick_check(1)", -1, &query, NULL);
    if (error == SQLITE_OK) error = sqlite3_step(query);
    if (error == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(query, 0);
        error = text && strcmp(text, "ok") == 0 ? SQLITE_OK : SQLITE_CORRUPT;
    }
    sqlite3_finalize(query);
    return error;
}

/* False: another process has it. Where folders cannot be locked nobody does, and we go on. The lock ends with the
 * descriptor. */
static bool lock_folder(berth_database *db, int *fd) {
    char folder[PATH_MAX];
    const char *path = db->location.path, *end = strrchr(path, '/');
    int n = end == path ? 1 : (int)(end - path);
    *fd = -1;
    if (snprintf(folder, sizeof folder, "%.*s", n, path) < (int)sizeof folder)
        *fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int turn = 0; *fd >= 0 && flock(*fd, LOCK_EX | LOCK_NB) != 0; turn++) {
        if (errno != EWOULDBLOCK && errno != EINTR) return true;
        if (!wait_turn(db, turn)) return false;
    }
    return true;
}

/* With what lies beside it: a new file must not be taken for the one that an old journal belongs to. */
static int move_aside(const char *path, const char *aside) {
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    char from[PATH_MAX], to[PATH_MAX];
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        int n = snprintf(from, sizeof from, "%s%s", path, suffixes[i]);
        int m = snprintf(to, sizeof to, "%s%s", aside, suffixes[i]);
        if (n >= (int)sizeof from || m >= (int)sizeof to) return ENAMETOOLONG;
        if (rename(from, to) == 0) continue;
        if (errno != ENOENT) return errno;
        unlink(to);
    }
    return rename(path, aside) == 0 || errno == ENOENT ? 0 : errno;
}

/* Under the lock of the folder. */
static berth_database_state replace(berth_database *db, const char *aside, bool *moved) {
    berth_database_state state = berth_database_open(db);
    if (state == BERTH_DATABASE_OPEN) {
        int error = check(db);
        if (error != SQLITE_OK) state = berth_database_judge(db, error);
    }
    if (state != BERTH_DATABASE_DAMAGED) return state;
    berth_database_close(db);
    int error = move_aside(db->location.path, aside);
    if (error) return say(db, BERTH_DATABASE_REFUSED, strerror(error));
    *moved = true;
    return berth_database_open(db);
}

berth_database_state berth_database_renew(berth_database *db, const char *aside, bool *moved) {
    int lock = -1;
    *moved = false;
    berth_database_close(db);
    berth_database_state state =
        lock_folder(db, &lock) ? replace(db, aside, moved) : berth_database_judge(db, SQLITE_BUSY);
    if (state != BERTH_DATABASE_OPEN) berth_database_close(db);
    if (lock >= 0) close(lock);
    return state;
}
