/* SPDX-License-Identifier: Apache-2.0 */
/* A crew: several searches of one problem, in turn or side by side, whose best placements and bounds come together.
 *
 * A turn is one method with its own budget, stream of random numbers and search. Turns that run together are given all
 * they depend on beforehand and are merged in their order, so that with budgets in evaluations alone the outcome is the
 * same on any number of threads. */
#ifndef BERTH_PLACE_CREW_H
#define BERTH_PLACE_CREW_H

#include "base/vec.h"
#include "berth/place.h"
#include "learn/learn.h"
#include "place/methods.h"

#include <pthread.h>
#include <stdatomic.h>

enum { BERTH_CREW_LANES = 16 };

typedef struct berth_crew berth_crew;

/* One search with a context of its own; at most one thread uses it at a time. */
typedef struct berth_lane {
    berth_crew *crew;
    berth_ctx *ctx;
    berth_search *search;
    bool on_caller; /* run by the calling thread, which alone asks the user */
} berth_lane;

typedef struct berth_turn {
    const berth_method *method;
    berth_budget budget; /* seconds: counted from the start of the crew */
    bool bound_only;     /* nothing else of it counts */
    bool on_model;       /* by the simulator, though there is a judge, who is asked about what comes of it */
    int32_t n_threads;   /* that the method itself may use; 0: one */
    /* what came of it */
    berth_status status;
    double seconds;
} berth_turn;

struct berth_crew {
    berth_ctx *ctx;
    const berth_problem *problem;
    berth_search *best; /* the answer so far, all evaluations, the bound, the whole budget */
    uint64_t seed, n_turns;
    int32_t n_threads;
    berth_judge *judge;           /* NULL: the simulator decides */
    const int32_t *const *starts; /* [n_starts][n_tasks], see berth_crew_takes_starts() */
    int32_t n_starts;             /* */
    const berth_learn *learn;     /* for methods that learn; NULL: there are none */
    bool seeded, unbounded;       /* berth/place.h */
    bool is_portfolio;            /* one method that diverges is no failure */
    berth_curve curve;            /* of all turns that count, where they run one at a time */
    BERTH_VEC(berth_plan_method) record;
    berth_lane lanes[BERTH_CREW_LANES];

    berth_progress_fn progress;
    void *progress_user;
    double last_progress;
    const char *at_work;

    /* shared by the threads of a stage */
    berth_turn *turns;
    int32_t n_stage, next, n_running;
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool may_stop_others; /* a turn that proves its answer ends the stage */
    atomic_bool cancelled, enough;
};

/* `started`: the moment from which seconds are counted. `learn` may be NULL. */
berth_status berth_crew_init(berth_crew *crew, berth_ctx *ctx, const berth_problem *problem,
                             const berth_place_options *options, const berth_learn *learn, double started);
void berth_crew_deinit(berth_crew *crew);
/* From now on this judge decides, one thread asks him, and nothing is proven. Methods that draw, improve or learn ask
 * about every placement. Those that build or prove do so on the model, whose times are not his: they have a budget of
 * their own there, and what comes of each is one evaluation. */
void berth_crew_set_judge(berth_crew *crew, berth_judge *judge);

/* Run up to BERTH_CREW_LANES turns, as many at a time as there are threads, and merge them. Turns that
 * find nothing feasible, or end before they are done, are no failure; BERTH_E_UNSUPPORTED is one only if there is no
 * other turn. */
berth_status berth_crew_run(berth_crew *crew, berth_turn *turns, int32_t n);
/* One turn with that budget. */
berth_status berth_crew_try(berth_crew *crew, const berth_method *method, berth_budget budget);
/* Raise the bound, as far as it gets in that budget. A placement that comes with it is kept if `keep` is set; if not,
 * the bound is something by the way and gets a tenth of the work. */
berth_status berth_crew_raise_bound(berth_crew *crew, berth_budget budget, bool keep);
/* Add to what is known of a method; ms INFINITY: it found nothing. */
berth_status berth_crew_record(berth_crew *crew, const char *method, double ms, int64_t evaluations, double seconds);
/* Whether the method starts from the best placement so far, which everything on one device then is the first of. */
bool berth_crew_starts_from_best(const berth_crew *crew, const berth_method *method);
/* Budget spent, cancelled or proven. */
bool berth_crew_done(berth_crew *crew);
/* Seconds since the start. */
double berth_crew_seconds(const berth_crew *crew);

#endif
