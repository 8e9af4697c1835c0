/* SPDX-License-Identifier: Apache-2.0 */
/* `exact` under `contiguous`: against brute force, piece by piece and as a whole, and on the published optima. */
#include "problems.h"

#include "search/exact.h"
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <stdio.h>

typedef struct drawn {
    support_costs how;
    berth_costs *costs;
    berth_problem *problem;
    berth_search *search;
    double best; /* by brute force */
} drawn;

/* Some copies cannot be made at all. */
static void cut_links(uint64_t *state, berth_costs *c) {
    size_t n_pairs = (size_t)c->n_devices * (size_t)c->n_devices, n = n_pairs;
    double *ms = (double *)(uintptr_t)(c->copy_table ? c->copy_table : c->copy_fixed);
    if (c->copy_table) n *= (size_t)c->n_values;
    for (size_t i = 0; i < n; i++)
        if (support_below(state, 6) == 0 && i % n_pairs % ((size_t)c->n_devices + 1) != 0) ms[i] = INFINITY;
}

/* Homes and targets on any device, more colours than usual, several cores, often no limit on the host. */
static void vary(uint64_t *state, const support_costs *how, berth_costs *c) {
    int32_t *home = (int32_t *)(uintptr_t)c->value_home, *target = (int32_t *)(uintptr_t)c->value_target;
    uint32_t k = (uint32_t)c->n_devices;
    for (int32_t v = 0; how->any_home && v < c->n_values; v++) {
        if (home[v] >= 0) home[v] = (int32_t)support_below(state, k);
        if (target[v] >= 0) target[v] = (int32_t)support_below(state, k);
        if (home[v] >= 0 && how->targets && support_below(state, 2)) target[v] = (int32_t)support_below(state, k);
    }
    if (support_below(state, 5) == 0) cut_links(state, c);
    c->max_cpus = (int32_t)support_below(state, 4);
    if (support_below(state, 2)) ((double *)(uintptr_t)c->capacity)[c->host] = INFINITY;
}

static drawn draw(berth_ctx *ctx, uint64_t *state, berth_objective objective, int32_t max_tasks) {
    drawn d = {.how = support_costs_any(state, BERTH_MODEL_CONTIGUOUS, max_tasks, 4)};
    d.how.objective = objective;
    d.how.colours |= support_below(state, 3) == 0;
    d.costs = support_costs_new(ctx, state, &d.how);
    vary(state, &d.how, d.costs);
    d.problem = support_problem(ctx, d.costs);
    d.best = support_brute_force(ctx, d.problem, false, NULL, NULL);
    berth_budget budget = {INT64_MAX, INFINITY};
    assert_int_equal(berth_search_new(ctx, &d.search, d.problem, 1, budget, 1), BERTH_OK);
    return d;
}

static void release(drawn *d) {
    berth_search_free(d->search);
    berth_problem_free(d->problem);
    berth_costs_free(d->costs);
}

static bool is_equal(double a, double b) {
    return a == b || fabs(a - b) <= 1e-9 * (1 + fabs(b));
}

static void compare(berth_objective objective, int n_cases, uint64_t state) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    int n_feasible = 0;
    for (int i = 0; i < support_cases(n_cases); i++) {
        drawn d = draw(ctx, &state, objective, 7);
        assert_int_equal(berth_search_bound_contiguous(d.search), BERTH_OK);
        if (d.search->bound_ms > d.best * (1 + 1e-9))
            fail_msg("case %d: bound %.17g, best %.17g: %s", i, d.search->bound_ms, d.best, support_costs_text(&d.how));
        assert_int_equal(berth_search_exact_contiguous(d.search), BERTH_OK);
        if (!is_equal(d.search->best_ms, d.best) || d.search->bound_ms > d.best * (1 + 1e-9))
            fail_msg("case %d: exact %.17g, bound %.17g, brute force %.17g: %s", i, d.search->best_ms,
                     d.search->bound_ms, d.best, support_costs_text(&d.how));
        if (d.search->has_best && !berth_search_proven(d.search))
            fail_msg("case %d: %.17g not proven: %s", i, d.best, support_costs_text(&d.how));
        support_check_best(ctx, d.search);
        n_feasible += d.search->has_best;
        release(&d);
    }
    assert_true(n_feasible > support_cases(n_cases) / 2);
    berth_ctx_free(ctx);
}

