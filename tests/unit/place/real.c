/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles and the closed loop with a worker that answers what the test wants. */
#include "berth/real.h"

#include "faked.h"

static berth_profile_options quick_profile(void) {
    berth_profile_options how = berth_profile_options_default();
    how.processes = 1;
    how.placements = 6;
    how.run.rounds = 1;
    how.run.least_runs = how.run.most_runs = 3;
    return how;
}

static berth_profile *take_profile(faked *f, const berth_profile_options *how, const char *words) {
    berth_profile *profile = NULL;
    faked_say(words);
    faked_forget(f);
    if (berth_profile_take(f->ctx, &profile, f->runtime, f->graph, f->model, faked_devices, 2, how) != BERTH_OK)
        fail_msg("%s: %s", words, berth_ctx_message(f->ctx));
    return profile;
}

/* --- profiles --------------------------------------------------------------------------------------------------- */

static void times_are_found(void **state) {
    faked *f = *state;
    berth_profile_options how = quick_profile();
    how.placements = 12;
    how.held_out = 5;
    berth_profile *p = take_profile(f, &how, "");
    int32_t n_held_out = 0;
    assert_true(p->n_ops == 2 * FAKED_BLOCK && p->n_devices == 2 && p->n_runs == 2 + 12 + 5);
    for (int32_t i = 0; i < p->n_runs; i++) n_held_out += p->runs[i].is_held_out;
    assert_int_equal(n_held_out, 5);
    int32_t n_splits = 0, n_alike = 0;
    for (int32_t i = 2; i < p->n_runs; i++) {
        n_splits += strchr(p->runs[i].placement, '0') && strchr(p->runs[i].placement, '1');
        n_alike += strcmp(p->runs[i].placement, p->runs[2].placement) == 0;
    }
    assert_true(n_splits >= 8 && n_alike <= 8); /* be it that the model is one chain */
    assert_true(p->mean_error < 0.05 && p->rank_correlation > 0.95);
    for (int32_t op = 0; op < p->n_ops; op++) {
        double cpu = p->op_ms[2 * op], other = p->op_ms[2 * op + 1];
        if (op < FAKED_BLOCK) assert_true(cpu > 2 * other);
        if (op >= FAKED_BLOCK) assert_true(other > 2 * cpu);
    }
    assert_true(fabs(p->runs[0].measured_ms / f->cpu_ms - 1) < 0.01);
    assert_string_equal(p->runs[1].label, "webgpu");
    assert_true(p->n_copies == 2 && p->copies[1].bytes == 2000 && p->copies[1].out_ms == 0.6);
    berth_profile_free(p);
}

/* OpenVINO runs pieces one after another: what a change of device takes is found, too. */
static void pieces_are_found(void **state) {
    faked *f = *state;
    berth_profile_options how = quick_profile();
    berth_profile *p = NULL;
    how.placements = 12;
    how.held_out = 5;
    faked_say("");
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, faked_ov_devices, 2, &how),
                     BERTH_OK);
    const berth_link *links = p->devices->links;
    double change = p->devices->piece_ms + (links[1].fixed_ms + links[2].fixed_ms) / 2 +
                    16 * 16 * 4 * (links[1].ms_per_byte + links[2].ms_per_byte) / 2;
    assert_int_equal(p->devices->model, BERTH_MODEL_SERIAL);
    assert_true(p->mean_error < 0.03 && p->rank_correlation > 0.95);
    assert_true(change > 0.2 && change < 0.8); /* half a millisecond, of which a copy of the input takes some */
    assert_true(p->devices->devices[1].launch_ms == 0);
    assert_string_equal(p->runs[1].label, "CPU1:bf16");
    berth_profile_free(p);
    static const char *const other[] = {"GPU", "CPU"};
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, other, 2, &how), BERTH_E_ARG);
    assert_null(p);
}

