/* SPDX-License-Identifier: Apache-2.0 */
/* The one-shot policy (design=joint): an update draws `steps` placements, groups and devices together (joint_net.h),
 * measures them, and plays them again `epochs` times with the best ones so far beside them.
 *
 * The advantage of a placement is how much smaller its score (score.h) is than the mean of the draw, over the
 * deviation. Every decision, of a parent or of a device, is raised by the ratio of its probability to what it was
 * before the update, times the advantage, clipped decision by decision: the ratio of a whole placement would leave the
 * clip at once. The best placements are drawn ones, never classical seeds, which are candidates for the answer only.
 *
 * The last part of the budget polishes: moves from the best placement, of which those that are no worse are kept. */
#include "learn/joint.h"

#include <math.h>

#include "learn/joint_net.h"
#include "learn/score.h"
#include "learn/seeds.h"
#include "search/local_walk.h"

enum { N_ELITES = 4 };

typedef struct joint {
    berth_search *search;
    berth_policy *policy;
    berth_arena fixed, once; /* for the search; for one draw or one epoch */
    berth_joint_net net;
    berth_scores scores;
    berth_joint_draw *draws;           /* [n_steps] */
    berth_joint_draw elites[N_ELITES]; /* the best so far, best first */
    const berth_joint_draw **learnt;   /* [n_steps + N_ELITES] what an update learns from */
    double *advantage;                 /* the same */
    berth_real *old;                   /* log-probabilities before the update */
    int32_t n_steps, n_elites;
    int32_t *device; /* [n_tasks] */
    double entropy, decisions;
} joint;

