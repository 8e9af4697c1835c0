/* SPDX-License-Identifier: Apache-2.0 */
#include "problems.h"

#include <math.h>
#include <stdio.h>

enum { MAX_READS = 4096 };

typedef struct draw {
    berth_ctx *ctx;
    uint64_t *state;
    const support_costs *how;
    berth_costs *c;
    berth_read reads[MAX_READS];
    size_t n_reads;
} draw;

static bool percent(draw *d, int32_t chance) {
    return (int32_t)support_below(d->state, 100) < chance;
}

/* A time up to `most`. */
static double amount(draw *d, uint32_t most) {
    if (d->how->integers) return support_below(d->state, most + 1);
    return most * (double)(support_random(d->state) >> 11) * 0x1p-53;
}

/* Sizes in memory are whole numbers. */
static double bytes_up_to(draw *d, uint32_t most) {
    return support_below(d->state, most + 1);
}

static void *array(draw *d, size_t n, size_t size) {
    void *items = berth_arena_push(&d->c->arena, n, size);
    assert_non_null(items);
    return items;
}

static int32_t some_device(draw *d) {
    if (d->how->any_home && d->how->model != BERTH_MODEL_CONTIGUOUS)
        return (int32_t)support_below(d->state, (uint32_t)d->how->n_devices);
    return d->c->host;
}

static void add_read(draw *d, int32_t value, int32_t task) {
    assert_true(d->n_reads < MAX_READS);
    d->reads[d->n_reads++] = (berth_read){value, task};
}

/* Values and who reads them: first those there from the start, then those of each task. */
static void draw_values(draw *d) {
    berth_costs *c = d->c;
    int32_t n = c->n_tasks, room = 4 + 2 * n + n * n / 2;
    int32_t *producer = array(d, (size_t)room, sizeof *producer), *home = array(d, (size_t)room, sizeof *home);
    int32_t *target = array(d, (size_t)room, sizeof *target);
    for (int32_t v = 0; v < room; v++) producer[v] = home[v] = target[v] = -1;
    int32_t n_given = d->how->given ? 1 + (int32_t)support_below(d->state, 2) : 0, v = 0;
    for (; v < n_given; v++) {
        home[v] = some_device(d);
        for (int32_t task = 0; task < n; task++)
            if (percent(d, d->how->density)) add_read(d, v, task);
    }
    for (int32_t from = 0; from < n; from++) {
        int32_t n_made = d->how->one_value_per_edge ? n : 1 + (int32_t)support_below(d->state, 2);
        for (int32_t i = 0; i < n_made; i++) {
            size_t before = d->n_reads;
            for (int32_t to = from + 1; to < n; to++)
                if ((!d->how->one_value_per_edge || to == i) && percent(d, d->how->density)) add_read(d, v, to);
            if (d->how->targets && percent(d, 20)) target[v] = some_device(d);
            if (d->n_reads == before && target[v] < 0) continue;
            producer[v++] = from;
        }
    }
    c->n_values = v;
    c->value_producer = producer;
    c->value_home = home;
    c->value_target = target;
    c->value_tensor = producer;
}

static void draw_times(draw *d) {
    berth_costs *c = d->c;
    int32_t k = c->n_devices;
    double *time = array(d, (size_t)(c->n_tasks * k), sizeof *time), *launch = array(d, (size_t)k, sizeof *launch);
    for (int32_t i = 0; i < k; i++) launch[i] = i == c->host ? 0 : amount(d, 2);
    if (d->how->equal_devices) launch[k - 1] = launch[k - 2];
    for (int32_t task = 0; task < c->n_tasks; task++) {
        double *row = time + task * k;
        uint32_t scale = percent(d, 15) ? 0 : 10;
        for (int32_t i = 0; i < k; i++) row[i] = amount(d, scale);
        if (d->how->equal_devices) row[k - 1] = row[k - 2];
    }
    c->time_ms = time;
    c->launch_ms = launch;
}

