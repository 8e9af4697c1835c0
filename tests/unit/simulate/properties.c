/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of the simulator whatever the problem, and what tasks and devices that no problem draws by chance:
 * one device, bounds, renumbered devices, wide fan-out, drift of single moves, running out of memory. */
#include "problems.h"

#include "simulate/sim_impl.h"

#include <math.h>
#include <time.h>

enum { MAX_TASKS = 30 };

static berth_ctx *new_ctx(void) {
    berth_ctx *ctx = NULL;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    return ctx;
}

static berth_sim *new_sim(berth_ctx *ctx, const berth_costs *c) {
    berth_sim *sim = NULL;
    if (berth_sim_new(ctx, &sim, c) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return sim;
}

static void draw_placement(const berth_costs *c, uint64_t *state, int32_t *device) {
    for (int32_t task = 0; task < c->n_tasks; task++)
        device[task] = (int32_t)support_below(state, (uint32_t)c->n_devices);
}

static double time_of(const berth_costs *c, int32_t task, int32_t d) {
    return c->time_ms[task * c->n_devices + d];
}

/* Everything on the host, where inputs start and outputs end: the sum, under `contiguous` the critical path. */
static void one_device(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 11;
    for (int i = 0; i < support_cases(400); i++) {
        support_costs how = support_costs_any(&state, (berth_model)(i % BERTH_MODEL_COUNT), MAX_TASKS, 4);
        how.any_home = how.task_memory = how.peaks = false;
        how.bans = 0;
        how.piece_ms = 0;
        how.integers = true;
        berth_costs *c = support_costs_new(ctx, &state, &how);
        berth_sim *sim = new_sim(ctx, c);
        int32_t device[MAX_TASKS] = {0};
        double sum = 0, longest = 0, end[MAX_TASKS];
        for (int32_t task = 0; task < c->n_tasks; task++) {
            device[task] = c->host;
            end[task] = 0;
            for (int32_t k = c->pred_start[task]; k < c->pred_start[task + 1]; k++)
                end[task] = fmax(end[task], end[c->preds[k]]);
            end[task] += time_of(c, task, c->host);
            longest = fmax(longest, end[task]);
            sum += time_of(c, task, c->host);
        }
        assert_true(berth_sim_run(sim, device, NULL) == (how.model == BERTH_MODEL_CONTIGUOUS ? longest : sum));
        berth_sim_free(sim);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

/* No model beats the critical path of the placement's own times; all but `contiguous` respect the busiest device. */
static void bounds(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 12;
    for (int i = 0; i < support_cases(2000); i++) {
        support_costs how = support_costs_any(&state, (berth_model)(i % BERTH_MODEL_COUNT), MAX_TASKS, 4);
        berth_costs *c = support_costs_new(ctx, &state, &how);
        berth_sim *sim = new_sim(ctx, c);
        int32_t device[MAX_TASKS];
        double end[MAX_TASKS], busy[4] = {0}, longest = 0;
        draw_placement(c, &state, device);
        double ms = berth_sim_run(sim, device, NULL);
        for (int32_t task = 0; task < c->n_tasks && ms < INFINITY; task++) {
            end[task] = 0;
            for (int32_t k = c->pred_start[task]; k < c->pred_start[task + 1]; k++)
                end[task] = fmax(end[task], end[c->preds[k]]);
            end[task] += time_of(c, task, device[task]);
            longest = fmax(longest, end[task]);
            busy[device[task]] += time_of(c, task, device[task]);
            assert_true(berth_sim_starts(sim)[task] >= 0 && berth_sim_ends(sim)[task] <= ms * (1 + 1e-12));
        }
        for (int d = 0; d < 4; d++)
            if (how.model != BERTH_MODEL_CONTIGUOUS || d != c->host) longest = fmax(longest, busy[d]);
        assert_true(ms >= longest * (1 - 1e-12));
        berth_sim_free(sim);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

/* The two equal devices of a problem may be exchanged: nothing changes, where no tie is broken by their numbers. */
static void renumbering(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 13;
    for (int i = 0; i < support_cases(1000); i++) {
        support_costs how = support_costs_any(&state, (berth_model)(i % BERTH_MODEL_COUNT), MAX_TASKS, 4);
        how.n_devices = 3;
        how.equal_devices = true;
        how.any_home = false;
        how.copy_table = false;
        how.integers = true;
        berth_costs *c = support_costs_new(ctx, &state, &how);
        berth_sim *sim = new_sim(ctx, c);
        int32_t device[MAX_TASKS], other[MAX_TASKS];
        draw_placement(c, &state, device);
        for (int32_t task = 0; task < c->n_tasks; task++) other[task] = device[task] == 0 ? 0 : 3 - device[task];
        double a = berth_sim_run(sim, device, NULL), b = berth_sim_run(sim, other, NULL);
        /* with pieces the order of pieces, and so a peak of memory, follows device numbers */
        if (!(how.piece_ms > 0 && how.peaks)) assert_true(a == b);
        berth_sim_free(sim);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

/* Ten thousand moves later the kept makespan is still that of a full run. */
static void drift(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 14;
    support_costs how = {.n_tasks = MAX_TASKS, .n_devices = 4, .density = 20, .given = true, .targets = true};
    berth_costs *c = support_costs_new(ctx, &state, &how);
    berth_sim *sim = new_sim(ctx, c);
    assert_true(sim->moves_are_local);
    int32_t device[MAX_TASKS];
    draw_placement(c, &state, device);
    berth_sim_load(sim, device, NULL);
    int32_t all[MAX_TASKS];
    for (int32_t task = 0; task < MAX_TASKS; task++) all[task] = task;
    double before = berth_sim_try(sim, all, 1, device[0]);
    for (int i = 0; i < support_cases(10000); i++) {
        int32_t first = (int32_t)support_below(&state, MAX_TASKS), to = (int32_t)support_below(&state, 4);
        berth_sim_try(sim, all + first, MAX_TASKS - first, to);
    }
    assert_true(berth_sim_try(sim, all, 1, device[0]) == before); /* trying leaves no trace at all */
    for (int i = 0; i < support_cases(10000); i++) {
        int32_t task = (int32_t)support_below(&state, MAX_TASKS), to = (int32_t)support_below(&state, 4);
        double tried = berth_sim_try(sim, &task, 1, to), made = berth_sim_move(sim, &task, 1, to);
        device[task] = to;
        assert_true(fabs(tried - made) <= 1e-9 * made);
        if (i % 1000 == 999) assert_true(fabs(made - berth_sim_run(sim, device, NULL)) <= 1e-9 * made);
    }
    berth_sim_free(sim);
    berth_costs_free(c);
    berth_ctx_free(ctx);
}

/* One value with n readers, then n values with one reader: what scans the readers once per reader would take hours. */
static void wide(void **unused) {
    (void)unused;
    enum { N = 200000 };
    berth_ctx *ctx = new_ctx();
    berth_read *reads = calloc(2 * N, sizeof *reads);
    int32_t *device = calloc(N + 2, sizeof *device);
    assert_true(reads && device);
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        uint64_t state = 15;
        support_costs how = {.n_tasks = 1, .n_devices = 2, .model = (berth_model)model};
        berth_costs *c = support_costs_new(ctx, &state, &how);
        int32_t n = N + 2, *number = berth_arena_push(&c->arena, (size_t)n, sizeof *number);
        int32_t *none = berth_arena_push(&c->arena, (size_t)n, sizeof *none);
        int32_t *start = berth_arena_push(&c->arena, (size_t)n + 1, sizeof *start);
        double *ones = berth_arena_push(&c->arena, (size_t)n * 2, sizeof *ones);
        for (int32_t i = 0; i < n; i++) {
            number[i] = i;
            none[i] = -1;
            ones[2 * i] = ones[2 * i + 1] = 1;
            device[i] = i >= n / 2;
            if (i > 0 && i <= N) reads[i - 1] = (berth_read){0, i};
            if (i > 0 && i <= N) reads[N + i - 1] = (berth_read){i, N + 1};
        }
        c->n_tasks = n;
        c->n_values = N + 1;
        c->value_producer = number;
        c->value_home = c->value_target = none;
        c->time_ms = c->value_amount = c->value_bytes = ones;
        c->weight_start = start;
        c->file_order = NULL;
        c->piece_ms = 1;
        assert_int_equal(berth_costs_link(ctx, c, reads, 2 * N), BERTH_OK);
        berth_sim *sim = new_sim(ctx, c);
        double peak[2];
        clock_t before = clock();
        assert_true(berth_sim_run(sim, device, NULL) < INFINITY);
        berth_sim_memory(sim, device, NULL, peak);
        assert_true((double)(clock() - before) / CLOCKS_PER_SEC < 20);
        assert_true(peak[0] + peak[1] >= N / 2);
        berth_sim_free(sim);
        berth_costs_free(c);
    }
    free(reads);
    free(device);
    berth_ctx_free(ctx);
}

static berth_status make_sim(berth_ctx *ctx, void *user) {
    berth_sim *sim = NULL;
    berth_status status = berth_sim_new(ctx, &sim, user);
    assert_true((status == BERTH_OK) == (sim != NULL));
    berth_sim_free(sim);
    return status;
}

static void ladder(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 16;
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        support_costs how = {.n_tasks = 60, .n_devices = 3, .density = 10, .model = (berth_model)model};
        berth_costs *c = support_costs_new(ctx, &state, &how);
        assert_true(support_ladder(make_sim, c, 1) > 0);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

/* No tasks at all. */
static void nothing(void **unused) {
    (void)unused;
    berth_ctx *ctx = new_ctx();
    uint64_t state = 17;
    for (int model = 0; model < BERTH_MODEL_COUNT; model++) {
        support_costs how = {.n_devices = 2, .model = (berth_model)model};
        berth_costs *c = support_costs_new(ctx, &state, &how);
        berth_sim *sim = new_sim(ctx, c);
        int32_t device = 0;
        double peak[2];
        assert_true(berth_sim_run(sim, &device, NULL) == 0);
        assert_true(berth_sim_load(sim, &device, NULL) == 0);
        berth_sim_memory(sim, &device, NULL, peak);
        assert_true(peak[0] == 0 && peak[1] == 0);
        berth_sim_free(sim);
        berth_costs_free(c);
    }
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_device), cmocka_unit_test(bounds), cmocka_unit_test(renumbering), cmocka_unit_test(drift),
        cmocka_unit_test(wide),       cmocka_unit_test(ladder), cmocka_unit_test(nothing),
    };
    return cmocka_run_group_tests_name("simulate.properties", tests, NULL, NULL);
}
