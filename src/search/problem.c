/* SPDX-License-Identifier: Apache-2.0 */
/* Units and masks of a problem.
 *
 * Units are the classes of a union-find over tasks: first what must stay together (colours, --together), then the
 * groups of a rule as far as their members share a device. A root is always its class's smallest task and carries the
 * class's mask, so that units come out numbered by their first task. Devices are interchangeable if swapping the two
 * leaves every number of the costs, and so up to rounding every makespan, as it was; swaps compose, so this is an
 * equivalence and each device need only be compared with the first of every class. */
#include "search/problem.h"

#include <math.h>
#include <string.h>

#include "base/leader.h"
#include "device/pattern.h"

typedef struct build {
    berth_ctx *ctx;
    const berth_costs *costs;
    berth_problem *problem;
    berth_arena scratch;
    int32_t *leader; /* [n_tasks] */
    uint64_t *mask;  /* [n_tasks] of a class, at its leader */
} build;

static const char *task_name(const berth_costs *costs, int32_t task) {
    return costs->graph ? berth_graph_op(costs->graph, costs->task_op[task])->name : "a task";
}

static void join(build *b, int32_t first, int32_t second) {
    int32_t x = berth_leader_find(b->leader, first), y = berth_leader_find(b->leader, second);
    if (x == y) return;
    if (x > y) {
        int32_t swap = x;
        x = y;
        y = swap;
    }
    b->leader[y] = x;
    b->mask[x] &= b->mask[y];
}

static berth_status mask_tasks(build *b, uint64_t *allowed) {
    const berth_costs *c = b->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        for (int32_t d = 0; d < c->n_devices; d++)
            if (c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d] < INFINITY)
                allowed[task] |= (uint64_t)1 << d;
        if (!allowed[task])
            return berth_fail(b->ctx, BERTH_E_INFEASIBLE, "%s (task %d) can run on no device", task_name(c, task),
                              (int)task);
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        b->leader[task] = task;
        b->mask[task] = allowed[task];
    }
    return BERTH_OK;
}

/* Joins two tasks that must share a device, or says that they cannot. */
static berth_status join_bound(build *b, int32_t first, int32_t second, const char *why) {
    join(b, first, second);
    if (b->mask[berth_leader_find(b->leader, first)]) return BERTH_OK;
    return berth_fail(
        b->ctx, BERTH_E_INFEASIBLE,
        "%.200s (task %d) and %.200s (task %d) must share a device (%.200s), but none is allowed for both",
        task_name(b->costs, first), (int)first, task_name(b->costs, second), (int)second, why);
}

static berth_status join_colours(build *b) {
    const berth_costs *c = b->costs;
    if (!c->colour) return BERTH_OK;
    int32_t n_colours = 0;
    for (int32_t task = 0; task < c->n_tasks; task++)
        if (c->colour[task] >= n_colours) n_colours = c->colour[task] + 1;
    int32_t *first = berth_arena_push(&b->scratch, (size_t)n_colours, sizeof *first);
    if (!first) return berth_fail_nomem(b->ctx);
    memset(first, -1, (size_t)n_colours * sizeof *first);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t colour = c->colour[task];
        if (colour < 0) continue;
        if (first[colour] < 0)
            first[colour] = task;
        else
            BERTH_TRY(join_bound(b, first[colour], task, "equal colours"));
    }
    return BERTH_OK;
}

static berth_status join_together(build *b, const char *pattern) {
    const berth_costs *c = b->costs;
    int32_t first = -1, n_matched = 0;
    for (int32_t op = 0; op < c->n_ops; op++) {
        if (!berth_pattern_matches_op(pattern, berth_graph_op(c->graph, op))) continue;
        int32_t task = c->op_task[op];
        n_matched++;
        if (task < 0) continue; /* a constant, or the stand-in of an input or output: not placed */
        if (first < 0)
            first = task;
        else
            BERTH_TRY(join_bound(b, first, task, pattern));
    }
    if (n_matched > 0) return BERTH_OK;
    return berth_fail(b->ctx, BERTH_E_ARG, "together '%.200s' matches neither name nor type of any operation", pattern);
}

