/* SPDX-License-Identifier: Apache-2.0 */
/* Searches on devices with other links; rules without a search. */
#include "place/leads.h"

#include "base/arena.h"
#include "place/spread.h"

#include <math.h>

const double berth_lead_prices[BERTH_LEAD_PRICES] = {2, 0.5, 4, 0};

int32_t berth_lead_device(const berth_problem *problem, int32_t unit, int32_t d) {
    uint64_t allowed = problem->allowed[unit];
    int32_t host = problem->costs->host;
    return allowed >> d & 1 ? d : allowed >> host & 1 ? host : __builtin_ctzll(allowed);
}

/* The plan of a placement that is there already. device [n_ops] */
static berth_status take_given(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                               const berth_device_set *devices, const berth_place_options *options,
                               const int32_t *device) {
    berth_place_options how = *options;
    how.given = device;
    how.unbounded = true;
    return berth_place(ctx, out, graph, devices, &how);
}

static berth_status search(berth_ctx *ctx, int32_t *device, const berth_graph *graph, const berth_device_set *devices,
                           const berth_place_options *options, const char **found_by) {
    berth_plan *plan = NULL;
    BERTH_TRY(berth_place(ctx, &plan, graph, devices, options));
    for (int32_t i = 0; i < plan->n_ops; i++) device[i] = plan->ops[i].device;
    *found_by = plan->found_by;
    berth_plan_free(plan);
    return BERTH_OK;
}

berth_status berth_lead_at_price(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                 const berth_device_set *devices, const berth_place_options *options, double price) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    size_t n_ops = (size_t)berth_graph_op_count(graph) + 1, n = (size_t)devices->n_devices, n_links = n * n;
    berth_device_set priced = *devices;
    berth_place_options how = *options;
    const char *found_by = "";
    berth_link *links = berth_resize(allocator, NULL, 0, n_links, sizeof *links);
    int32_t *device = berth_resize(allocator, NULL, 0, n_ops, sizeof *device);
    berth_status status = links && device ? BERTH_OK : berth_fail_nomem(ctx);
    for (size_t i = 0; i < n_links && links && device; i++)
        links[i] = (berth_link){price * devices->links[i].fixed_ms, price * devices->links[i].ms_per_byte,
                                devices->links[i].queued};
    priced.links = links;
    priced.piece_ms = price * devices->piece_ms;
    if (!isnan(how.piece_ms)) how.piece_ms *= price;
    if (status == BERTH_OK) status = search(ctx, device, graph, &priced, &how, &found_by);
    if (status == BERTH_OK) status = take_given(ctx, out, graph, devices, options, device);
    if (status == BERTH_OK) (*out)->found_by = found_by;
    if (device) berth_resize(allocator, device, n_ops, 0, sizeof *device);
    if (links) berth_resize(allocator, links, n_links, 0, sizeof *links);
    return status;
}

/* All that may be on d, by unit: what has to be together stays so. */
static berth_status follow_rule(berth_ctx *ctx, const berth_graph *graph, const berth_costs *costs,
                                const berth_limits *limits, int32_t d, berth_arena *arena, int32_t **out) {
    berth_problem *problem = NULL;
    int32_t *task_device = berth_arena_push(arena, (size_t)costs->n_tasks, sizeof *task_device);
    *out = berth_arena_push(arena, (size_t)costs->n_ops, sizeof **out);
    if (arena->failed) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_problem_new(ctx, &problem, costs, limits, NULL));
    for (int32_t task = 0; task < costs->n_tasks; task++)
        task_device[task] = berth_lead_device(problem, problem->unit_of[task], d);
    berth_spread(graph, costs, task_device, *out);
    berth_problem_free(problem);
    return BERTH_OK;
}

berth_status berth_lead_by_rule(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                const berth_device_set *devices, const berth_place_options *options, int32_t d) {
    berth_cost_options how = {options->limits, options->profile, options->model, options->piece_ms, options->objective};
    berth_costs *costs = NULL;
    berth_arena arena;
    int32_t *device = NULL;
    BERTH_TRY(berth_costs_new(ctx, &costs, graph, devices, &how));
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = follow_rule(ctx, graph, costs, options->limits, d, &arena, &device);
    if (status == BERTH_OK) status = take_given(ctx, out, graph, devices, options, device);
    berth_arena_deinit(&arena);
    berth_costs_free(costs);
    return status;
}

/* --- one device as the answer ----------------------------------------------------------------------------------- */

/* A device that the user keeps an operation from, which it could run. */
static berth_status find_kept(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *devices,
                              const berth_place_options *options, bool *allowed) {
    berth_costs *with = NULL, *without = NULL;
    berth_cost_options how = berth_cost_options_default();
    how.profile = options->profile;
    BERTH_TRY(berth_costs_new(ctx, &without, graph, devices, &how));
    how.limits = options->limits;
    berth_status status = berth_costs_new(ctx, &with, graph, devices, &how);
    for (int32_t d = 0; d < devices->n_devices && status == BERTH_OK; d++) {
        allowed[d] = true;
        for (int32_t i = 0; i < berth_graph_op_count(graph); i++)
            if (isinf(berth_costs_op_ms(with, i, d)) && !isinf(berth_costs_op_ms(without, i, d))) allowed[d] = false;
    }
    berth_costs_free(with);
    berth_costs_free(without);
    return status;
}

berth_status berth_lead_singles(berth_ctx *ctx, const berth_graph *graph, const berth_device_set *devices,
                                const berth_place_options *options, bool *allowed) {
    BERTH_TRY(find_kept(ctx, graph, devices, options, allowed));
    for (int32_t d = 0; d < devices->n_devices; d++) {
        berth_plan *plan = NULL;
        berth_status status = berth_lead_by_rule(ctx, &plan, graph, devices, options, d);
        berth_plan_free(plan);
        if (status == BERTH_E_INFEASIBLE)
            allowed[d] = false;
        else if (status != BERTH_OK)
            return status;
    }
    return BERTH_OK;
}
