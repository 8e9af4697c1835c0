/* SPDX-License-Identifier: Apache-2.0 */
/* `rnn` and `placeto` as methods: what search.h asks of any, on every kind of problem; and that they learn. */
#include "problems.h"

#include "berth/bench.h"
#include "learn/policy.h"
#include "learn/sequence.h"

#include <math.h>

typedef struct baseline {
    const char *name;
    berth_status (*run)(berth_search *search);
    const char *small; /* a setting that makes it quick */
} baseline;

static const baseline baselines[] = {
    {"rnn", berth_learn_rnn, "rnn_hidden=8"},
    {"placeto", berth_learn_placeto, "hidden=8"},
};
enum { N_BASELINES = sizeof baselines / sizeof *baselines };

static berth_settings settings_of(berth_ctx *ctx, const baseline *b, const char *text) {
    berth_settings settings;
    assert_int_equal(berth_settings_default(ctx, &settings, b->name), BERTH_OK);
    if (text && berth_settings_set(ctx, &settings, text) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return settings;
}

/* A search that ran to its end; free it. */
static berth_search *search_with(berth_ctx *ctx, const berth_problem *problem, const baseline *b,
                                 const berth_settings *settings, uint64_t seed, int64_t evaluations) {
    berth_search *search = NULL;
    berth_learn learn = {.settings = settings};
    berth_budget budget = {evaluations, INFINITY};
    assert_int_equal(berth_search_new(ctx, &search, problem, seed, budget, 1), BERTH_OK);
    search->learn = settings ? &learn : NULL;
    if (b->run(search) != BERTH_OK) fail_msg("%s: %s", b->name, berth_ctx_message(ctx));
    search->learn = NULL;
    return search;
}

/* Any kind of problem: the budget is kept to the evaluation, what is offered is feasible and is the problem's, and
 * where there is hardly any choice the best is found. */
static void any_problem(void **state) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        uint64_t random = (uint64_t)model + 1;
        for (int n = 0; n < support_cases(60); n++) {
            support_costs how = support_costs_any(&random, (berth_model)model, n % 4 ? 24 : 3, n % 4 ? 5 : 2);
            berth_costs *costs = support_costs_new(*state, &random, &how);
            berth_problem *problem = support_problem(*state, costs);
            const baseline *b = &baselines[n % N_BASELINES];
            berth_settings settings = settings_of(*state, b, b->small);
            berth_search *search = search_with(*state, problem, b, &settings, (uint64_t)n, n % 4 ? 25 : 200);
            assert_true(search->evaluations <= search->budget.evaluations);
            support_check_best(*state, search);
            if (search->has_best) assert_string_equal(search->best_method, b->name);
            if (n % 4 == 0) {
                double best = support_brute_force(*state, problem, false, NULL, NULL);
                if (!(search->best_ms <= best * (1 + 1e-9)))
                    fail_msg("%s: %g instead of %g: %s", b->name, search->best_ms, best, support_costs_text(&how));
            }
            berth_search_free(search);
            berth_problem_free(problem);
            berth_costs_free(costs);
        }
    }
}

static berth_costs *layered(berth_ctx *ctx, int32_t n_tasks, int32_t n_devices) {
    uint64_t random = 77;
    support_costs how = {.n_tasks = n_tasks, .n_devices = n_devices, .density = 8, .model = BERTH_MODEL_CONCURRENT};
    return support_costs_new(ctx, &random, &how);
}

static void same_seed_same_placement(void **state) {
    berth_costs *costs = layered(*state, 40, 3);
    berth_problem *problem = support_problem(*state, costs);
    for (int i = 0; i < N_BASELINES; i++) {
        berth_settings settings = settings_of(*state, &baselines[i], baselines[i].small);
        berth_search *a = search_with(*state, problem, &baselines[i], &settings, 4, 150);
        berth_search *b = search_with(*state, problem, &baselines[i], &settings, 4, 150);
        berth_search *c = search_with(*state, problem, &baselines[i], &settings, 5, 150);
        assert_true(a->best_ms == b->best_ms);
        assert_memory_equal(a->best_device, b->best_device, 40 * sizeof *a->best_device);
        assert_memory_not_equal(a->best_device, c->best_device, 40 * sizeof *a->best_device);
        assert_int_equal(a->evaluations, 150);
        berth_search_free(a);
        berth_search_free(b);
        berth_search_free(c);
    }
    berth_problem_free(problem);
    berth_costs_free(costs);
}

