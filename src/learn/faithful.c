/* SPDX-License-Identifier: Apache-2.0 */
/* `hsdag:code` and `hsdag:paper`: the published method, quirks included (shared/HSDAG.md sections 5 and 6).
 *
 * An episode draws `steps` placements one after another; each step adds the network's output to its next input (X := X
 * + F), which starts anew every episode. The reward is 1 / seconds, or 1e-10 for what cannot run and, where the
 * settings ban them, for placements on a single device; what failed in a real run is left out. Then one step of Adam on
 *
 *     shared     -R sum of all log-probabilities, R = sum of r_(T - i) discount^i          the code
 *     per-step   -sum of discount^i r_i log-probability_i                                  the paper
 *     advantage  the same with (mean - log seconds) / deviation over the episode as r_i    what learns
 *
 * The first two need no later rewards, or only as one factor of the whole gradient, so that each step goes back as soon
 * as it was drawn and its memory is used again by the next. Further epochs, advantages and entropy bonuses play the
 * samples again: communities and choices stay, parameters do not. */
#include "learn/rollout.h"

#include <math.h>
#include <string.h>

/* In the order of the setting `return`. */
typedef enum return_kind { RETURN_SHARED, RETURN_PER_STEP, RETURN_ADVANTAGE } return_kind;

typedef struct episodes {
    berth_search *search;
    berth_policy *policy;
    const char *method;
    berth_rollout rollout;
    berth_arena step_arena;    /* of one step or replay */
    berth_arena episode_arena; /* of samples that are played again */
    return_kind kind;
    double discount, entropy;
    int32_t n_steps, n_epochs;
    bool ban_single, state_update;
    bool at_once;          /* steps go back as soon as they were drawn */
    bool again;            /* samples are played again */
    berth_real *x;         /* [n_nodes * width] what the network sees now */
    berth_sample *samples; /* [n_steps] */
    double *seconds;       /* [n_steps] INFINITY: infeasible; NAN: masked, not to be learnt from */
    /* of this episode */
    double sum_ms, best_ms, sum_entropy, sum_clusters;
    int32_t n_ok;
} episodes;

static const double failed_reward = 1e-10;

