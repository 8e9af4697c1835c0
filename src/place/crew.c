/* SPDX-License-Identifier: Apache-2.0 */
/* Running turns: threads, merging, progress, cancellation.
 *
 * Only the calling thread talks to the user: it asks for cancellation from within its own search (the context of each
 * lane asks the crew) and, once it has no more turns, while it waits for the others. */
#include "place/crew.h"

#include "base/processors.h"
#include "search/bound.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const double progress_every = 0.1; /* seconds */
static const double model_share = 0.8;    /* of the time, at most, for what is simulated where a judge decides */
enum { MODEL_EVALUATIONS = 100000 };      /* and evaluations of one turn */

double berth_crew_seconds(const berth_crew *crew) {
    return berth_search_clock() - crew->best->started;
}

static void report_progress(berth_crew *crew, const berth_search *search) {
    if (!crew->progress) return;
    double seconds = berth_crew_seconds(crew);
    if (seconds - crew->last_progress < progress_every) return;
    crew->last_progress = seconds;
    berth_progress now = {
        .method = crew->at_work,
        .makespan_ms = search && search->best_ms < crew->best->best_ms ? search->best_ms : crew->best->best_ms,
        .lower_bound_ms = search && search->bound_ms > crew->best->bound_ms ? search->bound_ms : crew->best->bound_ms,
        .evaluations = crew->best->evaluations + (search ? search->evaluations : 0),
        .seconds = seconds,
    };
    crew->progress(crew->progress_user, &now);
}

static bool ask_user(berth_crew *crew, const berth_search *search) {
    report_progress(crew, search);
    if (berth_cancelled(crew->ctx)) atomic_store(&crew->cancelled, true);
    return atomic_load(&crew->cancelled);
}

/* The cancel callback of every lane. It also says when the turn is over, for long work that knows no search. */
static bool lane_cancelled(void *user) {
    berth_lane *lane = user;
    if (lane->on_caller) ask_user(lane->crew, lane->search);
    return atomic_load(&lane->crew->cancelled) || atomic_load(&lane->crew->enough) ||
           berth_crew_seconds(lane->crew) >= lane->search->budget.seconds;
}

bool berth_crew_done(berth_crew *crew) {
    const berth_search *best = crew->best;
    return ask_user(crew, NULL) || berth_search_proven(best) || berth_search_left(best) == 0 ||
           berth_crew_seconds(crew) >= best->budget.seconds || (crew->judge && crew->judge->status != BERTH_OK);
}

/* --- life ------------------------------------------------------------------------------------------------------- */

static int32_t count_threads(int32_t wanted) {
    int32_t n = wanted > 0 ? wanted : berth_processors();
    return n > BERTH_CREW_LANES ? BERTH_CREW_LANES : n;
}

berth_status berth_crew_init(berth_crew *crew, berth_ctx *ctx, const berth_problem *problem,
                             const berth_place_options *options, const berth_learn *learn, double started) {
    *crew = (berth_crew){
        .ctx = ctx,
        .problem = problem,
        .seed = options->seed,
        .n_threads = count_threads(options->threads),
        .learn = learn,
        .seeded = options->seeded,
        .unbounded = options->unbounded,
        .curve = {.at = options->marks, .ms = options->marks_ms, .n = options->n_marks},
        .progress = options->progress,
        .progress_user = options->progress_user,
        .last_progress = -INFINITY,
        .at_work = "",
        .may_stop_others = options->evaluations == INT64_MAX,
    };
    berth_budget budget = {.evaluations = options->evaluations, .seconds = options->seconds};
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->done, &attributes);
    pthread_condattr_destroy(&attributes);
    BERTH_TRY(berth_search_new(ctx, &crew->best, problem, options->seed, budget, 1));
    crew->best->started = started;
    if (crew->curve.n > 0) crew->best->curve = &crew->curve;
    return BERTH_OK;
}

void berth_crew_deinit(berth_crew *crew) {
    for (int32_t i = 0; i < BERTH_CREW_LANES; i++) {
        berth_search_free(crew->lanes[i].search);
        berth_ctx_free(crew->lanes[i].ctx);
    }
    berth_search_free(crew->best);
    berth_vec_free(berth_ctx_allocator(crew->ctx), &crew->record);
    pthread_cond_destroy(&crew->done);
    pthread_mutex_destroy(&crew->mutex);
}

void berth_crew_set_judge(berth_crew *crew, berth_judge *judge) {
    crew->judge = crew->best->judge = judge;
    crew->n_threads = 1;
}

/* The judge of a turn. */
static berth_judge *judge_of(const berth_crew *crew, const berth_turn *turn) {
    switch (turn->method->kind) {
    case BERTH_METHOD_DRAWS:
    case BERTH_METHOD_IMPROVES:
    case BERTH_METHOD_LEARNS: return turn->on_model ? NULL : crew->judge;
    default: return NULL;
    }
}

