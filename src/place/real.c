/* SPDX-License-Identifier: Apache-2.0 */
/* The closed loop. What is searched on is the calibrated model or, if evaluations are to be measured, the machine; what
 * decides are fresh runs. */
#include "berth/real.h"

#include "base/arena.h"
#include "base/file.h"
#include "place/contest.h"
#include "place/tighten.h"
#include "plan/plan.h"
#include "runtime/runtime.h"
#include "runtime/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_CANDIDATES = BERTH_CONTEST_SPLITS, PATH_SIZE = 4096, QUICK_ROUNDS = 2, MOST_TIGHTENED = 4 };

typedef struct whole { /* what is handed out, with its memory */
    berth_real_plan real;
    berth_arena arena;
    berth_contest contest; /* if evaluations were measured */
} whole;

typedef struct loop {
    berth_ctx *ctx;
    berth_runtime *runtime;
    const berth_graph *graph;
    const char *model;
    const char *const *devices;
    int32_t n_devices;
    const berth_real_options *options;
    whole *out;
    double started;
    char scratch[PATH_SIZE]; /* a profile that nobody asked to keep; "" if none */
    berth_place_options place;
    berth_plan *plans[MOST_CANDIDATES];
    int32_t n_plans;
    bool *allowed; /* [n_devices] it may be the answer alone */
    /* the device whose memory did not suffice for a candidate, and which; -1: it did */
    int32_t short_of, short_plan;
    int32_t n_tightened; /* times that its capacity was made less */
    const char *tightened, *short_reason;
    double tightened_bytes;
    bool interrupted; /* the user has had enough of a search that was measured */
} loop;

berth_real_options berth_real_options_default(void) {
    berth_real_options options = {berth_place_options_default(),
                                  berth_profile_options_default(),
                                  .min_gain = 0.03,
                                  .candidates = 3,
                                  .least_runs = 3,
                                  .most_runs = 10,
                                  .run_seconds = 0.1};
    options.place.seconds = 120;
    return options;
}

static double left(const loop *l) {
    return l->options->place.seconds - (berth_trial_clock() - l->started);
}

/* --- profile ---------------------------------------------------------------------------------------------------- */

static berth_status write_profile(loop *l, const char *key, const char *path) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(l->ctx, &text));
    berth_profile_write(text, l->out->real.profile);
    berth_status status = berth_text_status(text);
    /* first into the store: where the file cannot be written it is not lost */
    if (status == BERTH_OK && l->runtime->store)
        status = berth_store_put(l->runtime->store, "profile", key, berth_text_string(text), berth_text_size(text));
    if (status == BERTH_OK) status = berth_file_judge(berth_text_write(l->ctx, text, path));
    berth_text_free(text);
    return status;
}

/* What a profile depends on. */
static const char *key_of(loop *l) {
    const berth_profile_options *o = &l->options->profile;
    berth_text *text = NULL;
    if (berth_text_new(l->ctx, &text) != BERTH_OK) return NULL;
    berth_text_printf(text, "profile 1\n%s\n%s\nprecision %d\nprocesses %d placements %d pieces %d\n",
                      l->runtime->identity, berth_graph_fingerprint(l->graph), o->run.native_precision,
                      (int)o->processes, (int)o->placements, o->pieces);
    for (int32_t d = 0; d < l->n_devices; d++) berth_text_printf(text, "%s\n", l->devices[d]);
    for (int32_t i = 0; i < o->run.n_io; i++)
        berth_text_printf(text, "%s on %s\n", o->run.io[i].pattern, o->run.io[i].device);
    for (int32_t i = 0; i < l->place.n_shapes; i++) {
        berth_text_printf(text, "%s", l->place.shapes[i].input);
        for (int32_t k = 0; k < l->place.shapes[i].rank; k++)
            berth_text_printf(text, " %lld", (long long)l->place.shapes[i].dims[k]);
        berth_text_printf(text, "\n");
    }
    const char *key = berth_text_status(text) == BERTH_OK
                          ? berth_arena_string(&l->out->arena, berth_text_string(text), berth_text_size(text))
                          : NULL;
    berth_text_free(text);
    return key;
}

