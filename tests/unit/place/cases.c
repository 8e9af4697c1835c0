/* SPDX-License-Identifier: Apache-2.0 */
/* One plan for several shapes: against all placements there are, in simulation; and with a worker that answers what the
 * test wants. */
#include "berth/cases.h"

#include "faked.h"
#include "runtime/trial.h"

enum { LAYERS = 4, OPS = 2 * LAYERS, CASES = 2 };

typedef struct fixture {
    berth_ctx *ctx;
    berth_graph *graphs[CASES];
    berth_shape_binding bindings[CASES];
    int64_t dims[CASES][2];
    berth_shape_case cases[CASES];
    berth_device_set *devices;
} fixture;

/* x of n rows through products with wide and narrow weights: few rows are for the CPU, many for the GPU. */
static proto make_model(void) {
    proto graph = {0};
    char from[16] = "x", to[16], name[16], inputs[40];
    for (int i = 0; i < LAYERS; i++) {
        proto weight = {0};
        int64_t n = 512;
        snprintf(name, sizeof name, "w%d", i);
        for (int k = 0; k < 2; k++) proto_int(&weight, 1, n);
        proto_int(&weight, 2, 1);
        proto_text(&weight, 8, name);
        char *zeros = calloc((size_t)(n * n), 4);
        proto_bytes(&weight, 9, zeros, (size_t)(n * n) * 4);
        free(zeros);
        proto_message(&graph, 5, weight);
        snprintf(inputs, sizeof inputs, "%s,%s", from, name);
        snprintf(to, sizeof to, "m%d", i);
        proto_message(&graph, 1, onnx_node("MatMul", inputs, to));
        snprintf(from, sizeof from, "r%d", i);
        proto_message(&graph, 1, onnx_node(i % 2 ? "Softmax" : "Relu", to, from));
    }
    proto_message(&graph, 11, onnx_value("x", 1, "n,512"));
    proto_message(&graph, 12, onnx_value(from, 1, "n,512"));
    return onnx_model(graph);
}

static void open_cases(fixture *f, int64_t few, int64_t many) {
    proto model = make_model();
    *f = (fixture){0};
    assert_int_equal(berth_ctx_new(&f->ctx, NULL), BERTH_OK);
    for (int k = 0; k < CASES; k++) {
        berth_read_options read = berth_read_options_default();
        f->dims[k][0] = k ? many : few;
        f->dims[k][1] = 512;
        f->bindings[k] = (berth_shape_binding){"x", 2, f->dims[k]};
        read.shapes = &f->bindings[k];
        read.n_shapes = 1;
        if (berth_graph_read_memory(f->ctx, &f->graphs[k], model.bytes, model.n, "model", &read) != BERTH_OK)
            fail_msg("%s", berth_ctx_message(f->ctx));
        f->cases[k] = (berth_shape_case){f->graphs[k], &f->bindings[k], 1, 1};
    }
    proto_free(&model);
    assert_int_equal(berth_device_set_read(f->ctx, &f->devices, "cpu,gpu"), BERTH_OK);
}

static void close_cases(fixture *f) {
    for (int k = 0; k < CASES; k++) berth_graph_free(f->graphs[k]);
    berth_device_set_free(f->devices);
    berth_ctx_free(f->ctx);
}

static berth_place_options quick(void) {
    berth_place_options how = berth_place_options_default();
    how.seconds = 2;
    how.threads = 1;
    return how;
}

/* What a placement takes in a case. */
static double given_ms(fixture *f, int k, const int32_t *device) {
    berth_place_options how = quick();
    berth_plan *plan = NULL;
    how.given = device;
    how.unbounded = true;
    if (berth_place(f->ctx, &plan, f->graphs[k], f->devices, &how) != BERTH_OK) return INFINITY;
    double ms = plan->makespan_ms;
    berth_plan_free(plan);
    return ms;
}