/* Placements that cannot be run are left out; a device that does not run alone is an error of one line. */
static void some_do_not_run(void **state) {
    faked *f = *state;
    berth_profile_options how = quick_profile();
    berth_profile *p = take_profile(f, &how, "crash=split@2");
    assert_int_equal(p->n_runs, 2 + 2);
    assert_true(isfinite(p->mean_error));
    berth_profile_free(p);
    p = take_profile(f, &how, "crash=split");
    assert_int_equal(p->n_runs, 2);
    berth_profile_free(p);
    p = NULL;
    faked_say("crash=other@1"); /* the one before it is the profile */
    faked_forget(f);
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, faked_devices, 2, &how),
                     BERTH_E_IO);
    assert_null(p);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "webgpu"));
    assert_non_null(strstr(berth_ctx_message(f->ctx), "signal 11"));
}

/* What products and the rest take on the other device together. */
static void sum_blocks(const berth_profile *p, double sums[2]) {
    sums[0] = sums[1] = 0;
    for (int32_t op = 0; op < p->n_ops; op++) sums[op >= FAKED_BLOCK] += p->op_ms[2 * op + 1];
}

/* Timed pieces, where the device tells all the same: they agree with what it tells. */
static void pieces_agree_with_operations(void **state) {
    faked *f = *state;
    berth_profile_options how = quick_profile();
    double told[2], timed[2];
    for (int pieces = 0; pieces < 2; pieces++) {
        how.pieces = pieces;
        berth_profile *p = take_profile(f, &how, "");
        sum_blocks(p, pieces ? timed : told);
        assert_true(p->mean_error < 0.05);
        berth_profile_free(p);
    }
    for (int i = 0; i < 2; i++)
        if (fabs(timed[i] / told[i] - 1) > 0.25)
            fail_msg("block %d: %g by pieces, %g by kernels", i, timed[i], told[i]);
}

/* A device that does not tell what its kernels take: random placements use it all the same, and pieces tell. */
static void a_silent_device(void **state) {
    faked *f = *state;
    berth_profile_options how = quick_profile();
    berth_profile *p = take_profile(f, &how, "quiet");
    int with_other = 0;
    for (int32_t i = 2; i < p->n_runs; i++) with_other += strchr(p->runs[i].placement, '1') != NULL;
    assert_true(with_other >= 3);
    assert_true(strchr(p->runs[1].placement, '0') == NULL);
    for (int32_t i = 0; i < 2 * p->n_ops; i++) assert_true(isfinite(p->op_ms[i]) && p->op_ms[i] >= 0);
    double sums[2];
    sum_blocks(p, sums);
    assert_true(sums[1] > 2.5 * sums[0]); /* as they are: 8 ms and 32 ms */
    berth_profile_free(p);
}

static void what_cannot_be_profiled(void **state) {
    faked *f = *state;
    static const char *const three[] = {"cpu", "webgpu", "cuda"}, *const turned[] = {"webgpu", "cpu"};
    berth_profile_options how = quick_profile();
    berth_profile *p = NULL;
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, three, 3, &how),
                     BERTH_E_INFEASIBLE);
    assert_int_equal(berth_profile_take(f->ctx, &p, f->runtime, f->graph, f->model, turned, 2, &how), BERTH_E_ARG);
    assert_null(p);
    assert_int_equal(faked_jobs(f, NULL), 0);
}

static berth_status profile_once(berth_ctx *ctx, void *user) {
    const faked *f = user;
    berth_profile_options how = quick_profile();
    berth_profile *p = NULL;
    how.placements = 1;
    berth_status status = berth_profile_take(ctx, &p, f->runtime, f->graph, f->model, faked_devices, 2, &how);
    berth_profile_free(p);
    return status;
}

static void survives_failing_allocations(void **state) {
    if (!support_is_optimised()) return; /* some thousand processes: minutes, where they are slow */
    faked_say("");
    assert_true(support_ladder(profile_once, *state, 40) > 40);
}

/* --- the closed loop -------------------------------------------------------------------------------------------- */

