/* SPDX-License-Identifier: Apache-2.0 */
/* The networks of the baselines in double: the loss that is learnt from, along random directions, against central
 * differences. */
#include "support.h"

#include "learn/placeto_net.h"
#include "learn/rnn_net.h"

#include <math.h>

enum { STEPS = 7, PLACEMENTS = 3, DEVICES = 4, WIDTH = 5, DIRECTIONS = 12 };

static const int32_t rows[STEPS] = {0, 1, 2, 3, 4, 5, 6}, last[PLACEMENTS] = {6, 6, 6};

/* 0 -> 1 -> 2 -> 4, 1 -> 3 -> 4 -> 5, and 6 alone; first who reads from a step, then who it reads from. */
static const int32_t succ_start[STEPS + 1] = {0, 1, 3, 4, 5, 6, 6, 6}, succs[] = {1, 2, 3, 4, 4, 5};
static const int32_t pred_start[STEPS + 1] = {0, 0, 1, 2, 3, 5, 6, 6}, preds[] = {0, 1, 1, 2, 3, 4};

typedef struct fixture {
    berth_params params;
    berth_tape *tape;
    berth_rnn_net rnn;
    berth_placeto_net placeto;
    berth_real features[STEPS * WIDTH];
    uint64_t seed; /* of dropouts */
} fixture;

static double uniform(berth_rng *rng) {
    return 2 * berth_rng_uniform(rng) - 1;
}

/* --- rnn -------------------------------------------------------------------------------------------------------- */

static berth_matrix *rnn_loss(fixture *f) {
    static const berth_csr neighbours = {STEPS, STEPS, succ_start, succs, NULL};
    static const berth_csr transposed = {STEPS, STEPS, pred_start, preds, NULL};
    static const int32_t begin[PLACEMENTS] = {DEVICES, DEVICES, DEVICES};
    static const int32_t action[STEPS][PLACEMENTS] = {{0, 1, 2}, {1, 1, 3}, {2, 0, 0}, {3, 3, 1},
                                                      {0, 2, 2}, {1, 0, 1}, {0, 0, 0}};
    static const uint64_t mask[STEPS][PLACEMENTS] = {{15, 15, 15}, {15, 3, 8}, {7, 15, 15}, {15, 15, 15},
                                                     {15, 15, 4},  {2, 15, 3}, {15, 15, 15}};
    static berth_real weight[STEPS * PLACEMENTS];
    berth_rng drops;
    berth_rng_init(&drops, f->seed, 0);
    const berth_run run = {.tape = f->tape, .params = &f->params, .dropout = 0.2, .rng = &drops};
    berth_matrix *picked[STEPS], *entropies[STEPS];
    berth_rnn_code code;
    berth_rnn_encode(&f->rnn, &run, berth_input(f->tape, f->features, STEPS, WIDTH), &neighbours, &transposed, rows,
                     last, PLACEMENTS, &code);
    for (int j = 0; j < STEPS; j++) {
        berth_matrix *log_p = berth_rnn_decode(&f->rnn, &run, &code, rows + j, j ? action[j - 1] : begin, mask[j]);
        picked[j] = berth_pick(f->tape, log_p, action[j]);
        entropies[j] = berth_entropy(f->tape, log_p);
    }
    for (int i = 0; i < STEPS * PLACEMENTS; i++) weight[i] = cos(i % PLACEMENTS);
    berth_matrix *loss = berth_dot(f->tape, berth_stack(f->tape, picked, STEPS), weight);
    return berth_sub(f->tape, loss, berth_sum(f->tape, berth_stack(f->tape, entropies, STEPS)));
}

/* --- placeto ---------------------------------------------------------------------------------------------------- */

