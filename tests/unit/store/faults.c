/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that share a store, are killed, find no room, no permission or a damaged file. What the tests do to a store
 * they do in processes of their own, which answer by their exit status. */
#define _GNU_SOURCE /* unshare */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

enum { NOBODY = 65534, CANNOT = 77 };

/* Inside a child, which has no test to fail: says what is wrong, and ends. */
#define REQUIRE(what)                                                 \
    do {                                                              \
        if (!(what)) {                                                \
            fprintf(stderr, "child, line %d: %s\n", __LINE__, #what); \
            _exit(1);                                                 \
        }                                                             \
    } while (0)

typedef void (*part)(fixture *f, int number);

/* A context of its own, as threads and processes have. */
static pid_t start(const fixture *f, part run, int number) {
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0) return pid;
    fixture own = *f;
    begin(&own);
    run(&own, number);
    end(&own);
    _exit(0);
}

static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The value of a number: its size and every byte follow from it. */
static size_t value_size(int number) {
    uint64_t random = (uint64_t)number;
    return support_below(&random, number % 8 ? 2000 : 200000);
}

static char *make_value(int number) {
    uint64_t random = (uint64_t)number * 77;
    size_t n = value_size(number);
    char *bytes = malloc(n + 1);
    for (size_t i = 0; i < n; i++) bytes[i] = (char)support_random(&random);
    return bytes;
}

static bool put_number(fixture *f, int number) {
    char key[32], *value = make_value(number);
    snprintf(key, sizeof key, "number %d", number);
    bool kept = berth_store_put(f->store, "run", key, value, value_size(number)) == BERTH_OK && f->n_warnings == 0;
    free(value);
    return kept;
}

/* 1: there and right; 0: not there; -1: wrong. */
static int look_up(fixture *f, int number) {
    char key[32], *value = make_value(number);
    const char *bytes = NULL;
    size_t n = 0;
    snprintf(key, sizeof key, "number %d", number);
    berth_mark mark = berth_arena_mark(&f->arena);
    berth_status status = berth_store_get(f->store, "run", key, &f->arena, &bytes, &n);
    bool same = bytes && n == value_size(number) && memcmp(bytes, value, n) == 0;
    berth_arena_release(&f->arena, mark);
    free(value);
    return status != BERTH_OK ? -1 : !bytes ? 0 : same ? 1 : -1;
}

/* By which a child tells how far it is. */
static int told[2];

/* Numbers from `first` on, without end. */
static void put_and_tell(fixture *f, int first) {
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK);
    for (int number = first;; number++) {
        REQUIRE(put_number(f, number));
        REQUIRE(write(told[1], &number, sizeof number) == sizeof number);
    }
}

static void completed_puts_outlive_a_kill(void **state) {
    enum { STRIDE = 1000000 };
    fixture *f = *state;
    uint64_t random = 1;
    int hot = 0, total = 0, rounds = support_cases(60);
    for (int round = 0; round < rounds; round++) {
        char journal[700];
        int first = round * STRIDE, next = first, number;
        assert_int_equal(pipe(told), 0);
        pid_t pid = start(f, put_and_tell, first);
        close(told[1]);
        /* After the first answer, so that the moment falls among the puts however slow the machine is. */
        while (next == first && read(told[0], &number, sizeof number) == (ssize_t)sizeof number) next = number + 1;
        usleep(support_below(&random, 80000));
        kill(pid, SIGKILL);
        assert_int_equal(wait_for(pid), 128 + SIGKILL);
        while (read(told[0], &number, sizeof number) == (ssize_t)sizeof number) next = number + 1;
        close(told[0]);
        snprintf(journal, sizeof journal, "%s-journal", f->path);
        hot += access(journal, F_OK) == 0;
        reopen(f, f->path);
        for (number = first; number < next; number++)
            if (look_up(f, number) != 1) fail_msg("round %d: number %d of %d", round, number - first, next - first);
        assert_true(look_up(f, next) >= 0); /* it may have been kept, but not told */
        assert_int_equal(look_up(f, next + 1), 0);
        assert_int_equal(f->n_warnings, 0);
        total += next - first;
    }
    printf("%d puts in %d processes, %d of them killed while they wrote\n", total, rounds, hot);
}

