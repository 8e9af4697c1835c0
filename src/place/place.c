/* SPDX-License-Identifier: Apache-2.0 */
/* The main job: costs, problem, search, plan.
 *
 * Operations that do not run get the device of those that do: a constant or an input that of its first reader, an
 * output that of its producer. */
#include "berth/place.h"

#include "place/learned.h"
#include "place/solve.h"
#include "plan/plan.h"

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

static berth_status set_up(job *j) {
    const berth_place_options *o = j->options;
    berth_cost_options cost = {o->limits, o->profile, o->model, o->piece_ms, o->objective};
    berth_plan *plan = &j->draft->plan;
    BERTH_TRY(berth_plan_take_model(j->ctx, j->draft, j->graph, j->devices));
    BERTH_TRY(berth_plan_take_limits(j->ctx, j->draft, o->limits));
    BERTH_TRY(berth_plan_take_profile(j->ctx, j->draft, o->profile));
    BERTH_TRY(berth_plan_take_shapes(j->ctx, j->draft, o->shapes, o->n_shapes));
    BERTH_TRY(berth_costs_new(j->ctx, &j->costs, j->graph, j->devices, &cost));
    BERTH_TRY(berth_problem_new(j->ctx, &j->problem, j->costs, o->limits, o->grouped ? &o->group : NULL));
    plan->execution_model = j->costs->model;
    plan->piece_ms = j->costs->piece_ms;
    plan->objective = j->costs->objective;
    plan->method = j->method->name;
    plan->group = o->grouped ? berth_group_rule_name(o->group) : NULL;
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
    if (crew->best->has_best) return BERTH_OK;
    if (atomic_load(&crew->cancelled)) return berth_fail(j->ctx, BERTH_E_CANCELLED, "interrupted before an answer");
    return berth_fail(j->ctx, BERTH_E_INFEASIBLE, "%s found no placement within the limits", j->method->name);
}

/* --- plan ------------------------------------------------------------------------------------------------------- */

/* The device of the first operation, in execution order, that reads from this one and is no output; -1: none. */
static int32_t reader_device(const job *j, const berth_plan_op *ops, int32_t op) {
    const int32_t *rank = berth_graph_rank(j->graph);
    int32_t n = 0, first = -1;
    const int32_t *edges = berth_graph_out_edges(j->graph, op, &n);
    for (int32_t i = 0; i < n; i++) {
        int32_t to = berth_graph_edge(j->graph, edges[i])->to;
        if (berth_graph_op(j->graph, to)->flags & BERTH_OP_OUTPUT) continue;
        if (first < 0 || rank[to] < rank[first]) first = to;
    }
    return first < 0 ? -1 : ops[first].device;
}

static void place_ops(const job *j, berth_plan_op *ops) {
    const int32_t *order = berth_graph_order(j->graph);
    int32_t n = berth_graph_op_count(j->graph), n_in = 0;
    for (int32_t task = 0; task < j->costs->n_tasks; task++)
        ops[j->costs->task_op[task]].device = j->crew.best->best_device[task];
    for (int32_t i = n - 1; i >= 0; i--) {
        uint32_t flags = berth_graph_op(j->graph, order[i])->flags;
        if (j->costs->op_task[order[i]] >= 0 || (flags & BERTH_OP_OUTPUT)) continue;
        int32_t device = reader_device(j, ops, order[i]);
        ops[order[i]].device = device < 0 ? j->costs->host : device;
    }
    for (int32_t i = 0; i < n; i++) {
        if (!(berth_graph_op(j->graph, order[i])->flags & BERTH_OP_OUTPUT)) continue;
        const int32_t *edges = berth_graph_in_edges(j->graph, order[i], &n_in);
        ops[order[i]].device = n_in ? ops[berth_graph_edge(j->graph, edges[0])->from].device : j->costs->host;
    }
}

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
    /* A bound proven by sums in another order may be above by a rounding error. */
    plan->lower_bound_ms = best->bound_ms < best->best_ms ? best->bound_ms : best->best_ms;
    plan->gap = plan->makespan_ms > plan->lower_bound_ms ? plan->makespan_ms / plan->lower_bound_ms - 1 : 0;
    plan->searched = true;
    plan->interrupted = atomic_load(&j->crew.cancelled);
    plan->evaluations = best->evaluations;
    plan->seconds = berth_search_clock() - j->started;
}

static berth_status fill_plan(job *j) {
    berth_plan *plan = &j->draft->plan;
    place_ops(j, j->draft->ops);
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
    if (status == BERTH_OK) status = search(j);
    if (status == BERTH_OK) status = fill_plan(j);
    berth_crew_deinit(&j->crew);
    return status;
}

berth_status berth_place(berth_ctx *ctx, berth_plan **out, const berth_graph *graph, const berth_device_set *devices,
                         const berth_place_options *options) {
    berth_place_options defaults = berth_place_options_default();
    job j = {.ctx = ctx, .graph = graph, .devices = devices, .options = options ? options : &defaults};
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
