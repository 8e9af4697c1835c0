/* SPDX-License-Identifier: Apache-2.0 */
/* Every block of features against numbers worked out by hand, naive twins, and the recorded input of the published
 * network. */
#include "graphs.h"
#include "models.h"

#include <math.h>
#include <stdio.h>

#include "base/file.h"
#include "policy/features.h"

/* All of a view's features in an array that the arena owns. */
static const berth_real *fill(berth_ctx *ctx, berth_arena *arena, const berth_view *view,
                              const berth_feature_options *options, int32_t *width) {
    berth_feature_plan *plan = NULL;
    if (berth_feature_plan_new(ctx, &plan, options, &view, 1) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    berth_real *x = berth_arena_push(arena, (size_t)view->n_nodes * (size_t)plan->width, sizeof *x);
    assert_non_null(x);
    for (int32_t i = 0; i < view->n_nodes * plan->width; i++) x[i] = NAN; /* what was there before must not matter */
    assert_int_equal(berth_features_fill(ctx, plan, view, x), BERTH_OK);
    *width = plan->width;
    berth_feature_plan_free(plan);
    return x;
}

static void near(double got, double want) {
    if (!(fabs(got - want) <= 1e-12 * fmax(1, fabs(want)))) fail_msg("%.17g, not %.17g", got, want);
}

/* --- the published input ---------------------------------------------------------------------------------------- */

/* x of the fixture: mean type one-hot by sorted type, then index / 237. Its first 237 x 12 doubles. */
static void input_of_the_code(void **state) {
    const char *path = support_source("tests/fixtures/hsdag/resnet50.f64"), *bytes = NULL;
    size_t size = 0;
    int32_t width = 0;
    double want = 0;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_int_equal(berth_file_read(*state, &arena, path, 1 << 24, &bytes, &size), BERTH_OK);
    support_model model = support_model_open(*state, "models/ir/resnet50.xml", "paper");
    berth_view *view = support_view(*state, model.problem, BERTH_VIEW_CODE);
    const berth_real *x =
        fill(*state, &arena, view, &(berth_feature_options){.type = true, .position = BERTH_POSITION_RANK}, &width);
    assert_int_equal(width, 12);
    for (size_t i = 0; i < 237 * 12; i++) {
        memcpy(&want, bytes + i * sizeof want, sizeof want);
        near((double)x[i], want);
    }
    x = fill(*state, &arena, view, &(berth_feature_options){.type = true, .position = BERTH_POSITION_INDEX}, &width);
    for (int32_t node = 0; node < 237; node++) near((double)x[node * 12 + 11], node);
    berth_view_free(view);
    support_model_close(&model);
    berth_arena_deinit(&arena);
}

/* --- by hand ---------------------------------------------------------------------------------------------------- */

static const char small_model[] = "Parameter -> x f32 1x3x8x8\n"
                                  "Const -> w f32 4x3x3x3\n"
                                  "Convolution x w -> c f32 1x4x6x6\n"
                                  "ReLU c -> r f32 1x4x6x6\n"
                                  "MaxPool r -> p f32 1x4x6x6\n"
                                  "Sigmoid r -> s f32 1x4x6x6\n"
                                  "Add p s -> a f32 1x4x6x6\n"
                                  "Reshape a -> o f32 144\n"
                                  "Result o\n";

static void blocks_by_hand(void **state) {
    support_model model;
    int32_t width = 0;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    assert_true(support_model_try(*state, &model, support_graph_ir(*state, small_model), "cpu,gpu", NULL));
    berth_view *view = support_view(*state, model.problem, BERTH_VIEW_PAPER);
    /* Groups by their last operation: {Parameter}, {Const}, {Convolution, ReLU}, {MaxPool}, {Sigmoid},
     * {Add, Reshape, Result}. */
    assert_int_equal(view->n_nodes, 6);
    const berth_real *x = fill(*state, &arena, view, &(berth_feature_options){.type = true}, &width);
    assert_int_equal(width, 9); /* Add Const Convolution MaxPool Parameter ReLU Reshape Result Sigmoid */
    near((double)x[0 * 9 + 4], 1);
    near((double)x[1 * 9 + 1], 1);
    near((double)x[2 * 9 + 2], 0.5);
    near((double)x[2 * 9 + 5], 0.5);
    near((double)x[5 * 9 + 0], 1 / 3.);
    near((double)x[5 * 9 + 6], 1 / 3.);
    near((double)x[5 * 9 + 7], 1 / 3.);
    for (int32_t node = 0; node < 6; node++) {
        double sum = 0;
        for (int32_t i = 0; i < 9; i++) sum += (double)x[node * 9 + i];
        near(sum, 1);
    }
    x = fill(*state, &arena, view, &(berth_feature_options){.shape = true}, &width);
    assert_int_equal(width, 4);
    near((double)x[0 * 4 + 1], log(4));   /* 1x3x8x8 */
    near((double)x[1 * 4 + 0], log(5));   /* 4x3x3x3 */
    near((double)x[2 * 4 + 3], log(7));   /* 1x4x6x6 */
    near((double)x[5 * 4 + 0], log(145)); /* 144, then zeros */
    near((double)x[5 * 4 + 1], 0);
    /* In-degrees 0 0 2 1 1 2, out-degrees 1 1 2 1 1 0: distinct values 0 1 2 in both. */
    x = fill(*state, &arena, view, &(berth_feature_options){.in_degree = true, .out_degree = true}, &width);
    assert_int_equal(width, 6);
    static const int in[] = {0, 0, 2, 1, 1, 2}, out[] = {1, 1, 2, 1, 1, 0};
    for (int node = 0; node < 6; node++)
        for (int value = 0; value < 3; value++) {
            near((double)x[node * 6 + value], in[node] == value);
            near((double)x[node * 6 + 3 + value], out[node] == value);
        }
    x = fill(*state, &arena, view, &(berth_feature_options){.position = BERTH_POSITION_SINUSOID, .position_width = 4},
             &width);
    assert_int_equal(width, 4);
    near((double)x[2 * 4 + 0], sin(3)); /* position 3; 10000^(2/4) = 100 */
    near((double)x[2 * 4 + 1], cos(3));
    near((double)x[2 * 4 + 2], sin(0.03));
    near((double)x[2 * 4 + 3], cos(0.03));
    /* All at once: each block where the plan puts it. */
    x = fill(*state, &arena, view, &(berth_feature_options){true, true, true, true, true, true, BERTH_POSITION_RANK, 0},
             &width);
    assert_int_equal(width, 9 + 4 + 3 + 3 + 1 + 1 + berth_cost_width(2));
    near((double)x[2 * width + 2], 0.5);
    near((double)x[5 * width + 9], log(145));
    near((double)x[4 * width + 9 + 4 + 3 + 3 + 1], 4 / 6.);
    berth_view_free(view);
    support_model_close(&model);
    berth_arena_deinit(&arena);
}

/* A plan of one view meets another: unknown types are left out, degrees count as the next smaller. */
static void plans_outlive_their_view(void **state) {
    static const char other_model[] = "Parameter -> x f32 2x2x2x2x2\n"
                                      "Tanh x -> a f32 2x2x2x2x2\n"
                                      "ReLU x -> b f32 2x2x2x2x2\n"
                                      "ReLU x -> c f32 2x2x2x2x2\n"
                                      "Concat a b c -> d f32 6x2x2x2x2\n"
                                      "Result d\n";
    support_model one, other;
    berth_feature_plan *plan = NULL;
    assert_true(support_model_try(*state, &one, support_graph_ir(*state, small_model), "cpu,gpu", NULL));
    assert_true(support_model_try(*state, &other, support_graph_ir(*state, other_model), "cpu,gpu", NULL));
    berth_view *first = support_view(*state, one.problem, BERTH_VIEW_PAPER);
    berth_view *second = support_view(*state, other.problem, BERTH_VIEW_PAPER);
    const berth_feature_options options = {.type = true, .shape = true, .in_degree = true};
    assert_int_equal(berth_feature_plan_new(*state, &plan, &options, (const berth_view *const[]){first}, 1), BERTH_OK);
    assert_int_equal(plan->width, 9 + 4 + 3);
    assert_int_equal(second->n_nodes, 5);
    /* 0 {Parameter}, 1 {Tanh}, 2 {ReLU}, 3 {ReLU}, 4 {Concat, Result} */
    berth_real big[5 * 16];
    assert_int_equal(berth_features_fill(*state, plan, second, big), BERTH_OK);
    for (int i = 0; i < 9; i++) near((double)big[1 * 16 + i], 0);
    near((double)big[2 * 16 + 5], 1);
    near((double)big[4 * 16 + 7], 0.5);
    near((double)big[4 * 16 + 9], log(7)); /* four of the five dimensions */
    near((double)big[4 * 16 + 13 + 2], 1); /* three inputs count as two */
    berth_feature_plan_free(plan);
    /* Of both: the union. */
    assert_int_equal(berth_feature_plan_new(*state, &plan, &options, (const berth_view *const[]){first, second}, 2),
                     BERTH_OK);
    assert_int_equal(plan->n_types, 11);
    assert_int_equal(plan->n_dims, 5);
    assert_int_equal(plan->n_in, 4);
    berth_feature_plan_free(plan);
    berth_view_free(first);
    berth_view_free(second);
    support_model_close(&one);
    support_model_close(&other);
}

/* --- fractal dimension ------------------------------------------------------------------------------------------ */

static void slopes(void **state) {
    (void)state;
    near(berth_slope(3, (const double[]){1, 2, 3}, (const double[]){5, 7, 9}), 2);
    near(berth_slope(3, (const double[]){0, 1, 2}, (const double[]){0, 1, 0}), 0);
    near(berth_slope(2, (const double[]){0, 2}, (const double[]){1, 4}), 1.5);
    near(berth_slope(1, (const double[]){3}, (const double[]){4}), 0);
    near(berth_slope(0, NULL, NULL), 0);
}

static void fractal_of(berth_ctx *ctx, int32_t n, int32_t n_edges, const int32_t *from, const int32_t *to,
                       berth_real *out) {
    berth_links links;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    assert_true(berth_links_build(&arena, n, n_edges, from, to, 1, NULL, &links));
    assert_true(berth_feature_fractal(&arena, &links, (berth_block){out, 1}));
    berth_arena_deinit(&arena);
}

/* A path of five and a node alone. From the end of the path N(r) is 1 2 3 4 at r 1 2 3 4: the slope is 1. From its
 * middle 2 4 at 1 2: 1. From the second 2 3 4 at 1 2 3. */
static void fractal_by_hand(void **state) {
    const int32_t from[] = {0, 1, 2, 3}, to[] = {1, 2, 3, 4};
    berth_real d[6];
    fractal_of(*state, 6, 4, from, to, d);
    near((double)d[0], 1);
    near((double)d[2], 1);
    double a = log(2), b = log(3), mean_x = (a + b) / 3, mean_y = (log(2) + log(3) + log(4)) / 3;
    double over =
        (0 - mean_x) * (log(2) - mean_y) + (a - mean_x) * (log(3) - mean_y) + (b - mean_x) * (log(4) - mean_y);
    double under = mean_x * mean_x + (a - mean_x) * (a - mean_x) + (b - mean_x) * (b - mean_x);
    near((double)d[1], over / under);
    near((double)d[5], 0);
}

enum { MOST = 40 };

/* By all distances (Floyd and Warshall). */
static double twin_dimension(int n, int distance[MOST][MOST], int v) {
    double x[MOST], y[MOST];
    int n_points = 0;
    for (int r = 1; r < n; r++) {
        int at = 0, within = 0;
        for (int u = 0; u < n; u++) {
            at += u != v && distance[v][u] == r;
            within += u != v && distance[v][u] <= r;
        }
        if (at == 0) continue;
        x[n_points] = log(r);
        y[n_points++] = log(within);
    }
    return berth_slope(n_points, x, y);
}

static void fractal_like_the_twin(void **state) {
    uint64_t seed = 5;
    for (int i = 0; i < support_cases(300); i++) {
        static int distance[MOST][MOST];
        int32_t from[200], to[200], n = 1 + (int32_t)support_below(&seed, MOST), n_edges = 0;
        berth_real d[MOST];
        for (int u = 0; u < n; u++)
            for (int v = 0; v < n; v++) distance[u][v] = u == v ? 0 : 1000;
        for (uint32_t e = support_below(&seed, 80); e > 0; e--) {
            int32_t u = (int32_t)support_below(&seed, (uint32_t)n), v = (int32_t)support_below(&seed, (uint32_t)n);
            from[n_edges] = u;
            to[n_edges++] = v;
            if (u != v) distance[u][v] = distance[v][u] = 1;
        }
        for (int k = 0; k < n; k++)
            for (int u = 0; u < n; u++)
                for (int v = 0; v < n; v++)
                    if (distance[u][k] + distance[k][v] < distance[u][v])
                        distance[u][v] = distance[u][k] + distance[k][v];
        fractal_of(*state, n, n_edges, from, to, d);
        for (int v = 0; v < n; v++) near((double)d[v], twin_dimension(n, distance, v));
    }
}

/* Large graphs: of a path the slope nearby is 1 but for its ends; a star and a complete part must not take a square. */
static void fractal_of_large_graphs(void **state) {
    enum { N = 200000 };
    int32_t *from = calloc(N, sizeof *from), *to = calloc(N, sizeof *to);
    berth_real *d = calloc(N, sizeof *d);
    for (int32_t i = 0; i + 1 < N; i++) {
        from[i] = i;
        to[i] = i + 1;
    }
    fractal_of(*state, N, N - 1, from, to, d);
    assert_true(fabs((double)d[N / 2] - 1) < 1e-9);
    for (int32_t i = 0; i + 1 < N; i++) from[i] = 0;
    fractal_of(*state, N, N - 1, from, to, d);
    assert_true((double)d[N / 2] == 0);
    free(from);
    free(to);
    free(d);
}

/* --- costs ------------------------------------------------------------------------------------------------------ */

/* The graph of Topcuoglu et al.: three machines, one value per edge. */
static void costs_by_hand(void **state) {
    berth_costs *costs = support_topcuoglu(*state);
    berth_problem *problem = support_problem(*state, costs);
    berth_view *view = support_view(*state, problem, BERTH_VIEW_NONE);
    int32_t width = 0;
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(*state));
    const berth_real *x = fill(*state, &arena, view, &(berth_feature_options){.cost = true}, &width);
    assert_int_equal(width, 9 + 8);
    /* Times 14 16 9, 13 19 18, 11 13 19, 13 8 17, 12 13 10, 13 16 9, 7 15 11, 5 11 14, 18 12 20, 21 7 16: mean tau. */
    static const double times[10][3] = {{14, 16, 9}, {13, 19, 18}, {11, 13, 19}, {13, 8, 17},  {12, 13, 10},
                                        {13, 16, 9}, {7, 15, 11},  {5, 11, 14},  {18, 12, 20}, {21, 7, 16}};
    double tau = 0, mean[10];
    for (int t = 0; t < 10; t++) {
        mean[t] = (times[t][0] + times[t][1] + times[t][2]) / 3;
        tau += mean[t] / 10;
    }
    near((double)x[0], log1p(14 / tau));
    near((double)x[3], log(14 / 9.));
    near((double)x[5], 0);
    near((double)x[8], 1);
    /* Task 0 feeds 1 to 5 by 18 12 9 11 14: copies out 64; nothing comes in. */
    near((double)x[9], 0);
    near((double)x[10], log1p(64 / tau));
    /* Longest path of mean times: it starts at task 0 and ends with task 9; slack of both 0. */
    near((double)x[14], 0);
    near((double)x[15], 1);
    near((double)x[16], 0);
    double path = mean[0] + mean[1] + mean[8] + mean[9]; /* 1 -> 2 -> 9 -> 10 in the paper's numbers */
    near((double)x[9 * width + 14], (path - mean[9]) / path);
    near((double)x[9 * width + 15], mean[9] / path);
    near((double)x[9 * width + 16], 0);
    berth_arena_deinit(&arena);
    berth_view_free(view);
    berth_problem_free(problem);
    berth_costs_free(costs);
}