/* SQLite's calls of the system, of which the one numbered `steps` is half done when the process is killed. */
static int steps;

static void step(int fd, const void *bytes, size_t n, off_t offset) {
    if (steps-- > 0) return;
    if (n > 0 && pwrite(fd, bytes, n / 2, offset) < 0) _exit(1);
    raise(SIGKILL);
}

static ssize_t step_pwrite(int fd, const void *bytes, size_t n, off_t offset) {
    step(fd, bytes, n, offset);
    return pwrite(fd, bytes, n, offset);
}

static ssize_t step_write(int fd, const void *bytes, size_t n) {
    step(fd, bytes, n, lseek(fd, 0, SEEK_CUR));
    return write(fd, bytes, n);
}

static int step_truncate(int fd, off_t size) {
    step(fd, NULL, 0, 0);
    return ftruncate(fd, size);
}

static int step_unlink(const char *path) {
    step(-1, NULL, 0, 0);
    return unlink(path);
}

/* A value of 29999 letters, which say how far it got. */
static void put_and_die(fixture *f, int at) {
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    REQUIRE(vfs && vfs->xSetSystemCall);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)step_pwrite);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)step_pwrite);
    vfs->xSetSystemCall(vfs, "write", (sqlite3_syscall_ptr)step_write);
    vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)step_truncate);
    REQUIRE(vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)step_unlink) == SQLITE_OK);
    steps = at;
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK && f->n_warnings == 0);
    char value[30000];
    memset(value, 'a' + at % 26, sizeof value - 1);
    value[sizeof value - 1] = 0;
    REQUIRE(berth_store_put(f->store, "run", "changing", value, sizeof value - 1) == BERTH_OK && f->n_warnings == 0);
}

/* Killed in every step of beginning a store and of changing a value in it. */
static void every_step_may_be_the_last(void **state) {
    fixture *f = *state;
    int begun = 0, changed = 0, last = -1, status;
    do {
        status = wait_for(start(f, put_and_die, begun));
        if (status) assert_int_equal(status, 128 + SIGKILL);
        reopen(f, f->path);
        put(f, "other", "1");
        const char *value = get(f, "changing");
        assert_true(value ? strlen(value) == 29999 : status != 0);
        reopen(f, "none");
        if (status) unlink(f->path);
        last = begun++;
    } while (status);
    do {
        status = wait_for(start(f, put_and_die, changed));
        if (status) assert_int_equal(status, 128 + SIGKILL);
        reopen(f, f->path);
        expect(f, "other", "1");
        const char *value = get(f, "changing");
        assert_non_null(value);
        assert_int_equal(strlen(value), 29999);
        if (status == 0 || value[0] == 'a' + changed % 26) last = changed; /* the kill came after the commit */
        assert_int_equal(value[0], 'a' + last % 26);
        changed++;
    } while (status);
    assert_int_equal(f->n_warnings, 0);
    printf("%d steps to begin a store and put, %d to change a value\n", begun - 1, changed - 1);
    assert_true(begun > 5 && changed > 5);
}

enum { PUTS = 15, WRITERS = 4 };

static void put_some(fixture *f, int writer) {
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK);
    berth_store_set_patience(f->store, 300);
    for (int i = 0; i < PUTS; i++) {
        REQUIRE(put_number(f, writer * PUTS + i));
        REQUIRE(put_number(f, 1000000 + i)); /* which all of them write */
        REQUIRE(look_up(f, writer * PUTS + i) == 1);
        REQUIRE(look_up(f, 1000000 + i) == 1);
    }
}

/* They also begin it together. */
static void processes_share_one(void **state) {
    fixture *f = *state;
    pid_t pids[WRITERS];
    for (int w = 0; w < WRITERS; w++) pids[w] = start(f, put_some, w);
    for (int w = 0; w < WRITERS; w++) assert_int_equal(wait_for(pids[w]), 0);
    reopen(f, f->path);
    for (int i = 0; i < WRITERS * PUTS; i++) assert_int_equal(look_up(f, i), 1);
    for (int i = 0; i < PUTS; i++) assert_int_equal(look_up(f, 1000000 + i), 1);
}

/* Holds a lock until it is killed, or for so many milliseconds. */
static const char *lock_statement;