static double reward_of(double seconds) {
    if (isnan(seconds)) return 0;
    return seconds < INFINITY ? 1 / seconds : failed_reward;
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

static bool is_single(const int32_t *device, int32_t n) {
    for (int32_t i = 1; i < n; i++)
        if (device[i] != device[0]) return false;
    return true;
}

/* What the drawn placement takes. Every placement counts, also one that is a failure unseen: it is a sample spent. */
static double measure(episodes *e) {
    berth_search *search = e->search;
    const int32_t *device = e->rollout.device;
    const berth_costs *c = search->problem->costs;
    double ms = INFINITY;
    bool is_banned = e->ban_single && c->n_devices > 1 && is_single(device, c->n_tasks);
    if (is_banned)
        berth_search_count(search, 1);
    else
        ms = berth_search_evaluate(search, device, NULL);
    if (!is_banned && search->is_masked) return NAN;
    if (ms < search->best_ms) berth_search_offer(search, device, NULL, BERTH_SOURCE_SAMPLE, e->method);
    if (ms < INFINITY) {
        e->sum_ms += ms;
        e->n_ok++;
        if (ms < e->best_ms) e->best_ms = ms;
    }
    return ms / 1000;
}

/* d loss / d log_p of step i, but for a factor common to the episode. */
static double weight_at_once(const episodes *e, int32_t i) {
    if (isnan(e->seconds[i])) return 0;
    return e->kind == RETURN_PER_STEP ? -pow(e->discount, i) * reward_of(e->seconds[i]) : 1;
}

static berth_status go_back(episodes *e, berth_sample *sample, double weight) {
    berth_tape *tape = e->rollout.tape;
    berth_matrix *loss = berth_scale(tape, sample->log_p, weight);
    if (e->entropy > 0) loss = berth_sub(tape, loss, berth_scale(tape, sample->entropy, e->entropy));
    return berth_tape_backward(tape, loss);
}

/* The state that a sample saw is kept only if it is played again. */
static const berth_real *keep_state(episodes *e) {
    size_t n = (size_t)e->rollout.view->n_nodes * (size_t)e->rollout.width;
    return e->again ? berth_arena_copy(&e->episode_arena, e->x, n, sizeof *e->x) : e->x;
}

static berth_status draw_step(episodes *e, int32_t i) {
    berth_sample *sample = &e->samples[i];
    const berth_real *x = keep_state(e);
    berth_tape_clear(e->rollout.tape);
    berth_tape_record(e->rollout.tape, e->at_once);
    berth_arena_empty(&e->step_arena);
    if (!x) return berth_fail_nomem(e->search->ctx);
    BERTH_TRY(berth_rollout_sample(&e->rollout, e->again ? &e->episode_arena : &e->step_arena, x, sample));
    e->seconds[i] = measure(e);
    e->sum_entropy += (double)sample->entropy->value[0];
    e->sum_clusters += sample->pass.n_clusters;
    if (e->at_once) BERTH_TRY(go_back(e, sample, weight_at_once(e, i)));
    if (e->state_update) berth_rollout_advance(&e->rollout, sample, e->x);
    return BERTH_OK;
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* R = sum over i of r_(T - i) discount^i: the last step counts most. */
static double shared_return(const episodes *e) {
    double sum = 0;
    for (int32_t i = 0; i < e->n_steps; i++) sum = sum * e->discount + reward_of(e->seconds[i]);
    return sum;
}

/* (mean - log seconds) / deviation; failures count as the slowest of the others, and a little worse. */
static double advantage_of(const episodes *e, int32_t step) {
    double mean = 0, spread = 0, worst = -INFINITY, n = 0;
    for (int32_t i = 0; i < e->n_steps; i++) {
        if (e->seconds[i] < INFINITY) worst = fmax(worst, log(e->seconds[i]));
        n += !isnan(e->seconds[i]);
    }
    if (!(worst > -INFINITY) || isnan(e->seconds[step])) return 0;
    worst += 0.1;
    for (int32_t i = 0; i < e->n_steps; i++)
        if (!isnan(e->seconds[i])) mean += fmin(log(e->seconds[i]), worst) / n;
    for (int32_t i = 0; i < e->n_steps; i++) {
        double off = isnan(e->seconds[i]) ? 0 : fmin(log(e->seconds[i]), worst) - mean;
        spread += off * off / n;
    }
    return spread > 0 ? (mean - fmin(log(e->seconds[step]), worst)) / sqrt(spread) : 0;
}

static double weight_of(const episodes *e, int32_t i) {
    switch (e->kind) {
    case RETURN_SHARED: return isnan(e->seconds[i]) ? 0 : -shared_return(e);
    case RETURN_PER_STEP: return weight_at_once(e, i);
    case RETURN_ADVANTAGE: break;
    }
    return -pow(e->discount, i) * advantage_of(e, i);
}

static berth_status play_again(episodes *e) {
    for (int32_t i = 0; i < e->n_steps; i++) {
        berth_tape_clear(e->rollout.tape);
        berth_tape_record(e->rollout.tape, true);
        berth_arena_empty(&e->step_arena);
        BERTH_TRY(berth_rollout_replay(&e->rollout, &e->step_arena, &e->samples[i]));
        BERTH_TRY(go_back(e, &e->samples[i], weight_of(e, i)));
    }
    return BERTH_OK;
}

static berth_status update(episodes *e) {
    berth_params *params = &e->policy->params;
    for (int32_t epoch = 0; epoch < e->n_epochs; epoch++) {
        if (epoch > 0 || !e->at_once) {
            berth_params_zero_grad(params);
            BERTH_TRY(play_again(e));
        } else if (e->kind == RETURN_SHARED) {
            berth_real factor = (berth_real)-shared_return(e);
            for (size_t i = 0; i < params->n; i++) params->grad[i] *= factor;
        }
        BERTH_TRY(berth_policy_step(e->search->ctx, e->policy, NULL));
    }
    return BERTH_OK;
}

/* --- episodes --------------------------------------------------------------------------------------------------- */

static void tell(const episodes *e, double seconds) {
    const berth_learn *learn = e->search->learn;
    if (!learn || !learn->episode) return;
    const berth_episode episode = {.mean_ms = e->n_ok > 0 ? e->sum_ms / e->n_ok : INFINITY,
                                   .best_ms = e->best_ms,
                                   .entropy = e->sum_entropy / e->sum_clusters,
                                   .clusters = e->sum_clusters / e->n_steps,
                                   .seconds = seconds};
    learn->episode(learn->user, &episode);
}

/* One episode; *ended if the budget ended first, in which case nothing is learnt from its part. */
static berth_status run_episode(episodes *e, bool *ended) {
    double begun = berth_search_clock();
    size_t n = (size_t)e->rollout.view->n_nodes * (size_t)e->rollout.width;
    e->sum_ms = e->sum_entropy = e->sum_clusters = 0;
    e->best_ms = INFINITY;
    e->n_ok = 0;
    berth_arena_empty(&e->episode_arena);
    berth_params_zero_grad(&e->policy->params);
    memcpy(e->x, e->rollout.start, n * sizeof *e->x);
    for (int32_t i = 0; i < e->n_steps; i++) {
        *ended = berth_search_stop(e->search);
        if (*ended) return BERTH_OK;
        BERTH_TRY(draw_step(e, i));
    }
    BERTH_TRY(update(e));
    tell(e, berth_search_clock() - begun);
    return BERTH_OK;
}

static berth_status run_episodes(episodes *e) {
    double n_episodes = berth_settings_get(&e->policy->settings, BERTH_SET_EPISODES);
    size_t n = (size_t)e->rollout.view->n_nodes * (size_t)e->rollout.width;
    berth_arena fixed;
    bool ended = false;
    berth_arena_init(&fixed, berth_ctx_allocator(e->search->ctx));
    e->x = berth_arena_push(&fixed, n, sizeof *e->x);
    e->samples = berth_arena_push(&fixed, (size_t)e->n_steps, sizeof *e->samples);
    e->seconds = berth_arena_push(&fixed, (size_t)e->n_steps, sizeof *e->seconds);
    berth_status status = fixed.failed ? berth_fail_nomem(e->search->ctx) : BERTH_OK;
    for (double i = 0; (n_episodes == 0 || i < n_episodes) && status == BERTH_OK && !ended; i++)
        status = run_episode(e, &ended);
    berth_arena_deinit(&fixed);
    return status;
}

berth_status berth_learn_faithful(berth_search *search, const char *method) {
    episodes e = {.search = search, .method = method};
    BERTH_TRY(berth_policy_begin(search, method, &e.policy));
    const berth_settings *s = &e.policy->settings;
    if ((int)berth_settings_get(s, BERTH_SET_DESIGN) != BERTH_DESIGN_FAITHFUL) {
        berth_policy_end(search, e.policy);
        return berth_fail(search->ctx, BERTH_E_ARG, "%s has one design, faithful; the others are hsdag's", method);
    }
    e.kind = (return_kind)berth_settings_get(s, BERTH_SET_RETURN);
    e.discount = berth_settings_get(s, BERTH_SET_DISCOUNT);
    e.entropy = berth_settings_get(s, BERTH_SET_ENTROPY);
    e.n_steps = (int32_t)berth_settings_get(s, BERTH_SET_STEPS);
    e.n_epochs = (int32_t)berth_settings_get(s, BERTH_SET_EPOCHS);
    e.ban_single = berth_settings_get(s, BERTH_SET_BAN_SINGLE) != 0;
    e.state_update = berth_settings_get(s, BERTH_SET_STATE_UPDATE) != 0;
    e.at_once = e.kind != RETURN_ADVANTAGE && e.entropy == 0;
    e.again = !e.at_once || e.n_epochs > 1;
    berth_arena_init(&e.step_arena, berth_ctx_allocator(search->ctx));
    berth_arena_init(&e.episode_arena, berth_ctx_allocator(search->ctx));
    berth_status status = berth_rollout_open(&e.rollout, search, e.policy);
    if (status == BERTH_OK && search->problem->costs->n_tasks > 0) status = run_episodes(&e);
    berth_rollout_close(&e.rollout);
    berth_arena_deinit(&e.step_arena);
    berth_arena_deinit(&e.episode_arena);
    berth_policy_end(search, e.policy);
    return status;
}

berth_status berth_learn_hsdag_code(berth_search *search) {
    return berth_learn_faithful(search, "hsdag:code");
}

berth_status berth_learn_hsdag_paper(berth_search *search) {
    return berth_learn_faithful(search, "hsdag:paper");
}