static berth_real_options quick(void) {
    berth_real_options options = berth_real_options_default();
    options.place.seconds = 30; /* all rounds, however slow the machine */
    options.place.threads = 1;
    options.place.method = "cut";
    options.profile = quick_profile();
    return options;
}

static berth_real_plan *place(faked *f, const berth_real_options *options, const char *words) {
    berth_real_plan *real = NULL;
    faked_say(words);
    faked_forget(f);
    if (berth_place_real(f->ctx, &real, f->runtime, f->graph, f->model, faked_devices, 2, options) != BERTH_OK)
        fail_msg("%s: %s", words, berth_ctx_message(f->ctx));
    assert_non_null(real->plan);
    assert_non_null(real->verdict);
    assert_null(strchr(real->verdict, '\n'));
    return real;
}

static void expect_split(const berth_real_plan *real) {
    if (!real->is_split) fail_msg("%s", real->verdict);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, i < FAKED_BLOCK);
    assert_true(real->measured->gain_low > 0.03 && real->measured->outputs.equal);
    assert_non_null(strstr(real->verdict, "faster than"));
}

static void expect_single(const berth_real_plan *real, int32_t device, const char *fragment) {
    assert_false(real->is_split);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, device);
    if (!strstr(real->verdict, fragment)) fail_msg("'%s' lacks '%s'", real->verdict, fragment);
}

static void a_sure_gain_is_taken(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    berth_real_plan *real = place(f, &options, "");
    expect_split(real);
    assert_true(fabs(real->predicted_ms / f->split_ms - 1) < 0.2);
    berth_real_plan_free(real);
    real = place(f, &options, "quiet"); /* also by pieces alone */
    expect_split(real);
    berth_real_plan_free(real);
    options.place.method = "auto"; /* and what others find */
    options.place.seconds = 10;
    real = place(f, &options, "noise=0.1");
    expect_split(real);
    berth_real_plan_free(real);
}

static void a_small_gain_is_not(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    options.min_gain = 0.9; /* more than there is to gain */
    berth_real_plan *real = place(f, &options, "");
    expect_single(real, real->measured->best, "no split surely gains 90.0 %");
    berth_real_plan_free(real);
    options.min_gain = 0.03;
    real = place(f, &options, "cpu=14 other=30"); /* every split takes longer than the CPU alone */
    assert_false(real->is_split);
    expect_single(real, 0, "cpu alone");
    berth_real_plan_free(real);
}

/* Devices that the user keeps operations from are no answer, be they faster. */
static void bans_force_a_split(void **state) {
    faked *f = *state;
    static const berth_rule bans[] = {{"MatMul", "cpu"}, {"Relu", "webgpu"}};
    berth_limits limits = {.bans = bans, .n_bans = 2};
    berth_real_options options = quick();
    options.place.limits = &limits;
    berth_real_plan *real = place(f, &options, "cpu=3 other=2");
    assert_true(real->is_split && real->measured->gain < 0);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, i < FAKED_BLOCK);
    assert_string_equal(real->verdict, "no device may run it alone");
    berth_real_plan_free(real);
    limits.n_bans = 1; /* then the other device may, and is faster */
    real = place(f, &options, "cpu=3 other=2");
    expect_single(real, 1, "webgpu alone");
    berth_real_plan_free(real);
    limits.bans = bans + 1; /* then the CPU may, and is not; also where evaluations are runs */
    options.place.method = "local";
    options.place.evaluations = 30;
    for (int measured = 0; measured < 2; measured++) {
        options.measured = measured;
        real = place(f, &options, "other=2");
        if (!real->is_split) fail_msg("%s", real->verdict);
        assert_non_null(strstr(real->verdict, "faster than cpu"));
        for (int32_t i = FAKED_BLOCK; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, 0);
        berth_real_plan_free(real);
    }
}

