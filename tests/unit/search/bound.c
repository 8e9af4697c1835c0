/* SPDX-License-Identifier: Apache-2.0 */
/* Lower bounds against brute force over placements (and orders, where they count): never above the optimum. */
#include "problems.h"

#include <math.h>
#include <stdio.h>

#include "search/bound.h"

static int make_ctx(void **state) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    *state = ctx;
    return 0;
}

static int free_ctx(void **state) {
    berth_ctx_free(*state);
    return 0;
}

/* The bound alone, then with the optimum known, which steers some of the steps. Returns bound / optimum. */
static double check(berth_ctx *ctx, const berth_problem *problem, const support_costs *how, int i) {
    int32_t device[16], priority[16];
    berth_search *search = NULL;
    berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
    double best = support_brute_force(ctx, problem, true, device, priority), bound = 0;
    for (int known = 0; known < 2; known++) {
        assert_int_equal(berth_search_new(ctx, &search, problem, 1, budget, 1), BERTH_OK);
        search->has_best = known && best < INFINITY;
        search->best_ms = search->has_best ? best : INFINITY;
        assert_int_equal(berth_search_bounds(search, INFINITY), BERTH_OK);
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
    try_model(*state, BERTH_MODEL_SERIAL, BERTH_OBJECTIVE_LATENCY, 1500, 7, 31);
}

static void queued(void **state) {
    try_model(*state, BERTH_MODEL_QUEUED, BERTH_OBJECTIVE_LATENCY, 1000, 7, 32);
}

static void concurrent(void **state) {
    try_model(*state, BERTH_MODEL_CONCURRENT, BERTH_OBJECTIVE_LATENCY, 600, 6, 33);
}

static void contiguous(void **state) {
    try_model(*state, BERTH_MODEL_CONTIGUOUS, BERTH_OBJECTIVE_LATENCY, 1000, 7, 34);
}

static void throughput(void **state) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        try_model(*state, (berth_model)model, BERTH_OBJECTIVE_THROUGHPUT, 300, 7, 35 + (uint64_t)model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial),     cmocka_unit_test(queued),     cmocka_unit_test(concurrent),
        cmocka_unit_test(contiguous), cmocka_unit_test(throughput),
    };
    return cmocka_run_group_tests_name("search.bound", tests, make_ctx, free_ctx);
}
