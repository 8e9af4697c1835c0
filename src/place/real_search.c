/* SPDX-License-Identifier: Apache-2.0 */
/* What is searched on is the calibrated model or, if evaluations are to be measured, the machine. Only what differs
 * from what is there already, and gains, is worth being run. */
#include "place/real_loop.h"

#include "place/leads.h"
#include "place/learned.h"
#include "place/solve.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 2000000, LEAST_EVALUATIONS = 100 }; /* of a search without a clock; one is a step per operation */
static const double far_behind = 0.15;

static bool is_split(const berth_plan *plan) {
    for (int32_t i = 1; i < plan->n_ops; i++)
        if (plan->ops[i].device != plan->ops[0].device) return true;
    return false;
}

static bool is_same(const berth_plan *a, const berth_plan *b) {
    for (int32_t i = 0; i < a->n_ops; i++)
        if (a->ops[i].device != b->ops[i].device) return false;
    return true;
}

static double best_single(const berth_plan *plan) {
    double best = INFINITY;
    for (int32_t d = 0; d < plan->n_devices; d++) best = fmin(best, plan->single_ms[d]);
    return best;
}

/* The user keeps operations from some device, so that even what is predicted to lose may be the best there is. */
static bool is_forced(const berth_real_loop *l) {
    for (int32_t d = 0; d < l->subject.n_devices; d++)
        if (!l->allowed[d]) return true;
    return false;
}

static bool is_promising(const berth_real_loop *l, const berth_plan *plan) {
    if (is_forced(l)) return true;
    if (l->n_plans > 0 && plan->makespan_ms > (1 + far_behind) * l->plans[0]->makespan_ms) return false;
    return plan->makespan_ms < best_single(plan);
}

/* Kept if it is a split that is not yet there and, unless one is forced, predicted to gain and not far behind the
 * first. */
static void consider(berth_real_loop *l, berth_plan *plan) {
    bool keep = l->n_plans < l->options->candidates && l->n_plans < BERTH_CONTEST_SPLITS && is_split(plan) &&
                is_promising(l, plan);
    for (int32_t i = 0; i < l->n_plans && keep; i++) keep = !is_same(plan, l->plans[i]);
    if (keep)
        l->plans[l->n_plans++] = plan;
    else
        berth_plan_free(plan);
}

/* What came of one more search, whose failures are its own. */
static berth_status consider_other(berth_real_loop *l, berth_status status, berth_plan *plan) {
    if (status == BERTH_OK) consider(l, plan);
    return status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED ? status : BERTH_OK;
}

/* The rule of every device; only the two that are predicted to be fastest are considered, so that others are, too. */
static berth_status search_rules(berth_real_loop *l, const berth_place_options *how) {
    berth_plan *best[2] = {NULL, NULL};
    berth_status status = BERTH_OK;
    for (int32_t d = 0; d < l->subject.n_devices && status == BERTH_OK; d++) {
        berth_plan *plan = NULL;
        status = berth_lead_by_rule(l->ctx, &plan, l->subject.graph, l->out->real.devices, how, d);
        if (status != BERTH_OK && status != BERTH_E_NOMEM && status != BERTH_E_CANCELLED) status = BERTH_OK;
        for (int i = 0; i < 2 && plan; i++)
            if (!best[i] || plan->makespan_ms < best[i]->makespan_ms) {
                berth_plan *kept = best[i];
                best[i] = plan;
                plan = kept;
            }
        berth_plan_free(plan);
    }
    for (int i = 0; i < 2; i++) {
        if (best[i] && status == BERTH_OK)
            consider(l, best[i]);
        else
            berth_plan_free(best[i]);
    }
    return status;
}

/* What the method finds, rules of devices, then what it would find at other prices. */
static berth_status search_prices(berth_real_loop *l, const berth_place_options *first,
                                  const berth_place_options *others) {
    const berth_graph *graph = l->subject.graph;
    const berth_device_set *devices = l->out->real.devices;
    berth_plan *plan = NULL;
    BERTH_TRY(berth_place(l->ctx, &plan, graph, devices, first));
    consider(l, plan);
    BERTH_TRY(search_rules(l, others));
    for (int i = 0; i < BERTH_LEAD_PRICES; i++) {
        plan = NULL;
        berth_status status = berth_lead_at_price(l->ctx, &plan, graph, devices, others, berth_lead_prices[i]);
        BERTH_TRY(consider_other(l, status, plan));
    }
    return BERTH_OK;
}