bool berth_crew_starts_from_best(const berth_crew *crew, const berth_method *method) {
    const berth_settings *settings = crew->learn ? crew->learn->settings : NULL;
    switch (method->kind) {
    case BERTH_METHOD_BUILDS:
    case BERTH_METHOD_DRAWS: return false;
    case BERTH_METHOD_LEARNS: return !settings || berth_settings_get(settings, BERTH_SET_SEEDS) != BERTH_SEEDS_NONE;
    default: return true;
    }
}

/* --- one turn --------------------------------------------------------------------------------------------------- */

static berth_status open_lane(berth_crew *crew, int32_t index) {
    berth_lane *lane = &crew->lanes[index];
    if (lane->search) return BERTH_OK;
    lane->crew = crew;
    if (!lane->ctx && berth_ctx_new(&lane->ctx, berth_ctx_allocator(crew->ctx)) != BERTH_OK)
        return berth_fail_nomem(crew->ctx);
    berth_ctx_set_cancel(lane->ctx, lane_cancelled, lane);
    berth_status status = berth_search_new(lane->ctx, &lane->search, crew->problem, crew->seed, crew->best->budget, 1);
    return status == BERTH_OK ? BERTH_OK : berth_fail(crew->ctx, status, "%s", berth_ctx_message(lane->ctx));
}

/* Everything that the turn depends on, so that lanes can be used again. */
static void prepare(berth_crew *crew, berth_lane *lane, const berth_turn *turn) {
    berth_search *s = lane->search;
    s->budget = turn->budget;
    s->judge = judge_of(crew, turn);
    if (crew->judge && !s->judge) {
        s->budget.evaluations = MODEL_EVALUATIONS;
        s->budget.seconds = fmin(s->budget.seconds, model_share * crew->best->budget.seconds);
    }
    s->evaluations = s->steps = s->recalls = 0;
    s->started = crew->best->started;
    s->n_threads = turn->n_threads > 1 ? turn->n_threads : 1;
    s->learn = turn->method->kind == BERTH_METHOD_LEARNS ? crew->learn : NULL;
    s->has_best = false;
    s->best_ms = INFINITY;
    s->seen_ms = crew->best->best_ms;
    s->curve = NULL;
    s->bound_ms = crew->best->bound_ms;
    s->calls_left = s->calls_between = 1;
    s->last_look = berth_search_clock();
    s->out_of_time = false;
    berth_rng_init(&s->rng, crew->seed, crew->n_turns++);
    if (!berth_crew_starts_from_best(crew, turn->method) || !crew->best->has_best) return;
    berth_search_offer(s, crew->best->best_device, crew->best->best_has_priority ? crew->best->best_priority : NULL,
                       crew->best->best_source, crew->best->best_method);
}

static void take_turn(berth_crew *crew, int32_t index) {
    berth_turn *turn = &crew->turns[index];
    berth_lane *lane = &crew->lanes[index];
    double before = berth_search_clock();
    turn->status = turn->method->run(lane->search);
    turn->seconds = berth_search_clock() - before;
    if (crew->may_stop_others && berth_search_proven(lane->search)) atomic_store(&crew->enough, true);
}

berth_status berth_crew_record(berth_crew *crew, const char *method, double ms, int64_t evaluations, double seconds) {
    size_t i = 0;
    while (i < crew->record.n && strcmp(crew->record.items[i].method, method) != 0) i++;
    berth_plan_method fresh = {.method = method, .makespan_ms = INFINITY};
    if (i == crew->record.n && !berth_vec_push(berth_ctx_allocator(crew->ctx), &crew->record, fresh))
        return berth_fail_nomem(crew->ctx);
    berth_plan_method *row = &crew->record.items[i];
    row->evaluations += evaluations;
    row->seconds += seconds;
    if (ms < row->makespan_ms) row->makespan_ms = ms;
    return BERTH_OK;
}

/* What the simulator thinks best is one candidate for the judge. */
static berth_status merge_judged(berth_crew *crew, const berth_lane *lane, const berth_turn *turn) {
    const berth_search *s = lane->search;
    int64_t before = crew->best->evaluations;
    double ms = INFINITY;
    if (s->has_best && !berth_search_stop(crew->best)) {
        ms = berth_search_evaluate(crew->best, s->best_device, NULL);
        berth_search_offer(crew->best, s->best_device, NULL, s->best_source, s->best_method);
    }
    return berth_crew_record(crew, turn->method->name, ms, crew->best->evaluations - before, turn->seconds);
}

static berth_status merge_simulated(berth_crew *crew, const berth_lane *lane, const berth_turn *turn) {
    const berth_search *s = lane->search;
    if (turn->method->kind != BERTH_METHOD_BOUNDS)
        BERTH_TRY(berth_crew_record(crew, turn->method->name, s->has_best ? s->best_ms : INFINITY, s->evaluations,
                                    turn->seconds));
    berth_search_bound(crew->best, s->bound_ms);
    if (!turn->bound_only) crew->best->evaluations += s->evaluations;
    if (s->has_best && !turn->bound_only)
        berth_search_offer(crew->best, s->best_device, s->best_has_priority ? s->best_priority : NULL, s->best_source,
                           s->best_method);
    return BERTH_OK;
}