static void no_other_placement_is_better(void **state) {
    static const double weights[][CASES] = {{1, 1}, {100, 1}, {1, 100}, {30, 1}};
    fixture f;
    (void)state;
    open_cases(&f, 1, 4096);
    double ms[1 << OPS][CASES];
    for (int mask = 0; mask < 1 << OPS; mask++) {
        int32_t device[OPS];
        for (int i = 0; i < OPS; i++) device[i] = mask >> i & 1;
        for (int k = 0; k < CASES; k++) ms[mask][k] = given_ms(&f, k, device);
    }
    int lost = 0;
    for (size_t w = 0; w < sizeof weights / sizeof *weights; w++) {
        berth_place_options how = quick();
        berth_plan *plan = NULL;
        double best = INFINITY, alone[CASES] = {INFINITY, INFINITY}, total = weights[w][0] + weights[w][1], found = 0;
        for (int k = 0; k < CASES; k++) f.cases[k].weight = weights[w][k];
        for (int mask = 0; mask < 1 << OPS; mask++) {
            best = fmin(best, (weights[w][0] * ms[mask][0] + weights[w][1] * ms[mask][1]) / total);
            for (int k = 0; k < CASES; k++) alone[k] = fmin(alone[k], ms[mask][k]);
        }
        if (berth_place_cases(f.ctx, &plan, f.cases, CASES, f.devices, &how) != BERTH_OK)
            fail_msg("%s", berth_ctx_message(f.ctx));
        assert_int_equal(plan->n_cases, CASES);
        for (int k = 0; k < CASES; k++) {
            const berth_plan_case *c = &plan->cases[k];
            int32_t device[OPS];
            for (int i = 0; i < OPS; i++) device[i] = plan->ops[i].device;
            assert_true(fabs(c->ms - given_ms(&f, k, device)) < 1e-9 * c->ms && !c->measured);
            assert_true(fabs(c->weight - weights[w][k] / total) < 1e-12 && c->n_shapes == 1);
            assert_int_equal(c->shapes[0].dims[0], k ? 4096 : 1);
            assert_true(fabs(c->best_ms / alone[k] - 1) < 1e-9 && fabs(c->loss - (c->ms / alone[k] - 1)) < 1e-9);
            found += c->weight * c->ms;
            lost += c->loss > 0.01;
        }
        if (found > best * (1 + 1e-9)) fail_msg("weights %zu: %g, and %g is possible", w, found, best);
        berth_plan_free(plan);
    }
    assert_true(lost > 0); /* or the cases would not differ */
    close_cases(&f);
}

static void what_is_no_case(void **state) {
    fixture f;
    berth_place_options how = quick();
    berth_plan *plan = NULL;
    (void)state;
    open_cases(&f, 1, 4096);
    assert_int_equal(berth_place_cases(f.ctx, &plan, f.cases, 0, f.devices, &how), BERTH_E_ARG);
    static const double none[] = {0, -1, NAN, INFINITY, 1e101, 1e-300};
    f.cases[0].weight = 1e100; /* beside which the last of them is nothing */
    for (int i = 0; i < 6; i++) {
        f.cases[1].weight = none[i];
        assert_int_equal(berth_place_cases(f.ctx, &plan, f.cases, CASES, f.devices, &how), BERTH_E_ARG);
    }
    f.cases[1].weight = 1;
    how.profile = "profile.json";
    assert_int_equal(berth_place_cases(f.ctx, &plan, f.cases, CASES, f.devices, &how), BERTH_E_ARG);
    how.profile = NULL;
    berth_graph *other = support_read(f.ctx, support_source("tests/golden/cnn.onnx"));
    f.cases[1].graph = other;
    assert_int_equal(berth_place_cases(f.ctx, &plan, f.cases, CASES, f.devices, &how), BERTH_E_ARG);
    assert_null(plan);
    berth_graph_free(other);
    close_cases(&f);
}

static berth_status place_once(berth_ctx *ctx, void *user) {
    fixture *f = user;
    berth_place_options how = quick();
    berth_plan *plan = NULL;
    how.method = "heft";
    berth_status status = berth_place_cases(ctx, &plan, f->cases, CASES, f->devices, &how);
    berth_plan_free(plan);
    return status;
}

static void survives_failing_allocations(void **state) {
    fixture f;
    (void)state;
    open_cases(&f, 1, 4096);
    assert_true(support_ladder(place_once, &f, 10) > 10);
    close_cases(&f);
}

/* --- real devices ----------------------------------------------------------------------------------------------- */

