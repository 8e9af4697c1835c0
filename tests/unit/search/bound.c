/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds against brute force over placements (and orders, where they count): never above the optimum. */
#include "problems.h"

#include <math.h>
#include <stdio.h>

#include "search/bound.h"
#include "search/min_cut.h"

/* The best of random placements in random orders. */
static double best_of_orders(berth_ctx *ctx, const berth_problem *problem, int rounds) {
    uint64_t seed = 99;
    int32_t device[16], priority[16], n = problem->costs->n_tasks;
    berth_sim *sim = NULL;
    double best = INFINITY;
    assert_int_equal(berth_sim_new(ctx, &sim, problem->costs), BERTH_OK);
    for (int round = 0; round < rounds; round++) {
        for (int32_t task = 0; task < n; task++) {
            int32_t unit = problem->unit_of[task], first = problem->unit_tasks[problem->unit_start[unit]];
            device[task] = (int32_t)support_below(&seed, (uint32_t)problem->costs->n_devices);
            while (!berth_problem_allows(problem, unit, device[task]))
                device[task] = (device[task] + 1) % problem->costs->n_devices;
            if (first < task) device[task] = device[first];
            int32_t other = (int32_t)support_below(&seed, (uint32_t)task + 1);
            priority[task] = priority[other];
            priority[other] = task;
        }
        best = fmin(best, berth_sim_run(sim, device, priority));
    }
    berth_sim_free(sim);
    return best;
}

/* The quick bounds; the others alone, then with the optimum known, which steers some of the steps. Returns bound /
 * optimum. */
static double check(berth_ctx *ctx, const berth_problem *problem, const support_costs *how, int i) {
    int32_t device[16], priority[16];
    berth_search *search = NULL;
    berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
    double best = support_brute_force(ctx, problem, true, device, priority), bound = 0;
    assert_int_equal(berth_search_new(ctx, &search, problem, 1, budget, 1), BERTH_OK);
    assert_int_equal(berth_bound_quick(search), BERTH_OK);
    bound = search->bound_ms;
    berth_search_free(search);
    for (int known = 0; known < 2; known++) {
        assert_int_equal(berth_search_new(ctx, &search, problem, 1, budget, 1), BERTH_OK);
        search->has_best = known && best < INFINITY;
        search->best_ms = search->has_best ? best : INFINITY;
        berth_patience patience = berth_patience_for(search, INFINITY);
        assert_int_equal(berth_search_bounds(search, &patience), BERTH_OK);
        if (search->bound_ms > bound) bound = search->bound_ms;
        berth_search_free(search);
    }
    if (bound > best * (1 + 1e-12))
        fail_msg("%d: bound %.17g, optimum %.17g: %s", i, bound, best, support_costs_text(how));
    return best > 0 && best < INFINITY ? bound / best : 1;
}

static void try_model(berth_ctx *ctx, berth_model model, berth_objective objective, int rounds, int32_t max_tasks,
                      uint64_t seed) {
    double sum = 0;
    int n_tight = 0;
    for (int i = 0; i < rounds; i++) {
        support_costs how = support_costs_any(&seed, model, max_tasks, 3);
        how.objective = objective;
        berth_costs *costs = support_costs_new(ctx, &seed, &how);
        berth_problem *problem = support_problem(ctx, costs);
        double share = check(ctx, problem, &how, i);
        sum += share;
        n_tight += share > 1 - 1e-9;
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    printf("%s %s: bound / optimum %.4f on average, equal in %d of %d\n", berth_model_name(model),
           objective == BERTH_OBJECTIVE_LATENCY ? "latency" : "throughput", sum / rounds, n_tight, rounds);
}

static void serial(void **state) {
    try_model(*state, BERTH_MODEL_SERIAL, BERTH_OBJECTIVE_LATENCY, support_cases(800), 7, 31);
}

/* Paths and loads bound `queued` in any order, not only in that of the file. */
static void queued_in_any_order(void **state) {
    berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
    uint64_t seed = 36;
    for (int i = 0; i < support_cases(300); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, 6, 3);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_search *search = NULL;
        assert_int_equal(berth_search_new(*state, &search, problem, 1, budget, 1), BERTH_OK);
        berth_patience patience = berth_patience_for(search, INFINITY);
        assert_int_equal(berth_bound_dual(search, &patience), BERTH_OK);
        double best = best_of_orders(*state, problem, 200);
        if (search->bound_ms > best * (1 + 1e-12))
            fail_msg("%d: bound %.17g, found %.17g: %s", i, search->bound_ms, best, support_costs_text(&how));
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static void queued(void **state) {
    try_model(*state, BERTH_MODEL_QUEUED, BERTH_OBJECTIVE_LATENCY, support_cases(500), 6, 32);
}

static void concurrent(void **state) {
    try_model(*state, BERTH_MODEL_CONCURRENT, BERTH_OBJECTIVE_LATENCY, support_cases(400), 6, 33);
}

static void contiguous(void **state) {
    try_model(*state, BERTH_MODEL_CONTIGUOUS, BERTH_OBJECTIVE_LATENCY, support_cases(400), 6, 34);
}

static void throughput(void **state) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        try_model(*state, (berth_model)model, BERTH_OBJECTIVE_THROUGHPUT, support_cases(100), 6, 35 + (uint64_t)model);
}

static berth_status bound_one(berth_ctx *ctx, void *user) {
    const berth_problem *problem = user;
    berth_search *search = NULL;
    berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
    BERTH_TRY(berth_search_new(ctx, &search, problem, 1, budget, 1));
    berth_status status = berth_bound_quick(search);
    if (status == BERTH_OK) status = berth_search_min_cut(search);
    berth_patience patience = berth_patience_for(search, INFINITY);
    if (status == BERTH_OK) status = berth_search_bounds(search, &patience);
    berth_search_free(search);
    return status;
}

static void survives_failing_allocations(void **state) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        for (int32_t n_devices = 2; n_devices < 4; n_devices++) {
            uint64_t seed = 5;
            support_costs how = {.n_tasks = 6, .n_devices = n_devices, .density = 40, .model = (berth_model)model};
            how.given = how.targets = how.task_memory = how.queued_links = true;
            how.piece_ms = model == BERTH_MODEL_SERIAL ? 1.5 : 0;
            berth_costs *costs = support_costs_new(*state, &seed, &how);
            berth_problem *problem = support_problem(*state, costs);
            support_ladder(bound_one, problem, 20);
            berth_problem_free(problem);
            berth_costs_free(costs);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial),
        cmocka_unit_test(queued),
        cmocka_unit_test(queued_in_any_order),
        cmocka_unit_test(concurrent),
        cmocka_unit_test(contiguous),
        cmocka_unit_test(throughput),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("search.bound", tests, support_open, support_close);
}