static void a_split_must_be_sound(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    berth_real_plan *real = place(f, &options, "");
    char words[64];
    int n = faked_jobs(f, "split");
    expect_split(real);
    berth_real_plan_free(real);
    real = place(f, &options, "differ=split");
    expect_single(real, real->measured->best, "outputs");
    berth_real_plan_free(real);
    /* the last runs of a split are seven rounds and the check of places: it crashes in the third, as a candidate that
     * was fastest so far */
    snprintf(words, sizeof words, "crash=split@%d", n - 6);
    real = place(f, &options, words);
    expect_single(real, real->measured->best, "does not run");
    assert_true(real->measured->plan.latency.runs > 0);
    berth_real_plan_free(real);
}

/* Written where it was not, read where it is; not for other devices. */
static void profiles_are_kept(void **state) {
    faked *f = *state;
    static const char *const others[] = {"cpu", "cuda"};
    berth_real_options options = quick();
    const char *path = berth_arena_printf(&f->arena, "%s/profile.json", f->folder);
    options.place.profile = path;
    berth_real_plan *real = place(f, &options, "");
    int n = faked_jobs(f, NULL);
    expect_split(real);
    assert_non_null(real->profile);
    assert_int_equal(access(path, R_OK), 0);
    berth_real_plan_free(real);
    real = place(f, &options, "");
    expect_split(real);
    assert_null(real->profile);
    assert_true(faked_jobs(f, NULL) < n);
    berth_real_plan_free(real);
    real = NULL;
    assert_int_equal(berth_place_real(f->ctx, &real, f->runtime, f->graph, f->model, others, 2, &options), BERTH_E_ARG);
    assert_null(real);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "other devices"));
}

/* By a profile from elsewhere: no device has room for everything, but a split runs. */
static void no_device_runs_it_alone(void **state) {
    faked *f = *state;
    berth_real_options options = quick();
    options.place.profile = berth_arena_printf(&f->arena, "%s/profile.json", f->folder);
    berth_real_plan *real = place(f, &options, "");
    expect_split(real);
    berth_real_plan_free(real);
    real = place(f, &options, "crash=cpu kill=other");
    assert_true(real->is_split && real->measured->is_only && real->measured->best < 0);
    assert_non_null(strstr(real->verdict, "could not be compared"));
    berth_real_plan_free(real);
}

/* A plan remembers in which precision it was measured. */
static void precision_is_remembered(void **state) {
    faked *f = *state;
    const char *path = berth_arena_printf(&f->arena, "%s/plan.json", f->folder);
    for (int native = 0; native < 2; native++) {
        berth_real_options options = quick();
        berth_text *text = NULL;
        berth_plan *read = NULL;
        options.profile.run.native_precision = native;
        berth_real_plan *real = place(f, &options, "narrow=0.5");
        assert_int_equal(real->plan->native_precision, native);
        assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
        berth_plan_write(text, real->plan, false);
        assert_int_equal(berth_text_write(f->ctx, text, path), BERTH_OK);
        assert_int_equal(berth_plan_read(f->ctx, &read, path), BERTH_OK);
        assert_int_equal(read->native_precision, native);
        berth_plan_free(read);
        berth_text_free(text);
        berth_real_plan_free(real);
        real = place(f, &options, "cpu=3 other=30 split=40"); /* also where no split is worth being run */
        assert_false(real->is_split);
        assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
        berth_plan_write(text, real->plan, false);
        assert_int_equal(strstr(berth_text_string(text), "\"native\"") != NULL, native);
        berth_text_free(text);
        berth_real_plan_free(real);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(times_are_found, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(pieces_are_found, faked_open_ov, faked_close),
        cmocka_unit_test_setup_teardown(some_do_not_run, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(pieces_agree_with_operations, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_silent_device, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(what_cannot_be_profiled, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(survives_failing_allocations, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_sure_gain_is_taken, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_small_gain_is_not, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(bans_force_a_split, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_split_must_be_sound, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(no_device_runs_it_alone, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(precision_is_remembered, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(profiles_are_kept, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
