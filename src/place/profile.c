/* SPDX-License-Identifier: Apache-2.0 */
/* Times of operations from the runtime's profile, then whole runs, then numbers that make both agree. */
#include "berth/profile.h"

#include "base/rng.h"
#include "base/text.h"
#include "berth/group.h"
#include "berth/place.h"
#include "device/set.h"
#include "place/kernels.h"
#include "place/pieces.h"
#include "place/profiler.h"
#include "runtime/copies.h"
#include "runtime/kind.h"
#include "runtime/op_times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PLACEMENTS_STREAM = 81, MOST_PIECES = 20 };

berth_profile_options berth_profile_options_default(void) {
    berth_profile_options options = {
        .run = berth_run_options_default(), .processes = 3, .placements = 12, .more_rounds = 4};
    options.run.rounds = 2;
    return options;
}

/* --- devices and costs ------------------------------------------------------------------------------------------ */

/* What is not measured is as the built-in profile of its kind has it. */
static berth_status draft_devices(berth_profiler *p) {
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

/* Be it that the device does not say how long it takes there. */
static bool can_run(const berth_profiler *p, int32_t op, int32_t device) {
    return !isinf(*berth_profiler_time(p, op, device));
}

/* Times by file, as everybody else gets them. */
static berth_status make_costs(berth_profiler *p) {
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
static berth_status fill_unknown(berth_profiler *p, int32_t d, double whole_ms) {
    berth_costs *estimated = NULL;
    double sum = 0, known = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < p->out->profile.n_ops; i++) {
        double ms = *berth_profiler_time(p, i, d);
        n += isnan(ms);
        if (isfinite(ms)) known += ms;
    }
    if (n == 0) return BERTH_OK;
    double left_ms = fmax(whole_ms - known, 0.01 * whole_ms);
    BERTH_TRY(berth_costs_new(p->ctx, &estimated, p->graph, &p->draft->set, NULL));
    for (int32_t i = 0; i < p->out->profile.n_ops; i++)
        if (isnan(*berth_profiler_time(p, i, d))) sum += berth_costs_op_ms(estimated, i, d);
    for (int32_t i = 0; i < p->out->profile.n_ops; i++)
        if (isnan(*berth_profiler_time(p, i, d)))
            *berth_profiler_time(p, i, d) = sum > 0 ? berth_costs_op_ms(estimated, i, d) * left_ms / sum : 0;
    berth_costs_free(estimated);
    berth_log(p->ctx, BERTH_LOG_INFO, "%s does not say what its kernels take: %" PRId32 " operations are estimated",
              p->devices[d], n);
    return BERTH_OK;
}

/* --- whole runs ------------------------------------------------------------------------------------------------- */

/* Runs of such units on one device and then on another. */
static void draw_placement(berth_profiler *p, const berth_groups *groups, berth_rng *rng, int32_t *device) {
    uint32_t n_units = 0;
    for (int32_t k = 0; k < groups->n_ops; k++) n_units += berth_kernel_begins(p->graph, groups, k);
    /* small models have few: a change before each of them would be the same placement every time */
    uint32_t most = n_units / 2 < MOST_PIECES ? n_units / 2 : MOST_PIECES;
    uint32_t pieces = 1 + (most > 1 ? berth_rng_below(rng, most) : 0);
    uint32_t n_devices = (uint32_t)p->n_devices, current = berth_rng_below(rng, n_devices);
    for (int32_t k = 0; k < groups->n_ops; k++) {
        if (berth_kernel_begins(p->graph, groups, k) && berth_rng_below(rng, n_units) < pieces) {
            uint32_t next = berth_rng_below(rng, n_devices - 1);
            current = next + (next >= current);
        }
        device[groups->members[k]] = can_run(p, groups->members[k], (int32_t)current) ? (int32_t)current : 0;
    }
}

/* Everything that can be there. */
static void fill_device(const berth_profiler *p, int32_t device, int32_t *op_device) {
    for (int32_t op = 0; op < p->out->profile.n_ops; op++) op_device[op] = can_run(p, op, device) ? device : 0;
}

/* Where a stock session computes otherwise than the pieces of a placement do, what is on one device is also run as a
 * placement: the first of those to calibrate on. */
static int32_t count_whole(const berth_profiler *p) {
    bool is_wanted = p->runtime->kind->stock_differs && p->n_devices > 1 && p->options->placements > 2;
    return is_wanted ? p->n_devices : 0;
}

static berth_status draw_placements(berth_profiler *p) {
    int32_t n_fitted = p->options->placements * (p->n_devices - 1), n_random = n_fitted + p->options->held_out;
    berth_groups *groups = NULL;
    berth_rng rng;
    p->out->profile.n_wanted = p->n_devices > 1 ? n_random : 0;
    p->n_runs = p->n_devices + p->out->profile.n_wanted;
    p->op_device = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *p->op_device);
    p->observations = berth_arena_push(&p->model.arena, (size_t)p->n_runs, sizeof *p->observations);
    for (int32_t i = 0; i < p->n_runs && !p->model.arena.failed; i++)
        p->op_device[i] = berth_arena_push(&p->model.arena, (size_t)p->out->profile.n_ops, sizeof **p->op_device);
    if (p->model.arena.failed) return berth_fail_nomem(p->ctx);
    BERTH_TRY(berth_groups_build(p->ctx, &groups, p->graph, BERTH_GROUP_FUSED));
    berth_rng_init(&rng, p->options->run.seed, PLACEMENTS_STREAM);
    int32_t n_full = p->n_devices + count_whole(p);
    for (int32_t i = 0; i < p->n_runs; i++) {
        if (i < n_full)
            fill_device(p, i % p->n_devices, p->op_device[i]);
        else
            draw_placement(p, groups, &rng, p->op_device[i]);
        p->observations[i].is_held_out = i >= p->n_devices + n_fitted;
    }
    berth_groups_free(groups);
    return BERTH_OK;
}

