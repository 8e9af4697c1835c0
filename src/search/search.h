/* SPDX-License-Identifier: Apache-2.0 */
/* The method interface: what a search gets, how it reports, when it stops.
 *
 * A method is one function and one row of the table in place/methods.c:
 *
 *     berth_status berth_search_heft(berth_search *search);
 *
 * It reads search->problem, evaluates through berth_search_evaluate (which counts) or through its own simulator and
 * berth_search_count, offers every candidate worth keeping by berth_search_offer, raises the bound by
 * berth_search_bound, and returns when it is done or berth_search_stop says so. Offering nothing is allowed (no
 * feasible placement found); offering an infeasible placement is not: offer checks by a full run.
 *
 * A budget in evaluations alone must end every method on every problem, so whatever a method may repeat counts: a
 * makespan, of a move too, is one evaluation; and where placements or orders are built up task by task, as many
 * decisions about single tasks as the problem has tasks are one, whether or not they lead to a makespan
 * (berth_search_step: else a search that prunes all it sees would go on for ever). Draws that come to no move end a
 * method when there are many of them in a row. Bounds and cuts evaluate nothing; they are given a fixed amount of work
 * (bound.h). Everything else is done once, in polynomial time.
 *
 * Random numbers come from search->rng only. With a budget in evaluations alone the result must not depend on the
 * number of threads: a method that uses threads splits its work into a fixed number of lanes, each with its own
 * stream, and merges them in order.
 *
 * A search may have a judge: real runs, which then decide instead of the simulator. The simulator still says what is
 * feasible and what a schedule looks like; every time that is compared, rewarded or offered is the judge's. There is no
 * bound then: what is proven of the model is not proven of the machine. */
#ifndef BERTH_SEARCH_SEARCH_H
#define BERTH_SEARCH_SEARCH_H

#include "base/rng.h"
#include "search/problem.h"
#include "simulate/sim.h"

typedef enum berth_source {
    BERTH_SOURCE_SEED,            /* a classical candidate */
    BERTH_SOURCE_POLISHED_SEED,   /* one improved by moves */
    BERTH_SOURCE_SAMPLE,          /* drawn from a policy */
    BERTH_SOURCE_POLISHED_SAMPLE, /* drawn and improved by moves */
} berth_source;

typedef struct berth_budget {
    int64_t evaluations; /* INT64_MAX: no limit */
    double seconds;      /* INFINITY: no limit; wall clock from the start of the search */
} berth_budget;

/* How good the best placement was when so many evaluations had been made: kept while a search counts. */
typedef struct berth_curve {
    const int64_t *at; /* [n] evaluations, ascending */
    double *ms;        /* [n] gets the best makespan after so many of them; INFINITY: none yet */
    int32_t n, next;   /* the first that has not been reached */
    int64_t before;    /* evaluations of earlier searches */
} berth_curve;

/* Real runs in place of the simulator. Placements that are the same to it are run once, however often they are asked
 * for. */
typedef struct berth_judge {
    /* What a feasible placement of tasks takes, ms. INFINITY: it could not be run, which says nothing about its time.
     * *known: it was asked for before. */
    double (*ask)(void *user, const int32_t *device, bool *known);
    void *user;
    berth_status status; /* not BERTH_OK: it cannot go on, and every search that has it stops */
} berth_judge;

/* So many evaluations that came to no new run of the judge's count as one: else a search whose placements are all known
 * would never end. */
enum { BERTH_SEARCH_RECALLS = 16 };

typedef struct berth_search berth_search;
struct berth_learn; /* learn/learn.h: for methods that learn */

struct berth_search {
    berth_ctx *ctx;
    const berth_problem *problem;
    berth_sim *sim; /* for berth_search_evaluate */
    berth_rng rng;
    berth_budget budget;
    int32_t n_threads;
    berth_judge *judge;              /* NULL: the simulator decides */
    const struct berth_learn *learn; /* NULL: defaults, and nothing is kept */

    /* state, kept by the calls below */
    int64_t evaluations;
    int64_t steps;   /* decisions that are no whole evaluation yet */
    int64_t recalls; /* evaluations without a new run, likewise */
    double model_ms; /* what the simulator said of the last evaluation */
    bool is_masked;  /* the last evaluation could not be run: nothing is to be learnt from its INFINITY */
    double started;  /* clock at the start, seconds */
    bool has_best;
    double best_ms;
    int32_t *best_device;   /* [n_tasks] */
    int32_t *best_priority; /* [n_tasks], valid if best_has_priority */
    bool best_has_priority;
    berth_source best_source;
    const char *best_method;
    double bound_ms;    /* no placement of single tasks takes less */
    double seen_ms;     /* the least makespan known: that of the best, or of one that is still to be offered */
    berth_curve *curve; /* NULL: none */

    /* the pace at which stop looks at the clock and asks for cancellation */
    int64_t calls_left, calls_between;
    double last_look; /* seconds */
    bool out_of_time;

    void (*progress)(void *user, const berth_search *search);
    void *progress_user;
};

berth_status berth_search_new(berth_ctx *ctx, berth_search **out, const berth_problem *problem, uint64_t seed,
                              berth_budget budget, int32_t n_threads);
void berth_search_free(berth_search *search);

/* Simulate, or ask the judge, and count one. INFINITY: infeasible, or masked. */
double berth_search_evaluate(berth_search *search, const int32_t *device, const int32_t *priority);
/* The same on a simulator of the caller's, whose schedule is then of this placement. */
double berth_search_evaluate_on(berth_search *search, berth_sim *sim, const int32_t *device, const int32_t *priority);
/* Count evaluations made elsewhere (single moves of an own simulator). */
void berth_search_count(berth_search *search, int64_t evaluations);
/* Count n decisions about a device or a place in the order of a single task. */
static inline void berth_search_step(berth_search *search, int32_t n) {
    search->steps += n;
    if (search->steps < search->problem->costs->n_tasks) return;
    search->evaluations += search->steps / search->problem->costs->n_tasks;
    search->steps %= search->problem->costs->n_tasks;
}
/* Keep the placement if it is better than the best so far (by a full run of its own, not counted, which also makes
 * the number the one that `berth simulate` will print; or by what the judge says, who is asked if he was not before).
 * `source` and `method` must be static strings or enums. */
void berth_search_offer(berth_search *search, const int32_t *device, const int32_t *priority, berth_source source,
                        const char *method);
/* A feasible makespan that the method will offer before it ends; for the curve. */
void berth_search_see(berth_search *search, double ms);
/* What is left of a curve when no more evaluations come. */
void berth_curve_end(berth_curve *curve, double ms);
/* A proven lower bound; ignored where a judge decides. */
void berth_search_bound(berth_search *search, double bound_ms);
/* True: budget spent, cancelled, or best == bound (proven). Ask before every evaluation. Cheap: looks at the clock
 * about once a millisecond, whatever the pace of the calls. */
bool berth_search_stop(berth_search *search);
/* True: time is up or the user wants to stop. For long work between two evaluations. */
bool berth_search_interrupted(berth_search *search);
/* How much of the budget is spent, 0 to 1: the larger share of evaluations and, as of the last look, of time. */
double berth_search_spent(const berth_search *search);
/* Evaluations that the budget still allows. */
int64_t berth_search_left(const berth_search *search);
bool berth_search_proven(const berth_search *search);
/* Seconds since some fixed moment, never backwards. */
double berth_search_clock(void);

#endif