/* Bans leave every task, or every colour, at least one device: its own number modulo the count. */
static void draw_bans(draw *d) {
    berth_costs *c = d->c;
    double *time = (double *)(uintptr_t)c->time_ms;
    int32_t k = c->n_devices;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t keep = (c->colour && c->colour[task] >= 0 ? c->colour[task] : task) % k;
        bool twins = d->how->equal_devices;
        for (int32_t i = 0; i < k; i++) {
            bool banned = percent(d, d->how->bans) && i != keep && !(twins && i >= k - 2 && keep >= k - 2);
            if (banned) time[task * k + i] = INFINITY;
        }
        if (twins) time[task * k + k - 1] = time[task * k + k - 2];
    }
}

static void draw_links(draw *d) {
    berth_costs *c = d->c;
    size_t k = (size_t)c->n_devices;
    bool *queued = array(d, k * k, sizeof *queued);
    double *fixed = array(d, k * k, sizeof *fixed), *per_unit = array(d, k * k, sizeof *per_unit);
    double *sizes = array(d, (size_t)c->n_values, sizeof *sizes);
    uint32_t scale = 1 + support_below(d->state, 8);
    for (size_t i = 0; i < k * k; i++) {
        if (i / k == i % k) continue;
        queued[i] = d->how->queued_links && percent(d, 60);
        fixed[i] = amount(d, 2);
        per_unit[i] = amount(d, 2);
        if (d->how->equal_devices) queued[i] = d->how->queued_links, fixed[i] = 1, per_unit[i] = 0.5;
    }
    for (int32_t v = 0; v < c->n_values; v++) sizes[v] = amount(d, scale);
    c->link_queued = queued;
    c->copy_fixed = fixed;
    c->copy_per_unit = per_unit;
    c->value_amount = sizes;
    if (!d->how->copy_table) return;
    double *table = array(d, (size_t)c->n_values * k * k, sizeof *table);
    for (size_t i = 0; i < (size_t)c->n_values * k * k; i++)
        if (i % (k * k) / k != i % k) table[i] = d->how->equal_devices ? sizes[i / (k * k)] : amount(d, scale);
    c->copy_table = table;
}

static void draw_memory(draw *d) {
    berth_costs *c = d->c;
    size_t n = (size_t)c->n_tasks, k = (size_t)c->n_devices;
    double *capacity = array(d, k, sizeof *capacity), *bytes = array(d, (size_t)c->n_values, sizeof *bytes);
    double *task_memory = array(d, n, sizeof *task_memory), total = 0;
    int32_t *start = array(d, n + 1, sizeof *start), *weights = array(d, 2 * n, sizeof *weights);
    double *weight_bytes = array(d, n, sizeof *weight_bytes);
    c->n_weights = d->how->peaks ? (int32_t)n : 0;
    for (size_t task = 0; task < n; task++) {
        start[task + 1] = start[task];
        if (d->how->peaks) {
            weight_bytes[task] = bytes_up_to(d, 6);
            total += weight_bytes[task];
            weights[start[task + 1]++] = (int32_t)task;
            if (task + 1 < n && percent(d, 20)) weights[start[task + 1]++] = (int32_t)task + 1; /* shared */
        } else if (d->how->task_memory) {
            task_memory[task] = bytes_up_to(d, 6);
            total += task_memory[task];
        }
    }
    for (int32_t v = 0; v < c->n_values && d->how->peaks; v++) {
        bytes[v] = bytes_up_to(d, 3);
        total += bytes[v];
    }
    for (size_t i = 0; i < k; i++) {
        double share = total * (0.2 + 0.1 * support_below(d->state, 7));
        capacity[i] = percent(d, 25) || !(d->how->peaks || d->how->task_memory) ? INFINITY : share;
    }
    if (d->how->equal_devices) capacity[k - 1] = capacity[k - 2];
    c->capacity = capacity;
    c->value_bytes = bytes;
    c->task_memory = d->how->task_memory ? task_memory : NULL;
    c->weight_bytes = weight_bytes;
    c->weight_start = start;
    c->weights = weights;
}