/* The profile of the store as that file, if it has one and none is wanted anew. */
static berth_status recall_profile(loop *l, const char *key, const char *path, bool *found) {
    const char *bytes = NULL;
    size_t n = 0;
    *found = false;
    if (!l->runtime->store || l->runtime->refresh) return BERTH_OK;
    BERTH_TRY(berth_store_get(l->runtime->store, "profile", key, &l->out->arena, &bytes, &n));
    if (!bytes) return BERTH_OK;
    *found = true;
    return berth_file_judge(berth_file_write(l->ctx, path, bytes, n));
}

static berth_status take_profile(loop *l, const char *path) {
    berth_profile_options how = l->options->profile;
    const char *key = key_of(l);
    bool found = false;
    if (!key) return berth_fail_nomem(l->ctx);
    BERTH_TRY(recall_profile(l, key, path, &found));
    if (found) return BERTH_OK;
    how.run.seconds = fmin(how.run.seconds, 0.5 * fmax(left(l), 0));
    BERTH_TRY(berth_profile_take(l->ctx, &l->out->real.profile, l->runtime, l->graph, l->model, l->devices,
                                 l->n_devices, &how));
    return write_profile(l, key, path);
}

/* Plans number devices as the profile does, runs as the caller does. */
static berth_status check_devices(const loop *l, const char *path) {
    const berth_device_set *set = l->out->real.devices;
    bool same = set->n_devices == l->n_devices;
    for (int32_t d = 0; d < l->n_devices && same; d++) same = strcmp(set->devices[d].name, l->devices[d]) == 0;
    if (same) return BERTH_OK;
    return berth_fail(l->ctx, BERTH_E_ARG, "%.600s: this profile is of other devices than those that are to be used",
                      path);
}

/* From the file, if it is there; else from the store, or taken, and written to it. */
static berth_status find_profile(loop *l) {
    const char *path = l->options->place.profile;
    if (!path) {
        const char *folder = getenv("TMPDIR");
        snprintf(l->scratch, sizeof l->scratch, "%s/berth-profile-%d.json", folder && *folder ? folder : "/tmp",
                 (int)getpid());
        path = l->scratch;
    }
    if (path == l->scratch || access(path, F_OK) != 0) BERTH_TRY(take_profile(l, path));
    l->place.profile = path;
    BERTH_TRY(berth_device_set_read(l->ctx, &l->out->real.devices, path));
    return check_devices(l, path);
}

/* --- candidates ------------------------------------------------------------------------------------------------- */

static bool is_split(const berth_plan *plan) {
    for (int32_t i = 1; i < plan->n_ops; i++)
        if (plan->ops[i].device != plan->ops[0].device) return true;
    return false;
}

static bool is_same(const berth_plan *a, const berth_plan *b) {
    for (int32_t i = 0; i < a->n_ops; i++)
        if (a->ops[i].device != b->ops[i].device) return false;
    return true;
}

static double best_single(const berth_plan *plan) {
    double best = INFINITY;
    for (int32_t d = 0; d < plan->n_devices; d++) best = fmin(best, plan->single_ms[d]);
    return best;
}

/* Kept if it is a split that is predicted to gain, and not yet there. */
static void consider(loop *l, berth_plan *plan) {
    bool keep = l->n_plans < l->options->candidates && l->n_plans < MOST_CANDIDATES && is_split(plan) &&
                plan->makespan_ms < best_single(plan);
    for (int32_t i = 0; i < l->n_plans && keep; i++) keep = !is_same(plan, l->plans[i]);
    if (keep)
        l->plans[l->n_plans++] = plan;
    else
        berth_plan_free(plan);
}

/* The plan of a placement that was run. */
static berth_status take_ruling(loop *l, const berth_ruling *ruling, berth_plan **out) {
    berth_place_options how = l->place;
    int32_t n_ops = berth_graph_op_count(l->graph);
    int32_t *device = berth_arena_push(&l->out->arena, (size_t)n_ops, sizeof *device);
    if (!device) return berth_fail_nomem(l->ctx);
    for (int32_t i = 0; i < n_ops; i++) device[i] = (unsigned char)ruling->device[i];
    how.given = device;
    how.unbounded = true;
    BERTH_TRY(berth_place(l->ctx, out, l->graph, l->out->real.devices, &how));
    (*out)->found_by = ruling->by;
    return BERTH_OK;
}

