/* SPDX-License-Identifier: Apache-2.0 */
/* What is searched on is the calibrated model or, if evaluations are to be measured, the machine. Only what differs
 * from what is there already, and gains, is worth being run. */
#include "place/real_loop.h"

#include "plan/plan.h"

#include <math.h>
#include <string.h>

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

/* Kept if it is a split that is predicted to gain, and not yet there. */
static void consider(berth_real_loop *l, berth_plan *plan) {
    bool keep = l->n_plans < l->options->candidates && l->n_plans < BERTH_CONTEST_SPLITS && is_split(plan) &&
                plan->makespan_ms < best_single(plan);
    for (int32_t i = 0; i < l->n_plans && keep; i++) keep = !is_same(plan, l->plans[i]);
    if (keep)
        l->plans[l->n_plans++] = plan;
    else
        berth_plan_free(plan);
}

/* The plan of a placement that was run. */
static berth_status take_ruling(berth_real_loop *l, const berth_ruling *ruling, berth_plan **out) {
    berth_place_options how = l->place;
    int32_t n_ops = berth_graph_op_count(l->graph);
    int32_t *device = berth_arena_push(&l->out->arena, (size_t)n_ops, sizeof *device);
    if (!device) return berth_fail_nomem(l->ctx);
    for (int32_t i = 0; i < n_ops; i++) device[i] = (unsigned char)ruling->device[i];
    how.given = device;
    how.unbounded = true;
    BERTH_TRY(berth_place(l->ctx, out, l->graph, l->out->real.devices, &how));
    (*out)->found_by = ruling->by;
    return BERTH_OK;
}

/* Evaluations are runs: those that were fastest are the candidates. */
static berth_status search_measured(berth_real_loop *l) {
    berth_contest *contest = &l->out->contest;
    berth_contest_job job = {.runtime = l->runtime,
                             .graph = l->graph,
                             .model = l->model,
                             .devices = l->devices,
                             .n_devices = l->n_devices,
                             .set = l->out->real.devices,
                             .place = &l->place,
                             .real = l->options};
    l->place.seconds = berth_real_share(l, 0.7);
    BERTH_TRY(berth_contest_run(l->ctx, contest, &job));
    l->interrupted = contest->plan->interrupted;
    for (int32_t i = 0; i < contest->n_splits && i < l->options->candidates && !l->interrupted; i++) {
        BERTH_TRY(take_ruling(l, contest->splits[i], &l->plans[i]));
        l->n_plans++;
    }
    return BERTH_OK;
}

/* The method that was asked for, then others that look at the problem in another way: what runtimes do by themselves
 * among them, because what a boundary really takes depends on what is on both sides, which the model does not know. */
static berth_status search_model(berth_real_loop *l) {
    static const char *const others[] = {"fastest", "cut", "heft", "local", NULL};
    berth_plan *plan = NULL;
    l->place.seconds = berth_real_share(l, 0.25);
    BERTH_TRY(berth_place(l->ctx, &plan, l->graph, l->out->real.devices, &l->place));
    consider(l, plan);
    for (int i = 0; others[i] && strcmp(l->place.method, "auto") == 0; i++) {
        berth_place_options how = l->place;
        how.method = others[i];
        how.seconds = fmin(1, 0.2 * how.seconds);
        how.unbounded = true;
        berth_status status = berth_place(l->ctx, &plan, l->graph, l->out->real.devices, &how);
        if (status == BERTH_OK)
            consider(l, plan);
        else if (status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED)
            return status;
    }
    return BERTH_OK;
}

berth_status berth_real_search(berth_real_loop *l) {
    return l->options->measured ? search_measured(l) : search_model(l);
}