static void budgets_are_kept(void **state) {
    berth_costs *costs = layered(*state, 30, 3);
    berth_problem *problem = support_problem(*state, costs);
    for (int i = 0; i < N_BASELINES; i++) {
        for (int64_t n = 0; n < 40; n += 3) {
            berth_settings settings = settings_of(*state, &baselines[i], baselines[i].small);
            berth_search *search = search_with(*state, problem, &baselines[i], &settings, 1, n);
            assert_int_equal(search->evaluations, n);
            assert_true(search->has_best == (n > 0));
            berth_search_free(search);
        }
        /* Without a limit in evaluations, time ends it. */
        berth_search *search = NULL;
        berth_settings settings = settings_of(*state, &baselines[i], baselines[i].small);
        assert_int_equal(berth_search_new(*state, &search, problem, 1, (berth_budget){INT64_MAX, 0.2}, 1), BERTH_OK);
        search->learn = &(berth_learn){.settings = &settings};
        double start = berth_search_clock();
        assert_int_equal(baselines[i].run(search), BERTH_OK);
        if (support_is_optimised()) assert_true(search->evaluations > 0 && berth_search_clock() - start < 2);
        berth_search_free(search);
        /* So does a number of episodes. */
        settings.value[BERTH_SET_EPISODES] = 2;
        search = search_with(*state, problem, &baselines[i], &settings, 1, 1000000);
        assert_true(search->evaluations > 0 && search->evaluations < 1000);
        berth_search_free(search);
    }
    berth_problem_free(problem);
    berth_costs_free(costs);
}

/* What is learnt stays in the policy, for this problem; another network is refused. */
static void policies_go_on(void **state) {
    berth_costs *costs = layered(*state, 20, 3), *others = layered(*state, 20, 4);
    berth_problem *problem = support_problem(*state, costs), *other = support_problem(*state, others);
    for (int i = 0; i < N_BASELINES; i++) {
        berth_settings settings = settings_of(*state, &baselines[i], baselines[i].small);
        berth_policy *policy = NULL;
        assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
        berth_learn learn = {.policy = policy};
        int64_t steps = 0;
        for (int round = 0; round < 2; round++) {
            berth_search *search = NULL;
            assert_int_equal(berth_search_new(*state, &search, problem, 1, (berth_budget){100, INFINITY}, 1), BERTH_OK);
            search->learn = &learn;
            assert_int_equal(baselines[i].run(search), BERTH_OK);
            berth_search_free(search);
            assert_true(policy->params.steps > steps);
            steps = policy->params.steps;
        }
        berth_search *search = NULL;
        assert_int_equal(berth_search_new(*state, &search, other, 1, (berth_budget){100, INFINITY}, 1), BERTH_OK);
        search->learn = &learn;
        assert_int_equal(baselines[i].run(search), BERTH_E_ARG);
        berth_search_free(search);
        berth_policy_free(policy);
    }
    berth_problem_free(problem);
    berth_problem_free(other);
    berth_costs_free(costs);
    berth_costs_free(others);
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* log of the ratio of what is found with and without learning, on one generated graph and four unlike devices. */
static double gain(berth_ctx *ctx, const baseline *b, berth_generated kind, uint64_t seed) {
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_costs *costs = NULL;
    berth_cost_options options = berth_cost_options_default();
    options.model = BERTH_MODEL_CONCURRENT;
    assert_int_equal(berth_graph_generate(ctx, &graph, kind, 60, seed), BERTH_OK);
    assert_int_equal(berth_device_set_generate(ctx, &devices, 4, 5), BERTH_OK);
    assert_int_equal(berth_costs_new(ctx, &costs, graph, devices, &options), BERTH_OK);
    berth_problem *problem = support_problem(ctx, costs);
    double ms[2];
    for (int learns = 0; learns < 2; learns++) {
        berth_settings settings = settings_of(ctx, b, learns ? NULL : "learning_rate=0");
        settings.value[BERTH_SET_RNN_HIDDEN] = 32;
        berth_search *search = search_with(ctx, problem, b, &settings, seed, 2000);
        ms[learns] = search->best_ms;
        berth_search_free(search);
    }
    berth_problem_free(problem);
    berth_costs_free(costs);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return log(ms[1] / ms[0]);
}

/* 2000 evaluations with learning find placements clearly faster than as many without. */
static void learning_helps(void **state) {
    if (!support_is_optimised()) support_skip("takes minutes without optimisation");
    for (int i = 0; i < N_BASELINES; i++) {
        double sum = 0;
        int n = 0;
        for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++)
            for (uint64_t seed = 1; seed <= 2; seed++, n++)
                sum += gain(*state, &baselines[i], (berth_generated)kind, seed);
        print_message("%s: %.3f of what it finds without learning\n", baselines[i].name, exp(sum / n));
        assert_true(exp(sum / n) < 0.97);
    }
}

