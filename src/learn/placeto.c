/* SPDX-License-Identifier: Apache-2.0 */
/* `placeto` (Addanki and others 2019; shared/HSDAG.md section 9): nodes are placed anew one by one in topological
 * order, each choice seen by the network together with the placement so far, its schedule, and what was decided
 * already. The reward of a choice is what it gained: old minus new score (score.h), over the root mean square of all
 * rewards.
 *
 * An episode visits every node once that has a choice. The first begins at the best placement on one device, the others
 * at the best so far: from the same start every time it learns as much, and finds less. The return of a
 * choice is the discounted sum of the rewards from there on; the baseline is the mean return of that step in earlier
 * episodes, or of all steps where there was none. The gradient, the sum of (return - baseline) grad log p, is put
 * together while the episode runs: with the trace e = discount e + grad log p every reward adds reward * e. So only one
 * choice is on the tape at a time. The entropy bonus enters the same sum by an unbiased estimate of its gradient,
 * (-log p - H) grad log p. Adam takes a step every `steps` choices. */
#include "learn/placeto_state.h"
#include "learn/policy.h"
#include "policy/head.h"

#include <math.h>
#include <string.h>

/* More nodes than that are decided together (sequence.h): every choice looks at all of them. */
enum { MOST_STEPS = 4096 };

/* Over all so far. */
typedef struct mean {
    double value;
    int64_t n;
} mean;

typedef struct placeto {
    berth_search *search;
    berth_policy *policy;
    berth_sequence *sequence;
    berth_scores scores;
    berth_placeto_state state;
    berth_placeto_net net;
    berth_arena arena;
    berth_tape *tape;
    berth_rng draws;
    double discount, entropy; /* settings */
    int32_t between;          /* choices from one update to the next */
    double *reward;           /* [n_steps] of this episode */
    mean *of_step, of_all;    /* [n_steps] returns */
    mean square;              /* of what choices gained */
    berth_real *trace, *sum;  /* [n parameters] */
    int32_t n_since;          /* choices since the last update */
    double sum_entropy;
} placeto;

static void add_to(mean *m, double x) {
    m->n++;
    m->value += (x - m->value) / (double)m->n;
}

/* --- one choice ------------------------------------------------------------------------------------------------- */

/* Draws a device for the node at hand and leaves the gradient of its log-probability in the parameters. */
static berth_status choose(placeto *p, uint64_t mask, int32_t *device, double *log_p, double *entropy) {
    const berth_run run = {.tape = p->tape, .params = &p->policy->params};
    berth_tape_clear(p->tape);
    berth_matrix *features = berth_input(p->tape, p->state.features, p->sequence->n_steps, p->state.width);
    berth_matrix *all = berth_placeto_forward(&p->net, &run, features, &p->state.look, &mask);
    if (!all) return berth_fail_nomem(p->search->ctx);
    BERTH_TRY(berth_draw(p->search->ctx, all, &p->draws, device));
    berth_matrix *picked = berth_pick(p->tape, all, device), *h = berth_entropy(p->tape, berth_detach(p->tape, all));
    if (!picked || !h) return berth_fail_nomem(p->search->ctx);
    *log_p = (double)picked->value[0];
    *entropy = (double)h->value[0];
    berth_params_zero_grad(&p->policy->params);
    return berth_tape_backward(p->tape, picked);
}

/* Adds a choice with its reward to the sum of the update. */
static void credit(placeto *p, double reward, double other) {
    berth_real keep = (berth_real)p->discount, by_trace = (berth_real)reward, by_grad = (berth_real)other;
    berth_real *restrict trace = p->trace, *restrict sum = p->sum;
    const berth_real *restrict grad = p->policy->params.grad;
    for (size_t i = 0; i < p->policy->params.n; i++) {
        trace[i] = keep * trace[i] + grad[i];
        sum[i] += by_trace * trace[i] + by_grad * grad[i];
    }
}

static berth_status update(placeto *p) {
    berth_params *params = &p->policy->params;
    if (p->n_since == 0) return BERTH_OK;
    for (size_t i = 0; i < params->n; i++) params->grad[i] = -p->sum[i] / (berth_real)p->n_since;
    memset(p->sum, 0, params->n * sizeof *p->sum);
    p->n_since = 0;
    return berth_policy_step(p->search->ctx, p->policy, NULL);
}

/* A choice that could not be run and was taken back: a step without a reward, of which nothing is learnt. */
static berth_status skip(placeto *p, int32_t step, double entropy) {
    p->reward[step] = NAN;
    p->sum_entropy += entropy;
    berth_params_zero_grad(&p->policy->params);
    credit(p, 0, 0);
    return BERTH_OK;
}

static berth_status place_node(placeto *p, int32_t step, uint64_t mask) {
    int32_t device = 0;
    double log_p = 0, entropy = 0;
    BERTH_TRY(choose(p, mask, &device, &log_p, &entropy));
    double gain = berth_placeto_put(&p->state, device);
    if (isnan(gain)) return skip(p, step, entropy);
    add_to(&p->square, gain * gain);
    double reward = p->square.value > 0 ? gain / sqrt(p->square.value) : 0;
    double baseline = p->of_step[step].n > 0 ? p->of_step[step].value : p->of_all.value;
    p->reward[step] = reward;
    p->sum_entropy += entropy;
    credit(p, reward, p->entropy * (-log_p - entropy) - baseline);
    return ++p->n_since >= p->between ? update(p) : BERTH_OK;
}

