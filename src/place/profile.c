/* SPDX-License-Identifier: Apache-2.0 */
/* Times of operations from the runtime's profile, then whole runs, then numbers that make both agree. */
#include "berth/profile.h"

#include "base/rng.h"
#include "base/text.h"
#include "berth/group.h"
#include "berth/place.h"
#include "device/set.h"
#include "place/calibrate.h"
#include "place/kernels.h"
#include "place/pieces.h"
#include "runtime/copies.h"
#include "runtime/kind.h"
#include "runtime/op_times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACEMENTS_STREAM = 81, MOST_PIECES = 20 };

typedef struct whole { /* what is handed out, with its memory */
    berth_profile profile;
    berth_arena arena;
} whole;

typedef struct profiler {
    berth_ctx *ctx;
    berth_runtime *runtime;
    const berth_graph *graph;
    const char *const *devices;
    int32_t n_devices;
    const berth_profile_options *options;
    double started;
    berth_run_model model;
    whole *out;
    double *op_ms; /* [op * n_devices + device] kernels alone */
    berth_device_draft *draft;
    berth_costs *costs; /* with these times */
    int32_t n_runs;
    int32_t **op_device; /* [n_runs] of whole runs */
    berth_observation *observations;
    berth_calibration fit;
} profiler;

berth_profile_options berth_profile_options_default(void) {
    berth_profile_options options = {
        .run = berth_run_options_default(), .processes = 3, .placements = 12, .more_rounds = 4};
    options.run.rounds = 2;
    return options;
}

/* --- devices and costs ------------------------------------------------------------------------------------------ */

/* What is not measured is as the built-in profile of its kind has it. */
static berth_status draft_devices(profiler *p) {
    berth_device_set *known = NULL;
    BERTH_TRY(berth_device_set_read(p->ctx, &known, "cpu,gpu"));
    berth_status status = berth_device_draft_new(p->ctx, &p->draft, p->n_devices, p->runtime->kind->name);
    if (status == BERTH_OK) p->out->profile.devices = &p->draft->set; /* which frees them in every case */
    for (int32_t d = 0; d < p->n_devices && status == BERTH_OK; d++) {
        berth_device *device = &p->draft->devices[d];
        bool is_host = p->runtime->kind->is_host(p->devices[d]);
        *device = known->devices[is_host ? 0 : 1];
        device->name = berth_arena_string(&p->draft->arena, p->devices[d], strlen(p->devices[d]));
        device->kind = is_host ? "cpu" : "gpu";
        device->launch_ms = 0;
        device->memory_bytes = INFINITY;
        device->n_unsupported = 0;
    }
    berth_device_set_free(known);
    BERTH_TRY(status);
    p->draft->set.host = berth_device_draft_host(p->draft);
    p->draft->set.model = p->runtime->kind->model;
    for (int32_t i = 0; i < p->n_devices * p->n_devices; i++) p->draft->links[i].queued = true;
    return p->draft->arena.failed ? berth_fail_nomem(p->ctx) : BERTH_OK;
}

static double *time_at(const profiler *p, int32_t op, int32_t device) {
    return &p->op_ms[(size_t)op * (size_t)p->n_devices + (size_t)device];
}

/* Be it that the device does not say how long it takes there. */
static bool can_run(const profiler *p, int32_t op, int32_t device) {
    return !isinf(*time_at(p, op, device));
}

/* Times by file, as everybody else gets them. */
static berth_status make_costs(profiler *p) {
    const berth_limits limits = {.io = p->options->run.io, .n_io = p->options->run.n_io};
    berth_cost_options options = berth_cost_options_default();
    char path[4096];
    berth_text *text = NULL;
    snprintf(path, sizeof path, "%s/profile.json", p->model.scratch);
    BERTH_TRY(berth_text_new(p->ctx, &text));
    berth_profile_write(text, &p->out->profile);
    berth_status status = berth_text_write(p->ctx, text, path);
    berth_text_free(text);
    options.profile = path;
    options.model = p->runtime->kind->model;
    options.limits = &limits;
    berth_costs_free(p->costs);
    p->costs = NULL;
    if (status == BERTH_OK) status = berth_costs_new(p->ctx, &p->costs, p->graph, &p->draft->set, &options);
    return status;
}

