/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a policy, how methods share one, and the step that notices divergence. */
#include "learn/policy.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these nothing comes back: gradients of the published losses stay below 1e7, weights below 10. */
static const double most_norm = 1e12, most_weight = 1e4;

berth_status berth_policy_new(berth_ctx *ctx, berth_policy **out, const berth_settings *settings) {
    *out = NULL;
    berth_policy *policy = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *policy);
    if (!policy) return berth_fail_nomem(ctx);
    policy->ctx = ctx;
    policy->settings = *settings;
    berth_params_init(&policy->params, ctx);
    *out = policy;
    return BERTH_OK;
}

static void free_text(const berth_allocator *allocator, berth_policy_text *text) {
    if (text->text) berth_resize(allocator, text->text, strlen(text->text) + 1, 0, 1);
    text->text = NULL;
}

void berth_policy_free(berth_policy *policy) {
    if (!policy) return;
    const berth_allocator *allocator = berth_ctx_allocator(policy->ctx);
    if (policy->kept) berth_resize(allocator, policy->kept, 3 * policy->kept_n, 0, sizeof *policy->kept);
    berth_vec_free(allocator, &policy->training.history);
    for (int i = 0; i < BERTH_POLICY_TEXTS; i++) free_text(allocator, &policy->text[i]);
    berth_params_deinit(&policy->params);
    berth_resize(allocator, policy, 1, 0, sizeof *policy);
}

const berth_settings *berth_policy_settings(const berth_policy *policy) {
    return &policy->settings;
}

int64_t berth_policy_size(const berth_policy *policy) {
    return (int64_t)policy->params.n;
}

int64_t berth_policy_episodes(const berth_policy *policy) {
    return (int64_t)policy->training.history.n;
}

const berth_episode *berth_policy_episode(const berth_policy *policy, int64_t index) {
    return &policy->training.history.items[index];
}

berth_settings *berth_policy_change(berth_policy *policy) {
    return &policy->settings;
}

berth_training *berth_policy_training(berth_policy *policy) {
    return &policy->training;
}

int64_t berth_learn_episode_length(const berth_settings *settings, const berth_problem *problem) {
    int64_t steps = (int64_t)berth_settings_get(settings, BERTH_SET_STEPS);
    if (strcmp(settings->method, "placeto") == 0) return problem->n_units + 1; /* one node after another */
    if (strcmp(settings->method, "hsdag") == 0) return 500;
    return steps;
}

/* --- for methods ------------------------------------------------------------------------------------------------ */

berth_status berth_policy_begin(berth_search *search, const char *method, berth_policy **out) {
    const berth_learn *learn = search->learn;
    berth_settings settings;
    if (learn && learn->policy) {
        *out = learn->policy;
        return BERTH_OK;
    }
    *out = NULL;
    if (learn && learn->settings)
        settings = *learn->settings;
    else
        BERTH_TRY(berth_settings_default(search->ctx, &settings, method));
    return berth_policy_new(search->ctx, out, &settings);
}

void berth_policy_end(berth_search *search, berth_policy *policy) {
    if (!search->learn || policy != search->learn->policy) berth_policy_free(policy);
}

static berth_status compare(berth_ctx *ctx, const berth_params *have, const berth_params *want) {
    if (have->n_items != want->n_items)
        return berth_fail(ctx, BERTH_E_ARG, "the policy has %d parameters, this network %d", (int)have->n_items,
                          (int)want->n_items);
    for (int32_t i = 0; i < have->n_items; i++) {
        const berth_param *a = &have->items[i], *b = &want->items[i];
        if (strcmp(a->name, b->name) != 0)
            return berth_fail(ctx, BERTH_E_ARG, "the policy has a parameter %s where this network has %s", a->name,
                              b->name);
        if (a->tensor.rows != b->tensor.rows || a->tensor.cols != b->tensor.cols)
            return berth_fail(ctx, BERTH_E_ARG, "the policy's parameter %s is %d x %d, that of this network %d x %d",
                              a->name, (int)a->tensor.rows, (int)a->tensor.cols, (int)b->tensor.rows,
                              (int)b->tensor.cols);
    }
    return BERTH_OK;
}

berth_status berth_policy_adopt(berth_ctx *ctx, berth_policy *policy, berth_params *layout, bool *fresh) {
    *fresh = policy->params.n_items == 0;
    berth_status status;
    if (layout->failed) {
        status = berth_fail_nomem(ctx);
    } else if (!*fresh) {
        status = compare(ctx, &policy->params, layout);
    } else {
        berth_params taken = *layout;
        berth_params_init(layout, ctx);
        taken.ctx = policy->ctx;
        policy->params = taken;
        status = berth_params_fix(&policy->params) == BERTH_OK ? BERTH_OK : berth_fail_nomem(ctx);
        if (status != BERTH_OK) { /* a layout without numbers would pass for a policy that has learnt */
            berth_params_deinit(&policy->params);
            berth_params_init(&policy->params, policy->ctx);
        }
    }
    berth_params_deinit(layout);
    berth_params_init(layout, ctx);
    return status;
}

