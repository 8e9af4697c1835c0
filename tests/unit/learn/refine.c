/* SPDX-License-Identifier: Apache-2.0 */
/* `hsdag`: it keeps budgets and constraints, repeats to the bit, says where its answers come from, changes nothing at
 * rate 0, and learns: from the same seeds it ends well below itself without learning. */
#include "learning.h"

#include "berth/bench.h"
#include "learn/chooser.h"
#include "learn/proposal.h"
#include "learn/seeds.h"

static berth_settings settings_of(berth_ctx *ctx, const char *text) {
    return learning_settings(ctx, support_is_slow() ? "candidates=16" : "", text);
}

static support_setting a_case(berth_ctx *ctx, berth_generated kind, int32_t n_ops, int32_t n_devices,
                              berth_case_rule rule, uint64_t seed) {
    support_setting s;
    berth_case item = {.kind = kind, .n_ops = n_ops, .n_devices = n_devices, .rule = rule, .seed = seed};
    if (support_setting_make(ctx, &s, item) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return s;
}

static const char *const variants[] = {
    "",
    "grouping=none",
    "grouping=parse",
    "seeds=single polish=0",
    "seeds=none order=off",
    "candidates=5 steps=3 window=4 epochs=2 clip=0 entropy=0.01",
    "learning_rate=0 polish=0.5",
    "polish=1",
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* Any problem, any model: what comes out is feasible and rightly priced, and the same again, whatever the threads. */
static void any_problem(void **state) {
    const int n = support_is_slow() ? N_VARIANTS : support_cases(240);
    const int64_t most = support_is_slow() ? 40 : 150;
    uint64_t seed = 61;
    for (int i = 0; i < n; i++) {
        support_costs how =
            support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), support_is_slow() ? 12 : 40, 5);
        if (i % 7 == 0) how.objective = BERTH_OBJECTIVE_THROUGHPUT;
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        char text[200];
        snprintf(text, sizeof text, "candidates=8 %s", variants[i % N_VARIANTS]);
        berth_settings settings = settings_of(*state, text);
        berth_search *search = support_search(*state, problem, 3, most, 1),
                     *again = support_search(*state, problem, 3, most, 2);
        learning_run(search, &settings, NULL);
        learning_run(again, &settings, NULL);
        support_check_best(*state, search);
        support_same_best(search, again);
        berth_search_free(search);
        berth_search_free(again);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* Where there is always something to try, exactly what was asked for is evaluated. */
static void budgets_are_spent(void **state) {
    support_setting s =
        a_case(*state, BERTH_GENERATED_LAYERS, support_is_slow() ? 15 : 60, 4, BERTH_CASE_CONCURRENT, 11);
    const int64_t budgets[] = {0, 1, 3, 7, 30, 100, 333};
    const size_t n = sizeof budgets / sizeof *budgets - (support_is_slow() ? 2 : 0);
    for (size_t i = 0; i < n; i++)
        for (int v = 0; v < N_VARIANTS; v++) {
            char text[200];
            snprintf(text, sizeof text, "candidates=8 %s", variants[v]);
            berth_settings settings = settings_of(*state, text);
            berth_search *search = support_search(*state, s.problem, 5, budgets[i], 1);
            learning_run(search, &settings, NULL);
            assert_int_equal(search->evaluations, budgets[i]);
            if (budgets[i] >= 4) assert_true(search->has_best);
            berth_search_free(search);
        }
    support_setting_free(&s);
}

static void time_is_kept(void **state) {
    support_setting s = a_case(*state, BERTH_GENERATED_BRANCHES, 100, 4, BERTH_CASE_CONCURRENT, 12);
    berth_search *search = support_search(*state, s.problem, 5, INT64_MAX, 1);
    search->budget.seconds = 0.3;
    double before = berth_search_clock();
    learning_run(search, NULL, NULL);
    if (support_is_optimised()) assert_true(berth_search_clock() - before < 2);
    assert_true(search->has_best);
    berth_search_free(search);
    support_setting_free(&s);
}

/* A seed stays a seed until something better comes along, which is a sample, and a polished one at the end. */
static void answers_say_where_they_come_from(void **state) {
    support_setting s = a_case(*state, BERTH_GENERATED_TRANSFORMER, 80, 4, BERTH_CASE_CONCURRENT, 13);
    berth_settings all = settings_of(*state, ""), rough = settings_of(*state, "polish=0"),
                   smooth = settings_of(*state, "polish=1");
    berth_search *seeds = support_search(*state, s.problem, 1, 400, 1),
                 *search = support_search(*state, s.problem, 1, 4, 1);
    assert_int_equal(berth_learn_seeds(seeds, BERTH_SEEDS_ALL), BERTH_OK);
    int64_t n_seeds = seeds->evaluations;
    learning_run(search, &all, NULL); /* four devices, and nothing is left */
    assert_int_equal(search->best_source, BERTH_SOURCE_SEED);
    assert_string_equal(search->best_method, "single");
    berth_search_free(search);
    const berth_settings *how[] = {&rough, &smooth};
    const berth_source expected[] = {BERTH_SOURCE_SAMPLE, BERTH_SOURCE_POLISHED_SAMPLE};
    for (int i = 0; i < 2; i++) {
        search = support_search(*state, s.problem, 1, n_seeds + 400, 1);
        learning_run(search, how[i], NULL);
        assert_true(search->best_ms < seeds->best_ms);
        assert_int_equal(search->best_source, expected[i]);
        assert_string_equal(search->best_method, "hsdag");
        berth_search_free(search);
    }
    berth_search_free(seeds);
    support_setting_free(&s);
}

static void rate_zero_changes_no_weights(void **state) {
    support_setting s =
        a_case(*state, BERTH_GENERATED_BRANCHES, support_is_slow() ? 20 : 60, 3, BERTH_CASE_CONCURRENT, 14);
    const char *const texts[] = {"learning_rate=0", "learning_rate=1e-3", "learning_rate=0 grouping=parse"};
    for (int i = 0; i < 3; i++) {
        berth_settings settings = settings_of(*state, texts[i]);
        berth_policy *policy = NULL;
        assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
        berth_search *search = support_search(*state, s.problem, 5, 60, 1);
        learning_run(search, &settings, policy);
        berth_search_free(search);
        size_t bytes = policy->params.n * sizeof(berth_real);
        assert_true(policy->params.n > 0);
        void *before = malloc(bytes);
        assert_non_null(before);
        memcpy(before, policy->params.value, bytes);
        search = support_search(*state, s.problem, 6, 200, 1);
        learning_run(search, &settings, policy);
        assert_int_equal(memcmp(before, policy->params.value, bytes) == 0, i != 1);
        free(before);
        berth_search_free(search);
        berth_policy_free(policy);
    }
    support_setting_free(&s);
}

/* From single devices, without polish: the same search that does not learn, paired by seed. */
static void it_learns(void **state) {
    enum { N_SEEDS = 3 };
    if (support_cases(N_SEEDS) < N_SEEDS) support_skip("learning takes its time");
    const berth_case_rule rules[] = {BERTH_CASE_CONCURRENT, BERTH_CASE_MEMORY};
    berth_settings on = settings_of(*state, "seeds=single polish=0"),
                   off = settings_of(*state, "seeds=single polish=0 learning_rate=0");
    learning_tally tally = {.on = &on, .off = &off, .evaluations = 500};
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++) {
        support_setting s = a_case(*state, (berth_generated)kind, 120, 4, rules[kind % 2], 15);
        for (uint64_t seed = 0; seed < N_SEEDS; seed++) learning_pair(*state, &tally, s.problem, seed);
        support_setting_free(&s);
    }
    learning_check(&tally);
}

/* What was learnt on some cases helps on another one from the first choice. */
static void a_policy_carries_over(void **state) {
    berth_settings settings = settings_of(*state, "seeds=single polish=0");
    berth_policy *policy = NULL;
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    const bool slow = support_cases(8) < 8; /* memory is looked at, not what was learnt */
    for (int i = 0; i < (slow ? 2 : 8); i++) {
        support_setting s = a_case(*state, (berth_generated)(i % BERTH_GENERATED_COUNT), slow ? 10 : 100,
                                   2 + 2 * (i % 2), BERTH_CASE_CONCURRENT, 30 + (uint64_t)i);
        berth_search *search = support_search(*state, s.problem, 9, slow ? 60 : 400, 1);
        learning_run(search, &settings, policy);
        berth_search_free(search);
        support_setting_free(&s);
    }
    double sum = 0;
    for (int kind = 0; kind < BERTH_GENERATED_COUNT; kind++) {
        support_setting s = a_case(*state, (berth_generated)kind, slow ? 15 : 150, 6, BERTH_CASE_CONCURRENT, 50);
        berth_search *with = support_search(*state, s.problem, 1, 100, 1),
                     *without = support_search(*state, s.problem, 1, 100, 1);
        learning_run(with, &settings, policy);
        learning_run(without, &settings, NULL);
        sum += log(with->best_ms / without->best_ms) / BERTH_GENERATED_COUNT;
        berth_search_free(with);
        berth_search_free(without);
        support_setting_free(&s);
    }
    berth_policy_free(policy);
    print_message("100 evaluations: %.3f of a fresh policy\n", exp(sum));
    if (!slow) assert_true(exp(sum) < 0.9);
}

/* --- the chooser ------------------------------------------------------------------------------------------------ */

static void the_chooser_finds_what_pays(void **state) {
    enum { N = 6, BEST = 2 };
    berth_settings settings = settings_of(*state, "window=32 learning_rate=1e-2");
    berth_policy *policy = NULL;
    berth_params layout;
    berth_chooser chooser;
    berth_arena arena;
    berth_rng rng;
    bool fresh;
    assert_int_equal(berth_policy_new(*state, &policy, &settings), BERTH_OK);
    berth_params_init(&layout, *state);
    berth_chooser_declare(&layout, N, 8);
    assert_int_equal(berth_policy_adopt(*state, policy, &layout, &fresh), BERTH_OK);
    assert_true(fresh);
    berth_rng_init(&rng, 1, 2);
    berth_chooser_reset(policy, &rng);
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_int_equal(berth_chooser_init(&chooser, *state, policy, N, N, &arena), BERTH_OK);
    int n_best = 0;
    for (int i = 0; i < 800; i++) {
        int32_t n = 3 + (int32_t)berth_rng_below(&rng, N - 2), picked; /* BEST is always among the first three */
        berth_real *sights = berth_chooser_sights(&chooser);
        memset(sights, 0, (size_t)(n * N) * sizeof *sights);
        for (int32_t k = 0; k < n; k++) sights[k * N + k] = 1;
        assert_int_equal(berth_chooser_draw(&chooser, n, &rng, &picked), BERTH_OK);
        assert_in_range(picked, 0, n - 1);
        berth_chooser_reward(&chooser, picked == BEST ? 1 : -0.2);
        for (int epoch = 0; i % 16 == 15 && epoch < 3; epoch++) {
            berth_params_zero_grad(&policy->params);
            assert_int_equal(berth_chooser_backward(&chooser), BERTH_OK);
            assert_int_equal(berth_policy_step(*state, policy, NULL), BERTH_OK);
        }
        n_best += i >= 700 && picked == BEST;
    }
    print_message("chosen %d times of the last 100\n", n_best);
    assert_true(n_best > 80);
    berth_chooser_deinit(&chooser);
    berth_arena_deinit(&arena);
    berth_policy_free(policy);
}

/* Paid for single units, or for groups, that is what it comes to draw: the stop is learnt, by its own log-probability.
 * The mean size of the last groups. */
static double size_after(berth_ctx *ctx, bool pays_groups) {
    enum { DRAWS = 1600, LAST = 400, WEIGHTS = 9 };
    support_setting s = a_case(ctx, BERTH_GENERATED_LAYERS, 60, 3, BERTH_CASE_CONCURRENT, 2);
    berth_search *search = support_search(ctx, s.problem, 1, 1000, 1);
    berth_settings settings = settings_of(ctx, "grouping=parse seeds=single");
    berth_policy *policy = NULL;
    berth_params layout;
    berth_proposer proposer;
    berth_stroll walk;
    berth_arena arena;
    berth_parse_record record;
    berth_rng rng;
    bool fresh, has_start;
    int32_t units[BERTH_STROLL_UNITS];
    double sum = 0;
    assert_int_equal(berth_learn_seeds(search, BERTH_SEEDS_SINGLE), BERTH_OK);
    assert_int_equal(berth_stroll_init(&walk, search, "test", &has_start), BERTH_OK);
    assert_true(has_start);
    assert_int_equal(berth_policy_new(ctx, &policy, &settings), BERTH_OK);
    berth_params_init(&layout, ctx);
    berth_joins_declare(&layout);
    assert_int_equal(berth_policy_adopt(ctx, policy, &layout, &fresh), BERTH_OK);
    berth_rng_init(&rng, 1, WEIGHTS);
    berth_joins_reset(policy, &rng);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_proposer_init(&proposer, &walk, policy, &arena), BERTH_OK);
    berth_proposer_look(&proposer);
    for (int i = 0; i < DRAWS; i++) {
        int32_t unit = (int32_t)berth_rng_below(&rng, (uint32_t)s.problem->n_units);
        int32_t n = berth_joins_draw(&proposer.joins, unit, BERTH_STROLL_UNITS, units, &record);
        assert_in_range(n, 1, BERTH_STROLL_UNITS);
        assert_int_equal(units[0], unit);
        assert_true(record.n >= 1 && record.n <= BERTH_JOINS_DRAWS);
        berth_joins_reward(&proposer.joins, &record, (n > 1) == pays_groups ? 1 : -1);
        for (int epoch = 0; i % 16 == 15 && epoch < 3; epoch++) {
            berth_params_zero_grad(&policy->params);
            assert_int_equal(berth_joins_backward(&proposer.joins), BERTH_OK);
            assert_int_equal(berth_policy_step(ctx, policy, NULL), BERTH_OK);
            berth_joins_forget(&proposer.joins);
        }
        if (i >= DRAWS - LAST) sum += n;
    }
    berth_proposer_deinit(&proposer);
    berth_arena_deinit(&arena);
    berth_policy_free(policy);
    berth_stroll_deinit(&walk);
    berth_search_free(search);
    support_setting_free(&s);
    return sum / LAST;
}

