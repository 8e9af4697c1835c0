/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks of layers. The number in a parameter's name is the place of its layer in a list that also counts norms,
 * activations and dropouts, as in the modules that the parameters were recorded from. A neighbourhood is summed before
 * the product: the same number by the distributive law, and the first sum is shared by all networks on one input. */
#include "policy/layers.h"

#include <math.h>
#include <stdio.h>

static bool is_active(const berth_mlp *mlp, int32_t i) {
    return mlp->n_layers > 1 && (i < mlp->n_layers - 1 || mlp->act_final);
}

static int32_t declare(berth_params *params, const char *name, int32_t place, const char *what, int32_t rows,
                       int32_t cols) {
    char full[128]; /* the parameters' own limit is smaller, and asserted there */
    if (place >= 0)
        snprintf(full, sizeof full, "%s.%d.%s", name, (int)place, what);
    else
        snprintf(full, sizeof full, "%s.%s", name, what);
    return berth_params_add(params, full, rows, cols);
}

static berth_matrix *at(const berth_run *run, int32_t index) {
    return berth_params_at(run->params, index);
}

static void reset_norm(berth_params *params, int32_t gain, int32_t shift) {
    berth_param_fill(berth_params_at(params, gain), 1);
    berth_param_fill(berth_params_at(params, shift), 0);
}

static const double norm_eps = 1e-5;

/* Where nothing else uses x, in its place. */
static berth_matrix *activate(const berth_run *run, berth_matrix *x, bool over) {
    if (over) return berth_relu_dropout_over(run->tape, x, run->dropout, run->rng);
    return berth_relu_dropout(run->tape, x, run->dropout, run->rng);
}

/* --- linear layers ---------------------------------------------------------------------------------------------- */

bool berth_mlp_declare(berth_mlp *mlp, berth_params *params, const char *name, int32_t in, int32_t hidden,
                       int32_t out) {
    char list[48];
    int32_t place = 0;
    bool ok = true;
    snprintf(list, sizeof list, "%s.mlp", name);
    for (int32_t i = 0; i < mlp->n_layers; i++) {
        int32_t from = i == 0 ? in : hidden, to = i == mlp->n_layers - 1 ? out : hidden;
        mlp->weight[i] = declare(params, list, place, "weight", to, from);
        mlp->bias[i] = declare(params, list, place++, "bias", 1, to);
        ok = ok && mlp->weight[i] >= 0 && mlp->bias[i] >= 0;
        if (!is_active(mlp, i)) continue;
        if (mlp->norm == BERTH_MLP_INSERT) {
            mlp->gain[i] = declare(params, list, place, "weight", 1, to);
            mlp->shift[i] = declare(params, list, place++, "bias", 1, to);
            ok = ok && mlp->gain[i] >= 0 && mlp->shift[i] >= 0;
        }
        place += 2;
    }
    if (mlp->norm != BERTH_MLP_POST || mlp->n_layers == 0) return ok;
    mlp->post_gain = declare(params, name, -1, "norm.weight", 1, out);
    mlp->post_shift = declare(params, name, -1, "norm.bias", 1, out);
    return ok && mlp->post_gain >= 0 && mlp->post_shift >= 0;
}

void berth_mlp_reset(const berth_mlp *mlp, berth_params *params, berth_rng *rng) {
    for (int32_t i = 0; i < mlp->n_layers; i++) {
        berth_matrix *weight = berth_params_at(params, mlp->weight[i]);
        double limit = 1 / sqrt(weight->cols);
        berth_param_uniform(weight, limit, rng);
        berth_param_uniform(berth_params_at(params, mlp->bias[i]), limit, rng);
        if (mlp->norm == BERTH_MLP_INSERT && is_active(mlp, i)) reset_norm(params, mlp->gain[i], mlp->shift[i]);
    }
    if (mlp->norm == BERTH_MLP_POST && mlp->n_layers > 0) reset_norm(params, mlp->post_gain, mlp->post_shift);
}

berth_matrix *berth_mlp_layer(const berth_mlp *mlp, const berth_run *run, int32_t i, berth_matrix *x) {
    x = berth_linear(run->tape, x, at(run, mlp->weight[i]), at(run, mlp->bias[i]));
    if (!is_active(mlp, i)) return x;
    if (mlp->norm != BERTH_MLP_INSERT) return x;
    return berth_layer_norm(run->tape, x, at(run, mlp->gain[i]), at(run, mlp->shift[i]), norm_eps);
}

