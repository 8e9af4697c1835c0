/* SPDX-License-Identifier: Apache-2.0 */
/* min-cut against brute force: the optimum where it must be, a feasible placement otherwise. */
#include "problems.h"

#include <math.h>

#include "search/bound.h"
#include "search/min_cut.h"

static bool is_equal(double a, double b) {
    return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b));
}

/* Draws problems, runs min-cut, and compares with brute force: `exact` of it must equal the optimum and be proven. */
static void compare(berth_ctx *ctx, uint64_t seed, int rounds, int32_t max_tasks, int32_t max_devices,
                    void (*restrict_to)(support_costs *how), bool exact) {
    for (int i = 0; i < support_cases(rounds); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_SERIAL, max_tasks, max_devices);
        restrict_to(&how);
        berth_costs *costs = support_costs_new(ctx, &seed, &how);
        berth_problem *problem = support_problem(ctx, costs);
        double best = support_brute_force(ctx, problem, false, NULL, NULL);
        berth_search *search = support_search(ctx, problem, 1, INT64_MAX, 1);
        assert_int_equal(berth_search_min_cut(search), BERTH_OK);
        support_check_best(ctx, search);
        if (search->bound_ms > best * (1 + 1e-12))
            fail_msg("%d: bound %.17g, optimum %.17g: %s", i, search->bound_ms, best, support_costs_text(&how));
        if (exact && !(is_equal(search->best_ms, best) && berth_search_proven(search)))
            fail_msg("%d: %.17g, bound %.17g, optimum %.17g: %s", i, search->best_ms, search->bound_ms, best,
                     support_costs_text(&how));
        berth_search_free(search);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

static void plain(support_costs *how) {
    how->task_memory = how->peaks = false;
    how->piece_ms = 0;
}

static void any(support_costs *how) {
    (void)how;
}

static void two_devices_are_exact(void **state) {
    compare(*state, 21, 6000, 10, 2, plain, true);
}

static void more_devices_are_exact_by_elimination(void **state) {
    compare(*state, 22, 2500, 7, 4, plain, true);
}

static void pieces_and_limits_are_bounded(void **state) {
    compare(*state, 23, 3000, 8, 3, any, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_devices_are_exact),
        cmocka_unit_test(more_devices_are_exact_by_elimination),
        cmocka_unit_test(pieces_and_limits_are_bounded),
    };
    return cmocka_run_group_tests_name("search.min_cut", tests, support_open, support_close);
}
