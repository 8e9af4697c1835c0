/* SPDX-License-Identifier: Apache-2.0 */
/* A placement against every single device, and whether it did what it says. */
#include "runtime/measure.h"

#include "runtime/kind.h"
#include "runtime/places.h"
#include "runtime/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct whole { /* what is handed out, with its memory */
    berth_measured measured;
    berth_arena arena;
} whole;

typedef struct measurement {
    berth_ctx *ctx;
    const berth_subject *subject;
    const berth_placement *const *placements;
    int32_t n; /* of them */
    const berth_run_options *options;
    const bool *rivals; /* [n_devices] or NULL */
    bool look;
    berth_run_model model;
    /* The first placement, then each device, again in full precision if that is another, then other placements. */
    berth_candidate *candidates;
    berth_trial_result *results;
    bool *has_run; /* [n_devices] */
} measurement;

berth_run_options berth_run_options_default(void) {
    return (berth_run_options){.rounds = 7, .least_runs = 5, .most_runs = 50, .run_seconds = 0.5, .seconds = INFINITY};
}

static void *keep(whole *out, const void *bytes, size_t n) {
    return berth_arena_copy(&out->arena, bytes, n, 1);
}

/* --- times ------------------------------------------------------------------------------------------------------ */

/* Where the runs of single devices begin, and those of a placement are. */
enum { FIRST_SINGLE = 1 };

static int32_t n_singles(const measurement *m) {
    return m->subject->n_devices * (m->options->native_precision ? 2 : 1);
}

static int32_t index_of(const measurement *m, int32_t placement) {
    return placement == 0 ? 0 : n_singles(m) + placement;
}

static berth_status make_candidates(measurement *m) {
    const berth_subject *s = m->subject;
    int32_t n_devices = s->n_devices;
    for (int32_t i = 0; i < m->n; i++)
        BERTH_TRY(berth_run_model_place(&m->model, s->devices, n_devices, m->placements[i]->device, "plan",
                                        &m->candidates[index_of(m, i)]));
    for (int32_t d = 0; d < n_devices; d++) {
        BERTH_TRY(berth_run_model_single(&m->model, s->devices[d], &m->candidates[FIRST_SINGLE + d]));
        m->candidates[FIRST_SINGLE + d].once = m->rivals && !m->rivals[d];
    }
    for (int32_t i = FIRST_SINGLE + n_devices; i <= n_singles(m); i++) {
        m->candidates[i] = m->candidates[i - n_devices];
        m->candidates[i].full_precision = true;
    }
    return BERTH_OK;
}

static berth_status run_all(measurement *m) {
    const berth_run_options *o = m->options;
    int32_t n = m->n + n_singles(m);
    berth_trial_options how = {.inputs = m->model.inputs,
                               .n_inputs = m->model.n_inputs,
                               .io = m->model.io,
                               .n_io = m->model.n_io,
                               .native_precision = o->native_precision,
                               .rounds = o->rounds > 0 ? o->rounds : 1,
                               .least_runs = o->least_runs,
                               .most_runs = o->most_runs,
                               .run_seconds = o->run_seconds,
                               .until = berth_trial_clock() + o->seconds,
                               .spare_from = 1 + n_singles(m),
                               .seed = o->seed,
                               .folder = m->model.scratch,
                               .progress = o->progress,
                               .progress_user = o->progress_user};
    m->candidates = berth_arena_push(&m->model.arena, (size_t)n, sizeof *m->candidates);
    m->results = berth_arena_push(&m->model.arena, (size_t)n, sizeof *m->results);
    m->has_run = berth_arena_push(&m->model.arena, (size_t)m->subject->n_devices, sizeof *m->has_run);
    if (m->model.arena.failed) return berth_fail_nomem(m->ctx);
    BERTH_TRY(make_candidates(m));
    BERTH_TRY(berth_trial_run(m->ctx, &m->model.arena, m->subject->runtime, m->candidates, n, &how, m->results));
    for (int32_t d = 0; d < m->subject->n_devices; d++) m->has_run[d] = m->results[FIRST_SINGLE + d].n_rounds > 0;
    return BERTH_OK;
}

/* Of the devices that the candidate uses besides the host: the one that the library names, else the first. */
static const char *find_short(const measurement *m, int32_t i) {
    const berth_trial_result *r = &m->results[i];
    const char *host = m->subject->devices[0], *found = host;
    for (int32_t k = 0; r->shortage == BERTH_SHORT_OF_DEVICE && m->candidates[i].devices[k]; k++) {
        const char *device = m->candidates[i].devices[k];
        char name[64];
        if (strcmp(device, host) == 0) continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(device, ":"), device);
        if (strstr(r->reason, name)) return device;
        if (found == host) found = device;
    }
    return found;
}