static void latency_equals_brute_force(void **state) {
    (void)state;
    compare(BERTH_OBJECTIVE_LATENCY, 2500, 1);
}

static void throughput_equals_brute_force(void **state) {
    (void)state;
    compare(BERTH_OBJECTIVE_THROUGHPUT, 2500, 2);
}

/* The host's memory as a peak is what walks take no account of. */
static bool walks_are_exact(const drawn *d) {
    return !d->problem->memory_binds || d->costs->task_memory || d->costs->capacity[d->costs->host] == INFINITY;
}

/* Small problems are solved before anybody looks back: do it here first. */
static void looking_back_promises_no_more_than_the_best(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    uint64_t random = 3;
    int n_better = 0;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < support_cases(1500); i++) {
        drawn d = draw(ctx, &random, BERTH_OBJECTIVE_LATENCY, 7);
        berth_contiguous *m = NULL;
        berth_walk walk;
        berth_walk_result result;
        assert_int_equal(berth_contiguous_new(d.search, &m, (berth_contiguous_options){.drop = false}), BERTH_OK);
        assert_int_equal(berth_walk_init(&walk, d.search, m, SIZE_MAX), BERTH_OK);
        assert_int_equal(berth_search_bound_contiguous(d.search), BERTH_OK);
        assert_int_equal(berth_walk_look_back(&walk, SIZE_MAX, INT64_MAX), BERTH_OK);
        const berth_labels *empty = berth_walk_reach_empty(&walk)->data;
        double promise = empty->tail[m->n_states * (empty->n_times + 1) - 1];
        if (promise > d.best * (1 + 1e-9))
            fail_msg("case %d: promises %.17g, best %.17g: %s", i, promise, d.best, support_costs_text(&d.how));
        n_better += promise > d.search->bound_ms * (1 + 1e-9);
        assert_int_equal(berth_walk_run(&walk, (berth_walk_limits){SIZE_MAX, SIZE_MAX, SIZE_MAX}, &result), BERTH_OK);
        bool ended = result.complete || berth_search_proven(d.search);
        if (walks_are_exact(&d) && !(is_equal(result.best_ms, d.best) && ended))
            fail_msg("case %d: %.17g, best %.17g: %s", i, result.best_ms, d.best, support_costs_text(&d.how));
        berth_walk_deinit(&walk);
        berth_contiguous_free(m);
        release(&d);
    }
    assert_true(n_better > support_cases(300));
    berth_ctx_free(ctx);
}

/* Whatever limits make a walk leave out is in its bound. */
static void narrow_walks_still_bound(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    uint64_t random = 4;
    int n_incomplete = 0;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < support_cases(1500); i++) {
        drawn d = draw(ctx, &random, i % 2 ? BERTH_OBJECTIVE_LATENCY : BERTH_OBJECTIVE_THROUGHPUT, 7);
        berth_contiguous *m = NULL;
        berth_walk walk;
        berth_walk_result result;
        berth_contiguous_options options = {.drop = i % 3 == 0, .most_blocks = i % 5 == 0 ? 2 : 0};
        assert_int_equal(berth_contiguous_new(d.search, &m, options), BERTH_OK);
        assert_int_equal(berth_walk_init(&walk, d.search, m, SIZE_MAX), BERTH_OK);
        berth_walk_limits limits = {1 + support_below(&random, 2), 1, 1 + support_below(&random, 4)};
        assert_int_equal(berth_walk_run(&walk, limits, &result), BERTH_OK);
        if (options.most_blocks == 0 && result.least_ms > d.best * (1 + 1e-9))
            fail_msg("case %d: %.17g, best %.17g: %s", i, result.least_ms, d.best, support_costs_text(&d.how));
        support_check_best(ctx, d.search);
        assert_true(!d.search->has_best || d.search->best_ms >= d.best * (1 - 1e-9));
        n_incomplete += !result.complete;
        berth_walk_deinit(&walk);
        berth_contiguous_free(m);
        release(&d);
    }
    assert_true(n_incomplete > support_cases(300));
    berth_ctx_free(ctx);
}

typedef struct workload {
    berth_graph *graph;
    berth_device_set *set;
    berth_costs *costs;
    berth_problem *problem;
    berth_search *search;
} workload;

