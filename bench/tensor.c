/* SPDX-License-Identifier: Apache-2.0 */
/* How long the operations of a network take beside its matrix products.
 *
 *     bench_tensor
 *
 * Every line is one operation on a matrix of 768 x 128 (BERT's groups by the published width), forward and backward on
 * a tape; the product multiplies it by 128 x 128. What the network does between two products must cost less than the
 * products, or those do not dominate. Exit code 1 if a limit is broken. */
#include "timing.h"

#include "tensor/ops.h"
#include "tensor/params.h"

#include <stdio.h>

enum { ROWS = 768, WIDTH = 128, DEGREE = 3, RUNS = 200 };

typedef struct bench {
    berth_tape *tape;
    berth_params params; /* x, w, b, column */
    berth_rng rng;
    berth_csr csr;
    int32_t start[ROWS + 1], index[ROWS * DEGREE], other[ROWS];
    berth_real weight[ROWS * DEGREE];
} bench;

typedef berth_matrix *operation(bench *b, berth_matrix *x);

static berth_matrix *linear(bench *b, berth_matrix *x) {
    return berth_linear(b->tape, x, berth_params_at(&b->params, 1), berth_params_at(&b->params, 2));
}

static berth_matrix *score(bench *b, berth_matrix *x) {
    return berth_linear(b->tape, x, berth_params_at(&b->params, 2), NULL);
}

static berth_matrix *layer_norm(bench *b, berth_matrix *x) {
    return berth_layer_norm(b->tape, x, berth_params_at(&b->params, 2), berth_params_at(&b->params, 3), 1e-5);
}

static berth_matrix *relu(bench *b, berth_matrix *x) {
    return berth_relu(b->tape, x);
}

static berth_matrix *dropout(bench *b, berth_matrix *x) {
    return berth_dropout(b->tape, x, 0.2, &b->rng);
}

static berth_matrix *add(bench *b, berth_matrix *x) {
    return berth_add(b->tape, x, x);
}

static berth_matrix *hyperbolic(bench *b, berth_matrix *x) {
    return berth_tanh(b->tape, x);
}

static berth_matrix *sigmoid(bench *b, berth_matrix *x) {
    return berth_sigmoid(b->tape, x);
}

static berth_matrix *exponential(bench *b, berth_matrix *x) {
    return berth_exp(b->tape, x);
}

static berth_matrix *sparse(bench *b, berth_matrix *x) {
    return berth_sparse(b->tape, x, &b->csr, &b->csr);
}

static berth_matrix *gather_mul(bench *b, berth_matrix *x) {
    return berth_gather_mul(b->tape, x, b->other, b->other, ROWS);
}

static const struct {
    const char *name;
    operation *apply;
    double limit; /* share of the product */
} operations[] = {
    {"linear 128 -> 128", linear, 0}, {"linear 128 -> 1", score, 0.2},
    {"layer_norm", layer_norm, 0.5},  {"relu", relu, 0.2},
    {"dropout", dropout, 0.4},        {"add", add, 0.2},
    {"tanh", hyperbolic, 0.5},        {"sigmoid", sigmoid, 0.5},
    {"exp", exponential, 0.5},        {"sparse, 3 neighbours", sparse, 0.4},
    {"gather_mul", gather_mul, 0.4},
};

/* Forward, or forward and backward, of one operation; the gradient of x starts fresh, as inside a network. */
static double run(bench *b, operation *apply, bool back, bool *good) {
    berth_tape_clear(b->tape);
    berth_params_zero_grad(&b->params);
    berth_matrix *x = berth_scale(b->tape, berth_params_at(&b->params, 0), 1);
    double start = timing_now_ms();
    berth_matrix *y = apply(b, x);
    double end = timing_now_ms();
    if (back) {
        *good &= berth_tape_backward(b->tape, y) == BERTH_OK;
        end = timing_now_ms();
    }
    return end - start;
}

static void set_up(bench *b) {
    berth_rng_init(&b->rng, 1, 0);
    for (int32_t i = 0; i < b->params.n_items; i++) berth_param_uniform(berth_params_at(&b->params, i), 0.1, &b->rng);
    for (int32_t r = 0; r < ROWS; r++) {
        b->start[r + 1] = (r + 1) * DEGREE;
        b->other[r] = (r * 7) % ROWS;
        for (int32_t k = 0; k < DEGREE; k++) {
            b->index[r * DEGREE + k] = (r + k * k) % ROWS;
            b->weight[r * DEGREE + k] = 0.5;
        }
    }
    b->csr = (berth_csr){ROWS, ROWS, b->start, b->index, b->weight};
}

static bool measure(bench *b) {
    bool good = true;
    double product = 0;
    printf("microseconds for %d x %d%13s %9s %12s\n", ROWS, WIDTH, "forward", "both", "of product");
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        timing forward = {0}, both = {0};
        for (int n = 0; n < RUNS; n++) {
            timing_add(&forward, run(b, operations[i].apply, false, &good));
            timing_add(&both, run(b, operations[i].apply, true, &good));
        }
        double us = timing_fastest(&both) * 1000;
        if (i == 0) product = us;
        bool held = operations[i].limit == 0 || us <= operations[i].limit * product;
        printf("%-33s %8.1f %9.1f %11.0f%%%s\n", operations[i].name, timing_fastest(&forward) * 1000, us,
               100 * us / product, held ? "" : "  BROKEN");
        good &= held;
    }
    return good;
}

int main(int argc, char **argv) {
    (void)argc, (void)argv;
    static bench b;
    berth_ctx *ctx = NULL;
    bool good = berth_ctx_new(&ctx, NULL) == BERTH_OK && berth_tape_new(ctx, &b.tape) == BERTH_OK;
    berth_params_init(&b.params, ctx);
    good = good && berth_params_add(&b.params, "x", ROWS, WIDTH) >= 0 &&
           berth_params_add(&b.params, "w", WIDTH, WIDTH) >= 0 && berth_params_add(&b.params, "b", 1, WIDTH) >= 0 &&
           berth_params_add(&b.params, "c", 1, WIDTH) >= 0 && berth_params_fix(&b.params) == BERTH_OK;
    if (good) {
        set_up(&b);
        good = measure(&b);
    }
    berth_params_deinit(&b.params);
    berth_tape_free(b.tape);
    berth_ctx_free(ctx);
    return good ? 0 : 1;
}