/* Where a device does not say what its kernels take: estimates, scaled to what everything on it takes. */
static berth_status fill_unknown(profiler *p, int32_t d, double whole_ms) {
    berth_costs *estimated = NULL;
    double sum = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < p->out->profile.n_ops; i++) n += isnan(*time_at(p, i, d));
    if (n == 0) return BERTH_OK;
    BERTH_TRY(berth_costs_new(p->ctx, &estimated, p->graph, &p->draft->set, NULL));
    for (int32_t i = 0; i < p->out->profile.n_ops; i++)
        if (isnan(*time_at(p, i, d))) sum += berth_costs_op_ms(estimated, i, d);
    for (int32_t i = 0; i < p->out->profile.n_ops; i++)
        if (isnan(*time_at(p, i, d)))
            *time_at(p, i, d) = sum > 0 ? berth_costs_op_ms(estimated, i, d) * whole_ms / sum : 0;
    berth_costs_free(estimated);
    berth_log(p->ctx, BERTH_LOG_INFO, "%s does not say what its kernels take: %" PRId32 " operations are estimated",
              p->devices[d], n);
    return BERTH_OK;
}

/* --- whole runs ------------------------------------------------------------------------------------------------- */

/* Runs of such units on one device and then on the other. */
static void draw_placement(profiler *p, const berth_groups *groups, berth_rng *rng, int32_t *device) {
    uint32_t n_units = 0;
    for (int32_t k = 0; k < groups->n_ops; k++) n_units += berth_kernel_begins(p->graph, groups, k);
    /* small models have few: a change before each of them would be the same placement every time */
    uint32_t most = n_units / 2 < MOST_PIECES ? n_units / 2 : MOST_PIECES;
    uint32_t pieces = 1 + (most > 1 ? berth_rng_below(rng, most) : 0);
    int32_t current = (int32_t)berth_rng_below(rng, 2);
    for (int32_t k = 0; k < groups->n_ops; k++) {
        if (berth_kernel_begins(p->graph, groups, k) && berth_rng_below(rng, n_units) < pieces) current = 1 - current;
        device[groups->members[k]] = can_run(p, groups->members[k], current) ? current : 0;
    }
}

static berth_status draw_placements(profiler *p) {
    int32_t n_random = p->options->placements + p->options->held_out;
    berth_groups *groups = NULL;
    berth_rng rng;
    p->n_runs = p->n_devices + (p->n_devices == 2 ? n_random : 0);
    p->op_device = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *p->op_device);
    p->observations = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *p->observations);
    for (int32_t i = 0; i < p->n_runs && !p->model.arena.failed; i++)
        p->op_device[i] = berth_arena_push(&p->model.arena, (size_t)p->out->profile.n_ops, sizeof **p->op_device);
    if (p->model.arena.failed) return berth_fail_nomem(p->ctx);
    BERTH_TRY(berth_groups_build(p->ctx, &groups, p->graph, BERTH_GROUP_FUSED));
    berth_rng_init(&rng, p->options->run.seed, PLACEMENTS_STREAM);
    for (int32_t i = 0; i < p->n_runs; i++) {
        for (int32_t op = 0; op < p->out->profile.n_ops && i < p->n_devices; op++)
            p->op_device[i][op] = can_run(p, op, i) ? i : 0;
        if (i >= p->n_devices) draw_placement(p, groups, &rng, p->op_device[i]);
        p->observations[i].is_held_out = i >= p->n_devices + p->options->placements;
    }
    berth_groups_free(groups);
    return BERTH_OK;
}

/* A placement as it ran; random ones that did not are left out, but every device must run alone. */
static berth_status take_run(profiler *p, int32_t from, const berth_trial_result *result, berth_profiled_run *runs) {
    int32_t n_ops = p->out->profile.n_ops, to = p->out->profile.n_runs;
    if (result->status == BERTH_OK && result->latency.runs == 0 && from >= p->n_devices) return BERTH_OK; /* no time */
    if (result->latency.runs == 0 && from >= p->n_devices) {
        berth_log(p->ctx, BERTH_LOG_WARNING, "a placement to calibrate on could not be run: %s", result->reason);
        return BERTH_OK;
    }
    if (result->latency.runs == 0)
        return berth_fail(p->ctx, result->status, "%.60s: %.900s", p->devices[from], result->reason);
    char *digits = berth_arena_push(&p->out->arena, (size_t)n_ops + 1, 1);
    if (!digits) return berth_fail_nomem(p->ctx);
    for (int32_t op = 0; op < n_ops; op++) digits[op] = (char)('0' + p->op_device[from][op]);
    p->op_device[to] = p->op_device[from];
    p->observations[to] = p->observations[from];
    p->observations[to].ms = result->steady_ms;
    runs[to] = (berth_profiled_run){.measured_ms = result->steady_ms,
                                    .unrest = result->unrest,
                                    .n_processes = result->n_rounds,
                                    .is_held_out = p->observations[to].is_held_out,
                                    .label = from < p->n_devices ? p->draft->devices[from].name : "random",
                                    .placement = digits};
    p->out->profile.n_runs++;
    return BERTH_OK;
}

