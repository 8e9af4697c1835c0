/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds where tasks run side by side: critical paths and loads at once.
 *
 * Whatever the placement and the order, the makespan is at least the length of every way from the beginning to the end,
 * where a way is a path of tasks and copies that may leave out a module and count the load of one device or link in it
 * instead. So it is at least any weighted mean of ways. For fixed weights that mean is a sum of terms of single tasks,
 * reads and values, and its least value over all placements, a bound, is a minimum cut or an elimination (minimise.c).
 *
 * The weights that give the best bound are one side of a game, placements the other. Each side answers the mean of what
 * the other has played so far: placements by the least cost for the weights, weights by moving a share of themselves to
 * the longest way under the mean times of the placements. Every answer of the placements is a bound; the best counts.
 *
 * Memory limits join in by prices (bound_memory.c). */
#include <math.h>
#include <string.h>

#include "search/bound.h"
#include "search/bound_loads.h"
#include "search/bound_memory.h"
#include "search/minimise.h"

enum { BEGINNING = -1, MOST_RUNS = 20000, WINDOW = 100 };
static const double least_gain = 5e-4; /* of the bound in so many runs, to go on */
static const double room_for_tables = 1e6, room_per_node = 200;

/* Amounts along ways: weights, or times. */
typedef struct amounts {
    double *task;   /* [n_tasks] */
    double *read;   /* by position in costs->readers */
    double *target; /* [n_values] the copy to the target */
    double *load;   /* [n_modules * n_resources] */
    size_t n_load;
} amounts;

typedef struct state {
    berth_search *search;
    const berth_costs *c;
    berth_arena arena;
    berth_terms terms;
    berth_minimiser minimiser;
    berth_prices prices;
    berth_modules modules;
    berth_loads loads;
    bool paths; /* latency: else only the loads of the whole graph count */

    amounts weight, mean;
    double *busy;          /* loads of the placement at hand */
    int32_t *device;       /* [n_nodes] */
    double *length;        /* [n_tasks] of the longest way to the end of a task */
    int32_t *via;          /* [n_tasks] its last step: position of a read, module_step(module), or BEGINNING */
    int32_t *producer_of;  /* by position in costs->readers */
    int32_t *first_module; /* [n_tasks] module whose way leads to the task, or -1 */
    double best;
} state;

/* Steps are reads, counted from 0, or modules, counted down from -2. */
static int32_t module_step(int32_t module) {
    return -2 - module;
}

static bool make_amounts(state *s, amounts *a) {
    const berth_costs *c = s->c;
    a->n_load = (size_t)s->modules.n * (size_t)s->loads.n_resources;
    a->task = berth_arena_push(&s->arena, (size_t)c->n_tasks, sizeof *a->task);
    a->read = berth_arena_push(&s->arena, (size_t)c->reader_start[c->n_values], sizeof *a->read);
    a->target = berth_arena_push(&s->arena, (size_t)c->n_values, sizeof *a->target);
    a->load = berth_arena_push(&s->arena, a->n_load, sizeof *a->load);
    return !s->arena.failed;
}

static bool set_up_terms(state *s) {
    size_t k = (size_t)s->c->n_devices;
    int32_t *set = berth_arena_push(&s->arena, (size_t)s->c->n_values, sizeof *set);
    s->terms.link_fixed = berth_arena_push(&s->arena, (size_t)s->modules.n * k * k, sizeof(double));
    s->terms.link_rest = berth_arena_push(&s->arena, (size_t)s->modules.n * k * k, sizeof(double));
    if (s->arena.failed) return false;
    for (int32_t v = 0; v < s->c->n_values; v++)
        set[v] = !berth_loads_count(&s->loads, v) ? -1
                 : s->modules.inside[v] >= 0      ? s->modules.inside[v]
                                                  : s->modules.n - 1;
    s->terms.value_set = set;
    s->terms.via_host = s->loads.via_host;
    s->terms.values_count = s->loads.via_host || s->loads.links_count;
    s->terms.read_ms = s->paths ? s->weight.read : NULL;
    return true;
}

static berth_status set_up(state *s, const berth_patience *patience) {
    const berth_costs *c = s->c;
    size_t n = (size_t)c->n_tasks;
    bool done = berth_terms_init(&s->terms, &s->arena, s->search->problem, true) &&
                berth_modules_find(&s->modules, &s->arena, c) &&
                berth_prices_init(&s->prices, &s->arena, s->search->problem, &s->terms);
    if (done) berth_loads_init(&s->loads, c, &s->modules);
    done = done && make_amounts(s, &s->weight) && make_amounts(s, &s->mean) && set_up_terms(s);
    s->busy = berth_arena_push(&s->arena, s->weight.n_load, sizeof *s->busy);
    s->device = berth_arena_push(&s->arena, (size_t)s->terms.n_nodes, sizeof *s->device);
    s->length = berth_arena_push(&s->arena, n, sizeof *s->length);
    s->via = berth_arena_push(&s->arena, n, sizeof *s->via);
    s->first_module = berth_arena_push(&s->arena, n, sizeof *s->first_module);
    s->producer_of = berth_arena_push(&s->arena, (size_t)c->reader_start[c->n_values], sizeof *s->producer_of);
    if (!done || s->arena.failed) return berth_fail_nomem(s->search->ctx);
    for (int32_t v = 0; v < c->n_values; v++)
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) s->producer_of[i] = c->value_producer[v];
    memset(s->first_module, -1, n * sizeof *s->first_module);
    for (int32_t m = 0; m < s->modules.n; m++)
        if (s->modules.modules[m].to >= 0) s->first_module[s->modules.modules[m].to] = m;
    double room = room_for_tables + room_per_node * s->terms.n_nodes;
    return berth_minimiser_init(s->search->ctx, &s->minimiser, &s->terms, &s->arena, room,
                                0.3 * berth_patience_left(patience));
}

