/* SPDX-License-Identifier: Apache-2.0 */
/* Learned methods as rows of the table: settings and policies reach them and stand in the plan; budgets, threads,
 * memory and marks are as with any other method. */
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graph;
    berth_device_set *devices;
    char path[64];
} fixture;

static int set_up(void **state) {
    static fixture f;
    berth_case item = {BERTH_GENERATED_LAYERS, support_is_slow() ? 12 : 40, 3, BERTH_CASE_CONCURRENT, 7};
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    assert_int_equal(berth_case_generate(f.ctx, &f.graph, &f.devices, &item), BERTH_OK);
    snprintf(f.path, sizeof f.path, "/tmp/berth-learned-%ld.ckpt", (long)getpid());
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    berth_device_set_free(f->devices);
    berth_graph_free(f->graph);
    berth_ctx_free(f->ctx);
    return 0;
}

static berth_place_options options(const char *method, int64_t evaluations) {
    berth_place_options how = berth_place_options_default();
    how.method = method;
    how.evaluations = evaluations;
    how.seconds = INFINITY;
    how.unbounded = true;
    return how;
}

static char *plan_text(berth_ctx *ctx, const berth_plan *plan) {
    berth_text *text = NULL;
    assert_int_equal(berth_text_new(ctx, &text), BERTH_OK);
    berth_plan_write(text, plan, false);
    char *copy = strdup(berth_text_string(text));
    berth_text_free(text);
    return copy;
}

static void the_same_on_any_number_of_threads(void **state) {
    const char *set = "ban_single=off"; /* else everything that is drawn may be a failure, where it is little */
    const int64_t most = support_is_slow() ? 30 : 200;
    fixture *f = *state;
    for (int m = 0; berth_learned_method(m); m++) {
        char *texts[3];
        for (int i = 0; i < 3; i++) {
            berth_plan *plan = NULL;
            berth_place_options how = options(berth_learned_method(m), most);
            how.threads = 1 + 2 * (i / 2); /* twice alone, once with three */
            how.seed = 4;
            how.set = &set;
            how.n_set = support_is_slow() && strncmp(how.method, "hsdag:", 6) == 0;
            assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
            assert_true(plan->evaluations <= most && plan->evaluations > most / 2);
            assert_true(plan->n_settings > 5);
            texts[i] = plan_text(f->ctx, plan);
            berth_plan_free(plan);
        }
        assert_string_equal(texts[0], texts[1]);
        assert_string_equal(texts[0], texts[2]);
        for (int i = 0; i < 3; i++) free(texts[i]);
    }
}

static const berth_plan_setting *find_setting(const berth_plan *plan, const char *name) {
    for (int32_t i = 0; i < plan->n_settings; i++)
        if (strcmp(plan->settings[i].name, name) == 0) return &plan->settings[i];
    return NULL;
}

/* Set, stored, written and read back: one of each kind. */
static void settings_stand_in_the_plan(void **state) {
    fixture *f = *state;
    static const char *const set[] = {"learning_rate=0.25", "steps=4", "ban_single=off", "return=per-step"};
    berth_plan *plan = NULL, *back = NULL;
    berth_place_options how = options("hsdag:code", 40);
    how.set = set;
    how.n_set = 4;
    assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
    char *text = plan_text(f->ctx, plan);
    FILE *file = fopen(f->path, "w");
    fputs(text, file);
    fclose(file);
    if (berth_plan_read(f->ctx, &back, f->path) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
    assert_int_equal(back->n_settings, plan->n_settings);
    for (int i = 0; i < 2; i++) {
        const berth_plan *p = i ? back : plan;
        assert_true(find_setting(p, "learning_rate")->number == 0.25);
        assert_true(find_setting(p, "steps")->number == 4);
        assert_true(find_setting(p, "ban_single")->is_switch && find_setting(p, "ban_single")->number == 0);
        assert_string_equal(find_setting(p, "return")->word, "per-step");
        assert_null(find_setting(p, "rnn_hidden"));
        assert_null(p->policy_sha256);
    }
    char *again = plan_text(f->ctx, back);
    assert_string_equal(text, again);
    free(text);
    free(again);
    berth_plan_free(plan);
    berth_plan_free(back);
}

static void refuse(fixture *f, const berth_place_options *how, berth_status status, const char *fragment) {
    berth_plan *plan = NULL;
    assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, how), status);
    assert_null(plan);
    if (!strstr(berth_ctx_message(f->ctx), fragment)) fail_msg("%s", berth_ctx_message(f->ctx));
}

