/* SPDX-License-Identifier: Apache-2.0 */
/* From a plan to a placement of a model, and on to its simulation.
 *
 * A plan is for one model, known by its fingerprint, at one set of input shapes. Forced, it is used for whatever has
 * operations of the same names: those of equal index and name first, the rest found by name. */
#include "plan/plan.h"

#include "base/map.h"

#include <inttypes.h>
#include <string.h>

/* Refused, or said in the log where the user insists. */
static berth_status object(berth_ctx *ctx, bool force, const char *what, const char *word) {
    if (!force) return berth_fail(ctx, BERTH_E_FORMAT, "%s%.200s", what, word);
    berth_log(ctx, BERTH_LOG_WARNING, "%s%.200s", what, word);
    return BERTH_OK;
}

static bool inputs_agree(const berth_plan *plan, const berth_graph *graph, const char **which) {
    int32_t n = 0;
    const int32_t *inputs = berth_graph_inputs(graph, &n);
    for (int32_t i = 0; i < n && i < plan->n_inputs; i++) {
        const berth_shape *shape = &berth_graph_tensor(graph, inputs[i])->shape;
        const berth_plan_input *input = &plan->inputs[i];
        bool same = shape->rank == input->rank;
        *which = input->name;
        for (int32_t k = 0; same && k < shape->rank; k++)
            same = input->dims[k] == (shape->dims[k].min == shape->dims[k].max ? shape->dims[k].min : -1);
        if (!same) return false;
    }
    return n == plan->n_inputs;
}

static berth_status check_model(berth_ctx *ctx, const berth_plan *plan, const berth_graph *graph, bool force) {
    const char *input = "";
    if (strcmp(plan->fingerprint, berth_graph_fingerprint(graph)) != 0)
        return object(ctx, force, "the plan was made for another model, whose fingerprint is ", plan->fingerprint);
    if (!inputs_agree(plan, graph, &input))
        BERTH_TRY(object(ctx, force, "the plan was made for another shape of input ", input));
    if (plan->n_ops == berth_graph_op_count(graph)) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_FORMAT, "the plan has %" PRId32 " operations, the model %" PRId32, plan->n_ops,
                      berth_graph_op_count(graph));
}

/* --- operations ------------------------------------------------------------------------------------------------- */

/* row[op]: the plan's row for each operation of the model. Without force these are equal. */
static berth_status match_ops(berth_ctx *ctx, const berth_plan *plan, const berth_graph *graph, berth_map *names,
                              int32_t *row) {
    for (int32_t i = 0; i < plan->n_ops; i++)
        if (!berth_map_insert(names, plan->ops[i].name, strlen(plan->ops[i].name), i, NULL))
            return berth_fail_nomem(ctx);
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) {
        const char *name = berth_graph_op(graph, op)->name;
        const int32_t *found = berth_map_find(names, name, strlen(name));
        bool in_place = op < plan->n_ops && strcmp(plan->ops[op].name, name) == 0;
        if (!in_place && !found)
            return berth_fail(ctx, BERTH_E_FORMAT, "the plan has no operation '%.200s', which the model has", name);
        row[op] = in_place ? op : *found;
    }
    return BERTH_OK;
}

static void fill(berth_placement *placement, const berth_plan *plan, const berth_graph *graph, const int32_t *row,
                 int32_t *turn) {
    for (int32_t op = 0; op < placement->n_ops; op++) placement->device[op] = plan->ops[row ? row[op] : op].device;
    if (!plan->order) return;
    /* Those in the order first, then the rest (which does not run); distinct, and a permutation. */
    for (int32_t i = 0; i < plan->n_ops; i++) turn[i] = plan->n_order;
    for (int32_t i = 0; i < plan->n_order; i++) turn[plan->order[i]] = i;
    int32_t late = plan->n_order;
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) {
        int32_t at = turn[row ? row[op] : op];
        placement->priority[op] = at < plan->n_order ? at : late++;
    }
}

/* An order is one of all operations that run, and in a forced plan no two of them may be the same row of the plan. */
static bool order_is_usable(const berth_plan *plan, const berth_graph *graph, bool same) {
    int32_t n_run = 0;
    bool only = true;
    for (int32_t op = 0; op < berth_graph_op_count(graph); op++) n_run += berth_op_runs(berth_graph_op(graph, op));
    for (int32_t i = 0; i < plan->n_order && same; i++) only &= berth_op_runs(berth_graph_op(graph, plan->order[i]));
    return same && only && n_run == plan->n_order;
}

