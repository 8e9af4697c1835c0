/* SPDX-License-Identifier: Apache-2.0 */
/* The closed loop for each case alone; then what it found for one, in all of them.
 *
 * Time is shared out anew before each step, so that what one takes too long the others make up for. A measurement takes
 * longer than it is told by its last round and by the look at places: how much longer is seen, and taken off the next
 * ones. Where there is no time to measure all that was found, what was found for little weight is left out. */
#include "place/cases.h"

#include "base/arena.h"
#include "place/leads.h"
#include "place/real_loop.h"
#include "runtime/scratch.h"
#include "runtime/trial.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_CASES = 64 };

typedef struct candidate {
    const int32_t *device;   /* [n_ops] */
    berth_measured **in;     /* [cases] */
    double weight;           /* of the cases that it was found for */
    double ms, gain_low;     /* weighted means: of what it takes, and of what it surely gains in each case */
    bool is_split, is_sound; /* it ran in every case and computed what the model says */
} candidate;

typedef struct chooser {
    berth_ctx *ctx;
    berth_runtime *runtime;
    const berth_shape_case *cases;
    int32_t n, n_ops;
    const char *model;
    const char *const *devices;
    int32_t n_devices;
    const berth_real_options *options;
    berth_arena arena;
    const char *scratch; /* of profiles that nobody asked to keep; NULL: none */
    double started;
    double weight; /* of all */
    double beyond; /* seconds that a measurement took longer than it was told, at most */
    berth_real_plan *own[MOST_CASES];
    candidate found[MOST_CASES];
    int32_t n_found;
    bool *allowed;     /* [n_devices] may be the answer alone, in every case */
    double *single_ms; /* [n_devices] weighted mean of everything on that device; INFINITY: it does not run in some */
} chooser;

static double left(const chooser *c) {
    return fmax(c->options->place.seconds - (berth_trial_clock() - c->started), 0);
}

/* --- each case alone -------------------------------------------------------------------------------------------- */

static berth_status find_alone(chooser *c, int32_t k) {
    berth_real_options how = *c->options;
    const char *profile = c->options->place.profile;
    how.place.shapes = c->cases[k].shapes;
    how.place.n_shapes = c->cases[k].n_shapes;
    how.place.seconds = left(c) * 2 / (2 * (c->n - k) + c->n); /* in the end a third is left, for all cases */
    if (!profile)
        how.place.profile = berth_arena_printf(&c->arena, "%s/profile%" PRId32 ".json", c->scratch, k);
    else if (k > 0)
        how.place.profile = berth_arena_printf(&c->arena, "%s.%" PRId32, profile, k + 1);
    if (!how.place.profile) return berth_fail_nomem(c->ctx);
    return berth_place_real(c->ctx, &c->own[k], c->runtime, c->cases[k].graph, c->model, c->devices, c->n_devices,
                            &how);
}

static berth_status add(chooser *c, const berth_plan *plan, double weight) {
    int32_t *device = berth_arena_push(&c->arena, (size_t)c->n_ops, sizeof *device);
    berth_measured **in = berth_arena_push(&c->arena, (size_t)c->n, sizeof(berth_measured *));
    bool is_split = false;
    if (c->arena.failed) return berth_fail_nomem(c->ctx);
    for (int32_t i = 0; i < c->n_ops; i++) {
        device[i] = plan->ops[i].device;
        is_split |= device[i] != device[0];
    }
    for (int32_t i = 0; i < c->n_found; i++)
        if (memcmp(c->found[i].device, device, (size_t)c->n_ops * sizeof *device) == 0) {
            c->found[i].weight += weight;
            return BERTH_OK;
        }
    c->found[c->n_found++] =
        (candidate){.device = device, .in = in, .weight = weight, .is_split = is_split, .is_sound = true};
    return BERTH_OK;
}

/* Splits first: single devices are measured with each of them. */
static bool is_before(const candidate *a, const candidate *b) {
    return a->is_split != b->is_split ? a->is_split : a->weight > b->weight;
}

static void sort_by_weight(chooser *c) {
    for (int32_t i = 1; i < c->n_found; i++) {
        candidate moved = c->found[i];
        int32_t k = i;
        for (; k > 0 && is_before(&moved, &c->found[k - 1]); k--) c->found[k] = c->found[k - 1];
        c->found[k] = moved;
    }
}

/* --- all cases -------------------------------------------------------------------------------------------------- */

