/* SPDX-License-Identifier: Apache-2.0 */
/* Choices are kept with all their proposals, so that an update scores them again under the changed weights: the ratio
 * of new to old probability of what was picked, times its advantage, clipped, is what is raised. */
#include "learn/chooser.h"

#include <math.h>
#include <string.h>

#include "tensor/ops.h"

void berth_chooser_declare(berth_params *layout, int32_t n_sights, int32_t hidden) {
    berth_params_add(layout, "choose.hidden.weight", hidden, n_sights);
    berth_params_add(layout, "choose.hidden.bias", 1, hidden);
    berth_params_add(layout, "choose.score.weight", 1, hidden);
    berth_params_add(layout, "choose.score.bias", 1, 1);
}

/* The last layer is small: the first choices are close to even. */
void berth_chooser_reset(berth_policy *policy, berth_rng *rng) {
    berth_matrix *hidden = berth_params_find(&policy->params, "choose.hidden.weight");
    berth_param_uniform(hidden, 1 / sqrt(hidden->cols), rng);
    berth_param_uniform(berth_params_find(&policy->params, "choose.hidden.bias"), 1 / sqrt(hidden->cols), rng);
    berth_param_uniform(berth_params_find(&policy->params, "choose.score.weight"), 0.1 / sqrt(hidden->rows), rng);
    berth_param_fill(berth_params_find(&policy->params, "choose.score.bias"), 0);
}

berth_status berth_chooser_init(berth_chooser *chooser, berth_ctx *ctx, berth_policy *policy, int32_t n_sights,
                                int32_t most, berth_arena *arena) {
    int32_t window = (int32_t)berth_settings_get(&policy->settings, BERTH_SET_WINDOW);
    size_t n = (size_t)window, room = n * (size_t)most * (size_t)n_sights;
    *chooser = (berth_chooser){.policy = policy, .n_sights = n_sights, .most = most, .window = window};
    chooser->hidden_weight = berth_params_find(&policy->params, "choose.hidden.weight");
    chooser->hidden_bias = berth_params_find(&policy->params, "choose.hidden.bias");
    chooser->score_weight = berth_params_find(&policy->params, "choose.score.weight");
    chooser->score_bias = berth_params_find(&policy->params, "choose.score.bias");
    chooser->sights = berth_arena_push(arena, room, sizeof *chooser->sights);
    chooser->rows = berth_arena_push(arena, room, sizeof *chooser->rows);
    chooser->n_proposals = berth_arena_push(arena, n, sizeof *chooser->n_proposals);
    chooser->picked = berth_arena_push(arena, n, sizeof *chooser->picked);
    chooser->log_p = berth_arena_push(arena, n, sizeof *chooser->log_p);
    chooser->advantage = berth_arena_push(arena, n, sizeof *chooser->advantage);
    chooser->row_start = berth_arena_push(arena, n + 1, sizeof *chooser->row_start);
    chooser->row_picked = berth_arena_push(arena, n, sizeof *chooser->row_picked);
    if (arena->failed) return berth_fail_nomem(ctx);
    return berth_tape_new(ctx, &chooser->tape);
}

void berth_chooser_deinit(berth_chooser *chooser) {
    berth_tape_free(chooser->tape);
}

static berth_matrix *score(berth_chooser *c, const berth_real *sights, int32_t n) {
    berth_matrix *x = berth_input(c->tape, sights, n, c->n_sights);
    berth_matrix *hidden = berth_relu(c->tape, berth_linear(c->tape, x, c->hidden_weight, c->hidden_bias));
    return berth_linear(c->tape, hidden, c->score_weight, c->score_bias);
}

berth_real *berth_chooser_sights(berth_chooser *chooser) {
    return chooser->sights + (size_t)chooser->next * (size_t)chooser->most * (size_t)chooser->n_sights;
}

berth_status berth_chooser_draw(berth_chooser *chooser, int32_t n, berth_rng *rng, int32_t *picked) {
    const int32_t whole[] = {0, n};
    double left = berth_rng_uniform(rng);
    int32_t at = 0;
    berth_tape_record(chooser->tape, false);
    berth_matrix *log_p =
        berth_segment_log_softmax(chooser->tape, score(chooser, berth_chooser_sights(chooser), n), whole, 1);
    if (!log_p) return BERTH_E_NOMEM;
    chooser->entropy = 0;
    for (int32_t i = 0; i < n; i++) chooser->entropy -= log_p->value[i] * exp(log_p->value[i]);
    for (; at < n - 1; at++) {
        left -= exp(log_p->value[at]);
        if (left < 0) break;
    }
    chooser->n_proposals[chooser->next] = n;
    chooser->picked[chooser->next] = at;
    chooser->log_p[chooser->next] = log_p->value[at];
    *picked = at;
    berth_tape_clear(chooser->tape);
    berth_tape_record(chooser->tape, true);
    return BERTH_OK;
}

void berth_chooser_reward(berth_chooser *chooser, double advantage) {
    chooser->advantage[chooser->next] = (berth_real)advantage;
    chooser->next = (chooser->next + 1) % chooser->window;
    if (chooser->n_choices < chooser->window) chooser->n_choices++;
}

/* The choices one below the other. */
static void lay_out(berth_chooser *c) {
    size_t width = (size_t)c->n_sights;
    int32_t n = 0;
    for (int32_t i = 0; i < c->n_choices; i++) {
        c->row_start[i] = n;
        c->row_picked[i] = n + c->picked[i];
        memcpy(c->rows + (size_t)n * width, c->sights + (size_t)i * (size_t)c->most * width,
               (size_t)c->n_proposals[i] * width * sizeof *c->rows);
        n += c->n_proposals[i];
    }
    c->row_start[c->n_choices] = n;
}

/* Less is better. */
static berth_matrix *loss(berth_chooser *c) {
    double clip = berth_settings_get(&c->policy->settings, BERTH_SET_CLIP);
    double bonus = berth_settings_get(&c->policy->settings, BERTH_SET_ENTROPY);
    berth_tape *t = c->tape;
    int32_t n = c->n_choices;
    berth_matrix *log_p = berth_segment_log_softmax(t, score(c, c->rows, c->row_start[n]), c->row_start, n);
    berth_matrix *change = berth_sub(t, berth_gather(t, log_p, c->row_picked, n), berth_input(t, c->log_p, n, 1));
    berth_matrix *ratio = berth_exp(t, berth_clamp(t, change, -10, 10)); /* far from what could still be told apart */
    berth_matrix *advantage = berth_input(t, c->advantage, n, 1);
    berth_matrix *gain = berth_mul(t, ratio, advantage);
    if (clip > 0) gain = berth_min(t, gain, berth_mul(t, berth_clamp(t, ratio, 1 - clip, 1 + clip), advantage));
    if (bonus > 0) gain = berth_add(t, gain, berth_scale(t, berth_segment_entropy(t, log_p, c->row_start, n), bonus));
    return berth_scale(t, berth_mean(t, gain), -1);
}

berth_status berth_chooser_backward(berth_chooser *chooser) {
    if (chooser->n_choices == 0) return BERTH_OK;
    lay_out(chooser);
    berth_status status = berth_tape_backward(chooser->tape, loss(chooser));
    berth_tape_clear(chooser->tape);
    return status;
}
