/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: costs, problem, search, plan. */
#include "place/place.h"

#include "place/kernels.h"
#include "place/leads.h"
#include "place/learned.h"
#include "place/solve.h"
#include "place/spread.h"
#include "plan/plan.h"
#include "runtime/kind.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

berth_place_options berth_place_options_default(void) {
    return (berth_place_options){
        .method = "auto",
        .model = BERTH_MODEL_COUNT,
        .piece_ms = NAN,
        .seconds = 10,
        .evaluations = INT64_MAX,
    };
}

typedef struct job {
    berth_ctx *ctx;
    const berth_graph *graph;
    const berth_device_set *devices;
    const berth_place_options *options;
    const berth_method *method;
    const berth_runner *runner; /* NULL: the simulator decides */
    berth_judge judge;          /* it, as searches see it */
    int32_t *op_device;         /* [n_ops] scratch of the judge, and of the plan */
    double started;
    berth_plan_draft *draft;
    berth_costs *costs;
    berth_problem *problem;
    berth_learned learned;
    berth_crew crew;
} job;

static berth_status check_options(job *j) {
    const berth_place_options *o = j->options;
    j->method = berth_method_find(o->method);
    if (!j->method) return berth_fail(j->ctx, BERTH_E_ARG, "there is no method '%.80s'", o->method);
    if (!(o->seconds >= 0) || o->evaluations < 1 || o->threads < 0 || o->seed > INT64_MAX)
        return berth_fail(j->ctx, BERTH_E_ARG, "a budget must be positive, and a seed less than 2^63");
    return berth_learned_init(j->ctx, &j->learned, j->method, o);
}

/* Real devices run kernels: what differs only within one is one placement there, or one whose time nobody has measured,
 * because it breaks what the runtime fuses. Unless the user has groups of his own. */
static bool joins_kernels(const job *j) {
    const berth_runtime_kind *kind = berth_runtime_kind_find(j->devices->source);
    return !j->options->grouped && (j->runner || (kind && kind->places_first));
}

static berth_status find_units(job *j) {
    const berth_place_options *o = j->options;
    size_t n = (size_t)berth_graph_op_count(j->graph);
    j->op_device = berth_arena_push(&j->draft->arena, n, sizeof *j->op_device);
    if (!j->op_device) return berth_fail_nomem(j->ctx);
    if (!joins_kernels(j))
        return berth_problem_new(j->ctx, &j->problem, j->costs, o->limits, o->grouped ? &o->group : NULL);
    int32_t *kernel_of = berth_arena_push(&j->draft->arena, n, sizeof *kernel_of);
    if (!kernel_of) return berth_fail_nomem(j->ctx);
    BERTH_TRY(berth_kernels_find(j->ctx, j->costs, kernel_of));
    return berth_problem_new_joined(j->ctx, &j->problem, j->costs, o->limits, kernel_of);
}

static berth_status set_up(job *j) {
    const berth_place_options *o = j->options;
    berth_cost_options cost = {o->limits, o->profile, o->model, o->piece_ms, o->objective};
    berth_plan *plan = &j->draft->plan;
    BERTH_TRY(berth_plan_take_model(j->ctx, j->draft, j->graph, j->devices));
    BERTH_TRY(berth_plan_take_limits(j->ctx, j->draft, o->limits));
    BERTH_TRY(berth_plan_take_profile(j->ctx, j->draft, o->profile));
    BERTH_TRY(berth_plan_take_shapes(j->ctx, j->draft, o->shapes, o->n_shapes));
    BERTH_TRY(berth_costs_new(j->ctx, &j->costs, j->graph, j->devices, &cost));
    BERTH_TRY(find_units(j));
    plan->execution_model = j->costs->model;
    plan->piece_ms = j->costs->piece_ms;
    plan->objective = j->costs->objective;
    plan->method = j->method->name;
    plan->group = o->grouped ? berth_group_rule_name(o->group) : joins_kernels(j) ? "kernels" : NULL;
    plan->seed = o->seed;
    return BERTH_OK;
}

