/* SPDX-License-Identifier: Apache-2.0 */
/* Counting, offering, stopping: what every method shares.
 *
 * The best placement is always the result of a full run of the simulator, so that its number is the one that a later
 * simulation prints. Equal makespans keep the earlier placement: the result of methods run one after another does not
 * depend on who else found the same. Where there is a judge, the number is his. */
#include "search/search.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

static const double look_every = 1e-3; /* seconds between two looks at the clock */
static const double rounding = 1e-12;  /* relative: by how much sums of the same numbers in another order may differ */

double berth_search_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static berth_status set_up(berth_search *search, const berth_problem *problem) {
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    size_t n = (size_t)problem->costs->n_tasks + 1;
    search->best_device = berth_resize(allocator, NULL, 0, n, sizeof *search->best_device);
    search->best_priority = berth_resize(allocator, NULL, 0, n, sizeof *search->best_priority);
    if (!search->best_device || !search->best_priority) return berth_fail_nomem(search->ctx);
    return berth_sim_new(search->ctx, &search->sim, problem->costs);
}

berth_status berth_search_new(berth_ctx *ctx, berth_search **out, const berth_problem *problem, uint64_t seed,
                              berth_budget budget, int32_t n_threads) {
    *out = NULL;
    berth_search *search = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *search);
    if (!search) return berth_fail_nomem(ctx);
    search->ctx = ctx;
    search->problem = problem;
    search->budget = budget;
    search->n_threads = n_threads;
    search->best_ms = search->seen_ms = INFINITY;
    search->calls_left = search->calls_between = 1;
    search->started = search->last_look = berth_search_clock();
    berth_rng_init(&search->rng, seed, 0);
    berth_status status = set_up(search, problem);
    if (status == BERTH_OK)
        *out = search;
    else
        berth_search_free(search);
    return status;
}

void berth_search_free(berth_search *search) {
    if (!search) return;
    const berth_allocator *allocator = berth_ctx_allocator(search->ctx);
    size_t n = (size_t)search->problem->costs->n_tasks + 1;
    berth_sim_free(search->sim);
    if (search->best_device) berth_resize(allocator, search->best_device, n, 0, sizeof *search->best_device);
    if (search->best_priority) berth_resize(allocator, search->best_priority, n, 0, sizeof *search->best_priority);
    berth_resize(allocator, search, 1, 0, sizeof *search);
}

/* --- counting --------------------------------------------------------------------------------------------------- */

/* What an evaluation found is offered after it is counted: a mark is passed when the next one is counted. */
static void pass_marks(const berth_search *search, int64_t evaluations) {
    berth_curve *t = search->curve;
    while (t->next < t->n && t->before + search->evaluations + evaluations > t->at[t->next])
        t->ms[t->next++] = search->seen_ms;
}

void berth_search_count(berth_search *search, int64_t evaluations) {
    if (search->curve) pass_marks(search, evaluations);
    search->evaluations += evaluations;
}

/* Costs nothing to speak of, but must not go on for ever. */
static void count_recall(berth_search *search) {
    if (++search->recalls < BERTH_SEARCH_RECALLS) return;
    search->recalls = 0;
    berth_search_count(search, 1);
}

static double ask_judge(berth_search *search, const int32_t *device) {
    bool known = false;
    double ms = search->judge->ask(search->judge->user, device, &known);
    search->is_masked = !(ms < INFINITY);
    if (known)
        count_recall(search);
    else
        berth_search_count(search, 1);
    return ms;
}

double berth_search_evaluate_on(berth_search *search, berth_sim *sim, const int32_t *device, const int32_t *priority) {
    search->is_masked = false;
    if (!search->judge) berth_search_count(search, 1);
    search->model_ms = berth_sim_run(sim, device, priority);
    if (!search->judge) return search->model_ms;
    if (search->model_ms < INFINITY) return ask_judge(search, device);
    count_recall(search);
    return INFINITY;
}