static void train(fixture *f, const char *method, const char *set) {
    berth_lesson lesson = {.graph = f->graph, .devices = f->devices};
    berth_train_options how = berth_train_options_default();
    berth_policy *policy = NULL;
    how.method = method;
    how.set = &set;
    how.n_set = set != NULL;
    how.episodes = 2;
    how.seed = 9; /* other initial weights than those of a search without policy */
    how.output = f->path;
    assert_int_equal(berth_train(f->ctx, &policy, &lesson, 1, &how), BERTH_OK);
    berth_policy_free(policy);
}

static void nonsense_is_refused(void **state) {
    fixture *f = *state;
    const char *set = "learning_rat=1";
    berth_place_options how = options("hsdag", 50);
    how.set = &set;
    how.n_set = 1;
    refuse(f, &how, BERTH_E_ARG, "did you mean 'learning_rate'?");
    how.method = "heft";
    refuse(f, &how, BERTH_E_ARG, "heft does not learn");
    how = options("heft", 50);
    how.policy = f->path;
    refuse(f, &how, BERTH_E_ARG, "heft does not learn");
    how = options("hsdag", 50);
    how.policy = "/nowhere/policy.ckpt";
    refuse(f, &how, BERTH_E_IO, "/nowhere");
    train(f, "hsdag:code", NULL);
    how.policy = f->path;
    refuse(f, &how, BERTH_E_ARG, "policy of hsdag:code, not of hsdag");
    how.method = "hsdag:code";
    set = "hidden=64";
    how.set = &set;
    how.n_set = 1;
    refuse(f, &how, BERTH_E_ARG, "128");
}

/* It starts from the parameters of the file, with its settings; so it draws other placements than without. */
static void policies_are_started_from(void **state) {
    fixture *f = *state;
    berth_plan *with = NULL, *without = NULL;
    static const int64_t marks[] = {1, 2, 3, 5, 8, 13};
    double ms[2][6];
    train(f, "hsdag:code", "learning_rate=0.5");
    const char *set = "ban_single=off"; /* else everything that is drawn may be a failure */
    berth_place_options how = options("hsdag:code", 20);
    how.marks = marks;
    how.marks_ms = ms[0];
    how.n_marks = 6;
    how.set = &set;
    how.n_set = 1;
    assert_int_equal(berth_place(f->ctx, &without, f->graph, f->devices, &how), BERTH_OK);
    how.policy = f->path;
    how.marks_ms = ms[1];
    if (berth_place(f->ctx, &with, f->graph, f->devices, &how) != BERTH_OK) fail_msg("%s", berth_ctx_message(f->ctx));
    assert_true(find_setting(with, "learning_rate")->number == 0.5);
    assert_true(find_setting(without, "learning_rate")->number == 1e-3);
    assert_int_equal(strlen(with->policy_sha256), 64);
    assert_null(without->policy_sha256);
    assert_memory_not_equal(ms[0], ms[1], sizeof ms[0]);
    berth_plan_free(with);
    berth_plan_free(without);
}

/* Learned baselines answer by their own samples; hsdag starts from single devices and is never worse. */
static void sources_are_said(void **state) {
    fixture *f = *state;
    for (int m = 0; berth_learned_method(m); m++) {
        berth_plan *plan = NULL;
        berth_place_options how = options(berth_learned_method(m), support_is_slow() ? 40 : 300);
        const char *set = "ban_single=off";
        how.set = &set;
        how.n_set = strncmp(how.method, "hsdag:", 6) == 0;
        assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
        bool ours = strcmp(how.method, "hsdag") == 0;
        if (!ours) assert_string_equal(plan->source, "sample");
        if (!ours) assert_string_equal(plan->found_by, how.method);
        for (int32_t d = 0; ours && d < plan->n_devices; d++) assert_true(plan->makespan_ms <= plan->single_ms[d]);
        berth_plan_free(plan);
    }
}