static void draw_colours(draw *d) {
    berth_costs *c = d->c;
    int32_t *colour = array(d, (size_t)c->n_tasks, sizeof *colour);
    for (int32_t task = 0; task < c->n_tasks; task++) colour[task] = (int32_t)support_below(d->state, 4) - 1;
    c->colour = colour;
}

berth_costs *support_costs_new(berth_ctx *ctx, uint64_t *state, const support_costs *how) {
    draw d = {.ctx = ctx, .state = state, .how = how};
    if (berth_costs_alloc(ctx, &d.c) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    berth_costs *c = d.c;
    c->n_tasks = c->n_ops = how->n_tasks;
    c->n_devices = how->n_devices;
    c->model = how->model;
    c->objective = how->objective;
    c->piece_ms = how->piece_ms;
    int32_t *number = array(&d, (size_t)c->n_tasks, sizeof *number);
    for (int32_t task = 0; task < c->n_tasks; task++) number[task] = task;
    c->task_op = c->op_task = number;
    draw_values(&d);
    draw_times(&d);
    if (how->colours) draw_colours(&d);
    draw_bans(&d);
    draw_links(&d);
    draw_memory(&d);
    if (berth_costs_link(ctx, c, d.reads, d.n_reads) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return c;
}

support_costs support_costs_any(uint64_t *state, berth_model model, int32_t max_tasks, int32_t max_devices) {
    support_costs how = {.model = model};
    uint32_t bits = (uint32_t)support_random(state), memory = support_below(state, 4);
    how.n_tasks = 1 + (int32_t)support_below(state, (uint32_t)max_tasks);
    how.n_devices = 2 + (int32_t)support_below(state, (uint32_t)max_devices - 1);
    how.density = 10 + 10 * (int32_t)support_below(state, 6);
    how.one_value_per_edge = bits & 1;
    how.given = bits & 2;
    how.targets = bits & 4;
    how.any_home = bits & 8;
    how.queued_links = bits & 16;
    how.copy_table = bits & 32;
    how.integers = bits & 64;
    how.bans = bits & 128 ? 25 : 0;
    how.colours = (bits & (256 | 512)) == 0;
    how.equal_devices = (bits & (1024 | 2048)) == 0;
    how.task_memory = memory == 1;
    how.peaks = memory == 2;
    how.piece_ms = bits & 4096 && model == BERTH_MODEL_SERIAL ? 1.5 : 0;
    return how;
}

const char *support_costs_text(const support_costs *how) {
    static const char *const models[] = {"serial", "queued", "concurrent", "contiguous"};
    static char text[512];
    snprintf(
        text, sizeof text,
        "%s: %d tasks, %d devices, density %d, edges %d, given %d, targets %d, any home %d, queued links %d, table "
        "%d, integers %d, bans %d, colours %d, task memory %d, peaks %d, equal %d, piece %g",
        models[how->model], (int)how->n_tasks, (int)how->n_devices, (int)how->density, how->one_value_per_edge,
        how->given, how->targets, how->any_home, how->queued_links, how->copy_table, how->integers, (int)how->bans,
        how->colours, how->task_memory, how->peaks, how->equal_devices, how->piece_ms);
    return text;
}

berth_problem *support_problem(berth_ctx *ctx, const berth_costs *costs) {
    berth_problem *problem = NULL;
    if (berth_problem_new(ctx, &problem, costs, NULL, NULL) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return problem;
}

enum { MAX_BRUTE = 16 };

typedef struct brute {
    const berth_problem *problem;
    const berth_costs *c;
    berth_sim *sim;
    bool orders;
    int32_t device[MAX_BRUTE], priority[MAX_BRUTE], missing[MAX_BRUTE];
    double best;
    int32_t *best_device, *best_priority;
} brute;

static void try_run(brute *b, const int32_t *priority) {
    double ms = berth_sim_run(b->sim, b->device, priority);
    if (!(ms < b->best)) return;
    b->best = ms;
    if (b->best_device) memcpy(b->best_device, b->device, (size_t)b->c->n_tasks * sizeof *b->device);
    for (int32_t task = 0; b->best_priority && task < b->c->n_tasks; task++)
        b->best_priority[task] = priority ? priority[task] : task;
}

/* All priorities that matter: topological orders, of which only the order on each device counts, so that of two
 * neighbours on different devices the smaller one may come first. */
static void try_orders(brute *b, int32_t n_ordered, int32_t last) {
    const berth_costs *c = b->c;
    if (n_ordered == c->n_tasks) {
        try_run(b, b->priority);
        return;
    }
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (b->missing[task] != 0) continue;
        bool follows = false;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) follows |= c->preds[i] == last;
        if (last > task && b->device[last] != b->device[task] && !follows) continue;
        b->priority[task] = n_ordered;
        b->missing[task] = -1;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) b->missing[c->succs[i]]--;
        try_orders(b, n_ordered + 1, task);
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) b->missing[c->succs[i]]++;
        b->missing[task] = 0;
    }
}