/* A placement as it ran; random ones that did not are left out, but every device must run alone. */
static berth_status take_run(berth_profiler *p, int32_t from, const berth_trial_result *result,
                             berth_profiled_run *runs) {
    int32_t n_ops = p->out->profile.n_ops, to = p->out->profile.n_runs;
    if (result->status == BERTH_OK && result->latency.runs == 0 && from >= p->n_devices) {
        p->out->profile.n_left_out++;
        return BERTH_OK;
    }
    if (result->latency.runs == 0 && from >= p->n_devices) {
        berth_log(p->ctx, BERTH_LOG_WARNING, "a placement to calibrate on could not be run: %s", result->reason);
        return BERTH_OK;
    }
    if (result->latency.runs == 0)
        return berth_fail(p->ctx, result->status, "%.60s: %.900s", p->devices[from], result->reason);
    char *digits = berth_arena_push(&p->out->arena, (size_t)n_ops + 1, 1);
    if (!digits) return berth_fail_nomem(p->ctx);
    for (int32_t op = 0; op < n_ops; op++) digits[op] = (char)('0' + p->op_device[from][op]);
    if (from >= p->n_devices && from < p->n_devices + count_whole(p))
        p->observations[from - p->n_devices].is_apart = true; /* this one stands for the stock session */
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

static berth_status run_whole(berth_profiler *p) {
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
    if (p->out->profile.n_left_out > 0)
        berth_log(p->ctx, BERTH_LOG_WARNING,
                  "there was time for %" PRId32 " of %" PRId32 " placements to calibrate on: predictions may be off",
                  p->out->profile.n_wanted - p->out->profile.n_left_out, p->out->profile.n_wanted);
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status describe(berth_profiler *p) {
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

/* Where devices tell nothing of their operations, or that is wanted: in half of the time that is left. */
static berth_status time_pieces(berth_profiler *p) {
    for (int32_t d = 1; d < p->n_devices; d++) {
        berth_run_options how = p->options->run;
        if (!p->options->pieces && !berth_pieces_wanted(p->op_ms, p->out->profile.n_ops, p->n_devices, d)) continue;
        double left = p->started + how.seconds - berth_trial_clock();
        how.seconds = fmax(0.5 * left / (p->n_devices - d), 0);
        BERTH_TRY(berth_pieces_fill(&p->model, p->devices, p->n_devices, d, &how, p->op_ms));
    }
    return BERTH_OK;
}

static berth_status take(berth_profiler *p, const char *path) {
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
    return berth_profiler_fit(p);
}

berth_status berth_profile_take(berth_ctx *ctx, berth_profile **out, berth_runtime *runtime, const berth_graph *graph,
                                const char *model, const char *const *devices, int32_t n_devices,
                                const berth_profile_options *options) {
    *out = NULL;
    BERTH_TRY(runtime->kind->check_devices(ctx, devices, n_devices));
    berth_profiler_out *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    berth_profiler p = {.ctx = ctx,
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
    berth_profiler_out *made = (berth_profiler_out *)profile;
    berth_allocator allocator = made->arena.allocator;
    berth_device_set_free((berth_device_set *)profile->devices);
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
