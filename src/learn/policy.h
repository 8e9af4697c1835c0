/* SPDX-License-Identifier: Apache-2.0 */
/* A policy: what a learned method knows and needs to go on learning, from one search to the next and, through
 * checkpoint.c, from one process to the next.
 *
 * A method asks for one, declares its parameters, and fills them with initial weights if they are fresh:
 *
 *     berth_policy *policy = NULL;
 *     BERTH_TRY(berth_policy_begin(search, "hsdag", &policy));
 *     berth_params layout;
 *     berth_params_init(&layout, search->ctx);
 *     ... berth_params_add(&layout, ...) ...                               no memory: adopt says so
 *     bool fresh;
 *     status = berth_policy_adopt(search->ctx, policy, &layout, &fresh);   the layout is empty afterwards, whatever
 * came of it if (fresh) ... initial weights, from search->rng ...
 *     ... learn: policy->params, policy->number[...], berth_policy_step ...
 *     berth_policy_end(search, policy);
 *
 * Everything that outlives a search is in here and goes into the file: parameters with the moments of Adam, texts that
 * say what their columns mean, and up to BERTH_POLICY_NUMBERS running numbers by name. Random numbers come from
 * search->rng, which whoever trains starts anew for each search from the seed and the number of searches so far: a
 * training that goes on from a file makes the same steps as one that was never interrupted. Work that spans several
 * updates (a current placement, a temperature) belongs to one search and ends with it. */
#ifndef BERTH_LEARN_POLICY_H
#define BERTH_LEARN_POLICY_H

#include "learn/learn.h"
#include "tensor/params.h"

enum { BERTH_POLICY_NUMBERS = 16 };

/* What columns mean, such as the operation types that a network knows: written by whoever makes the parameters, read by
 * whoever uses them. */
enum { BERTH_POLICY_TEXTS = 8 };
typedef struct berth_policy_text {
    char name[32];
    char *text; /* owned; without NULs */
} berth_policy_text;

/* A running number, such as the mean of rewards. Names are unique; "" ends the list. */
typedef struct berth_policy_number {
    char name[32];
    double value;
} berth_policy_number;

struct berth_policy {
    berth_ctx *ctx;
    berth_settings settings;
    berth_params params; /* none (n_items 0) before the first search */
    berth_policy_number number[BERTH_POLICY_NUMBERS];
    berth_policy_text text[BERTH_POLICY_TEXTS];

    berth_training training;
    berth_real *kept; /* [3 * kept_n] values and moments of the last good state, or NULL */
    size_t kept_n;
    int64_t kept_steps;
    berth_policy_number kept_number[BERTH_POLICY_NUMBERS];
};

/* The policy of search->learn, or a new one with its settings, or with the defaults of `method`. */
berth_status berth_policy_begin(berth_search *search, const char *method, berth_policy **out);
/* Frees it unless it is that of search->learn. NULL is fine. */
void berth_policy_end(berth_search *search, berth_policy *policy);

/* Parameters of that layout (declared, not fixed). A policy without any takes them over, zeros, and *fresh is true. One
 * that has some must have the same, by name and shape: BERTH_E_ARG if not. The layout is empty afterwards. */
berth_status berth_policy_adopt(berth_ctx *ctx, berth_policy *policy, berth_params *layout, bool *fresh);

/* The running number of that name, `initial` if it is new. There is room for all that a method declares. */
double *berth_policy_number_at(berth_policy *policy, const char *name, double initial);

/* The text of that name, or NULL. */
const char *berth_policy_text_of(const berth_policy *policy, const char *name);
/* Set or replace it; the text is copied. There is room for all that a method writes. */
berth_status berth_policy_set_text(berth_ctx *ctx, berth_policy *policy, const char *name, const char *text);

/* One step of Adam with the settings learning_rate and gradient_norm. BERTH_E_NUMERIC if the gradient is not finite or
 * beyond all measure, in which case nothing is changed, or if the parameters are afterwards. */
berth_status berth_policy_step(berth_ctx *ctx, berth_policy *policy, double *norm);

#endif
