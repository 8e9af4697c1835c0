/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear together: all of them, or none and no trace. */
#include "support.h"

#include "base/stage.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];
static berth_ctx *ctx;

static int set_up(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/berth-stage-XXXXXX");
    assert_non_null(mkdtemp(root));
    assert_int_equal(chdir(root), 0);
    return berth_ctx_new(&ctx, NULL) == BERTH_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[128];
    berth_ctx_free(ctx);
    snprintf(command, sizeof command, "cd / && rm -r %s", root);
    return system(command);
}

static void make_file(const char *name, const char *content) {
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static void expect_content(const char *name, const char *content) {
    char bytes[64] = {0};
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes - 1, file), strlen(content));
    assert_string_equal(bytes, content);
    fclose(file);
}

static int count_entries(void) {
    int n = 0;
    DIR *folder = opendir(".");
    while (readdir(folder)) n++;
    closedir(folder);
    return n - 2;
}

static bool exists(const char *name) {
    struct stat st;
    return lstat(name, &st) == 0;
}

static berth_status write_three(berth_ctx *with, bool commit) {
    berth_stage stage;
    berth_stage_init(&stage, with);
    berth_status status = berth_stage_begin(&stage, "one");
    if (status == BERTH_OK) status = berth_stage_put(&stage, "first", 5);
    if (status == BERTH_OK) status = berth_stage_folders(&stage, "sub/folder/link");
    if (status == BERTH_OK) status = berth_stage_link(&stage, "sub/folder/link", "source");
    if (status == BERTH_OK) status = berth_stage_begin(&stage, "two");
    if (status == BERTH_OK) status = berth_stage_put(&stage, "sec", 3);
    if (status == BERTH_OK) status = berth_stage_put(&stage, "ond", 3);
    if (status == BERTH_OK && commit) status = berth_stage_commit(&stage);
    berth_stage_deinit(&stage);
    return status;
}

static void all_or_nothing(void **state) {
    (void)state;
    make_file("source", "data");
    make_file("two", "old");
    assert_int_equal(chmod("two", 0640), 0);
    assert_int_equal(write_three(ctx, false), BERTH_OK);
    assert_int_equal(count_entries(), 2);
    expect_content("two", "old");
    assert_int_equal(write_three(ctx, true), BERTH_OK);
    assert_int_equal(count_entries(), 4);
    expect_content("one", "first");
    expect_content("two", "second");
    expect_content("sub/folder/link", "data");
    struct stat st, linked;
    stat("two", &st);
    assert_int_equal(st.st_mode & 0777, 0640);
    stat("source", &st);
    stat("sub/folder/link", &linked);
    assert_int_equal(st.st_ino, linked.st_ino);
}

static void links_are_followed(void **state) {
    (void)state;
    berth_stage stage;
    make_file("real", "old");
    assert_int_equal(symlink("real", "alias"), 0);
    berth_stage_init(&stage, ctx);
    assert_int_equal(berth_stage_begin(&stage, "alias"), BERTH_OK);
    assert_int_equal(berth_stage_put(&stage, "new", 3), BERTH_OK);
    assert_int_equal(berth_stage_commit(&stage), BERTH_OK);
    berth_stage_deinit(&stage);
    struct stat st;
    assert_true(lstat("alias", &st) == 0 && S_ISLNK(st.st_mode));
    expect_content("real", "new");
}

static void what_cannot_be_replaced(void **state) {
    (void)state;
    berth_stage stage;
    assert_int_equal(mkdir("folder", 0700), 0);
    berth_stage_init(&stage, ctx);
    assert_int_equal(berth_stage_begin(&stage, "/dev/null"), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(ctx), "not a regular file"));
    assert_int_equal(berth_stage_begin(&stage, "folder"), BERTH_E_IO);
    assert_int_equal(errno, EISDIR);
    assert_int_equal(berth_stage_begin(&stage, "none/file"), BERTH_E_IO);
    assert_int_equal(errno, ENOENT);
    assert_int_equal(berth_stage_link(&stage, "copy", "no such source"), BERTH_E_IO);
    assert_int_equal(errno, ENOENT);
    berth_stage_deinit(&stage);
    assert_false(exists("copy"));
}

/* Where links cannot be made, as to another file system, the content is copied. */
static void copies_where_links_fail(void **state) {
    (void)state;
    berth_stage stage;
    struct stat here, there;
    berth_stage_init(&stage, ctx);
    assert_int_equal(berth_stage_link(&stage, "limits", "/proc/self/limits"), BERTH_OK);
    assert_int_equal(berth_stage_commit(&stage), BERTH_OK);
    berth_stage_deinit(&stage);
    stat("limits", &here);
    stat("/proc/self/limits", &there);
    assert_true(here.st_dev != there.st_dev && here.st_size > 100);
}

static void a_full_disk_leaves_nothing(void **state) {
    (void)state;
    struct rlimit before, little;
    char *bytes = calloc(1, 1 << 20);
    int n_before = count_entries();
    make_file("kept", "old");
    getrlimit(RLIMIT_FSIZE, &before);
    little = before;
    little.rlim_cur = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &little);
    for (size_t piece = 1000; piece <= 1 << 20; piece *= 8) {
        berth_stage stage;
        berth_stage_init(&stage, ctx);
        berth_status status = berth_stage_begin(&stage, "kept");
        for (size_t at = 0; at < 1 << 20 && status == BERTH_OK; at += piece)
            status = berth_stage_put(&stage, bytes, piece);
        berth_stage_deinit(&stage);
        assert_int_equal(status, BERTH_E_IO);
        assert_int_equal(errno, EFBIG);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    expect_content("kept", "old");
    assert_int_equal(count_entries(), n_before + 1);
    free(bytes);
}

static berth_status run_three(berth_ctx *with, void *user) {
    (void)user;
    return write_three(with, false);
}

static void no_memory(void **state) {
    (void)state;
    int n = count_entries();
    support_ladder(run_three, NULL, 1);
    assert_int_equal(count_entries(), n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_or_nothing),
        cmocka_unit_test(links_are_followed),
        cmocka_unit_test(what_cannot_be_replaced),
        cmocka_unit_test(copies_where_links_fail),
        cmocka_unit_test(a_full_disk_leaves_nothing),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests_name("base.stage", tests, set_up, tear_down);
}
