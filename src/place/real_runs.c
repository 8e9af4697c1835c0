/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates are run a few times each, and the one that does best there again, with rounds enough to be sure. */
#include "place/real_loop.h"

#include "runtime/trial.h"

#include <math.h>
#include <string.h>

enum { QUICK_ROUNDS = 2 };

static berth_status measure(berth_real_loop *l, const berth_plan *plan, int32_t rounds, berth_measured **out) {
    berth_run_options how = l->options->profile.run;
    berth_placement *placement = NULL;
    how.rounds = rounds;
    how.seed += (uint64_t)rounds;           /* fresh orders */
    how.seconds = berth_real_share(l, 0.8); /* the last round and the look at places come on top */
    BERTH_TRY(berth_placement_new(l->ctx, &placement, plan->n_ops, false));
    for (int32_t i = 0; i < plan->n_ops; i++) placement->device[i] = plan->ops[i].device;
    berth_status status =
        berth_measure(l->ctx, out, l->runtime, l->graph, l->model, l->devices, l->n_devices, placement, &how);
    berth_placement_free(placement);
    return status;
}

bool berth_real_is_sound(const berth_measured *m) {
    return m->plan.latency.runs > 0 && !*m->plan.reason && m->outputs.equal;
}

/* Written down, if it was memory that failed. */
static void note_shortage(berth_real_loop *l, int32_t plan, const berth_measured *m) {
    for (int32_t d = 0; d < l->n_devices && m->plan.out_of_memory && l->short_of < 0; d++)
        if (strcmp(l->devices[d], m->plan.out_of_memory) == 0) {
            l->short_of = d;
            l->short_plan = plan;
            l->short_reason = berth_arena_string(&l->out->arena, m->plan.reason, strlen(m->plan.reason));
        }
}

/* The one that is fastest in a few runs, sound ones before others; -1: there is none. */
static berth_status choose_candidate(berth_real_loop *l, int32_t *best) {
    double fastest = INFINITY;
    bool sound = false;
    *best = l->n_plans > 0 ? 0 : -1;
    for (int32_t i = 0; i < l->n_plans && l->n_plans > 1; i++) {
        berth_measured *measured = NULL;
        double before = berth_trial_clock();
        BERTH_TRY(measure(l, l->plans[i], QUICK_ROUNDS, &measured));
        double ms = measured->plan.latency.runs > 0 ? measured->plan.latency.steady_ms : INFINITY;
        if (berth_real_is_sound(measured) > sound || (berth_real_is_sound(measured) == sound && ms < fastest)) {
            sound = berth_real_is_sound(measured);
            fastest = ms;
            *best = i;
        }
        note_shortage(l, i, measured);
        berth_measured_free(measured);
        /* What is left is for the runs that decide, which take longer. */
        if (berth_real_left(l) < 2 * (berth_trial_clock() - before)) break;
    }
    return BERTH_OK;
}

berth_status berth_real_confirm(berth_real_loop *l, int32_t *best) {
    BERTH_TRY(choose_candidate(l, best));
    if (*best < 0) return BERTH_OK;
    l->out->real.predicted_ms = l->plans[*best]->makespan_ms;
    BERTH_TRY(measure(l, l->plans[*best], berth_run_options_default().rounds, &l->out->real.measured));
    note_shortage(l, *best, l->out->real.measured);
    return BERTH_OK;
}
