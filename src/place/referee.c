/* SPDX-License-Identifier: Apache-2.0 */
/* Real runs as evaluations.
 *
 * One evaluation is one process: load, warm up, a few runs, their median. Processes come one after another, whatever
 * the threads of the search, so that none disturbs another and the order is the search's alone. Times are noisy, and
 * the best of many is flattered: whoever asks must run what he chooses again.
 *
 * A process may take as long as the slowest single device took, many times over, and a while more; one that takes
 * longer hangs, as far as anybody waiting can tell. If many splits have failed and none has run, splits do not work
 * here; if very many fail one after another, they no longer do. Every further one would only take time. */
#include "place/referee.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    EVALUATION_SEED = 1 << 20, /* apart from the seeds of other runs, so that none is taken for another */
    MOST_AT_FIRST = 20,        /* splits that fail before one runs, ... */
    MOST_IN_VAIN = 100,        /* ... and one after another at any time */
    MOST_TOLD = 3,             /* of which so many are warned about; the others are counted */
    TIMES_LONGER = 20,         /* than the slowest single device, at most, ... */
    SECONDS_MORE = 30,         /* ... and so many seconds */
};

berth_status berth_referee_init(berth_referee *referee, berth_ctx *ctx, const berth_subject *subject,
                                const berth_run_options *run) {
    berth_referee *r = referee;
    *r = (berth_referee){.ctx = ctx, .subject = *subject, .n_ops = berth_graph_op_count(subject->graph)};
    berth_arena_init(&r->arena, berth_ctx_allocator(ctx));
    berth_arena_init(&r->once, berth_ctx_allocator(ctx));
    berth_map_init(&r->known, ctx);
    r->key = berth_arena_push(&r->arena, (size_t)r->n_ops + 1, 1);
    r->has_run = berth_arena_push(&r->arena, (size_t)subject->n_devices, sizeof *r->has_run);
    r->alone = berth_arena_push(&r->arena, (size_t)subject->n_devices, sizeof *r->alone);
    if (r->arena.failed) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_run_model_init(&r->model, ctx, subject->runtime, subject->graph, subject->model, run));
    r->how = (berth_trial_options){.inputs = r->model.inputs,
                                   .n_inputs = r->model.n_inputs,
                                   .io = r->model.io,
                                   .n_io = r->model.n_io,
                                   .native_precision = run->native_precision,
                                   .rounds = 1,
                                   .least_runs = run->least_runs,
                                   .most_runs = run->most_runs,
                                   .run_seconds = run->run_seconds,
                                   .until = INFINITY,
                                   .seed = run->seed + EVALUATION_SEED,
                                   .keeps_failures = true};
    return BERTH_OK;
}

void berth_referee_deinit(berth_referee *referee) {
    if (!referee->ctx) return;
    if (referee->model.ctx) berth_run_model_deinit(&referee->model);
    berth_vec_free(berth_ctx_allocator(referee->ctx), &referee->rulings);
    berth_map_deinit(&referee->known);
    berth_arena_deinit(&referee->once);
    berth_arena_deinit(&referee->arena);
}

static void write_key(berth_referee *r, const int32_t *device) {
    for (int32_t i = 0; i < r->n_ops; i++) r->key[i] = (char)device[i];
}

static const char *keep_key(berth_referee *r) {
    return berth_arena_string(&r->arena, r->key, (size_t)r->n_ops);
}

static berth_status make_candidate(berth_referee *r, const int32_t *device, int32_t single, berth_candidate *out) {
    const berth_subject *s = &r->subject;
    if (single >= 0) return berth_run_model_single(&r->model, s->devices[single], out);
    return berth_run_model_place(&r->model, s->devices, s->n_devices, device, "placement", out);
}

/* --- outputs ---------------------------------------------------------------------------------------------------- */