/* Nothing depends on the unit of time or of size. */
static void costs_have_no_units(void **state) {
    uint64_t seed = 6;
    for (int i = 0; i < support_cases(200); i++) {
        support_costs how = support_costs_any(&seed, (berth_model)(i % BERTH_MODEL_COUNT), 20, 4);
        how.copy_table = false;
        berth_costs *costs = support_costs_new(*state, &seed, &how);
        berth_problem *problem = support_problem(*state, costs);
        berth_view *view = support_view(*state, problem, BERTH_VIEW_NONE);
        int32_t width = 0, n = view->n_nodes, k = costs->n_devices;
        berth_arena arena;
        berth_arena_init(&arena, berth_ctx_allocator(*state));
        const berth_real *x = fill(*state, &arena, view, &(berth_feature_options){.cost = true}, &width);
        for (int32_t j = 0; j < costs->n_tasks * k; j++) ((double *)costs->time_ms)[j] *= 1000;
        for (int32_t j = 0; j < k * k; j++) {
            ((double *)costs->copy_fixed)[j] *= 1000;
            ((double *)costs->copy_per_unit)[j] *= 1000;
        }
        for (int32_t v = 0; v < costs->n_values; v++) ((double *)costs->value_bytes)[v] *= 7;
        const berth_real *y = fill(*state, &arena, view, &(berth_feature_options){.cost = true}, &width);
        for (int32_t j = 0; j < n * width; j++) {
            assert_true(isfinite((double)x[j]));
            if (fabs((double)x[j] - (double)y[j]) > 1e-9)
                fail_msg("column %d: %g %g", j % width, (double)x[j], (double)y[j]);
        }
        berth_arena_deinit(&arena);
        berth_view_free(view);
        berth_problem_free(problem);
        berth_costs_free(costs);
    }
}

