/* SPDX-License-Identifier: Apache-2.0 */
/* `rnn`: a sequence of groups to a sequence of devices, with attention (Mirhoseini and others 2017), as the paper's
 * baseline has it (shared/HSDAG.md section 9): a GRU, groups seen by their types, output shapes and neighbours, the
 * device of the group before fed back. Unlike its notebooks, where the sign of the reward makes slow placements likely
 * and nothing is subtracted from it, this one is meant to learn; and the decoder is told which group it is at.
 *
 * One update draws `steps` placements side by side, so that their products are one, and takes a step of Adam on
 * -advantage * log-probability - entropy bonus. The advantage is how much smaller the score (score.h) is than the mean
 * of the draw, over its deviation. */
#include "learn/rnn_net.h"
#include "learn/rollout.h"
#include "learn/score.h"
#include "learn/sequence.h"

#include <math.h>

/* A longer sequence is cut (sequence.h), since attention takes time and memory by the square of its length. Steps with
 * more numbers share vectors of neighbours; more placements than that at once would only take memory. */
enum { MOST_STEPS = 512, MOST_ROWS = 64 };

typedef struct rnn {
    berth_search *search;
    berth_policy *policy;
    berth_sequence *sequence;
    berth_rnn_net net;
    berth_arena arena;
    berth_tape *tape;
    berth_scores scores;
    berth_rng drops, draws;
    int32_t n_rows; /* placements drawn side by side */
    double entropy; /* weight of the bonus */
    berth_real *features;
    berth_csr neighbours, transposed;
    int32_t *rows, *last, *start; /* [n_steps] their numbers; [n_rows] the last step; the number of devices */
    /* of one update */
    int32_t *action;                    /* [n_steps * n_rows] */
    uint64_t *mask;                     /* the same */
    berth_real *weight;                 /* the same */
    berth_matrix **picked, **entropies; /* [n_steps] */
    berth_making *making;               /* [n_rows] */
    int32_t *device;                    /* [n_tasks] */
    double *score;                      /* [n_rows] */
    double mean_entropy;
} rnn;

/* --- what a group looks like ------------------------------------------------------------------------------------ */

/* The features of a step are those of its nodes, on average. */
static void average_rows(const berth_sequence *s, int32_t width, const berth_real *of_nodes, berth_real *of_steps) {
    for (int32_t step = 0; step < s->n_steps; step++) {
        int32_t first = s->node_start[step], end = s->node_start[step + 1];
        for (int32_t c = 0; c < width; c++) {
            double sum = 0;
            for (int32_t i = first; i < end; i++)
                sum += (double)of_nodes[(size_t)s->nodes[i] * (size_t)width + (size_t)c];
            of_steps[(size_t)step * (size_t)width + (size_t)c] = (berth_real)(sum / (end - first));
        }
    }
}

/* A problem without a graph has neither types nor shapes: one column of zeros. */
static berth_status fill_features(rnn *r) {
    const berth_sequence *s = r->sequence;
    const berth_view *view = s->view;
    berth_feature_options options = berth_settings_features(&r->policy->settings);
    berth_feature_plan *plan = NULL;
    BERTH_TRY(berth_feature_plan_new(r->search->ctx, &plan, &options, &view, 1));
    int32_t width = plan->width;
    r->net.width = width > 0 ? width : 1;
    r->features = berth_arena_push(&r->arena, (size_t)s->n_steps * (size_t)r->net.width, sizeof *r->features);
    berth_real *of_nodes = berth_arena_push(&r->arena, (size_t)view->n_nodes * (size_t)width, sizeof *of_nodes);
    berth_status status = r->arena.failed ? berth_fail_nomem(r->search->ctx) : BERTH_OK;
    if (status == BERTH_OK && width > 0) status = berth_features_fill(r->search->ctx, plan, view, of_nodes);
    if (status == BERTH_OK && width > 0) average_rows(s, width, of_nodes, r->features);
    berth_feature_plan_free(plan);
    return status;
}

/* The row of the adjacency matrix as sums of vectors: one for each step that reads from this one, another for each that
 * it reads from; and the same transposed. */
static bool link_neighbours(rnn *r) {
    const berth_sequence *s = r->sequence;
    int32_t n = s->n_steps, n_succs = s->succ_start[n], n_links = n_succs + s->pred_start[n];
    int32_t *start = berth_arena_push(&r->arena, (size_t)n + 1, sizeof *start);
    int32_t *index = berth_arena_push(&r->arena, (size_t)n_links, sizeof *index);
    int32_t *back_start = berth_arena_push(&r->arena, 2 * (size_t)n + 1, sizeof *back_start);
    int32_t *back = berth_arena_push(&r->arena, (size_t)n_links, sizeof *back);
    if (r->arena.failed) return false;
    int32_t k = 0;
    for (int32_t step = 0; step < n; step++) {
        start[step] = k;
        for (int32_t i = s->succ_start[step]; i < s->succ_start[step + 1]; i++) index[k++] = s->succs[i];
        for (int32_t i = s->pred_start[step]; i < s->pred_start[step + 1]; i++) index[k++] = n + s->preds[i];
    }
    start[n] = k;
    /* Vector v of the first kind is used by those that v reads from, which are its preds; of the second by its succs.
     */
    for (int32_t v = 0; v <= n; v++) {
        back_start[v] = s->pred_start[v];
        back_start[n + v] = s->pred_start[n] + s->succ_start[v];
    }
    for (int32_t i = 0; i < s->pred_start[n]; i++) back[i] = s->preds[i];
    for (int32_t i = 0; i < n_succs; i++) back[s->pred_start[n] + i] = s->succs[i];
    r->net.n_vectors = 2 * n;
    r->neighbours = (berth_csr){n, 2 * n, start, index, NULL};
    r->transposed = (berth_csr){2 * n, n, back_start, back, NULL};
    return true;
}