static void try_units(brute *b, int32_t unit) {
    const berth_problem *p = b->problem;
    if (unit == p->n_units) {
        try_run(b, NULL);
        if (b->orders) try_orders(b, 0, -1);
        return;
    }
    for (int32_t d = 0; d < b->c->n_devices; d++) {
        if (!berth_problem_allows(p, unit, d)) continue;
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) b->device[p->unit_tasks[i]] = d;
        try_units(b, unit + 1);
    }
}

double support_brute_force(berth_ctx *ctx, const berth_problem *problem, bool orders, int32_t *device,
                           int32_t *priority) {
    const berth_costs *c = problem->costs;
    brute b = {.problem = problem, .c = c, .best = INFINITY, .best_device = device, .best_priority = priority};
    assert_true(c->n_tasks <= MAX_BRUTE);
    b.orders = orders && c->model == BERTH_MODEL_CONCURRENT;
    for (int32_t task = 0; task < c->n_tasks; task++) b.missing[task] = c->pred_start[task + 1] - c->pred_start[task];
    if (berth_sim_new(ctx, &b.sim, c) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    try_units(&b, 0);
    berth_sim_free(b.sim);
    return b.best;
}

berth_search *support_search(berth_ctx *ctx, const berth_problem *problem, uint64_t seed, int64_t evaluations,
                             int32_t n_threads) {
    berth_search *search = NULL;
    if (berth_search_new(ctx, &search, problem, seed, (berth_budget){evaluations, INFINITY}, n_threads) != BERTH_OK)
        fail_msg("%s", berth_ctx_message(ctx));
    return search;
}

void support_same_best(const berth_search *search, const berth_search *again) {
    assert_true(search->best_ms == again->best_ms && search->evaluations == again->evaluations);
    assert_int_equal(search->has_best, again->has_best);
    if (search->has_best)
        assert_memory_equal(search->best_device, again->best_device,
                            (size_t)search->problem->costs->n_tasks * sizeof *search->best_device);
}

void support_check_best(berth_ctx *ctx, const berth_search *search) {
    const berth_problem *p = search->problem;
    berth_sim *sim = NULL;
    if (!search->has_best) return;
    for (int32_t unit = 0; unit < p->n_units; unit++)
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
            int32_t d = search->best_device[p->unit_tasks[i]];
            assert_true(berth_problem_allows(p, unit, d));
            assert_int_equal(d, search->best_device[p->unit_tasks[p->unit_start[unit]]]);
        }
    if (berth_sim_new(ctx, &sim, p->costs) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    double ms = berth_sim_run(sim, search->best_device, search->best_has_priority ? search->best_priority : NULL);
    berth_sim_free(sim);
    assert_true(ms < INFINITY);
    if (ms != search->best_ms) fail_msg("%s says %.17g, it takes %.17g", search->best_method, search->best_ms, ms);
}

berth_costs *support_topcuoglu(berth_ctx *ctx) {
    static const double times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                        {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
    static const struct {
        int32_t from, to;
        double ms;
    } edges[15] = {{0, 1, 18}, {0, 2, 12}, {0, 3, 9},  {0, 4, 11}, {0, 5, 14}, {1, 7, 19}, {1, 8, 16}, {2, 6, 23},
                   {3, 7, 27}, {3, 8, 23}, {4, 8, 13}, {5, 7, 15}, {6, 9, 17}, {7, 9, 11}, {8, 9, 13}};
    uint64_t state = 1;
    support_costs how = {.n_tasks = 10, .n_devices = 3, .model = BERTH_MODEL_CONCURRENT, .integers = true};
    draw d = {.ctx = ctx, .state = &state, .how = &how, .n_reads = 15};
    berth_costs *c = support_costs_new(ctx, &state, &how); /* without values; times, copies and readers follow */
    int32_t *producer = NULL, *none = NULL;
    double *table = NULL, *zero = NULL;
    d.c = c;
    producer = array(&d, 15, sizeof *producer);
    none = array(&d, 15, sizeof *none);
    table = array(&d, 15 * 9, sizeof *table);
    zero = array(&d, 15, sizeof *zero);
    for (int32_t e = 0; e < 15; e++) {
        producer[e] = edges[e].from;
        none[e] = -1;
        d.reads[e] = (berth_read){e, edges[e].to};
        for (int32_t link = 0; link < 9; link++) table[e * 9 + link] = link % 4 == 0 ? 0 : edges[e].ms;
    }
    c->n_values = 15;
    c->time_ms = berth_arena_copy(&c->arena, times, 30, sizeof(double));
    c->value_producer = c->value_tensor = producer;
    c->value_home = c->value_target = none;
    c->value_bytes = c->value_amount = zero;
    c->copy_table = table;
    if (!c->time_ms || berth_costs_link(ctx, c, d.reads, 15) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return c;
}

berth_status support_setting_make(berth_ctx *ctx, support_setting *setting, berth_case item) {
    berth_cost_options options = berth_cost_options_default();
    *setting = (support_setting){0};
    BERTH_TRY(berth_case_generate(ctx, &setting->graph, &setting->devices, &item));
    BERTH_TRY(berth_costs_new(ctx, &setting->costs, setting->graph, setting->devices, &options));
    return berth_problem_new(ctx, &setting->problem, setting->costs, NULL, NULL);
}

void support_setting_free(support_setting *setting) {
    berth_problem_free(setting->problem);
    berth_costs_free(setting->costs);
    berth_device_set_free(setting->devices);
    berth_graph_free(setting->graph);
}

/* --- allocations ------------------------------------------------------------------------------------------------ */

typedef struct rung {
    const berth_problem *problem;
    berth_status (*run)(berth_search *);
    int64_t evaluations;
} rung;

static berth_status climb(berth_ctx *ctx, void *user) {
    const rung *r = user;
    berth_search *search = NULL;
    berth_status status = berth_search_new(ctx, &search, r->problem, 1, (berth_budget){r->evaluations, INFINITY}, 1);
    if (status == BERTH_OK) status = r->run(search);
    berth_search_free(search);
    return status;
}

void support_ladder_of_method(berth_ctx *ctx, berth_status (*run)(berth_search *), uint64_t seed, int32_t n_tasks,
                              int64_t evaluations) {
    support_costs how = {.n_tasks = n_tasks, .n_devices = 3, .density = 30, .model = BERTH_MODEL_CONCURRENT};
    for (int kind = 0; kind < 3; kind++) {
        how.task_memory = kind == 1;
        how.peaks = kind == 2;
        berth_costs *costs = support_costs_new(ctx, &seed, &how);
        berth_problem *problem = support_problem(ctx, costs);
        rung r = {problem, run, evaluations};
        support_ladder(climb, &r, 1);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}