static berth_status take_run(const measurement *m, whole *out, int32_t i, berth_measured_run *to) {
    const berth_trial_result *r = &m->results[i];
    to->name = keep(out, m->candidates[i].label, strlen(m->candidates[i].label) + 1);
    to->reason = keep(out, r->reason, strlen(r->reason) + 1);
    to->latency = r->latency;
    to->gain = to->gain_low = NAN;
    if (r->shortage != BERTH_SHORT_OF_NOTHING) {
        const char *device = find_short(m, i);
        to->out_of_memory = keep(out, device, strlen(device) + 1);
    }
    return out->arena.failed ? berth_fail_nomem(m->ctx) : BERTH_OK;
}

static berth_status take_full(const measurement *m, whole *out) {
    int32_t n = m->subject->n_devices;
    if (!m->options->native_precision) return BERTH_OK;
    berth_measured_run *full = berth_arena_push(&out->arena, (size_t)n, sizeof *full);
    if (!full) return berth_fail_nomem(m->ctx);
    for (int32_t d = 0; d < n; d++) BERTH_TRY(take_run(m, out, FIRST_SINGLE + n + d, &full[d]));
    out->measured.full = full;
    return BERTH_OK;
}

/* What the plan gains over a device, as far as they have rounds in common. */
static void take_gain(const berth_trial_result *plan, const berth_trial_result *single, berth_measured_run *to) {
    int32_t n = plan->n_rounds < single->n_rounds ? plan->n_rounds : single->n_rounds;
    if (n > 0) berth_stats_paired_gain(single->round_ms, plan->round_ms, (size_t)n, &to->gain, &to->gain_low);
}

static berth_status sum_up(const measurement *m, int32_t placement, whole *to) {
    berth_measured *out = &to->measured;
    int32_t n_devices = m->subject->n_devices;
    const berth_trial_result *plan = &m->results[index_of(m, placement)];
    berth_measured_run *singles = berth_arena_push(&to->arena, (size_t)n_devices, sizeof *singles);
    if (!singles) return berth_fail_nomem(m->ctx);
    BERTH_TRY(take_run(m, to, index_of(m, placement), &out->plan));
    out->singles = singles;
    out->n_singles = n_devices;
    out->best = -1;
    for (int32_t d = 0; d < n_devices; d++) {
        const berth_trial_result *single = &m->results[FIRST_SINGLE + d];
        BERTH_TRY(take_run(m, to, FIRST_SINGLE + d, &singles[d]));
        if (single->status != BERTH_OK || singles[d].latency.runs == 0) continue;
        take_gain(plan, single, &singles[d]);
        if (out->best < 0 || singles[d].latency.median_ms < singles[out->best].latency.median_ms) out->best = d;
    }
    BERTH_TRY(take_full(m, to));
    const berth_runtime *runtime = m->subject->runtime;
    out->runtime = keep(to, runtime->kind->name, strlen(runtime->kind->name) + 1);
    out->runtime_version = keep(to, runtime->version, strlen(runtime->version) + 1);
    if (to->arena.failed) return berth_fail_nomem(m->ctx);
    out->gain = out->best < 0 ? NAN : singles[out->best].gain;
    out->gain_low = out->best < 0 ? NAN : singles[out->best].gain_low;
    out->n_made_files = m->model.n_made_files;
    return BERTH_OK;
}

/* --- outputs ---------------------------------------------------------------------------------------------------- */

/* What a device computes in: what it was told, else what it may choose. */
static berth_type precision_of(const berth_subject *subject, int32_t d) {
    const berth_runtime_kind *kind = subject->runtime->kind;
    berth_type type = kind->precision(subject->devices[d]);
    return type == BERTH_TYPE_UNKNOWN && subject->native_precision ? kind->native : type;
}

static bool is_narrow(const berth_subject *subject, int32_t d) {
    berth_type type = precision_of(subject, d);
    return type == BERTH_TYPE_BF16 || type == BERTH_TYPE_F16;
}

int32_t berth_measure_reference(const berth_subject *subject, const bool *has_run, int32_t fastest) {
    int32_t reference = fastest, rank = 0;
    for (int32_t d = 0; d < subject->n_devices; d++) {
        bool is_host = subject->runtime->kind->is_host(subject->devices[d]);
        int32_t own = !has_run[d] || !is_host ? 0 : is_narrow(subject, d) ? 1 : 2;
        if (own > rank) {
            rank = own;
            reference = d;
        }
    }
    return reference;
}

berth_type berth_measure_precision(const berth_subject *subject, const bool *has_run, int32_t *device) {
    berth_type found = BERTH_TYPE_UNKNOWN;
    for (int32_t d = 0; d < subject->n_devices; d++)
        if (is_narrow(subject, d) && found != BERTH_TYPE_BF16) found = precision_of(subject, d);
    *device = -1;
    for (int32_t d = 0; d < subject->n_devices && *device < 0; d++)
        if (has_run[d] && is_narrow(subject, d) && precision_of(subject, d) == found) *device = d;
    return found;
}