/* --- setting up ------------------------------------------------------------------------------------------------- */

static bool make_room(rnn *r) {
    berth_arena *a = &r->arena;
    size_t n = (size_t)r->sequence->n_steps, rows = (size_t)r->n_rows;
    r->rows = berth_arena_push(a, n, sizeof *r->rows);
    r->last = berth_arena_push(a, rows, sizeof *r->last);
    r->start = berth_arena_push(a, rows, sizeof *r->start);
    r->action = berth_arena_push(a, n * rows, sizeof *r->action);
    r->mask = berth_arena_push(a, n * rows, sizeof *r->mask);
    r->weight = berth_arena_push(a, n * rows, sizeof *r->weight);
    r->picked = berth_arena_push(a, n, sizeof(berth_matrix *));
    r->entropies = berth_arena_push(a, n, sizeof(berth_matrix *));
    r->making = berth_arena_push(a, rows, sizeof *r->making);
    r->score = berth_arena_push(a, rows, sizeof *r->score);
    r->device = berth_arena_push(a, (size_t)r->search->problem->costs->n_tasks, sizeof *r->device);
    if (a->failed || !berth_scores_init(&r->scores, a, r->search, "rnn")) return false;
    for (int32_t i = 0; i < r->sequence->n_steps; i++) r->rows[i] = i;
    for (int32_t i = 0; i < r->n_rows; i++) {
        r->last[i] = r->sequence->n_steps - 1;
        r->start[i] = r->net.n_devices;
        if (!berth_making_init(&r->making[i], a, r->sequence)) return false;
    }
    return true;
}

static berth_status make_network(rnn *r, berth_rng *weights) {
    bool fresh = false;
    berth_params layout;
    berth_params_init(&layout, r->search->ctx);
    if (!berth_rnn_declare(&r->net, &layout)) {
        berth_params_deinit(&layout);
        return berth_fail_nomem(r->search->ctx);
    }
    BERTH_TRY(berth_policy_adopt(r->search->ctx, r->policy, &layout, &fresh));
    if (fresh) berth_rnn_reset(&r->net, &r->policy->params, weights);
    return BERTH_OK;
}

static berth_status set_up(rnn *r) {
    const berth_settings *s = &r->policy->settings;
    uint64_t seed = (uint64_t)berth_rng_next(&r->search->rng) << 32 | berth_rng_next(&r->search->rng);
    double rows = fmin(berth_settings_get(s, BERTH_SET_STEPS), fmax(1, (double)berth_search_left(r->search)));
    berth_rng weights;
    berth_rng_init(&weights, seed, 1);
    berth_rng_init(&r->drops, seed, 2);
    berth_rng_init(&r->draws, seed, 3);
    r->n_rows = rows < MOST_ROWS ? (int32_t)rows : MOST_ROWS;
    r->entropy = berth_settings_get(s, BERTH_SET_ENTROPY);
    r->net.n_devices = r->search->problem->costs->n_devices;
    r->net.hidden = (int32_t)berth_settings_get(s, BERTH_SET_RNN_HIDDEN);
    r->net.attention = r->net.hidden > 4 ? r->net.hidden / 4 : 1;
    BERTH_TRY(berth_sequence_new(r->search, s, MOST_STEPS, &r->sequence));
    BERTH_TRY(fill_features(r));
    if (!link_neighbours(r) || !make_room(r)) return berth_fail_nomem(r->search->ctx);
    BERTH_TRY(make_network(r, &weights));
    return berth_tape_new(r->search->ctx, &r->tape);
}

/* --- drawing ---------------------------------------------------------------------------------------------------- */

/* Draws a device for one step of all placements. */
static berth_status draw_step(rnn *r, const berth_run *run, berth_rnn_code *code, int32_t step) {
    size_t here = (size_t)step * (size_t)r->n_rows;
    int32_t *action = r->action + here;
    for (int32_t i = 0; i < r->n_rows; i++) r->mask[here + (size_t)i] = berth_making_mask(&r->making[i], step);
    berth_matrix *log_p =
        berth_rnn_decode(&r->net, run, code, r->rows + step, step > 0 ? action - r->n_rows : r->start, r->mask + here);
    if (!log_p) return berth_fail_nomem(r->search->ctx);
    BERTH_TRY(berth_draw(r->search->ctx, log_p, &r->draws, action));
    r->picked[step] = berth_pick(r->tape, log_p, action);
    r->entropies[step] = berth_entropy(r->tape, log_p);
    for (int32_t i = 0; i < r->n_rows; i++) berth_making_put(&r->making[i], step, action[i]);
    return BERTH_OK;
}