static void marks_are_filled(void **state) {
    fixture *f = *state;
    static const int64_t marks[] = {10, 50, 200, 5000};
    static const char *const methods[] = {"hsdag", "anneal", "random", "heft", "rnn", "auto"};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        double ms[4] = {0};
        berth_plan *plan = NULL;
        berth_place_options how = options(methods[m], support_is_slow() ? 60 : 400);
        how.marks = marks;
        how.marks_ms = ms;
        how.n_marks = 4;
        assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
        for (int i = 0; i < 4; i++) assert_true(ms[i] >= plan->makespan_ms * (1 - 1e-9));
        for (int i = 1; i < 4; i++) assert_true(ms[i] <= ms[i - 1]);
        assert_true(ms[3] == plan->makespan_ms);
        berth_plan_free(plan);
    }
}

/* Seeds are counted, and what improves starts from the best of them. */
static void seeded_is_better_than_its_seeds(void **state) {
    fixture *f = *state;
    berth_plan *heft = NULL, *plan = NULL;
    berth_place_options how = options("heft", 100);
    assert_int_equal(berth_place(f->ctx, &heft, f->graph, f->devices, &how), BERTH_OK);
    how = options("local", 100);
    how.seeded = true;
    assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
    assert_true(plan->makespan_ms <= heft->makespan_ms && plan->evaluations == 100);
    assert_string_equal(plan->methods[1].method, "seeds");
    assert_true(plan->methods[1].evaluations >= 5);
    berth_plan_free(heft);
    berth_plan_free(plan);
}

/* With enough evaluations the portfolio has a lane that learns; its settings are then in the plan. */
static void the_portfolio_learns(void **state) {
    fixture *f = *state;
    bool learnt[2] = {false};
    for (int i = 0; i < 2; i++) {
        berth_plan *plan = NULL;
        berth_place_options how = options("auto", i ? 12000 : 1000);
        assert_int_equal(berth_place(f->ctx, &plan, f->graph, f->devices, &how), BERTH_OK);
        for (int32_t k = 0; k < plan->n_methods; k++) learnt[i] |= strcmp(plan->methods[k].method, "hsdag") == 0;
        assert_true(learnt[i] == (plan->n_settings > 0));
        if (learnt[i]) assert_string_equal(find_setting(plan, "seeds")->word, "single");
        berth_plan_free(plan);
    }
    assert_false(learnt[0]);
    assert_true(learnt[1]);
}

typedef struct rung {
    const fixture *f;
    const char *method;
} rung;

static berth_status place(berth_ctx *ctx, void *user) {
    const rung *r = user;
    berth_case item = {BERTH_GENERATED_BRANCHES, 6, 2, BERTH_CASE_CONCURRENT, 3};
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_plan *plan = NULL;
    const char *set = "ban_single=off";
    berth_place_options how = options(r->method, 45);
    how.threads = 1;
    how.set = &set;
    how.n_set = strncmp(how.method, "hsdag:", 6) == 0;
    berth_status status = berth_case_generate(ctx, &graph, &devices, &item);
    if (status == BERTH_OK) status = berth_place(ctx, &plan, graph, devices, &how);
    berth_plan_free(plan);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static void ladder(void **state) {
    for (int m = 0; berth_learned_method(m); m++) {
        rung r = {*state, berth_learned_method(m)};
        print_message("%s: %ld allocations\n", r.method, support_ladder(place, &r, 7));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_same_on_any_number_of_threads, set_up, tear_down),
        cmocka_unit_test_setup_teardown(settings_stand_in_the_plan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nonsense_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(policies_are_started_from, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sources_are_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(marks_are_filled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seeded_is_better_than_its_seeds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_portfolio_learns, set_up, tear_down),
        cmocka_unit_test_setup_teardown(ladder, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("place.learned", tests, NULL, NULL);
}
