/* SPDX-License-Identifier: Apache-2.0 */
/* Methods and the portfolio on random problems: against brute force on small ones, and what must hold on any. */
#include "problems.h"

#include "place/solve.h"

#include <math.h>
#include <stdio.h>

typedef struct answer {
    bool feasible;
    double ms, bound, best_single;
    int64_t evaluations;
    int32_t device[64], priority[64];
    bool has_priority;
    const char *method;
} answer;

static berth_place_options options(const char *method, int64_t evaluations, int32_t threads, uint64_t seed) {
    berth_place_options how = berth_place_options_default();
    how.method = method;
    how.seconds = INFINITY;
    how.evaluations = evaluations;
    how.threads = threads;
    how.seed = seed;
    return how;
}

static answer solve_by(berth_ctx *ctx, const berth_problem *problem, const berth_place_options *how) {
    double single[BERTH_MAX_DEVICES];
    berth_crew crew;
    berth_status status = berth_crew_init(&crew, ctx, problem, how, NULL, berth_search_clock());
    if (status == BERTH_OK) status = berth_crew_solve(&crew, berth_method_find(how->method), single);
    if (status != BERTH_OK && status != BERTH_E_UNSUPPORTED) fail_msg("%s: %s", how->method, berth_ctx_message(ctx));
    support_check_best(ctx, crew.best);
    answer a = {
        .feasible = crew.best->has_best,
        .ms = crew.best->best_ms,
        .bound = crew.best->bound_ms,
        .best_single = INFINITY,
        .evaluations = crew.best->evaluations,
        .has_priority = crew.best->best_has_priority,
        .method = crew.best->best_method,
    };
    for (int32_t d = 0; d < problem->costs->n_devices; d++) a.best_single = fmin(a.best_single, single[d]);
    for (int32_t task = 0; task < problem->costs->n_tasks && task < 64 && a.feasible; task++) {
        a.device[task] = crew.best->best_device[task];
        if (a.has_priority) a.priority[task] = crew.best->best_priority[task];
    }
    berth_crew_deinit(&crew);
    return a;
}

static answer solve(berth_ctx *ctx, const berth_problem *problem, const char *method, int64_t evaluations,
                    int32_t threads, uint64_t seed) {
    berth_place_options how = options(method, evaluations, threads, seed);
    return solve_by(ctx, problem, &how);
}

/* The portfolio on problems of at most 8 tasks (6 where orders count): hardly ever more than 1 % above the optimum,
 * never below it, feasible whenever anything is; and the bound is one. */