static void hold(fixture *f, int ms) {
    sqlite3 *db = NULL;
    REQUIRE(sqlite3_open(f->path, &db) == SQLITE_OK);
    REQUIRE(sqlite3_exec(db, lock_statement, NULL, NULL, NULL) == SQLITE_OK);
    REQUIRE(write(told[1], "x", 1) == 1);
    usleep(1000 * (useconds_t)ms);
    sqlite3_close(db);
}

static pid_t start_holding(fixture *f, const char *statement, int ms) {
    char byte;
    lock_statement = statement;
    assert_int_equal(pipe(told), 0);
    pid_t pid = start(f, hold, ms);
    assert_int_equal(read(told[0], &byte, 1), 1);
    close(told[0]);
    close(told[1]);
    return pid;
}

static void waits_for_another_writer(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    put(f, "a", "1");
    berth_store_set_patience(f->store, 300);
    pid_t pid = start_holding(f, "BEGIN EXCLUSIVE", 400);
    expect(f, "a", "1");
    assert_int_equal(wait_for(pid), 0);
    pid = start_holding(f, "BEGIN IMMEDIATE", 400);
    put(f, "b", "2");
    assert_int_equal(wait_for(pid), 0);
    assert_int_equal(f->n_warnings, 0);
    expect(f, "b", "2");
}

static bool yes(void *user) {
    (void)user;
    return true;
}

static void waiting_has_an_end(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    put(f, "a", "1");
    pid_t pid = start_holding(f, "BEGIN EXCLUSIVE", 1000000);
    berth_store_set_patience(f->store, 0.2);
    double from = now();
    put(f, "b", "2");
    expect_warning(f, "cannot keep results: another process keeps it locked");
    assert_null(get(f, "a"));
    expect_warning(f, "cannot read results: another process keeps it locked");
    put(f, "b", "2");
    assert_null(get(f, "a"));
    assert_int_equal(f->n_warnings, 0); /* told once */
    assert_int_equal(berth_store_forget(f->store, "run", "a"), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "cannot forget results: another process"));
    assert_true(now() - from < 60);
    berth_store_set_patience(f->store, 1e6); /* but one wait was in vain, and then the run is cancelled */
    put(f, "b", "2");
    reopen(f, "none");
    berth_ctx_set_cancel(f->ctx, yes, NULL);
    reopen(f, f->path);
    expect_warning(f, "cannot open: another process keeps it locked");
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
    kill(pid, SIGKILL);
    wait_for(pid);
    reopen(f, f->path);
    expect(f, "a", "1");
    assert_null(get(f, "b"));
    put(f, "b", "2");
    assert_int_equal(f->n_warnings, 0);
}

/* As long as there is room every put is kept; then one warning, and what was kept is still there. */
static void fill(fixture *f, const char *why, void (*make_room)(fixture *f)) {
    int number = 0;
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK && f->n_warnings == 0);
    while (number < 100000 && put_number(f, number)) number++;
    REQUIRE(number > 3);
    if (f->n_warnings != 1 || !strstr(f->warning, why)) fprintf(stderr, "%d: %s\n", f->n_warnings, f->warning);
    REQUIRE(f->n_warnings == 1 && strstr(f->warning, why) && strstr(f->warning, "cannot keep results"));
    for (int i = 0; i < number; i++) REQUIRE(look_up(f, i) == 1);
    REQUIRE(look_up(f, number) == 0);
    put_number(f, 8); /* a large one again */
    put_number(f, 16);
    REQUIRE(f->n_warnings == 1);
    for (int i = 0; i < number; i++) REQUIRE(look_up(f, i) == 1);
    berth_store_close(f->store);
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK);
    for (int i = 0; i < number; i++) REQUIRE(look_up(f, i) == 1);
    make_room(f); /* results are kept again */
    f->n_warnings = 0;
    REQUIRE(put_number(f, 1000) && look_up(f, 1000) == 1);
}

static void raise_limit(fixture *f) {
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)f;
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