static void join_members(build *b, const int32_t *members, int32_t n) {
    const int32_t *op_task = b->costs->op_task;
    uint64_t shared = UINT64_MAX;
    int32_t first = -1;
    for (int32_t i = 0; i < n; i++)
        if (op_task[members[i]] >= 0) shared &= b->mask[berth_leader_find(b->leader, op_task[members[i]])];
    if (!shared) return;
    for (int32_t i = 0; i < n; i++) {
        int32_t task = op_task[members[i]];
        if (task < 0) continue;
        if (first < 0)
            first = task;
        else
            join(b, first, task);
    }
}

static berth_status join_groups(build *b, berth_group_rule rule) {
    berth_groups *groups = NULL;
    BERTH_TRY(berth_groups_build(b->ctx, &groups, b->costs->graph, rule));
    for (int32_t g = 0; g < groups->n_groups; g++)
        join_members(b, groups->members + groups->member_start[g],
                     groups->member_start[g + 1] - groups->member_start[g]);
    berth_groups_free(groups);
    return BERTH_OK;
}

/* The same for sets that somebody else has made: set_of [n_ops], numbers below n_ops. */
static berth_status join_sets(build *b, const int32_t *set_of) {
    int32_t n = b->costs->n_ops;
    int32_t *start = berth_arena_push(&b->scratch, (size_t)n + 2, sizeof *start);
    int32_t *members = berth_arena_push(&b->scratch, (size_t)n, sizeof *members);
    if (b->scratch.failed) return berth_fail_nomem(b->ctx);
    for (int32_t op = 0; op < n; op++) start[set_of[op] + 2]++;
    for (int32_t set = 0; set < n; set++) start[set + 2] += start[set + 1];
    for (int32_t op = 0; op < n; op++) members[start[set_of[op] + 1]++] = op;
    for (int32_t set = 0; set < n; set++) join_members(b, members + start[set], start[set + 1] - start[set]);
    return BERTH_OK;
}

/* Numbers the classes so far, before groups join any. */
static bool list_classes(build *b) {
    berth_problem *p = b->problem;
    int32_t n = b->costs->n_tasks;
    int32_t *class_of = berth_arena_push(&p->arena, (size_t)n, sizeof *class_of);
    uint64_t *allowed = berth_arena_push(&p->arena, (size_t)n, sizeof *allowed);
    if (p->arena.failed) return false;
    for (int32_t task = 0; task < n; task++) {
        int32_t root = berth_leader_find(b->leader, task);
        class_of[task] = root == task ? p->n_classes++ : class_of[root];
        if (root == task) allowed[class_of[task]] = b->mask[task];
    }
    p->class_of = class_of;
    p->class_allowed = allowed;
    return true;
}

/* Numbers the final classes and lists their tasks. */
static bool list_units(build *b) {
    berth_problem *p = b->problem;
    int32_t n = b->costs->n_tasks;
    int32_t *unit_of = berth_arena_push(&p->arena, (size_t)n, sizeof *unit_of);
    int32_t *tasks = berth_arena_push(&p->arena, (size_t)n, sizeof *tasks);
    if (p->arena.failed) return false;
    for (int32_t task = 0; task < n; task++) {
        int32_t root = berth_leader_find(b->leader, task);
        unit_of[task] = root == task ? p->n_units++ : unit_of[root];
    }
    int32_t *start = berth_arena_push(&p->arena, (size_t)p->n_units + 1, sizeof *start);
    uint64_t *allowed = berth_arena_push(&p->arena, (size_t)p->n_units, sizeof *allowed);
    int32_t *fill = berth_arena_push(&b->scratch, (size_t)p->n_units, sizeof *fill);
    if (p->arena.failed || b->scratch.failed) return false;
    for (int32_t task = 0; task < n; task++) start[unit_of[task] + 1]++;
    for (int32_t u = 0; u < p->n_units; u++) start[u + 1] += start[u];
    for (int32_t task = 0; task < n; task++) {
        int32_t unit = unit_of[task];
        allowed[unit] = b->mask[berth_leader_find(b->leader, task)];
        tasks[start[unit] + fill[unit]++] = task;
    }
    p->unit_of = unit_of;
    p->unit_start = start;
    p->unit_tasks = tasks;
    p->allowed = allowed;
    p->units_are_tasks = p->n_units == n;
    return true;
}

