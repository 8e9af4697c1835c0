/* SPDX-License-Identifier: Apache-2.0 */
/* Placement problems for tests: cost blocks drawn at random, without any graph behind them, and their optimum by
 * brute force. */
#ifndef BERTH_TESTS_PROBLEMS_H
#define BERTH_TESTS_PROBLEMS_H

#include "support.h"

#include "berth/bench.h"
#include "search/search.h"

typedef struct support_costs {
    int32_t n_tasks, n_devices;
    int32_t density; /* percent: chance that a task reads each of the values before it */
    berth_model model;
    berth_objective objective;
    bool one_value_per_edge; /* as in workload files; else tasks make 1 or 2 values with any number of readers */
    bool given;              /* some values are there from the start */
    bool targets;            /* some values must end somewhere */
    bool any_home;           /* homes and targets anywhere (not under `contiguous`), else on the host */
    bool queued_links;       /* some links take one copy at a time */
    bool copy_table;         /* a copy time for each value and link, else fixed + amount * per unit */
    bool integers;           /* small whole times: many ties */
    int32_t bans;            /* percent of (task, device) that cannot run */
    bool colours;            /* some tasks share a device */
    bool task_memory;        /* a size for each task, and capacities, often tight */
    bool peaks;              /* weights, value sizes and capacities, often tight */
    bool equal_devices;      /* the last two devices are alike */
    double piece_ms;
} support_costs;

/* Costs as described. Equal states give equal costs; free with berth_costs_free. Memory limits may leave no feasible
 * placement, bans and colours always leave one. */
berth_costs *support_costs_new(berth_ctx *ctx, uint64_t *state, const support_costs *how);
/* Any kind of problem under that model: everything in support_costs drawn at random; n_tasks up to max_tasks, 2 to
 * max_devices devices. */
support_costs support_costs_any(uint64_t *state, berth_model model, int32_t max_tasks, int32_t max_devices);
/* A line that names the kind, for messages of failing tests. Static buffer. */
const char *support_costs_text(const support_costs *how);

/* The problem of the costs without limits; fails the test if there is none. */
berth_problem *support_problem(berth_ctx *ctx, const berth_costs *costs);

/* The best makespan of all placements of units by berth_sim_run; with `orders`, under `concurrent`, of all priorities
 * too. INFINITY: none is feasible. device and priority, [n_tasks] each, get the first best one unless NULL. */
double support_brute_force(berth_ctx *ctx, const berth_problem *problem, bool orders, int32_t *device,
                           int32_t *priority);

/* A search with so many evaluations and all the time there is. */
berth_search *support_search(berth_ctx *ctx, const berth_problem *problem, uint64_t seed, int64_t evaluations,
                             int32_t n_threads);
/* Fails the test unless both have found the same after as many evaluations. */
void support_same_best(const berth_search *search, const berth_search *again);
/* Fails the test unless the best placement of the search is one of the problem's and takes what it says, by a
 * simulator of its own; does nothing if the search has none. */
void support_check_best(berth_ctx *ctx, const berth_search *search);

/* The graph of Topcuoglu, Hariri and Wu (2002): 10 tasks, 3 machines, parallel links, one value per edge. HEFT takes
 * 80, the optimum is 73. */
berth_costs *support_topcuoglu(berth_ctx *ctx);

/* A generated case as a problem. Free it also after a failure. */
typedef struct support_setting {
    berth_graph *graph;
    berth_device_set *devices;
    berth_costs *costs;
    berth_problem *problem;
} support_setting;

berth_status support_setting_make(berth_ctx *ctx, support_setting *setting, berth_case item);
void support_setting_free(support_setting *setting);

/* A method on three small problems, without memory, with sizes of tasks and with peaks: its allocations fail one after
 * another, and it must say so and leave nothing behind. */
void support_ladder_of_method(berth_ctx *ctx, berth_status (*run)(berth_search *), uint64_t seed, int32_t n_tasks,
                              int64_t evaluations);

#endif