/* `n_left`: how many there are still to be, with this one. */
static berth_status measure(chooser *c, const candidate *f, int32_t k, int32_t n_left) {
    berth_run_options how = c->options->profile.run;
    berth_placement *placement = NULL;
    how.rounds = berth_run_options_default().rounds;
    how.seed += 1000; /* fresh inputs and orders */
    how.seconds = fmax(0.9 * left(c) / n_left - c->beyond, 0);
    double before = berth_trial_clock();
    BERTH_TRY(berth_placement_new(c->ctx, &placement, c->n_ops, false));
    memcpy(placement->device, f->device, (size_t)c->n_ops * sizeof *f->device);
    berth_status status = berth_measure(c->ctx, &f->in[k], c->runtime, c->cases[k].graph, c->model, c->devices,
                                        c->n_devices, placement, &how);
    berth_placement_free(placement);
    c->beyond = fmax(c->beyond, berth_trial_clock() - before - how.seconds);
    return status;
}

static berth_status find_allowed(chooser *c) {
    bool *own = berth_arena_push(&c->arena, (size_t)c->n_devices, sizeof *own);
    c->allowed = berth_arena_push(&c->arena, (size_t)c->n_devices, sizeof *c->allowed);
    if (c->arena.failed) return berth_fail_nomem(c->ctx);
    for (int32_t d = 0; d < c->n_devices; d++) c->allowed[d] = true;
    for (int32_t k = 0; k < c->n; k++) {
        berth_place_options how = c->options->place;
        how.profile = c->own[k]->plan->profile;
        BERTH_TRY(berth_lead_singles(c->ctx, c->cases[k].graph, c->own[k]->devices, &how, own));
        for (int32_t d = 0; d < c->n_devices; d++) c->allowed[d] &= own[d];
    }
    return BERTH_OK;
}

/* The fastest device that may be the answer alone; -1: there is none. */
static int32_t best_allowed(const chooser *c, const berth_measured *m) {
    int32_t best = -1;
    for (int32_t d = 0; d < c->n_devices; d++) {
        if (!c->allowed[d] || m->singles[d].latency.runs == 0 || *m->singles[d].reason) continue;
        if (best < 0 || m->singles[d].latency.median_ms < m->singles[best].latency.median_ms) best = d;
    }
    return best;
}

static berth_status measure_in_all(chooser *c, int32_t i) {
    candidate *f = &c->found[i];
    double gain = 0, base = 0;
    for (int32_t k = 0; k < c->n; k++) {
        BERTH_TRY(measure(c, f, k, c->n * (c->n_found - i) - k));
        const berth_measured *m = f->in[k];
        double weight = c->cases[k].weight;
        f->is_sound &= berth_real_is_sound(m);
        f->ms += weight * (m->plan.latency.runs > 0 ? m->plan.latency.median_ms : INFINITY) / c->weight;
        const berth_measured_run *single = best_allowed(c, m) < 0 ? NULL : &m->singles[best_allowed(c, m)];
        if (!single) continue;
        gain += weight * single->latency.median_ms * (isnan(single->gain_low) ? -1 : single->gain_low);
        base += weight * single->latency.median_ms;
    }
    f->gain_low = base > 0 ? gain / base : INFINITY; /* no device runs it alone, or may */
    return BERTH_OK;
}

static berth_status measure_all(chooser *c) {
    sort_by_weight(c);
    for (int32_t i = 0; i < c->n_found; i++) {
        if (i > 0 && !(left(c) > c->n * c->beyond)) c->n_found = i; /* no time for one more */
        if (i < c->n_found) BERTH_TRY(measure_in_all(c, i));
    }
    return BERTH_OK;
}

