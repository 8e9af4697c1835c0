/* SPDX-License-Identifier: Apache-2.0 */
/* Calibration: whole runs made up from known numbers by the simulator are predicted where they were not seen. */
#include "place/calibrate.h"

#include "simulate/sim.h"
#include "support.h"

#include <math.h>

enum { MOST_RUNS = 200 };

typedef struct fixture {
    berth_ctx *ctx;
    berth_arena arena;
    berth_graph *graph;
    berth_device_set *devices;
    berth_costs *costs;
    berth_observation runs[MOST_RUNS];
    int32_t n;
    berth_calibration fit;
    double predicted[MOST_RUNS];
} fixture;

static const berth_calibration truths[] = {
    {0.3, 0.012, {1.4, 0.7}, {[1] = {0.08, 1.5e-7, 0.2, 3e-7}}},
    {0.01, 0.05, {0.5, 2}, {[1] = {0.01, 5e-7, 0.4, 1e-7}}},
    {2, 0.002, {1, 1}, {[1] = {1.5, 1e-8, 0.5, 1e-8}}},
};
static const berth_calibration eight = {0.4,
                                        0.03,
                                        {1.3, 0.6, 2, 0.9, 1.1, 0.4, 3, 0.8},
                                        {[1] = {0.08, 1.5e-7, 0.2, 3e-7},
                                         {0.3, 4e-7, 0.02, 1e-7},
                                         {0.02, 1e-7, 0.05, 6e-7},
                                         {0.1, 3e-7, 0.1, 3e-7},
                                         {0.04, 2e-7, 0.4, 1e-7},
                                         {0.2, 1e-7, 0.03, 2e-7},
                                         {0.01, 5e-7, 0.06, 4e-7}}};

static void use(fixture *f, const char *devices, berth_model model) {
    berth_cost_options options = berth_cost_options_default();
    options.model = model;
    berth_costs_free(f->costs);
    berth_device_set_free(f->devices);
    f->costs = NULL;
    assert_int_equal(berth_device_set_read(f->ctx, &f->devices, devices), BERTH_OK);
    assert_int_equal(berth_costs_new(f->ctx, &f->costs, f->graph, f->devices, &options), BERTH_OK);
}

static int set_up(void **state) {
    static fixture f;
    assert_int_equal(berth_ctx_new(&f.ctx, NULL), BERTH_OK);
    berth_arena_init(&f.arena, berth_ctx_allocator(f.ctx));
    f.graph = support_read(f.ctx, support_source("models/googlenet.onnx"));
    use(&f, "cpu,gpu", BERTH_MODEL_QUEUED);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    berth_costs_free(f->costs);
    berth_device_set_free(f->devices);
    berth_graph_free(f->graph);
    berth_arena_deinit(&f->arena);
    berth_ctx_free(f->ctx);
    return 0;
}

/* Everything on one device, then runs of tasks on one and another; every second of these is held out. */
static void draw_runs(fixture *f, uint64_t *random, int32_t n) {
    int32_t n_devices = f->costs->n_devices;
    f->n = n;
    for (int32_t i = 0; i < n; i++) {
        int32_t *device = berth_arena_push(&f->arena, (size_t)f->costs->n_tasks, sizeof *device);
        int32_t current = i < n_devices ? i : (int32_t)support_below(random, (uint32_t)n_devices);
        uint32_t pieces = i < n_devices ? 0 : 1 + support_below(random, 20);
        for (int32_t task = 0; task < f->costs->n_tasks; task++) {
            if (support_below(random, (uint32_t)f->costs->n_tasks) < pieces)
                current = (current + 1 + (int32_t)support_below(random, (uint32_t)n_devices - 1)) % n_devices;
            device[f->costs->file_order[task]] = current;
        }
        f->runs[i] = (berth_observation){.device = device, .is_held_out = i >= n_devices && i % 2 == 1};
    }
}