/* --- episodes --------------------------------------------------------------------------------------------------- */

static bool has_choice(const placeto *p, int32_t step) {
    return __builtin_popcountll(p->sequence->allowed[step]) > 1;
}

/* Returns, from the last step to the first, into the baselines. */
static void learn_baselines(placeto *p) {
    double sum = 0;
    for (int32_t step = p->sequence->n_steps - 1; step >= 0; step--) {
        if (!has_choice(p, step)) continue;
        if (isnan(p->reward[step])) {
            sum *= p->discount;
            continue;
        }
        sum = p->reward[step] + p->discount * sum;
        add_to(&p->of_step[step], sum);
        add_to(&p->of_all, sum);
    }
}

/* One episode; *ended if the budget ended first. */
static berth_status run_episode(placeto *p, bool *ended) {
    int32_t n_choices = 0;
    p->sum_entropy = 0;
    berth_placeto_restart(&p->state);
    memset(p->trace, 0, p->policy->params.n * sizeof *p->trace);
    for (int32_t step = 0; step < p->sequence->n_steps; step++) {
        if (!has_choice(p, step)) continue;
        *ended = berth_search_stop(p->search);
        if (*ended) return BERTH_OK;
        BERTH_TRY(place_node(p, step, berth_placeto_take(&p->state, step)));
        n_choices++;
    }
    learn_baselines(p);
    BERTH_TRY(update(p));
    *ended = n_choices == 0;
    if (n_choices > 0) berth_scores_tell(&p->scores, p->sum_entropy / n_choices, n_choices);
    return BERTH_OK;
}

static berth_status run_episodes(placeto *p) {
    double n_episodes = berth_settings_get(&p->policy->settings, BERTH_SET_EPISODES);
    bool ended = !berth_placeto_find_first(&p->state);
    for (double i = 0; (n_episodes == 0 || i < n_episodes) && !ended; i++) BERTH_TRY(run_episode(p, &ended));
    return BERTH_OK;
}

/* --- setting up ------------------------------------------------------------------------------------------------- */

static berth_status make_network(placeto *p, berth_rng *weights) {
    bool fresh = false;
    berth_params layout;
    berth_params_init(&layout, p->search->ctx);
    if (!berth_placeto_declare(&p->net, &layout)) {
        berth_params_deinit(&layout);
        return berth_fail_nomem(p->search->ctx);
    }
    BERTH_TRY(berth_policy_adopt(p->search->ctx, p->policy, &layout, &fresh));
    if (fresh) berth_placeto_reset(&p->net, &p->policy->params, weights);
    return BERTH_OK;
}

static bool make_room(placeto *p) {
    berth_arena *a = &p->arena;
    size_t n = (size_t)p->sequence->n_steps;
    p->reward = berth_arena_push(a, n, sizeof *p->reward);
    p->of_step = berth_arena_push(a, n, sizeof *p->of_step);
    p->trace = berth_arena_push(a, p->policy->params.n, sizeof *p->trace);
    p->sum = berth_arena_push(a, p->policy->params.n, sizeof *p->sum);
    return !a->failed && berth_scores_init(&p->scores, a, p->search, "placeto") &&
           berth_placeto_state_init(&p->state, a, p->sequence, &p->scores);
}

static berth_status set_up(placeto *p) {
    const berth_settings *s = &p->policy->settings;
    uint64_t seed = (uint64_t)berth_rng_next(&p->search->rng) << 32 | berth_rng_next(&p->search->rng);
    berth_rng weights;
    berth_rng_init(&weights, seed, 1);
    berth_rng_init(&p->draws, seed, 3);
    p->discount = berth_settings_get(s, BERTH_SET_DISCOUNT);
    p->entropy = berth_settings_get(s, BERTH_SET_ENTROPY);
    p->between = (int32_t)berth_settings_get(s, BERTH_SET_STEPS);
    p->net.n_devices = p->search->problem->costs->n_devices;
    p->net.width = berth_placeto_width(p->net.n_devices);
    p->net.hidden = (int32_t)berth_settings_get(s, BERTH_SET_HIDDEN);
    p->net.n_rounds = (int32_t)berth_settings_get(s, BERTH_SET_LAYER_GNN);
    BERTH_TRY(berth_sequence_new(p->search, s, MOST_STEPS, &p->sequence));
    BERTH_TRY(make_network(p, &weights));
    if (!make_room(p)) return berth_fail_nomem(p->search->ctx);
    return berth_tape_new(p->search->ctx, &p->tape);
}

berth_status berth_learn_placeto(berth_search *search) {
    placeto p = {.search = search};
    if (search->problem->costs->n_tasks == 0) { /* there is one placement, and nothing to learn */
        if (!berth_search_stop(search)) berth_search_offer(search, &(int32_t){0}, NULL, BERTH_SOURCE_SEED, "placeto");
        return BERTH_OK;
    }
    BERTH_TRY(berth_policy_begin(search, "placeto", &p.policy));
    berth_arena_init(&p.arena, berth_ctx_allocator(search->ctx));
    berth_status status = set_up(&p);
    if (status == BERTH_OK) status = run_episodes(&p);
    berth_tape_free(p.tape);
    berth_sequence_free(p.sequence);
    berth_arena_deinit(&p.arena);
    berth_policy_end(search, p.policy);
    return status;
}