/* The plan of a placement that was run. */
static berth_status take_ruling(berth_real_loop *l, const berth_ruling *ruling, berth_plan **out) {
    berth_place_options how = l->place;
    int32_t n_ops = berth_graph_op_count(l->subject.graph);
    int32_t *device = berth_arena_push(&l->out->arena, (size_t)n_ops, sizeof *device);
    if (!device) return berth_fail_nomem(l->ctx);
    for (int32_t i = 0; i < n_ops; i++) device[i] = (unsigned char)ruling->device[i];
    how.given = device;
    how.unbounded = true;
    BERTH_TRY(berth_place(l->ctx, out, l->subject.graph, l->out->real.devices, &how));
    (*out)->found_by = ruling->by;
    return BERTH_OK;
}

static berth_status takes_starts(berth_real_loop *l, bool *out) {
    const berth_method *method = berth_method_find(l->place.method);
    berth_learned learned;
    *out = false;
    if (!method) return BERTH_OK; /* the search will say it */
    berth_status status = berth_learned_init(l->ctx, &learned, method, &l->place);
    if (status == BERTH_OK) *out = berth_crew_takes_starts(method, learned.learn.settings);
    berth_learned_deinit(&learned);
    return status;
}

/* Where a method may start from something, it starts from what the calibrated model holds best, at all prices. Without
 * a limit of time nothing here depends on a clock, so that a search that is resumed asks for the same. */
static berth_status find_starts(berth_real_loop *l, const int32_t **starts, int32_t *n) {
    int32_t n_ops = berth_graph_op_count(l->subject.graph);
    berth_place_options how = l->place;
    bool wanted = false;
    BERTH_TRY(takes_starts(l, &wanted));
    if (!wanted) return BERTH_OK;
    how.method = "auto";
    how.seconds = l->place.seconds < INFINITY ? 0.02 * berth_real_share(l, 1) : INFINITY;
    how.evaluations = n_ops < MOST_STEPS / LEAST_EVALUATIONS ? MOST_STEPS / (n_ops + 1) : LEAST_EVALUATIONS;
    how.set = NULL;
    how.n_set = 0;
    how.policy = NULL;
    how.unbounded = true;
    berth_status status = search_prices(l, &how, &how);
    for (int32_t i = 0; i < l->n_plans && status == BERTH_OK; i++) {
        int32_t *device = berth_arena_push(&l->out->arena, (size_t)n_ops, sizeof *device);
        for (int32_t k = 0; k < n_ops && device; k++) device[k] = l->plans[i]->ops[k].device;
        starts[i] = device;
    }
    *n = l->n_plans;
    for (int32_t i = 0; i < l->n_plans; i++) berth_plan_free(l->plans[i]);
    l->n_plans = 0;
    if (status == BERTH_E_INFEASIBLE) return BERTH_OK; /* the search will say it */
    return l->out->arena.failed ? berth_fail_nomem(l->ctx) : status;
}

/* Evaluations are runs: those that were fastest are the candidates. */
static berth_status search_measured(berth_real_loop *l) {
    berth_contest *contest = &l->out->contest;
    const int32_t *starts[BERTH_CONTEST_SPLITS];
    berth_contest_job job = {.subject = l->subject,
                             .set = l->out->real.devices,
                             .place = &l->place,
                             .real = l->options,
                             .starts = starts,
                             .allowed = l->allowed};
    BERTH_TRY(find_starts(l, starts, &job.n_starts));
    l->place.seconds = berth_real_share(l, 0.5); /* the rest is for heats, and for the runs that decide */
    BERTH_TRY(berth_contest_run(l->ctx, contest, &job));
    l->interrupted = contest->plan->interrupted;
    for (int32_t i = 0; i < contest->n_splits && i < l->options->candidates && !l->interrupted; i++) {
        BERTH_TRY(take_ruling(l, contest->splits[i], &l->plans[i]));
        l->n_plans++;
    }
    return BERTH_OK;
}

/* The method that was asked for, at all prices; `auto` then by others that look at the problem in another way. */
static berth_status search_model(berth_real_loop *l) {
    static const char *const others[] = {"cut", "heft", "local", NULL};
    berth_place_options how = l->place;
    l->place.seconds = berth_real_share(l, 0.25);
    how.seconds = fmin(1, 0.2 * l->place.seconds);
    how.unbounded = true;
    BERTH_TRY(search_prices(l, &l->place, &how));
    for (int i = 0; others[i] && strcmp(l->place.method, "auto") == 0; i++) {
        berth_plan *plan = NULL;
        how.method = others[i];
        berth_status status = berth_place(l->ctx, &plan, l->subject.graph, l->out->real.devices, &how);
        BERTH_TRY(consider_other(l, status, plan));
    }
    return BERTH_OK;
}

berth_status berth_real_search(berth_real_loop *l) {
    return l->options->measured ? search_measured(l) : search_model(l);
}
