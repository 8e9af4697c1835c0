/* SPDX-License-Identifier: Apache-2.0 */
/* A measurement that was killed at any moment goes on where it was: no job that was finished is done again, and what it
 * says in the end is what it would have said at once. */
#include "berth/profile.h"

#include "faked.h"
#include "runtime/kept.h"

typedef struct watched {
    faked *f;
    int most; /* jobs until it is stopped */
} watched;

static bool is_enough(void *user) {
    const watched *w = user;
    return faked_jobs(w->f, NULL) >= w->most;
}

/* A runtime with a store, as the command has it; the caller frees both. */
static berth_runtime *open_stored(faked *f, bool resume) {
    berth_runtime *runtime = NULL;
    berth_runtime_options options = berth_runtime_options_default();
    options.library = f->model;
    options.worker = BERTH_FAKE_WORKER_PROGRAM;
    options.threads = 1;
    options.store = berth_arena_printf(&f->arena, "%s/store.sqlite", f->folder);
    options.resume = resume;
    assert_int_equal(berth_runtime_new(f->ctx, &runtime, &options), BERTH_OK);
    return runtime;
}

static berth_status measure(faked *f, bool resume, uint64_t seed, berth_measured **out) {
    berth_runtime *runtime = open_stored(f, resume);
    berth_placement *placement = NULL;
    berth_run_options how = berth_run_options_default();
    how.rounds = 3;
    how.least_runs = how.most_runs = 2;
    how.seed = seed;
    assert_int_equal(berth_placement_new(f->ctx, &placement, 2 * FAKED_BLOCK, false), BERTH_OK);
    for (int i = 0; i < FAKED_BLOCK; i++) placement->device[i] = 1;
    faked_forget(f);
    berth_status status = berth_measure(f->ctx, out, runtime, f->graph, f->model, faked_devices, 2, placement, &how);
    berth_placement_free(placement);
    berth_runtime_free(runtime);
    return status;
}

static void expect_whole(const berth_measured *m, const faked *f) {
    assert_true(m->plan.latency.runs == 6 && m->singles[0].latency.runs == 6 && m->singles[1].latency.runs == 6);
    assert_true(fabs(m->plan.latency.median_ms / f->split_ms - 1) < 0.01 && m->plan.latency.peak_bytes > 0);
    assert_true(m->outputs.equal && m->outputs.max_abs == 0 && m->n_checked == 2 * FAKED_BLOCK);
    assert_true(m->n_deviations == FAKED_BLOCK && m->deviations[0].explained);
    assert_string_equal(m->deviations[0].ran, "cpu");
    assert_string_equal(m->runtime_version, "1.99.0");
}

static void nothing_is_repeated(void **state) {
    enum { JOBS = 3 * 3 + 1 + 1 }; /* rounds, places of the split, those of the other device */
    faked *f = *state;
    berth_measured *m = NULL;
    faked_say("kept=MatMul");
    for (int stop = 1; stop < JOBS; stop++) {
        watched w = {f, stop};
        uint64_t seed = (uint64_t)stop;
        berth_ctx_set_cancel(f->ctx, is_enough, &w);
        assert_int_equal(measure(f, true, seed, &m), BERTH_E_CANCELLED);
        int first = faked_jobs(f, NULL);
        berth_ctx_set_cancel(f->ctx, NULL, NULL);
        assert_int_equal(measure(f, true, seed, &m), BERTH_OK);
        int second = faked_jobs(f, NULL);
        expect_whole(m, f);
        berth_measured_free(m);
        /* the one that was stopped halfway is done again; it may have ended just in time */
        if (first + second < JOBS || first + second > JOBS + 1) fail_msg("%d and %d jobs", first, second);
        assert_int_equal(measure(f, true, seed, &m), BERTH_OK);
        assert_int_equal(faked_jobs(f, NULL), 0);
        expect_whole(m, f);
        berth_measured_free(m);
    }
    assert_int_equal(measure(f, false, 1, &m), BERTH_OK); /* only where it is asked for */
    assert_int_equal(faked_jobs(f, NULL), JOBS);
    berth_measured_free(m);
    assert_int_equal(measure(f, true, 99, &m), BERTH_OK); /* other inputs */
    assert_true(faked_jobs(f, NULL) >= 3 * 3);
    berth_measured_free(m);
}