static void joins_learn_where_to_stop(void **state) {
    double small = size_after(*state, false), large = size_after(*state, true);
    print_message("groups of %.2f units where single ones pay, %.2f where groups do\n", small, large);
    assert_true(small < 1.3 && large > 2);
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

typedef struct counted {
    berth_case item;
    int64_t evaluations;
    const char *settings;
} counted;

static berth_status place(berth_ctx *ctx, void *user) {
    const counted *c = user;
    support_setting s;
    berth_search *search = NULL;
    berth_settings settings = settings_of(ctx, c->settings);
    const berth_learn learn = {.settings = &settings};
    berth_status status = support_setting_make(ctx, &s, c->item);
    if (status == BERTH_OK)
        status = berth_search_new(ctx, &search, s.problem, 1, (berth_budget){c->evaluations, INFINITY}, 1);
    if (status == BERTH_OK) {
        search->learn = &learn;
        status = berth_learn_hsdag(search);
    }
    berth_search_free(search);
    support_setting_free(&s);
    return status;
}

/* --- what was tried --------------------------------------------------------------------------------------------- */

/* Every placement that was tried, with its order, as it is. */
typedef struct tried {
    int32_t *rows; /* [most * width] */
    size_t width, n, most;
} tried;

static void write_row(const berth_stroll *walk, int32_t *row) {
    size_t n = (size_t)walk->costs->n_tasks;
    memcpy(row, walk->device, n * sizeof *row);
    if (walk->has_order) memcpy(row + n, walk->by_priority, n * sizeof *row);
}

/* The row after the last is what is asked for. */
static bool was_tried(const tried *all) {
    const int32_t *asked = all->rows + all->n * all->width;
    for (size_t i = 0; i < all->n; i++)
        if (memcmp(all->rows + i * all->width, asked, all->width * sizeof *asked) == 0) return true;
    return false;
}

static void check_memory(berth_ctx *ctx, berth_case_rule rule) {
    enum { TRIES = 1500 };
    bool memory = rule == BERTH_CASE_MEMORY; /* where there must be room for something */
    support_setting s = a_case(ctx, BERTH_GENERATED_BRANCHES, memory ? 30 : 10, memory ? 4 : 2, rule, 4);
    berth_search *search = support_search(ctx, s.problem, 1, 100000, 1);
    berth_settings settings = settings_of(ctx, "seeds=single");
    berth_policy *policy = NULL;
    berth_proposer proposer;
    berth_proposal proposal;
    berth_stroll walk;
    berth_arena arena;
    bool has_start;
    int n_known = 0, n_forgotten = 0;
    assert_int_equal(berth_stroll_init(&walk, search, "test", &has_start), BERTH_OK);
    assert_true(has_start);
    assert_int_equal(berth_policy_new(ctx, &policy, &settings), BERTH_OK);
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_int_equal(berth_proposer_init(&proposer, &walk, policy, &arena), BERTH_OK);
    tried all = {.width = 2 * (size_t)walk.costs->n_tasks, .most = TRIES + 2};
    all.rows = calloc(all.most * all.width, sizeof *all.rows);
    assert_non_null(all.rows);
    write_row(&walk, all.rows + all.n++ * all.width);
    berth_proposer_look(&proposer);
    for (int i = 0, draws = 0; i < TRIES; draws++) {
        assert_true(draws < 100 * TRIES);
        if (!berth_proposer_draw(&proposer, &proposal)) continue;
        bool known = berth_proposer_knows(&proposer, &proposal);
        double ms = berth_proposer_try(&proposer, &proposal);
        write_row(&walk, all.rows + all.n * all.width);
        bool expected = was_tried(&all);
        assert_true(expected || !known);
        n_known += expected;
        n_forgotten += expected && !known;
        all.n += !expected;
        berth_proposer_note(&proposer, &proposal, 0.1);
        if (ms < INFINITY && i % 3 == 0) {
            berth_stroll_keep(&walk);
            berth_proposer_look(&proposer);
        } else {
            berth_stroll_drop(&walk);
        }
        i++;
    }
    print_message("%s: %d of %d were known, %d of them forgotten\n", berth_case_rule_name(rule), n_known, (int)TRIES,
                  n_forgotten);
    assert_true(n_known > 20 && n_forgotten <= n_known / 5);
    free(all.rows);
    berth_proposer_deinit(&proposer);
    berth_arena_deinit(&arena);
    berth_policy_free(policy);
    berth_stroll_deinit(&walk);
    berth_search_free(search);
    support_setting_free(&s);
}

/* Against a list of all: nothing new is taken for known, and next to nothing is forgotten. */
static void it_knows_what_it_tried(void **state) {
    const berth_case_rule rules[] = {BERTH_CASE_SERIAL, BERTH_CASE_CONCURRENT, BERTH_CASE_MEMORY};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) check_memory(*state, rules[i]);
}