static berth_status check_outputs(void *referee, const berth_answer *answer) {
    berth_referee *r = referee;
    berth_trial_result own = {.n_outputs = answer->n_outputs, .outputs = answer->outputs};
    berth_difference difference;
    const berth_ruling *fastest = berth_referee_best_single(r, NULL);
    int32_t with = berth_measure_reference(&r->subject, r->has_run, fastest ? fastest->single : -1), narrow = -1;
    berth_type computed = berth_measure_precision(&r->subject, r->has_run, &narrow);
    if (with < 0) return BERTH_OK;
    BERTH_TRY(berth_trial_compare(r->ctx, &r->once, r->subject.graph, &own, &r->alone[with], computed,
                                  narrow < 0 ? NULL : &r->alone[narrow], &difference));
    if (difference.equal) return BERTH_OK;
    return berth_fail(r->ctx, BERTH_E_NUMERIC,
                      "it computes other numbers than %.80s alone: largest difference %.3g, cosine %.6f",
                      r->subject.devices[with], difference.max_abs, difference.cosine);
}

/* Where outputs go, and what is done with them: those of single devices stay. */
static berth_status set_outputs(berth_referee *r, int32_t single) {
    r->how.folder = r->model.scratch;
    r->how.check = single < 0 ? check_outputs : NULL;
    r->how.check_user = r;
    if (single < 0) return BERTH_OK;
    const char *folder = berth_arena_printf(&r->arena, "%s/alone%" PRId32, r->model.scratch, single);
    if (!folder) return berth_fail_nomem(r->ctx);
    if (mkdir(folder, 0700) != 0 && errno != EEXIST)
        return berth_fail(r->ctx, BERTH_E_IO, "cannot make the folder %.600s: %s", folder, strerror(errno));
    r->how.folder = folder;
    return BERTH_OK;
}

