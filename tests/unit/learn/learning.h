/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of `hsdag` by settings in words, and the tally of runs that learn against the same that do not. */
#ifndef BERTH_TESTS_LEARNING_H
#define BERTH_TESTS_LEARNING_H

#include "problems.h"

#include "learn/learn.h"

#include <math.h>
#include <stdio.h>

/* Defaults but for what `first` and `then` say: settings separated by blanks. */
static inline berth_settings learning_settings(berth_ctx *ctx, const char *first, const char *then) {
    berth_settings settings;
    char copy[400], *rest = copy;
    snprintf(copy, sizeof copy, "%s %s", first, then);
    assert_int_equal(berth_settings_default(ctx, &settings, "hsdag"), BERTH_OK);
    for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        if (berth_settings_set(ctx, &settings, word) != BERTH_OK) fail_msg("%s", berth_ctx_message(ctx));
    return settings;
}

static inline void learning_run(berth_search *search, const berth_settings *settings, berth_policy *policy) {
    const berth_learn learn = {.settings = settings, .policy = policy};
    search->learn = &learn;
    if (berth_learn_hsdag(search) != BERTH_OK) fail_msg("%s", berth_ctx_message(search->ctx));
    search->learn = NULL;
    assert_true(search->evaluations <= search->budget.evaluations);
}

typedef struct learning_tally {
    const berth_settings *on, *off;
    int64_t evaluations;
    double sum; /* of logarithms of ratios */
    int n, n_better;
} learning_tally;

/* Both from the same seed. */
static inline void learning_pair(berth_ctx *ctx, learning_tally *tally, const berth_problem *problem, uint64_t seed) {
    berth_search *with = support_search(ctx, problem, seed, tally->evaluations, 1),
                 *without = support_search(ctx, problem, seed, tally->evaluations, 1);
    learning_run(with, tally->on, NULL);
    learning_run(without, tally->off, NULL);
    tally->sum += log(with->best_ms / without->best_ms);
    tally->n_better += with->best_ms < without->best_ms;
    tally->n++;
    berth_search_free(with);
    berth_search_free(without);
}

/* At least 5 % better in the mean, and worse in two pairs at most. */
static inline void learning_check(const learning_tally *tally) {
    double ratio = exp(tally->sum / tally->n);
    print_message("%d evaluations: %.3f of the control, better in %d of %d\n", (int)tally->evaluations, ratio,
                  tally->n_better, tally->n);
    assert_true(ratio < 0.95);
    assert_true(tally->n_better >= tally->n - 2);
}

#endif
