/* SPDX-License-Identifier: Apache-2.0 */
/* Learning on many graphs, one search after another, all by one policy.
 *
 * A search gets its random numbers from the seed and the number of searches before it, starts from what single devices
 * take, and leaves nothing behind but the policy. So the policy file is all that is needed to go on, and it does not
 * matter where a training was cut: a search that did not end is made again. */
#include "berth/place.h"

#include "base/file.h"
#include "base/processors.h"
#include "base/sha256.h"
#include "learn/learn.h"
#include "place/methods.h"
#include "search/local_start.h"
#include "search/search_methods.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ORDER_STREAM = 1 << 30 }; /* random numbers of the order of lessons, apart from those of searches */

berth_train_options berth_train_options_default(void) {
    return (berth_train_options){
        .method = "hsdag",
        .model = BERTH_MODEL_COUNT,
        .piece_ms = NAN,
        .episodes = 100,
        .save_seconds = 1,
    };
}

typedef struct desk { /* a lesson, ready to be searched */
    berth_costs *costs;
    berth_problem *problem;
} desk;

typedef struct school {
    berth_ctx *ctx;
    const berth_train_options *options;
    const berth_method *method;
    berth_policy *policy;
    berth_training *training;
    const berth_lesson *lessons;
    int32_t n;
    desk *desks;                    /* [n] */
    const berth_problem **problems; /* [n] */
    berth_arena arena;
    char digest[65];
    double started, saved;
    /* of this episode */
    berth_episode sum;
    int32_t n_told;
} school;

/* --- what is learnt on ------------------------------------------------------------------------------------------ */

int32_t berth_train_lesson(uint64_t seed, int32_t n_lessons, int64_t episode) {
    enum { MOST = 4096 }; /* more are taken in the order of the list */
    int32_t place = (int32_t)(episode % n_lessons), order[MOST];
    berth_rng rng;
    if (n_lessons > MOST) return place;
    berth_rng_init(&rng, seed, (uint64_t)ORDER_STREAM + (uint64_t)(episode / n_lessons));
    for (int32_t i = 0; i < n_lessons; i++) order[i] = i;
    for (int32_t i = n_lessons - 1; i > 0; i--) {
        int32_t j = (int32_t)berth_rng_below(&rng, (uint32_t)i + 1), other = order[i];
        order[i] = order[j];
        order[j] = other;
    }
    return order[place];
}

static berth_status set_desks(school *s) {
    s->desks = berth_arena_push(&s->arena, (size_t)s->n, sizeof *s->desks);
    s->problems = berth_arena_push(&s->arena, (size_t)s->n, sizeof *s->problems);
    if (s->arena.failed) return berth_fail_nomem(s->ctx);
    for (int32_t i = 0; i < s->n; i++) {
        const berth_lesson *lesson = &s->lessons[i];
        berth_cost_options cost = {
            .limits = lesson->limits, .model = s->options->model, .piece_ms = s->options->piece_ms};
        BERTH_TRY(berth_costs_new(s->ctx, &s->desks[i].costs, lesson->graph, lesson->devices, &cost));
        BERTH_TRY(berth_problem_new(s->ctx, &s->desks[i].problem, s->desks[i].costs, lesson->limits, NULL));
        s->problems[i] = s->desks[i].problem;
    }
    return BERTH_OK;
}

static void describe_limits(berth_text *text, const berth_limits *limits) {
    const berth_rule *rules[] = {limits->pins, limits->bans, limits->together, limits->io};
    int32_t n[] = {limits->n_pins, limits->n_bans, limits->n_together, limits->n_io};
    for (int32_t i = 0; i < limits->n_memory; i++)
        berth_text_printf(text, "%s=%.17g\n", limits->memory[i].device, limits->memory[i].bytes);
    for (int k = 0; k < 4; k++)
        for (int32_t i = 0; i < n[k]; i++)
            berth_text_printf(text, "%d %s=%s\n", k, rules[k][i].pattern, rules[k][i].device ? rules[k][i].device : "");
}

/* Everything that a resumed training must have in common with the one it goes on with. */
static berth_status take_digest(school *s) {
    const berth_train_options *o = s->options;
    unsigned char digest[BERTH_SHA256_SIZE];
    berth_sha256 sha;
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(s->ctx, &text));
    berth_text_printf(text, "%s %d %.17g %lld %d\n", s->method->name, (int)o->model, o->piece_ms,
                      (long long)o->evaluations, (int)s->n);
    for (int32_t i = 0; i < s->n; i++) {
        const berth_limits *limits = s->lessons[i].limits;
        berth_text_printf(text, "%s\n", berth_graph_fingerprint(s->lessons[i].graph));
        berth_device_set_write(text, NULL, s->lessons[i].devices);
        if (limits) describe_limits(text, limits);
    }
    berth_status status = berth_text_status(text);
    berth_sha256_init(&sha);
    berth_sha256_update(&sha, berth_text_string(text), berth_text_size(text));
    berth_sha256_finish(&sha, digest);
    berth_sha256_hex(digest, s->digest);
    berth_text_free(text);
    return status == BERTH_OK ? BERTH_OK : berth_fail_nomem(s->ctx);
}