static workload open_workload(berth_ctx *ctx, berth_graph *graph, berth_objective objective, berth_budget budget) {
    workload w = {.graph = graph};
    berth_cost_options options = berth_cost_options_default();
    options.model = BERTH_MODEL_CONTIGUOUS;
    options.objective = objective;
    if (berth_device_set_given(ctx, &w.set, graph) != BERTH_OK ||
        berth_costs_new(ctx, &w.costs, graph, w.set, &options) != BERTH_OK ||
        berth_problem_new(ctx, &w.problem, w.costs, NULL, NULL) != BERTH_OK ||
        berth_search_new(ctx, &w.search, w.problem, 1, budget, 1) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return w;
}

static void close_workload(workload *w) {
    berth_search_free(w->search);
    berth_problem_free(w->problem);
    berth_costs_free(w->costs);
    berth_device_set_free(w->set);
    berth_graph_free(w->graph);
}

/* Units {1, 4} and {2, 3} with edges 1 -> 2 and 3 -> 4 wait for each other as wholes. With 2 and 3 in one part the host
 * still runs 1 before it and 4 after it. */
static const char crossed[] =
    "{\"maxFPGAs\": 1, \"maxSizePerFPGA\": 100, \"maxCPUs\": 1, \"nodes\": ["
    "{\"id\": 1, \"supportedOnFpga\": 1, \"cpuLatency\": 1, \"fpgaLatency\": 90, \"size\": 1, \"colorClass\": 7},"
    "{\"id\": 2, \"supportedOnFpga\": 1, \"cpuLatency\": 90, \"fpgaLatency\": 2, \"size\": 1, \"colorClass\": 8},"
    "{\"id\": 3, \"supportedOnFpga\": 1, \"cpuLatency\": 90, \"fpgaLatency\": 3, \"size\": 1, \"colorClass\": 8},"
    "{\"id\": 4, \"supportedOnFpga\": 1, \"cpuLatency\": 1, \"fpgaLatency\": 90, \"size\": 1, \"colorClass\": 7}],"
    "\"edges\": [{\"sourceId\": 1, \"destId\": 2, \"cost\": 4}, {\"sourceId\": 3, \"destId\": 4, \"cost\": 5}]}";

static void host_runs_a_unit_around_a_part(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    berth_graph *graph = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    assert_int_equal(berth_graph_read_memory(ctx, &graph, crossed, sizeof crossed - 1, "crossed", NULL), BERTH_OK);
    workload w = open_workload(ctx, graph, BERTH_OBJECTIVE_LATENCY, (berth_budget){INT64_MAX, INFINITY});
    assert_int_equal(w.problem->n_units, 2);
    assert_int_equal(berth_search_exact_contiguous(w.search), BERTH_OK);
    assert_true(w.search->best_ms == 1 + 4 + 2 + 3 + 5 + 1);
    assert_true(berth_search_proven(w.search));
    close_workload(&w);
    berth_ctx_free(ctx);
}

static const struct {
    const char *path;
    double ms;
} optima[] = {
    /* the quick ones first: slow launchers try half of them */
    {"data/workloads/msr/latency/layer_bert24.json", 100.2185},
    {"data/workloads/msr/latency/layer_gnmt.json", 225.6479},
    {"data/workloads/msr/throughput/layer_gnmt.json", 32.9107},
    {"data/workloads/msr/latency/op_resnet50.json", 651.1208},
    {"data/workloads/msr/latency/op_bert_l-3.json", 408.4744},
    {"data/workloads/msr/throughput/op_bert_l-3.json", 27.9186},
};
enum { N_OPTIMA = sizeof optima / sizeof *optima };

static int n_optima(void) {
    int n = support_cases(50 * N_OPTIMA);
    return n < N_OPTIMA ? n : N_OPTIMA;
}

static workload open_optimum(berth_ctx *ctx, int i, berth_budget budget) {
    const char *path = support_shared(optima[i].path);
    bool throughput = strstr(optima[i].path, "throughput") != NULL;
    if (!path) support_skip("no workloads");
    return open_workload(ctx, support_read(ctx, path),
                         throughput ? BERTH_OBJECTIVE_THROUGHPUT : BERTH_OBJECTIVE_LATENCY, budget);
}

static void published_optima_are_found_and_proven(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < n_optima(); i++) {
        workload w = open_optimum(ctx, i, (berth_budget){INT64_MAX, INFINITY});
        assert_int_equal(berth_search_exact_contiguous(w.search), BERTH_OK);
        printf("%s: %.4f in %.2f s\n", optima[i].path, w.search->best_ms, berth_search_clock() - w.search->started);
        if (!(fabs(w.search->best_ms - optima[i].ms) <= 0.5e-4) || !berth_search_proven(w.search))
            fail_msg("%s: %.6f, bound %.6f, optimum %.4f", optima[i].path, w.search->best_ms, w.search->bound_ms,
                     optima[i].ms);
        support_check_best(ctx, w.search);
        close_workload(&w);
    }
    berth_ctx_free(ctx);
}