/* --- memory ----------------------------------------------------------------------------------------------------- */

static berth_status climb(berth_ctx *ctx, void *user) {
    const berth_view *view = user;
    const berth_feature_options all = {true, true, true, true, true, true, BERTH_POSITION_SINUSOID, 16};
    berth_feature_plan *plan = NULL;
    berth_real x[2000];
    BERTH_TRY(berth_feature_plan_new(ctx, &plan, &all, &view, 1));
    berth_status status = berth_features_fill(ctx, plan, view, x);
    berth_feature_plan_free(plan);
    return status;
}

static void runs_out_of_memory_cleanly(void **state) {
    support_model model;
    assert_true(support_model_try(*state, &model, support_graph_ir(*state, small_model), "cpu,gpu", NULL));
    berth_view *view = support_view(*state, model.problem, BERTH_VIEW_PAPER);
    support_ladder(climb, view, 1);
    berth_view_free(view);
    support_model_close(&model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(input_of_the_code, support_open, support_close),
        cmocka_unit_test_setup_teardown(blocks_by_hand, support_open, support_close),
        cmocka_unit_test_setup_teardown(plans_outlive_their_view, support_open, support_close),
        cmocka_unit_test_setup_teardown(slopes, support_open, support_close),
        cmocka_unit_test_setup_teardown(fractal_by_hand, support_open, support_close),
        cmocka_unit_test_setup_teardown(fractal_like_the_twin, support_open, support_close),
        cmocka_unit_test_setup_teardown(fractal_of_large_graphs, support_open, support_close),
        cmocka_unit_test_setup_teardown(costs_by_hand, support_open, support_close),
        cmocka_unit_test_setup_teardown(costs_have_no_units, support_open, support_close),
        cmocka_unit_test_setup_teardown(runs_out_of_memory_cleanly, support_open, support_close),
    };
    return cmocka_run_group_tests_name("policy.features", tests, NULL, NULL);
}