static berth_real_plan *place_real(faked *f, const berth_limits *limits, const char *words) {
    const berth_shape_case cases[] = {{f->graph, NULL, 0, 3}, {f->graph, NULL, 0, 1}};
    berth_real_options options = berth_real_options_default();
    berth_real_plan *real = NULL;
    options.place.seconds = 30;
    options.place.threads = 1;
    options.place.method = "cut";
    options.place.limits = limits;
    options.profile.processes = 1;
    options.profile.placements = 6;
    options.profile.run.rounds = 1;
    options.profile.run.least_runs = options.profile.run.most_runs = 3;
    faked_say(words);
    faked_forget(f);
    if (berth_place_real_cases(f->ctx, &real, f->runtime, cases, 2, f->model, faked_devices, 2, &options) != BERTH_OK)
        fail_msg("%s: %s", words, berth_ctx_message(f->ctx));
    assert_true(real->plan->n_cases == 2 && real->plan->cases[0].weight == 0.75 && real->plan->cases[1].measured);
    assert_non_null(real->plan->measured);
    return real;
}

static void splits_must_gain_in_the_mean(void **state) {
    faked *f = *state;
    berth_real_plan *real = place_real(f, NULL, "");
    assert_true(real->is_split);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, i < FAKED_BLOCK);
    for (int k = 0; k < 2; k++) {
        assert_true(fabs(real->plan->cases[k].ms / f->split_ms - 1) < 0.01);
        assert_true(real->plan->cases[k].loss >= 0 && real->plan->cases[k].loss < 0.01);
    }
    berth_real_plan_free(real);
    real = place_real(f, NULL, "cpu=10 other=30 split=9.9 noise=0.1");
    assert_false(real->is_split);
    for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++) assert_int_equal(real->plan->ops[i].device, 0);
    berth_real_plan_free(real);
    real = place_real(f, NULL, "differ=split");
    assert_false(real->is_split);
    berth_real_plan_free(real);
}

/* A device that an operation is kept from is no answer for several shapes either. */
static void bans_hold_in_all_cases(void **state) {
    static const berth_rule bans[] = {{"Relu", "webgpu"}};
    berth_limits limits = {.bans = bans, .n_bans = 1};
    faked *f = *state;
    for (int is_slow = 0; is_slow < 2; is_slow++) { /* splits gain over the CPU, or do not */
        berth_real_plan *real = place_real(f, &limits, is_slow ? "other=2 cpu=5 split=9" : "other=2");
        assert_int_equal(real->is_split, !is_slow);
        for (int32_t i = 0; i < 2 * FAKED_BLOCK; i++)
            assert_int_equal(real->plan->ops[i].device, !is_slow && i < FAKED_BLOCK);
        berth_real_plan_free(real);
    }
}

/* Four shapes in the time that was given for all: what one takes too long the others make up for. Every process takes a
 * while, as those of real runtimes do. */
static void keeps_to_its_budget(void **state) {
    enum { MANY = 4 };
    faked *f = *state;
    berth_shape_case cases[MANY];
    berth_real_options options = berth_real_options_default();
    berth_real_plan *real = NULL;
    for (int k = 0; k < MANY; k++) cases[k] = (berth_shape_case){f->graph, NULL, 0, 1 + k};
    options.place.seconds = 12;
    options.place.threads = 1;
    faked_say("slow=0.02");
    double before = berth_trial_clock();
    if (berth_place_real_cases(f->ctx, &real, f->runtime, cases, MANY, f->model, faked_devices, 2, &options) !=
        BERTH_OK)
        fail_msg("%s", berth_ctx_message(f->ctx));
    double took = berth_trial_clock() - before;
    if (support_is_optimised() && took > 1.15 * options.place.seconds)
        fail_msg("%.2f s instead of %g", took, options.place.seconds);
    assert_int_equal(real->plan->n_cases, MANY);
    if (support_is_optimised()) assert_true(real->is_split); /* else there is no time for the rounds that make sure */
    for (int k = 0; k < MANY; k++) assert_true(real->plan->cases[k].measured);
    berth_real_plan_free(real);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_other_placement_is_better),
        cmocka_unit_test(what_is_no_case),
        cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test_setup_teardown(splits_must_gain_in_the_mean, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(bans_hold_in_all_cases, faked_open, faked_close),
        cmocka_unit_test_setup_teardown(keeps_to_its_budget, faked_open, faked_close),
    };
    support_foreign_children();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