double *berth_policy_number_at(berth_policy *policy, const char *name, double initial) {
    int i = 0;
    while (i < BERTH_POLICY_NUMBERS && *policy->number[i].name && strcmp(policy->number[i].name, name) != 0) i++;
    assert(i < BERTH_POLICY_NUMBERS);
    berth_policy_number *number = &policy->number[i];
    if (!*number->name) {
        snprintf(number->name, sizeof number->name, "%s", name);
        number->value = initial;
    }
    return &number->value;
}

const char *berth_policy_text_of(const berth_policy *policy, const char *name) {
    for (int i = 0; i < BERTH_POLICY_TEXTS; i++)
        if (strcmp(policy->text[i].name, name) == 0) return policy->text[i].text;
    return NULL;
}

berth_status berth_policy_set_text(berth_ctx *ctx, berth_policy *policy, const char *name, const char *text) {
    const berth_allocator *allocator = berth_ctx_allocator(policy->ctx);
    int i = 0;
    while (i < BERTH_POLICY_TEXTS && *policy->text[i].name && strcmp(policy->text[i].name, name) != 0) i++;
    assert(i < BERTH_POLICY_TEXTS);
    size_t size = strlen(text) + 1;
    char *copy = berth_resize(allocator, NULL, 0, size, 1);
    if (!copy) return berth_fail_nomem(ctx);
    memcpy(copy, text, size);
    free_text(allocator, &policy->text[i]);
    policy->text[i].text = copy;
    snprintf(policy->text[i].name, sizeof policy->text[i].name, "%s", name);
    return BERTH_OK;
}

/* --- steps ------------------------------------------------------------------------------------------------------ */

static bool weights_are_sane(const berth_params *params) {
    double sum = 0;
    for (size_t i = 0; i < params->n; i++) sum += (double)params->value[i] * (double)params->value[i];
    return sum <= most_weight * most_weight * (double)params->n; /* false for NaN */
}

berth_status berth_policy_step(berth_ctx *ctx, berth_policy *policy, double *norm) {
    berth_adam adam = {
        .rate = berth_settings_get(&policy->settings, BERTH_SET_LEARNING_RATE),
        .beta1 = 0.9,
        .beta2 = 0.999,
        .eps = 1e-8,
        .clip = berth_settings_get(&policy->settings, BERTH_SET_GRADIENT_NORM),
    };
    double before = berth_params_norm(&policy->params);
    if (norm) *norm = before;
    if (!(before <= most_norm))
        return berth_fail(ctx, BERTH_E_NUMERIC, "learning diverged: the norm of the gradient is %.3g", before);
    berth_params_step(&policy->params, &adam);
    if (weights_are_sane(&policy->params)) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_NUMERIC, "learning diverged: weights beyond all measure");
}

/* --- the last good state ---------------------------------------------------------------------------------------- */

berth_status berth_policy_keep(berth_policy *policy) {
    const berth_params *p = &policy->params;
    size_t n = p->n, bytes = n * sizeof *policy->kept;
    if (policy->kept_n != n) {
        berth_real *kept =
            berth_resize(berth_ctx_allocator(policy->ctx), policy->kept, 3 * policy->kept_n, 3 * n, sizeof *kept);
        if (!kept && n > 0) return berth_fail_nomem(policy->ctx);
        policy->kept = kept;
        policy->kept_n = n;
    }
    if (n > 0) {
        memcpy(policy->kept, p->value, bytes);
        memcpy(policy->kept + n, p->moment1, bytes);
        memcpy(policy->kept + 2 * n, p->moment2, bytes);
    }
    policy->kept_steps = p->steps;
    memcpy(policy->kept_number, policy->number, sizeof policy->number);
    return BERTH_OK;
}

void berth_policy_go_back(berth_policy *policy) {
    berth_params *p = &policy->params;
    size_t n = p->n, bytes = n * sizeof *policy->kept;
    memcpy(policy->number, policy->kept_number, sizeof policy->number);
    if (policy->kept_n != n) { /* there was nothing to keep: the first round made the parameters */
        berth_params_deinit(p);
        berth_params_init(p, policy->ctx);
        return;
    }
    if (n == 0) return;
    memcpy(p->value, policy->kept, bytes);
    memcpy(p->moment1, policy->kept + n, bytes);
    memcpy(p->moment2, policy->kept + 2 * n, bytes);
    p->steps = policy->kept_steps;
}
