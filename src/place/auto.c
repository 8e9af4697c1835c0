/* SPDX-License-Identifier: Apache-2.0 */
/* `auto`: the portfolio. Cheap methods first; then a short round of improvement, so that what proves has something good
 * to start from; then the search for a proof, beside improvement where there are threads for both; then improvement
 * until the budget ends. It stops as soon as the best placement meets the bound.
 *
 * With a budget in time every thread has a lane of its own until the time is up. With a budget in evaluations there are
 * always N_LANES lanes with fixed shares, a proof gets three quarters of what is left, and nothing depends on a clock:
 * what is run is decided by the size of the problem alone. A learned method gets a lane where improvement goes on to
 * the end: when nothing is proven and there is time. Where a judge decides, see ask_judge(). */
#include "place/auto.h"

#include <math.h>

enum {
    N_LANES = 4,
    LEAST_SECONDS_TO_LEARN = 5, /* of the whole budget; */
    LEAST_TO_LEARN = 500,       /* evaluations for the lane that learns */
    MOST_UNITS_PROVEN = 20000,  /* beyond, setting up a proof costs more than it can bring */
    MOST_BITS_TRIED = 20,       /* of all placements, if the number of evaluations is the only limit; */
    MOST_BITS_ORDERED = 16,     /* ... where their orders are searched, too */
};

static bool is_timed(const berth_crew *crew) {
    return crew->best->budget.seconds < INFINITY;
}

/* What is left of the evaluations, until that share of the whole time is over. */
static berth_budget until(const berth_crew *crew, double share) {
    return (berth_budget){
        .evaluations = berth_search_left(crew->best),
        .seconds = share * crew->best->budget.seconds,
    };
}

/* The same for a method that builds: where evaluations are limited, a share of them at most. */
static berth_budget until_built(const berth_crew *crew, double share) {
    berth_budget budget = until(crew, share);
    if (budget.evaluations < INT64_MAX) budget.evaluations = 1 + (budget.evaluations - 1) / N_LANES;
    return budget;
}

/* Under `serial` a cut is often the optimum; elsewhere it is one more start, and not the cheapest. */
static berth_status build_all(berth_crew *crew) {
    static const char *const names[] = {"greedy", "fastest", "min-cut", "heft",   "m-etf",
                                        "m-sct",  "cut",     "metis",   "min-cut"};
    bool serial = crew->problem->costs->model == BERTH_MODEL_SERIAL;
    int last = sizeof names / sizeof *names - 1;
    for (int i = 0; i <= last && !berth_crew_done(crew); i++) {
        if (i == (serial ? last : 2)) continue;
        if (berth_crew_seconds(crew) > 0.2 * crew->best->budget.seconds) break;
        berth_status status =
            berth_crew_try(crew, berth_method_find(names[i]), until_built(crew, serial && i == 2 ? 0.8 : 0.3));
        if (status != BERTH_OK && status != BERTH_E_UNSUPPORTED) return status;
    }
    return BERTH_OK;
}

/* --- improvement ------------------------------------------------------------------------------------------------ */

static const berth_method *improver(int32_t lane) {
    return berth_method_find(lane % 2 ? "local" : "anneal");
}

/* What each of n lanes gets of that share of the evaluations that are left. */
static int64_t part_of(const berth_crew *crew, double share, int32_t lane, int32_t n) {
    int64_t left = berth_search_left(crew->best);
    if (crew->best->budget.evaluations == INT64_MAX) return INT64_MAX;
    if (share < 1) left = (int64_t)ceil(share * (double)left);
    return left / n + (lane < left % n);
}

/* All lanes improve the best placement so far, with that share of what is left of the evaluations, or until that share
 * of the whole time is over; the last one by a method that learns, if `learn` is set. */
static berth_status improve_by(berth_crew *crew, double share, bool learn) {
    berth_turn turns[BERTH_CREW_LANES] = {{0}};
    int32_t n = is_timed(crew) ? crew->n_threads : N_LANES;
    if (berth_crew_done(crew)) return BERTH_OK;
    for (int32_t i = 0; i < n; i++)
        turns[i] = (berth_turn){
            .method = learn && i == n - 1 ? berth_method_find("hsdag") : improver(i),
            .budget = {.evaluations = part_of(crew, share, i, n), .seconds = until(crew, share).seconds},
        };
    return berth_crew_run(crew, turns, n);
}

static berth_status improve(berth_crew *crew, double share) {
    return improve_by(crew, share, false);
}