static double single_in(const chooser *c, int32_t k, int32_t d) {
    double ms = INFINITY;
    for (int32_t i = 0; i < c->n_found; i++) {
        const berth_measured_run *run = &c->found[i].in[k]->singles[d];
        if (run->latency.runs > 0 && !*run->reason) ms = fmin(ms, run->latency.median_ms);
    }
    return ms;
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

/* The split, or -1, and the best single device, or -1. */
static int32_t choose(chooser *c, int32_t *single) {
    int32_t best = -1;
    *single = -1;
    for (int32_t d = 0; d < c->n_devices; d++) {
        c->single_ms[d] = 0;
        for (int32_t k = 0; k < c->n; k++) c->single_ms[d] += c->cases[k].weight * single_in(c, k, d) / c->weight;
        if (c->allowed[d] && c->single_ms[d] < (*single < 0 ? INFINITY : c->single_ms[*single])) *single = d;
    }
    for (int32_t i = 0; i < c->n_found; i++) {
        const candidate *f = &c->found[i];
        if (!f->is_split || !f->is_sound || !(f->gain_low > c->options->min_gain)) continue;
        if (best < 0 || f->ms < c->found[best].ms) best = i;
    }
    return best;
}

/* What the answer takes in each case, and the best that was seen there. */
static berth_status sum_up(chooser *c, int32_t split, int32_t single, double **out_ms, double **out_best_ms) {
    double *ms = *out_ms = berth_arena_push(&c->arena, (size_t)c->n, sizeof *ms);
    double *best_ms = *out_best_ms = berth_arena_push(&c->arena, (size_t)c->n, sizeof *best_ms);
    if (c->arena.failed) return berth_fail_nomem(c->ctx);
    for (int32_t k = 0; k < c->n; k++) {
        ms[k] = split < 0 ? single_in(c, k, single) : c->found[split].in[k]->plan.latency.median_ms;
        best_ms[k] = ms[k];
        for (int32_t d = 0; d < c->n_devices; d++) best_ms[k] = fmin(best_ms[k], single_in(c, k, d));
        for (int32_t i = 0; i < c->n_found; i++) {
            const berth_measured_run *run = &c->found[i].in[k]->plan;
            if (run->latency.runs > 0 && c->found[i].is_sound) best_ms[k] = fmin(best_ms[k], run->latency.median_ms);
        }
    }
    return BERTH_OK;
}

/* The result of the first case with the plan for all in it. */
static berth_status answer(chooser *c, int32_t split, int32_t single) {
    berth_real_plan *out = c->own[0];
    berth_place_options how = c->options->place;
    berth_plan *plan = NULL;
    how.profile = out->plan->profile;
    how.shapes = c->cases[0].shapes;
    how.n_shapes = c->cases[0].n_shapes;
    how.given = split < 0 ? NULL : c->found[split].device;
    how.unbounded = true;
    if (split < 0)
        BERTH_TRY(berth_lead_by_rule(c->ctx, &plan, c->cases[0].graph, out->devices, &how, single));
    else
        BERTH_TRY(berth_place(c->ctx, &plan, c->cases[0].graph, out->devices, &how));
    berth_plan_free(out->plan);
    out->plan = plan;
    out->is_split = split >= 0;
    out->predicted_ms = out->plan->makespan_ms;
    out->verdict = split < 0 ? "no split surely gains enough in the mean over all shapes"
                             : "with 95 % confidence the split gains enough in the mean over all shapes";
    int32_t shown = split < 0 ? 0 : split;
    berth_measured_free(out->measured);
    out->measured = c->found[shown].in[0];
    c->found[shown].in[0] = NULL;
    out->plan->measured = out->measured;
    out->plan->native_precision = c->options->profile.run.native_precision;
    out->plan->graph = c->cases[0].graph;
    out->plan->verdict = out->verdict;
    return BERTH_OK;
}

static berth_status run(chooser *c) {
    int32_t single = 0;
    c->single_ms = berth_arena_push(&c->arena, (size_t)c->n_devices, sizeof *c->single_ms);
    if (!c->single_ms) return berth_fail_nomem(c->ctx);
    if (!c->options->place.profile) BERTH_TRY(berth_scratch_make(c->ctx, &c->arena, &c->scratch));
    for (int32_t k = 0; k < c->n; k++) {
        c->weight += c->cases[k].weight;
        BERTH_TRY(find_alone(c, k));
    }
    for (int32_t k = 0; k < c->n; k++) BERTH_TRY(add(c, c->own[k]->plan, c->cases[k].weight));
    BERTH_TRY(find_allowed(c));
    BERTH_TRY(measure_all(c));
    int32_t split = choose(c, &single);
    if (split < 0 && single < 0)
        return berth_fail(c->ctx, BERTH_E_INFEASIBLE, "no split gains enough, and no device may run all shapes alone");
    double *ms = NULL, *best_ms = NULL;
    BERTH_TRY(sum_up(c, split, single, &ms, &best_ms));
    BERTH_TRY(answer(c, split, single));
    return berth_cases_note(c->ctx, c->own[0]->plan, c->cases, c->n, ms, best_ms, true);
}

berth_status berth_place_real_cases(berth_ctx *ctx, berth_real_plan **out, berth_runtime *runtime,
                                    const berth_shape_case *cases, int32_t n, const char *model,
                                    const char *const *devices, int32_t n_devices, const berth_real_options *options) {
    *out = NULL;
    BERTH_TRY(berth_cases_check(ctx, cases, n));
    if (n > MOST_CASES) return berth_fail(ctx, BERTH_E_LIMIT, "more than %d shapes", MOST_CASES);
    chooser c = {.ctx = ctx,
                 .runtime = runtime,
                 .cases = cases,
                 .n = n,
                 .n_ops = berth_graph_op_count(cases[0].graph),
                 .model = model,
                 .devices = devices,
                 .n_devices = n_devices,
                 .options = options,
                 .started = berth_trial_clock()};
    berth_arena_init(&c.arena, berth_ctx_allocator(ctx));
    berth_status status = run(&c);
    for (int32_t i = 0; i < c.n_found; i++)
        for (int32_t k = 0; k < n; k++) berth_measured_free(c.found[i].in[k]);
    for (int32_t k = status == BERTH_OK ? 1 : 0; k < n; k++) berth_real_plan_free(c.own[k]);
    if (status == BERTH_OK) *out = c.own[0];
    berth_scratch_remove(c.scratch);
    berth_arena_deinit(&c.arena);
    return status;
}
