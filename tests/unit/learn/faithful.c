/* SPDX-License-Identifier: Apache-2.0 */
/* The published method: it obeys budgets and constraints, repeats to the bit, notices divergence, and shows what
 * shared/HSDAG.md 4.4 and 12 say of it. */
#include "models.h"

#include <math.h>
#include <stdio.h>

#include "learn/rollout.h"

static const struct {
    const char *name;
    berth_status (*run)(berth_search *search);
} methods[] = {{"hsdag:code", berth_learn_hsdag_code}, {"hsdag:paper", berth_learn_hsdag_paper}};

/* Defaults but for a small network, and whatever `text` says: settings separated by blanks. */
static berth_settings settings_of(berth_ctx *ctx, int method, const char *text) {
    berth_settings settings;
    char copy[400], *rest = copy;
    snprintf(copy, sizeof copy, "hidden=8 steps=5 %s", text);
    assert_int_equal(berth_settings_default(ctx, &settings, methods[method].name), BERTH_OK);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (berth_settings_set(ctx, &settings, word) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return settings;
}

static void run(berth_search *search, int method, const berth_settings *settings) {
    const berth_learn learn = {.settings = settings};
    search->learn = &learn;
    if (methods[method].run(search) != BERTH_OK) fail_msg("%s", berth_ctx_message(search->ctx));
    search->learn = NULL;
}

static const char *const variants[] = {
    "",
    "architecture=encoder-placer",
    "architecture=grouper-placer groups=3",
    "return=advantage ban_single=off",
    "return=shared epochs=2 state_update=off",
    "entropy=0.1 ignore_self_loop=off symmetric=on",
    "max_rounds=2 dropout_network=0 feature_cost=on feature_position=sinusoid",
    "dropout_parsing=0.3 feature_fractal=on colocate=none",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* --- contracts -------------------------------------------------------------------------------------------------- */

/* Any problem, any architecture: what is offered is a placement of the problem at its price, within the budget, and the
 * same again. */
static void random_problems(void **state) {
    uint64_t seed = 31;
    int n_answers = 0, n = support_is_slow() ? N_VARIANTS : support_cases(160);
    for (int i = 0; i < n; i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 25, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_settings settings = settings_of(*state, i % 2, variants[i % N_VARIANTS]);
        berth_search *one = support_search(*state, problem, 5, 33, 1), *two = support_search(*state, problem, 5, 33, 2);
        run(one, i % 2, &settings);
        run(two, i % 2, &settings);
        assert_true(one->evaluations <= 33);
        support_check_best(*state, one);
        assert_int_equal(one->has_best, two->has_best);
        assert_int_equal(one->evaluations, two->evaluations);
        if (one->has_best) {
            assert_true(one->best_ms == two->best_ms);
            assert_memory_equal(one->best_device, two->best_device, (size_t)costs->n_tasks * sizeof(int32_t));
            assert_int_equal(one->best_source, BERTH_SOURCE_SAMPLE);
        }
        n_answers += one->has_best;
        berth_search_free(one);
        berth_search_free(two);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    print_message("%d answers of %d\n", n_answers, n);
    if (!support_is_slow()) assert_true(n_answers > n / 3);
}

static void budgets_are_kept(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    for (int64_t budget = 0; budget < 30; budget += 3) {
        berth_settings settings = settings_of(*state, 0, "");
        berth_search *search = support_search(*state, model.problem, 1, budget, 1);
        run(search, 0, &settings);
        assert_int_equal(search->evaluations, budget);
        berth_search_free(search);
    }
    /* As many episodes as the settings say, where the budget allows. */
    berth_settings settings = settings_of(*state, 0, "episodes=3");
    berth_search *search = support_search(*state, model.problem, 1, 1000, 1);
    run(search, 0, &settings);
    assert_int_equal(search->evaluations, 15);
    berth_search_free(search);
    support_model_close(&model);
}

static bool is_single(const int32_t *device, int32_t n) {
    for (int32_t i = 1; i < n; i++)
        if (device[i] != device[0]) return false;
    return true;
}

/* The ban: no answer on one device, though one would be best; lifted, such answers come. */
static void single_devices_are_banned(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    int n_single[2] = {0};
    for (uint64_t seed = 0; seed < 10; seed++)
        for (int ban = 0; ban < 2; ban++) {
            berth_settings settings = settings_of(*state, 0, ban ? "" : "ban_single=off");
            berth_search *search = support_search(*state, model.problem, seed, 100, 1);
            run(search, 0, &settings);
            n_single[ban] += search->has_best && is_single(search->best_device, model.costs->n_tasks);
            berth_search_free(search);
        }
    assert_int_equal(n_single[1], 0);
    assert_true(n_single[0] > 0);
    support_model_close(&model);
}

typedef struct told {
    int n;
    double clusters, entropy;
} told;

static void tell(void *user, const berth_episode *episode) {
    told *t = user;
    t->n++;
    t->clusters += episode->clusters;
    t->entropy += episode->entropy;
    assert_true(episode->best_ms <= episode->mean_ms);
    assert_true(episode->clusters >= 1 && episode->entropy >= 0 && episode->entropy <= log(2) + 1e-6);
    assert_true(episode->seconds >= 0);
}

/* A policy goes on where it stopped: two searches of one policy, and what they leave in it, repeat; features of another
 * graph are refused. */
static void policies_are_kept(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    support_model other = support_model_open(*state, "models/ir/resnet50.xml", "cpu,gpu");
    berth_settings settings = settings_of(*state, 0, "");
    berth_real *first = NULL;
    for (int round = 0; round < 2; round++) {
        berth_policy *policy = NULL;
        told t = {0};
        assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
        const berth_learn learn = {.policy = policy, .episode = tell, .user = &t};
        for (uint64_t seed = 1; seed <= 2; seed++) {
            berth_search *search = support_search(*state, model.problem, seed, 20, 1);
            search->learn = &learn;
            assert_int_equal(berth_learn_hsdag_code(search), BERTH_OK);
            berth_search_free(search);
        }
        assert_int_equal(t.n, 8);
        assert_int_equal(policy->params.steps, 8);
        if (round == 0) {
            first = calloc(policy->params.n, sizeof *first);
            memcpy(first, policy->params.value, policy->params.n * sizeof *first);
        } else {
            assert_memory_equal(first, policy->params.value, policy->params.n * sizeof *first);
        }
        berth_search *search = support_search(*state, other.problem, 1, 20, 1);
        search->learn = &learn;
        assert_int_equal(berth_learn_hsdag_code(search), BERTH_E_ARG);
        berth_search_free(search);
        berth_policy_free(policy);
    }
    free(first);
    support_model_close(&model);
    support_model_close(&other);
}

/* Parameters that are no numbers, and steps that make them so, end the search with a message; what was found stays. */
static void divergence_is_noticed(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    berth_settings settings = settings_of(*state, 0, "ban_single=off");
    berth_policy *policy = NULL;
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    const berth_learn learn = {.policy = policy};
    berth_search *search = support_search(*state, model.problem, 1, 40, 1);
    search->learn = &learn;
    assert_int_equal(berth_learn_hsdag_code(search), BERTH_OK);
    assert_true(search->has_best);
    assert_int_equal(berth_policy_keep(policy), BERTH_OK);
    double before = (double)policy->params.value[7];
    policy->params.value[7] = (berth_real)NAN;
    search->budget.evaluations = 80;
    assert_int_equal(berth_learn_hsdag_code(search), BERTH_E_NUMERIC);
    assert_true(strlen(berth_ctx_message(*state)) > 0);
    assert_true(search->has_best && search->evaluations < 80);
    berth_policy_go_back(policy);
    assert_true((double)policy->params.value[7] == before);
    assert_int_equal(berth_learn_hsdag_code(search), BERTH_OK);
    berth_search_free(search);
    berth_policy_free(policy);
    support_model_close(&model);
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

typedef struct ladder {
    const berth_problem *problem;
    berth_settings settings;
    int method;
} ladder;

static berth_status climb(berth_ctx *ctx, void *user) {
    const ladder *l = user;
    const berth_learn learn = {.settings = &l->settings};
    berth_search *search = NULL;
    BERTH_TRY(berth_search_new(ctx, &search, l->problem, 1, (berth_budget){7, INFINITY}, 1));
    search->learn = &learn;
    berth_status status = methods[l->method].run(search);
    berth_search_free(search);
    return status;
}

static void runs_out_of_memory_cleanly(void **state) {
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    for (int i = 0; i < N_VARIANTS; i++) {
        ladder l = {model.problem, settings_of(*state, i % 2, variants[i]), i % 2};
        l.settings.value[BERTH_SET_STEPS] = 2;
        support_ladder(climb, &l, 1);
    }
    support_model_close(&model);
}

typedef struct meter {
    long calls, at_episode[64];
    int n;
} meter;

static void *count_calls(void *user, void *old, size_t old_size, size_t new_size) {
    (void)old_size;
    ((meter *)user)->calls++;
    if (new_size) return realloc(old, new_size);
    free(old);
    return NULL;
}

static void note_calls(void *user, const berth_episode *episode) {
    meter *m = user;
    (void)episode;
    m->at_episode[m->n++] = m->calls;
}

/* Once the largest samples were seen, episodes allocate nothing: here, nothing in the last half of them. */
static void warm_episodes_allocate_nothing(void **state) {
    meter m = {0};
    berth_allocator allocator = {count_calls, &m};
    berth_ctx *ctx = NULL;
    (void)state;
    assert_int_equal(berth_ctx_new(&ctx, &allocator), BERTH_OK);
    support_model model = support_model_open(ctx, "tests/golden/cnn.xml", "cpu,gpu");
    berth_settings settings = settings_of(ctx, 0, "episodes=60");
    berth_search *search = support_search(ctx, model.problem, 1, 10000, 1);
    const berth_learn learn = {.settings = &settings, .episode = note_calls, .user = &m};
    search->learn = &learn;
    assert_int_equal(berth_learn_hsdag_code(search), BERTH_OK);
    assert_int_equal(m.n, 60);
    assert_int_equal(m.at_episode[59], m.at_episode[30]);
    berth_search_free(search);
    support_model_close(&model);
    berth_ctx_free(ctx);
}

/* --- facts ------------------------------------------------------------------------------------------------------ */

/* Clusters of untrained networks on ResNet-50: mean, and the share of passes that end as one. */
static double clusters_of(berth_ctx *ctx, const berth_problem *problem, const berth_settings *settings, int n_networks,
                          int n_passes, double *singles) {
    double sum = 0;
    *singles = 0;
    for (int i = 0; i < n_networks; i++) {
        berth_search *search = support_search(ctx, problem, (uint64_t)i, 1, 1);
        berth_policy *policy = NULL;
        berth_rollout rollout;
        berth_arena arena;
        assert_int_equal(berth_policy_new(ctx, &policy, settings), BERTH_OK);
        if (berth_rollout_open(&rollout, search, policy) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
        berth_arena_init(&arena, berth_ctx_allocator(ctx));
        for (int pass = 0; pass < n_passes; pass++) {
            berth_sample sample;
            berth_tape_clear(rollout.tape);
            berth_tape_record(rollout.tape, false);
            berth_arena_empty(&arena);
            assert_int_equal(berth_rollout_sample(&rollout, &arena, rollout.start, &sample), BERTH_OK);
            sum += sample.pass.n_clusters;
            *singles += sample.pass.n_clusters == 1;
        }
        berth_arena_deinit(&arena);
        berth_rollout_close(&rollout);
        berth_policy_free(policy);
        berth_search_free(search);
    }
    *singles /= n_networks * n_passes;
    return sum / (n_networks * n_passes);
}

static void clusters_of_resnet(void **state) {
    support_model model = support_model_open(*state, "models/ir/resnet50.xml", "paper");
    berth_settings settings;
    double singles = 0;
    int n = support_cases(10);
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag:code"), BERTH_OK);
    double dropout = clusters_of(*state, model.problem, &settings, n, 10, &singles);
    print_message("with dropout %.1f clusters, %.0f %% of passes end as one\n", dropout, 100 * singles);
    if (n == 10) assert_true(dropout > 1.5 && dropout < 6 && singles < 0.5);
    assert_int_equal(berth_settings_set(*state, &settings, "dropout_network=0"), BERTH_OK);
    assert_true(clusters_of(*state, model.problem, &settings, n, 1, &singles) == 1);
    assert_int_equal(berth_settings_default(*state, &settings, "hsdag"), BERTH_OK);
    double ours = clusters_of(*state, model.problem, &settings, n, 1, &singles);
    print_message("by our defaults %.1f clusters\n", ours);
    assert_true(ours > 2 && singles == 0);
    support_model_close(&model);
}

typedef struct course {
    double ms[400];
    int n;
} course;

static void keep_mean(void *user, const berth_episode *episode) {
    course *c = user;
    if (c->n < 400) c->ms[c->n++] = episode->mean_ms;
}

static double mean_of(const double *x, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] / n;
    return sum;
}

/* What the published update does not do, one change makes it do: with the ban lifted and an advantage per step, samples
 * get faster by learning; at rate 0 they do not. */
static void advantages_learn(void **state) {
    double fell[2];
    if (support_cases(60) < 60) support_skip("learning takes its time");
    support_model model = support_model_open(*state, "models/ir/resnet50.xml", "paper");
    for (int learns = 0; learns < 2; learns++) {
        berth_settings settings = settings_of(*state, 0,
                                              "hidden=32 steps=20 episodes=60 return=advantage discount=1 "
                                              "ban_single=off feature_position=rank");
        course c = {.n = 0};
        berth_search *search = support_search(*state, model.problem, 3, 100000, 1);
        const berth_learn learn = {.settings = &settings, .episode = keep_mean, .user = &c};
        settings.value[BERTH_SET_LEARNING_RATE] = learns ? 3e-3 : 0;
        search->learn = &learn;
        assert_int_equal(berth_learn_hsdag_code(search), BERTH_OK);
        assert_int_equal(c.n, 60);
        fell[learns] = mean_of(c.ms + 45, 15) / mean_of(c.ms, 15);
        print_message("%s: mean of the last 15 episodes %.3f of the first\n", learns ? "learning" : "rate 0",
                      fell[learns]);
        berth_search_free(search);
    }
    assert_true(fell[1] < 0.9 * fell[0]);
    support_model_close(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_problems, support_open, support_close),
        cmocka_unit_test_setup_teardown(budgets_are_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(single_devices_are_banned, support_open, support_close),
        cmocka_unit_test_setup_teardown(policies_are_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(divergence_is_noticed, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
        cmocka_unit_test_setup_teardown(warm_episodes_allocate_nothing, support_open, support_close),
        cmocka_unit_test_setup_teardown(clusters_of_resnet, support_open, support_close),
        cmocka_unit_test_setup_teardown(advantages_learn, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.faithful", tests, NULL, NULL);
}