berth_matrix *berth_mlp_after(const berth_mlp *mlp, const berth_run *run, int32_t i, berth_matrix *x, bool over) {
    if (is_active(mlp, i)) x = activate(run, x, over);
    for (i++; i < mlp->n_layers; i++) {
        x = berth_mlp_layer(mlp, run, i, x);
        if (is_active(mlp, i)) x = activate(run, x, true);
    }
    return x;
}

berth_matrix *berth_mlp_forward(const berth_mlp *mlp, const berth_run *run, berth_matrix *x) {
    if (mlp->n_layers == 0) return x;
    berth_matrix *y = berth_mlp_after(mlp, run, 0, berth_mlp_layer(mlp, run, 0, x), true);
    if (mlp->norm != BERTH_MLP_POST) return y;
    return berth_add_norm(run->tape, x, y, at(run, mlp->post_gain), at(run, mlp->post_shift), norm_eps);
}

/* --- graph convolutions ----------------------------------------------------------------------------------------- */

bool berth_gcn_sums(berth_arena *arena, const berth_links *links, berth_csr *out) {
    size_t n = (size_t)links->n_nodes, n_entries = n + (size_t)links->n_pairs;
    int32_t *start = berth_arena_push(arena, n + 1, sizeof *start);
    int32_t *index = berth_arena_push(arena, n_entries, sizeof *index);
    berth_real *weight = berth_arena_push(arena, n_entries, sizeof *weight);
    double *scale = berth_arena_push(arena, n, sizeof *scale);
    int32_t k = 0;
    if (arena->failed) return false;
    for (size_t v = 0; v < n; v++) scale[v] = 1 / sqrt(1 + links->start[v + 1] - links->start[v]);
    for (int32_t v = 0; v < links->n_nodes; v++) {
        weight[k] = (berth_real)(scale[v] * scale[v]);
        index[k++] = v;
        for (int32_t pair = links->start[v]; pair < links->start[v + 1]; pair++) {
            weight[k] = (berth_real)(scale[v] * scale[links->target[pair]]);
            index[k++] = links->target[pair];
        }
        start[v + 1] = k;
    }
    *out = (berth_csr){links->n_nodes, links->n_nodes, start, index, weight};
    return true;
}

bool berth_gnn_declare(berth_gnn *gnn, berth_params *params, const char *name, int32_t hidden) {
    char list[48];
    bool ok = true;
    snprintf(list, sizeof list, "%s.gnn", name);
    for (int32_t i = 0; i < gnn->n_layers; i++) {
        gnn->bias[i] = declare(params, list, 3 * i, "bias", 1, hidden);
        gnn->weight[i] = declare(params, list, 3 * i, "lin.weight", hidden, hidden);
        ok = ok && gnn->bias[i] >= 0 && gnn->weight[i] >= 0;
    }
    if (gnn->n_layers == 0) return ok;
    gnn->gain = declare(params, name, -1, "norm.weight", 1, hidden);
    gnn->shift = declare(params, name, -1, "norm.bias", 1, hidden);
    return ok && gnn->gain >= 0 && gnn->shift >= 0;
}

void berth_gnn_reset(const berth_gnn *gnn, berth_params *params, berth_rng *rng) {
    for (int32_t i = 0; i < gnn->n_layers; i++) {
        berth_matrix *weight = berth_params_at(params, gnn->weight[i]);
        berth_param_uniform(weight, sqrt(6.0 / (weight->rows + weight->cols)), rng);
        berth_param_fill(berth_params_at(params, gnn->bias[i]), 0);
    }
    if (gnn->n_layers > 0) reset_norm(params, gnn->gain, gnn->shift);
}

berth_matrix *berth_gnn_forward(const berth_gnn *gnn, const berth_run *run, berth_matrix *x, berth_matrix *summed,
                                const berth_csr *sums) {
    if (gnn->n_layers == 0) return x;
    berth_matrix *y = NULL;
    for (int32_t i = 0; i < gnn->n_layers; i++) {
        y = berth_linear(run->tape, i == 0 ? summed : berth_sparse(run->tape, y, sums, sums), at(run, gnn->weight[i]),
                         at(run, gnn->bias[i]));
        if (i == gnn->n_layers - 1 && !gnn->act_final) break;
        y = activate(run, y, true);
    }
    return berth_add_norm(run->tape, x, y, at(run, gnn->gain), at(run, gnn->shift), norm_eps);
}