/* What is left, with a lane that learns where that pays: not in an instant, and not in a few evaluations. */
static berth_status improve_to_the_end(berth_crew *crew) {
    bool learn = is_timed(crew) ? crew->best->budget.seconds >= LEAST_SECONDS_TO_LEARN
                                : part_of(crew, 1, N_LANES - 1, N_LANES) >= LEAST_TO_LEARN;
    if (learn && is_timed(crew) && crew->n_threads == 1) { /* nobody beside it: one after the other */
        BERTH_TRY(improve_by(crew, 0.8, true));
        learn = false;
    }
    return improve_by(crew, 1, learn);
}

/* --- proof ------------------------------------------------------------------------------------------------------ */

/* Bits that tell all placements apart, as far as there are no more than `most`. Where their orders are searched, every
 * task counts: one that goes where its unit goes, or that cannot go anywhere else, can still run sooner or later. */
static double count_bits(const berth_problem *p, bool ordered, double most) {
    double bits = 0;
    for (int32_t unit = 0; unit < p->n_units && bits <= most; unit++) {
        double choices = __builtin_popcountll(p->allowed[unit]);
        bits += ordered ? (p->unit_start[unit + 1] - p->unit_start[unit]) * log2(fmax(choices, 2)) : log2(choices);
    }
    return bits;
}

/* Whether a proof is worth its share of the evaluations. */
static bool may_prove(const berth_crew *crew) {
    const berth_problem *p = crew->problem;
    if (is_timed(crew)) return p->n_units <= MOST_UNITS_PROVEN;
    bool ordered = p->costs->model == BERTH_MODEL_CONCURRENT && p->costs->objective == BERTH_OBJECTIVE_LATENCY;
    double most = ordered ? MOST_BITS_ORDERED : MOST_BITS_TRIED;
    return count_bits(p, ordered, most) <= most;
}

/* One lane proves, the others improve. Without a clock: one alone, for that share of the evaluations. */
static berth_status prove(berth_crew *crew, double share) {
    berth_turn turns[BERTH_CREW_LANES] = {{0}};
    int32_t n = is_timed(crew) ? crew->n_threads : 1;
    berth_budget budget = until(crew, share);
    if (berth_crew_done(crew) || !may_prove(crew)) return BERTH_OK;
    if (!is_timed(crew)) budget.evaluations = part_of(crew, share, 0, 1);
    for (int32_t i = 0; i < n; i++)
        turns[i] = (berth_turn){.method = i ? improver(i) : berth_method_find("exact"), .budget = budget};
    return berth_crew_run(crew, turns, n);
}

/* Where a judge decides: the model's best, which costs few evaluations, then half of the rest for what learns and half
 * for moves, each from the best so far. */
static berth_status ask_judge(berth_crew *crew) {
    berth_turn refined = {.method = berth_method_find("anneal"), .on_model = true, .budget = until(crew, 0.2)};
    if (!berth_crew_done(crew)) BERTH_TRY(berth_crew_run(crew, &refined, 1));
    if (!berth_crew_done(crew) && may_prove(crew))
        BERTH_TRY(berth_crew_try(crew, berth_method_find("exact"), until(crew, 0.3)));
    berth_budget half = {.evaluations = part_of(crew, 0.5, 0, 1), .seconds = until(crew, 0.65).seconds};
    if (!berth_crew_done(crew)) BERTH_TRY(berth_crew_try(crew, berth_method_find("hsdag"), half));
    return berth_crew_done(crew) ? BERTH_OK : berth_crew_try(crew, berth_method_find("local"), until(crew, 1));
}

berth_status berth_place_auto(berth_crew *crew) {
    BERTH_TRY(build_all(crew));
    if (crew->judge) return ask_judge(crew);
    if (is_timed(crew)) {
        BERTH_TRY(prove(crew, 0.05));
        if (!berth_crew_done(crew)) BERTH_TRY(berth_crew_raise_bound(crew, until(crew, 0.15), true));
        BERTH_TRY(improve(crew, 0.3));
        BERTH_TRY(prove(crew, crew->n_threads > 1 ? 0.8 : 0.6));
        return improve_to_the_end(crew);
    }
    BERTH_TRY(prove(crew, 0.75));
    if (!berth_crew_done(crew)) BERTH_TRY(berth_crew_raise_bound(crew, until(crew, 1), true));
    BERTH_TRY(improve(crew, 0.3));
    return improve_to_the_end(crew);
}
