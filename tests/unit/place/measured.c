/* SPDX-License-Identifier: Apache-2.0 */
/* Searches whose evaluations are runs, by a worker that takes what the test wants: MatMul 4 ms on the CPU and 1 ms on
 * the other device, Relu the other way round. */
#include "berth/real.h"

#include "faked.h"

enum { EVALUATIONS = 30 };

static berth_real_options quick(const char *method) {
    berth_real_options options = berth_real_options_default();
    options.place.method = method;
    options.place.seconds = INFINITY;
    options.place.evaluations = EVALUATIONS;
    options.place.threads = 1;
    options.profile.processes = options.profile.run.rounds = 1;
    options.profile.placements = 4;
    options.profile.run.least_runs = options.profile.run.most_runs = 3;
    options.measured = true;
    options.candidates = 1;
    return options;
}

/* The same runtime with a store. */
static void reopen(faked *f, bool resume) {
    berth_runtime_options options = berth_runtime_options_default();
    berth_runtime_free(f->runtime);
    options.library = f->model;
    options.worker = BERTH_FAKE_WORKER_PROGRAM;
    options.seconds = 60;
    options.threads = 1;
    options.store = berth_arena_printf(&f->arena, "%s/store", f->folder);
    options.resume = resume;
    assert_int_equal(berth_runtime_new(f->ctx, &f->runtime, &options), BERTH_OK);
}

static berth_status try_place(faked *f, const berth_real_options *options, const char *words, berth_real_plan **out) {
    *out = NULL;
    faked_say(words);
    faked_forget(f);
    return berth_place_real(f->ctx, out, f->runtime, f->graph, f->model, faked_devices, 2, options);
}

/* What holds of every answer. */
static berth_real_plan *place(faked *f, const berth_real_options *options, const char *words) {
    berth_real_plan *real = NULL;
    if (try_place(f, options, words, &real) != BERTH_OK)
        fail_msg("%s, %s: %s", options->place.method, words, berth_ctx_message(f->ctx));
    const berth_plan *plan = real->plan;
    const berth_plan_runs *runs = plan->runs;
    assert_non_null(runs);
    assert_true(runs->placements == runs->made + runs->stored && runs->failed <= runs->placements);
    assert_true(runs->placements >= 2 && runs->placements <= plan->evaluations);
    assert_true(plan->evaluations <= options->place.evaluations && plan->searched);
    assert_true(runs->made <= faked_jobs(f, NULL)); /* which has those of the profile and the last ones, too */
    assert_true(isnan(plan->lower_bound_ms) && isinf(plan->gap));
    assert_true(plan->n_methods > 0);
    assert_null(strchr(real->verdict, '\n'));
    return real;
}

/* What the fake worker takes for it. */
static double true_ms(const berth_plan *plan) {
    double ms = 0;
    for (int32_t i = 0; i < plan->n_ops; i++) {
        bool is_matrix = strcmp(plan->ops[i].type, "MatMul") == 0, is_other = plan->ops[i].device == 1;
        ms += is_matrix == is_other ? 1 : 4;
        if (i > 0 && plan->ops[i].device != plan->ops[i - 1].device) ms += 0.5;
    }
    return ms;
}

/* --- methods ---------------------------------------------------------------------------------------------------- */

static void every_method_measures(void **state) {
    faked *f = *state;
    int n_splits = 0;
    for (int32_t i = 0; berth_method_name(i); i++) {
        berth_real_options options = quick(berth_method_name(i));
        berth_real_plan *real = NULL;
        if (!support_is_optimised() && i % 4 > 0) continue; /* a hundred processes each */
        if (strcmp(options.place.method, "metis") == 0 &&
            try_place(f, &options, "", &real) == BERTH_E_UNSUPPORTED) /* a build without it */
            continue;
        berth_real_plan_free(real);
        real = place(f, &options, "");
        assert_true(true_ms(real->plan) <= fmin(f->cpu_ms, f->other_ms));
        assert_string_equal(real->plan->method, options.place.method);
        assert_int_equal(real->plan->runs->failed, 0);
        n_splits += real->is_split;
        berth_real_plan_free(real);
    }
    assert_true(n_splits >= (support_is_optimised() ? 12 : 2)); /* all but those whose model sees nothing in splits */
}

static void learned_methods_learn_from_runs(void **state) {
    faked *f = *state;
    static const char *const set[] = {"seeds=single"};
    berth_real_options options = quick("hsdag");
    options.place.evaluations = 100;
    options.candidates = 3;
    options.place.set = set;
    options.place.n_set = 1;
    berth_real_plan *real = place(f, &options, "");
    assert_true(real->is_split && real->measured->gain_low > 0.03);
    assert_string_equal(real->plan->found_by, "hsdag");
    assert_true(real->plan->n_settings > 0);
    assert_true(true_ms(real->plan) == f->split_ms);
    assert_true(real->plan->runs->repeated > 0); /* the same placement is run once */
    berth_real_plan_free(real);
}