/* --- steps ------------------------------------------------------------------------------------------------------ */

/* Every task is in one step, steps read from earlier ones, and whoever obeys the masks under `contiguous` gets parts
 * that are in one piece. */
static void masks_keep_parts_whole(void **state) {
    uint64_t random = 3;
    for (int n = 0; n < support_cases(100); n++) {
        support_costs how = {
            .n_tasks = 3 + n % 30, .n_devices = 2 + n % 4, .density = 15, .model = BERTH_MODEL_CONTIGUOUS};
        berth_costs *costs = support_costs_new(*state, &random, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_search *search = NULL;
        berth_sequence *s = NULL;
        berth_making making;
        berth_settings settings = settings_of(*state, &baselines[0], NULL);
        assert_int_equal(berth_search_new(*state, &search, problem, 1, (berth_budget){1000, INFINITY}, 1), BERTH_OK);
        assert_int_equal(berth_sequence_new(search, &settings, n % 2 ? 512 : 10, &s), BERTH_OK);
        assert_true(berth_making_init(&making, &s->arena, s));
        int32_t *device = calloc((size_t)costs->n_tasks, sizeof *device);
        for (int draw = 0; draw < 20; draw++) {
            berth_making_restart(&making);
            for (int32_t step = 0; step < s->n_steps; step++) {
                uint64_t mask = berth_making_mask(&making, step);
                int32_t d = (int32_t)support_below(&random, (uint32_t)costs->n_devices);
                while (!(mask >> d & 1)) d = (d + 1) % costs->n_devices;
                berth_making_put(&making, step, d);
            }
            berth_sequence_spread(s, making.device, device);
            if (n % 2) assert_true(berth_search_evaluate(search, device, NULL) < INFINITY);
        }
        if (!(n % 2)) assert_true(s->n_steps <= 10);
        for (int32_t task = 0; task < costs->n_tasks; task++)
            for (int32_t k = costs->pred_start[task]; k < costs->pred_start[task + 1]; k++)
                assert_true(s->step_of[costs->preds[k]] <= s->step_of[task]);
        free(device);
        berth_sequence_free(s);
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static berth_status climb(berth_ctx *ctx, void *user) {
    const baseline *b = user;
    berth_costs *costs = NULL;
    berth_problem *problem = NULL;
    berth_search *search = NULL;
    berth_settings settings;
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_cost_options options = berth_cost_options_default();
    berth_status status = berth_graph_generate(ctx, &graph, BERTH_GENERATED_BRANCHES, 12, 1);
    if (status == BERTH_OK) status = berth_device_set_read(ctx, &devices, "cpu,gpu");
    if (status == BERTH_OK) status = berth_costs_new(ctx, &costs, graph, devices, &options);
    if (status == BERTH_OK) status = berth_problem_new(ctx, &problem, costs, NULL, NULL);
    if (status == BERTH_OK) status = berth_search_new(ctx, &search, problem, 1, (berth_budget){24, INFINITY}, 1);
    if (status == BERTH_OK) {
        settings = settings_of(ctx, b, b->small);
        search->learn = &(berth_learn){.settings = &settings};
        status = b->run(search);
    }
    berth_search_free(search);
    berth_problem_free(problem);
    berth_costs_free(costs);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

static void ladder(void **state) {
    (void)state;
    for (int i = 0; i < N_BASELINES; i++) assert_true(support_ladder(climb, (void *)(uintptr_t)&baselines[i], 1) > 40);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, support_open, support_close)

int main(void) {
    const struct CMUnitTest tests[] = {
        CASE(any_problem),    CASE(same_seed_same_placement), CASE(budgets_are_kept),
        CASE(policies_go_on), CASE(masks_keep_parts_whole),   cmocka_unit_test(ladder),
        CASE(learning_helps),
    };
    return cmocka_run_group_tests_name("learn.baselines", tests, NULL, NULL);
}
