/* SPDX-License-Identifier: Apache-2.0 */
/* Every case alone first: their plans are the starting points. Then descent: what is fused together is moved to another
 * device wherever that lowers the weighted mean, with a simulator for each case. */
#include "place/cases.h"

#include "berth/group.h"
#include "cost/costs.h"
#include "plan/plan.h"
#include "search/search.h"
#include "simulate/sim.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_PASSES = 8 };
#define MOST_WEIGHT 1e100 /* times any time, and summed, it is still a number */

typedef struct chooser {
    berth_ctx *ctx;
    const berth_shape_case *cases;
    int32_t n, n_ops;
    const berth_device_set *devices;
    const berth_place_options *options;
    berth_arena arena;
    double until;
    double weight; /* of all */
    berth_plan **own;
    berth_costs **costs;
    berth_sim **sims;
    int32_t **tasks; /* [n][tasks] devices, for the simulators */
    int32_t *best;   /* [n_ops] */
    double best_ms;
} chooser;

berth_status berth_cases_check(berth_ctx *ctx, const berth_shape_case *cases, int32_t n) {
    double sum = 0;
    if (n < 1) return berth_fail(ctx, BERTH_E_ARG, "a plan is for at least one case");
    for (int32_t k = 0; k < n; k++) sum += cases[k].weight;
    for (int32_t k = 0; k < n; k++) {
        if (!(cases[k].weight > 0 && cases[k].weight <= MOST_WEIGHT))
            return berth_fail(ctx, BERTH_E_ARG, "the weight of a shape is a number above 0 and up to %g, not %g",
                              MOST_WEIGHT, cases[k].weight);
        if (!(cases[k].weight / sum > 0))
            return berth_fail(ctx, BERTH_E_ARG, "the weight %g of a shape is nothing beside the others",
                              cases[k].weight);
        if (berth_graph_op_count(cases[k].graph) != berth_graph_op_count(cases[0].graph))
            return berth_fail(ctx, BERTH_E_ARG, "one plan cannot be for two models");
    }
    return BERTH_OK;
}

berth_status berth_cases_note(berth_ctx *ctx, berth_plan *plan, const berth_shape_case *cases, int32_t n,
                              const double *ms, const double *best_ms, bool measured) {
    berth_plan_draft *draft = (berth_plan_draft *)plan;
    berth_plan_case *rows = berth_arena_push(&draft->arena, (size_t)n, sizeof *rows);
    double weight = 0;
    if (!rows) return berth_fail_nomem(ctx);
    for (int32_t k = 0; k < n; k++) weight += cases[k].weight;
    for (int32_t k = 0; k < n; k++) {
        rows[k] = (berth_plan_case){.weight = cases[k].weight / weight,
                                    .measured = measured,
                                    .ms = ms[k],
                                    .best_ms = best_ms[k],
                                    .loss = best_ms[k] > 0 ? ms[k] / best_ms[k] - 1 : 0};
        BERTH_TRY(berth_plan_copy_shapes(ctx, draft, cases[k].shapes, cases[k].n_shapes, &rows[k].shapes));
        rows[k].n_shapes = cases[k].n_shapes;
    }
    plan->cases = rows;
    plan->n_cases = n;
    return BERTH_OK;
}

/* --- the weighted mean ------------------------------------------------------------------------------------------ */

static double case_ms(const chooser *c, int32_t k, const int32_t *device) {
    for (int32_t task = 0; task < c->costs[k]->n_tasks; task++) {
        int32_t d = device[c->costs[k]->task_op[task]];
        c->tasks[k][task] = d;
        if (!(c->costs[k]->time_ms[(size_t)task * (size_t)c->costs[k]->n_devices + (size_t)d] < INFINITY))
            return INFINITY;
    }
    return berth_sim_run(c->sims[k], c->tasks[k], NULL);
}

static double mean_ms(const chooser *c, const int32_t *device) {
    double sum = 0;
    for (int32_t k = 0; k < c->n && sum < INFINITY; k++) sum += c->cases[k].weight * case_ms(c, k, device);
    return sum / c->weight;
}

static void offer(chooser *c, const int32_t *device) {
    double ms = mean_ms(c, device);
    if (!(ms < c->best_ms)) return;
    c->best_ms = ms;
    memcpy(c->best, device, (size_t)c->n_ops * sizeof *device);
}

static bool is_over(const chooser *c) {
    return berth_search_clock() > c->until || berth_cancelled(c->ctx);
}

/* One pass over the groups; false: nothing was better. */
static bool improve(chooser *c, const berth_groups *groups, int32_t *device) {
    double before = c->best_ms;
    memcpy(device, c->best, (size_t)c->n_ops * sizeof *device);
    for (int32_t g = 0; g < groups->n_groups && !is_over(c); g++)
        for (int32_t d = 0; d < c->devices->n_devices; d++) {
            for (int32_t i = groups->member_start[g]; i < groups->member_start[g + 1]; i++)
                device[groups->members[i]] = d;
            offer(c, device);
            memcpy(device, c->best, (size_t)c->n_ops * sizeof *device);
        }
    return c->best_ms < before;
}

