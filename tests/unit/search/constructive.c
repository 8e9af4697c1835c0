/* SPDX-License-Identifier: Apache-2.0 */
/* The methods that build placements: feasible and rightly priced on random problems of all kinds, never below the
 * optimum; published numbers of HEFT; rules of each method on problems made for it. */
#include "problems.h"

#include <math.h>
#include <stdio.h>

#include "search/search_methods.h"

static const struct {
    const char *name;
    berth_status (*run)(berth_search *search);
    int64_t evaluations; /* at most so many are used; 0: as many as there are */
} methods[] = {
    {"single", berth_search_single, 4},   {"random", berth_search_random, 0}, {"greedy", berth_search_greedy, 2},
    {"fastest", berth_search_fastest, 1}, {"cut", berth_search_cut, 0},       {"heft", berth_search_heft, 1},
    {"m-etf", berth_search_m_etf, 1},     {"m-sct", berth_search_m_sct, 1},   {"metis", berth_search_metis, 0},
};
enum { N_METHODS = sizeof methods / sizeof *methods };

/* METIS may be absent; everything else must succeed. */
static bool run_method(berth_ctx *ctx, size_t method, berth_search *search) {
    berth_status status = methods[method].run(search);
    if (status == BERTH_E_UNSUPPORTED && !berth_search_has_metis()) return false;
    if (status != BERTH_OK) fail_msg("%s: %s", methods[method].name, berth_ctx_message(ctx));
    return true;
}