double berth_search_evaluate(berth_search *search, const int32_t *device, const int32_t *priority) {
    return berth_search_evaluate_on(search, search->sim, device, priority);
}

void berth_search_see(berth_search *search, double ms) {
    if (ms < search->seen_ms) search->seen_ms = ms;
}

void berth_curve_end(berth_curve *curve, double ms) {
    while (curve->next < curve->n) curve->ms[curve->next++] = ms;
}

/* --- offering --------------------------------------------------------------------------------------------------- */

/* A makespan that equals the bound but for rounding is proven, and the bound never exceeds it. */
static void settle(berth_search *search) {
    assert(search->bound_ms <= search->best_ms * (1 + 1e-9));
    if (search->has_best && search->best_ms <= search->bound_ms * (1 + rounding)) search->bound_ms = search->best_ms;
}

void berth_search_offer(berth_search *search, const int32_t *device, const int32_t *priority, berth_source source,
                        const char *method) {
    double ms = berth_sim_run(search->sim, device, priority);
    bool known;
    if (search->judge && ms < INFINITY) ms = search->judge->ask(search->judge->user, device, &known);
    if (!(ms < search->best_ms)) return;
    size_t n = (size_t)search->problem->costs->n_tasks;
    memmove(search->best_device, device, n * sizeof *device);
    if (priority) memmove(search->best_priority, priority, n * sizeof *priority);
    search->best_has_priority = priority != NULL;
    search->has_best = true;
    search->best_ms = ms;
    berth_search_see(search, ms);
    search->best_source = source;
    search->best_method = method;
    settle(search);
    if (search->progress) search->progress(search->progress_user, search);
}

void berth_search_bound(berth_search *search, double bound_ms) {
    if (!(bound_ms > search->bound_ms) || search->judge) return;
    search->bound_ms = bound_ms;
    settle(search);
    if (search->progress) search->progress(search->progress_user, search);
}

bool berth_search_proven(const berth_search *search) {
    return search->has_best && search->best_ms <= search->bound_ms;
}

/* --- stopping --------------------------------------------------------------------------------------------------- */

/* Between two calls lies at most about one evaluation: so many fit into look_every however large the problem is. The
 * pace so far is no limit, because calls that found nothing to evaluate may be followed by some that did. */
static double most_calls(const berth_search *search) {
    static const double task_seconds = 20e-9;
    return look_every / (task_seconds * (1 + (double)search->problem->costs->n_tasks));
}

/* Sets the number of calls until the next look so that it comes after about look_every. */
static void look(berth_search *search) {
    double now = berth_search_clock(), since = now - search->last_look;
    double next =
        since > 0 ? (double)search->calls_between * (look_every / since) : 2.0 * (double)search->calls_between;
    double most = 2.0 * (double)search->calls_between + 1;
    next = fmin(fmin(next, most), most_calls(search));
    search->calls_between = search->calls_left = next < 1 ? 1 : (int64_t)next;
    search->last_look = now;
    search->out_of_time = now - search->started >= search->budget.seconds || berth_cancelled(search->ctx);
}

bool berth_search_interrupted(berth_search *search) {
    /* Once out of time it looks every time: whoever runs methods in turn may have given the next one more. So it does
     * where an evaluation may take seconds. */
    if (search->out_of_time || search->judge || --search->calls_left <= 0) look(search);
    return search->out_of_time || (search->judge && search->judge->status != BERTH_OK);
}

bool berth_search_stop(berth_search *search) {
    if (search->evaluations >= search->budget.evaluations || berth_search_proven(search)) return true;
    return berth_search_interrupted(search);
}

double berth_search_spent(const berth_search *search) {
    double evaluations = (double)search->evaluations / (double)search->budget.evaluations;
    double time = (search->last_look - search->started) / search->budget.seconds;
    double spent = evaluations > time ? evaluations : time;
    return spent < 1 ? spent : 1;
}

int64_t berth_search_left(const berth_search *search) {
    return search->evaluations < search->budget.evaluations ? search->budget.evaluations - search->evaluations : 0;
}
