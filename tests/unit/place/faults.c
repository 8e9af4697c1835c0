/* SPDX-License-Identifier: Apache-2.0 */
/* The closed loop when things go wrong: whatever fails, and whenever it does, nothing hangs, nothing is lost or left
 * behind, and what is said is one line. */
#define _GNU_SOURCE /* unshare */
#include "berth/real.h"

#include "faked.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

enum { CANNOT = 77 };

static berth_real_options quick(void) {
    berth_real_options options = berth_real_options_default();
    options.place.seconds = 30;
    options.place.threads = 1;
    options.place.method = "cut";
    options.profile.processes = 1;
    options.profile.placements = 4;
    options.profile.run.rounds = 1;
    options.profile.run.least_runs = options.profile.run.most_runs = 3;
    return options;
}

static int count_left(const char *folder) {
    int left = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries));) left += entry->d_name[0] != '.';
    closedir(entries);
    return left;
}

/* NULL: it failed, and said why in one line. */
static berth_real_plan *try_place(faked *f, const berth_real_options *options, const char *words) {
    berth_real_plan *real = NULL;
    faked_say(words);
    faked_forget(f);
    berth_status status = berth_place_real(f->ctx, &real, f->runtime, f->graph, f->model, faked_devices, 2, options);
    assert_true((status == BERTH_OK) == (real != NULL));
    assert_int_equal(count_left(getenv("TMPDIR")), 0);
    if (real) return real;
    const char *why = berth_ctx_message(f->ctx);
    if (!*why || strchr(why, '\n')) fail_msg("%s: '%s'", words, why);
    return NULL;
}

/* However processes end, from the first on, from the second on, and so on: either there is no answer, and the last line
 * says how they end, or it is one that was measured, or the device that was fastest as long as they ran. */
static void every_process_may_fail(void **state) {
    static const struct {
        const char *how, *fragment;
        double seconds, memory_bytes;
    } cases[] = {{"crash", "signal 11", 60, INFINITY},
                 {"kill", "signal 9", 60, INFINITY},
                 {"silent", "ended with status 0", 60, INFINITY},
                 {"hang", "took longer than its 1 s", 1, INFINITY},
                 {"memory", "more memory than allowed", 60, 256 << 20}};
    faked *f = *state;
    berth_real_options options = quick();
    berth_real_plan *real = try_place(f, &options, "");
    int n = faked_jobs(f, NULL);
    assert_true(real && real->is_split && n > 25);
    berth_real_plan_free(real);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f->runtime->worker.seconds = cases[i].seconds;
        f->runtime->worker.memory_bytes = cases[i].memory_bytes;
        if (support_is_slow() && i % 2 == 1) continue;
        int answers = 0, step = i == 0 && support_is_optimised() ? 1 : cases[i].seconds < 60 ? n - 4 : 9;
        for (int at = 0; at < n; at += step) {
            char words[64];
            snprintf(words, sizeof words, "%s=any@%d", cases[i].how, at);
            real = try_place(f, &options, words);
            answers += real != NULL;
            if (at == 0) assert_null(real);
            if (!real && !strstr(berth_ctx_message(f->ctx), cases[i].fragment))
                fail_msg("%s: %s", words, berth_ctx_message(f->ctx));
            if (real && real->is_split) assert_true(real->measured->gain_low > 0.03);
            if (real && !real->is_split && !strstr(real->verdict, cases[i].fragment))
                fail_msg("%s: %s", words, real->verdict);
            berth_real_plan_free(real);
        }
        assert_true(answers > 0);
    }
}

/* What was profiled may not be there any more when the split is to be run: then everything is on the CPU. */
static void a_device_may_vanish(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    options.place.profile = berth_arena_printf(&f->arena, "%s/profile.json", f->folder);
    berth_real_plan *real = try_place(f, &options, "");
    assert_true(real && real->is_split);
    berth_real_plan_free(real);
    for (int at = 0; at < 3; at += 2) { /* at once, and after the first two */
        char words[32];
        snprintf(words, sizeof words, "gone=any@%d", at);
        real = try_place(f, &options, words);
        assert_non_null(real);
        assert_false(real->is_split);
        for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, 0);
        assert_non_null(strstr(real->verdict, "does not run: webgpu: no such device"));
        assert_non_null(strstr(real->measured->singles[1].reason, "no such device"));
        berth_real_plan_free(real);
    }
    options.place.profile = NULL; /* during the profile */
    for (int at = 0; at < 4; at += 3) {
        char words[32];
        snprintf(words, sizeof words, "gone=any@%d", at);
        assert_null(try_place(f, &options, words));
        assert_non_null(strstr(berth_ctx_message(f->ctx), "webgpu: no such device"));
    }
}

