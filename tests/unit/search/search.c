/* SPDX-License-Identifier: Apache-2.0 */
/* Counting, offering, bounding and stopping. */
#include "problems.h"

#include <math.h>

#include "search/search_methods.h"

typedef struct fixture {
    berth_ctx *ctx;
    berth_costs *costs;
    berth_problem *problem;
    berth_search *search;
} fixture;

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    f.costs = support_topcuoglu(f.ctx);
    f.problem = support_problem(f.ctx, f.costs);
    assert_int_equal(berth_search_new(f.ctx, &f.search, f.problem, 1, (berth_budget){100, INFINITY}, 1), BERTH_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_search_free(f->search);
    berth_problem_free(f->problem);
    berth_costs_free(f->costs);
    berth_ctx_free(f->ctx);
    return 0;
}

static void count_reports(void *user, const berth_search *search) {
    (void)search;
    ++*(int *)user;
}

static void keeps_the_better(void **state) {
    berth_search *s = ((fixture *)*state)->search;
    static const int32_t first[10] = {0}, better[10] = {2, 0, 2, 1, 2, 1, 2, 0, 1, 1};
    static const int32_t order[10] = {0, 3, 1, 2, 4, 5, 7, 8, 6, 9};
    int n_reports = 0;
    s->progress = count_reports;
    s->progress_user = &n_reports;
    assert_false(s->has_best);
    berth_search_offer(s, first, NULL, BERTH_SOURCE_SEED, "one");
    assert_true(s->has_best && s->best_ms == 127 && !s->best_has_priority);
    berth_search_offer(s, better, order, BERTH_SOURCE_SAMPLE, "two");
    assert_true(s->best_ms == 80 && s->best_has_priority && s->best_source == BERTH_SOURCE_SAMPLE);
    assert_memory_equal(s->best_device, better, sizeof better);
    assert_memory_equal(s->best_priority, order, sizeof order);
    berth_search_offer(s, first, NULL, BERTH_SOURCE_SEED, "one");
    assert_string_equal(s->best_method, "two");
    assert_int_equal(n_reports, 2);
    assert_int_equal(s->evaluations, 0); /* offers are not counted */
    assert_true(berth_search_evaluate(s, first, NULL) == 127);
    assert_int_equal(s->evaluations, 1);
    assert_int_equal(berth_search_left(s), 99);
}

static void stops_when_proven(void **state) {
    berth_search *s = ((fixture *)*state)->search;
    static const int32_t first[10] = {0};
    berth_search_bound(s, 127);
    assert_false(berth_search_stop(s)); /* a bound alone proves nothing */
    berth_search_offer(s, first, NULL, BERTH_SOURCE_SEED, "one");
    assert_true(berth_search_proven(s) && berth_search_stop(s));
    berth_search_bound(s, 100); /* a weaker bound changes nothing */
    assert_true(s->bound_ms == 127);
}

static void stops_at_the_budget(void **state) {
    berth_search *s = ((fixture *)*state)->search;
    berth_search_count(s, 99);
    assert_false(berth_search_stop(s));
    berth_search_count(s, 1);
    assert_true(berth_search_stop(s));
    assert_int_equal(berth_search_left(s), 0);
    assert_true(berth_search_spent(s) == 1);
    s->budget.evaluations = 200; /* whoever runs methods in turn may raise it */
    assert_false(berth_search_stop(s));
}

static void stops_in_time(void **state) {
    berth_search *s = ((fixture *)*state)->search;
    s->budget = (berth_budget){INT64_MAX, 0.05};
    double start = berth_search_clock();
    assert_int_equal(berth_search_random(s), BERTH_OK);
    assert_true(berth_search_clock() - start >= 0.04);
    assert_true(berth_search_clock() - start < 10); /* a busy machine, a slow launcher */
    s->budget.seconds = 1e6;
    assert_false(berth_search_stop(s));
}

static bool cancel_third(void *user) {
    return ++*(int *)user >= 3;
}

static void stops_when_cancelled(void **state) {
    fixture *f = *state;
    int n_asked = 0;
    f->search->budget = (berth_budget){INT64_MAX, INFINITY};
    berth_ctx_set_cancel(f->ctx, cancel_third, &n_asked);
    assert_int_equal(berth_search_random(f->search), BERTH_OK);
    assert_true(n_asked >= 3);
    assert_true(f->search->has_best); /* and keeps what it has */
}

/* What the search knew after each number of evaluations, by asking it before every one. */
static void curve_is_what_was_known(void **state) {
    fixture *f = *state;
    static const int64_t at[] = {1, 2, 5, 40, 90, 300};
    enum { N = sizeof at / sizeof *at };
    double ms[N] = {0}, known[101] = {INFINITY};
    berth_curve curve = {.at = at, .ms = ms, .n = N};
    int32_t device[10];
    uint64_t seed = 5;
    f->search->curve = &curve;
    for (int i = 1; i <= 100; i++) {
        for (int task = 0; task < 10; task++) device[task] = (int32_t)support_below(&seed, 3);
        if (berth_search_evaluate(f->search, device, NULL) < f->search->best_ms)
            berth_search_offer(f->search, device, NULL, BERTH_SOURCE_SEED, "test");
        known[i] = f->search->best_ms;
    }
    assert_int_equal(curve.next, N - 1);
    berth_curve_end(&curve, f->search->best_ms);
    for (int i = 0; i < N; i++) assert_true(ms[i] == known[at[i] < 100 ? at[i] : 100]);
    assert_true(ms[0] > ms[N - 1]);
}

/* Walks offer late, but what they know is seen at once. */
static void curve_follows_walks(void **state) {
    fixture *f = *state;
    static const int64_t at[] = {1, 3, 10, 30, 100, 101};
    enum { N = sizeof at / sizeof *at };
    double ms[N];
    berth_curve curve = {.at = at, .ms = ms, .n = N};
    f->search->curve = &curve;
    assert_int_equal(berth_search_single(f->search), BERTH_OK);
    assert_int_equal(berth_search_anneal(f->search), BERTH_OK);
    berth_curve_end(&curve, f->search->best_ms);
    for (int i = 1; i < N; i++) assert_true(ms[i] <= ms[i - 1]);
    assert_true(ms[N - 1] == f->search->best_ms && ms[0] > ms[N - 1]);
}

static void seeds_are_counted(void **state) {
    fixture *f = *state;
    assert_int_equal(berth_search_seeds(f->search), BERTH_OK);
    assert_true(f->search->best_ms <= 80); /* heft */
    assert_true(f->search->evaluations >= 3 + 2 + 1 + 3 && f->search->evaluations <= 100);
    assert_int_equal(f->search->budget.evaluations, 100);
    int64_t with_single = f->search->evaluations;
    f->search->evaluations = 0;
    assert_int_equal(berth_search_seeds(f->search), BERTH_OK);
    assert_int_equal(f->search->evaluations, with_single - 3);
    f->search->evaluations = 0;
    f->search->budget.evaluations = 4;
    assert_int_equal(berth_search_seeds(f->search), BERTH_OK);
    assert_int_equal(f->search->evaluations, 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keeps_the_better, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_when_proven, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_at_the_budget, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_in_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_when_cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(curve_is_what_was_known, set_up, tear_down),
        cmocka_unit_test_setup_teardown(curve_follows_walks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(seeds_are_counted, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("search.search", tests, NULL, NULL);
}