static berth_status run_whole(profiler *p) {
    const berth_run_options *o = &p->options->run;
    berth_candidate *candidates = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *candidates);
    berth_trial_result *results = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *results);
    berth_profiled_run *runs = berth_arena_push(&p->out->arena, (size_t)p->n_runs, sizeof *runs);
    berth_trial_options how = {.inputs = p->model.inputs,
                               .n_inputs = p->model.n_inputs,
                               .io = p->model.io,
                               .n_io = p->model.n_io,
                               .native_precision = o->native_precision,
                               .rounds = o->rounds,
                               .more_rounds = p->options->more_rounds,
                               .least_runs = o->least_runs,
                               .most_runs = o->most_runs,
                               .run_seconds = o->run_seconds,
                               .until = p->started + o->seconds,
                               .spare_from = p->n_devices,
                               .seed = o->seed,
                               .progress = o->progress,
                               .progress_user = o->progress_user};
    if (p->model.arena.failed || p->out->arena.failed) return berth_fail_nomem(p->ctx);
    for (int32_t i = 0; i < p->n_runs; i++)
        BERTH_TRY(i < p->n_devices ? berth_run_model_single(&p->model, p->devices[i], &candidates[i])
                                   : berth_run_model_place(&p->model, p->devices, p->n_devices, p->op_device[i],
                                                           "random", &candidates[i]));
    BERTH_TRY(berth_trial_run(p->ctx, &p->model.arena, p->runtime, candidates, p->n_runs, &how, results));
    p->out->profile.runs = runs;
    for (int32_t i = 0; i < p->n_runs; i++) BERTH_TRY(take_run(p, i, &results[i], runs));
    p->n_runs = p->out->profile.n_runs;
    return BERTH_OK;
}

/* --- agreement -------------------------------------------------------------------------------------------------- */

static berth_status tasks_of(profiler *p, const int32_t *op_device, const int32_t **out) {
    int32_t *device = berth_arena_push(&p->model.arena, (size_t)p->costs->n_tasks, sizeof *device);
    if (!device) return berth_fail_nomem(p->ctx);
    for (int32_t task = 0; task < p->costs->n_tasks; task++) device[task] = op_device[p->costs->task_op[task]];
    *out = device;
    return BERTH_OK;
}

static int32_t count_pieces(const profiler *p, const int32_t *device) {
    int32_t pieces = 1;
    for (int32_t i = 1; i < p->costs->n_tasks; i++) pieces += device[i] != device[i - 1];
    return pieces;
}

static void judge(profiler *p, double *measured, double *predicted) {
    berth_profile *out = &p->out->profile;
    int32_t n = 0;
    double sum = 0;
    for (int32_t i = 0; i < out->n_runs; i++) {
        if (p->options->held_out > 0 && !out->runs[i].is_held_out) continue;
        measured[n] = out->runs[i].measured_ms;
        predicted[n] = out->runs[i].predicted_ms;
        sum += fabs(predicted[n] / measured[n] - 1);
        n++;
    }
    out->mean_error = n > 0 ? sum / n : NAN;
    out->rank_correlation = berth_rank_correlation(predicted, measured, n);
}

static bool is_serial(const profiler *p) {
    return p->runtime->kind->model == BERTH_MODEL_SERIAL;
}

/* Where the fit begins. On a queue handing over takes what is left of everything on the other device, and copies begin
 * as they are alone or, where that is not known, as a slow bus has them; pieces that follow each other hand tensors
 * over in the host's memory. */
