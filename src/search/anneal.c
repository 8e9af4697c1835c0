/* SPDX-License-Identifier: Apache-2.0 */
/* `anneal`: simulated annealing on the logarithm of the makespan (Kirkpatrick et al. 1983), tuned. Moves are those of
 * local_walk.c: a unit, half of the time with up to seven others that hang together with it, goes to the device of a
 * neighbour; under `concurrent` mostly units of the critical chain, and some moves change the order. A worse placement
 * is kept with probability (ms / worse)^(1 / T).
 *
 * T falls geometrically by a factor of 10 over a round. It starts at 0.6 / units, about what a move of an average unit
 * changes, and higher where units are few. A round starts from the best placement so far, disturbed if the last round
 * found no better one, and each is twice as long as the one before; the last takes what is left of the budget. */
#include <math.h>

#include "search/local_walk.h"
#include "search/search_methods.h"

enum { FIRST_ROUND = 50, LONGER = 2 }; /* evaluations per unit; ratio of two rounds */
static const double cooling = 0.1;     /* last temperature of a round over its first */

static double first_temperature(double n_units) {
    return 0.6 / n_units * (1 + 10 / n_units);
}

typedef struct turn {
    int64_t first, length; /* evaluations */
    double first_spent;    /* share of the budget */
} turn;

/* Evaluations that the budget leaves; as far as time limits it, by the pace so far. */
static double evaluations_left(const berth_search *search, int64_t first, double started) {
    double left = (double)berth_search_left(search), now = berth_search_clock();
    if (!(search->budget.seconds < INFINITY)) return left;
    double pace = (double)(search->evaluations - first + 1) / (now - started + 1e-6);
    double by_time = (search->budget.seconds - (now - search->started)) * pace;
    return by_time < left ? by_time : left;
}

/* How far the round is, 0 to 1: by evaluations or, if it is to last beyond its end, by the share of the budget in time
 * that it has used. */
static double progress(const berth_search *search, const turn *r) {
    double done = (double)(search->evaluations - r->first) / (double)r->length;
    if (search->budget.seconds < INFINITY) {
        double spent = (berth_search_spent(search) - r->first_spent) / (1 - r->first_spent);
        if (spent > done) done = spent;
    }
    return done;
}

/* False: no move came up in many draws. */
static bool run_round(berth_stroll *w, const turn *r) {
    berth_search *search = w->search;
    double n = w->problem->n_units, hot = first_temperature(n), temperature = hot;
    int64_t misses = 0, most_misses = 64 + 16 * (int64_t)n, until_cooler = 0;
    while (!berth_search_stop(search) && w->ms > 0) {
        if (--until_cooler < 0) {
            double done = progress(search, r);
            if (done >= 1) break;
            temperature = hot * pow(cooling, done);
            until_cooler = 16;
        }
        double ms = berth_stroll_try_random(w);
        if (!berth_stroll_moved(w)) {
            if (++misses > most_misses) return false;
            continue;
        }
        misses = 0;
        bool keep = ms <= w->ms;
        if (!keep && ms < INFINITY) keep = berth_rng_uniform(w->rng) < exp(-log(ms / w->ms) / temperature);
        if (keep)
            berth_stroll_keep(w);
        else
            berth_stroll_drop(w);
    }
    berth_stroll_offer(w);
    return true;
}

static void anneal(berth_stroll *w) {
    berth_search *search = w->search;
    int64_t first = search->evaluations, length = FIRST_ROUND * (int64_t)w->problem->n_units;
    double started = berth_search_clock(), best_ms = search->best_ms;
    for (bool is_first = true; !berth_search_stop(search) && w->ms > 0; is_first = false) {
        double left =
            is_first && !(search->budget.evaluations < INT64_MAX) ? INFINITY : evaluations_left(search, first, started);
        if (!is_first && search->best_ms < best_ms)
            berth_stroll_return(w);
        else if (!is_first)
            berth_stroll_restart(w);
        best_ms = search->best_ms;
        turn r = {.first = search->evaluations, .length = length, .first_spent = berth_search_spent(search)};
        if (left < LONGER * (double)length) r.length = left > 1 ? (int64_t)left : 1;
        if (!run_round(w, &r)) return;
        length *= LONGER;
    }
}

berth_status berth_search_anneal(berth_search *search) {
    berth_stroll w;
    bool has_start = false;
    BERTH_TRY(berth_stroll_init(&w, search, "anneal", &has_start));
    if (has_start) anneal(&w);
    berth_stroll_deinit(&w);
    return BERTH_OK;
}