static berth_status merge(berth_crew *crew, const berth_lane *lane, const berth_turn *turn) {
    bool is_asked = crew->judge && !lane->search->judge;
    BERTH_TRY(is_asked ? merge_judged(crew, lane, turn) : merge_simulated(crew, lane, turn));
    if (turn->status == BERTH_E_NUMERIC && crew->is_portfolio) { /* the others go on */
        berth_log(crew->ctx, BERTH_LOG_WARNING, "%s: %s", turn->method->name, berth_ctx_message(lane->ctx));
        return BERTH_OK;
    }
    if (turn->status == BERTH_OK || turn->status == BERTH_E_UNSUPPORTED || turn->status == BERTH_E_INFEASIBLE ||
        turn->status == BERTH_E_CANCELLED)
        return BERTH_OK;
    return berth_fail(crew->ctx, turn->status, "%s", berth_ctx_message(lane->ctx));
}

/* --- stages ----------------------------------------------------------------------------------------------------- */

/* The next turn that nobody has, or -1. */
static int32_t next_turn(berth_crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    int32_t index = crew->next < crew->n_stage ? crew->next++ : -1;
    pthread_mutex_unlock(&crew->mutex);
    return index;
}

static void *work(void *user) {
    berth_crew *crew = user;
    for (int32_t index; (index = next_turn(crew)) >= 0;) take_turn(crew, index);
    pthread_mutex_lock(&crew->mutex);
    crew->n_running--;
    pthread_cond_signal(&crew->done);
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void wait_for_others(berth_crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    while (crew->n_running > 0) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 20000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&crew->done, &crew->mutex, &until);
        pthread_mutex_unlock(&crew->mutex);
        ask_user(crew, NULL);
        pthread_mutex_lock(&crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
}

static void run_stage(berth_crew *crew) {
    pthread_t threads[BERTH_CREW_LANES];
    int32_t n = 0;
    while (n + 1 < crew->n_threads && n + 1 < crew->n_stage) {
        pthread_mutex_lock(&crew->mutex);
        crew->n_running++;
        pthread_mutex_unlock(&crew->mutex);
        if (pthread_create(&threads[n], NULL, work, crew) != 0) { /* fewer hands, the same work */
            pthread_mutex_lock(&crew->mutex);
            crew->n_running--;
            pthread_mutex_unlock(&crew->mutex);
            break;
        }
        n++;
    }
    for (int32_t index; (index = next_turn(crew)) >= 0;) {
        crew->lanes[index].on_caller = true;
        take_turn(crew, index);
        crew->lanes[index].on_caller = false;
    }
    wait_for_others(crew);
    for (int32_t i = 0; i < n; i++) pthread_join(threads[i], NULL);
}

berth_status berth_crew_run(berth_crew *crew, berth_turn *turns, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        BERTH_TRY(open_lane(crew, i));
        prepare(crew, &crew->lanes[i], &turns[i]);
    }
    crew->turns = turns;
    crew->n_stage = n;
    crew->next = crew->n_running = 0;
    crew->at_work = turns[0].method->name;
    atomic_store(&crew->enough, false);
    if (n == 1 && crew->curve.n > 0 && !turns[0].bound_only) {
        crew->curve.before = crew->best->evaluations;
        crew->lanes[0].search->curve = &crew->curve;
    }
    run_stage(crew);
    for (int32_t i = 0; i < n; i++) BERTH_TRY(merge(crew, &crew->lanes[i], &turns[i]));
    if (n == 1 && turns[0].status == BERTH_E_UNSUPPORTED)
        return berth_fail(crew->ctx, turns[0].status, "%s", berth_ctx_message(crew->lanes[0].ctx));
    return BERTH_OK;
}

berth_status berth_crew_try(berth_crew *crew, const berth_method *method, berth_budget budget) {
    berth_turn turn = {.method = method, .budget = budget};
    return berth_crew_run(crew, &turn, 1);
}

/* Patience ends with the budget of the search or, where that has no end, after a fixed amount of work. */
static berth_status run_bounds(berth_search *search) {
    berth_patience patience = berth_patience_for(search, INFINITY);
    return berth_search_bounds(search, &patience);
}

static berth_status run_some_bounds(berth_search *search) {
    berth_patience patience = berth_patience_for(search, INFINITY);
    patience.work /= 10;
    return berth_search_bounds(search, &patience);
}

berth_status berth_crew_raise_bound(berth_crew *crew, berth_budget budget, bool keep) {
    static const berth_method bounds = {"bounds", BERTH_METHOD_BOUNDS, run_bounds, "lower bounds"};
    static const berth_method some = {"bounds", BERTH_METHOD_BOUNDS, run_some_bounds,
                                      "the same, in a tenth of the work"};
    berth_turn turn = {.method = keep ? &bounds : &some, .budget = budget, .bound_only = !keep};
    return berth_crew_run(crew, &turn, 1);
}
