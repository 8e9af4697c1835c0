/* SPDX-License-Identifier: Apache-2.0 */
/* What a policy sees before it chooses: slack against longest paths found another way, copies against the simulator,
 * groups that hang together, numbers that stay within bounds. */
#include "problems.h"

#include <math.h>

#include "learn/proposal.h"
#include "search/search_methods.h"

static void assert_close(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance)) fail_msg("%.17g is not %.17g", a, b);
}

/* A walk on a random problem, at a placement that some random moves led to. */
typedef struct scene {
    berth_ctx *ctx;
    berth_costs *costs;
    berth_problem *problem;
    berth_search *search;
    berth_stroll walk;
    berth_policy *policy;
    berth_proposer proposer;
    berth_arena arena;
    bool has_start;
} scene;

static void set(scene *s, berth_ctx *ctx, uint64_t *seed, const support_costs *how) {
    berth_settings settings;
    *s = (scene){.ctx = ctx, .costs = support_costs_new(ctx, seed, how)};
    s->problem = support_problem(ctx, s->costs);
    assert_int_equal(berth_settings_default(ctx, &settings, "hsdag"), BERTH_OK);
    assert_int_equal(berth_search_new(ctx, &s->search, s->problem, *seed, (berth_budget){100000, INFINITY}, 1),
                     BERTH_OK);
    berth_arena_init(&s->arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_stroll_init(&s->walk, s->search, "test", &s->has_start), BERTH_OK);
    assert_int_equal(berth_policy_new(ctx, &s->policy, &settings), BERTH_OK);
    if (!s->has_start) return;
    assert_int_equal(berth_proposer_init(&s->proposer, &s->walk, s->policy, &s->arena), BERTH_OK);
    for (int i = 0; i < 40; i++) {
        int64_t before = s->search->evaluations;
        double ms = berth_stroll_try_random(&s->walk);
        if (s->search->evaluations == before) continue;
        if (ms < INFINITY)
            berth_stroll_keep(&s->walk);
        else
            berth_stroll_drop(&s->walk);
    }
    berth_stroll_jump(&s->walk, s->walk.device, s->walk.has_order ? s->walk.priority : NULL);
    berth_proposer_look(&s->proposer);
}

static void strike(scene *s) {
    if (s->has_start) berth_proposer_deinit(&s->proposer);
    berth_stroll_deinit(&s->walk);
    berth_arena_deinit(&s->arena);
    berth_policy_free(s->policy);
    berth_search_free(s->search);
    berth_problem_free(s->problem);
    berth_costs_free(s->costs);
}

/* Longest time from the end of a task to the end of everything, by trying all ways. */
static double naive_tail(const scene *s, int32_t task) {
    const berth_costs *c = s->costs;
    const int32_t *device = s->walk.device;
    const double *start = s->proposer.outlook.start, *end = s->proposer.outlook.end;
    double tail = 0;
    int32_t next = -1;
    for (int32_t other = 0; other < c->n_tasks; other++) {
        if (device[other] != device[task] || s->walk.priority[other] <= s->walk.priority[task]) continue;
        if (next < 0 || s->walk.priority[other] < s->walk.priority[next]) next = other;
    }
    if (next >= 0) tail = end[next] - start[next] + naive_tail(s, next);
    for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
        int32_t v = c->out_values[i];
        if (c->value_target[v] >= 0) tail = fmax(tail, berth_costs_copy(c, v, device[task], c->value_target[v]));
        for (int32_t k = c->reader_start[v]; k < c->reader_start[v + 1]; k++) {
            int32_t reader = c->readers[k];
            tail = fmax(tail, berth_costs_copy(c, v, device[task], device[reader]) + end[reader] - start[reader] +
                                  naive_tail(s, reader));
        }
    }
    return tail;
}

static void slack_is_what_longest_paths_leave(void **state) {
    uint64_t seed = 5;
    int n_critical = 0;
    for (int i = 0; i < support_cases(100); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_CONCURRENT, 10, 3);
        how.queued_links = false;
        how.task_memory = how.peaks = false;
        scene s;
        set(&s, *state, &seed, &how);
        const berth_outlook *o = &s.proposer.outlook;
        for (int32_t task = 0; s.has_start && task < s.costs->n_tasks; task++) {
            assert_close(o->tail[task], naive_tail(&s, task), 1e-9 * (1 + o->ms));
            assert_true(o->end[task] + o->tail[task] <= o->ms * (1 + 1e-9));
            assert_true(o->ready[task] <= o->start[task] * (1 + 1e-9));
            n_critical += berth_outlook_is_critical(o, berth_outlook_slack(o, task));
        }
        strike(&s);
    }
    assert_true(n_critical > 0);
}

/* Under `serial` without pieces, times and copies are all there is: the guess is the truth. */
static void copies_are_exact(void **state) {
    uint64_t seed = 6;
    int n_tried = 0;
    for (int i = 0; i < support_cases(200); i++) {
        support_costs how = support_costs_any(&seed, BERTH_MODEL_SERIAL, 30, 5);
        how.piece_ms = 0;
        how.task_memory = how.peaks = false;
        how.objective = BERTH_OBJECTIVE_LATENCY;
        scene s;
        set(&s, *state, &seed, &how);
        for (int k = 0; s.has_start && k < 20; k++) {
            berth_proposal proposal;
            berth_guess guess;
            if (!berth_proposer_draw(&s.proposer, &proposal)) continue;
            assert_int_equal(proposal.kind, BERTH_PROPOSAL_MOVE);
            berth_outlook_guess_move(&s.proposer.outlook, proposal.units, proposal.n_units, proposal.to, -1, &guess);
            double ms = berth_proposer_try(&s.proposer, &proposal);
            berth_stroll_drop(&s.walk);
            assert_close(s.walk.ms + guess.time - guess.old_time + guess.copies, ms, 1e-9 * (1 + ms));
            n_tried++;
        }
        strike(&s);
    }
    assert_true(n_tried > 2 * support_cases(200));
}

