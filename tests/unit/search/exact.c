/* SPDX-License-Identifier: Apache-2.0 */
/* `exact` against brute force over placements and, under `concurrent`, orders; and on published optima. */
#include "problems.h"

#include "search/exact.h"

#include <math.h>
#include <stdio.h>

static berth_search *solve(berth_ctx *ctx, const berth_problem *problem) {
    berth_search *search = support_search(ctx, problem, 1, INT64_MAX, 1);
    assert_int_equal(berth_search_exact(search), BERTH_OK);
    return search;
}

static void compare(berth_model model, int32_t max_tasks, int n_cases, uint64_t seed) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < support_cases(n_cases); i++) {
        support_costs how = support_costs_any(&seed, model, max_tasks, 3);
        berth_costs *costs = support_costs_new(ctx, &seed, &how);
        berth_problem *problem = support_problem(ctx, costs);
        double best = support_brute_force(ctx, problem, true, NULL, NULL);
        berth_search *search = solve(ctx, problem);
        double found = search->has_best ? search->best_ms : INFINITY;
        if (found < INFINITY ? fabs(found - best) > 1e-9 * best : best < INFINITY)
            fail_msg("case %d: exact %.17g, brute force %.17g: %s", i, found, best, support_costs_text(&how));
        if (search->has_best && !berth_search_proven(search))
            fail_msg("case %d: %.17g not proven, bound %.17g: %s", i, found, search->bound_ms,
                     support_costs_text(&how));
        support_check_best(ctx, search);
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    berth_ctx_free(ctx);
}

static void concurrent_equals_brute_force(void **state) {
    (void)state;
    compare(BERTH_MODEL_CONCURRENT, 6, 1500, 1);
}

static void serial_equals_brute_force(void **state) {
    (void)state;
    compare(BERTH_MODEL_SERIAL, 8, 1500, 2);
}

static void queued_equals_brute_force(void **state) {
    (void)state;
    compare(BERTH_MODEL_QUEUED, 8, 1500, 3);
}

static void topcuoglu_takes_73(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    berth_costs *costs = support_topcuoglu(ctx);
    berth_problem *problem = support_problem(ctx, costs);
    berth_search *search = solve(ctx, problem);
    assert_true(search->best_ms == 73 && berth_search_proven(search));
    printf("%lld evaluations\n", (long long)search->evaluations);
    berth_search_free(search);
    berth_problem_free(problem);
    berth_costs_free(costs);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concurrent_equals_brute_force),
        cmocka_unit_test(serial_equals_brute_force),
        cmocka_unit_test(queued_equals_brute_force),
        cmocka_unit_test(topcuoglu_takes_73),
    };
    return cmocka_run_group_tests_name("search.exact", tests, NULL, NULL);
}