/* True if everything that may ever lie on some device at once exceeds its capacity. */
static bool memory_binds(const berth_problem *p, bool *weight_seen) {
    const berth_costs *c = p->costs;
    for (int32_t d = 0; d < c->n_devices; d++) {
        double most = 0;
        if (!(c->capacity[d] < INFINITY)) continue;
        if (c->task_memory) {
            for (int32_t task = 0; task < c->n_tasks; task++)
                if (p->task_allowed[task] >> d & 1) most += c->task_memory[task];
        } else {
            memset(weight_seen, 0, (size_t)c->n_weights * sizeof *weight_seen);
            for (int32_t v = 0; v < c->n_values; v++) most += c->value_bytes[v];
            for (int32_t task = 0; task < c->n_tasks; task++)
                for (int32_t i = c->weight_start[task]; i < c->weight_start[task + 1]; i++) {
                    if (weight_seen[c->weights[i]] || !(p->task_allowed[task] >> d & 1)) continue;
                    weight_seen[c->weights[i]] = true;
                    most += c->weight_bytes[c->weights[i]];
                }
        }
        if (most > c->capacity[d]) return true;
    }
    return false;
}

static bool is_special(const berth_costs *c, int32_t d) {
    if (d == c->host && (c->model == BERTH_MODEL_QUEUED || c->model == BERTH_MODEL_CONTIGUOUS ||
                         c->objective == BERTH_OBJECTIVE_THROUGHPUT))
        return true;
    for (int32_t v = 0; v < c->n_values; v++)
        if (c->value_home[v] == d || c->value_target[v] == d) return true;
    return false;
}

/* Where `d` is after swapping a and b. */
static int32_t swapped(int32_t d, int32_t a, int32_t b) {
    return d == a ? b : d == b ? a : d;
}

static bool links_are_equal(const berth_costs *c, int32_t a, int32_t b) {
    int32_t k = c->n_devices, n_rows = c->copy_table ? c->n_values : 1;
    for (int32_t from = 0; from < k; from++)
        for (int32_t to = 0; to < k; to++) {
            if (from == to || (from != a && from != b && to != a && to != b)) continue;
            size_t x = (size_t)from * (size_t)k + (size_t)to;
            size_t y = (size_t)swapped(from, a, b) * (size_t)k + (size_t)swapped(to, a, b);
            if (c->link_queued[x] != c->link_queued[y]) return false;
            if (!c->copy_table && (c->copy_fixed[x] != c->copy_fixed[y] || c->copy_per_unit[x] != c->copy_per_unit[y]))
                return false;
            for (int32_t v = 0; c->copy_table && v < n_rows; v++) {
                const double *row = c->copy_table + (size_t)v * (size_t)k * (size_t)k;
                if (row[x] != row[y]) return false;
            }
        }
    return true;
}

static bool are_equal(const berth_problem *p, int32_t a, int32_t b) {
    const berth_costs *c = p->costs;
    if (c->capacity[a] != c->capacity[b] || c->launch_ms[a] != c->launch_ms[b]) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        const double *row = c->time_ms + (size_t)task * (size_t)c->n_devices;
        if (row[a] != row[b] || ((p->task_allowed[task] >> a ^ p->task_allowed[task] >> b) & 1)) return false;
    }
    return links_are_equal(c, a, b);
}

static void find_equal_devices(berth_problem *p) {
    const berth_costs *c = p->costs;
    /* Pieces run by device within a level, so that what is alive at the same time depends on the numbers. */
    bool none = p->memory_binds && !c->task_memory && c->piece_ms > 0;
    for (int32_t d = 0; d < c->n_devices; d++) {
        p->equal_devices[d] = (uint64_t)1 << d;
        if (none || is_special(c, d)) continue;
        for (int32_t e = 0; e < d; e++) {
            bool is_first = (p->equal_devices[e] & (((uint64_t)1 << e) - 1)) == 0;
            if (!is_first || is_special(c, e) || !are_equal(p, e, d)) continue;
            uint64_t class = p->equal_devices[e] | p->equal_devices[d];
            for (int32_t member = 0; member <= d; member++)
                if (class >> member & 1) p->equal_devices[member] = class;
            break;
        }
    }
}