static void check_brute_force(berth_ctx *ctx, berth_model model, berth_objective objective, int n_cases) {
    const int n = support_cases(n_cases);
    uint64_t state = 100 + (uint64_t)model;
    int n_good = 0, n_solved = 0, n_proven = 0;
    for (int i = 0; i < n; i++) {
        bool orders = model == BERTH_MODEL_CONCURRENT && objective == BERTH_OBJECTIVE_LATENCY;
        support_costs how = support_costs_any(&state, model, orders ? 6 : 8, 3);
        how.objective = objective;
        berth_costs *costs = support_costs_new(ctx, &state, &how);
        berth_problem *problem = support_problem(ctx, costs);
        double best = support_brute_force(ctx, problem, true, NULL, NULL);
        answer a = solve(ctx, problem, "auto", 4000, 1, (uint64_t)i);
        if (a.feasible && isinf(best)) fail_msg("%s: feasible where nothing is", support_costs_text(&how));
        if (a.feasible && a.ms < best * (1 - 1e-9))
            fail_msg("%s: %.17g is below the optimum %.17g", support_costs_text(&how), a.ms, best);
        if (best < INFINITY && a.bound > best * (1 + 1e-9))
            fail_msg("%s: the bound %.17g is above the optimum %.17g", support_costs_text(&how), a.bound, best);
        if (a.feasible && a.ms > a.best_single) fail_msg("%s: worse than one device", support_costs_text(&how));
        if (best < INFINITY) {
            n_solved++;
            n_good += a.feasible && a.ms <= best * 1.01 + 1e-12;
            n_proven += a.feasible && a.ms <= a.bound;
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    printf("%s, objective %d: %d of %d within 1 %%, %d proven\n", berth_model_name(model), (int)objective, n_good,
           n_solved, n_proven);
    if (support_is_slow()) return;
    assert_true(n_solved > n / 3);
    assert_true(n_good >= 0.99 * n_solved);
}

static void auto_serial(void **state) {
    check_brute_force(*state, BERTH_MODEL_SERIAL, BERTH_OBJECTIVE_LATENCY, 2000);
}

static void auto_queued(void **state) {
    check_brute_force(*state, BERTH_MODEL_QUEUED, BERTH_OBJECTIVE_LATENCY, 2000);
}

static void auto_concurrent(void **state) {
    check_brute_force(*state, BERTH_MODEL_CONCURRENT, BERTH_OBJECTIVE_LATENCY, 1500);
}

static void auto_contiguous(void **state) {
    check_brute_force(*state, BERTH_MODEL_CONTIGUOUS, BERTH_OBJECTIVE_LATENCY, 2000);
}

static void auto_throughput(void **state) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        check_brute_force(*state, (berth_model)model, BERTH_OBJECTIVE_THROUGHPUT, 300);
}

/* Every method, on every kind of problem: what it returns is checked by a simulator of its own in solve_by(), it keeps
 * to the budget but for the evaluation at hand, and the bound holds for it, which takes longer than most of them and so
 * is mostly found but once for a problem. */
static void all_methods_hold_their_promises(void **state) {
    const int most = support_is_slow() ? 40 : 300, n = support_is_slow() ? BERTH_MODEL_COUNT : support_cases(160);
    uint64_t random = 7;
    for (int i = 0; i < n; i++) {
        support_costs how =
            support_costs_any(&random, (berth_model)(i % BERTH_MODEL_COUNT), support_is_slow() ? 8 : 24, 4);
        how.objective = i / 4 % 4 == 3 ? BERTH_OBJECTIVE_THROUGHPUT : BERTH_OBJECTIVE_LATENCY;
        how.density = 10;
        berth_costs *costs = support_costs_new(*state, &random, &how);
        berth_problem *problem = support_problem(*state, costs);
        double bound = 0;
        for (int32_t m = 0; berth_method_name(m); m++) {
            const char *method = berth_method_name(m);
            berth_place_options with = options(method, most, 1, 1);
            with.unbounded = m > 0 && i % 8 != 0;
            /* Learned methods take long, and have tests like this of their own. */
            if (berth_method_find(method)->kind == BERTH_METHOD_LEARNS && i % 16 != i / 16 % 16) continue;
            answer a = solve_by(*state, problem, &with);
            bound = fmax(bound, a.bound);
            if (a.evaluations > most + 1)
                fail_msg("%s: %s: %lld evaluations", method, support_costs_text(&how), (long long)a.evaluations);
            if (!a.feasible) continue;
            if (bound > a.ms * (1 + 1e-9))
                fail_msg("%s: %s: bound %.17g above %.17g", method, support_costs_text(&how), bound, a.ms);
            if (strcmp(method, "auto") == 0 && a.ms > a.best_single)
                fail_msg("%s: worse than one device", support_costs_text(&how));
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* A budget in evaluations ends every method without a clock, also where hardly any placement is ever complete: in half
 * of the cases tasks are about as many as `exact` takes on at once, in the other half they are more. */
static void evaluations_end_every_method(void **state) {
    enum { MOST = 100 };
    const int32_t few = support_is_slow() ? 20 : 64, many = support_is_slow() ? 80 : 300;
    const int n = support_is_slow() ? BERTH_MODEL_COUNT : support_cases(32);
    uint64_t random = 10;
    for (int i = 0; i < n; i++) {
        support_costs how = support_costs_any(&random, (berth_model)(i % BERTH_MODEL_COUNT), i % 8 < 4 ? few : many, 8);
        how.density = 1 + i % 5;
        berth_costs *costs = support_costs_new(*state, &random, &how);
        berth_problem *problem = support_problem(*state, costs);
        for (int32_t m = 0; berth_method_name(m); m++) {
            const berth_method *method = berth_method_find(berth_method_name(m));
            berth_search *search = NULL;
            if (method->kind == BERTH_METHOD_PORTFOLIO) continue;
            if (method->kind == BERTH_METHOD_LEARNS && i % 8 != 0) continue;
            berth_budget budget = {.evaluations = MOST, .seconds = INFINITY};
            assert_int_equal(berth_search_new(*state, &search, problem, 1, budget, 1), BERTH_OK);
            berth_status status = method->run(search);
            assert_true(status == BERTH_OK || status == BERTH_E_UNSUPPORTED);
            if (search->evaluations > MOST + 1)
                fail_msg("%s: %s: %lld evaluations", method->name, support_costs_text(&how),
                         (long long)search->evaluations);
            support_check_best(*state, search);
            berth_search_free(search);
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* Never worse than the best feasible device, whatever the budget. */
static void one_evaluation_is_enough_for_the_promise(void **state) {
    uint64_t random = 8;
    for (int i = 0; i < support_cases(400); i++) {
        support_costs how = support_costs_any(&random, (berth_model)(i % BERTH_MODEL_COUNT), i % 50 < 46 ? 10 : 30, 4);
        berth_costs *costs = support_costs_new(*state, &random, &how);
        berth_problem *problem = support_problem(*state, costs);
        answer a = solve(*state, problem, "auto", 1, 1, 0);
        if (a.best_single < INFINITY) assert_true(a.feasible && a.ms <= a.best_single);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static bool are_equal(const answer *a, const answer *b, int32_t n_tasks) {
    size_t size = (size_t)n_tasks * sizeof *a->device;
    return a->feasible == b->feasible && a->evaluations == b->evaluations && a->has_priority == b->has_priority &&
           memcmp(&a->ms, &b->ms, sizeof a->ms) == 0 && memcmp(&a->bound, &b->bound, sizeof a->bound) == 0 &&
           memcmp(a->device, b->device, size) == 0 && memcmp(a->priority, b->priority, size) == 0 &&
           (!a->feasible || strcmp(a->method, b->method) == 0);
}

static void threads_change_nothing(void **state) {
    uint64_t random = 9;
    const int64_t most = support_is_slow() ? 300 : 3000;
    for (int i = 0; i < support_cases(16); i++) {
        support_costs how = support_costs_any(&random, (berth_model)(i % BERTH_MODEL_COUNT), 50, 4);
        how.n_tasks = support_is_slow() ? 12 : 30 + i;
        how.density = 10;
        berth_costs *costs = support_costs_new(*state, &random, &how);
        berth_problem *problem = support_problem(*state, costs);
        answer one = solve(*state, problem, "auto", most, 1, 5);
        for (int32_t threads = 2; threads <= 5; threads++) {
            answer many = solve(*state, problem, "auto", most, threads, 5);
            if (!are_equal(&one, &many, how.n_tasks))
                fail_msg("%s: %d threads: %.17g (%s), one: %.17g (%s)", support_costs_text(&how), (int)threads, many.ms,
                         many.method, one.ms, one.method);
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static void topcuoglu(void **state) {
    berth_costs *costs = support_topcuoglu(*state);
    berth_problem *problem = support_problem(*state, costs);
    assert_true(solve(*state, problem, "heft", 10, 1, 0).ms == 80);
    answer exact = solve(*state, problem, "exact", 1000000, 1, 0),
           portfolio = solve(*state, problem, "auto", 5000, 1, 0);
    assert_true(exact.ms == 73 && exact.bound >= 73);
    assert_true(portfolio.ms == 73);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(auto_serial, support_open, support_close),
        cmocka_unit_test_setup_teardown(auto_queued, support_open, support_close),
        cmocka_unit_test_setup_teardown(auto_concurrent, support_open, support_close),
        cmocka_unit_test_setup_teardown(auto_contiguous, support_open, support_close),
        cmocka_unit_test_setup_teardown(auto_throughput, support_open, support_close),
        cmocka_unit_test_setup_teardown(all_methods_hold_their_promises, support_open, support_close),
        cmocka_unit_test_setup_teardown(evaluations_end_every_method, support_open, support_close),
        cmocka_unit_test_setup_teardown(one_evaluation_is_enough_for_the_promise, support_open, support_close),
        cmocka_unit_test_setup_teardown(threads_change_nothing, support_open, support_close),
        cmocka_unit_test_setup_teardown(topcuoglu, support_open, support_close),
    };
    return cmocka_run_group_tests_name("place.solve", tests, NULL, NULL);
}
