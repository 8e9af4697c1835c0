/* SPDX-License-Identifier: Apache-2.0 */
/* The assembled loss of the published method, in double: the gradient that an episode leaves behind is the slope of the
 * loss that shared/HSDAG.md section 6 writes down, along random directions, the episode played again by hand. */
#include "models.h"

#include <math.h>
#include <stdio.h>

#include "learn/rollout.h"

enum { STEPS = 4 };

/* An episode by hand. */
typedef struct replayed {
    berth_search *search;
    berth_policy *policy;
    berth_rollout rollout;
    berth_arena arena;
    berth_sample samples[STEPS];
    double reward[STEPS], seconds[STEPS], weight[STEPS], entropy;
} replayed;

static bool is_single(const int32_t *device, int32_t n) {
    for (int32_t i = 1; i < n; i++)
        if (device[i] != device[0]) return false;
    return true;
}

static void play(replayed *r, const berth_settings *settings) {
    berth_rollout *ro = &r->rollout;
    int32_t n_nodes = ro->view->n_nodes, width = ro->width;
    berth_real *x = berth_arena_copy(&r->arena, ro->start, (size_t)(n_nodes * width), sizeof *x);
    for (int t = 0; t < STEPS; t++) {
        const berth_real *seen = berth_arena_copy(&r->arena, x, (size_t)(n_nodes * width), sizeof *x);
        berth_tape_clear(ro->tape);
        assert_int_equal(berth_rollout_sample(ro, &r->arena, seen, &r->samples[t]), BERTH_OK);
        bool banned =
            berth_settings_get(settings, BERTH_SET_BAN_SINGLE) != 0 && is_single(ro->device, ro->view->costs->n_tasks);
        r->seconds[t] = banned ? INFINITY : berth_sim_run(r->search->sim, ro->device, NULL) / 1000;
        r->reward[t] = r->seconds[t] < INFINITY ? 1 / r->seconds[t] : 1e-10;
        if (berth_settings_get(settings, BERTH_SET_STATE_UPDATE) == 0) continue;
        for (int32_t v = 0; v < n_nodes; v++)
            for (int32_t i = 0; i < width; i++)
                x[v * width + i] += r->samples[t].pass.f->value[r->samples[t].pass.cluster_of[v] * width + i];
    }
}

/* Weights of the log-probabilities, by the words of 6.1 and 6.2. */
static void weigh(replayed *r, const berth_settings *settings) {
    double discount = berth_settings_get(settings, BERTH_SET_DISCOUNT), shared = 0;
    int kind = (int)berth_settings_get(settings, BERTH_SET_RETURN);
    for (int i = 0; i < STEPS; i++) shared += r->reward[STEPS - 1 - i] * pow(discount, i);
    for (int t = 0; t < STEPS; t++) {
        if (kind == 0) r->weight[t] = -shared;
        if (kind == 1) r->weight[t] = -pow(discount, t) * r->reward[t];
    }
    if (kind < 2) return;
    double worst = 0, mean = 0, variance = 0, value[STEPS];
    for (int t = 0; t < STEPS; t++)
        if (r->seconds[t] < INFINITY && r->seconds[t] > worst) worst = r->seconds[t];
    for (int t = 0; t < STEPS; t++) {
        value[t] = log(r->seconds[t] < INFINITY ? r->seconds[t] : worst * exp(0.1));
        mean += value[t] / STEPS;
    }
    for (int t = 0; t < STEPS; t++) variance += (value[t] - mean) * (value[t] - mean) / STEPS;
    for (int t = 0; t < STEPS; t++)
        r->weight[t] = variance > 0 ? pow(discount, t) * (value[t] - mean) / sqrt(variance) : 0;
}

