/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters and Adam. Layout is decided first, by declaring; then four arrays are made, and each parameter is a window
 * of two of them. Between the two steps there are no tensors. */
#include "tensor/params.h"

#include "tensor/reduce.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void berth_params_init(berth_params *params, berth_ctx *ctx) {
    *params = (berth_params){.ctx = ctx};
}

void berth_params_deinit(berth_params *params) {
    if (!params->ctx) return;
    const berth_allocator *allocator = berth_ctx_allocator(params->ctx);
    berth_real **arrays[] = {&params->value, &params->grad, &params->moment1, &params->moment2};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        berth_resize(allocator, *arrays[i], params->n, 0, sizeof(berth_real));
        *arrays[i] = NULL;
    }
    berth_resize(allocator, params->items, (size_t)params->cap_items, 0, sizeof *params->items);
    *params = (berth_params){.ctx = params->ctx};
}

int32_t berth_params_add(berth_params *params, const char *name, int32_t rows, int32_t cols) {
    assert(!params->value && rows > 0 && cols > 0 && strlen(name) < sizeof params->items->name);
    assert(!berth_params_find(params, name));
    if (params->n_items == params->cap_items) {
        int32_t cap = params->cap_items ? 2 * params->cap_items : 16;
        void *items = berth_resize(berth_ctx_allocator(params->ctx), params->items, (size_t)params->cap_items,
                                   (size_t)cap, sizeof *params->items);
        if (!items) {
            params->failed = true;
            return -1;
        }
        params->items = items;
        params->cap_items = cap;
    }
    berth_param *param = &params->items[params->n_items];
    *param = (berth_param){.tensor = {.rows = rows, .cols = cols}};
    memcpy(param->name, name, strlen(name) + 1);
    params->n += (size_t)rows * (size_t)cols;
    return params->n_items++;
}

berth_status berth_params_fix(berth_params *params) {
    assert(!params->value);
    const berth_allocator *allocator = berth_ctx_allocator(params->ctx);
    berth_real **arrays[] = {&params->value, &params->grad, &params->moment1, &params->moment2};
    if (params->failed) return berth_fail_nomem(params->ctx);
    for (size_t i = 0; params->n && i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = berth_resize(allocator, NULL, 0, params->n, sizeof(berth_real));
        if (!*arrays[i]) return berth_fail_nomem(params->ctx);
    }
    size_t first = 0;
    for (int32_t i = 0; i < params->n_items; i++) {
        berth_matrix *tensor = &params->items[i].tensor;
        tensor->value = params->value + first;
        tensor->grad = params->grad + first;
        first += (size_t)tensor->rows * (size_t)tensor->cols;
    }
    return BERTH_OK;
}

berth_matrix *berth_params_at(berth_params *params, int32_t index) {
    assert(index >= 0 && index < params->n_items);
    return &params->items[index].tensor;
}

berth_matrix *berth_params_find(berth_params *params, const char *name) {
    for (int32_t i = 0; i < params->n_items; i++)
        if (strcmp(params->items[i].name, name) == 0) return &params->items[i].tensor;
    return NULL;
}

void berth_param_uniform(berth_matrix *tensor, double limit, berth_rng *rng) {
    size_t n = (size_t)tensor->rows * (size_t)tensor->cols;
    for (size_t i = 0; i < n; i++) tensor->value[i] = (berth_real)(limit * (2 * berth_rng_uniform(rng) - 1));
}

void berth_param_fill(berth_matrix *tensor, double value) {
    size_t n = (size_t)tensor->rows * (size_t)tensor->cols;
    for (size_t i = 0; i < n; i++) tensor->value[i] = (berth_real)value;
}

void berth_params_zero_grad(berth_params *params) {
    if (params->n) memset(params->grad, 0, params->n * sizeof *params->grad);
}

double berth_params_norm(const berth_params *params) {
    return sqrt(berth_dot_of(params->n, params->grad, params->grad));
}

/* Kingma and Ba's algorithm 1 in the order of its section 2: the corrections of both moments go into the rate and the
 * epsilon, so that they are divided by once instead of per number:
 * rate * (m / c1) / (sqrt(v / c2) + eps) = (rate / c1 * sqrt(c2)) * m / (sqrt(v) + eps * sqrt(c2)). */
double berth_params_step(berth_params *params, const berth_adam *adam) {
    double norm = berth_params_norm(params);
    if (!isfinite(norm)) return norm;
    params->steps++;
    double c1 = 1 - pow(adam->beta1, (double)params->steps), c2 = 1 - pow(adam->beta2, (double)params->steps);
    berth_real shrink = (berth_real)(adam->clip > 0 && norm > adam->clip ? adam->clip / norm : 1);
    berth_real rate = (berth_real)(adam->rate / c1 * sqrt(c2)), eps = (berth_real)(adam->eps * sqrt(c2));
    berth_real keep1 = (berth_real)adam->beta1, new1 = (berth_real)(1 - adam->beta1);
    berth_real keep2 = (berth_real)adam->beta2, new2 = (berth_real)(1 - adam->beta2);
    berth_real *restrict value = params->value, *restrict m = params->moment1, *restrict v = params->moment2;
    const berth_real *restrict grad = params->grad;
    for (size_t i = 0; i < params->n; i++) {
        berth_real g = grad[i] * shrink;
        m[i] = keep1 * m[i] + new1 * g;
        v[i] = keep2 * v[i] + new2 * g * g;
        value[i] -= rate * m[i] / ((berth_real)sqrt(v[i]) + eps);
    }
    return norm;
}

void berth_params_copy(berth_params *to, const berth_params *from) {
    assert(to->n == from->n && to->n_items == from->n_items);
    to->steps = from->steps;
    if (!from->n) return;
    memcpy(to->value, from->value, from->n * sizeof *to->value);
    memcpy(to->moment1, from->moment1, from->n * sizeof *to->moment1);
    memcpy(to->moment2, from->moment2, from->n * sizeof *to->moment2);
}