/* Single-device times of the model are wrong by ten, and its answer with them: what was measured decides. */
static void runs_decide_not_the_model(void **state) {
    faked *f = *state;
    berth_real_options options = quick("local");
    berth_real_plan *real = place(f, &options, "split=100"); /* whatever the model thinks of splits */
    assert_false(real->is_split);
    assert_null(real->measured);
    assert_non_null(strstr(real->verdict, "that were run is faster than"));
    assert_true(real->plan->runs->placements > 10);
    berth_real_plan_free(real);
}

/* --- failures --------------------------------------------------------------------------------------------------- */

/* A placement that crashes or computes other numbers has no time; the search goes around it. */
static void what_fails_is_masked(void **state) {
    faked *f = *state;
    static const char *const methods[] = {"hsdag", "hsdag", "hsdag:paper", "hsdag:code", "placeto",
                                          "rnn",   "local", "anneal",      "random"};
    /* the published networks see one group in a graph as small as this; so that they place each operation */
    static const char *const set[] = {NULL, "design=joint", "architecture=encoder-placer",
                                      "architecture=encoder-placer"};
    static const char *const words[] = {"poison=2", "poison=2 poisoned=differ", "poison=2 poisoned=fail"};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        berth_real_options options = quick(methods[i]);
        if (!support_is_optimised() && i % 3 > 1) continue;
        options.place.evaluations = 40;
        options.place.n_set = i >= 1 && i <= 3;
        options.place.set = options.place.n_set ? &set[i] : NULL;
        berth_real_plan *real = place(f, &options, words[i % 3]);
        const berth_plan_runs *runs = real->plan->runs;
        assert_true(runs->failed > 0 && runs->failed < runs->placements);
        if (real->is_split) assert_int_equal(real->plan->ops[2].device, 0);
        if (i == 0) assert_true(real->is_split && true_ms(real->plan) < f->cpu_ms);
        berth_real_plan_free(real);
    }
}

static void what_hangs_is_masked(void **state) {
    faked *f = *state;
    berth_real_options options = quick("hsdag");
    options.place.evaluations = 12;
    f->runtime->worker.seconds = 0.5;
    berth_real_plan *real = place(f, &options, "poison=0 poisoned=hang");
    assert_true(real->plan->runs->failed > 0);
    assert_true(!real->is_split || real->plan->ops[0].device == 0);
    assert_true(f->runtime->worker.seconds == 0.5);
    berth_real_plan_free(real);
}

/* Splits do not work at all here: after some tries that is clear, and the answer is a device. */
static void no_split_runs(void **state) {
    faked *f = *state;
    berth_real_options options = quick("hsdag");
    options.place.evaluations = 1000;
    berth_real_plan *real = place(f, &options, "crash=split cpu=39");
    assert_false(real->is_split);
    assert_int_equal(real->plan->ops[0].device, 0);
    assert_non_null(strstr(real->verdict, "no split could be run"));
    assert_non_null(strstr(real->verdict, "signal 11"));
    assert_true(real->plan->runs->failed >= 10 && real->plan->runs->failed < 50);
    berth_real_plan_free(real);
}

static void nothing_runs(void **state) {
    faked *f = *state;
    berth_real_options options = quick("hsdag");
    options.place.profile = berth_arena_printf(&f->arena, "%s/profile.json", f->folder);
    berth_real_plan *real = place(f, &options, "");
    berth_real_plan_free(real);
    assert_int_equal(try_place(f, &options, "crash=cpu fail=other silent=split", &real), BERTH_E_UNSUPPORTED);
    assert_null(real);
    assert_non_null(strstr(berth_ctx_message(f->ctx), "neither on one device nor on several"));
    assert_null(strchr(berth_ctx_message(f->ctx), '\n'));
    /* one device alone is enough */
    real = place(f, &options, "crash=cpu silent=split");
    assert_false(real->is_split);
    assert_int_equal(real->plan->ops[0].device, 1);
    berth_real_plan_free(real);
}

/* --- stopping and going on -------------------------------------------------------------------------------------- */

typedef struct patience {
    const faked *f;
    int jobs; /* after which the user has had enough */
} patience;

static bool has_enough(void *user) {
    const patience *p = user;
    return faked_jobs(p->f, NULL) >= p->jobs;
}

static void an_interrupted_search_answers_with_a_device(void **state) {
    faked *f = *state;
    berth_real_options options = quick("hsdag");
    berth_real_plan *real = place(f, &options, "");
    int whole = faked_jobs(f, NULL), made = (int)real->plan->runs->made;
    patience p = {f, 0};
    assert_true(real->is_split);
    berth_real_plan_free(real);
    berth_ctx_set_cancel(f->ctx, has_enough, &p);
    for (int i = 0; i < 2; i++) { /* in its midst, and while the split is confirmed */
        p.jobs = i ? whole - 3 : 12 + made / 2;
        assert_int_equal(try_place(f, &options, "", &real), BERTH_OK);
        assert_false(real->is_split);
        assert_true(real->plan->interrupted);
        assert_non_null(strstr(real->verdict, "interrupted"));
        assert_true(i ? real->plan->runs->made == made : real->plan->runs->made < made);
        berth_real_plan_free(real);
    }
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
}