/* --- the policy ------------------------------------------------------------------------------------------------- */

static berth_status load_to_start(school *s, berth_settings *settings) {
    BERTH_TRY(berth_policy_load(s->ctx, &s->policy, s->options->policy));
    *settings = *berth_policy_settings(s->policy);
    if (strcmp(settings->method, s->method->name) != 0)
        return berth_fail(s->ctx, BERTH_E_ARG, "%.200s is a policy of %s, not of %s", s->options->policy,
                          settings->method, s->method->name);
    berth_training *training = berth_policy_training(s->policy); /* another one begins */
    training->rounds = 0;
    training->history.n = 0;
    return BERTH_OK;
}

static berth_status check_resumed(school *s, const berth_settings *wanted) {
    const berth_settings *have = berth_policy_settings(s->policy);
    const char *path = s->options->output;
    if (strcmp(have->method, wanted->method) != 0)
        return berth_fail(s->ctx, BERTH_E_ARG, "%.200s: cannot resume: it is a policy of %s", path, have->method);
    for (int32_t i = 0; berth_setting_at(i); i++)
        if (berth_setting_applies(wanted->method, i) && have->value[i] != wanted->value[i])
            return berth_fail(s->ctx, BERTH_E_ARG, "%.200s: cannot resume: its setting %s is another", path,
                              berth_setting_at(i)->name);
    berth_training *training = berth_policy_training(s->policy);
    if (training->seed != s->options->seed)
        return berth_fail(s->ctx, BERTH_E_ARG, "%.200s: cannot resume: its seed is another", path);
    if (strcmp(training->trained_on, s->digest) != 0)
        return berth_fail(s->ctx, BERTH_E_ARG, "%.200s: cannot resume: it learnt on other graphs, devices or options",
                          path);
    return BERTH_OK;
}

static berth_status make_policy(school *s) {
    const berth_train_options *o = s->options;
    berth_settings settings;
    if (o->policy)
        BERTH_TRY(load_to_start(s, &settings));
    else
        BERTH_TRY(berth_settings_default(s->ctx, &settings, s->method->name));
    for (int32_t i = 0; i < o->n_set; i++) BERTH_TRY(berth_settings_set(s->ctx, &settings, o->set[i]));
    if (o->resume && o->output && access(o->output, F_OK) == 0) {
        berth_policy_free(s->policy);
        s->policy = NULL;
        BERTH_TRY(berth_policy_load(s->ctx, &s->policy, o->output));
        BERTH_TRY(check_resumed(s, &settings));
    } else if (!s->policy) {
        BERTH_TRY(berth_policy_new(s->ctx, &s->policy, &settings));
    }
    *berth_policy_change(s->policy) = settings;
    s->training = berth_policy_training(s->policy);
    s->training->seed = o->seed;
    memcpy(s->training->trained_on, s->digest, sizeof s->digest);
    return BERTH_OK;
}

static berth_status save(school *s) {
    s->saved = berth_search_clock();
    return s->options->output ? berth_policy_save(s->ctx, s->policy, s->options->output) : BERTH_OK;
}

/* That the policy cannot be written is better told now than after hours. */
static berth_status try_output(const school *s) {
    if (s->options->ready) s->options->ready(s->options->train_user);
    return s->options->output ? berth_file_judge(berth_file_try(s->ctx, s->options->output)) : BERTH_OK;
}

/* --- episodes --------------------------------------------------------------------------------------------------- */

static void hear(void *user, const berth_episode *episode) {
    school *s = user;
    s->n_told++;
    s->sum.mean_ms += episode->mean_ms;
    s->sum.entropy += episode->entropy;
    s->sum.clusters += episode->clusters;
    s->sum.best_ms = fmin(s->sum.best_ms, episode->best_ms);
    s->sum.seconds += episode->seconds;
}

static int32_t count_threads(int32_t wanted) {
    int32_t n = wanted > 0 ? wanted : berth_processors();
    return n > 64 ? 64 : n;
}

/* A search of its own on the lesson. Training is from single devices, whatever the answer may start from later, and
 * without polish: both would only be watched. */
static berth_status search_lesson(school *s, int32_t lesson) {
    const berth_problem *problem = s->problems[lesson];
    berth_settings *settings = berth_policy_change(s->policy), kept = *settings;
    berth_learn learn = {.settings = settings,
                         .policy = s->policy,
                         .problems = s->problems,
                         .n_problems = s->n,
                         .episode = hear,
                         .user = s};
    int64_t wanted = s->options->evaluations;
    berth_budget budget = {wanted > 0 ? wanted : berth_learn_episode_length(settings, problem), INFINITY};
    berth_search *search = NULL;
    bool starts = berth_settings_get(settings, BERTH_SET_SEEDS) != BERTH_SEEDS_NONE;
    if (starts) settings->value[BERTH_SET_SEEDS] = BERTH_SEEDS_SINGLE;
    settings->value[BERTH_SET_POLISH] = 0;
    settings->value[BERTH_SET_EPISODES] = 0;
    berth_status status =
        berth_search_new(s->ctx, &search, problem, s->training->seed, budget, count_threads(s->options->threads));
    if (status == BERTH_OK) {
        berth_rng_init(&search->rng, s->training->seed, (uint64_t)s->training->rounds);
        search->learn = &learn;
        if (starts) status = berth_search_single(search);
        if (status == BERTH_OK && starts && !search->has_best) status = berth_search_find_start(search);
        if (status == BERTH_OK) status = s->method->run(search);
        if (search->best_ms < s->sum.best_ms) s->sum.best_ms = search->best_ms;
    }
    berth_search_free(search);
    *settings = kept;
    return status;
}