static double setting(const joint *j, berth_setting_id id) {
    return berth_settings_get(&j->policy->settings, id);
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

static void clear(joint *j, bool record) {
    berth_tape_clear(j->net.rollout.tape);
    berth_tape_record(j->net.rollout.tape, record);
    berth_arena_empty(&j->once);
}

static double mean_entropy(const berth_matrix *log_p) {
    double sum = 0;
    for (int32_t i = 0; i < log_p->rows * log_p->cols; i++)
        if (log_p->value[i] > -INFINITY) sum -= (double)log_p->value[i] * exp((double)log_p->value[i]);
    return sum / log_p->rows;
}

/* Draws and measures; the number that were, fewer where the budget ends. */
static berth_status draw(joint *j, int32_t *n_out) {
    int64_t left = berth_search_left(j->search);
    int32_t n = left < j->n_steps ? (int32_t)left : j->n_steps;
    berth_joint_pass pass;
    *n_out = 0;
    if (n <= 0) return BERTH_OK;
    clear(j, false);
    BERTH_TRY(berth_joint_sample(&j->net, &j->once, j->draws, n, &pass));
    j->entropy = mean_entropy(pass.devices);
    j->decisions = (double)pass.n_clusters / n;
    for (; *n_out < n && !berth_search_stop(j->search); ++*n_out) {
        berth_joint_draw *one = &j->draws[*n_out];
        berth_joint_spread(&j->net, one, j->device);
        one->score = berth_scores_of(&j->scores, j->device, BERTH_SOURCE_SAMPLE);
    }
    return BERTH_OK;
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* The draws that could be run; the number. */
static int32_t keep_scored(joint *j, int32_t n) {
    int32_t kept = 0;
    for (int32_t i = 0; i < n; i++)
        if (!isnan(j->draws[i].score)) j->learnt[kept++] = &j->draws[i];
    return kept;
}

/* What an update learns from: the draws and the elites, with their advantages. The number. */
static int32_t weigh(joint *j, int32_t n) {
    static const double most = 3;
    double mean = 0, spread = 0;
    int32_t n_scored = keep_scored(j, n);
    for (int32_t i = 0; i < n_scored; i++) mean += j->learnt[i]->score / n_scored;
    for (int32_t i = 0; i < n_scored; i++)
        spread += (j->learnt[i]->score - mean) * (j->learnt[i]->score - mean) / n_scored;
    for (int32_t i = 0; i < j->n_elites; i++) j->learnt[n_scored + i] = &j->elites[i];
    n = n_scored > 0 ? n_scored + j->n_elites : 0;
    for (int32_t i = 0; i < n; i++) {
        double gain = (mean - j->learnt[i]->score) / (sqrt(spread) + 1e-9);
        j->advantage[i] = fmax(fmin(gain, most), -most);
    }
    return n;
}

/* Placements that are among the best so far become elites; the same one does not twice. */
static void keep_best(joint *j, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        int32_t at = j->n_elites;
        bool is_there = isnan(j->draws[i].score);
        for (int32_t k = 0; k < j->n_elites; k++) is_there |= j->elites[k].score == j->draws[i].score;
        if (is_there) continue;
        if (at == N_ELITES && j->draws[i].score >= j->elites[at - 1].score) continue;
        if (at == N_ELITES)
            at--;
        else
            j->n_elites++;
        berth_joint_draw freed = j->elites[at];
        for (; at > 0 && j->draws[i].score < j->elites[at - 1].score; at--) j->elites[at] = j->elites[at - 1];
        j->elites[at] = freed;
        berth_joint_draw_copy(&j->net, &j->elites[at], &j->draws[i]);
    }
}

/* Sum over decisions of the clipped gain; each has its row of `weight` and of `old`. */
static berth_matrix *sum_gains(joint *j, berth_matrix *log_p, const berth_real *weight, berth_real *old, bool first) {
    berth_tape *t = j->net.rollout.tape;
    double clip = setting(j, BERTH_SET_CLIP);
    if (!log_p) return NULL;
    for (int32_t i = 0; first && i < log_p->rows; i++) old[i] = log_p->value[i];
    berth_matrix *change = berth_sub(t, log_p, berth_input(t, old, log_p->rows, 1));
    berth_matrix *ratio = berth_exp(t, berth_clamp(t, change, -10, 10)); /* far from what could still be told apart */
    berth_matrix *advantage = berth_input(t, weight, log_p->rows, 1), *gain = berth_mul(t, ratio, advantage);
    if (clip > 0) gain = berth_min(t, gain, berth_mul(t, berth_clamp(t, ratio, 1 - clip, 1 + clip), advantage));
    return berth_sum(t, gain);
}

/* Less is better. NULL: no memory. */
static berth_matrix *loss(joint *j, const berth_joint_pass *pass, int32_t n, bool first) {
    berth_tape *t = j->net.rollout.tape;
    size_t n_nodes = (size_t)j->net.rollout.view->n_nodes, all = (size_t)n * n_nodes;
    berth_real *of_choices = berth_arena_push(&j->once, all, sizeof *of_choices);
    berth_real *of_devices = berth_arena_push(&j->once, all, sizeof *of_devices);
    int32_t *device = berth_arena_push(&j->once, all, sizeof *device), m = 0;
    if (j->once.failed) return NULL;
    for (int32_t i = 0; i < n; i++) {
        for (size_t v = 0; v < n_nodes; v++) of_choices[(size_t)i * n_nodes + v] = (berth_real)j->advantage[i];
        for (int32_t c = 0; c < j->learnt[i]->n_clusters; c++, m++) {
            of_devices[m] = (berth_real)j->advantage[i];
            device[m] = j->learnt[i]->device[c];
        }
    }
    berth_matrix *gain = sum_gains(j, berth_pick(t, pass->devices, device), of_devices, j->old + all, first);
    if (pass->of_choices) gain = berth_add(t, gain, sum_gains(j, pass->of_choices, of_choices, j->old, first));
    double bonus = setting(j, BERTH_SET_ENTROPY);
    if (bonus > 0) gain = berth_add(t, gain, berth_scale(t, berth_sum(t, berth_entropy(t, pass->devices)), bonus));
    return berth_scale(t, gain, -1.0 / n);
}

static berth_status learn(joint *j, int32_t n_draws) {
    int32_t n = weigh(j, n_draws), epochs = (int32_t)setting(j, BERTH_SET_EPOCHS);
    for (int32_t i = 0; i < epochs && n > 0 && !berth_search_interrupted(j->search); i++) {
        berth_joint_pass pass;
        clear(j, true);
        BERTH_TRY(berth_joint_replay(&j->net, &j->once, j->learnt, n, &pass));
        berth_params_zero_grad(&j->policy->params);
        BERTH_TRY(berth_tape_backward(j->net.rollout.tape, loss(j, &pass, n, i == 0)));
        BERTH_TRY(berth_policy_step(j->search->ctx, j->policy, NULL));
    }
    return BERTH_OK;
}

/* --- the search ------------------------------------------------------------------------------------------------- */

static berth_status set_up(joint *j) {
    BERTH_TRY(berth_joint_net_open(&j->net, j->search, j->policy, &j->fixed));
    double steps = fmin(setting(j, BERTH_SET_STEPS), fmax(1, (double)berth_search_left(j->search)));
    j->n_steps = (int32_t)steps;
    size_t room = (size_t)j->n_steps + N_ELITES, n_nodes = (size_t)j->net.rollout.view->n_nodes;
    j->draws = berth_arena_push(&j->fixed, room, sizeof *j->draws);
    j->learnt = berth_arena_push(&j->fixed, room, sizeof(berth_joint_draw *));
    j->advantage = berth_arena_push(&j->fixed, room, sizeof *j->advantage);
    j->old = berth_arena_push(&j->fixed, 2 * room * n_nodes, sizeof *j->old);
    j->device = berth_arena_push(&j->fixed, (size_t)j->search->problem->costs->n_tasks, sizeof *j->device);
    bool ok = !j->fixed.failed && berth_scores_init(&j->scores, &j->fixed, j->search, "hsdag");
    for (int32_t i = 0; ok && i < j->n_steps; i++) ok = berth_joint_draw_init(&j->net, &j->fixed, &j->draws[i]);
    for (int32_t i = 0; ok && i < N_ELITES; i++) ok = berth_joint_draw_init(&j->net, &j->fixed, &j->elites[i]);
    return ok ? BERTH_OK : berth_fail_nomem(j->search->ctx);
}

static berth_status polish(joint *j) {
    enum { MOST_IDLE = 1000 };
    berth_stroll walk;
    bool has_start = false;
    BERTH_TRY(berth_stroll_init(&walk, j->search, "hsdag", &has_start));
    walk.source = BERTH_SOURCE_POLISHED_SAMPLE;
    for (int idle = 0; has_start && idle < MOST_IDLE && walk.ms > 0 && !berth_search_stop(j->search);) {
        double now = walk.ms, ms = berth_stroll_try_random(&walk);
        idle = berth_stroll_moved(&walk) ? 0 : idle + 1;
        if (idle > 0) continue;
        if (ms <= now)
            berth_stroll_keep(&walk);
        else
            berth_stroll_drop(&walk);
    }
    if (has_start) berth_stroll_offer(&walk);
    berth_stroll_deinit(&walk);
    return BERTH_OK;
}

static berth_status run(joint *j) {
    double share = setting(j, BERTH_SET_POLISH), n_updates = setting(j, BERTH_SET_EPISODES);
    BERTH_TRY(berth_learn_seeds(j->search, (int)setting(j, BERTH_SET_SEEDS)));
    BERTH_TRY(set_up(j));
    double before = berth_search_spent(j->search), end = before + (1 - share) * (1 - before);
    for (double i = 0; (n_updates == 0 || i < n_updates) && !berth_search_stop(j->search); i++) {
        int32_t n;
        if (share > 0 && berth_search_spent(j->search) >= end) break;
        BERTH_TRY(draw(j, &n));
        if (n < j->n_steps) break; /* the budget ended */
        if (setting(j, BERTH_SET_LEARNING_RATE) > 0) BERTH_TRY(learn(j, n));
        keep_best(j, n);
        berth_scores_tell(&j->scores, j->entropy, j->decisions);
    }
    return share > 0 ? polish(j) : BERTH_OK;
}

berth_status berth_learn_joint(berth_search *search, berth_policy *policy) {
    joint j = {.search = search, .policy = policy, .net.rollout.search = search};
    berth_arena_init(&j.fixed, berth_ctx_allocator(search->ctx));
    berth_arena_init(&j.once, berth_ctx_allocator(search->ctx));
    berth_status status = run(&j);
    berth_joint_net_close(&j.net);
    berth_arena_deinit(&j.once);
    berth_arena_deinit(&j.fixed);
    return status;
}
