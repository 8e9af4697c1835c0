/* SPDX-License-Identifier: Apache-2.0 */
/* Rounds of processes, and what their times say. */
#define _GNU_SOURCE /* NOLINT: strcasestr */
#include "runtime/trial.h"

#include "base/rng.h"
#include "runtime/kept.h"
#include "runtime/kind.h"
#include "runtime/npy.h"
#include "runtime/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ORDER_STREAM = 72, PROTOCOL_RUNS = 10, PROTOCOL_COUNTED = 5 };
static const double agreement = 0.02;         /* processes whose medians are no further apart agree */
static const double half = 0.5, alike = 0.99; /* of outputs: more than a device is off by alone; least cosine */

typedef struct trial {
    berth_ctx *ctx;
    berth_arena *arena;
    berth_runtime *runtime;
    const berth_candidate *candidates;
    int32_t n;
    const berth_trial_options *options;
    berth_trial_result *results;
    double **round_ms;               /* [n][rounds] */
    double **all_ms;                 /* [n][rounds * most_runs] */
    size_t *n_all;                   /* [n] */
    double *load, *first, *protocol; /* [n * rounds] */
    int32_t *order;                  /* [n] */
} trial;

double berth_trial_clock(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int32_t most_rounds(const trial *t) {
    return t->options->rounds + t->options->more_rounds;
}

static berth_status set_up(trial *t) {
    size_t n = (size_t)t->n, rounds = (size_t)most_rounds(t);
    size_t runs = rounds * (size_t)(t->options->most_runs > t->options->least_runs ? t->options->most_runs
                                                                                   : t->options->least_runs);
    t->round_ms = berth_arena_push(t->arena, n, sizeof *t->round_ms);
    t->all_ms = berth_arena_push(t->arena, n, sizeof *t->all_ms);
    t->n_all = berth_arena_push(t->arena, n, sizeof *t->n_all);
    t->load = berth_arena_push(t->arena, n * rounds, sizeof *t->load);
    t->first = berth_arena_push(t->arena, n * rounds, sizeof *t->first);
    t->protocol = berth_arena_push(t->arena, n * rounds, sizeof *t->protocol);
    t->order = berth_arena_push(t->arena, n, sizeof *t->order);
    for (size_t i = 0; i < n && !t->arena->failed; i++) {
        t->round_ms[i] = berth_arena_push(t->arena, rounds, sizeof **t->round_ms);
        t->all_ms[i] = berth_arena_push(t->arena, runs, sizeof **t->all_ms);
        t->order[i] = (int32_t)i;
        t->results[i] = (berth_trial_result){.reason = "", .latency.device_peak_bytes = NAN};
    }
    return t->arena->failed ? berth_fail_nomem(t->ctx) : BERTH_OK;
}

static const char *output_folder(trial *t, int32_t i) {
    const char *path = berth_arena_printf(t->arena, "%s/outputs%" PRId32, t->options->folder, i);
    return path && (mkdir(path, 0700) == 0 || errno == EEXIST) ? path : NULL;
}

/* The process was ended because it took too much, by us or (signal 9) by the system; or the runtime has said that an
 * allocation failed. What the C++ library throws is the host's; what a runtime says in its own words is the device's,
 * if it has one besides the host: those allocate by themselves. */
static berth_shortage shortage_of(const berth_candidate *candidate, berth_child_end end, const char *why) {
    static const char *const of_host[] = {"more memory than allowed", "signal 9", "bad_alloc", "cannot allocate memory",
                                          NULL};
    static const char *const of_any[] = {"out of memory",
                                         "out_of_memory",
                                         "out_of_device_memory",
                                         "failed to allocate",
                                         "is smaller than requested bytes",
                                         NULL};
    if (end == BERTH_CHILD_TOO_LARGE) return BERTH_SHORT_OF_HOST;
    for (int i = 0; of_host[i]; i++)
        if (strcasestr(why, of_host[i])) return BERTH_SHORT_OF_HOST;
    for (int i = 0; of_any[i]; i++)
        if (strcasestr(why, of_any[i])) return candidate->devices[0] ? BERTH_SHORT_OF_DEVICE : BERTH_SHORT_OF_HOST;
    return BERTH_SHORT_OF_NOTHING;
}

/* Some failures are the candidate's own; others end the trial. */
static berth_status take_failure(trial *t, int32_t i, berth_status status) {
    berth_trial_result *result = &t->results[i];
    if (status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED) return status;
    const char *why = berth_ctx_message(t->ctx);
    result->status = status;
    result->shortage = shortage_of(&t->candidates[i], result->end, why);
    result->reason = berth_arena_string(t->arena, why, strlen(why));
    return result->reason ? BERTH_OK : berth_fail_nomem(t->ctx);
}

/* The last 5 of 10 runs. */
static double protocol_mean(const berth_answer *answer) {
    double sum = 0;
    if (answer->n_runs < PROTOCOL_RUNS) return NAN;
    for (int i = PROTOCOL_RUNS - PROTOCOL_COUNTED; i < PROTOCOL_RUNS; i++) sum += answer->runs_ms[i];
    return sum / PROTOCOL_COUNTED;
}

/* Whatever disturbs a process makes it slower, and hardly two of them by the same amount. */
static void take_fastest(berth_trial_result *r, const double *round_ms) {
    double first = INFINITY, second = INFINITY;
    for (int32_t k = 0; k < r->n_rounds; k++) {
        second = fmin(second, fmax(first, round_ms[k]));
        first = fmin(first, round_ms[k]);
    }
    r->steady_ms = r->n_rounds > 1 ? (first + second) / 2 : first;
    r->unrest = r->n_rounds > 1 && first > 0 ? second / first - 1 : 0;
}

static void take_answer(trial *t, int32_t i, const berth_answer *answer) {
    berth_trial_result *r = &t->results[i];
    size_t at = (size_t)i * (size_t)most_rounds(t) + (size_t)r->n_rounds;
    double *own = t->all_ms[i] + t->n_all[i];
    memcpy(own, answer->runs_ms, (size_t)answer->n_runs * sizeof *own);
    t->n_all[i] += (size_t)answer->n_runs;
    t->load[at] = answer->load_ms;
    t->first[at] = answer->first_ms;
    r->latency.cores = fmax(r->latency.cores, answer->cores);
    t->protocol[at] = protocol_mean(answer);
    r->latency.peak_bytes = fmax(r->latency.peak_bytes, answer->peak_bytes);
    if (answer->device_peak_bytes > 0)
        r->latency.device_peak_bytes = fmax(r->latency.device_peak_bytes, answer->device_peak_bytes);
    if (answer->n_runs > 0) { /* sorts only the runs of this process */
        t->round_ms[i][r->n_rounds++] = berth_stats_quantile(own, (size_t)answer->n_runs, 0.5);
        take_fastest(r, t->round_ms[i]);
    }
    if (r->n_rounds > 1) return;
    r->n_outputs = answer->n_outputs;
    r->outputs = answer->outputs;
}

/* --- the store -------------------------------------------------------------------------------------------------- */

static bool is_native(const trial *t, int32_t i) {
    return t->options->native_precision && !t->candidates[i].full_precision;
}

/* Everything that the times of one process depend on, and which of them it is. */
static const char *key_of(const trial *t, int32_t i) {
    const berth_trial_options *o = t->options;
    return berth_arena_printf(t->arena, "run 2\n%s\n%s\nruns %d %d %.17g\nprecision %d\nseed %" PRIu64 "\nround %d",
                              t->runtime->identity, t->candidates[i].identity, (int)o->least_runs, (int)o->most_runs,
                              o->run_seconds, is_native(t, i), o->seed, (int)t->results[i].n_rounds);
}

/* What a job failed with, as a worker says it, beside the answers of others. */
static berth_status keep_failure(trial *t, const char *key, berth_status job) {
    berth_text *text = NULL;
    if (!t->options->keeps_failures) return BERTH_OK;
    BERTH_TRY(berth_text_new(t->ctx, &text));
    berth_json_object_begin(text, NULL);
    berth_json_object_begin(text, "error");
    berth_json_int(text, "status", job);
    berth_json_string(text, "message", berth_ctx_message(t->ctx));
    berth_json_object_end(text);
    berth_json_object_end(text);
    berth_status status = berth_text_status(text);
    if (status == BERTH_OK)
        status = berth_kept_put(t->runtime, "failure", key, berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    return status;
}

/* *found: it failed before, as *status and the message say. */
static berth_status find_failure(trial *t, const char *key, bool *found, berth_status *status) {
    const char *bytes = NULL;
    berth_answer none;
    size_t n = 0;
    if (!t->options->keeps_failures) return BERTH_OK;
    BERTH_TRY(berth_kept_get(t->runtime, t->arena, "failure", key, &bytes, &n));
    if (!bytes) return BERTH_OK;
    *status = berth_answer_read(t->ctx, t->arena, bytes, n, &none);
    if (*status == BERTH_E_NOMEM) return *status;
    *found = *status != BERTH_OK;
    return BERTH_OK;
}

static berth_status check_outputs(const trial *t, berth_answer *answer) {
    if (!t->options->check || answer->n_outputs == 0) return BERTH_OK;
    BERTH_TRY(t->options->check(t->options->check_user, answer));
    answer->n_outputs = 0;
    return BERTH_OK;
}

/* One process, and what came of it into the store. */
static berth_status make_run(trial *t, const berth_job *job, const char *key, berth_answer *answer,
                             berth_trial_result *result, berth_status *status) {
    *status = berth_job_run(t->ctx, t->arena, &t->runtime->worker, job, answer, &result->end);
    if (*status == BERTH_OK) {
        *status = check_outputs(t, answer);
        if (*status == BERTH_OK) return berth_kept_put_answer(t->ctx, t->runtime, t->arena, key, answer);
        if (*status == BERTH_E_NOMEM || *status == BERTH_E_CANCELLED) return *status;
        return keep_failure(t, key, *status);
    }
    if (*status == BERTH_E_NOMEM || *status == BERTH_E_CANCELLED) return *status;
    /* Whoever stops us may have stopped the worker first. */
    if (berth_cancelled(t->ctx)) return berth_fail(t->ctx, BERTH_E_CANCELLED, "stopped while %s ran", job->runtime);
    return keep_failure(t, key, *status);
}

static berth_status run_one(trial *t, int32_t i) {
    const berth_trial_options *o = t->options;
    const berth_candidate *c = &t->candidates[i];
    berth_trial_result *r = &t->results[i];
    berth_job job = {.kind = BERTH_JOB_RUN,
                     .runtime = t->runtime->kind->name,
                     .library = t->runtime->library,
                     .devices = c->devices,
                     .model = c->model,
                     .folder = c->folder,
                     .assignment = c->assignment,
                     .optimisation = BERTH_OPTIMISE_ALL,
                     .threads = t->runtime->threads,
                     .native_precision = is_native(t, i),
                     .inputs = o->inputs,
                     .n_inputs = o->n_inputs,
                     .io = o->io,
                     .n_io = o->n_io,
                     .least_runs = o->least_runs,
                     .most_runs = o->most_runs,
                     .run_seconds = o->run_seconds};
    berth_answer answer;
    if (r->n_rounds == 0 && o->folder) {
        job.output_folder = output_folder(t, i);
        if (!job.output_folder)
            return berth_fail(t->ctx, BERTH_E_IO, "cannot make a folder in %.600s: %s", o->folder, strerror(errno));
    }
    const char *key = key_of(t, i);
    bool found = false;
    berth_status status = BERTH_OK;
    if (!key) return berth_fail_nomem(t->ctx);
    const char *outputs = o->check ? NULL : job.output_folder; /* what was kept has been checked */
    BERTH_TRY(berth_kept_get_answer(t->ctx, t->runtime, t->arena, key, outputs, &answer, &found));
    if (found) found = berth_answer_check(t->ctx, &job, &answer) == BERTH_OK;
    if (!found) BERTH_TRY(find_failure(t, key, &found, &status));
    if (!found) BERTH_TRY(make_run(t, &job, key, &answer, r, &status));
    r->n_recalled += found;
    if (status != BERTH_OK) return take_failure(t, i, status);
    take_answer(t, i, &answer);
    return berth_runtime_note_version(t->ctx, t->runtime, answer.version);
}

static void sum_up(trial *t, int32_t i) {
    berth_trial_result *r = &t->results[i];
    berth_latency *l = &r->latency;
    size_t rounds = (size_t)most_rounds(t), n = t->n_all[i], done = (size_t)r->n_rounds;
    r->round_ms = t->round_ms[i];
    l->runs = (int32_t)n;
    if (n == 0) return;
    l->median_ms = berth_stats_quantile(t->all_ms[i], n, 0.5);
    l->steady_ms = r->steady_ms;
    l->p95_ms = berth_stats_quantile(t->all_ms[i], n, 0.95);
    l->p99_ms = berth_stats_quantile(t->all_ms[i], n, 0.99);
    l->load_ms = berth_stats_quantile(t->load + (size_t)i * rounds, done, 0.5);
    l->first_ms = berth_stats_quantile(t->first + (size_t)i * rounds, done, 0.5);
    l->protocol_ms = 0;
    for (size_t k = 0; k < done; k++) l->protocol_ms += t->protocol[(size_t)i * rounds + k] / (double)done;
    /* Runs of one process share its luck: where there are enough processes the interval is over them. */
    double rounds_ms[1024];
    if (done >= 6 && done <= 1024) {
        memcpy(rounds_ms, t->round_ms[i], done * sizeof *rounds_ms);
        berth_stats_median_interval(rounds_ms, done, &l->low_ms, &l->high_ms);
    } else {
        berth_stats_median_interval(t->all_ms[i], n, &l->low_ms, &l->high_ms);
    }
}

/* A candidate needs no more processes, or there is no time for them. */
static bool is_settled(const berth_trial_result *result, double until) {
    return result->unrest <= agreement || berth_trial_clock() > until;
}

/* The first n in an order of their own. */
static void draw_order(trial *t, berth_rng *rng, int32_t n) {
    for (int32_t i = n - 1; i > 0; i--) {
        int32_t k = (int32_t)berth_rng_below(rng, (uint32_t)i + 1), kept = t->order[i];
        t->order[i] = t->order[k];
        t->order[k] = kept;
    }
}

static bool has_turn(const trial *t, int32_t round, int32_t which) {
    const berth_trial_options *o = t->options;
    const berth_trial_result *result = &t->results[which];
    bool is_spare = o->spare_from > 0 && which >= o->spare_from;
    if (result->status != BERTH_OK || (round > 0 && t->candidates[which].once)) return false;
    if (is_spare && berth_trial_clock() > o->until) return false;
    if (round == 0) return true;
    return round < o->rounds || !is_settled(result, o->until);
}

static void tell(const trial *t, int32_t which, int32_t done) {
    const berth_trial_options *o = t->options;
    int32_t of = t->n * o->rounds;
    if (o->progress) o->progress(o->progress_user, t->candidates[which].label, done, done > of ? done : of);
}

berth_status berth_trial_run(berth_ctx *ctx, berth_arena *arena, berth_runtime *runtime,
                             const berth_candidate *candidates, int32_t n, const berth_trial_options *options,
                             berth_trial_result *results) {
    trial t = {ctx, arena, runtime, candidates, n, options, results, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
    berth_rng rng;
    int32_t done = 0;
    BERTH_TRY(set_up(&t));
    berth_rng_init(&rng, options->seed, ORDER_STREAM);
    for (int32_t round = 0; round < most_rounds(&t); round++) {
        if (round > 0 && berth_trial_clock() > options->until) break;
        draw_order(&t, &rng, round == 0 && options->spare_from > 0 ? options->spare_from : n);
        for (int32_t i = 0; i < n; i++) {
            int32_t which = t.order[i];
            if (!has_turn(&t, round, which)) continue;
            BERTH_TRY(run_one(&t, which));
            tell(&t, which, ++done);
        }
    }
    for (int32_t i = 0; i < n; i++) sum_up(&t, i);
    return BERTH_OK;
}

/* --- outputs ---------------------------------------------------------------------------------------------------- */

static berth_type type_of_output(const berth_graph *graph, const char *name) {
    int32_t n = 0;
    const int32_t *outputs = berth_graph_outputs(graph, &n);
    for (int32_t i = 0; i < n; i++) {
        const berth_tensor *tensor = berth_graph_tensor(graph, outputs[i]);
        if (strcmp(tensor->name, name) == 0) return tensor->type;
    }
    return BERTH_TYPE_UNKNOWN;
}

typedef struct comparison {
    berth_ctx *ctx;
    berth_arena *arena;
    const berth_trial_result *reference;
    const berth_graph *graph;
} comparison;

/* Output i of a candidate, by the leeway. */
static berth_status compare_output(const comparison *c, const berth_trial_result *result, int32_t i,
                                   berth_leeway leeway, berth_difference *difference) {
    const char *name = c->reference->outputs[i].name;
    berth_npy a, b;
    berth_mark mark = berth_arena_mark(c->arena);
    berth_status status = berth_npy_read(c->ctx, c->arena, result->outputs[i].file, &a);
    if (status == BERTH_OK) status = berth_npy_read(c->ctx, c->arena, c->reference->outputs[i].file, &b);
    if (status == BERTH_OK)
        status = berth_compare(c->ctx, name, &a, &b, type_of_output(c->graph, name), leeway, difference);
    berth_arena_release(c->arena, mark);
    return status;
}

/* What a device that computes in the narrow type is off by when it is alone, and half as much again; if what it
 * computes has nothing to do with the reference, that says nothing. */
static berth_status find_slack(const comparison *c, const berth_trial_result *narrow, int32_t i, berth_leeway *leeway) {
    berth_difference own = berth_difference_none();
    if (!narrow || narrow == c->reference || narrow->n_outputs != c->reference->n_outputs) return BERTH_OK;
    berth_status status = compare_output(c, narrow, i, *leeway, &own);
    if (status != BERTH_OK) return status == BERTH_E_NOMEM ? status : BERTH_OK;
    if (own.cosine >= alike && isfinite(own.max_abs)) leeway->slack = (1 + half) * own.max_abs;
    return BERTH_OK;
}

berth_status berth_trial_compare(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph,
                                 const berth_trial_result *result, const berth_trial_result *reference,
                                 berth_type computed, const berth_trial_result *narrow, berth_difference *difference) {
    comparison c = {ctx, arena, reference, graph};
    *difference = berth_difference_none();
    if (result->n_outputs != reference->n_outputs)
        return berth_fail(ctx, BERTH_E_NUMERIC, "there are %" PRId32 " outputs, and %" PRId32 " on another device",
                          result->n_outputs, reference->n_outputs);
    for (int32_t i = 0; i < result->n_outputs; i++) {
        berth_leeway leeway = {.computed = computed};
        BERTH_TRY(find_slack(&c, narrow, i, &leeway));
        BERTH_TRY(compare_output(&c, result, i, leeway, difference));
    }
    return BERTH_OK;
}
