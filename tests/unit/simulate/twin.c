/* SPDX-License-Identifier: Apache-2.0 */
/* The simulator against its naive twin (tests/oracle/naive_sim.c) on random problems of every kind: bit for bit where
 * times are whole numbers, to 1e-12 elsewhere; makespans or loads, starts, ends, memory peaks, and single moves. */
#include "problems.h"

#include "naive_sim.h"
#include "simulate/sim_impl.h"

#include <math.h>

static void assert_same(double got, double expected, bool exact, const char *what, const support_costs *how) {
    bool same = got == expected || (!exact && fabs(got - expected) <= 1e-12 * fabs(expected));
    if (!same) fail_msg("%s: %.17g, the twin says %.17g (%s)", what, got, expected, support_costs_text(how));
}

static void shuffle(uint64_t *state, int32_t *items, int32_t n) {
    for (int32_t i = 0; i < n; i++) items[i] = i;
    for (int32_t i = n; i > 1; i--) {
        int32_t other = (int32_t)support_below(state, (uint32_t)i), swapped = items[i - 1];
        items[i - 1] = items[other];
        items[other] = swapped;
    }
}

/* A topological order by random priorities. */
static void draw_file_order(berth_costs *c, uint64_t *state) {
    int32_t *order = berth_arena_push(&c->arena, (size_t)c->n_tasks, sizeof *order);
    int32_t priority[NAIVE_MAX_TASKS];
    bool done[NAIVE_MAX_TASKS] = {false};
    shuffle(state, priority, c->n_tasks);
    for (int32_t n = 0; n < c->n_tasks; n++) {
        int32_t best = -1;
        for (int32_t task = 0; task < c->n_tasks; task++) {
            bool possible = !done[task];
            for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) possible &= done[c->preds[i]];
            if (possible && (best < 0 || priority[task] < priority[best])) best = task;
        }
        done[best] = true;
        order[n] = best;
    }
    c->file_order = order;
}

/* What the common generator leaves alone: the host, homes and targets under `contiguous`, the order of the file, the
 * objective, missing links. */
static void vary(berth_costs *c, uint64_t *state, const support_costs *how) {
    uint32_t nd = (uint32_t)c->n_devices;
    int32_t *home = berth_arena_push(&c->arena, (size_t)c->n_values, sizeof *home);
    int32_t *target = berth_arena_push(&c->arena, (size_t)c->n_values, sizeof *target);
    for (int32_t v = 0; v < c->n_values; v++) {
        bool given = c->value_producer[v] < 0;
        home[v] = c->value_home[v];
        target[v] = c->value_target[v];
        if (given && how->any_home) home[v] = (int32_t)support_below(state, nd);
        if (target[v] >= 0 && how->any_home) target[v] = (int32_t)support_below(state, nd);
        if (given && how->targets && support_below(state, 4) == 0) target[v] = (int32_t)support_below(state, nd);
    }
    c->value_home = home;
    c->value_target = target;
    c->host = (int32_t)support_below(state, nd);
    c->max_cpus = (int32_t)support_below(state, 4);
    draw_file_order(c, state);
    if (support_below(state, 10) > 0 || how->copy_table) return;
    size_t link = support_below(state, nd) * nd + support_below(state, nd);
    double *fixed = berth_arena_copy(&c->arena, c->copy_fixed, nd * nd, sizeof *fixed);
    if (link % (nd + 1) != 0) fixed[link] = INFINITY;
    c->copy_fixed = fixed;
}

typedef struct tally {
    long finite, memory, runs;
} tally;

typedef struct copies {
    int n_copies, n_pieces;
    double last;
} copies;

static void take_copy(void *user, int32_t value, int32_t from, int32_t to, double start, double end) {
    copies *seen = user;
    assert_true(value >= 0 && from != to && start <= end);
    seen->n_copies++;
    seen->last = fmax(seen->last, end);
}

static void take_piece(void *user, int32_t task, int32_t device, double start, double end) {
    copies *seen = user;
    assert_true(task >= 0 && device >= 0 && start <= end);
    seen->n_pieces++;
}

static naive_result compare_run(berth_sim *sim, const support_costs *how, const int32_t *device,
                                const int32_t *priority) {
    const berth_costs *c = sim->costs;
    naive_result twin = naive_sim_run(c, device, priority);
    copies seen = {0};
    berth_recorder recorder = {take_copy, take_piece, &seen};
    sim->recorder = &recorder;
    assert_same(berth_sim_run(sim, device, priority), twin.ms, how->integers, "result", how);
    sim->recorder = NULL;
    double peak[NAIVE_MAX_DEVICES];
    berth_sim_memory(sim, device, priority, peak);
    if (!twin.ran) {
        assert_true(isnan(peak[0]));
        return twin;
    }
    assert_int_equal(seen.n_copies, twin.n_copies);
    assert_int_equal(seen.n_pieces, twin.n_pieces);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        assert_same(berth_sim_starts(sim)[task], twin.start[task], how->integers, "start", how);
        assert_same(berth_sim_ends(sim)[task], twin.end[task], how->integers, "end", how);
    }
    for (int32_t d = 0; d < c->n_devices; d++) assert_same(peak[d], twin.peak[d], how->integers, "peak", how);
    return twin;
}