/* The copy of a value to a device, as a way waits for it. */
static double route(const state *s, int32_t value, int32_t from, int32_t to) {
    const berth_costs *c = s->c;
    if (from == to) return 0;
    if (!s->loads.via_host) return berth_costs_copy(c, value, from, to);
    return berth_costs_copy(c, value, from, c->host) + berth_costs_copy(c, value, c->host, to);
}

/* Weights as terms. Copies to targets depend on the producer alone; without one they are the same for all placements,
 * and returned. */
static double weigh(state *s) {
    const berth_costs *c = s->c;
    double constant = 0;
    berth_loads_weigh(&s->loads, &s->terms, s->weight.task, s->weight.load);
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t producer = c->value_producer[v], target = c->value_target[v];
        if (!(s->weight.target[v] > 0)) continue;
        if (producer < 0) {
            constant += s->weight.target[v] * s->mean.target[v];
            continue;
        }
        int32_t node = s->terms.node_of[producer];
        for (uint64_t rest = s->terms.allowed[node]; rest; rest &= rest - 1) {
            int32_t d = __builtin_ctzll(rest);
            double copy = route(s, v, d, target);
            s->terms.node_ms[(size_t)node * (size_t)c->n_devices + (size_t)d] +=
                copy < s->terms.huge ? s->weight.target[v] * copy : s->terms.huge;
        }
    }
    return constant;
}

static double blend(double mean, double now, double share) {
    return mean + share * ((now < INFINITY ? now : 0) - mean);
}

/* Means over the placements so far take in the one at hand. */
static void take_in(state *s, double share) {
    const berth_costs *c = s->c;
    const int32_t *node_of = s->terms.node_of;
    berth_loads_of(&s->loads, &s->terms, s->device, s->busy);
    for (size_t i = 0; i < s->mean.n_load; i++) s->mean.load[i] = blend(s->mean.load[i], s->busy[i], share);
    if (!s->paths) return;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double time = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)s->device[node_of[task]]];
        s->mean.task[task] = blend(s->mean.task[task], time, share);
    }
    for (int32_t v = 0; v < c->n_values; v++) {
        int32_t producer = c->value_producer[v], target = c->value_target[v];
        int32_t home = producer < 0 ? c->value_home[v] : s->device[node_of[producer]];
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++)
            s->mean.read[i] = blend(s->mean.read[i], route(s, v, home, s->device[node_of[c->readers[i]]]), share);
        if (target >= 0) s->mean.target[v] = blend(s->mean.target[v], route(s, v, home, target), share);
    }
}

/* The busiest resource of a module. */
static size_t busiest(const state *s, int32_t module) {
    const double *load = s->mean.load + berth_loads_at(&s->loads, module, 0);
    int32_t best = 0;
    for (int32_t r = 1; r < s->loads.n_resources; r++)
        if (load[r] > load[best]) best = r;
    return berth_loads_at(&s->loads, module, best);
}

static double length_before(const state *s, int32_t task) {
    return task < 0 ? 0 : s->length[task];
}

/* Longest ways to the end of every task. */
static void find_ways(state *s) {
    const berth_costs *c = s->c;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        s->length[task] = 0;
        s->via[task] = BEGINNING;
    }
    for (int32_t i = 0; i < c->n_given; i++)
        for (int32_t at = c->reader_start[c->given_values[i]]; at < c->reader_start[c->given_values[i] + 1]; at++)
            if (s->mean.read[at] > s->length[c->readers[at]]) {
                s->length[c->readers[at]] = s->mean.read[at];
                s->via[c->readers[at]] = at;
            }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t module = s->first_module[task];
        if (module >= 0) {
            double length = length_before(s, s->modules.modules[module].from) + s->mean.load[busiest(s, module)];
            if (length > s->length[task]) {
                s->length[task] = length;
                s->via[task] = module_step(module);
            }
        }
        s->length[task] += s->mean.task[task];
        for (int32_t o = c->out_start[task]; o < c->out_start[task + 1]; o++)
            for (int32_t at = c->reader_start[c->out_values[o]]; at < c->reader_start[c->out_values[o] + 1]; at++) {
                int32_t reader = c->readers[at];
                double length = s->length[task] + s->mean.read[at];
                if (length <= s->length[reader] && s->via[reader] != BEGINNING) continue;
                s->length[reader] = length;
                s->via[reader] = at;
            }
    }
}