static double loss_of(replayed *r) {
    double loss = 0;
    for (int t = 0; t < STEPS; t++) {
        berth_arena arena;
        berth_arena_init(&arena, berth_ctx_allocator(r->search->ctx));
        berth_tape_clear(r->rollout.tape);
        assert_int_equal(berth_rollout_replay(&r->rollout, &arena, &r->samples[t]), BERTH_OK);
        loss += r->weight[t] * (double)r->samples[t].log_p->value[0];
        loss -= r->entropy * (double)r->samples[t].entropy->value[0];
        berth_arena_deinit(&arena);
    }
    return loss;
}

static void check_case(berth_ctx *ctx, const berth_problem *problem, const berth_settings *settings, uint64_t seed) {
    replayed r = {.entropy = berth_settings_get(settings, BERTH_SET_ENTROPY)};
    berth_budget budget = {1000, INFINITY};
    assert_int_equal(berth_policy_new(ctx, &r.policy, settings), BERTH_OK);
    const berth_learn learn = {.policy = r.policy};
    assert_int_equal(berth_search_new(ctx, &r.search, problem, seed, budget, 1), BERTH_OK);
    r.search->learn = &learn;
    if (berth_learn_hsdag_code(r.search) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    assert_int_equal(r.search->evaluations, STEPS);
    berth_search_free(r.search);
    /* The same again by hand: the same seed draws the same. */
    assert_int_equal(berth_search_new(ctx, &r.search, problem, seed, budget, 1), BERTH_OK);
    assert_int_equal(berth_rollout_open(&r.rollout, r.search, r.policy), BERTH_OK);
    berth_arena_init(&r.arena, berth_ctx_allocator(ctx));
    play(&r, settings);
    weigh(&r, settings);
    berth_params *p = &r.policy->params;
    double *direction = calloc(p->n, sizeof *direction), *start = calloc(p->n, sizeof *start), at[2], slope = 0;
    const double step = 1e-7;
    for (size_t i = 0; i < p->n; i++) {
        direction[i] = (double)support_below(&seed, 2001) / 1000 - 1;
        slope += direction[i] * (double)p->grad[i];
        start[i] = (double)p->value[i];
    }
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < p->n; i++) p->value[i] = (berth_real)(start[i] + (side ? step : -step) * direction[i]);
        at[side] = loss_of(&r);
    }
    double measured = (at[1] - at[0]) / (2 * step), size = fabs(at[0]) + fabs(slope);
    if (!(fabs(measured - slope) <= 1e-6 * fmax(size, 1e-9)))
        fail_msg("slope %.12g, by differences %.12g", slope, measured);
    free(direction);
    free(start);
    berth_arena_deinit(&r.arena);
    berth_rollout_close(&r.rollout);
    berth_search_free(r.search);
    berth_policy_free(r.policy);
}

/* A loss that is too small to tell must not pass for right. */
static void slopes_of_the_loss(void **state) {
    static const char *const cases[] = {
        "return=shared",
        "return=per-step",
        "return=advantage ban_single=off discount=1",
        "return=shared entropy=0.5",
        "return=shared state_update=off architecture=encoder-placer",
        "return=per-step architecture=grouper-placer groups=3",
        "return=advantage max_rounds=1 ignore_self_loop=off symmetric=on ban_single=off",
        "return=shared dropout_network=0 feature_cost=on ban_single=off",
    };
    support_model model = support_model_open(*state, "tests/golden/cnn.xml", "cpu,gpu");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            berth_settings settings;
            char text[400], *rest = text;
            snprintf(text, sizeof text, "hidden=9 steps=4 episodes=1 learning_rate=0 %s", cases[i]);
            assert_int_equal(berth_settings_default(*state, &settings, "hsdag:code"), BERTH_OK);
            for (char *word = strtok_r(text, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
                if (berth_settings_set(*state, &settings, word) != BERTH_OK) fail_msg("%s", berth_ctx_message(*state));
            check_case(*state, model.problem, &settings, seed);
        }
    support_model_close(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slopes_of_the_loss, support_open, support_close),
    };
    return cmocka_run_group_tests_name("learn.loss", tests, NULL, NULL);
}
