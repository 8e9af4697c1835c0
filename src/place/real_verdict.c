/* SPDX-License-Identifier: Apache-2.0 */
/* A split is the answer where fresh runs say that it surely gains; else it is one device, and the verdict says why. */
#include "place/real_loop.h"

#include "place/leads.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

berth_status berth_real_find_allowed(berth_real_loop *l) {
    l->allowed = berth_arena_push(&l->out->arena, (size_t)l->subject.n_devices, sizeof *l->allowed);
    l->none = berth_arena_push(&l->out->arena, (size_t)l->subject.n_devices, sizeof *l->none);
    if (l->out->arena.failed) return berth_fail_nomem(l->ctx);
    return berth_lead_singles(l->ctx, l->subject.graph, l->out->real.devices, &l->place, l->allowed);
}

/* The fastest single device that is allowed; -1: there is none. */
static int32_t best_allowed(const berth_real_loop *l, const berth_measured *m) {
    int32_t best = -1;
    for (int32_t d = 0; d < m->n_singles; d++) {
        bool runs = m->singles[d].latency.runs > 0 && !*m->singles[d].reason;
        if (!runs || !l->allowed[d]) continue;
        if (best < 0 || m->singles[d].latency.median_ms < m->singles[best].latency.median_ms) best = d;
    }
    return best;
}

bool berth_real_wins(const berth_real_loop *l, const berth_measured *m) {
    int32_t single = best_allowed(l, m);
    return berth_real_is_sound(m) && (single < 0 || m->singles[single].gain_low > l->options->min_gain);
}

/* Everything that can be on that device, which has the memory that it has. */
static berth_status take_single(berth_real_loop *l, int32_t d) {
    berth_place_options place = l->place;
    place.limits = l->options->place.limits;
    return berth_lead_by_rule(l->ctx, &l->out->real.plan, l->subject.graph, l->out->real.devices, &place, d);
}

static berth_status say(berth_real_loop *l, const char *verdict) {
    if (verdict && l->n_tightened > 0)
        verdict = berth_arena_printf(&l->out->arena,
                                     "%s; memory of %s was tightened to %.4g MB after %d runs such as: %.300s", verdict,
                                     l->tightened, l->tightened_bytes / 1e6, (int)l->n_tightened, l->short_reason);
    l->out->real.verdict = verdict;
    return verdict ? BERTH_OK : berth_fail_nomem(l->ctx);
}

static int32_t predicted_single(const berth_real_loop *l, berth_plan **plan) {
    int32_t best = 0;
    berth_place_options how = l->place;
    how.method = "single";
    how.limits = l->options->place.limits;
    how.unbounded = true;
    if (berth_place(l->ctx, plan, l->subject.graph, l->out->real.devices, &how) != BERTH_OK) return 0;
    for (int32_t d = 1; d < (*plan)->n_devices; d++)
        if ((*plan)->single_ms[d] < (*plan)->single_ms[best]) best = d;
    return best;
}

/* The fastest device by the runs of the profile, which are stock sessions; by prediction, if it came from a file. */
static int32_t fastest_single(const berth_real_loop *l) {
    const berth_profile *profile = l->out->real.profile;
    berth_plan *plan = NULL;
    int32_t best = 0;
    if (l->out->contest.single) return l->out->contest.single->single;
    if (!profile) {
        best = predicted_single(l, &plan);
        berth_plan_free(plan);
        return best;
    }
    for (int32_t d = 1; d < l->subject.n_devices; d++) {
        bool faster = profile->runs[d].measured_ms < profile->runs[best].measured_ms;
        if (l->allowed[d] > l->allowed[best] || (l->allowed[d] == l->allowed[best] && faster)) best = d;
    }
    return best;
}

/* No split is worth being run again. */
static berth_status settle_for_single(berth_real_loop *l) {
    const berth_plan_runs *runs = &l->out->contest.referee.tally;
    berth_arena *arena = &l->out->arena;
    int32_t d = fastest_single(l);
    const char *name = l->subject.devices[d];
    BERTH_TRY(take_single(l, d));
    if (!l->options->measured)
        return say(l, berth_arena_printf(arena, "no split is predicted to be faster than %s alone", name));
    if (l->interrupted)
        return say(l,
                   berth_arena_printf(arena, "interrupted before fresh runs could confirm a split, so %s alone", name));
    if (runs->failed > 0 && !l->out->contest.referee.split_ran)
        return say(l, berth_arena_printf(arena, "no split could be run, so %s alone: %.400s", name,
                                         berth_referee_reason(&l->out->contest.referee)));
    return say(l, berth_arena_printf(arena, "none of %lld placements that were run is faster than %s alone",
                                     (long long)runs->placements, name));
}

/* What the search was goes with the answer, which may be another placement than the one it ended with. */
static void tell_search(berth_real_loop *l) {
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

static berth_status choose(berth_real_loop *l, int32_t best) {
    berth_real_plan *real = &l->out->real;
    const berth_measured *m = real->measured;
    berth_arena *arena = &l->out->arena;
    if (best < 0) return settle_for_single(l);
    int32_t single = best_allowed(l, m);
    double gain_low = single < 0 ? NAN : m->singles[single].gain_low;
    if (berth_real_wins(l, m)) {
        real->plan = l->plans[best];
        l->plans[best] = NULL;
        real->is_split = true;
        if (m->is_only) return say(l, "no device runs it alone, so that its outputs could not be compared");
        if (single < 0) return say(l, m->best < 0 ? "no device runs it alone" : "no device may run it alone");
        return say(l, berth_arena_printf(arena, "with 95 %% confidence the split is at least %.1f %% faster than %s",
                                         100 * gain_low, m->singles[single].name));
    }
    int32_t d = single < 0 ? fastest_single(l) : single;
    double gain = m->singles[d].gain;
    BERTH_TRY(take_single(l, d));
    if (m->plan.latency.runs == 0 || *m->plan.reason)
        return say(l, berth_arena_printf(arena, "the best split does not run: %.400s", m->plan.reason));
    if (isnan(m->outputs.max_abs))
        return say(l, berth_arena_printf(arena, "the outputs of the best split could not be compared, so %s alone",
                                         l->subject.devices[d]));
    if (!m->outputs.equal)
        return say(
            l, berth_arena_printf(arena, "the outputs of the best split differ, so %s alone", l->subject.devices[d]));
    if (isnan(gain_low))
        return say(l,
                   berth_arena_printf(arena,
                                      "time was too short to be sure of any gain over %s alone: the best split gains "
                                      "%.1f %%, in fewer than 5 rounds",
                                      l->subject.devices[d], 100 * gain));
    return say(l, berth_arena_printf(arena,
                                     "no split surely gains %.1f %% over %s alone: the best one gains %.1f %%, with 95 "
                                     "%% confidence at least %.1f %%",
                                     100 * l->options->min_gain, l->subject.devices[d], 100 * gain, 100 * gain_low));
}

berth_status berth_real_decide(berth_real_loop *l, int32_t best) {
    berth_real_plan *real = &l->out->real;
    BERTH_TRY(choose(l, best));
    real->plan->measured = real->measured;
    real->plan->native_precision = l->options->profile.run.native_precision;
    real->plan->graph = l->subject.graph;
    real->plan->verdict = real->verdict;
    tell_search(l);
    return BERTH_OK;
}