static bool is_same(const berth_plan *a, const berth_plan *b) {
    bool same = a->evaluations == b->evaluations && a->n_methods == b->n_methods;
    for (int32_t i = 0; i < a->n_ops && same; i++) same = a->ops[i].device == b->ops[i].device;
    for (int32_t i = 0; i < a->n_methods && same; i++)
        same = a->methods[i].makespan_ms == b->methods[i].makespan_ms &&
               a->methods[i].evaluations == b->methods[i].evaluations;
    return same;
}

/* What a stopped search had run is not run again, be it that it failed; and the search goes the same way. */
static void nothing_is_repeated(void **state) {
    faked *f = *state;
    static const char words[] = "poison=2 noise=0.05";
    berth_real_options options = quick("hsdag");
    berth_real_plan *half = NULL, *whole = NULL, *again = NULL;
    reopen(f, true);
    options.place.evaluations = 30;
    half = place(f, &options, words);
    assert_true(half->plan->runs->stored == 0 && half->plan->runs->failed > 0);
    patience p = {f, (int)half->plan->runs->made / 2};
    berth_real_plan_free(half);
    options.place.seed = options.profile.run.seed = 1; /* another search, stopped in its midst */
    berth_ctx_set_cancel(f->ctx, has_enough, &p);
    assert_int_equal(try_place(f, &options, words, &half), BERTH_OK);
    berth_ctx_set_cancel(f->ctx, NULL, NULL);
    int64_t made = half->plan->runs->made, failed = half->plan->runs->failed;
    assert_true(half->plan->interrupted && made > 2);
    reopen(f, true);
    whole = place(f, &options, words);
    assert_int_equal(whole->plan->runs->stored, made);
    assert_true(whole->plan->runs->made > 0 && whole->plan->runs->failed >= failed);
    reopen(f, true);
    options.place.threads = 3;
    again = place(f, &options, "crash=split"); /* splits are no longer run, but those that decide */
    assert_int_equal(again->plan->runs->made, 0);
    assert_int_equal(again->plan->runs->stored, whole->plan->runs->placements);
    assert_int_equal(again->plan->runs->failed, whole->plan->runs->failed);
    assert_int_equal(again->plan->evaluations, whole->plan->evaluations);
    berth_real_plan_free(again);
    again = place(f, &options, words);
    assert_true(is_same(again->plan, whole->plan));
    reopen(f, false); /* who does not resume measures */
    berth_real_plan_free(again);
    again = place(f, &options, words);
    assert_int_equal(again->plan->runs->stored, 0);
    berth_real_plan_free(half);
    berth_real_plan_free(whole);
    berth_real_plan_free(again);
}

static void a_plan_is_written_and_read(void **state) {
    faked *f = *state;
    berth_real_options options = quick("heft");
    berth_text *text = NULL;
    berth_plan *read = NULL;
    const char *path = berth_arena_printf(&f->arena, "%s/plan.json", f->folder);
    berth_real_plan *real = place(f, &options, "");
    assert_int_equal(berth_text_new(f->ctx, &text), BERTH_OK);
    berth_plan_write(text, real->plan, true);
    assert_non_null(strstr(berth_text_string(text), "\"evaluate\": \"measured\""));
    assert_non_null(strstr(berth_text_string(text), "\"evaluation_runs\": {\"placements\": "));
    assert_non_null(strstr(berth_text_string(text), "\"lower_bound_ms\": null"));
    assert_int_equal(berth_text_write(f->ctx, text, path), BERTH_OK);
    assert_int_equal(berth_plan_read(f->ctx, &read, path), BERTH_OK);
    assert_true(isnan(read->lower_bound_ms) && isinf(read->gap));
    berth_plan_free(read);
    berth_text_free(text);
    berth_real_plan_free(real);
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static berth_status place_once(berth_ctx *ctx, void *user) {
    const faked *f = user;
    berth_real_options options = quick("random");
    berth_real_plan *real = NULL;
    options.place.evaluations = 4;
    options.place.profile = berth_arena_printf((berth_arena *)&f->arena, "%s/profile.json", f->folder);
    berth_status status = berth_place_real(ctx, &real, f->runtime, f->graph, f->model, faked_devices, 2, &options);
    berth_real_plan_free(real);
    return status;
}

static void survives_failing_allocations(void **state) {
    faked *f = *state;
    if (!support_is_optimised()) return; /* some thousand processes: minutes, where they are slow */
    faked_say("poison=2");
    assert_int_equal(place_once(f->ctx, f), BERTH_OK); /* writes the profile */
    assert_true(support_ladder(place_once, f, 60) > 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_method_measures, faked_open_branches, faked_close),
        cmocka_unit_test_setup_teardown(learned_methods_learn_from_runs, faked_open_branches, faked_close),
        cmocka_unit_test_setup_teardown(runs_decide_not_the_model, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(what_fails_is_masked, faked_open_branches, faked_close),
        cmocka_unit_test_setup_teardown(what_hangs_is_masked, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(no_split_runs, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(nothing_runs, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(an_interrupted_search_answers_with_a_device, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(nothing_is_repeated, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(a_plan_is_written_and_read, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(survives_failing_allocations, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