/* Few placements, all soon known: it goes on as well as it can. */
static void small_problems_spend_their_budget(void **state) {
    support_setting s = a_case(*state, BERTH_GENERATED_BRANCHES, 4, 2, BERTH_CASE_CONCURRENT, 5);
    berth_settings settings = settings_of(*state, "candidates=8 polish=0 order=off");
    berth_search *search = support_search(*state, s.problem, 5, 2000, 1);
    learning_run(search, &settings, NULL);
    assert_int_equal(search->evaluations, 2000);
    berth_search_free(search);
    support_setting_free(&s);
}

static void allocation_failures_are_reported(void **state) {
    const char *const texts[] = {"steps=4 candidates=4", "steps=4 candidates=4 grouping=parse"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        counted c = {{BERTH_GENERATED_BRANCHES, 12, 3, BERTH_CASE_MEMORY, 3}, 60, texts[i]};
        support_ladder(place, &c, 3);
    }
}

/* Four times the evaluations, not one allocation more. */
static void searching_allocates_nothing(void **state) {
    const char *const texts[] = {"candidates=16 seeds=single", "candidates=16 seeds=single grouping=parse"};
    (void)state;
    if (support_is_slow()) support_skip("long searches, of which allocations are counted");
    for (int i = 0; i < 2; i++) {
        counted few = {{BERTH_GENERATED_LAYERS, 40, 3, BERTH_CASE_CONCURRENT, 4}, 2500, texts[i]};
        counted many = few;
        many.evaluations *= 4;
        assert_int_equal(support_ladder(place, &few, 1000000), support_ladder(place, &many, 1000000));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(any_problem, support_open, support_close),
        cmocka_unit_test_setup_teardown(budgets_are_spent, support_open, support_close),
        cmocka_unit_test_setup_teardown(time_is_kept, support_open, support_close),
        cmocka_unit_test_setup_teardown(answers_say_where_they_come_from, support_open, support_close),
        cmocka_unit_test_setup_teardown(rate_zero_changes_no_weights, support_open, support_close),
        cmocka_unit_test_setup_teardown(it_learns, support_open, support_close),
        cmocka_unit_test_setup_teardown(a_policy_carries_over, support_open, support_close),
        cmocka_unit_test_setup_teardown(the_chooser_finds_what_pays, support_open, support_close),
        cmocka_unit_test_setup_teardown(joins_learn_where_to_stop, support_open, support_close),
        cmocka_unit_test_setup_teardown(it_knows_what_it_tried, support_open, support_close),
        cmocka_unit_test_setup_teardown(small_problems_spend_their_budget, support_open, support_close),
        cmocka_unit_test_setup_teardown(allocation_failures_are_reported, support_open, support_close),
        cmocka_unit_test_setup_teardown(searching_allocates_nothing, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.refine", tests, NULL, NULL);
}