static void a_budget_is_kept_and_the_answer_still_holds(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < n_optima(); i++)
        for (int64_t evaluations = 1; evaluations <= 10000; evaluations *= 10) {
            workload a = open_optimum(ctx, i, (berth_budget){evaluations, INFINITY});
            workload b = open_optimum(ctx, i, (berth_budget){evaluations, INFINITY});
            assert_int_equal(berth_search_exact_contiguous(a.search), BERTH_OK);
            assert_int_equal(berth_search_exact_contiguous(b.search), BERTH_OK);
            assert_true(a.search->has_best && a.search->best_ms >= optima[i].ms - 0.5e-4);
            assert_true(a.search->bound_ms <= optima[i].ms + 0.5e-4);
            assert_true(a.search->best_ms == b.search->best_ms && a.search->bound_ms == b.search->bound_ms);
            assert_true(a.search->evaluations <= evaluations + 200); /* dropped units are mended */
            support_check_best(ctx, a.search);
            close_workload(&a);
            close_workload(&b);
        }
    berth_ctx_free(ctx);
}

static berth_status look_back(berth_search *search) {
    berth_contiguous *m = NULL;
    berth_walk walk;
    berth_status status = berth_contiguous_new(search, &m, (berth_contiguous_options){.most_blocks = 3});
    if (status != BERTH_OK) return status;
    status = berth_walk_init(&walk, search, m, SIZE_MAX);
    if (status == BERTH_OK) {
        status = berth_walk_look_back(&walk, SIZE_MAX, INT64_MAX);
        berth_walk_deinit(&walk);
    }
    berth_contiguous_free(m);
    return status;
}

static berth_status solve_crossed(berth_ctx *ctx, void *user) {
    (void)user;
    berth_graph *graph = NULL;
    workload w = {0};
    berth_cost_options options = berth_cost_options_default();
    options.model = BERTH_MODEL_CONTIGUOUS;
    berth_status status = berth_graph_read_memory(ctx, &graph, crossed, sizeof crossed - 1, "crossed", NULL);
    if (status == BERTH_OK) status = berth_device_set_given(ctx, &w.set, graph);
    if (status == BERTH_OK) status = berth_costs_new(ctx, &w.costs, graph, w.set, &options);
    if (status == BERTH_OK) status = berth_problem_new(ctx, &w.problem, w.costs, NULL, NULL);
    berth_budget budget = {INT64_MAX, INFINITY};
    if (status == BERTH_OK) status = berth_search_new(ctx, &w.search, w.problem, 1, budget, 1);
    if (status == BERTH_OK) status = look_back(w.search);
    if (status == BERTH_OK) status = berth_search_exact_contiguous(w.search);
    w.graph = graph;
    close_workload(&w);
    return status;
}

static void memory_may_run_out_anywhere(void **state) {
    (void)state;
    support_ladder(solve_crossed, NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latency_equals_brute_force),
        cmocka_unit_test(throughput_equals_brute_force),
        cmocka_unit_test(looking_back_promises_no_more_than_the_best),
        cmocka_unit_test(narrow_walks_still_bound),
        cmocka_unit_test(host_runs_a_unit_around_a_part),
        cmocka_unit_test(published_optima_are_found_and_proven),
        cmocka_unit_test(a_budget_is_kept_and_the_answer_still_holds),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };
    return cmocka_run_group_tests_name("search.contiguous", tests, NULL, NULL);
}
