/* SPDX-License-Identifier: Apache-2.0 */
/* A placement against every single device, and whether it did what it says. */

#include "runtime/kind.h"
#include "runtime/places.h"
#include "runtime/stats.h"

#include <math.h>
#include <string.h>

typedef struct whole { /* what is handed out, with its memory */
    berth_measured measured;
    berth_arena arena;
} whole;

typedef struct measurement {
    berth_ctx *ctx;
    berth_runtime *runtime;
    const berth_graph *graph;
    const char *const *devices;
    int32_t n_devices;
    const int32_t *device;
    const berth_run_options *options;
    berth_run_model model;
    whole *out;
    berth_candidate *candidates; /* the plan, then each device; again in full precision, if that is another */
    berth_trial_result *results;
} measurement;

berth_run_options berth_run_options_default(void) {
    return (berth_run_options){.rounds = 7, .least_runs = 5, .most_runs = 50, .run_seconds = 0.5, .seconds = INFINITY};
}

static void *keep(whole *out, const void *bytes, size_t n) {
    return berth_arena_copy(&out->arena, bytes, n, 1);
}

/* --- times ------------------------------------------------------------------------------------------------------ */

static berth_status run_all(measurement *m) {
    const berth_run_options *o = m->options;
    int32_t n = 1 + m->n_devices * (o->native_precision ? 2 : 1);
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
                               .seed = o->seed,
                               .folder = m->model.scratch,
                               .progress = o->progress,
                               .progress_user = o->progress_user};
    m->candidates = berth_arena_push(&m->model.arena, (size_t)n, sizeof *m->candidates);
    m->results = berth_arena_push(&m->model.arena, (size_t)n, sizeof *m->results);
    if (m->model.arena.failed) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_run_model_place(&m->model, m->devices, m->n_devices, m->device, "plan", &m->candidates[0]));
    for (int32_t d = 0; d < m->n_devices; d++)
        BERTH_TRY(berth_run_model_single(&m->model, m->devices[d], &m->candidates[d + 1]));
    for (int32_t i = m->n_devices + 1; i < n; i++) {
        m->candidates[i] = m->candidates[i - m->n_devices];
        m->candidates[i].full_precision = true;
    }
    return berth_trial_run(m->ctx, &m->model.arena, m->runtime, m->candidates, n, &how, m->results);
}

static berth_status take_run(measurement *m, int32_t i, berth_measured_run *to) {
    const berth_trial_result *r = &m->results[i];
    to->name = keep(m->out, m->candidates[i].label, strlen(m->candidates[i].label) + 1);
    to->reason = keep(m->out, r->reason, strlen(r->reason) + 1);
    to->latency = r->latency;
    if (r->shortage != BERTH_SHORT_OF_NOTHING) {
        const char *device = m->devices[0];
        for (int32_t k = 0; r->shortage == BERTH_SHORT_OF_DEVICE && m->candidates[i].devices[k]; k++)
            if (strcmp(device, m->devices[0]) == 0) device = m->candidates[i].devices[k];
        to->out_of_memory = keep(m->out, device, strlen(device) + 1);
    }
    return m->out->arena.failed ? berth_fail_nomem(m->ctx) : BERTH_OK;
}

static berth_status take_full(measurement *m) {
    if (!m->options->native_precision) return BERTH_OK;
    berth_measured_run *full = berth_arena_push(&m->out->arena, (size_t)m->n_devices, sizeof *full);
    if (!full) return berth_fail_nomem(m->ctx);
    for (int32_t d = 0; d < m->n_devices; d++) BERTH_TRY(take_run(m, 1 + m->n_devices + d, &full[d]));
    m->out->measured.full = full;
    return BERTH_OK;
}

static berth_status sum_up(measurement *m) {
    berth_measured *out = &m->out->measured;
    berth_measured_run *singles = berth_arena_push(&m->out->arena, (size_t)m->n_devices, sizeof *singles);
    if (!singles) return berth_fail_nomem(m->ctx);
    BERTH_TRY(take_run(m, 0, &out->plan));
    out->singles = singles;
    out->n_singles = m->n_devices;
    out->best = -1;
    for (int32_t d = 0; d < m->n_devices; d++) {
        BERTH_TRY(take_run(m, d + 1, &singles[d]));
        if (m->results[d + 1].status != BERTH_OK || singles[d].latency.runs == 0) continue;
        if (out->best < 0 || singles[d].latency.median_ms < singles[out->best].latency.median_ms) out->best = d;
    }
    BERTH_TRY(take_full(m));
    const berth_trial_result *plan = &m->results[0];
    out->runtime = keep(m->out, m->runtime->kind->name, strlen(m->runtime->kind->name) + 1);
    out->runtime_version = keep(m->out, m->runtime->version, strlen(m->runtime->version) + 1);
    if (m->out->arena.failed) return berth_fail_nomem(m->ctx);
    out->gain = out->gain_low = NAN;
    if (out->best < 0 || plan->n_rounds == 0) return BERTH_OK;
    const berth_trial_result *best = &m->results[out->best + 1];
    int32_t n = plan->n_rounds < best->n_rounds ? plan->n_rounds : best->n_rounds;
    berth_stats_paired_gain(best->round_ms, plan->round_ms, (size_t)n, &out->gain, &out->gain_low);
    return BERTH_OK;
}

