/* SPDX-License-Identifier: Apache-2.0 */
/* The closed loop: profile, search, fresh runs, which decide; and again, where memory did not suffice. */
#include "place/real_loop.h"

#include "place/tighten.h"
#include "runtime/scratch.h"
#include "runtime/trial.h"

#include <math.h>

enum { MOST_TIGHTENED = 4 };

berth_real_options berth_real_options_default(void) {
    berth_real_options options = {berth_place_options_default(),
                                  berth_profile_options_default(),
                                  .min_gain = 0.03,
                                  .candidates = 8,
                                  .least_runs = 3,
                                  .most_runs = 10,
                                  .run_seconds = 0.1};
    options.place.seconds = 120;
    return options;
}

double berth_real_left(const berth_real_loop *l) {
    return l->options->place.seconds - (berth_trial_clock() - l->started);
}

double berth_real_share(const berth_real_loop *l, double share) {
    return fmax(share * berth_real_left(l), fmin(0.05 + 0.02 * l->options->place.seconds, 1));
}

/* A candidate ran out of memory: with less of it in the model the search finds others. */
static berth_status tighten(berth_real_loop *l) {
    berth_limits *limits = berth_arena_push(&l->out->arena, 1, sizeof *limits);
    if (!limits || !l->short_reason) return berth_fail_nomem(l->ctx);
    l->tightened = l->subject.devices[l->short_of];
    BERTH_TRY(berth_tighten(l->ctx, &l->out->arena, l->plans[l->short_plan], l->subject.graph, l->short_of,
                            l->tightened, l->place.limits, limits, &l->tightened_bytes));
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
static berth_status find_split(berth_real_loop *l, int32_t *best) {
    for (;;) {
        *best = l->short_of = -1;
        berth_status status = berth_real_search(l);
        if (status == BERTH_E_INFEASIBLE && l->n_tightened > 0) return BERTH_OK;
        BERTH_TRY(status);
        BERTH_TRY(berth_real_confirm(l, best));
        /* where evaluations are runs, what did not fit had no time to be found best by */
        if (l->short_of < 0 || l->n_tightened == MOST_TIGHTENED || l->options->measured || !(berth_real_left(l) > 0) ||
            berth_real_wins(l, l->out->real.measured))
            return BERTH_OK;
        BERTH_TRY(tighten(l));
    }
}

static berth_status run(berth_real_loop *l) {
    int32_t best = -1;
    BERTH_TRY(berth_real_find_profile(l));
    BERTH_TRY(berth_real_find_allowed(l));
    berth_status status = find_split(l, &best);
    if (status == BERTH_E_CANCELLED && l->options->measured) { /* single devices were measured, and stay so */
        l->interrupted = true;
        best = -1;
        status = BERTH_OK;
    }
    BERTH_TRY(status);
    return berth_real_decide(l, best);
}

berth_status berth_place_real(berth_ctx *ctx, berth_real_plan **out, berth_runtime *runtime, const berth_graph *graph,
                              const char *model, const char *const *devices, int32_t n_devices,
                              const berth_real_options *options) {
    *out = NULL;
    berth_real_whole *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    berth_real_loop l = {.ctx = ctx,
                         .subject = {runtime, graph, model, devices, n_devices, options->profile.run.native_precision},
                         .options = options,
                         .out = made,
                         .started = berth_trial_clock(),
                         .place = options->place};
    berth_status status = run(&l);
    for (int32_t i = 0; i < l.n_plans; i++) berth_plan_free(l.plans[i]);
    berth_scratch_remove(l.scratch);
    if (status == BERTH_OK)
        *out = &made->real;
    else
        berth_real_plan_free(&made->real);
    return status;
}

void berth_real_plan_free(berth_real_plan *real) {
    if (!real) return;
    berth_real_whole *made = (berth_real_whole *)real;
    berth_allocator allocator = made->arena.allocator;
    berth_plan_free(real->plan);
    berth_profile_free(real->profile);
    berth_measured_free(real->measured);
    berth_contest_free(&made->contest);
    berth_device_set_free(real->devices);
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
