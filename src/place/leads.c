/* SPDX-License-Identifier: Apache-2.0 */
/* Searches on devices with other links; rules without a search. */
#include "place/leads.h"

#include "base/ctx.h"

#include <math.h>

const double berth_lead_prices[BERTH_LEAD_PRICES] = {2, 0.5, 4, 0};

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
    for (size_t i = 0; i < n_links && status == BERTH_OK; i++)
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

berth_status berth_lead_by_rule(berth_ctx *ctx, berth_plan **out, const berth_graph *graph,
                                const berth_device_set *devices, const berth_place_options *options, int32_t d) {
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    size_t n_ops = (size_t)berth_graph_op_count(graph);
    berth_cost_options cost = berth_cost_options_default();
    berth_costs *costs = NULL;
    cost.limits = options->limits;
    cost.profile = options->profile;
    BERTH_TRY(berth_costs_new(ctx, &costs, graph, devices, &cost));
    int32_t *device = berth_resize(allocator, NULL, 0, n_ops + 1, sizeof *device);
    berth_status status = device ? BERTH_OK : berth_fail_nomem(ctx);
    for (size_t i = 0; i < n_ops && status == BERTH_OK; i++) {
        int32_t at = berth_costs_op_ms(costs, (int32_t)i, d) < INFINITY ? d : devices->host;
        for (int32_t k = 0; k < devices->n_devices && !(berth_costs_op_ms(costs, (int32_t)i, at) < INFINITY); k++)
            at = k;
        device[i] = at;
    }
    if (status == BERTH_OK) status = take_given(ctx, out, graph, devices, options, device);
    if (device) berth_resize(allocator, device, n_ops + 1, 0, sizeof *device);
    berth_costs_free(costs);
    return status;
}
