/* SPDX-License-Identifier: Apache-2.0 */
/* Units, masks and equal devices of problems; and that the brute force of the tests knows a published optimum. */
#include "graphs.h"
#include "problems.h"

#include <math.h>

static void random_costs_are_sound(void **state) {
    uint64_t seed = 11;
    for (int i = 0; i < support_cases(2000); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 10, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        int32_t n_listed = 0, last_first = -1;
        for (int32_t unit = 0; unit < problem->n_units; unit++) {
            int32_t first = problem->unit_start[unit], end = problem->unit_start[unit + 1];
            uint64_t shared = UINT64_MAX;
            assert_true(first < end);
            assert_true(problem->unit_tasks[first] > last_first);
            last_first = problem->unit_tasks[first];
            for (int32_t k = first; k < end; k++, n_listed++) {
                int32_t task = problem->unit_tasks[k];
                assert_int_equal(problem->unit_of[task], unit);
                assert_true(k == first || task > problem->unit_tasks[k - 1]);
                shared &= problem->task_allowed[task];
                for (int32_t d = 0; d < costs->n_devices; d++)
                    assert_int_equal(problem->task_allowed[task] >> d & 1,
                                     costs->time_ms[task * costs->n_devices + d] < INFINITY);
            }
            assert_true(shared == problem->allowed[unit] && shared != 0);
        }
        assert_int_equal(n_listed, costs->n_tasks);
        assert_int_equal(problem->units_are_tasks, problem->n_units == costs->n_tasks);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* Swapping equal devices in any placement changes nothing but the order in which numbers are added. */
static void equal_devices_may_be_swapped(void **state) {
    uint64_t seed = 12;
    int n_pairs = 0;
    for (int i = 0; i < support_cases(2000); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 8, 4);
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_sim *sim = NULL;
        int32_t one[8], other[8], k = costs->n_devices;
        assert_int_equal(berth_sim_new(*state, &sim, costs), BERTH_OK);
        for (int32_t a = 0; a < k; a++)
            for (int32_t b = 0; b < k; b++) {
                assert_int_equal(problem->equal_devices[a] >> b & 1, problem->equal_devices[b] >> a & 1);
                if (!(problem->equal_devices[a] >> b & 1) || a == b) continue;
                n_pairs++;
                for (int32_t task = 0; task < costs->n_tasks; task++) {
                    int32_t d = one[task] = (int32_t)support_below(&seed, (uint32_t)k);
                    other[task] = d == a ? b : d == b ? a : d;
                }
                double x = berth_sim_run(sim, one, NULL), y = berth_sim_run(sim, other, NULL);
                if (!(x == y || fabs(x - y) <= 1e-12 * x))
                    fail_msg("%.17g and %.17g: %s", x, y, support_costs_text(&how));
            }
        berth_sim_free(sim);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
    assert_true(n_pairs >= support_cases(300));
}

/* The published HEFT schedule takes 80, no placement in task order takes less than the optimum 73. */
static void topcuoglu_as_published(void **state) {
    static const int32_t device[10] = {2, 0, 2, 1, 2, 1, 2, 0, 1, 1}, order[10] = {0, 3, 1, 2, 4, 5, 7, 8, 6, 9};
    berth_costs *costs = support_topcuoglu(*state);
    berth_problem *problem = support_problem(*state, costs);
    berth_sim *sim = NULL;
    assert_int_equal(berth_sim_new(*state, &sim, costs), BERTH_OK);
    assert_float_equal(berth_sim_run(sim, device, order), 80, 0);
    double best = support_brute_force(*state, problem, false, NULL, NULL);
    assert_true(best >= 73 && best <= 80);
    berth_sim_free(sim);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

/* --- with a graph behind the costs ------------------------------------------------------------------------------- */

typedef struct model {
    berth_graph *graph;
    berth_device_set *devices;
    berth_costs *costs;
} model;

static model make_model(berth_ctx *ctx, const berth_limits *limits) {
    model m = {.graph = support_graph(ctx, "input x f32 1x8\n"
                                           "Relu x as a/one -> p f32 1x8\n"
                                           "Relu p as a/two -> q f32 1x8\n"
                                           "Tanh q as b/one -> r f32 1x8\n"
                                           "Tanh r as b/two -> s f32 1x8\n"
                                           "Add s p as sum -> t f32 1x8\n"
                                           "output t\n")};
    berth_cost_options options = berth_cost_options_default();
    options.limits = limits;
    if (berth_device_set_read(ctx, &m.devices, "cpu,gpu") != BERTH_OK ||
        berth_costs_new(ctx, &m.costs, m.graph, m.devices, &options) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return m;
}

static void free_model(model *m) {
    berth_costs_free(m->costs);
    berth_device_set_free(m->devices);
    berth_graph_free(m->graph);
}

static int32_t unit_of(const model *m, const berth_problem *p, const char *name) {
    return p->unit_of[m->costs->op_task[berth_graph_find_op(m->graph, name)]];
}

static void patterns_join_units(void **state) {
    berth_rule together[] = {{"a/*", NULL}, {"Add", NULL}, {"*/two", NULL}};
    berth_limits limits = {.together = together, .n_together = 2};
    model m = make_model(*state, NULL);
    berth_problem *p = NULL;
    assert_int_equal(berth_problem_new(*state, &p, m.costs, &limits, NULL), BERTH_OK);
    assert_int_equal(p->n_units, 4);
    assert_int_equal(unit_of(&m, p, "a/one"), unit_of(&m, p, "a/two"));
    berth_problem_free(p);
    limits.n_together = 3; /* classes that share a member are one */
    assert_int_equal(berth_problem_new(*state, &p, m.costs, &limits, NULL), BERTH_OK);
    assert_int_equal(p->n_units, 3);
    assert_int_equal(unit_of(&m, p, "a/one"), unit_of(&m, p, "b/two"));
    berth_problem_free(p);
    together[0].pattern = "nothing*";
    assert_int_equal(berth_problem_new(*state, &p, m.costs, &limits, NULL), BERTH_E_ARG);
    assert_null(p);
    assert_non_null(strstr(berth_ctx_message(*state), "nothing*"));
    free_model(&m);
}

static void contradictions_are_named(void **state) {
    const berth_rule together = {"a/*", NULL};
    const berth_rule pins[] = {{"a/one", "cpu"}, {"a/two", "gpu"}};
    const berth_limits limits = {.together = &together, .n_together = 1, .pins = pins, .n_pins = 2};
    model m = make_model(*state, &limits);
    berth_problem *p = NULL;
    assert_int_equal(berth_problem_new(*state, &p, m.costs, &limits, NULL), BERTH_E_INFEASIBLE);
    assert_null(p);
    assert_non_null(strstr(berth_ctx_message(*state), "a/one"));
    assert_non_null(strstr(berth_ctx_message(*state), "a/two"));
    free_model(&m);
}

/* Groups join what may run on one device, and fall apart where nothing is allowed for all. */
static void groups_split_where_they_must(void **state) {
    const berth_group_rule rule = BERTH_GROUP_PAPER;
    const berth_rule pins[] = {{"a/two", "cpu"}, {"b/two", "gpu"}};
    const berth_limits limits = {.pins = pins, .n_pins = 2};
    berth_problem *p = NULL;
    model m = make_model(*state, NULL);
    assert_int_equal(berth_problem_new(*state, &p, m.costs, NULL, &rule), BERTH_OK);
    assert_int_equal(p->n_units, 3); /* a/one feeds two; a/two, b/one and b/two are a chain; then the sum */
    assert_int_equal(unit_of(&m, p, "a/two"), unit_of(&m, p, "b/two"));
    assert_false(p->bounds_hold);
    berth_problem_free(p);
    free_model(&m);
    m = make_model(*state, &limits);
    assert_int_equal(berth_problem_new(*state, &p, m.costs, &limits, &rule), BERTH_OK);
    assert_int_equal(p->n_units, 5);
    berth_problem_free(p);
    free_model(&m);
}

static berth_status make_problem(berth_ctx *ctx, void *user) {
    berth_problem *problem = NULL;
    berth_status status = berth_problem_new(ctx, &problem, user, NULL, NULL);
    if (status == BERTH_OK) {
        berth_search *search = NULL;
        status = berth_search_new(ctx, &search, problem, 1, (berth_budget){10, INFINITY}, 1);
        berth_search_free(search);
    }
    berth_problem_free(problem);
    return status;
}

static void runs_out_of_memory_cleanly(void **state) {
    uint64_t seed = 13;
    support_costs how = {.n_tasks = 9, .n_devices = 3, .density = 30, .colours = true, .peaks = true};
    berth_costs *costs = support_costs_new(*state, &seed, &how);
    assert_true(support_ladder(make_problem, costs, 1) > 3);
    berth_costs_free(costs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_costs_are_sound, support_open, support_close),
        cmocka_unit_test_setup_teardown(equal_devices_may_be_swapped, support_open, support_close),
        cmocka_unit_test_setup_teardown(topcuoglu_as_published, support_open, support_close),
        cmocka_unit_test_setup_teardown(patterns_join_units, support_open, support_close),
        cmocka_unit_test_setup_teardown(contradictions_are_named, support_open, support_close),
        cmocka_unit_test_setup_teardown(groups_split_where_they_must, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
    };
    return cmocka_run_group_tests_name("search.problem", tests, NULL, NULL);
}
