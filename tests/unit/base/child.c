/* SPDX-License-Identifier: Apache-2.0 */
/* Children that behave, and children that do not. They are shell scripts. */
#include "base/child.h"

#include "support.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    berth_child_result result;
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
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

static berth_child_job job_of(const char *const *argv) {
    return (berth_child_job){
        .argv = argv, .input = "", .seconds = 60, .memory_bytes = INFINITY, .most_answer = 1 << 24};
}

static berth_child_end run(fixture *f, const char *script, double seconds, const char *input) {
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    berth_child_job job = job_of(argv);
    job.seconds = seconds;
    job.input = input;
    job.input_size = strlen(input);
    assert_int_equal(berth_child_run(f->ctx, &f->arena, &job, &f->result), BERTH_OK);
    return f->result.end;
}

static void answers(void **state) {
    fixture *f = *state;
    assert_int_equal(run(f, "cat >&3; echo one; echo two >&2; exit 4", 60, "what goes in"), BERTH_CHILD_EXITED);
    assert_int_equal(f->result.code, 4);
    assert_string_equal(f->result.answer, "what goes in");
    assert_string_equal(f->result.words, "two");
    assert_true(f->result.peak_bytes > 1e5);
    char text[200];
    berth_child_describe(&f->result, text, sizeof text);
    assert_string_equal(text, "ended with status 4: two");
}

/* Both directions at once are more than the pipes hold. */
static void much_goes_through(void **state) {
    enum { N = 3 << 20 };
    fixture *f = *state;
    char *bytes = malloc(N + 1);
    for (int i = 0; i < N; i++) bytes[i] = (char)('a' + i % 26);
    bytes[N] = 0;
    assert_int_equal(run(f, "cat >&3", 60, bytes), BERTH_CHILD_EXITED);
    assert_int_equal(f->result.answer_size, N);
    assert_memory_equal(f->result.answer, bytes, N);
    assert_int_equal(run(f, "exec 0<&-; sleep 0.1; echo ok >&3", 60, bytes), BERTH_CHILD_EXITED); /* nobody reads */
    assert_string_equal(f->result.answer, "ok\n");
    free(bytes);
}

static void crashes_are_told(void **state) {
    fixture *f = *state;
    char text[200];
    assert_int_equal(run(f, "echo 'driver gave up' >&2; kill -SEGV $$", 60, ""), BERTH_CHILD_SIGNALLED);
    assert_int_equal(f->result.code, SIGSEGV);
    berth_child_describe(&f->result, text, sizeof text);
    assert_non_null(strstr(text, "signal 11"));
    assert_non_null(strstr(text, "driver gave up"));
}

/* What it started ends with it. */
static void hanging_ends(void **state) {
    fixture *f = *state;
    time_t start = time(NULL);
    assert_int_equal(run(f, "trap '' TERM INT; sleep 1000 & echo $! >&3; sleep 1000", 0.5, ""), BERTH_CHILD_TOO_LONG);
    assert_true(time(NULL) - start < 30);
    int grandchild = atoi(f->result.answer), gone = 0;
    for (int i = 0; i < 100 && !gone; i++) {
        gone = kill(grandchild, 0) != 0;
        if (!gone) usleep(50000);
    }
    assert_true(grandchild > 1);
    /* In a container nobody may wait for it: then it is a zombie, which holds nothing. */
    if (!gone) {
        char path[64], line[256] = "";
        snprintf(path, sizeof path, "/proc/%d/stat", grandchild);
        FILE *file = fopen(path, "r");
        if (file) {
            assert_non_null(fgets(line, sizeof line, file));
            fclose(file);
        }
        assert_non_null(strstr(line, ") Z"));
    }
}

static void memory_is_limited(void **state) {
    fixture *f = *state;
    const char *const argv[] = {"/bin/sh", "-c", "x=aaaaaaaa; while :; do x=$x$x; done", NULL};
    berth_child_job job = job_of(argv);
    job.memory_bytes = 64 << 20;
    assert_int_equal(berth_child_run(f->ctx, &f->arena, &job, &f->result), BERTH_OK);
    assert_int_equal(f->result.end, BERTH_CHILD_TOO_LARGE);
    job.memory_bytes = INFINITY;
    job.argv = (const char *const[]){"/bin/sh", "-c", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaa >&3; done", NULL};
    job.most_answer = 1000;
    assert_int_equal(berth_child_run(f->ctx, &f->arena, &job, &f->result), BERTH_OK);
    assert_int_equal(f->result.end, BERTH_CHILD_TOO_MUCH);
}

static bool stop(void *user) {
    int *left = user;
    return --*left < 0;
}

static void cancelling_ends_it(void **state) {
    fixture *f = *state;
    int left = 3;
    berth_ctx_set_cancel(f->ctx, stop, &left);
    assert_int_equal(run(f, "sleep 1000", 100, ""), BERTH_CHILD_CANCELLED);
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
}

static void environments_are_merged(void **state) {
    fixture *f = *state;
    setenv("BERTH_TEST_A", "ours", 1);
    setenv("BERTH_TEST_AB", "ours", 1);
    const char *const argv[] = {"/bin/sh", "-c", "echo $BERTH_TEST_A $BERTH_TEST_AB $BERTH_TEST_B >&3", NULL};
    berth_child_job job = job_of(argv);
    job.environment = (const char *const[]){"BERTH_TEST_A=given", "BERTH_TEST_B=new", NULL};
    assert_int_equal(berth_child_run(f->ctx, &f->arena, &job, &f->result), BERTH_OK);
    assert_string_equal(f->result.answer, "given ours new\n");
}

static void what_is_not_there_does_not_start(void **state) {
    fixture *f = *state;
    berth_child_job job = job_of((const char *const[]){"/nowhere/program", NULL});
    assert_int_equal(berth_child_run(f->ctx, &f->arena, &job, &f->result), BERTH_E_IO);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "/nowhere/program: No such file"));
}

static berth_status run_once(berth_ctx *ctx, void *user) {
    (void)user;
    const char *const argv[] = {"/bin/sh", "-c", "echo answer >&3", NULL};
    berth_child_job job = job_of(argv);
    berth_child_result result;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = berth_child_run(ctx, &arena, &job, &result);
    berth_arena_deinit(&arena);
    return status;
}

static void survives_failing_allocations(void **state) {
    (void)state;
    assert_true(support_ladder(run_once, NULL, 1) > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers),
        cmocka_unit_test(much_goes_through),
        cmocka_unit_test(crashes_are_told),
        cmocka_unit_test(hanging_ends),
        cmocka_unit_test(memory_is_limited),
        cmocka_unit_test(cancelling_ends_it),
        cmocka_unit_test(environments_are_merged),
        cmocka_unit_test(what_is_not_there_does_not_start),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
