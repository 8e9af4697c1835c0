/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates are run a few times each, and the one that does best there again, with rounds enough to be sure. */
#include "place/real_loop.h"

#include "runtime/measure.h"
#include "runtime/trial.h"

#include <math.h>
#include <string.h>

enum { CLOSE_ROUNDS = 3, MOST_CLOSE = 4, DECIDING_ROUNDS = 7 };
static const double close_by = 0.05;                      /* of the fastest */
static const double first_share = 0.25, last_share = 0.8; /* of the time that is left; the last round comes on top */

/* Some of the plans, and what came of their runs. */
typedef struct heat {
    int32_t plans[BERTH_CONTEST_SPLITS], n;
    berth_placement *placements[BERTH_CONTEST_SPLITS];
    berth_measured *measured[BERTH_CONTEST_SPLITS];
    double seconds; /* that one process took, on the average */
} heat;

static void end_heat(heat *h) {
    for (int32_t i = 0; i < h->n; i++) {
        berth_placement_free(h->placements[i]);
        berth_measured_free(h->measured[i]);
        h->placements[i] = NULL;
        h->measured[i] = NULL;
    }
}

/* Sessions on one device, each with a process or more. */
static int32_t n_singles(const berth_real_loop *l) {
    return l->subject.n_devices * (l->options->profile.run.native_precision ? 2 : 1);
}

/* The heat with so many processes of each. The last one also compares with the single devices that may be the answer.
 */
static berth_status run_heat(berth_real_loop *l, heat *h, int32_t rounds, double share, bool last) {
    berth_run_options how = l->options->profile.run;
    double before = berth_trial_clock();
    how.rounds = rounds;
    how.seed += (uint64_t)(rounds * BERTH_CONTEST_SPLITS + h->n); /* fresh orders */
    how.seconds = berth_real_share(l, share);
    for (int32_t i = 0; i < h->n; i++) {
        const berth_plan *plan = l->plans[h->plans[i]];
        BERTH_TRY(berth_placement_new(l->ctx, &h->placements[i], plan->n_ops, false));
        for (int32_t k = 0; k < plan->n_ops; k++) h->placements[i]->device[k] = plan->ops[k].device;
    }
    BERTH_TRY(berth_measure_many(l->ctx, h->measured, &l->subject, (const berth_placement *const *)h->placements, h->n,
                                 &how, last ? l->allowed : l->none, last));
    int32_t n = n_singles(l);
    for (int32_t i = 0; i < h->n; i++)
        n += h->measured[i]->plan.latency.runs > 0 || *h->measured[i]->plan.reason ? rounds : 0;
    h->seconds = (berth_trial_clock() - before) / n;
    return BERTH_OK;
}

bool berth_real_is_sound(const berth_measured *m) {
    return m->plan.latency.runs > 0 && !*m->plan.reason && (m->outputs.equal || m->is_only);
}

/* Written down, if it was memory that failed. */
static void note_shortage(berth_real_loop *l, int32_t plan, const berth_measured *m) {
    for (int32_t d = 0; d < l->subject.n_devices && m->plan.out_of_memory && l->short_of < 0; d++)
        if (strcmp(l->subject.devices[d], m->plan.out_of_memory) == 0) {
            l->short_of = d;
            l->short_plan = plan;
            l->short_reason = berth_arena_string(&l->out->arena, m->plan.reason, strlen(m->plan.reason));
        }
}

static double time_of(const berth_measured *m) {
    return m->plan.latency.runs > 0 ? m->plan.latency.steady_ms : INFINITY;
}

/* Whether a is to be preferred: sound ones before others, then the faster one. */
static bool is_before(const berth_measured *a, const berth_measured *b) {
    bool sound = berth_real_is_sound(a), other = berth_real_is_sound(b);
    return sound == other ? time_of(a) < time_of(b) : sound;
}

/* Into the order of preference. */
static void rank(heat *h) {
    for (int32_t i = 1; i < h->n; i++)
        for (int32_t k = i; k > 0 && is_before(h->measured[k], h->measured[k - 1]); k--) {
            berth_measured *measured = h->measured[k];
            int32_t plan = h->plans[k];
            h->measured[k] = h->measured[k - 1];
            h->plans[k] = h->plans[k - 1];
            h->measured[k - 1] = measured;
            h->plans[k - 1] = plan;
        }
}

/* Those that a few more runs may put first. */
static int32_t count_close(const heat *h) {
    int32_t n = 1;
    double best = time_of(h->measured[0]);
    while (n < h->n && n < MOST_CLOSE && berth_real_is_sound(h->measured[n]) &&
           time_of(h->measured[n]) <= (1 + close_by) * best)
        n++;
    return n;
}

/* One process of each; then more of those that are close to the fastest, if there is time for them and for the runs
 * that decide. */
static berth_status choose_candidate(berth_real_loop *l, heat *h) {
    BERTH_TRY(run_heat(l, h, 1, first_share, false));
    for (int32_t i = 0; i < h->n; i++) note_shortage(l, h->plans[i], h->measured[i]);
    rank(h);
    int32_t n = count_close(h);
    double deciding = h->seconds * DECIDING_ROUNDS * (1 + n_singles(l)) / last_share;
    double more = h->seconds * (CLOSE_ROUNDS * n + n_singles(l));
    end_heat(h);
    h->n = n;
    if (n == 1 || berth_real_left(l) < deciding + more) return BERTH_OK;
    BERTH_TRY(run_heat(l, h, CLOSE_ROUNDS, more / (deciding + more), false));
    rank(h);
    end_heat(h);
    return BERTH_OK;
}

static berth_status confirm(berth_real_loop *l, heat *h) {
    if (h->n > 1) BERTH_TRY(choose_candidate(l, h));
    h->n = 1;
    l->out->real.predicted_ms = l->plans[h->plans[0]]->makespan_ms;
    BERTH_TRY(run_heat(l, h, DECIDING_ROUNDS, last_share, true));
    note_shortage(l, h->plans[0], h->measured[0]);
    l->out->real.measured = h->measured[0];
    h->measured[0] = NULL;
    return BERTH_OK;
}

berth_status berth_real_confirm(berth_real_loop *l, int32_t *best) {
    heat h = {.n = l->n_plans};
    *best = -1;
    if (l->n_plans == 0) return BERTH_OK;
    for (int32_t i = 0; i < h.n; i++) h.plans[i] = i;
    berth_status status = confirm(l, &h);
    end_heat(&h);
    *best = h.plans[0];
    return status;
}