static void guess(profiler *p) {
    double sum[2] = {0, 0}, n = fmax(p->costs->n_tasks, 1);
    for (int32_t task = 0; task < p->costs->n_tasks; task++)
        for (int d = 0; d < 2; d++) {
            double ms = p->costs->time_ms[2 * task + d];
            if (isfinite(ms)) sum[d] += ms;
        }
    double spare = p->observations[1].ms - sum[1];
    p->fit = (berth_calibration){.run_ms = 0.01 * p->observations[0].ms,
                                 .host_scale = p->observations[0].ms / fmax(sum[0], 1e-6),
                                 .other_scale = 1,
                                 .handing_ms = fmax(spare / n, 1e-4),
                                 .in_fixed_ms = 0.05,
                                 .in_ms_per_byte = 2e-7,
                                 .out_fixed_ms = 0.1,
                                 .out_ms_per_byte = 2e-7};
    if (p->out->profile.n_copies >= 2) {
        const berth_profile *out = &p->out->profile;
        berth_copies_fit(out->copies, out->n_copies, true, &p->fit.in_fixed_ms, &p->fit.in_ms_per_byte);
        berth_copies_fit(out->copies, out->n_copies, false, &p->fit.out_fixed_ms, &p->fit.out_ms_per_byte);
    }
    if (!is_serial(p)) return;
    p->fit.other_scale = p->observations[1].ms / fmax(sum[1], 1e-6);
    p->fit.handing_ms = p->fit.in_fixed_ms = p->fit.out_fixed_ms = 0.02;
}

static void take_fit(profiler *p) {
    const berth_calibration *fit = &p->fit;
    double launch_ms = is_serial(p) ? 0 : fit->handing_ms;
    berth_link *in = &p->draft->links[1], *out = &p->draft->links[2];
    p->out->profile.fit = (berth_fit){fit->run_ms, fit->host_scale, fit->other_scale};
    p->draft->devices[1].launch_ms = launch_ms;
    p->draft->set.piece_ms = is_serial(p) ? fit->handing_ms : 0;
    *in = (berth_link){fit->in_fixed_ms, fit->in_ms_per_byte, true};
    *out = (berth_link){fit->out_fixed_ms, fit->out_ms_per_byte, true};
    for (int32_t op = 0; op < p->out->profile.n_ops; op++) {
        bool runs = p->costs->op_task[op] >= 0;
        *time_at(p, op, 0) *= fit->host_scale;
        *time_at(p, op, 1) = *time_at(p, op, 1) * fit->other_scale + (runs ? launch_ms : 0);
    }
    if (p->costs->n_tasks == 0) return;
    int32_t first = p->costs->task_op[0]; /* what every run takes has to be somewhere */
    for (int32_t d = 0; d < 2; d++) *time_at(p, first, d) += fit->run_ms;
}

static berth_status calibrate(profiler *p) {
    berth_profile *out = &p->out->profile;
    double *predicted = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *predicted);
    double *measured = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *measured);
    berth_profiled_run *runs = (berth_profiled_run *)out->runs;
    if (p->model.arena.failed) return berth_fail_nomem(p->ctx);
    for (int32_t i = 0; i < p->n_runs; i++) {
        BERTH_TRY(tasks_of(p, p->op_device[i], &p->observations[i].device));
        runs[i].n_pieces = count_pieces(p, p->observations[i].device);
    }
    guess(p);
    BERTH_TRY(berth_calibrate(p->ctx, p->costs, p->observations, p->n_runs, &p->fit, predicted));
    for (int32_t i = 0; i < p->n_runs; i++) runs[i].predicted_ms = predicted[i];
    judge(p, measured, predicted);
    take_fit(p);
    return BERTH_OK;
}

