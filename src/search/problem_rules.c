/* SPDX-License-Identifier: Apache-2.0 */
/* Pins and bans as masks of devices. A rule may match operations that are not placed (constants, stand-ins): it has
 * no effect on those; that a rule matches nothing at all is refused where the costs are made. */
#include "search/problem_rules.h"

#include <fnmatch.h>
#include <string.h>

const char *berth_problem_task_name(const berth_costs *costs, int32_t task) {
    return costs->graph ? berth_graph_op(costs->graph, costs->task_op[task])->name : "a task";
}

bool berth_problem_rule_matches(const berth_costs *costs, const char *pattern, int32_t task) {
    const berth_op *op = berth_graph_op(costs->graph, costs->task_op[task]);
    return fnmatch(pattern, op->name, 0) == 0 || fnmatch(pattern, op->type, 0) == 0;
}

static int32_t find_device(const berth_device_set *devices, const char *name) {
    for (int32_t d = 0; d < devices->n_devices; d++)
        if (strcmp(devices->devices[d].name, name) == 0) return d;
    return strcmp(name, "host") == 0 ? devices->host : -1;
}

static berth_status mask_rule(berth_ctx *ctx, const berth_costs *costs, const berth_rule *rule, bool is_pin,
                              const berth_device_set *devices, uint64_t *allowed) {
    const char *option = is_pin ? "--pin" : "--ban";
    int32_t d = find_device(devices, rule->device);
    if (d < 0)
        return berth_fail(ctx, BERTH_E_ARG, "%s '%s=%s': there is no device '%s'", option, rule->pattern, rule->device,
                          rule->device);
    uint64_t keep = is_pin ? (uint64_t)1 << d : ~((uint64_t)1 << d);
    for (int32_t task = 0; task < costs->n_tasks; task++) {
        if (!berth_problem_rule_matches(costs, rule->pattern, task)) continue;
        allowed[task] &= keep;
        if (!allowed[task])
            return berth_fail(ctx, BERTH_E_INFEASIBLE, "%s '%s=%s' leaves no device for %s", option, rule->pattern,
                              rule->device, berth_problem_task_name(costs, task));
    }
    return BERTH_OK;
}

berth_status berth_problem_mask_rules(berth_ctx *ctx, const berth_costs *costs, const berth_limits *limits,
                                      const berth_device_set *devices, uint64_t *allowed) {
    for (int32_t i = 0; i < limits->n_pins; i++)
        BERTH_TRY(mask_rule(ctx, costs, &limits->pins[i], true, devices, allowed));
    for (int32_t i = 0; i < limits->n_bans; i++)
        BERTH_TRY(mask_rule(ctx, costs, &limits->bans[i], false, devices, allowed));
    return BERTH_OK;
}