/* All placements of an update, on the tape; *ended if time was up before. */
static berth_status draw(rnn *r, bool *ended) {
    const berth_run run = {.tape = r->tape,
                           .params = &r->policy->params,
                           .dropout = berth_settings_get(&r->policy->settings, BERTH_SET_DROPOUT_NETWORK),
                           .rng = &r->drops};
    berth_rnn_code code;
    berth_tape_clear(r->tape);
    for (int32_t i = 0; i < r->n_rows; i++) berth_making_restart(&r->making[i]);
    berth_rnn_encode(&r->net, &run, berth_input(r->tape, r->features, r->sequence->n_steps, r->net.width),
                     &r->neighbours, &r->transposed, r->rows, r->last, r->n_rows, &code);
    for (int32_t step = 0; step < r->sequence->n_steps && !*ended; step++) {
        BERTH_TRY(draw_step(r, &run, &code, step));
        *ended = berth_search_interrupted(r->search);
    }
    return BERTH_OK;
}

static void evaluate(rnn *r, bool *ended) {
    for (int32_t i = 0; i < r->n_rows && !*ended; i++) {
        *ended = berth_search_stop(r->search);
        if (*ended) return;
        berth_sequence_spread(r->sequence, r->making[i].device, r->device);
        r->score[i] = berth_scores_of(&r->scores, r->device, BERTH_SOURCE_SAMPLE);
    }
}

/* --- learning --------------------------------------------------------------------------------------------------- */

/* d loss / d log-probability of every choice. */
static void weigh(rnn *r) {
    double mean = 0, spread = 0, n = 0;
    for (int32_t i = 0; i < r->n_rows; i++) n += !isnan(r->score[i]);
    for (int32_t i = 0; i < r->n_rows; i++) mean += isnan(r->score[i]) ? 0 : r->score[i] / n;
    for (int32_t i = 0; i < r->n_rows; i++)
        spread += isnan(r->score[i]) ? 0 : (r->score[i] - mean) * (r->score[i] - mean) / n;
    for (int32_t i = 0; i < r->n_rows; i++) { /* what could not be run neither gains nor loses */
        double advantage = spread > 0 && !isnan(r->score[i]) ? (mean - r->score[i]) / sqrt(spread) : 0;
        for (int32_t step = 0; step < r->sequence->n_steps; step++)
            r->weight[(size_t)step * (size_t)r->n_rows + (size_t)i] = (berth_real)(-advantage / r->n_rows);
    }
}

static berth_status learn(rnn *r) {
    int32_t n = r->sequence->n_steps;
    weigh(r);
    berth_matrix *loss = berth_dot(r->tape, berth_stack(r->tape, r->picked, n), r->weight);
    berth_matrix *entropy = berth_sum(r->tape, berth_stack(r->tape, r->entropies, n));
    loss = berth_sub(r->tape, loss, berth_scale(r->tape, entropy, r->entropy / r->n_rows));
    if (!loss) return berth_fail_nomem(r->search->ctx);
    r->mean_entropy = (double)entropy->value[0] / n / r->n_rows;
    berth_params_zero_grad(&r->policy->params);
    BERTH_TRY(berth_tape_backward(r->tape, loss));
    return berth_policy_step(r->search->ctx, r->policy, NULL);
}

static berth_status run_updates(rnn *r) {
    double n_updates = berth_settings_get(&r->policy->settings, BERTH_SET_EPISODES);
    bool ended = berth_search_stop(r->search);
    for (double i = 0; (n_updates == 0 || i < n_updates) && !ended; i++) {
        BERTH_TRY(draw(r, &ended));
        evaluate(r, &ended);
        if (ended) break;
        BERTH_TRY(learn(r));
        berth_scores_tell(&r->scores, r->mean_entropy, r->sequence->n_steps);
    }
    return BERTH_OK;
}

berth_status berth_learn_rnn(berth_search *search) {
    rnn r = {.search = search};
    if (search->problem->costs->n_tasks == 0) { /* there is one placement, and nothing to learn */
        if (!berth_search_stop(search)) berth_search_offer(search, &(int32_t){0}, NULL, BERTH_SOURCE_SEED, "rnn");
        return BERTH_OK;
    }
    BERTH_TRY(berth_policy_begin(search, "rnn", &r.policy));
    berth_arena_init(&r.arena, berth_ctx_allocator(search->ctx));
    berth_status status = set_up(&r);
    if (status == BERTH_OK) status = run_updates(&r);
    berth_tape_free(r.tape);
    berth_sequence_free(r.sequence);
    berth_arena_deinit(&r.arena);
    berth_policy_end(search, r.policy);
    return status;
}
