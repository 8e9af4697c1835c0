/* SPDX-License-Identifier: Apache-2.0 */
/* The device network, and drawing from what it says. */
#include "policy/head.h"

#include <math.h>

bool berth_head_declare(berth_head *head, berth_params *params, int32_t width, int32_t hidden, int32_t n_devices) {
    head->weight[0] = berth_params_add(params, "classifier.0.weight", hidden, width);
    head->bias[0] = berth_params_add(params, "classifier.0.bias", 1, hidden);
    head->weight[1] = berth_params_add(params, "classifier.2.weight", n_devices, hidden);
    head->bias[1] = berth_params_add(params, "classifier.2.bias", 1, n_devices);
    return head->weight[0] >= 0 && head->bias[0] >= 0 && head->weight[1] >= 0 && head->bias[1] >= 0;
}

void berth_head_reset(const berth_head *head, berth_params *params, berth_rng *rng) {
    for (int i = 0; i < 2; i++) {
        berth_matrix *weight = berth_params_at(params, head->weight[i]);
        berth_param_uniform(weight, 1 / sqrt(weight->cols), rng);
        berth_param_uniform(berth_params_at(params, head->bias[i]), 1 / sqrt(weight->cols), rng);
    }
}

static berth_matrix *linear(const berth_head *head, const berth_run *run, int i, berth_matrix *x) {
    return berth_linear(run->tape, x, berth_params_at(run->params, head->weight[i]),
                        berth_params_at(run->params, head->bias[i]));
}

berth_matrix *berth_head_forward(const berth_head *head, const berth_run *run, berth_matrix *f, const uint64_t *mask) {
    berth_matrix *hidden = berth_relu(run->tape, linear(head, run, 0, f));
    return berth_log_softmax(run->tape, linear(head, run, 1, hidden), mask);
}

/* The first column at which the probabilities add up to more than u; the last possible one if rounding leaves some. */
static int32_t draw_row(const berth_real *log_p, int32_t n, double u) {
    int32_t last = -1;
    for (int32_t c = 0; c < n; c++) {
        double p = exp((double)log_p[c]);
        if (!(p > 0)) continue;
        last = c;
        u -= p;
        if (u < 0) break;
    }
    return last;
}

berth_status berth_draw(berth_ctx *ctx, const berth_matrix *log_p, berth_rng *rng, int32_t *column) {
    for (int32_t r = 0; r < log_p->rows; r++) {
        column[r] = draw_row(log_p->value + (int64_t)r * log_p->cols, log_p->cols, berth_rng_uniform(rng));
        if (column[r] < 0) return berth_fail(ctx, BERTH_E_NUMERIC, "probabilities are no longer numbers");
    }
    return BERTH_OK;
}