static berth_status build_problem(build *b, const berth_limits *limits, const berth_group_rule *rule,
                                  const int32_t *set_of) {
    berth_problem *p = b->problem;
    size_t n = (size_t)b->costs->n_tasks;
    uint64_t *task_allowed = berth_arena_push(&p->arena, n, sizeof *task_allowed);
    bool *weight_seen = berth_arena_push(&b->scratch, (size_t)b->costs->n_weights, sizeof *weight_seen);
    b->leader = berth_arena_push(&b->scratch, n, sizeof *b->leader);
    b->mask = berth_arena_push(&b->scratch, n, sizeof *b->mask);
    if (p->arena.failed || b->scratch.failed) return berth_fail_nomem(b->ctx);
    p->task_allowed = task_allowed;
    BERTH_TRY(mask_tasks(b, task_allowed));
    BERTH_TRY(join_colours(b));
    for (int32_t i = 0; limits && i < limits->n_together; i++) BERTH_TRY(join_together(b, limits->together[i].pattern));
    if (!list_classes(b)) return berth_fail_nomem(b->ctx);
    if (rule) BERTH_TRY(join_groups(b, *rule));
    if (set_of) BERTH_TRY(join_sets(b, set_of));
    if (!list_units(b)) return berth_fail_nomem(b->ctx);
    p->memory_binds = memory_binds(p, weight_seen);
    find_equal_devices(p);
    return BERTH_OK;
}

static berth_status make(berth_ctx *ctx, berth_problem **out, const berth_costs *costs, const berth_limits *limits,
                         const berth_group_rule *rule, const int32_t *set_of) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_problem *problem = berth_resize(allocator, NULL, 0, 1, sizeof *problem);
    if (!problem) return berth_fail_nomem(ctx);
    berth_arena_init(&problem->arena, allocator);
    problem->costs = costs;
    problem->bounds_hold = !rule && !set_of;
    build b = {.ctx = ctx, .costs = costs, .problem = problem};
    berth_arena_init(&b.scratch, allocator);
    berth_status status = build_problem(&b, limits, rule, set_of);
    berth_arena_deinit(&b.scratch);
    if (status == BERTH_OK)
        *out = problem;
    else
        berth_problem_free(problem);
    return status;
}

berth_status berth_problem_new(berth_ctx *ctx, berth_problem **out, const berth_costs *costs,
                               const berth_limits *limits, const berth_group_rule *rule) {
    return make(ctx, out, costs, limits, rule, NULL);
}

berth_status berth_problem_new_joined(berth_ctx *ctx, berth_problem **out, const berth_costs *costs,
                                      const berth_limits *limits, const int32_t *set_of) {
    return make(ctx, out, costs, limits, NULL, set_of);
}

void berth_problem_free(berth_problem *problem) {
    if (!problem) return;
    berth_allocator allocator = problem->arena.allocator;
    berth_arena_deinit(&problem->arena);
    berth_resize(&allocator, problem, 1, 0, sizeof *problem);
}

double berth_problem_unit_bytes(const berth_problem *problem, int32_t unit, double values) {
    const berth_costs *c = problem->costs;
    double bytes = 0;
    for (int32_t i = problem->unit_start[unit]; i < problem->unit_start[unit + 1]; i++) {
        int32_t task = problem->unit_tasks[i];
        if (c->task_memory) {
            bytes += c->task_memory[task];
            continue;
        }
        for (int32_t k = c->weight_start[task]; k < c->weight_start[task + 1]; k++)
            bytes += c->weight_bytes[c->weights[k]];
        for (int32_t k = c->out_start[task]; k < c->out_start[task + 1] && values > 0; k++)
            bytes += values * c->value_bytes[c->out_values[k]];
    }
    return bytes;
}