/* The placement of the options, whatever else would be better. */
static berth_status take_given(job *j) {
    berth_search *best = j->crew.best;
    for (int32_t task = 0; task < j->costs->n_tasks; task++) {
        int32_t device = j->options->given[j->costs->task_op[task]];
        if (device < 0 || device >= j->costs->n_devices)
            return berth_fail(j->ctx, BERTH_E_ARG, "an operation is given device %" PRId32 ", which is none", device);
        best->best_device[task] = device;
    }
    best->best_ms = berth_sim_run(best->sim, best->best_device, NULL);
    best->has_best = best->best_ms < INFINITY;
    best->best_has_priority = false;
    best->best_method = "given";
    best->best_source = BERTH_SOURCE_SEED;
    return BERTH_OK;
}

static berth_status search(job *j) {
    berth_crew *crew = &j->crew;
    double *single = berth_arena_push(&j->draft->arena, (size_t)j->costs->n_devices, sizeof *single);
    if (!single) return berth_fail_nomem(j->ctx);
    j->draft->plan.single_ms = single;
    BERTH_TRY(berth_crew_solve(crew, j->options->given ? berth_method_find("single") : j->method, single));
    if (j->options->given) BERTH_TRY(take_given(j));
    bool has_best = crew->best->has_best;
    /* What the judge has said stays said if he is cancelled, or sees no sense in going on. */
    if (j->judge.status != BERTH_OK && j->judge.status != BERTH_E_CANCELLED &&
        !(j->judge.status == BERTH_E_LIMIT && has_best))
        return j->judge.status;
    if (has_best) return BERTH_OK;
    if (atomic_load(&crew->cancelled)) return berth_fail(j->ctx, BERTH_E_CANCELLED, "interrupted before an answer");
    return berth_fail(j->ctx, BERTH_E_INFEASIBLE, "%s found no placement within the limits", j->method->name);
}

/* What the runner wants to be asked first, by task: every unit on the device of its first. */
static berth_status take_starts(job *j) {
    berth_arena *arena = &j->draft->arena;
    size_t n = (size_t)j->runner->n_starts, n_tasks = (size_t)j->costs->n_tasks;
    int32_t **starts = berth_arena_push(arena, n, sizeof *starts);
    for (size_t i = 0; i < n && !arena->failed; i++) {
        starts[i] = berth_arena_push(arena, n_tasks, sizeof **starts);
        for (size_t task = 0; task < n_tasks && !arena->failed; task++) {
            int32_t unit = j->problem->unit_of[task], first = j->problem->unit_tasks[j->problem->unit_start[unit]];
            starts[i][task] = berth_lead_device(j->problem, unit, j->runner->starts[i][j->costs->task_op[first]]);
        }
    }
    if (arena->failed) return berth_fail_nomem(j->ctx);
    j->crew.starts = (const int32_t *const *)starts;
    j->crew.n_starts = j->runner->n_starts;
    return BERTH_OK;
}

/* What searches ask, in operations. */
static double ask(void *user, const int32_t *device, bool *known) {
    job *j = user;
    double ms = INFINITY;
    *known = false;
    if (j->judge.status != BERTH_OK) return INFINITY;
    berth_spread(j->graph, j->costs, device, j->op_device);
    j->judge.status = j->runner->run(j->runner->user, j->op_device, j->crew.at_work, &ms, known);
    return ms;
}

/* --- plan ------------------------------------------------------------------------------------------------------- */

static berth_status take_order(job *j) {
    const berth_search *best = j->crew.best;
    berth_plan *plan = &j->draft->plan;
    if (!best->best_has_priority) return BERTH_OK;
    int32_t *order = berth_arena_push(&j->draft->arena, (size_t)j->costs->n_tasks, sizeof *order);
    if (!order) return berth_fail_nomem(j->ctx);
    for (int32_t task = 0; task < j->costs->n_tasks; task++) order[best->best_priority[task]] = j->costs->task_op[task];
    plan->order = order;
    plan->n_order = j->costs->n_tasks;
    return BERTH_OK;
}

