/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters: named matrices that are learnt, with gradients and the moments of Adam (Kingma and Ba 2015), all in four
 * flat arrays, so that norms, steps and copies are one loop. */
#ifndef BERTH_TENSOR_PARAMS_H
#define BERTH_TENSOR_PARAMS_H

#include "base/rng.h"
#include "tensor/tape.h"

typedef struct berth_param {
    char name[64];
    berth_matrix tensor; /* value and grad point into the flat arrays */
} berth_param;

typedef struct berth_params {
    berth_ctx *ctx;
    berth_param *items;
    int32_t n_items, cap_items;
    size_t n; /* numbers in all */
    berth_real *value, *grad, *moment1, *moment2;
    int64_t steps; /* of Adam so far */
    bool failed;   /* there was no memory for one of them */
} berth_params;

typedef struct berth_adam {
    double rate, beta1, beta2, eps; /* 0.9, 0.999, 1e-8 */
    double clip;                    /* norm of the gradient at most this; 0: as it is */
} berth_adam;

/* Two passes: declare everything, then fix, which allocates; tensors are valid from then on. */
void berth_params_init(berth_params *params, berth_ctx *ctx);
void berth_params_deinit(berth_params *params);
/* The index of a new parameter; -1: no memory, which fix will say again. Names are unique. */
int32_t berth_params_add(berth_params *params, const char *name, int32_t rows, int32_t cols);
berth_status berth_params_fix(berth_params *params);
berth_matrix *berth_params_at(berth_params *params, int32_t index);
berth_matrix *berth_params_find(berth_params *params, const char *name); /* or NULL */

/* Uniform in +-limit; PyTorch's default for a layer with `fan_in` inputs is limit 1 / sqrt(fan_in), Glorot's
 * sqrt(6 / (in + out)). */
void berth_param_uniform(berth_matrix *tensor, double limit, berth_rng *rng);
void berth_param_fill(berth_matrix *tensor, double value);

void berth_params_zero_grad(berth_params *params);
/* Norm of the gradient, before clipping; NAN or INFINITY if anything in it is not finite. */
double berth_params_norm(const berth_params *params);
/* One step of Adam. Returns the norm; if that is not finite, nothing is changed. */
double berth_params_step(berth_params *params, const berth_adam *adam);
/* Copies values, moments and steps of one set into another of the same layout (best or last good state). */
void berth_params_copy(berth_params *to, const berth_params *from);

#endif