/* One device alone: only the sum can be wrong. */
static void scale_single(profiler *p) {
    double sum = 0, ms = p->observations[0].ms;
    for (int32_t op = 0; op < p->out->profile.n_ops; op++) sum += isfinite(*time_at(p, op, 0)) ? *time_at(p, op, 0) : 0;
    for (int32_t op = 0; op < p->out->profile.n_ops && sum > 0; op++) *time_at(p, op, 0) *= ms / sum;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status describe(profiler *p) {
    berth_profile *out = &p->out->profile;
    berth_arena *arena = &p->out->arena;
    const char *name = berth_graph_name(p->graph), *print = berth_graph_fingerprint(p->graph);
    char machine[256];
    out->n_devices = p->n_devices;
    out->n_ops = berth_graph_op_count(p->graph);
    out->model_name = berth_arena_string(arena, name, strlen(name));
    out->fingerprint = berth_arena_string(arena, print, strlen(print));
    out->runtime = berth_arena_string(arena, p->runtime->kind->name, strlen(p->runtime->kind->name));
    berth_processor_name(machine, sizeof machine);
    out->machine = berth_arena_string(arena, machine, strlen(machine));
    out->runtime_version = "";
    out->mean_error = out->rank_correlation = NAN;
    const char **names = berth_arena_push(arena, (size_t)out->n_ops, sizeof *names);
    for (int32_t i = 0; i < out->n_ops && names; i++)
        names[i] =
            berth_arena_string(arena, berth_graph_op(p->graph, i)->name, strlen(berth_graph_op(p->graph, i)->name));
    p->op_ms = berth_arena_push(arena, (size_t)out->n_ops * (size_t)p->n_devices, sizeof *p->op_ms);
    out->op_names = names;
    out->op_ms = p->op_ms;
    return arena->failed ? berth_fail_nomem(p->ctx) : BERTH_OK;
}

/* Where a device tells nothing of its operations, or that is wanted: in half of the time that is left. */
static berth_status time_pieces(profiler *p) {
    berth_run_options how = p->options->run;
    if (p->n_devices != 2) return BERTH_OK;
    if (!p->options->pieces && !berth_pieces_wanted(p->op_ms, p->out->profile.n_ops)) return BERTH_OK;
    how.seconds = fmax(0.5 * (p->started + how.seconds - berth_trial_clock()), 0);
    return berth_pieces_fill(&p->model, p->devices, &how, p->op_ms);
}

static berth_status take(profiler *p, const char *path) {
    berth_profile *out = &p->out->profile;
    const double *ms = NULL;
    BERTH_TRY(describe(p));
    BERTH_TRY(draft_devices(p));
    BERTH_TRY(berth_run_model_init(&p->model, p->ctx, p->runtime, p->graph, path, &p->options->run));
    out->synthesized = p->model.n_made_files > 0;
    BERTH_TRY(berth_op_times_take(p->ctx, &p->model.arena, &p->model, p->devices, p->n_devices, p->options->processes,
                                  0.4 * p->options->run.seconds, p->options->run.native_precision, &ms));
    memcpy(p->op_ms, ms, (size_t)out->n_ops * (size_t)p->n_devices * sizeof *ms);
    for (int32_t d = 0; d < p->n_devices && out->n_copies == 0; d++)
        BERTH_TRY(berth_copies_take(&p->model, &p->out->arena, p->devices[d], &out->copies, &out->n_copies));
    BERTH_TRY(time_pieces(p));
    BERTH_TRY(draw_placements(p));
    BERTH_TRY(run_whole(p));
    out->runtime_version = berth_arena_string(&p->out->arena, p->runtime->version, strlen(p->runtime->version));
    for (int32_t d = 0; d < p->n_devices; d++) BERTH_TRY(fill_unknown(p, d, p->observations[d].ms));
    BERTH_TRY(make_costs(p));
    if (p->n_devices == 2) return calibrate(p);
    scale_single(p);
    return BERTH_OK;
}

berth_status berth_profile_take(berth_ctx *ctx, berth_profile **out, berth_runtime *runtime, const berth_graph *graph,
                                const char *model, const char *const *devices, int32_t n_devices,
                                const berth_profile_options *options) {
    *out = NULL;
    BERTH_TRY(runtime->kind->check_devices(ctx, devices, n_devices));
    whole *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    profiler p = {.ctx = ctx,
                  .runtime = runtime,
                  .graph = graph,
                  .devices = devices,
                  .n_devices = n_devices,
                  .options = options,
                  .started = berth_trial_clock(),
                  .out = made};
    berth_arena_init(&p.model.arena, berth_ctx_allocator(ctx));
    berth_status status = take(&p, model);
    berth_costs_free(p.costs);
    berth_run_model_deinit(&p.model);
    if (status == BERTH_OK)
        *out = &made->profile;
    else
        berth_profile_free(&made->profile);
    return status;
}

void berth_profile_free(berth_profile *profile) {
    if (!profile) return;
    whole *made = (whole *)profile;
    berth_allocator allocator = made->arena.allocator;
    berth_device_set_free((berth_device_set *)profile->devices);
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