static void take_numbers(job *j) {
    static const char *const sources[] = {
        [BERTH_SOURCE_SEED] = "seed",
        [BERTH_SOURCE_POLISHED_SEED] = "polished seed",
        [BERTH_SOURCE_SAMPLE] = "sample",
        [BERTH_SOURCE_POLISHED_SAMPLE] = "polished sample",
    };
    const berth_search *best = j->crew.best;
    berth_plan *plan = &j->draft->plan;
    plan->found_by = best->best_method;
    plan->source = sources[best->best_source];
    plan->makespan_ms = best->best_ms;
    if (j->runner) plan->makespan_ms = berth_sim_run(best->sim, best->best_device, NULL); /* as predicted */
    /* A bound proven by sums in another order may be above by a rounding error. */
    plan->lower_bound_ms = best->bound_ms < best->best_ms ? best->bound_ms : best->best_ms;
    plan->gap = plan->makespan_ms > plan->lower_bound_ms ? plan->makespan_ms / plan->lower_bound_ms - 1 : 0;
    if (j->runner) { /* what is proven of the model is not proven of the machine */
        plan->lower_bound_ms = NAN;
        plan->gap = INFINITY;
    }
    plan->searched = true;
    plan->interrupted = atomic_load(&j->crew.cancelled);
    plan->evaluations = best->evaluations;
    plan->seconds = berth_search_clock() - j->started;
}

static berth_status fill_plan(job *j) {
    berth_plan *plan = &j->draft->plan;
    berth_spread(j->graph, j->costs, j->crew.best->best_device, j->op_device);
    for (int32_t i = 0; i < plan->n_ops; i++) j->draft->ops[i].device = j->op_device[i];
    BERTH_TRY(take_order(j));
    plan->methods =
        berth_arena_copy(&j->draft->arena, j->crew.record.items, j->crew.record.n, sizeof *j->crew.record.items);
    plan->n_methods = (int32_t)j->crew.record.n;
    if (!plan->methods) return berth_fail_nomem(j->ctx);
    take_numbers(j);
    for (int32_t i = 0; i < plan->n_methods; i++)
        if (j->learned.method && strcmp(plan->methods[i].method, j->learned.method->name) == 0)
            return berth_learned_store(j->ctx, &j->learned, j->draft);
    return BERTH_OK;
}

static berth_status run(job *j) {
    BERTH_TRY(set_up(j));
    berth_status status = berth_crew_init(&j->crew, j->ctx, j->problem, j->options, &j->learned.learn, j->started);
    if (status == BERTH_OK && j->runner) {
        j->judge = (berth_judge){.ask = ask, .user = j};
        berth_crew_set_judge(&j->crew, &j->judge);
        status = take_starts(j);
    }
    if (status == BERTH_OK) status = search(j);
    if (status == BERTH_OK) status = fill_plan(j);
    berth_crew_deinit(&j->crew);
    return status;
}

berth_status berth_place_by(berth_ctx *ctx, berth_plan **out, const berth_graph *graph, const berth_device_set *devices,
                            const berth_place_options *options, const berth_runner *runner) {
    job j = {.ctx = ctx, .graph = graph, .devices = devices, .options = options, .runner = runner};
    *out = NULL;
    j.started = berth_search_clock();
    berth_status status = check_options(&j);
    if (status == BERTH_OK) status = berth_plan_draft_new(ctx, &j.draft);
    if (status == BERTH_OK) status = run(&j);
    berth_learned_deinit(&j.learned);
    berth_problem_free(j.problem);
    berth_costs_free(j.costs);
    if (status == BERTH_OK)
        *out = &j.draft->plan;
    else if (j.draft)
        berth_plan_free(&j.draft->plan);
    return status;
}

berth_status berth_place(berth_ctx *ctx, berth_plan **out, const berth_graph *graph, const berth_device_set *devices,
                         const berth_place_options *options) {
    berth_place_options defaults = berth_place_options_default();
    return berth_place_by(ctx, out, graph, devices, options ? options : &defaults, NULL);
}