/* Evaluations are runs: those that were fastest are the candidates. */
static berth_status search_measured(loop *l) {
    berth_contest *contest = &l->out->contest;
    berth_contest_job job = {.runtime = l->runtime,
                             .graph = l->graph,
                             .model = l->model,
                             .devices = l->devices,
                             .n_devices = l->n_devices,
                             .set = l->out->real.devices,
                             .place = &l->place,
                             .real = l->options};
    l->place.seconds = fmax(0.7 * left(l), 1);
    BERTH_TRY(berth_contest_run(l->ctx, contest, &job));
    l->interrupted = contest->plan->interrupted;
    for (int32_t i = 0; i < contest->n_splits && i < l->options->candidates && !l->interrupted; i++) {
        BERTH_TRY(take_ruling(l, contest->splits[i], &l->plans[i]));
        l->n_plans++;
    }
    return BERTH_OK;
}

/* The method that was asked for, then others that look at the problem in another way. */
static berth_status search(loop *l) {
    static const char *const others[] = {"cut", "heft", "local", NULL};
    berth_plan *plan = NULL;
    l->place.seconds = fmax(0.25 * left(l), 1);
    BERTH_TRY(berth_place(l->ctx, &plan, l->graph, l->out->real.devices, &l->place));
    consider(l, plan);
    for (int i = 0; others[i] && strcmp(l->place.method, "auto") == 0; i++) {
        berth_place_options how = l->place;
        how.method = others[i];
        how.seconds = fmin(1, how.seconds);
        how.unbounded = true;
        berth_status status = berth_place(l->ctx, &plan, l->graph, l->out->real.devices, &how);
        if (status == BERTH_OK)
            consider(l, plan);
        else if (status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED)
            return status;
    }
    return BERTH_OK;
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

static berth_status measure(loop *l, const berth_plan *plan, int32_t rounds, berth_measured **out) {
    berth_run_options how = l->options->profile.run;
    berth_placement *placement = NULL;
    how.rounds = rounds;
    how.seed += (uint64_t)rounds;         /* fresh orders */
    how.seconds = fmax(0.8 * left(l), 1); /* the last round and the look at places come on top */
    BERTH_TRY(berth_placement_new(l->ctx, &placement, plan->n_ops, false));
    for (int32_t i = 0; i < plan->n_ops; i++) placement->device[i] = plan->ops[i].device;
    berth_status status =
        berth_measure(l->ctx, out, l->runtime, l->graph, l->model, l->devices, l->n_devices, placement, &how);
    berth_placement_free(placement);
    return status;
}

/* It ran to the end and computes what the model says. */
static bool is_sound(const berth_measured *m) {
    return m->plan.latency.runs > 0 && !*m->plan.reason && m->outputs.equal;
}

/* Written down, if it was memory that failed. */
static void note_shortage(loop *l, int32_t plan, const berth_measured *m) {
    for (int32_t d = 0; d < l->n_devices && m->plan.out_of_memory && l->short_of < 0; d++)
        if (strcmp(l->devices[d], m->plan.out_of_memory) == 0) {
            l->short_of = d;
            l->short_plan = plan;
            l->short_reason = berth_arena_string(&l->out->arena, m->plan.reason, strlen(m->plan.reason));
        }
}

/* The one that is fastest in a few runs, sound ones before others; -1: there is none. */
static berth_status choose_candidate(loop *l, int32_t *best) {
    double fastest = INFINITY;
    bool sound = false;
    *best = l->n_plans > 0 ? 0 : -1;
    for (int32_t i = 0; i < l->n_plans && l->n_plans > 1; i++) {
        berth_measured *measured = NULL;
        double before = berth_trial_clock();
        BERTH_TRY(measure(l, l->plans[i], QUICK_ROUNDS, &measured));
        double ms = measured->plan.latency.runs > 0 ? measured->plan.latency.median_ms : INFINITY;
        if (is_sound(measured) > sound || (is_sound(measured) == sound && ms < fastest)) {
            sound = is_sound(measured);
            fastest = ms;
            *best = i;
        }
        note_shortage(l, i, measured);
        berth_measured_free(measured);
        /* What is left is for the runs that decide, which take longer. */
        if (left(l) < 2 * (berth_trial_clock() - before)) break;
    }
    return BERTH_OK;
}

/* A device that the user keeps an operation from, which it could run, is no answer: not even a stock session on it. */
static berth_status find_allowed(loop *l) {
    berth_costs *with = NULL, *without = NULL;
    berth_cost_options how = berth_cost_options_default();
    l->allowed = berth_arena_push(&l->out->arena, (size_t)l->n_devices, sizeof *l->allowed);
    if (!l->allowed) return berth_fail_nomem(l->ctx);
    how.profile = l->place.profile;
    BERTH_TRY(berth_costs_new(l->ctx, &without, l->graph, l->out->real.devices, &how));
    how.limits = l->place.limits;
    berth_status status = berth_costs_new(l->ctx, &with, l->graph, l->out->real.devices, &how);
    for (int32_t d = 0; d < l->n_devices && status == BERTH_OK; d++) {
        l->allowed[d] = true;
        for (int32_t i = 0; i < berth_graph_op_count(l->graph); i++)
            if (isinf(berth_costs_op_ms(with, i, d)) && !isinf(berth_costs_op_ms(without, i, d))) l->allowed[d] = false;
    }
    berth_costs_free(with);
    berth_costs_free(without);
    return status;
}

/* The fastest single device that is allowed, and what the split surely gains over it; -1: there is none. */
static int32_t best_allowed(const loop *l, const berth_measured *m, double *gain_low) {
    int32_t best = -1;
    *gain_low = m->gain_low;
    if (m->best >= 0 && l->allowed[m->best]) return m->best;
    for (int32_t d = 0; d < m->n_singles; d++) {
        bool runs = m->singles[d].latency.runs > 0 && !*m->singles[d].reason;
        if (!runs || !l->allowed[d]) continue;
        if (best < 0 || m->singles[d].latency.median_ms < m->singles[best].latency.median_ms) best = d;
    }
    if (best >= 0) *gain_low = 1 - m->plan.latency.high_ms / m->singles[best].latency.low_ms;
    return best;
}

/* Everything that can be on that device. */
static berth_status take_single(loop *l, int32_t d) {
    berth_costs *costs = NULL;
    berth_cost_options how = berth_cost_options_default();
    int32_t n_ops = berth_graph_op_count(l->graph);
    int32_t *device = berth_arena_push(&l->out->arena, (size_t)n_ops, sizeof *device);
    if (!device) return berth_fail_nomem(l->ctx);
    how.profile = l->place.profile;
    how.limits = l->place.limits;
    BERTH_TRY(berth_costs_new(l->ctx, &costs, l->graph, l->out->real.devices, &how));
    for (int32_t i = 0; i < n_ops; i++) device[i] = berth_costs_op_ms(costs, i, d) < INFINITY ? d : 0;
    berth_costs_free(costs);
    berth_place_options place = l->place;
    place.limits = l->options->place.limits; /* one device has what it has */
    place.given = device;
    place.unbounded = true;
    return berth_place(l->ctx, &l->out->real.plan, l->graph, l->out->real.devices, &place);
}

static berth_status say(loop *l, const char *verdict) {
    if (verdict && l->n_tightened > 0)
        verdict = berth_arena_printf(&l->out->arena,
                                     "%s; memory of %s was tightened to %.4g MB after %d runs such as: %.300s", verdict,
                                     l->tightened, l->tightened_bytes / 1e6, (int)l->n_tightened, l->short_reason);
    l->out->real.verdict = verdict;
    return verdict ? BERTH_OK : berth_fail_nomem(l->ctx);
}

static int32_t predicted_single(const loop *l, berth_plan **plan) {
    int32_t best = 0;
    berth_place_options how = l->place;
    how.method = "single";
    how.unbounded = true;
    if (berth_place(l->ctx, plan, l->graph, l->out->real.devices, &how) != BERTH_OK) return 0;
    for (int32_t d = 1; d < (*plan)->n_devices; d++)
        if ((*plan)->single_ms[d] < (*plan)->single_ms[best]) best = d;
    return best;
}

/* The fastest device by the runs of the profile, which are stock sessions; by prediction, if it came from a file. */
static int32_t fastest_single(const loop *l) {
    const berth_profile *profile = l->out->real.profile;
    berth_plan *plan = NULL;
    int32_t best = 0;
    if (l->out->contest.single) return l->out->contest.single->single;
    if (!profile) {
        best = predicted_single(l, &plan);
        berth_plan_free(plan);
        return best;
    }
    for (int32_t d = 1; d < l->n_devices; d++) {
        bool faster = profile->runs[d].measured_ms < profile->runs[best].measured_ms;
        if (l->allowed[d] > l->allowed[best] || (l->allowed[d] == l->allowed[best] && faster)) best = d;
    }
    return best;
}

/* No split is worth being run again. */
static berth_status settle_for_single(loop *l) {
    const berth_plan_runs *runs = &l->out->contest.referee.tally;
    berth_arena *arena = &l->out->arena;
    int32_t d = fastest_single(l);
    const char *name = l->devices[d];
    BERTH_TRY(take_single(l, d));
    if (!l->options->measured)
        return say(l, berth_arena_printf(arena, "no split is predicted to be faster than %s alone", name));
    if (l->interrupted)
        return say(l,
                   berth_arena_printf(arena, "interrupted before fresh runs could confirm a split, so %s alone", name));
    if (runs->failed > 0 && runs->failed + l->n_devices >= runs->placements)
        return say(l, berth_arena_printf(arena, "no split could be run, so %s alone: %.400s", name,
                                         berth_referee_reason(&l->out->contest.referee)));
    return say(l, berth_arena_printf(arena, "none of %lld placements that were run is faster than %s alone",
                                     (long long)runs->placements, name));
}

/* What the search was goes with the answer, which may be another placement than the one it ended with. */
static void tell_search(loop *l) {
    const berth_plan *searched = l->out->contest.plan;
    berth_plan *plan = l->out->real.plan;
    if (!searched) return;
    if (strcmp(plan->found_by, "given") == 0) plan->found_by = "single";
    if (strcmp(plan->found_by, searched->found_by) == 0)
        plan->source = searched->source;
    else if (strcmp(plan->found_by, "single") != 0 && searched->n_settings > 0)
        plan->source = "sample";
    plan->n_settings = searched->n_settings;
    plan->settings = searched->settings;
    plan->policy_sha256 = searched->policy_sha256;
    plan->lower_bound_ms = searched->lower_bound_ms;
    plan->gap = searched->gap;
    plan->interrupted = l->interrupted;
    plan->evaluations = searched->evaluations;
    plan->seconds = searched->seconds;
    plan->n_methods = searched->n_methods;
    plan->methods = searched->methods;
    plan->runs = &l->out->contest.referee.tally;
}

static berth_status decide(loop *l, int32_t best) {
    berth_real_plan *real = &l->out->real;
    const berth_measured *m = real->measured;
    berth_arena *arena = &l->out->arena;
    if (best < 0) return settle_for_single(l);
    double gain_low = NAN;
    int32_t single = best_allowed(l, m, &gain_low);
    if (is_sound(m) && (single < 0 || gain_low > l->options->min_gain)) {
        real->plan = l->plans[best];
        l->plans[best] = NULL;
        real->is_split = true;
        if (single < 0) return say(l, m->best < 0 ? "no device runs it alone" : "no device may run it alone");
        return say(l, berth_arena_printf(arena, "with 95 %% confidence the split is at least %.1f %% faster than %s",
                                         100 * gain_low, m->singles[single].name));
    }
    int32_t d = single < 0 ? fastest_single(l) : single;
    double gain = d == m->best ? m->gain : 1 - m->plan.latency.median_ms / m->singles[d].latency.median_ms;
    BERTH_TRY(take_single(l, d));
    if (m->plan.latency.runs == 0 || *m->plan.reason)
        return say(l, berth_arena_printf(arena, "the best split does not run: %.400s", m->plan.reason));
    if (!m->outputs.equal)
        return say(l, berth_arena_printf(arena, "the outputs of the best split differ, so %s alone", l->devices[d]));
    return say(l, berth_arena_printf(arena,
                                     "no split surely gains %.1f %% over %s alone: the best one gains %.1f %%, with 95 "
                                     "%% confidence at least %.1f %%",
                                     100 * l->options->min_gain, l->devices[d], 100 * gain, 100 * gain_low));
}

/* Fresh runs of the best candidate; -1: there is none. */
static berth_status confirm(loop *l, int32_t *best) {
    BERTH_TRY(choose_candidate(l, best));
    if (*best < 0) return BERTH_OK;
    l->out->real.predicted_ms = l->plans[*best]->makespan_ms;
    BERTH_TRY(measure(l, l->plans[*best], berth_run_options_default().rounds, &l->out->real.measured));
    note_shortage(l, *best, l->out->real.measured);
    return BERTH_OK;
}

/* A candidate ran out of memory: with less of it in the model the search finds others. */
static berth_status tighten(loop *l) {
    berth_limits *limits = berth_arena_push(&l->out->arena, 1, sizeof *limits);
    if (!limits || !l->short_reason) return berth_fail_nomem(l->ctx);
    l->tightened = l->devices[l->short_of];
    BERTH_TRY(berth_tighten(l->ctx, &l->out->arena, l->plans[l->short_plan], l->graph, l->short_of, l->tightened,
                            l->place.limits, limits, &l->tightened_bytes));
    l->place.limits = limits;
    l->n_tightened++;
    berth_log(l->ctx, BERTH_LOG_WARNING, "a placement ran out of memory on %s: searching again with %.4g MB there",
              l->tightened, l->tightened_bytes / 1e6);
    for (int32_t i = 0; i < l->n_plans; i++) berth_plan_free(l->plans[i]);
    berth_measured_free(l->out->real.measured);
    l->out->real.measured = NULL;
    l->n_plans = 0;
    return BERTH_OK;
}

/* Search and fresh runs, and again if memory did not suffice, as often as there is time for; -1: there is no split. */
static berth_status find_split(loop *l, int32_t *best) {
    for (;;) {
        *best = l->short_of = -1;
        berth_status status = l->options->measured ? search_measured(l) : search(l);
        if (status == BERTH_E_INFEASIBLE && l->n_tightened > 0) return BERTH_OK;
        BERTH_TRY(status);
        BERTH_TRY(confirm(l, best));
        /* where evaluations are runs, what did not fit had no time to be found best by */
        if (l->short_of < 0 || l->n_tightened == MOST_TIGHTENED || l->options->measured || !(left(l) > 0))
            return BERTH_OK;
        BERTH_TRY(tighten(l));
    }
}

static berth_status run(loop *l) {
    int32_t best = -1;
    BERTH_TRY(find_profile(l));
    BERTH_TRY(find_allowed(l));
    berth_status status = find_split(l, &best);
    if (status == BERTH_E_CANCELLED && l->options->measured) { /* single devices were measured, and stay so */
        l->interrupted = true;
        best = -1;
        status = BERTH_OK;
    }
    BERTH_TRY(status);
    BERTH_TRY(decide(l, best));
    l->out->real.plan->measured = l->out->real.measured;
    l->out->real.plan->graph = l->graph;
    l->out->real.plan->verdict = l->out->real.verdict;
    tell_search(l);
    return BERTH_OK;
}

berth_status berth_place_real(berth_ctx *ctx, berth_real_plan **out, berth_runtime *runtime, const berth_graph *graph,
                              const char *model, const char *const *devices, int32_t n_devices,
                              const berth_real_options *options) {
    *out = NULL;
    whole *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    loop l = {.ctx = ctx,
              .runtime = runtime,
              .graph = graph,
              .model = model,
              .devices = devices,
              .n_devices = n_devices,
              .options = options,
              .out = made,
              .started = berth_trial_clock(),
              .place = options->place};
    berth_status status = run(&l);
    for (int32_t i = 0; i < l.n_plans; i++) berth_plan_free(l.plans[i]);
    if (*l.scratch) unlink(l.scratch);
    if (status == BERTH_OK)
        *out = &made->real;
    else
        berth_real_plan_free(&made->real);
    return status;
}

void berth_real_plan_free(berth_real_plan *real) {
    if (!real) return;
    whole *made = (whole *)real;
    berth_allocator allocator = made->arena.allocator;
    berth_plan_free(real->plan);
    berth_profile_free(real->profile);
    berth_measured_free(real->measured);
    berth_contest_free(&made->contest);
    berth_device_set_free(real->devices);
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