static bool is_narrow(const measurement *m, int32_t d) {
    berth_type type = m->runtime->kind->precision(m->devices[d]);
    return type == BERTH_TYPE_BF16 || type == BERTH_TYPE_F16;
}

/* The CPU is the reference, if it runs: it computes as the model says, unless it was told otherwise. */
static int32_t find_reference(const measurement *m) {
    int32_t reference = m->out->measured.best, rank = 0;
    for (int32_t d = 0; d < m->n_devices; d++) {
        bool is_host = m->runtime->kind->is_host(m->devices[d]);
        int32_t own = m->results[d + 1].n_rounds == 0 || !is_host ? 0 : is_narrow(m, d) ? 1 : 2;
        if (own > rank) {
            rank = own;
            reference = d;
        }
    }
    return reference;
}

/* The narrowest type that any of the placement's devices was told to compute in. */
static berth_type find_precision(const measurement *m) {
    berth_type found = BERTH_TYPE_UNKNOWN;
    for (int32_t d = 0; d < m->n_devices; d++)
        if (is_narrow(m, d) && found != BERTH_TYPE_BF16) found = m->runtime->kind->precision(m->devices[d]);
    return found;
}

static berth_status compare_outputs(measurement *m) {
    berth_measured *out = &m->out->measured;
    int32_t reference = find_reference(m);
    out->outputs = (berth_difference){.max_abs = NAN, .max_rel = NAN, .cosine = NAN};
    if (reference < 0 || m->results[0].n_rounds == 0) return BERTH_OK;
    berth_status status = berth_trial_compare(m->ctx, &m->model.arena, m->graph, &m->results[0],
                                              &m->results[reference + 1], find_precision(m), &out->outputs);
    if (status == BERTH_E_NUMERIC) {
        berth_log(m->ctx, BERTH_LOG_WARNING, "%s", berth_ctx_message(m->ctx));
        out->outputs.equal = false;
        return BERTH_OK;
    }
    return status;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status check_places(measurement *m) {
    berth_measured *out = &m->out->measured;
    berth_places places = {.devices = m->devices,
                           .device = m->device,
                           .candidate = &m->candidates[0],
                           .native_precision = m->options->native_precision};
    berth_status status = berth_places_check(&m->model, &m->out->arena, &places);
    out->n_checked = places.n_checked;
    out->n_deviations = places.n_deviations;
    out->deviations = places.deviations;
    out->n_pieces = places.n_pieces;
    out->n_planned_pieces = places.n_planned_pieces;
    out->pieces = places.pieces;
    return status;
}

static berth_status measure(measurement *m, const char *path) {
    BERTH_TRY(berth_run_model_init(&m->model, m->ctx, m->runtime, m->graph, path, m->options));
    m->out->measured.n_made_files = m->model.n_made_files;
    BERTH_TRY(run_all(m));
    BERTH_TRY(sum_up(m));
    if (m->out->measured.best < 0 && m->results[0].n_rounds == 0)
        return berth_fail(m->ctx, BERTH_E_UNSUPPORTED, "it runs neither as placed nor on one device: %.700s",
                          m->results[0].reason);
    BERTH_TRY(compare_outputs(m));
    if (m->results[0].n_rounds == 0 || m->results[0].status != BERTH_OK) return BERTH_OK;
    berth_status status = check_places(m);
    if (status == BERTH_OK || status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED) return status;
    /* What was measured stays measured. */
    berth_log(m->ctx, BERTH_LOG_WARNING, "where operations ran is not known: %s", berth_ctx_message(m->ctx));
    return BERTH_OK;
}

berth_status berth_measure(berth_ctx *ctx, berth_measured **out, berth_runtime *runtime, const berth_graph *graph,
                           const char *model, const char *const *devices, int32_t n_devices,
                           const berth_placement *placement, const berth_run_options *options) {
    *out = NULL;
    if (placement->n_ops != berth_graph_op_count(graph))
        return berth_fail(ctx, BERTH_E_ARG, "the placement is for another model");
    whole *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    measurement m = {.ctx = ctx,
                     .runtime = runtime,
                     .graph = graph,
                     .devices = devices,
                     .n_devices = n_devices,
                     .device = placement->device,
                     .options = options,
                     .out = made};
    berth_status status = measure(&m, model);
    berth_run_model_deinit(&m.model);
    if (status == BERTH_OK)
        *out = &made->measured;
    else
        berth_measured_free(&made->measured);
    return status;
}

void berth_measured_free(berth_measured *measured) {
    if (!measured) return;
    whole *made = (whole *)measured;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