static berth_status keep_outputs(berth_referee *r, int32_t single, const berth_trial_result *result) {
    berth_job_file *files = berth_arena_push(&r->arena, (size_t)result->n_outputs, sizeof *files);
    for (int32_t i = 0; i < result->n_outputs && files; i++) {
        const berth_job_file *from = &result->outputs[i];
        files[i].name = berth_arena_string(&r->arena, from->name, strlen(from->name));
        files[i].file = berth_arena_string(&r->arena, from->file, strlen(from->file));
    }
    if (r->arena.failed) return berth_fail_nomem(r->ctx);
    r->alone[single] = (berth_trial_result){.n_outputs = result->n_outputs, .outputs = files};
    r->has_run[single] = result->n_rounds > 0;
    return BERTH_OK;
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* One process. Files and memory are those of this call alone: there may be thousands of them. */
static berth_status make_run(berth_referee *r, const int32_t *device, int32_t single, berth_trial_result *result) {
    berth_mark mark = berth_arena_mark(&r->model.arena);
    berth_runtime *runtime = r->subject.runtime;
    double limit = runtime->worker.seconds;
    berth_candidate candidate = {0};
    berth_arena_empty(&r->once);
    BERTH_TRY(set_outputs(r, single));
    berth_status status = make_candidate(r, device, single, &candidate);
    if (single < 0 && r->longest_seconds > 0)
        runtime->worker.seconds = fmin(limit, TIMES_LONGER * r->longest_seconds + SECONDS_MORE);
    double before = berth_trial_clock();
    if (status == BERTH_OK) status = berth_trial_run(r->ctx, &r->once, runtime, &candidate, 1, &r->how, result);
    runtime->worker.seconds = limit;
    if (status == BERTH_OK && single >= 0) status = keep_outputs(r, single, result);
    if (status == BERTH_OK && single >= 0 && result->n_recalled == 0)
        r->longest_seconds = fmax(r->longest_seconds, berth_trial_clock() - before);
    if (candidate.model && candidate.model != r->model.path) unlink(candidate.model);
    if (candidate.assignment && *candidate.assignment == '/') unlink(candidate.assignment); /* a file, for some */
    berth_arena_release(&r->model.arena, mark);
    return status;
}

/* Counted, and written down under its key. */
static berth_status take_result(berth_referee *r, int32_t single, const char *by, const berth_trial_result *result) {
    bool failed = result->status != BERTH_OK || result->latency.runs == 0;
    berth_ruling ruling = {.device = keep_key(r),
                           .by = by,
                           .ms = failed ? INFINITY : result->latency.median_ms,
                           .reason = berth_arena_string(&r->arena, result->reason, strlen(result->reason)),
                           .single = single};
    r->tally.placements++;
    r->tally.failed += failed;
    *(result->n_recalled > 0 ? &r->tally.stored : &r->tally.made) += 1;
    if (single < 0) r->n_in_vain = failed ? r->n_in_vain + 1 : 0;
    r->split_ran |= single < 0 && !failed;
    if (r->arena.failed || !berth_vec_push(berth_ctx_allocator(r->ctx), &r->rulings, ruling) ||
        !berth_map_insert(&r->known, ruling.device, (size_t)r->n_ops, (int32_t)r->rulings.n - 1, NULL))
        return berth_fail_nomem(r->ctx);
    if (failed)
        berth_log(r->ctx, r->tally.failed <= MOST_TOLD ? BERTH_LOG_WARNING : BERTH_LOG_INFO,
                  "%s could not be run and is left out: %s", single < 0 ? "a placement" : r->subject.devices[single],
                  ruling.reason);
    return BERTH_OK;
}

/* The ruling on a placement; it is run if there is none yet. */
static berth_status rule(berth_referee *r, const int32_t *device, int32_t single, const char *by, berth_ruling **out) {
    berth_trial_result result = {0};
    write_key(r, device);
    const int32_t *at = berth_map_find(&r->known, r->key, (size_t)r->n_ops);
    if (!at) {
        BERTH_TRY(make_run(r, device, single, &result));
        BERTH_TRY(take_result(r, single, by, &result));
    }
    *out = &r->rulings.items[at ? (size_t)*at : r->rulings.n - 1];
    return BERTH_OK;
}

berth_status berth_referee_run_single(berth_referee *referee, int32_t d, const int32_t *device) {
    berth_ruling *ruling = NULL;
    return rule(referee, device, d, "single", &ruling);
}

berth_status berth_referee_run(void *referee, const int32_t *device, const char *by, double *ms, bool *known) {
    berth_referee *r = referee;
    berth_ruling *ruling = NULL;
    *ms = INFINITY;
    *known = false;
    BERTH_TRY(rule(r, device, -1, by, &ruling));
    *ms = ruling->ms;
    *known = ruling->asked;
    ruling->asked = true;
    r->tally.repeated += *known;
    if (r->n_in_vain < (r->split_ran ? MOST_IN_VAIN : MOST_AT_FIRST)) return BERTH_OK;
    return berth_fail(r->ctx, BERTH_E_LIMIT, "%d placements could not be run, one after another: %.600s",
                      (int)r->n_in_vain, berth_referee_reason(r));
}

/* --- what came of it -------------------------------------------------------------------------------------------- */

const berth_ruling *berth_referee_best_single(const berth_referee *referee, const bool *allowed) {
    const berth_ruling *best = NULL;
    for (size_t i = 0; i < referee->rulings.n; i++) {
        const berth_ruling *ruling = &referee->rulings.items[i];
        if (ruling->single < 0 || (allowed && !allowed[ruling->single])) continue;
        if (ruling->ms < (best ? best->ms : INFINITY)) best = ruling;
    }
    return best;
}

int32_t berth_referee_best_splits(const berth_referee *referee, const berth_ruling *single, const berth_ruling **out,
                                  int32_t most) {
    int32_t n = 0;
    for (size_t i = 0; i < referee->rulings.n; i++) {
        const berth_ruling *ruling = &referee->rulings.items[i];
        if (ruling->single >= 0 || !(ruling->ms < (single ? single->ms : INFINITY))) continue;
        int32_t at = n < most ? n++ : most;
        for (; at > 0 && ruling->ms < out[at - 1]->ms; at--)
            if (at < most) out[at] = out[at - 1];
        if (at < most) out[at] = ruling;
    }
    return n;
}

const char *berth_referee_reason(const berth_referee *referee) {
    for (size_t i = referee->rulings.n; i-- > 0;)
        if (!(referee->rulings.items[i].ms < INFINITY)) return referee->rulings.items[i].reason;
    return NULL;
}