static void fill_limit(fixture *f, int kib) {
    struct rlimit limit = {(rlim_t)kib << 10, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    fill(f, "File too large", raise_limit);
}

static void files_may_be_limited(void **state) {
    fixture *f = *state;
    for (int kib = 300; kib < 600; kib += 60) {
        assert_int_equal(wait_for(start(f, fill_limit, kib)), 0);
        unlink(f->path);
    }
}

static void remove_ballast(fixture *f) {
    char path[700];
    snprintf(path, sizeof path, "%s/ballast", f->folder);
    REQUIRE(unlink(path) == 0);
}

static void fill_disk(fixture *f, int kib) {
    char size[32], path[700];
    snprintf(size, sizeof size, "size=%dk", 1024 + kib);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 ||
        mount("tmpfs", f->folder, "tmpfs", 0, size) != 0)
        _exit(CANNOT);
    snprintf(path, sizeof path, "%s/ballast", f->folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    REQUIRE(fd >= 0 && posix_fallocate(fd, 0, 1 << 20) == 0 && close(fd) == 0);
    fill(f, "full", remove_ballast);
}

static void disks_may_be_full(void **state) {
    fixture *f = *state;
    for (int kib = 400; kib < 700; kib += 60) {
        int status = wait_for(start(f, fill_disk, kib));
        if (status == CANNOT) support_skip("no small disk can be mounted here");
        assert_int_equal(status, 0);
    }
}

static void use_read_only(fixture *f, int unused) {
    (void)unused;
    if (geteuid() == 0) REQUIRE(setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK && f->n_warnings == 0);
    REQUIRE(look_up(f, 1) == 1);
    REQUIRE(!put_number(f, 2) && f->n_warnings == 1 && strstr(f->warning, "cannot keep results"));
    REQUIRE(!put_number(f, 3) && f->n_warnings == 1);
    REQUIRE(berth_store_forget(f->store, "run", NULL) == BERTH_E_IO);
    REQUIRE(look_up(f, 1) == 1 && look_up(f, 2) == 0);
    berth_store_close(f->store);
    strcat(f->path, "-other");
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK);
    REQUIRE(f->n_warnings == 2 && strstr(f->warning, "Permission denied"));
    REQUIRE(look_up(f, 1) == 0);
}

static void folders_may_be_read_only(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    assert_true(put_number(f, 1));
    reopen(f, "none");
    chmod(f->folder, 0555);
    assert_int_equal(wait_for(start(f, use_read_only, 0)), 0); /* the folder only, unless we are root */
    chmod(f->path, 0444);
    assert_int_equal(wait_for(start(f, use_read_only, 0)), 0);
    chmod(f->folder, 0755);
}

static void may_be_removed_meanwhile(void **state) {
    fixture *f = *state;
    reopen(f, f->path);
    put(f, "a", "1");
    unlink(f->path);
    put(f, "b", "2");
    expect(f, "b", "2");
    assert_int_equal(f->n_warnings, 0);
    reopen(f, f->path);
    expect(f, "b", "2");
    assert_null(get(f, "a"));
}

static void overwrite(const char *path, long offset, const void *bytes, size_t n) {
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, n, offset), n);
    close(fd);
}

static void make_damaged(fixture *f, long offset) {
    static char junk[3000];
    memset(junk, 0x5a, sizeof junk);
    reopen(f, f->path);
    for (int i = 0; i < 20; i++) assert_true(put_number(f, i));
    reopen(f, "none");
    overwrite(f->path, offset, junk, sizeof junk);
}

static void begins_anew(fixture *f, const char *path) {
    char aside[700];
    snprintf(aside, sizeof aside, "%s.corrupt", f->path);
    unlink(aside);
    reopen(f, path);
    for (int i = 0; i < 20; i++) assert_true(look_up(f, i) >= 0);
    put(f, "new", "1");
    expect_warning(f, "is damaged: it is now");
    assert_int_equal(access(aside, F_OK), 0);
    reopen(f, path);
    expect(f, "new", "1");
    assert_int_equal(f->n_warnings, 0);
    berth_store_close(f->store);
    f->store = NULL;
    unlink(f->path);
}

