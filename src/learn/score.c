/* SPDX-License-Identifier: Apache-2.0 */
/* From a makespan to a reward: relative, so that one rate fits all models, and finite for whatever a simulator says. */
#include "learn/score.h"

#include <math.h>

/* Stands in for makespans of 0, whose logarithm is not finite. */
static const double least_ms = 1e-12;

/* Everything one after another where it is slowest. */
static double most_ms(const berth_costs *c) {
    double sum = least_ms;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double most = 0;
        for (int32_t d = 0; d < c->n_devices; d++) {
            double ms = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
            if (ms < INFINITY) most = fmax(most, ms);
        }
        sum += most;
    }
    return sum;
}

bool berth_scores_init(berth_scores *s, berth_arena *arena, berth_search *search, const char *method) {
    const berth_costs *c = search->problem->costs;
    *s = (berth_scores){.search = search, .method = method, .best_ms = INFINITY, .began = berth_search_clock()};
    s->worst = log(most_ms(c));
    s->peak = berth_arena_push(arena, (size_t)c->n_devices, sizeof *s->peak);
    return !arena->failed;
}

/* By how much of its capacity the fullest device is over it; 0 if it is not memory that forbids the placement. */
static double excess(const berth_scores *s, const int32_t *device) {
    const berth_costs *c = s->search->problem->costs;
    double most = 0;
    berth_sim_memory(s->search->sim, device, NULL, s->peak);
    for (int32_t d = 0; d < c->n_devices; d++)
        if (s->peak[d] > c->capacity[d]) most = fmax(most, s->peak[d] / fmax(c->capacity[d], 1) - 1);
    return most;
}

double berth_scores_of(berth_scores *s, const int32_t *device, berth_source source) {
    s->ms = berth_search_evaluate(s->search, device, NULL);
    if (s->search->is_masked) return NAN;
    if (!(s->ms < INFINITY)) return s->worst + 0.5 + log1p(excess(s, device));
    if (s->ms < s->search->best_ms) berth_search_offer(s->search, device, NULL, source, s->method);
    double score = log(fmax(s->ms, least_ms));
    s->worst = s->any ? fmax(s->worst, score) : score;
    s->any = true;
    s->sum_ms += s->ms;
    s->best_ms = fmin(s->best_ms, s->ms);
    s->n_ok++;
    return score;
}

void berth_scores_tell(berth_scores *s, double entropy, double decisions) {
    const berth_learn *learn = s->search->learn;
    double now = berth_search_clock();
    const berth_episode episode = {.mean_ms = s->n_ok > 0 ? s->sum_ms / s->n_ok : INFINITY,
                                   .best_ms = s->best_ms,
                                   .entropy = entropy,
                                   .clusters = decisions,
                                   .seconds = now - s->began};
    if (learn && learn->episode) learn->episode(learn->user, &episode);
    s->sum_ms = 0;
    s->n_ok = 0;
    s->best_ms = INFINITY;
    s->began = now;
}