/* Times of operations, of a profile that did not come to its end. */
static void nor_in_profiles(void **state) {
    faked *f = *state;
    berth_profile_options how = berth_profile_options_default();
    berth_profile *profile = NULL;
    how.processes = 2;
    how.placements = 3;
    how.run.rounds = 1;
    how.run.least_runs = how.run.most_runs = 2;
    int wanted = 0;
    for (int pass = 0; pass < 3; pass++) {
        watched w = {f, 3};
        berth_runtime *runtime = open_stored(f, true);
        faked_forget(f);
        if (pass == 0) berth_ctx_set_cancel(f->ctx, is_enough, &w);
        berth_status status = berth_profile_take(f->ctx, &profile, runtime, f->graph, f->model, faked_devices, 2, &how);
        berth_ctx_set_cancel(f->ctx, NULL, NULL);
        assert_int_equal(status, pass == 0 ? BERTH_E_CANCELLED : BERTH_OK);
        if (pass == 0) wanted = 2 * 2 + 2 + 3 - faked_jobs(f, NULL);
        if (pass == 1) assert_in_range(faked_jobs(f, NULL), wanted, wanted + 1);
        if (pass == 2) assert_int_equal(faked_jobs(f, NULL), 0);
        berth_profile_free(profile);
        profile = NULL;
        berth_runtime_free(runtime);
    }
}

static void put_file(faked *f, const char *name, int byte, size_t at, size_t size) {
    FILE *file = fopen(berth_arena_printf(&f->arena, "%s/%s", f->folder, name), "wb");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) fputc(i == at ? byte : (int)(i % 251), file);
    assert_int_equal(fclose(file), 0);
}

static const char *digest_of(faked *f, const char *folder) {
    const char *path = berth_arena_printf(&f->arena, "%s/%s", f->folder, folder);
    const char *digest = berth_kept_digest(&f->arena, path, NULL, 0);
    assert_non_null(digest);
    return digest;
}

static void digests_tell_files_apart(void **state) {
    faked *f = *state;
    const berth_job_file input[] = {{"x", f->model}}, other[] = {{"y", f->model}};
    assert_int_equal(mkdir(berth_arena_printf(&f->arena, "%s/a", f->folder), 0700), 0);
    assert_int_equal(mkdir(berth_arena_printf(&f->arena, "%s/b", f->folder), 0700), 0);
    put_file(f, "a/one", 1, 0, 100);
    put_file(f, "a/two", 2, 50, 3000000); /* of a large one only parts are looked at, but its size always */
    put_file(f, "b/two", 2, 50, 3000000); /* in another order */
    put_file(f, "b/one", 1, 0, 100);
    assert_string_equal(digest_of(f, "a"), digest_of(f, "b"));
    put_file(f, "b/one", 3, 99, 100);
    assert_string_not_equal(digest_of(f, "a"), digest_of(f, "b"));
    put_file(f, "b/one", 1, 0, 100);
    put_file(f, "b/two", 2, 50, 3000001);
    assert_string_not_equal(digest_of(f, "a"), digest_of(f, "b"));
    put_file(f, "b/two", 9, 50, 3000000);
    assert_string_not_equal(digest_of(f, "a"), digest_of(f, "b"));
    assert_string_not_equal(berth_kept_digest(&f->arena, f->folder, input, 1),
                            berth_kept_digest(&f->arena, f->folder, other, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_is_repeated, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(nor_in_profiles, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(digests_tell_files_apart, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