/* Adds a share of the way that ends with a task. */
static void follow(state *s, int32_t task, double share) {
    while (task >= 0) {
        int32_t via = s->via[task];
        s->weight.task[task] += share;
        if (via == BEGINNING) return;
        if (via >= 0) {
            s->weight.read[via] += share;
            task = s->producer_of[via];
        } else {
            int32_t module = module_step(via);
            s->weight.load[busiest(s, module)] += share;
            task = s->modules.modules[module].from;
        }
    }
}

static void shrink(double *items, size_t n, double by) {
    for (size_t i = 0; i < n; i++) items[i] *= by;
}

/* Moves a share of the weights to the longest way of all. */
static void move_weights(state *s, double share) {
    const berth_costs *c = s->c;
    int32_t end = -1, target = -1, module = s->modules.n - 1;
    double length = s->mean.load[busiest(s, module)];
    if (s->paths) find_ways(s);
    for (int32_t m = 0; s->paths && m + 1 < s->modules.n; m++) {
        if (s->modules.modules[m].to >= 0) continue;
        double way = length_before(s, s->modules.modules[m].from) + s->mean.load[busiest(s, m)];
        if (way > length) length = way, module = m;
    }
    for (int32_t task = 0; s->paths && task < c->n_tasks; task++)
        if (s->length[task] > length) length = s->length[task], end = task;
    for (int32_t v = 0; s->paths && v < c->n_values; v++) {
        if (c->value_target[v] < 0) continue;
        double way = length_before(s, c->value_producer[v]) + s->mean.target[v];
        if (way > length) length = way, target = v;
    }
    shrink(s->weight.task, (size_t)c->n_tasks, 1 - share);
    shrink(s->weight.read, (size_t)c->reader_start[c->n_values], 1 - share);
    shrink(s->weight.target, (size_t)c->n_values, 1 - share);
    shrink(s->weight.load, s->weight.n_load, 1 - share);
    if (target >= 0) {
        s->weight.target[target] += share;
        follow(s, c->value_producer[target], share);
    } else if (end >= 0) {
        follow(s, end, share);
    } else {
        s->weight.load[busiest(s, module)] += share;
        follow(s, s->modules.modules[module].from, share);
    }
}

/* Every task on its fastest device: where the game begins. */
static void begin(state *s) {
    const berth_terms *t = &s->terms;
    memset(s->weight.task, 0, (size_t)s->c->n_tasks * sizeof *s->weight.task);
    for (int32_t task = 0; task < s->c->n_tasks; task++) s->weight.task[task] = 1;
    berth_loads_weigh(&s->loads, &s->terms, s->weight.task, s->weight.load);
    for (int32_t node = 0; node < t->n_nodes; node++) {
        const double *row = t->node_ms + (size_t)node * (size_t)s->c->n_devices;
        s->device[node] = __builtin_ctzll(t->allowed[node]);
        for (uint64_t rest = t->allowed[node]; rest; rest &= rest - 1)
            if (row[__builtin_ctzll(rest)] < row[s->device[node]]) s->device[node] = __builtin_ctzll(rest);
    }
    take_in(s, 1);
    move_weights(s, 1);
}

static berth_status play(state *s, berth_patience *patience) {
    double before = 0;
    for (int32_t i = 0; i < MOST_RUNS; i++) {
        double bound;
        if (i % WINDOW == WINDOW - 1) {
            if (s->best < before * (1 + least_gain)) break;
            before = s->best;
        }
        if (i > 0 && berth_patience_ends(s->search, patience)) break;
        double constant = weigh(s);
        double given_back = berth_prices_apply(&s->prices, &s->terms);
        BERTH_TRY(berth_minimiser_run(s->search->ctx, &s->minimiser, s->device, &bound));
        bound += constant - given_back;
        patience->work -= s->minimiser.work + 20.0 * s->c->n_tasks;
        if (bound > s->best) s->best = bound;
        if (bound >= s->terms.huge) break; /* no placement keeps the limits */
        berth_search_bound(s->search, bound);
        double above = s->search->has_best ? s->search->best_ms : 1.2 * s->best;
        berth_prices_move(&s->prices, &s->terms, s->device, bound, above, 1.0 / (1 + 0.05 * i));
        take_in(s, 2.0 / (i + 3));
        move_weights(s, 2.0 / (i + 3));
    }
    return BERTH_OK;
}

berth_status berth_bound_dual(berth_search *search, berth_patience *patience) {
    state s = {.search = search, .c = search->problem->costs};
    s.paths = s.c->objective == BERTH_OBJECTIVE_LATENCY;
    if (s.c->n_tasks == 0) return BERTH_OK;
    berth_arena_init(&s.arena, berth_ctx_allocator(search->ctx));
    berth_status status = set_up(&s, patience);
    if (status == BERTH_OK) {
        begin(&s);
        status = play(&s, patience);
    }
    berth_minimiser_deinit(&s.minimiser);
    berth_arena_deinit(&s.arena);
    return status;
}