static berth_status descend(chooser *c) {
    berth_groups *groups = NULL;
    int32_t *device = berth_arena_push(&c->arena, (size_t)c->n_ops, sizeof *device);
    if (!device) return berth_fail_nomem(c->ctx);
    BERTH_TRY(berth_groups_build(c->ctx, &groups, c->cases[0].graph, BERTH_GROUP_FUSED));
    for (int pass = 0; pass < MOST_PASSES && improve(c, groups, device) && !is_over(c);) pass++;
    berth_groups_free(groups);
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status place_alone(chooser *c, int32_t k) {
    berth_place_options how = *c->options;
    how.shapes = c->cases[k].shapes;
    how.n_shapes = c->cases[k].n_shapes;
    how.seconds = c->options->seconds / (c->n + 1);
    if (how.evaluations < INT64_MAX) how.evaluations = how.evaluations / c->n + 1;
    return berth_place(c->ctx, &c->own[k], c->cases[k].graph, c->devices, &how);
}

static berth_status open_case(chooser *c, int32_t k) {
    berth_cost_options how = berth_cost_options_default();
    how.limits = c->options->limits;
    how.model = c->options->model;
    how.piece_ms = c->options->piece_ms;
    how.objective = c->options->objective;
    BERTH_TRY(berth_costs_new(c->ctx, &c->costs[k], c->cases[k].graph, c->devices, &how));
    BERTH_TRY(berth_sim_new(c->ctx, &c->sims[k], c->costs[k]));
    c->tasks[k] = berth_arena_push(&c->arena, (size_t)c->costs[k]->n_tasks, sizeof **c->tasks);
    return c->tasks[k] ? BERTH_OK : berth_fail_nomem(c->ctx);
}

static berth_status take_plan(chooser *c, berth_plan **out) {
    berth_place_options how = *c->options;
    double *ms = berth_arena_push(&c->arena, (size_t)c->n, sizeof *ms);
    double *best_ms = berth_arena_push(&c->arena, (size_t)c->n, sizeof *best_ms);
    if (c->arena.failed) return berth_fail_nomem(c->ctx);
    how.shapes = c->cases[0].shapes;
    how.n_shapes = c->cases[0].n_shapes;
    how.given = c->best;
    how.unbounded = true;
    for (int32_t k = 0; k < c->n; k++) {
        ms[k] = case_ms(c, k, c->best);
        best_ms[k] = fmin(ms[k], c->own[k]->makespan_ms);
    }
    BERTH_TRY(berth_place(c->ctx, out, c->cases[0].graph, c->devices, &how));
    (*out)->interrupted |= berth_cancelled(c->ctx);
    return berth_cases_note(c->ctx, *out, c->cases, c->n, ms, best_ms, false);
}

static berth_status choose(chooser *c, berth_plan **out) {
    size_t n = (size_t)c->n;
    c->own = berth_arena_push(&c->arena, n, sizeof(berth_plan *));
    c->costs = berth_arena_push(&c->arena, n, sizeof(berth_costs *));
    c->sims = berth_arena_push(&c->arena, n, sizeof(berth_sim *));
    c->tasks = berth_arena_push(&c->arena, n, sizeof(int32_t *));
    c->best = berth_arena_push(&c->arena, (size_t)c->n_ops, sizeof *c->best);
    int32_t *device = berth_arena_push(&c->arena, (size_t)c->n_ops, sizeof *device);
    if (c->arena.failed) return berth_fail_nomem(c->ctx);
    for (int32_t k = 0; k < c->n; k++) {
        c->weight += c->cases[k].weight;
        BERTH_TRY(open_case(c, k));
        BERTH_TRY(place_alone(c, k));
    }
    for (int32_t k = 0; k < c->n; k++) {
        for (int32_t i = 0; i < c->n_ops; i++) device[i] = c->own[k]->ops[i].device;
        offer(c, device);
    }
    if (!(c->best_ms < INFINITY))
        return berth_fail(c->ctx, BERTH_E_INFEASIBLE, "no placement that was found fits all shapes");
    /* groups know nothing of what the user wants to have together */
    if (!c->options->limits || c->options->limits->n_together == 0) BERTH_TRY(descend(c));
    return take_plan(c, out);
}

berth_status berth_place_cases(berth_ctx *ctx, berth_plan **out, const berth_shape_case *cases, int32_t n,
                               const berth_device_set *devices, const berth_place_options *options) {
    *out = NULL;
    BERTH_TRY(berth_cases_check(ctx, cases, n));
    if (options->profile) return berth_fail(ctx, BERTH_E_ARG, "a profile is of one shape, and there are several");
    chooser c = {.ctx = ctx,
                 .cases = cases,
                 .n = n,
                 .n_ops = berth_graph_op_count(cases[0].graph),
                 .devices = devices,
                 .options = options,
                 .until = berth_search_clock() + options->seconds,
                 .best_ms = INFINITY};
    berth_arena_init(&c.arena, berth_ctx_allocator(ctx));
    berth_status status = choose(&c, out);
    for (int32_t k = 0; k < n && c.best; k++) {
        berth_plan_free(c.own[k]);
        berth_sim_free(c.sims[k]);
        berth_costs_free(c.costs[k]);
    }
    berth_arena_deinit(&c.arena);
    if (status == BERTH_OK) return BERTH_OK;
    berth_plan_free(*out);
    *out = NULL;
    return status;
}