/* Random moves, each tried, compared with the twin's run of the changed placement, and some of them made. */
static void compare_moves(berth_sim *sim, uint64_t *state, const support_costs *how, int32_t *device,
                          const int32_t *priority) {
    const berth_costs *c = sim->costs;
    int32_t tasks[NAIVE_MAX_TASKS], changed[NAIVE_MAX_TASKS];
    double loaded = berth_sim_load(sim, device, priority);
    assert_same(loaded, naive_sim_run(c, device, priority).ms, how->integers, "load", how);
    for (int round = 0; round < 4; round++) {
        int32_t to = (int32_t)support_below(state, (uint32_t)c->n_devices);
        int32_t n = support_below(state, 2) ? 1 : 1 + (int32_t)support_below(state, (uint32_t)c->n_tasks);
        shuffle(state, tasks, c->n_tasks);
        memcpy(changed, device, sizeof changed);
        for (int32_t i = 0; i < n; i++) changed[tasks[i]] = to;
        double expected = naive_sim_run(c, changed, priority).ms;
        double got = berth_sim_try(sim, tasks, n, to);
        if (got != expected && !(fabs(got - expected) <= 1e-9 * (1 + expected)))
            fail_msg("try: %.17g, the twin says %.17g (%s)", got, expected, support_costs_text(how));
        if (support_below(state, 2)) continue;
        memcpy(device, changed, sizeof changed);
        got = berth_sim_move(sim, tasks, n, to);
        if (got != expected && !(fabs(got - expected) <= 1e-9 * (1 + expected)))
            fail_msg("move: %.17g, the twin says %.17g (%s)", got, expected, support_costs_text(how));
    }
}

static void compare_problem(berth_ctx *ctx, uint64_t *state, const support_costs *how, tally *t) {
    berth_costs *c = support_costs_new(ctx, state, how);
    berth_sim *sim = NULL;
    vary(c, state, how);
    if (berth_sim_new(ctx, &sim, c) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    for (int round = 0; round < 4; round++) {
        if (round == 2) sim->generation = INT32_MAX - (int32_t)support_below(state, 4); /* it wraps to numbers used */
        int32_t device[NAIVE_MAX_TASKS] = {0}, priority[NAIVE_MAX_TASKS];
        bool convex = how->model == BERTH_MODEL_CONTIGUOUS && support_below(state, 4) > 0;
        int32_t any = (int32_t)support_below(state, (uint32_t)c->n_devices);
        for (int32_t task = 0; task < c->n_tasks; task++) {
            if (!convex || support_below(state, 3) == 0) any = (int32_t)support_below(state, (uint32_t)c->n_devices);
            device[task] = any;
            for (int32_t d = 0; d < c->n_devices && c->time_ms[task * c->n_devices + device[task]] == INFINITY; d++)
                if (support_below(state, 4)) device[task] = d;
        }
        bool by_priority = support_below(state, 2);
        shuffle(state, priority, c->n_tasks);
        naive_result twin = compare_run(sim, how, device, by_priority ? priority : NULL);
        t->runs++;
        t->finite += twin.ms < INFINITY;
        t->memory += twin.ran && twin.ms == INFINITY;
        if (c->n_tasks < 16 && round % 2) compare_moves(sim, state, how, device, by_priority ? priority : NULL);
    }
    berth_sim_free(sim);
    berth_costs_free(c);
}

static void compare_model(berth_model model) {
    berth_ctx *ctx = NULL;
    uint64_t state = 7 + (uint64_t)model;
    tally t = {0};
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    for (int i = 0; i < support_cases(5000); i++) {
        support_costs how = support_costs_any(&state, model, i % 100 ? 12 : 40, 4);
        how.objective = support_below(&state, 5) ? BERTH_OBJECTIVE_LATENCY : BERTH_OBJECTIVE_THROUGHPUT;
        if (support_below(&state, 2)) how.integers = true;
        compare_problem(ctx, &state, &how, &t);
    }
    print_message("%s: %ld runs, %ld feasible, %ld over memory\n", berth_model_name(model), t.runs, t.finite, t.memory);
    assert_true(t.finite > t.runs / 3 && t.memory > t.runs / 50);
    berth_ctx_free(ctx);
}

static void serial(void **unused) {
    (void)unused;
    compare_model(BERTH_MODEL_SERIAL);
}

static void queued(void **unused) {
    (void)unused;
    compare_model(BERTH_MODEL_QUEUED);
}

static void concurrent(void **unused) {
    (void)unused;
    compare_model(BERTH_MODEL_CONCURRENT);
}

static void contiguous(void **unused) {
    (void)unused;
    compare_model(BERTH_MODEL_CONTIGUOUS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serial),
        cmocka_unit_test(queued),
        cmocka_unit_test(concurrent),
        cmocka_unit_test(contiguous),
    };
    return cmocka_run_group_tests_name("simulate.twin", tests, NULL, NULL);
}