static berth_matrix *placeto_loss(fixture *f) {
    static const int32_t above[] = {0, 1, 2, 3}, below[] = {5}, others[] = {6}, device[] = {2};
    static const uint64_t mask[] = {13};
    static const berth_real mean_in[] = {1, 1, 1, 0.5, 0.5, 1}, mean_in_back[] = {1, 1, 1, 0.5, 0.5, 1};
    static const berth_real mean_out[] = {1, 0.5, 0.5, 1, 1, 1}, mean_out_back[] = {1, 0.5, 0.5, 1, 1, 1};
    static const berth_placeto_look look = {
        .mean = {{STEPS, STEPS, pred_start, preds, mean_in}, {STEPS, STEPS, succ_start, succs, mean_out}},
        .transposed = {{STEPS, STEPS, succ_start, succs, mean_in_back},
                       {STEPS, STEPS, pred_start, preds, mean_out_back}},
        .node = 4,
        .set = {above, below, others},
        .span = {{0, 4}, {0, 1}, {0, 1}},
    };
    const berth_run run = {.tape = f->tape, .params = &f->params};
    berth_matrix *x = berth_input(f->tape, f->features, STEPS, WIDTH);
    berth_matrix *log_p = berth_placeto_forward(&f->placeto, &run, x, &look, mask);
    assert_true(fabs(exp(log_p->value[0]) + exp(log_p->value[2]) + exp(log_p->value[3]) - 1) < 1e-12);
    return berth_pick(f->tape, log_p, device);
}

/* --- the check -------------------------------------------------------------------------------------------------- */

static void check_directions(fixture *f, berth_matrix *(*loss)(fixture *f)) {
    berth_rng rng;
    berth_rng_init(&rng, 3, 0);
    berth_real *at = calloc(f->params.n, sizeof *at), *way = calloc(f->params.n, sizeof *way);
    memcpy(at, f->params.value, f->params.n * sizeof *at);
    berth_params_zero_grad(&f->params);
    assert_int_equal(berth_tape_backward(f->tape, loss(f)), BERTH_OK);
    for (int n = 0; n < DIRECTIONS; n++) {
        const double step = 1e-5;
        double want = 0, ends[2];
        for (size_t i = 0; i < f->params.n; i++) {
            way[i] = uniform(&rng);
            want += way[i] * f->params.grad[i];
        }
        for (int side = 0; side < 2; side++) {
            for (size_t i = 0; i < f->params.n; i++) f->params.value[i] = at[i] + (side ? step : -step) * way[i];
            berth_tape_clear(f->tape);
            ends[side] = loss(f)->value[0];
        }
        double got = (ends[1] - ends[0]) / (2 * step);
        if (!(fabs(got - want) <= 1e-6 * fmax(1, fabs(want)))) fail_msg("%.12g by differences, %.12g", got, want);
    }
    free(at);
    free(way);
}

static void set_up(fixture *f, berth_ctx *ctx) {
    berth_rng rng;
    berth_rng_init(&rng, 1, 0);
    *f = (fixture){.seed = 5};
    assert_int_equal(berth_tape_new(ctx, &f->tape), BERTH_OK);
    berth_params_init(&f->params, ctx);
    for (int i = 0; i < STEPS * WIDTH; i++) f->features[i] = uniform(&rng);
}

static void gradient_of_rnn(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    fixture f;
    berth_rng rng;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    set_up(&f, ctx);
    berth_rng_init(&rng, 2, 0);
    f.rnn = (berth_rnn_net){.width = WIDTH, .n_vectors = STEPS, .hidden = 12, .attention = 5, .n_devices = DEVICES};
    assert_true(berth_rnn_declare(&f.rnn, &f.params));
    assert_int_equal(berth_params_fix(&f.params), BERTH_OK);
    berth_rnn_reset(&f.rnn, &f.params, &rng);
    check_directions(&f, rnn_loss);
    berth_params_deinit(&f.params);
    berth_tape_free(f.tape);
    berth_ctx_free(ctx);
}

static void gradient_of_placeto(void **state) {
    (void)state;
    berth_ctx *ctx = NULL;
    fixture f;
    berth_rng rng;
    assert_int_equal(berth_ctx_new(&ctx, NULL), BERTH_OK);
    set_up(&f, ctx);
    berth_rng_init(&rng, 2, 0);
    f.placeto = (berth_placeto_net){.width = WIDTH, .hidden = 16, .n_devices = DEVICES, .n_rounds = 3};
    assert_true(berth_placeto_declare(&f.placeto, &f.params));
    assert_int_equal(berth_params_fix(&f.params), BERTH_OK);
    berth_placeto_reset(&f.placeto, &f.params, &rng);
    check_directions(&f, placeto_loss);
    berth_params_deinit(&f.params);
    berth_tape_free(f.tape);
    berth_ctx_free(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_rnn),
        cmocka_unit_test(gradient_of_placeto),
    };
    return cmocka_run_group_tests_name("learn.networks", tests, NULL, NULL);
}