static void random_problems(void **state) {
    uint64_t seed = 21;
    int n_feasible[N_METHODS] = {0}, n_problems = 0;
    for (int i = 0; i < support_cases(2400); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 7, 3);
        if (i % 5 == 0) how.objective = BERTH_OBJECTIVE_THROUGHPUT;
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        double best = support_brute_force(*state, problem, how.n_tasks <= 5, NULL, NULL);
        bool orders_may_win = how.model == BERTH_MODEL_CONCURRENT && how.n_tasks > 5;
        n_problems += best < INFINITY;
        for (size_t m = 0; m < N_METHODS; m++) {
            berth_search *search = support_search(*state, problem, 5, 40, 1);
            if (run_method(*state, m, search)) {
                support_check_best(*state, search);
                assert_true(search->evaluations <= 40);
                if (methods[m].evaluations) assert_true(search->evaluations <= methods[m].evaluations);
                if (!orders_may_win && search->best_ms < best * (1 - 1e-12))
                    fail_msg("%s: %.17g beats the optimum %.17g; %s", methods[m].name, search->best_ms, best,
                             support_costs_text(&how));
                n_feasible[m] += search->has_best;
            }
            berth_search_free(search);
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    /* Most problems have an answer, and most answers are found: the rest is tight memory, or parts must be convex. */
    for (size_t m = 0; m < N_METHODS; m++) {
        print_message("%-8s %d of %d\n", methods[m].name, n_feasible[m], n_problems);
        if (m > 0 && n_feasible[m] > 0) assert_true(n_feasible[m] > n_problems * 6 / 10);
    }
}

/* The same with more tasks, where there is no optimum to compare with. */
static void larger_problems(void **state) {
    uint64_t seed = 22;
    for (int i = 0; i < support_cases(200); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 50, 6);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        for (size_t m = 0; m < N_METHODS; m++) {
            berth_search *search = support_search(*state, problem, 5, 200, 1),
                         *again = support_search(*state, problem, 5, 200, 1);
            if (run_method(*state, m, search) && run_method(*state, m, again)) {
                support_check_best(*state, search);
                support_same_best(search, again);
            }
            berth_search_free(search);
            berth_search_free(again);
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* --- HEFT ------------------------------------------------------------------------------------------------------- */

typedef struct workload {
    berth_graph *graph;
    berth_device_set *devices;
    berth_costs *costs;
    berth_problem *problem;
} workload;

static workload open_workload(berth_ctx *ctx, const char *path, bool with_memory) {
    workload w = {.graph = support_read(ctx, path)};
    berth_cost_options options = berth_cost_options_default();
    berth_memory_rule no_limit[8];
    berth_limits limits = {.memory = no_limit};
    if (berth_device_set_given(ctx, &w.devices, w.graph) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    for (int32_t d = 0; d < w.devices->n_devices && !with_memory; d++)
        no_limit[limits.n_memory++] = (berth_memory_rule){w.devices->devices[d].name, INFINITY};
    options.limits = &limits;
    if (berth_costs_new(ctx, &w.costs, w.graph, w.devices, &options) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    w.problem = support_problem(ctx, w.costs);
    return w;
}

static void close_workload(workload *w) {
    berth_problem_free(w->problem);
    berth_costs_free(w->costs);
    berth_device_set_free(w->devices);
    berth_graph_free(w->graph);
}

static double simulated(berth_ctx *ctx, const berth_problem *problem, berth_status (*method)(berth_search *)) {
    berth_search *search = support_search(ctx, problem, 1, 1000, 1);
    if (method(search) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    double ms = search->best_ms;
    support_check_best(ctx, search);
    berth_search_free(search);
    return ms;
}

static void heft_topcuoglu(void **state) {
    workload w = open_workload(*state, support_source("tests/golden/topcuoglu.csv"), true);
    assert_true(simulated(*state, w.problem, berth_search_heft) == 80);
    close_workload(&w);
    berth_costs *costs = support_topcuoglu(*state);
    berth_problem *problem = support_problem(*state, costs);
    assert_true(simulated(*state, problem, berth_search_heft) == 80);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

static void heft_moirai(void **state) {
    static const struct {
        const char *file;
        double ms;
    } cases[] = {{"example-1", 28}, {"GoogLeNet", 1.420}, {"inceptionv4", 12.582}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[100];
        snprintf(name, sizeof name, "data/workloads/moirai/%s.csv", cases[i].file);
        const char *path = support_shared(name);
        if (!path) support_skip(name);
        workload w = open_workload(*state, path, false);
        assert_float_equal(simulated(*state, w.problem, berth_search_heft), cases[i].ms, 0.0005);
        close_workload(&w);
    }
}

/* 44 units of memory for 44: only exact packings fit. */
static void tight_memory_is_met(void **state) {
    const char *path = support_shared("data/workloads/moirai/example-1.csv");
    if (!path) support_skip("example-1.csv");
    workload w = open_workload(*state, path, true);
    for (size_t m = 0; m < N_METHODS; m++) {
        bool builds_by_unit = methods[m].evaluations && methods[m].run != berth_search_single;
        if (!builds_by_unit) continue;
        double ms = simulated(*state, w.problem, methods[m].run);
        print_message("%s %g\n", methods[m].name, ms);
        assert_true(ms >= 30 && ms < INFINITY);
    }
    close_workload(&w);
}

/* --- other rules ------------------------------------------------------------------------------------------------ */

/* Under `serial` `cut` is the best of all cuts, counted by hand. */
static void cut_is_the_best_cut(void **state) {
    uint64_t seed = 23;
    for (int i = 0; i < support_cases(300); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 8, 3);
        how.bans = 0;
        how.colours = false;
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_search *search = support_search(*state, problem, 1, 1000, 1);
        double best = INFINITY;
        int32_t device[8];
        assert_int_equal(berth_search_cut(search), BERTH_OK);
        for (int32_t a = 0; a < how.n_devices; a++)
            for (int32_t b = 0; b < how.n_devices; b++)
                for (int32_t n = 0; n <= how.n_tasks && a != b; n++) {
                    for (int32_t task = 0; task < how.n_tasks; task++) device[task] = task < n ? a : b;
                    best = fmin(best, berth_sim_run(search->sim, device, NULL));
                }
        if (best < INFINITY) assert_true(fabs(search->best_ms - best) <= 1e-9 * best);
        assert_int_equal(search->has_best, best < INFINITY);
        assert_int_equal(search->evaluations, how.n_devices * (how.n_devices - 1) * (how.n_tasks + 1));
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* Nothing may be spent beyond the budget, however small. */
static void budgets_are_kept(void **state) {
    uint64_t seed = 24;
    for (int64_t budget = 0; budget < 12; budget++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_CONCURRENT, 12, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        for (size_t m = 0; m < N_METHODS; m++) {
            berth_search *search = support_search(*state, problem, 1, budget, 1);
            run_method(*state, m, search);
            assert_true(search->evaluations <= budget);
            berth_search_free(search);
        }
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static void run_out_of_memory_cleanly(void **state) {
    for (size_t m = 0; m < N_METHODS; m++)
        if (methods[m].run != berth_search_metis || berth_search_has_metis())
            support_ladder_of_method(*state, methods[m].run, 25, 12, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_problems, support_open, support_close),
        cmocka_unit_test_setup_teardown(larger_problems, support_open, support_close),
        cmocka_unit_test_setup_teardown(heft_topcuoglu, support_open, support_close),
        cmocka_unit_test_setup_teardown(heft_moirai, support_open, support_close),
        cmocka_unit_test_setup_teardown(tight_memory_is_met, support_open, support_close),
        cmocka_unit_test_setup_teardown(cut_is_the_best_cut, support_open, support_close),
        cmocka_unit_test_setup_teardown(budgets_are_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(run_out_of_memory_cleanly, support_open, support_close),
    };
    return cmocka_run_group_tests_name("search.constructive", tests, NULL, NULL);
}