static void damage_gives_way(void **state) {
    fixture *f = *state;
    make_damaged(f, 100); /* the schema, while the mark is there */
    begins_anew(f, f->path);
    make_damaged(f, 4096); /* the root of the table, which opening does not see */
    begins_anew(f, f->path);
    make_damaged(f, 8192); /* the index */
    begins_anew(f, f->path);
    /* At the default place everything is ours, with or without a mark. */
    setenv("XDG_CACHE_HOME", f->folder, 1);
    unsetenv("BERTH_STORE");
    snprintf(f->path, sizeof f->path, "%s/berth/store.sqlite", f->folder);
    make_damaged(f, 0);
    begins_anew(f, NULL);
}

static void open_and_put(fixture *f, int number) {
    REQUIRE(berth_store_open(f->ctx, &f->store, f->path) == BERTH_OK);
    f->n_warnings = 0;
    REQUIRE(put_number(f, 100 + number) && look_up(f, 100 + number) == 1);
}

/* Only one of them moves it: the others' results are in the new one. */
static void damage_is_found_by_many(void **state) {
    enum { MANY = 6 };
    fixture *f = *state;
    for (int round = 0; round < support_cases(10); round++) {
        pid_t pids[MANY];
        make_damaged(f, 100);
        for (int i = 0; i < MANY; i++) pids[i] = start(f, open_and_put, i);
        for (int i = 0; i < MANY; i++) assert_int_equal(wait_for(pids[i]), 0);
        reopen(f, f->path);
        for (int i = 0; i < MANY; i++) assert_int_equal(look_up(f, 100 + i), 1);
    }
}

/* Whoever replaces a damaged store has locked its folder; others wait, but not for ever. */
static void damage_is_replaced_under_a_lock(void **state) {
    fixture *f = *state;
    make_damaged(f, 100);
    int fd = open(f->folder, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    berth_ctx_set_cancel(f->ctx, yes, NULL);
    reopen(f, f->path);
    expect_warning(f, "cannot be replaced: another process keeps it locked");
    assert_null(berth_store_path(f->store));
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
    close(fd);
    begins_anew(f, f->path);
}

/* Any bytes, anywhere: whatever is found is right, and nothing crashes. */
static void random_damage_is_no_answer(void **state) {
    enum { ROWS = 12 };
    fixture *f = *state;
    uint64_t random = 5;
    int kept = 0, lost = 0, cases = support_cases(150);
    char sound[700];
    snprintf(sound, sizeof sound, "%s/sound", f->folder);
    reopen(f, sound);
    for (int i = 0; i < ROWS; i++) assert_true(put_number(f, i));
    reopen(f, "none");
    for (int i = 0; i < cases; i++) {
        static char bytes[1 << 20];
        FILE *file = fopen(sound, "rb");
        size_t n = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        int changes = 1 << support_below(&random, 8);
        size_t range = support_below(&random, 2) ? n : 12288; /* all, or tree and index */
        for (int k = 0; k < changes; k++)
            bytes[support_below(&random, (uint32_t)(range < n ? range : n))] = (char)support_random(&random);
        if (support_below(&random, 4) == 0) n = support_below(&random, (uint32_t)n);
        unlink(f->path);
        file = fopen(f->path, "wb");
        assert_int_equal(fwrite(bytes, 1, n, file), n);
        fclose(file);
        reopen(f, f->path);
        berth_store_set_patience(f->store, 0.1);
        for (int row = 0; row < ROWS; row++) {
            int found = look_up(f, row);
            if (found < 0) fail_msg("case %d: row %d is wrong", i, row);
            kept += found;
            lost += !found;
        }
        bool keeps = berth_store_path(f->store) != NULL;
        put(f, "new", "1");
        if (keeps && !berth_store_trouble(f->store)) expect(f, "new", "1");
    }
    printf("%d rows found, %d not\n", kept, lost);
    if (cases > 10) assert_true(kept > 0 && lost > 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(completed_puts_outlive_a_kill),
        TEST(every_step_may_be_the_last),
        TEST(processes_share_one),
        TEST(waits_for_another_writer),
        TEST(waiting_has_an_end),
        TEST(files_may_be_limited),
        TEST(disks_may_be_full),
        TEST(folders_may_be_read_only),
        TEST(may_be_removed_meanwhile),
        TEST(damage_gives_way),
        TEST(damage_is_found_by_many),
        TEST(damage_is_replaced_under_a_lock),
        TEST(random_damage_is_no_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