/* --- stores and disks ------------------------------------------------------------------------------------------- */

typedef struct warnings {
    int n;
    char last[1024];
} warnings;

static void note(void *user, berth_log_level level, const char *message) {
    warnings *w = user;
    if (level != BERTH_LOG_WARNING) return;
    w->n++;
    snprintf(w->last, sizeof w->last, "%s", message);
}

static bool resumes;

/* The whole loop with that store, in this process. */
static berth_status place_with(faked *f, const char *store, const berth_real_options *options, warnings *w,
                               bool *is_split) {
    berth_ctx *ctx = NULL;
    berth_runtime *runtime = NULL;
    berth_real_plan *real = NULL;
    berth_runtime_options how = berth_runtime_options_default();
    how.library = f->model;
    how.worker = BERTH_FAKE_WORKER_PROGRAM;
    how.seconds = 60;
    how.threads = 1;
    how.store = store;
    how.resume = resumes;
    if (berth_ctx_new(&ctx, NULL) != BERTH_OK) return BERTH_E_NOMEM;
    berth_ctx_set_log(ctx, note, w);
    berth_graph *graph = support_read(ctx, f->model);
    berth_status status = berth_runtime_new(ctx, &runtime, &how);
    if (status == BERTH_OK) status = berth_place_real(ctx, &real, runtime, graph, f->model, faked_devices, 2, options);
    *is_split = real && real->is_split;
    if (status != BERTH_OK) snprintf(w->last, sizeof w->last, "%s", berth_ctx_message(ctx));
    berth_real_plan_free(real);
    berth_runtime_free(runtime);
    berth_graph_free(graph);
    berth_ctx_free(ctx);
    return status;
}

static int wait_for(pid_t pid) {
    int status = 0;
    while (waitpid(pid, &status, 0) < 0) assert_int_equal(errno, EINTR);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Two runs at the same time: both have their answer, nobody complains, and a third finds the profile. */
static void runs_share_a_store(void **state) {
    faked *f = *state;
    const char *store = berth_arena_printf(&f->arena, "%s/store.sqlite", f->folder);
    berth_real_options options = quick();
    warnings w = {0};
    bool is_split = false;
    pid_t pids[2];
    faked_forget(f);
    fflush(NULL);
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] > 0) continue;
        berth_status status = place_with(f, store, &options, &w, &is_split);
        if (status != BERTH_OK || w.n > 0) fprintf(stderr, "run %d: %s\n", i, w.last);
        _exit(status == BERTH_OK && is_split && w.n == 0 ? 0 : 1);
    }
    for (int i = 0; i < 2; i++) assert_int_equal(wait_for(pids[i]), 0);
    int both = faked_jobs(f, NULL);
    faked_forget(f);
    assert_int_equal(place_with(f, store, &options, &w, &is_split), BERTH_OK);
    assert_true(is_split && w.n == 0 && 2 * faked_jobs(f, NULL) < both);
    faked_forget(f);
    resumes = true; /* and one that is to go on where they stopped finds everything */
    assert_int_equal(place_with(f, store, &options, &w, &is_split), BERTH_OK);
    resumes = false;
    assert_true(is_split && w.n == 0);
    assert_int_equal(faked_jobs(f, NULL), 0);
}

/* A disk of so many pages on that folder, for this process and its children. */
static void mount_small(const char *folder, int pages) {
    char size[32];
    mkdir(folder, 0700);
    snprintf(size, sizeof size, "nr_blocks=%d", pages);
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, "") != 0 ||
        mount("tmpfs", folder, "tmpfs", 0, size) != 0)
        _exit(CANNOT);
}