/* What every run takes if these are the numbers, and if it is off by up to `noise`. */
static void measure(fixture *f, const berth_calibration *truth, double noise, uint64_t *random) {
    berth_costs costs = *f->costs;
    size_t n_devices = (size_t)costs.n_devices, n = (size_t)costs.n_tasks * n_devices;
    double *time_ms = berth_arena_push(&f->arena, n, sizeof *time_ms);
    double fixed[BERTH_CALIBRATION_DEVICES * BERTH_CALIBRATION_DEVICES] = {0};
    double per_byte[BERTH_CALIBRATION_DEVICES * BERTH_CALIBRATION_DEVICES] = {0};
    double launch[BERTH_CALIBRATION_DEVICES] = {0};
    berth_sim *sim = NULL;
    for (size_t i = 0; i < n; i++) time_ms[i] = f->costs->time_ms[i] * truth->scale[i % n_devices];
    for (size_t a = 0; a < n_devices; a++) {
        if (a > 0 && costs.model != BERTH_MODEL_SERIAL) launch[a] = truth->handing_ms;
        for (size_t b = 0; b < n_devices; b++) { /* the host's own are 0 */
            if (a == b) continue;
            fixed[a * n_devices + b] = truth->copies[a].out_fixed_ms + truth->copies[b].in_fixed_ms;
            per_byte[a * n_devices + b] = truth->copies[a].out_ms_per_byte + truth->copies[b].in_ms_per_byte;
        }
    }
    if (costs.model == BERTH_MODEL_SERIAL) costs.piece_ms = truth->handing_ms;
    costs.time_ms = time_ms;
    costs.copy_fixed = fixed;
    costs.copy_per_unit = per_byte;
    costs.launch_ms = launch;
    assert_int_equal(berth_sim_new(f->ctx, &sim, &costs), BERTH_OK);
    for (int32_t i = 0; i < f->n; i++) {
        double off = 2 * ((double)support_below(random, 1u << 20) / (1u << 20)) - 1;
        f->runs[i].ms = (truth->run_ms + berth_sim_run(sim, f->runs[i].device, NULL)) * (1 + noise * off);
        assert_true(f->runs[i].ms > 0 && f->runs[i].ms < INFINITY);
    }
    berth_sim_free(sim);
}

static berth_calibration guess(void) {
    berth_calibration fit = {.run_ms = 0.1, .handing_ms = 0.01};
    for (int d = 0; d < BERTH_CALIBRATION_DEVICES; d++) {
        fit.scale[d] = 1;
        fit.copies[d] = (berth_calibrated_copies){0.05, 2e-7, 0.1, 2e-7};
    }
    return fit;
}

static bool is_number(double x) {
    return x >= 0 && x < INFINITY;
}

static void calibrate(fixture *f) {
    f->fit = guess();
    assert_int_equal(berth_calibrate(f->ctx, f->costs, f->runs, f->n, &f->fit, f->predicted), BERTH_OK);
    assert_true(is_number(f->fit.run_ms) && is_number(f->fit.handing_ms));
    for (int32_t d = 0; d < f->costs->n_devices; d++) {
        const berth_calibrated_copies *c = &f->fit.copies[d];
        assert_true(is_number(f->fit.scale[d]) && is_number(c->in_fixed_ms) && is_number(c->in_ms_per_byte) &&
                    is_number(c->out_fixed_ms) && is_number(c->out_ms_per_byte));
    }
}

/* Mean error over what was held out, and the rank correlation there. */
static double error_of(const fixture *f, const double *truth, double *correlation) {
    double sum = 0, measured[MOST_RUNS], predicted[MOST_RUNS];
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; i++) {
        if (!f->runs[i].is_held_out) continue;
        measured[n] = truth[i];
        predicted[n] = f->predicted[i];
        sum += fabs(predicted[n] / measured[n] - 1);
        n++;
    }
    *correlation = berth_rank_correlation(predicted, measured, n);
    return sum / n;
}