/* Breadth first within the group. */
static bool hangs_together(const scene *s, const int32_t *units, int32_t n) {
    bool met[BERTH_STROLL_UNITS] = {true};
    for (int32_t round = 0; round < n; round++)
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n && met[a]; b++)
                for (int32_t i = s->walk.near_start[units[a]]; i < s->walk.near_start[units[a] + 1]; i++)
                    met[b] |= s->walk.near[i] == units[b];
    for (int32_t a = 0; a < n; a++)
        if (!met[a]) return false;
    return true;
}

static void groups_hang_together(void **state) {
    uint64_t seed = 7;
    int n_large = 0;
    for (int i = 0; i < support_cases(100); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 40, 2);
        how.bans = 0;
        scene s;
        set(&s, *state, &seed, &how);
        for (int k = 0; s.has_start && k < 30; k++) {
            int32_t units[BERTH_STROLL_UNITS], unit = (int32_t)support_below(&seed, (uint32_t)s.problem->n_units);
            int32_t n = berth_shapes_grow(&s.proposer.shapes, unit, 1 + (int32_t)support_below(&seed, 8), units);
            assert_in_range(n, 1, BERTH_STROLL_UNITS);
            assert_int_equal(units[0], unit);
            for (int32_t a = 0; a < n; a++) {
                assert_int_equal(berth_stroll_device(&s.walk, units[a]), berth_stroll_device(&s.walk, unit));
                for (int32_t b = 0; b < a; b++) assert_int_not_equal(units[a], units[b]);
            }
            assert_true(hangs_together(&s, units, n));
            n_large += n > 2;
        }
        strike(&s);
    }
    assert_true(n_large >= support_cases(100));
}

/* Every kind of problem, links that lead nowhere and times of nothing included. */
static void what_is_seen_is_bounded(void **state) {
    uint64_t seed = 8;
    int n_kinds[4] = {0};
    for (int i = 0; i < support_cases(300); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 30, 5);
        if (i % 5 == 0) how.objective = BERTH_OBJECTIVE_THROUGHPUT;
        scene s;
        set(&s, *state, &seed, &how);
        for (int k = 0; s.has_start && s.walk.ms > 0 && k < 20; k++) {
            berth_proposal proposal;
            berth_real sight[BERTH_SIGHT_COUNT];
            if (!berth_proposer_draw(&s.proposer, &proposal)) continue;
            n_kinds[proposal.kind]++;
            berth_proposer_see(&s.proposer, &proposal, sight);
            for (int f = 0; f < BERTH_SIGHT_COUNT; f++)
                if (!(fabs((double)sight[f]) <= 20))
                    fail_msg("sight %d is %g; %s", f, (double)sight[f], support_costs_text(&how));
            for (int32_t u = 0; u < proposal.n_units; u++)
                assert_true(berth_problem_allows(s.problem, proposal.units[u], proposal.to));
            double ms = berth_proposer_try(&s.proposer, &proposal);
            berth_stroll_drop(&s.walk);
            berth_proposer_note(&s.proposer, &proposal, ms < INFINITY ? 0.1 : 0.3);
            assert_true(berth_proposer_knows(&s.proposer, &proposal));
            berth_proposer_look(&s.proposer);
        }
        strike(&s);
    }
    for (int kind = 0; kind < 4; kind++) assert_true(n_kinds[kind] > 0);
}

/* A chain of two alike branches on one device of two: moving one of them whole is the only thing to do, and it shows.
 */
static void a_good_move_stands_out(void **state) {
    uint64_t seed = 9;
    support_costs how = {.n_tasks = 2, .n_devices = 2, .model = BERTH_MODEL_CONCURRENT, .integers = true};
    scene s;
    set(&s, *state, &seed, &how);
    double *time = (double *)(uintptr_t)s.costs->time_ms; /* no values: both run at once, on a device each */
    for (int i = 0; i < 4; i++) time[i] = 10;
    int32_t device[2] = {0, 0}, unit = 1;
    berth_guess guess;
    berth_stroll_jump(&s.walk, device, NULL);
    berth_proposer_look(&s.proposer);
    assert_close(s.walk.ms, 20, 1e-12);
    berth_outlook_guess_move(&s.proposer.outlook, &unit, 1, 1, -1, &guess);
    assert_close(guess.path, 10, 1e-12);
    assert_close(guess.delay, -10, 1e-12);
    assert_int_equal(guess.n_critical, 1);
    assert_close(guess.slack, 0, 1e-12);
    strike(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slack_is_what_longest_paths_leave, support_open, support_close),
        cmocka_unit_test_setup_teardown(copies_are_exact, support_open, support_close),
        cmocka_unit_test_setup_teardown(groups_hang_together, support_open, support_close),
        cmocka_unit_test_setup_teardown(what_is_seen_is_bounded, support_open, support_close),
        cmocka_unit_test_setup_teardown(a_good_move_stands_out, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.outlook", tests, NULL, NULL);
}