static berth_status compare_outputs(measurement *m, int32_t placement, berth_measured *out) {
    const berth_trial_result *plan = &m->results[index_of(m, placement)], *alone = m->results + FIRST_SINGLE;
    int32_t reference = berth_measure_reference(m->subject, m->has_run, out->best), narrow = -1;
    berth_type computed = berth_measure_precision(m->subject, m->has_run, &narrow);
    const berth_difference unknown = {.max_abs = NAN, .max_rel = NAN, .cosine = NAN};
    out->outputs = unknown;
    out->is_only = reference < 0;
    if (reference < 0 || plan->n_rounds == 0) return BERTH_OK;
    berth_status status = berth_trial_compare(m->ctx, &m->model.arena, m->subject->graph, plan, &alone[reference],
                                              computed, narrow < 0 ? NULL : &alone[narrow], &out->outputs);
    if (status == BERTH_OK || status == BERTH_E_NOMEM) return status;
    /* Another shape, or a file that cannot be read: what was measured stays measured. */
    berth_log(m->ctx, BERTH_LOG_WARNING, "%s", berth_ctx_message(m->ctx));
    out->outputs = unknown;
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status check_places(measurement *m, int32_t placement, whole *to) {
    berth_measured *out = &to->measured;
    berth_places places = {.devices = m->subject->devices,
                           .device = m->placements[placement]->device,
                           .candidate = &m->candidates[index_of(m, placement)],
                           .native_precision = m->options->native_precision};
    berth_status status = berth_places_check(&m->model, &to->arena, &places);
    out->n_checked = places.n_checked;
    out->n_deviations = places.n_deviations;
    out->deviations = places.deviations;
    out->n_pieces = places.n_pieces;
    out->n_planned_pieces = places.n_planned_pieces;
    out->pieces = places.pieces;
    if (status == BERTH_OK || status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED) return status;
    /* What was measured stays measured. */
    berth_log(m->ctx, BERTH_LOG_WARNING, "where operations ran is not known: %s", berth_ctx_message(m->ctx));
    return BERTH_OK;
}

static berth_status tell_of(measurement *m, int32_t placement, berth_measured **out) {
    const berth_trial_result *plan = &m->results[index_of(m, placement)];
    whole *made = berth_resize(berth_ctx_allocator(m->ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(m->ctx);
    *out = &made->measured;
    berth_arena_init(&made->arena, berth_ctx_allocator(m->ctx));
    BERTH_TRY(sum_up(m, placement, made));
    BERTH_TRY(compare_outputs(m, placement, &made->measured));
    if (!m->look || plan->n_rounds == 0 || plan->status != BERTH_OK) return BERTH_OK;
    return check_places(m, placement, made);
}

/* Whether anything at all could be run. */
static berth_status check_any(const measurement *m) {
    for (int32_t d = 0; d < m->subject->n_devices; d++)
        if (m->has_run[d] && m->results[FIRST_SINGLE + d].status == BERTH_OK) return BERTH_OK;
    for (int32_t i = 0; i < m->n; i++)
        if (m->results[index_of(m, i)].n_rounds > 0) return BERTH_OK;
    return berth_fail(m->ctx, BERTH_E_UNSUPPORTED, "it runs neither as placed nor on one device: %.700s",
                      m->results[0].reason);
}

static berth_status measure(measurement *m, berth_measured **out) {
    const berth_subject *s = m->subject;
    BERTH_TRY(berth_run_model_init(&m->model, m->ctx, s->runtime, s->graph, s->model, m->options));
    BERTH_TRY(run_all(m));
    BERTH_TRY(check_any(m));
    for (int32_t i = 0; i < m->n; i++) BERTH_TRY(tell_of(m, i, &out[i]));
    return BERTH_OK;
}

berth_status berth_measure_many(berth_ctx *ctx, berth_measured **out, const berth_subject *subject,
                                const berth_placement *const *placements, int32_t n, const berth_run_options *options,
                                const bool *rivals, bool look) {
    measurement m = {.ctx = ctx,
                     .subject = subject,
                     .placements = placements,
                     .n = n,
                     .options = options,
                     .rivals = rivals,
                     .look = look};
    for (int32_t i = 0; i < n; i++) out[i] = NULL;
    for (int32_t i = 0; i < n; i++)
        if (placements[i]->n_ops != berth_graph_op_count(subject->graph))
            return berth_fail(ctx, BERTH_E_ARG, "the placement is for another model");
    berth_status status = measure(&m, out);
    berth_run_model_deinit(&m.model);
    for (int32_t i = 0; i < n && status != BERTH_OK; i++) {
        berth_measured_free(out[i]);
        out[i] = NULL;
    }
    return status;
}

berth_status berth_measure(berth_ctx *ctx, berth_measured **out, berth_runtime *runtime, const berth_graph *graph,
                           const char *model, const char *const *devices, int32_t n_devices,
                           const berth_placement *placement, const berth_run_options *options) {
    berth_subject subject = {runtime, graph, model, devices, n_devices, options->native_precision};
    return berth_measure_many(ctx, out, &subject, &placement, 1, options, NULL, true);
}

void berth_measured_free(berth_measured *measured) {
    if (!measured) return;
    whole *made = (whole *)measured;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
