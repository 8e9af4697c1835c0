/* SPDX-License-Identifier: Apache-2.0 */
/* What a user asks of a placement, applied to the tasks of a problem. */
#ifndef BERTH_SEARCH_PROBLEM_RULES_H
#define BERTH_SEARCH_PROBLEM_RULES_H

#include "search/problem.h"

/* Name of the task's operation, for messages. */
const char *berth_problem_task_name(const berth_costs *costs, int32_t task);
/* Whether the pattern matches the whole name or the whole type of the task's operation. */
bool berth_problem_rule_matches(const berth_costs *costs, const char *pattern, int32_t task);
/* Narrow allowed[n_tasks] to what pins and bans leave; BERTH_E_INFEASIBLE, by name, where nothing is left. */
berth_status berth_problem_mask_rules(berth_ctx *ctx, const berth_costs *costs, const berth_limits *limits,
                                      const berth_device_set *devices, uint64_t *allowed);

#endif
