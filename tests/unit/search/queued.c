/* SPDX-License-Identifier: Apache-2.0 */
/* Dynamic programming along the order of `queued` against brute force: with so little room that it must merge and give
 * up, with memory limits, stopped at any moment; and on graphs wider than a key. */
#include "problems.h"

#include "search/exact.h"
#include "search/exact_queued.h"

#include <math.h>
#include <stdio.h>

static const berth_budget no_limit = {.evaluations = INT64_MAX, .seconds = INFINITY};

/* What came of many problems. */
typedef struct tally {
    int n, n_feasible, n_proven;
    double share; /* sum of bound / optimum */
} tally;

/* One problem with so many labels a layer. The bound never exceeds the optimum, and an answer is never below it. */
static void solve_one(berth_ctx *ctx, const support_costs *how, uint64_t *seed, int32_t fewest, int32_t most,
                      tally *sum) {
    berth_costs *costs = support_costs_new(ctx, seed, how);
    berth_problem *problem = support_problem(ctx, costs);
    double best = support_brute_force(ctx, problem, false, NULL, NULL);
    berth_search *search = NULL;
    assert_int_equal(berth_search_new(ctx, &search, problem, 1, no_limit, 1), BERTH_OK);
    assert_int_equal(berth_queued_solve(search, NULL, fewest, most), BERTH_OK);
    if (search->bound_ms > best * (1 + 1e-9))
        fail_msg("%d: bound %.17g, optimum %.17g: %s", sum->n, search->bound_ms, best, support_costs_text(how));
    support_check_best(ctx, search);
    sum->n++;
    sum->n_feasible += best < INFINITY;
    sum->n_proven += best < INFINITY && berth_search_proven(search);
    if (best < INFINITY) sum->share += best > 0 ? search->bound_ms / best : 1;
    berth_search_free(search);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

/* Keys and labels hardly fit at first: later rounds must find the optimum all the same. */
static void equals_brute_force_from_little_room(void **state) {
    uint64_t seed = 61;
    tally sum = {0};
    for (int i = 0; i < support_cases(3000); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, i % 2 ? 8 : 6, i % 2 ? 3 : 4);
        how.task_memory = how.peaks = false;
        solve_one(*state, &how, &seed, 16, 1 << 16, &sum);
        if (sum.n_proven != sum.n_feasible) fail_msg("%d: not proven: %s", i, support_costs_text(&how));
    }
}

static void equals_brute_force_with_sizes_of_tasks(void **state) {
    uint64_t seed = 62;
    tally sum = {0};
    for (int i = 0; i < support_cases(1500); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, 8, 3);
        how.task_memory = true;
        how.peaks = false;
        solve_one(*state, &how, &seed, 16, 1 << 16, &sum);
        if (sum.n_proven != sum.n_feasible) fail_msg("%d: not proven: %s", i, support_costs_text(&how));
    }
    if (!support_is_slow()) assert_true(sum.n_feasible > sum.n / 3);
}

/* Not everything that lies on a device is known: a bound, most often the optimum. */
static void bounds_peaks(void **state) {
    uint64_t seed = 63;
    tally sum = {0};
    for (int i = 0; i < support_cases(1500); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, 8, 3);
        how.task_memory = false;
        how.peaks = true;
        solve_one(*state, &how, &seed, 16, 1 << 16, &sum);
    }
    printf("peaks: %d of %d proven, bound / optimum %.4f\n", sum.n_proven, sum.n_feasible, sum.share / sum.n_feasible);
    if (!support_is_slow()) assert_true(sum.n_proven > 0.8 * sum.n_feasible);
}

/* One round of few labels: nothing but merging and giving up. */
static void bounds_when_relaxed(void **state) {
    uint64_t seed = 64;
    tally sum = {0};
    for (int i = 0; i < support_cases(1500); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, 8, 3);
        solve_one(*state, &how, &seed, 16, 16, &sum);
    }
    printf("16 labels: %d of %d proven, bound / optimum %.4f\n", sum.n_proven, sum.n_feasible,
           sum.share / sum.n_feasible);
    if (!support_is_slow()) assert_true(sum.n_proven < sum.n_feasible && sum.share > 0.8 * sum.n_feasible);
}

/* However few evaluations there are, the bound is one, and hardly more of them are used. */
static void stops_in_time(void **state) {
    uint64_t seed = 65;
    for (int i = 0; i < support_cases(300); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_QUEUED, 8, 3);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        double best = support_brute_force(*state, problem, false, NULL, NULL);
        berth_budget budget = {.evaluations = 1 + (int64_t)support_below(&seed, 40), .seconds = INFINITY};
        berth_search *search = NULL;
        assert_int_equal(berth_search_new(*state, &search, problem, 1, budget, 1), BERTH_OK);
        assert_int_equal(berth_queued_solve(search, NULL, 16, 1 << 16), BERTH_OK);
        assert_true(search->bound_ms <= best * (1 + 1e-9));
        assert_true(search->evaluations <= budget.evaluations + 16);
        support_check_best(*state, search);
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* More values lie about than a key has fields for, and labels than there is room for. */
static void bounds_wide_graphs(void **state) {
    for (uint64_t seed = 1; seed <= 4; seed++) {
        support_costs how = {.n_tasks = 60, .n_devices = 3, .density = 50, .model = BERTH_MODEL_QUEUED};
        how.one_value_per_edge = how.given = how.targets = true;
        how.peaks = seed % 2;
        uint64_t state_of = seed;
        berth_costs *costs = support_costs_new(*state, &state_of, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_search *search = NULL;
        assert_int_equal(berth_search_new(*state, &search, problem, 1, no_limit, 1), BERTH_OK);
        assert_int_equal(berth_queued_solve(search, NULL, 64, 256), BERTH_OK);
        assert_true(search->bound_ms > 0);
        assert_true(!search->has_best || search->bound_ms <= search->best_ms);
        support_check_best(*state, search);
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static berth_status solve_for_ladder(berth_ctx *ctx, void *user) {
    berth_search *search = NULL;
    BERTH_TRY(berth_search_new(ctx, &search, user, 1, no_limit, 1));
    berth_status status = berth_queued_solve(search, NULL, 16, 1024);
    berth_search_free(search);
    return status;
}

static void survives_failing_allocations(void **state) {
    uint64_t seed = 5;
    support_costs how = {.n_tasks = 7, .n_devices = 3, .density = 50, .model = BERTH_MODEL_QUEUED};
    how.given = how.targets = how.peaks = how.colours = true;
    berth_costs *costs = support_costs_new(*state, &seed, &how);
    berth_problem *problem = support_problem(*state, costs);
    support_ladder(solve_for_ladder, problem, 5);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_brute_force_from_little_room),
        cmocka_unit_test(equals_brute_force_with_sizes_of_tasks),
        cmocka_unit_test(bounds_peaks),
        cmocka_unit_test(bounds_when_relaxed),
        cmocka_unit_test(stops_in_time),
        cmocka_unit_test(bounds_wide_graphs),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests_name("search.queued", tests, support_open, support_close);
}
