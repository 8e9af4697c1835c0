/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of a task graph that must be done between two tasks of a chain. */
#ifndef BERTH_SEARCH_BOUND_MODULES_H
#define BERTH_SEARCH_BOUND_MODULES_H

#include "cost/costs.h"

/* All tasks of a module run after task `from` has ended and before task `to` starts. */
typedef struct berth_module {
    int32_t from; /* -1: the beginning */
    int32_t to;   /* -1: the end */
} berth_module;

typedef struct berth_modules {
    int32_t n;             /* the last one is the whole graph */
    berth_module *modules; /* [n], by their place on the chain */
    int32_t *module_of;    /* [n_tasks] the one of the chain that the task is in, or -1 */
    int32_t *inside;       /* [n_values] made in the module or by `from`, and read in it or by `to` alone; else -1 */
} berth_modules;

/* Modules along the longest path by each task's least time. False: no memory. */
bool berth_modules_find(berth_modules *modules, berth_arena *arena, const berth_costs *costs);

#endif