/* Without and with noise in all of the runs, scored against what they would be without. */
static void predict(fixture *f, const char *label, const berth_calibration *numbers, int32_t n, uint64_t *random) {
    static const struct { double noise, most_error, least_correlation; } rows[] = {{0, 0.01, 0.99}, {0.03, 0.03, 0.97}};
    double truth[MOST_RUNS], correlation;
    berth_mark mark = berth_arena_mark(&f->arena);
    draw_runs(f, random, support_is_slow() ? 12 : n);
    for (int i = 0; i < 2; i++) {
        measure(f, numbers, rows[i].noise, random);
        for (int32_t k = 0; k < f->n && i == 0; k++) truth[k] = f->runs[k].ms;
        calibrate(f);
        double error = error_of(f, truth, &correlation);
        if (!support_is_slow() && !(error < rows[i].most_error && correlation > rows[i].least_correlation))
            fail_msg("%s, noise %g: off by %.2f %%, rank correlation %.4f", label, rows[i].noise, 100 * error,
                     correlation);
    }
    berth_arena_release(&f->arena, mark);
}

static void predicts_what_it_has_not_seen(void **state) {
    uint64_t random = 3;
    for (size_t t = 0; t < sizeof truths / sizeof *truths && (t == 0 || support_is_optimised()); t++)
        predict(*state, "two devices", &truths[t], 42, &random);
}

/* Also copies between two that are not the host, and as many devices as there may be. */
static void predicts_on_more_devices(void **state) {
    static const char *const sets[] = {"cpu,gpu,npu", "cpu,gpu,igpu,npu", "cpu,gpu,igpu,npu,gpu,gpu,igpu,igpu"};
    uint64_t random = 8;
    for (int i = 0; i < 3 && (i == 0 || support_is_optimised()); i++) {
        use(*state, sets[i], BERTH_MODEL_SERIAL);
        predict(*state, sets[i], &eight, MOST_RUNS, &random);
    }
    use(*state, "cpu,gpu", BERTH_MODEL_QUEUED);
}

/* Held-out runs must not be looked at, and times that are none do not count. */
static void what_does_not_count(void **state) {
    fixture *f = *state;
    uint64_t random = 4;
    berth_mark mark = berth_arena_mark(&f->arena);
    draw_runs(f, &random, 12);
    measure(f, &truths[0], 0, &random);
    calibrate(f);
    berth_calibration fit = f->fit;
    double correlation;
    for (int32_t i = 0; i < f->n; i++)
        if (f->runs[i].is_held_out) f->runs[i].ms *= 10;
    calibrate(f);
    assert_memory_equal(&fit, &f->fit, sizeof fit);
    static const double bad[] = {NAN, 0, -1, INFINITY};
    double truth[MOST_RUNS];
    measure(f, &truths[0], 0, &random);
    for (int32_t i = 0; i < f->n; i++) truth[i] = f->runs[i].ms;
    for (int32_t i = 0; i < 4; i++) /* besides the others, so that nothing is missing */
        f->runs[f->n++] = (berth_observation){.device = f->runs[2 * i + 2].device, .ms = bad[i]};
    calibrate(f);
    assert_memory_equal(&fit, &f->fit, sizeof fit);
    f->n -= 4;
    assert_true(error_of(f, truth, &correlation) < 0.1);
    for (int32_t i = 0; i < f->n; i++) f->runs[i].ms = NAN; /* nothing is left: the guess stays */
    calibrate(f);
    assert_true(fabs(f->fit.scale[0] - 1) < 1e-6 && fabs(f->fit.handing_ms / 0.01 - 1) < 1e-6);
    berth_arena_release(&f->arena, mark);
}

