/* SPDX-License-Identifier: Apache-2.0 */
/* The one-shot policy: it keeps budgets and constraints, repeats to the bit, draws groups whose log-probability is that
 * of the draws, and learns: it ends well below itself without learning. */
#include "learning.h"

#include "berth/bench.h"
#include "learn/joint.h"
#include "learn/joint_net.h"

static berth_settings settings_of(berth_ctx *ctx, const char *text) {
    return learning_settings(ctx, "design=joint", text);
}

static const char *const variants[] = {
    "",
    "architecture=encoder-placer",
    "architecture=grouper-placer groups=3",
    "architecture=grouper-placer groups=100 entropy=0.1",
    "seeds=single polish=0 clip=0",
    "seeds=none epochs=1 steps=7",
    "learning_rate=0 polish=0.5",
    "polish=1 feature_cost=off",
    "design=faithful steps=5",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Any problem, any architecture: what comes out is feasible and rightly priced, and the same again. */
static void any_problem(void **state) {
    uint64_t seed = 71;
    for (int i = 0; i < support_cases(160); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 25, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        char text[200];
        snprintf(text, sizeof text, "hidden=8 %s", variants[i % N_VARIANTS]);
        berth_settings settings = settings_of(*state, text);
        berth_search *search = support_search(*state, problem, 3, 60, 1),
                     *again = support_search(*state, problem, 3, 60, 2);
        learning_run(search, &settings, NULL);
        learning_run(again, &settings, NULL);
        support_check_best(*state, search);
        support_same_best(search, again);
        berth_search_free(search);
        berth_search_free(again);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* --- the network ------------------------------------------------------------------------------------------------ */

/* Clusters are what parents join, found by a naive twin; the log-probability of what was drawn is that of the rows. */
static void clusters_are_joined_parents(void **state) {
    enum { N = 5 };
    support_setting s;
    berth_case item = {.kind = BERTH_GENERATED_BRANCHES, .n_ops = 60, .n_devices = 3, .rule = BERTH_CASE_CONCURRENT};
    assert_int_equal(support_setting_make(*state, &s, item), BERTH_OK);
    berth_search *search = support_search(*state, s.problem, 1, 100, 1);
    berth_settings settings = settings_of(*state, "");
    berth_policy *policy = NULL;
    berth_arena arena;
    berth_joint_net net = {.rollout.search = search};
    berth_joint_draw draws[N];
    const berth_joint_draw *list[N];
    berth_joint_pass pass;
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_int_equal(berth_joint_net_open(&net, search, policy, &arena), BERTH_OK);
    for (int i = 0; i < N; i++) {
        assert_true(berth_joint_draw_init(&net, &arena, &draws[i]));
        list[i] = &draws[i];
    }
    assert_int_equal(berth_joint_sample(&net, &arena, draws, N, &pass), BERTH_OK);
    assert_int_equal(berth_joint_replay(&net, &arena, list, N, &pass), BERTH_OK);
    int32_t n_nodes = net.rollout.view->n_nodes, n_several = 0, label[200];
    assert_in_range(n_nodes, 1, 200);
    for (int i = 0; i < N; i++) {
        for (int32_t v = 0; v < n_nodes; v++) label[v] = v;
        for (bool changed = true; changed;) {
            changed = false;
            for (int32_t v = 0; v < n_nodes; v++) {
                int32_t row = draws[i].choice[v], parent = net.row_to[row], least = label[v];
                assert_in_range(row, net.row_start[v], net.row_start[v + 1] - 1);
                assert_true(pass.of_choices->value[i * n_nodes + v] == pass.choices->value[row]);
                if (label[parent] < least) least = label[parent];
                changed |= label[v] != least || label[parent] != least;
                label[v] = label[parent] = least;
            }
        }
        for (int32_t a = 0; a < n_nodes; a++)
            for (int32_t b = 0; b < a; b++) {
                bool together = draws[i].cluster_of[a] == draws[i].cluster_of[b];
                assert_true(together == (label[a] == label[b]));
                n_several += together;
            }
        assert_in_range(draws[i].n_clusters, 2, n_nodes - 1);
    }
    assert_true(n_several > 0);
    berth_joint_net_close(&net);
    berth_arena_deinit(&arena);
    berth_policy_free(policy);
    berth_search_free(search);
    support_setting_free(&s);
}

/* --- learning --------------------------------------------------------------------------------------------------- */

static void it_learns(void **state) {
    enum { N_SEEDS = 2 };
    berth_settings on = settings_of(*state, "seeds=none polish=0 learning_rate=3e-3"),
                   off = settings_of(*state, "seeds=none polish=0 learning_rate=0");
    learning_tally tally = {.on = &on, .off = &off, .evaluations = 1000};
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++) {
        support_setting s;
        berth_case item = {(berth_generated)kind, 80, 4, BERTH_CASE_CONCURRENT, 25};
        assert_int_equal(support_setting_make(*state, &s, item), BERTH_OK);
        for (uint64_t seed = 0; seed < N_SEEDS; seed++) learning_pair(*state, &tally, s.problem, seed);
        support_setting_free(&s);
    }
    learning_check(&tally);
}

/* Others than hsdag have no other design. */
static void the_published_are_as_published(void **state) {
    support_setting s;
    berth_case item = {BERTH_GENERATED_LAYERS, 12, 2, BERTH_CASE_CONCURRENT, 1};
    berth_settings settings;
    assert_int_equal(support_setting_make(*state, &s, item), BERTH_OK);
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag:paper"), BERTH_OK);
    assert_int_equal(berth_settings_set(*state, &settings, "design=joint"), BERTH_OK);
    berth_search *search = support_search(*state, s.problem, 1, 10, 1);
    const berth_learn learn = {.settings = &settings};
    search->learn = &learn;
    assert_int_equal(berth_learn_hsdag_paper(search), BERTH_E_ARG);
    assert_non_null(strstr(berth_ctx_message(*state), "hsdag:paper has one design"));
    berth_search_free(search);
    support_setting_free(&s);
}

/* A policy of one graph goes on with it, and is refused for another and for the other design. */
static void policies_fit_or_are_refused(void **state) {
    support_setting one, other;
    berth_case item = {BERTH_GENERATED_TRANSFORMER, 60, 3, BERTH_CASE_CONCURRENT, 5};
    assert_int_equal(support_setting_make(*state, &one, item), BERTH_OK);
    item.n_devices = 4;
    assert_int_equal(support_setting_make(*state, &other, item), BERTH_OK);
    berth_settings settings = settings_of(*state, "");
    berth_policy *policy = NULL;
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    for (int i = 0; i < 2; i++) {
        berth_search *search = support_search(*state, one.problem, 1, 100, 1);
        learning_run(search, &settings, policy);
        berth_search_free(search);
    }
    const berth_learn learn = {.policy = policy};
    berth_search *search = support_search(*state, other.problem, 1, 100, 1);
    search->learn = &learn;
    assert_int_equal(berth_learn_hsdag(search), BERTH_E_ARG);
    berth_search_free(search);
    assert_int_equal(berth_settings_set(*state, berth_policy_change(policy), "design=refine"), BERTH_OK);
    search = support_search(*state, one.problem, 1, 100, 1);
    search->learn = &learn;
    assert_int_equal(berth_learn_hsdag(search), BERTH_E_ARG);
    berth_search_free(search);
    berth_policy_free(policy);
    support_setting_free(&one);
    support_setting_free(&other);
}

static berth_status place(berth_ctx *ctx, void *user) {
    support_setting s;
    berth_search *search = NULL;
    berth_settings settings = settings_of(ctx, user);
    const berth_learn learn = {.settings = &settings};
    berth_case item = {BERTH_GENERATED_BRANCHES, 12, 3, BERTH_CASE_MEMORY, 3};
    berth_status status = support_setting_make(ctx, &s, item);
    if (status == BERTH_OK) status = berth_search_new(ctx, &search, s.problem, 1, (berth_budget){30, INFINITY}, 1);
    if (status == BERTH_OK) {
        search->learn = &learn;
        status = berth_learn_hsdag(search);
    }
    berth_search_free(search);
    support_setting_free(&s);
    return status;
}

static void allocation_failures_are_reported(void **state) {
    char texts[][64] = {"steps=4 hidden=4", "steps=4 hidden=4 architecture=grouper-placer",
                        "steps=4 hidden=4 architecture=encoder-placer"};
    (void)state;
    for (int i = 0; i < 3; i++) support_ladder(place, texts[i], 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_problem, support_open, support_close),
        cmocka_unit_test_setup_teardown(clusters_are_joined_parents, support_open, support_close),
        cmocka_unit_test_setup_teardown(it_learns, support_open, support_close),
        cmocka_unit_test_setup_teardown(the_published_are_as_published, support_open, support_close),
        cmocka_unit_test_setup_teardown(policies_fit_or_are_refused, support_open, support_close),
        cmocka_unit_test_setup_teardown(allocation_failures_are_reported, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.joint", tests, NULL, NULL);
}