static berth_status write_down(school *s, double seconds) {
    berth_episode row = s->sum;
    double n = s->n_told > 0 ? s->n_told : 1;
    row.mean_ms = s->n_told > 0 ? row.mean_ms / n : row.best_ms;
    row.entropy /= n;
    row.clusters /= n;
    if (s->n_told == 0) row.seconds = seconds;
    if (!berth_vec_push(berth_ctx_allocator(s->ctx), &s->training->history, row)) return berth_fail_nomem(s->ctx);
    s->training->rounds++;
    return BERTH_OK;
}

/* *ended: the user wants to stop; then this episode did not happen. */
static berth_status run_episode(school *s, bool *ended) {
    int32_t lesson = berth_train_lesson(s->training->seed, s->n, s->training->rounds);
    double begun = berth_search_clock();
    s->sum = (berth_episode){.best_ms = INFINITY};
    s->n_told = 0;
    BERTH_TRY(berth_policy_keep(s->policy));
    berth_status status = search_lesson(s, lesson);
    *ended = berth_cancelled(s->ctx);
    if (*ended || status != BERTH_OK) berth_policy_go_back(s->policy);
    if (*ended) return BERTH_OK;
    BERTH_TRY(status);
    BERTH_TRY(write_down(s, berth_search_clock() - begun));
    if (s->options->train) {
        berth_train_progress now = {
            .episode = s->training->rounds,
            .episodes = s->options->episodes,
            .lesson = lesson,
            .last = &s->training->history.items[s->training->history.n - 1],
            .seconds = berth_search_clock() - s->started,
        };
        s->options->train(s->options->train_user, &now);
    }
    return BERTH_OK;
}

/* Whatever ends it, what was learnt is saved; a divergence is still the answer. */
static berth_status run_episodes(school *s) {
    berth_status status = BERTH_OK;
    bool ended = false;
    while (status == BERTH_OK && !ended && s->training->rounds < s->options->episodes) {
        status = run_episode(s, &ended);
        if (status == BERTH_OK && berth_search_clock() - s->saved > s->options->save_seconds) status = save(s);
    }
    if (status == BERTH_E_NUMERIC) {
        char message[256];
        snprintf(message, sizeof message, "%s", berth_ctx_message(s->ctx)); /* saving may fail too */
        BERTH_TRY(save(s));
        return berth_fail(s->ctx, status, "episode %lld: %s", (long long)s->training->rounds + 1, message);
    }
    BERTH_TRY(status);
    return save(s);
}

static berth_status check(school *s) {
    const berth_train_options *o = s->options;
    s->method = berth_method_find(o->method);
    if (!s->method || s->method->kind != BERTH_METHOD_LEARNS)
        return berth_fail(s->ctx, BERTH_E_ARG, "'%.80s' is not a method that learns", o->method);
    if (s->n < 1) return berth_fail(s->ctx, BERTH_E_ARG, "there is nothing to learn on");
    if (o->episodes < 0 || o->evaluations < 0 || o->threads < 0 || o->seed > INT64_MAX)
        return berth_fail(s->ctx, BERTH_E_ARG, "numbers of a training must be positive, and its seed less than 2^63");
    return BERTH_OK;
}

static berth_status train(school *s) {
    BERTH_TRY(check(s));
    BERTH_TRY(take_digest(s));
    BERTH_TRY(make_policy(s));
    BERTH_TRY(try_output(s));
    BERTH_TRY(set_desks(s));
    return run_episodes(s);
}

berth_status berth_train(berth_ctx *ctx, berth_policy **out, const berth_lesson *lessons, int32_t n_lessons,
                         const berth_train_options *options) {
    school s = {.ctx = ctx, .options = options, .lessons = lessons, .n = n_lessons};
    *out = NULL;
    s.started = s.saved = berth_search_clock();
    berth_arena_init(&s.arena, berth_ctx_allocator(ctx));
    berth_status status = train(&s);
    for (int32_t i = 0; s.problems && i < s.n; i++) {
        berth_problem_free(s.desks[i].problem);
        berth_costs_free(s.desks[i].costs);
    }
    berth_arena_deinit(&s.arena);
    if (status == BERTH_OK)
        *out = s.policy;
    else
        berth_policy_free(s.policy);
    return status;
}
