/* SPDX-License-Identifier: Apache-2.0 */
/* Minimisers of terms against all placements: cuts for two devices, elimination for any number, expansion moves. */
#include "problems.h"

#include <math.h>

#include "search/eliminate.h"
#include "search/expansion.h"
#include "search/min_cut_graph.h"

typedef struct sample {
    berth_costs *costs;
    berth_problem *problem;
    berth_arena arena;
    berth_terms terms;
    double best; /* of all placements of nodes */
} sample;

static double uniform(uint64_t *seed) {
    return (double)(support_random(seed) >> 11) * 0x1p-53;
}

static double *weights(berth_arena *arena, size_t n, uint64_t *seed) {
    double *items = berth_arena_push(arena, n, sizeof *items);
    assert_non_null(items);
    for (size_t i = 0; i < n; i++) items[i] = support_below(seed, 3) ? uniform(seed) : 0;
    return items;
}

static void find_best(sample *s, int32_t *device, int32_t node) {
    if (node == s->terms.n_nodes) {
        double cost = berth_terms_cost(&s->terms, device);
        if (cost < s->best) s->best = cost;
        return;
    }
    for (uint64_t rest = s->terms.allowed[node]; rest; rest &= rest - 1) {
        device[node] = __builtin_ctzll(rest);
        find_best(s, device, node + 1);
    }
}

/* Random costs with random weights of everything. */
static void draw(berth_ctx *ctx, sample *s, uint64_t *seed, int32_t max_tasks, int32_t max_devices, bool via_host) {
    int32_t device[16];
    support_costs how = support_costs_any(seed, BERTH_MODEL_SERIAL, max_tasks, max_devices);
    s->costs = support_costs_new(ctx, seed, &how);
    s->problem = support_problem(ctx, s->costs);
    berth_arena_init(&s->arena, berth_ctx_allocator(ctx));
    assert_true(berth_terms_init(&s->terms, &s->arena, s->problem, false));
    berth_terms_set_serial(&s->terms);
    size_t k = (size_t)s->costs->n_devices, n_reads = (size_t)s->costs->reader_start[s->costs->n_values];
    s->terms.values_count = support_below(seed, 4) > 0;
    s->terms.via_host = via_host;
    s->terms.link_fixed = weights(&s->arena, k * k, seed);
    s->terms.link_rest = weights(&s->arena, k * k, seed);
    if (support_below(seed, 2)) s->terms.read_ms = weights(&s->arena, n_reads, seed);
    if (support_below(seed, 2)) s->terms.read_change = weights(&s->arena, n_reads, seed);
    s->best = INFINITY;
    find_best(s, device, 0);
}

static void drop(sample *s) {
    berth_arena_deinit(&s->arena);
    berth_problem_free(s->problem);
    berth_costs_free(s->costs);
}

static void assert_close(double a, double b, const char *what, int round) {
    if (fabs(a - b) > 1e-12 * (1 + fabs(b))) fail_msg("%s, round %d: %.17g, not %.17g", what, round, a, b);
}

static void cuts_choose_between_two_devices(void **state) {
    uint64_t seed = 41;
    berth_flow *flow = NULL;
    assert_int_equal(berth_flow_new(*state, &flow), BERTH_OK);
    for (int i = 0; i < support_cases(3000); i++) {
        sample s;
        int32_t keep[16], move[16];
        draw(*state, &s, &seed, 9, 2, support_below(&seed, 2));
        for (int32_t node = 0; node < s.terms.n_nodes; node++) {
            keep[node] = s.terms.allowed[node] & 1 ? 0 : 1;
            move[node] = s.terms.allowed[node] & 2 ? 1 : 0;
        }
        assert_int_equal(berth_min_cut_choose(*state, flow, &s.terms, keep, move, keep), BERTH_OK);
        assert_close(berth_terms_cost(&s.terms, keep), s.best, "cut", i);
        drop(&s);
    }
    berth_flow_free(flow);
}

/* Large tables: the optimum, and a placement that has it. Small ones: a bound. */
static void elimination_is_exact_or_a_bound(void **state) {
    uint64_t seed = 42;
    int n_split = 0;
    for (int i = 0; i < support_cases(2000); i++) {
        sample s;
        int32_t device[16];
        draw(*state, &s, &seed, 7, 4, support_below(&seed, 2));
        for (int small = 0; small < 2; small++) {
            berth_eliminate *plan = NULL;
            assert_int_equal(berth_eliminate_new(*state, &plan, &s.terms, small ? 16 : 1e6, 1e6), BERTH_OK);
            assert_non_null(plan);
            n_split += !berth_eliminate_is_exact(plan);
            for (int again = 0; again < 2; again++) {
                double bound = berth_eliminate_run(plan, device);
                assert_true(bound <= s.best * (1 + 1e-12) + 1e-12);
                if (!berth_eliminate_is_exact(plan)) continue;
                assert_close(bound, s.best, "elimination", i);
                assert_close(berth_terms_cost(&s.terms, device), s.best, "its placement", i);
            }
            berth_eliminate_free(plan);
        }
        drop(&s);
    }
    assert_true(n_split > 0);
}

/* Every move lowers the cost, and the end is seldom far from the optimum. */
static void expansion_ends_near_the_optimum(void **state) {
    uint64_t seed = 43;
    int n_best = 0, n = support_cases(1000);
    berth_flow *flow = NULL;
    assert_int_equal(berth_flow_new(*state, &flow), BERTH_OK);
    for (int i = 0; i < n; i++) {
        sample s;
        berth_search *search = NULL;
        berth_budget budget = {.evaluations = INT64_MAX, .seconds = INFINITY};
        int32_t device[16], other[16], next[16];
        double cost;
        draw(*state, &s, &seed, 7, 4, false);
        assert_int_equal(berth_search_new(*state, &search, s.problem, 1, budget, 1), BERTH_OK);
        for (int32_t node = 0; node < s.terms.n_nodes; node++) device[node] = __builtin_ctzll(s.terms.allowed[node]);
        double before = berth_terms_cost(&s.terms, device);
        berth_patience patience = berth_patience_for(search, INFINITY);
        assert_int_equal(berth_expansion_improve(search, &patience, flow, &s.terms, device, other, next, &cost),
                         BERTH_OK);
        assert_true(cost <= before && cost >= s.best * (1 - 1e-12));
        assert_close(berth_terms_cost(&s.terms, device), cost, "expansion", i);
        for (int32_t node = 0; node < s.terms.n_nodes; node++) assert_true(s.terms.allowed[node] >> device[node] & 1);
        n_best += cost <= s.best * (1 + 1e-9) + 1e-12;
        berth_search_free(search);
        drop(&s);
    }
    berth_flow_free(flow);
    if (n_best < n * 9 / 10) fail_msg("the optimum in %d of %d", n_best, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_choose_between_two_devices),
        cmocka_unit_test(elimination_is_exact_or_a_bound),
        cmocka_unit_test(expansion_ends_near_the_optimum),
    };
    return cmocka_run_group_tests_name("search.terms", tests, support_open, support_close);
}
