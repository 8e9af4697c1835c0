/* SPDX-License-Identifier: Apache-2.0 */
/* A problem: costs, what may run where, and what moves as one. Methods see nothing else. */
#ifndef BERTH_SEARCH_PROBLEM_H
#define BERTH_SEARCH_PROBLEM_H

#include "berth/group.h"
#include "cost/costs.h"

typedef struct berth_problem {
    berth_arena arena;
    const berth_costs *costs;
    int32_t n_units;
    const int32_t *unit_of;                    /* [n_tasks] */
    const int32_t *unit_start, *unit_tasks;    /* CSR: tasks of a unit, ascending; units by their first task */
    const uint64_t *allowed;                   /* [n_units] bit per device; never 0 */
    const uint64_t *task_allowed;              /* [n_tasks] the same for the task alone; for bounds */
    int32_t n_classes;                         /* what shares a device whatever the units: colours and together */
    const int32_t *class_of;                   /* [n_tasks] */
    const uint64_t *class_allowed;             /* [n_classes]; for bounds, which hold for all units */
    bool memory_binds;                         /* some placement may exceed a capacity */
    bool units_are_tasks;                      /* every unit is one task */
    bool bounds_hold;                          /* units come from constraints, not from --group: what bounds them
                                                  bounds every placement of tasks */
    uint64_t equal_devices[BERTH_MAX_DEVICES]; /* devices interchangeable with this one (same times, links, masks) */
} berth_problem;

/* Units from the costs' colours, --together patterns and, if a rule is given (else NULL), groups; `allowed` from
 * times, where pins and bans are already in. A group whose members share no allowed device is split into single tasks;
 * a task that may run nowhere, and colours and together that share no device, are BERTH_E_INFEASIBLE by name; a
 * pattern that matches nothing is BERTH_E_ARG. `limits` may be NULL. The costs must outlive the problem. */
berth_status berth_problem_new(berth_ctx *ctx, berth_problem **out, const berth_costs *costs,
                               const berth_limits *limits, const berth_group_rule *rule);
/* The same with any sets of operations in place of a rule's groups: set_of [n_ops], numbers below n_ops. */
berth_status berth_problem_new_joined(berth_ctx *ctx, berth_problem **out, const berth_costs *costs,
                                      const berth_limits *limits, const int32_t *set_of);
void berth_problem_free(berth_problem *problem);

/* The memory that a unit takes along: what was given, or its weights and that share of the values it makes. */
double berth_problem_unit_bytes(const berth_problem *problem, int32_t unit, double values);

static inline bool berth_problem_allows(const berth_problem *problem, int32_t unit, int32_t device) {
    return problem->allowed[unit] >> device & 1;
}

#endif