/* Guesses that nobody can mean. */
static void odd_guesses(void **state) {
    fixture *f = *state;
    uint64_t random = 5;
    berth_mark mark = berth_arena_mark(&f->arena);
    draw_runs(f, &random, 8);
    measure(f, &truths[0], 0, &random);
    f->fit = (berth_calibration){.run_ms = 0, .handing_ms = -1, .scale = {NAN, INFINITY}};
    assert_int_equal(berth_calibrate(f->ctx, f->costs, f->runs, f->n, &f->fit, f->predicted), BERTH_OK);
    assert_true(isfinite(f->fit.scale[0]) && isfinite(f->fit.scale[1]) && f->fit.handing_ms >= 0);
    for (int32_t i = 0; i < f->n; i++) assert_true(isfinite(f->predicted[i]));
    assert_int_equal(berth_calibrate(f->ctx, f->costs, NULL, 0, &f->fit, NULL), BERTH_OK);
    berth_costs other = *f->costs;
    static const int32_t counts[] = {0, 1, BERTH_CALIBRATION_DEVICES + 1};
    for (int i = 0; i < 3; i++) {
        other.n_devices = counts[i];
        assert_int_equal(berth_calibrate(f->ctx, &other, f->runs, f->n, &f->fit, f->predicted), BERTH_E_ARG);
    }
    berth_arena_release(&f->arena, mark);
}

/* --- ranks ------------------------------------------------------------------------------------------------------ */

/* By the words of its definition: the correlation of ranks, each the mean of the places that equal values share. */
static double naive_correlation(const double *a, const double *b, int32_t n) {
    double rank[2][MOST_RUNS], mean[2] = {0, 0}, ab = 0, aa = 0, bb = 0;
    for (int side = 0; side < 2; side++)
        for (int32_t i = 0; i < n; i++) {
            const double *x = side ? b : a;
            double first = 1, last = 0;
            for (int32_t k = 0; k < n; k++) {
                first += x[k] < x[i];
                last += x[k] <= x[i];
            }
            rank[side][i] = (first + last) / 2;
            mean[side] += rank[side][i] / n;
        }
    for (int32_t i = 0; i < n; i++) {
        ab += (rank[0][i] - mean[0]) * (rank[1][i] - mean[1]);
        aa += (rank[0][i] - mean[0]) * (rank[0][i] - mean[0]);
        bb += (rank[1][i] - mean[1]) * (rank[1][i] - mean[1]);
    }
    return ab / sqrt(aa) / sqrt(bb);
}

static void rank_correlations(void **state) {
    (void)state;
    const double up[] = {1, 2, 30, 400}, down[] = {9, 5, 2, 1}, level[] = {3, 3, 3, 3};
    assert_true(berth_rank_correlation(up, up, 4) == 1 && berth_rank_correlation(up, down, 4) == -1);
    assert_true(isnan(berth_rank_correlation(up, level, 4)) && isnan(berth_rank_correlation(up, up, 1)) &&
                isnan(berth_rank_correlation(up, up, 0)));
    uint64_t random = 6;
    for (int i = 0; i < support_cases(500); i++) {
        double a[MOST_RUNS], b[MOST_RUNS];
        int32_t n = 3 + (int32_t)support_below(&random, MOST_RUNS - 3);
        uint32_t range = 2 + support_below(&random, 100); /* small ones have many ties */
        for (int32_t k = 0; k < n; k++) {
            a[k] = support_below(&random, range);
            b[k] = a[k] + support_below(&random, range);
        }
        double got = berth_rank_correlation(a, b, n), wanted = naive_correlation(a, b, n);
        assert_true((isnan(got) && isnan(wanted)) || fabs(got - wanted) < 1e-12);
    }
    const double holes[] = {1, NAN, 3, INFINITY};
    double any = berth_rank_correlation(holes, up, 4);
    assert_true(isnan(any) || fabs(any) <= 1.0000001);
}

static berth_status calibrate_once(berth_ctx *ctx, void *user) {
    fixture *f = user;
    berth_calibration fit = guess();
    return berth_calibrate(ctx, f->costs, f->runs, 2, &fit, f->predicted);
}

static void survives_failing_allocations(void **state) {
    fixture *f = *state;
    uint64_t random = 7;
    draw_runs(f, &random, 2);
    measure(f, &truths[0], 0, &random);
    assert_true(support_ladder(calibrate_once, f, 1) > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(predicts_what_it_has_not_seen),
        cmocka_unit_test(predicts_on_more_devices),
        cmocka_unit_test(what_does_not_count),
        cmocka_unit_test(odd_guesses),
        cmocka_unit_test(rank_correlations),
        cmocka_unit_test(survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