static berth_status fit(berth_ctx *ctx, berth_placement *placement, const berth_plan *plan, const berth_graph *graph,
                        bool same) {
    berth_arena scratch;
    berth_map names;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_map_init(&names, ctx);
    int32_t *row = berth_arena_push(&scratch, (size_t)placement->n_ops, sizeof *row);
    int32_t *turn = berth_arena_push(&scratch, (size_t)plan->n_ops, sizeof *turn);
    berth_status status = scratch.failed ? berth_fail_nomem(ctx) : BERTH_OK;
    if (status == BERTH_OK && !same) status = match_ops(ctx, plan, graph, &names, row);
    if (status == BERTH_OK) fill(placement, plan, graph, same ? NULL : row, turn);
    berth_map_deinit(&names);
    berth_arena_deinit(&scratch);
    return status;
}

berth_status berth_plan_fit(berth_ctx *ctx, berth_placement **out, const berth_plan *plan, const berth_graph *graph,
                            bool force) {
    *out = NULL;
    bool same = strcmp(plan->fingerprint, berth_graph_fingerprint(graph)) == 0;
    BERTH_TRY(check_model(ctx, plan, graph, force));
    bool ordered = plan->order && order_is_usable(plan, graph, same);
    if (plan->order && !ordered)
        BERTH_TRY(object(ctx, force && !same, "the plan's order is not one of the operations that run", ""));
    berth_placement *placement = NULL;
    BERTH_TRY(berth_placement_new(ctx, &placement, berth_graph_op_count(graph), ordered));
    berth_plan unordered = *plan;
    if (!ordered) unordered.order = NULL;
    berth_status status = fit(ctx, placement, &unordered, graph, same);
    if (status == BERTH_OK)
        *out = placement;
    else
        berth_placement_free(placement);
    return status;
}

/* --- simulation ------------------------------------------------------------------------------------------------- */

/* The devices of the plan, or those that the workload brings (*owned then). */
static berth_status find_devices(berth_ctx *ctx, const berth_plan *plan, const berth_graph *graph,
                                 const berth_device_set **out, berth_device_set **owned) {
    *out = plan->devices;
    if (plan->devices) return BERTH_OK;
    BERTH_TRY(berth_device_set_given(ctx, owned, graph));
    *out = *owned;
    bool same = (*owned)->n_devices == plan->n_devices;
    for (int32_t d = 0; same && d < plan->n_devices; d++)
        same = strcmp((*owned)->devices[d].name, plan->device_names[d]) == 0;
    return same ? BERTH_OK : berth_fail(ctx, BERTH_E_FORMAT, "the plan's devices are not those of the workload");
}

static berth_status check_profile(berth_ctx *ctx, const berth_plan *plan, const char *path, bool force) {
    char digest[65];
    if (!path) return BERTH_OK;
    if (!plan->profile) return object(ctx, force, "the plan was made without a profile, not with ", path);
    BERTH_TRY(berth_plan_digest(ctx, path, digest));
    if (strcmp(digest, plan->profile_sha256) == 0) return BERTH_OK;
    return object(ctx, force, "this is not the profile that the plan was made with: ", path);
}

static berth_status simulate(berth_ctx *ctx, berth_timeline **out, const berth_plan *plan, const berth_graph *graph,
                             const berth_device_set *devices, const char *profile, const berth_placement *placement) {
    berth_cost_options options = berth_cost_options_default();
    berth_costs *costs = NULL;
    options.limits = &plan->limits;
    options.profile = profile;
    options.model = plan->execution_model;
    options.piece_ms = plan->piece_ms;
    options.objective = plan->objective;
    BERTH_TRY(berth_costs_new(ctx, &costs, graph, devices, &options));
    berth_status status = berth_simulate(ctx, out, costs, placement);
    berth_costs_free(costs);
    return status;
}

berth_status berth_plan_simulate(berth_ctx *ctx, berth_timeline **out, const berth_plan *plan, const berth_graph *graph,
                                 const char *profile, bool force) {
    berth_placement *placement = NULL;
    const berth_device_set *devices = NULL;
    berth_device_set *owned = NULL;
    const char *path = profile ? profile : plan->profile;
    *out = NULL;
    BERTH_TRY(berth_plan_fit(ctx, &placement, plan, graph, force));
    berth_status status = check_profile(ctx, plan, path, force);
    if (status == BERTH_OK) status = find_devices(ctx, plan, graph, &devices, &owned);
    if (status == BERTH_OK) status = simulate(ctx, out, plan, graph, devices, path, placement);
    berth_device_set_free(owned);
    berth_placement_free(placement);
    return status;
}
