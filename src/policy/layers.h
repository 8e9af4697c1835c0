/* SPDX-License-Identifier: Apache-2.0 */
/* The building blocks of the networks (shared/HSDAG.md 4.1): stacks of linear layers and of graph convolutions, named
 * as PyTorch names them, so that recorded parameters can be read. */
#ifndef BERTH_POLICY_LAYERS_H
#define BERTH_POLICY_LAYERS_H

#include "policy/links.h"
#include "tensor/ops.h"
#include "tensor/params.h"

enum { BERTH_MAX_LAYERS = 16 };

/* How a network is run: on which tape, with which share of features dropped. */
typedef struct berth_run {
    berth_tape *tape;
    berth_params *params;
    double dropout;
    berth_rng *rng; /* not used where dropout is 0 */
} berth_run;

/* --- linear layers ---------------------------------------------------------------------------------------------- */

typedef enum berth_mlp_norm {
    BERTH_MLP_PLAIN,  /* none */
    BERTH_MLP_INSERT, /* after each linear layer that is activated */
    BERTH_MLP_POST,   /* residual: norm(x + f(x)) at the end */
} berth_mlp_norm;

/* Layers of Linear, [LayerNorm,] ReLU, Dropout; the last one is Linear only unless act_final, and so is a single one.
 */
typedef struct berth_mlp {
    int32_t n_layers; /* 0: the identity */
    bool act_final;
    berth_mlp_norm norm;
    int32_t weight[BERTH_MAX_LAYERS], bias[BERTH_MAX_LAYERS];
    int32_t gain[BERTH_MAX_LAYERS], shift[BERTH_MAX_LAYERS]; /* INSERT */
    int32_t post_gain, post_shift;                           /* POST */
} berth_mlp;

/* Declares the parameters `name`.mlp.0.weight and so on. False: no memory. */
bool berth_mlp_declare(berth_mlp *mlp, berth_params *params, const char *name, int32_t in, int32_t hidden, int32_t out);
/* PyTorch's initial weights: uniform in +-1 / sqrt(inputs), also of biases; norms 1 and 0. */
void berth_mlp_reset(const berth_mlp *mlp, berth_params *params, berth_rng *rng);
berth_matrix *berth_mlp_forward(const berth_mlp *mlp, const berth_run *run, berth_matrix *x);
/* In parts: layer `i` without its activation and dropout; and everything after that, these first. `over`: in the place
 * of x, which nothing else uses. */
berth_matrix *berth_mlp_layer(const berth_mlp *mlp, const berth_run *run, int32_t i, berth_matrix *x);
berth_matrix *berth_mlp_after(const berth_mlp *mlp, const berth_run *run, int32_t i, berth_matrix *x, bool over);

/* --- graph convolutions ----------------------------------------------------------------------------------------- */

/* Layers of GCN, ReLU, Dropout; norm(x + f(x)) at the end. */
typedef struct berth_gnn {
    int32_t n_layers; /* 0: the identity */
    bool act_final;
    int32_t weight[BERTH_MAX_LAYERS], bias[BERTH_MAX_LAYERS];
    int32_t gain, shift;
} berth_gnn;

/* The neighbourhood sums of a GCN: (A + I) scaled by 1 / sqrt(degree) on both sides; symmetric. False: no memory. */
bool berth_gcn_sums(berth_arena *arena, const berth_links *links, berth_csr *out);

bool berth_gnn_declare(berth_gnn *gnn, berth_params *params, const char *name, int32_t hidden);
/* Glorot's initial weights, biases 0. */
void berth_gnn_reset(const berth_gnn *gnn, berth_params *params, berth_rng *rng);
/* `summed` is the neighbourhood sum of x, which networks on the same x share. */
berth_matrix *berth_gnn_forward(const berth_gnn *gnn, const berth_run *run, berth_matrix *x, berth_matrix *summed,
                                const berth_csr *sums);

#endif