/* In a process of its own, since disks are the process's: 0 if `judge` says so. */
static void on_small_disk(faked *f, int pages, bool (*judge)(faked *f, const char *folder)) {
    const char *folder = berth_arena_printf(&f->arena, "%s/disk", f->folder);
    fflush(NULL);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        mount_small(folder, pages);
        _exit(judge(f, folder) ? 0 : 1);
    }
    int status = wait_for(pid);
    if (status == CANNOT) support_skip("no small disk can be mounted here");
    assert_int_equal(status, 0);
}

static bool say(bool right, const warnings *w, berth_status status) {
    if (!right) fprintf(stderr, "status %d, %d warnings: %s\n", status, w->n, w->last);
    return right;
}

/* A store that cannot keep anything is a warning. */
static bool keeps_nothing(faked *f, const char *folder) {
    berth_real_options options = quick();
    const char *store = berth_arena_printf(&f->arena, "%s/store.sqlite", folder);
    warnings w = {0};
    bool is_split = false;
    berth_status status = place_with(f, store, &options, &w, &is_split);
    return say(status == BERTH_OK && is_split && w.n == 1 && strstr(w.last, "full"), &w, status);
}

/* There is no room for what runs need. */
static bool has_no_scratch(faked *f, const char *folder) {
    berth_real_options options = quick();
    warnings w = {0};
    bool is_split = false;
    setenv("TMPDIR", folder, 1);
    berth_status status = place_with(f, NULL, &options, &w, &is_split);
    bool right = status == BERTH_E_LIMIT && w.n == 0 && strstr(w.last, "No space left") && !strchr(w.last, '\n');
    return say(right && count_left(folder) == 0, &w, status);
}

/* There is none for the profile that was taken; the store has it, and the next run goes on from there. */
static bool keeps_the_profile(faked *f, const char *folder) {
    berth_real_options options = quick();
    const char *store = berth_arena_printf(&f->arena, "%s/kept.sqlite", f->folder);
    warnings w = {0};
    bool is_split = false;
    options.place.profile = berth_arena_printf(&f->arena, "%s/profile.json", folder);
    berth_status status = place_with(f, store, &options, &w, &is_split);
    bool right = status == BERTH_E_LIMIT && w.n == 0 && strstr(w.last, "No space left") && count_left(folder) == 0;
    if (!say(right, &w, status)) return false;
    options.place.profile = NULL;
    faked_forget(f);
    status = place_with(f, store, &options, &w, &is_split);
    /* nothing but the split against both devices, and the check of places */
    return say(status == BERTH_OK && is_split && faked_jobs(f, NULL) == 7 * 3 + 1, &w, status);
}

static void disks_may_be_full(void **state) {
    on_small_disk(*state, 1, keeps_nothing);
    on_small_disk(*state, 1, has_no_scratch);
    on_small_disk(*state, 1, keeps_the_profile);
}

/* What did not fit is searched again with less memory, and what fits is found; if nothing ever does, that ends, too. */
static void memory_is_tightened(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    options.candidates = 1;
    berth_real_plan *real = try_place(f, &options, "");
    assert_true(real && real->is_split && !strstr(real->verdict, "tightened"));
    berth_real_plan_free(real);
    real = try_place(f, &options, "room=2");
    int n = 0;
    for (int32_t i = 0; i < real->plan->n_ops; i++) n += real->plan->ops[i].device == 1;
    assert_true(real->is_split && n > 0 && n <= 2);
    assert_non_null(strstr(real->verdict, "memory of webgpu was tightened"));
    assert_int_equal(real->plan->limits.n_memory, 1);
    assert_string_equal(real->plan->limits.memory[0].device, "webgpu");
    assert_null(real->measured->plan.out_of_memory);
    berth_real_plan_free(real);
    real = try_place(f, &options, "room=0");
    assert_true(real && !real->is_split);
    assert_non_null(strstr(real->verdict, "tightened"));
    berth_real_plan_free(real);
    /* the host's: the process takes more than it may */
    f->runtime->worker.memory_bytes = 256 << 20;
    real = try_place(f, &options, "memory=split@5"); /* after the profile */
    assert_true(real && !real->is_split);
    assert_non_null(strstr(real->verdict, "memory of cpu was tightened"));
    berth_real_plan_free(real);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_tightened, faked_open_branches, faked_close),
        cmocka_unit_test_setup_teardown(every_process_may_fail, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_device_may_vanish, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(runs_share_a_store, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(disks_may_be_full, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
