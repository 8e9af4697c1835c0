/* SPDX-License-Identifier: Apache-2.0 */
/* The verdicts on `learn`: each is a sentence, and what was found. A case counts by its mean over seeds. */
#include "place/study_verdicts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double same = 1e-9;

typedef struct judge {
    berth_study_rows *rows;
    const char *suite;
    berth_study_result *out;
} judge;

bool berth_study_is_wide(const berth_study_case *item) {
    return item->how.n_devices >= 4 && (item->how.rule == BERTH_CASE_CONCURRENT || item->how.rule == BERTH_CASE_MEMORY);
}

static bool is_model(const berth_study_case *item) {
    return item->model != NULL;
}

static bool is_cut(const berth_study_case *item) {
    return item->how.rule == BERTH_CASE_CUT;
}

static void say(judge *j, berth_verdict_state state, const char *what, const char *found) {
    const char *copy = berth_arena_string(&j->rows->arena, found, strlen(found));
    if (copy) j->out->verdicts[j->out->n_verdicts++] = (berth_verdict){state, what, copy};
}

static int32_t arm(const judge *j, const char *name) {
    return berth_study_arm_find(j->suite, name);
}

/* The ratio must be at most `most`; with `surely`, its interval too. */
static void judge_ratio(judge *j, const char *what, const char *a, int32_t mark_a, const char *b, int32_t mark_b,
                        berth_study_filter filter, double most, bool surely) {
    char found[256];
    berth_ratio_query query = {arm(j, a), mark_a, arm(j, b), mark_b, filter, j->out->ties, .one_seed = false};
    if (filter == is_cut) query.skip = NULL;
    berth_ratio ratio = berth_study_ratio(j->rows, j->suite, &query);
    if (isnan(ratio.mean)) {
        say(j, BERTH_VERDICT_OPEN, what, "no runs");
        return;
    }
    bool holds = ratio.mean <= most + same && (!surely || ratio.high < 1);
    snprintf(found, sizeof found, "%.4f [%.4f %.4f] on %d cases, %d pairs less and %d more of %d", ratio.mean,
             ratio.low, ratio.high, (int)ratio.n_cases, (int)ratio.n_better, (int)ratio.n_worse, (int)ratio.n_pairs);
    say(j, holds ? BERTH_VERDICT_HOLDS : BERTH_VERDICT_FAILS, what, found);
}

/* The first arm must not be worse than any of these on any case. */
static void judge_cases(judge *j, const char *what, const char *const *others) {
    char found[1024];
    size_t used = 0;
    int n = 0, n_worse = 0;
    double worst = 1;
    for (int32_t item = 0; item < j->rows->n_cases; item++)
        for (int i = 0; others[i]; i++) {
            double ratio = berth_study_case_ratio(j->rows, j->suite, item, 0, arm(j, others[i]));
            if (isnan(ratio)) continue;
            n++;
            if (ratio <= 1 + same) continue;
            n_worse++;
            worst = fmax(worst, ratio);
            if (used < sizeof found)
                used += (size_t)snprintf(found + used, sizeof found - used, "%s%s (%s, %.4f)",
                                         used ? ", " : "worse on ", j->rows->cases[item].name, others[i], ratio);
        }
    if (n == 0) snprintf(found, sizeof found, "no runs");
    if (n > 0 && n_worse == 0) snprintf(found, sizeof found, "on all of %d comparisons", n);
    say(j, n == 0 ? BERTH_VERDICT_OPEN : n_worse == 0 ? BERTH_VERDICT_HOLDS : BERTH_VERDICT_FAILS, what, found);
}

static void judge_learn(judge *j) {
    static const char *const control[] = {"hsdag, rate 0", NULL};
    static const char *const others[] = {"placeto", "rnn",    "hsdag:paper", "hsdag:code",
                                         "random",  "greedy", "metis",       NULL};
    judge_ratio(j, "single devices as only seeds, no polish: better than its control, surely", "single",
                BERTH_STUDY_FINAL, "single, rate 0", BERTH_STUDY_FINAL, NULL, 1, true);
    judge_ratio(j, "... and at 500 evaluations", "single", 2, "single, rate 0", 2, NULL, 1, true);
    judge_cases(j, "hsdag not worse than its control on any case", control);
    judge_cases(j, "hsdag not worse than other learned arms, random, greedy, metis on any case", others);
    judge_ratio(j, "hsdag at most seeds + anneal on 4 and 8 devices, concurrent or memory", "hsdag", BERTH_STUDY_FINAL,
                "seeds + anneal", BERTH_STUDY_FINAL, berth_study_is_wide, 1, false);
    judge_ratio(j, "... and 3 % below it (an aim)", "hsdag", BERTH_STUDY_FINAL, "seeds + anneal", BERTH_STUDY_FINAL,
                berth_study_is_wide, 0.97, false);
    judge_ratio(j, "at equal seconds: hsdag at most seeds + anneal (to be said, either way)", "hsdag",
                BERTH_STUDY_FINAL, "anneal, same seconds", BERTH_STUDY_FINAL, NULL, 1, false);
    judge_ratio(j, "pretrained at 100 evaluations 10 % below from scratch, on the models", "pretrained, 100",
                BERTH_STUDY_FINAL, "scratch, 100", BERTH_STUDY_FINAL, is_model, 0.9, false);
    judge_ratio(j, "two devices, serial, no overhead: within 1 % of min-cut", "hsdag", BERTH_STUDY_FINAL, "min-cut",
                BERTH_STUDY_FINAL, is_cut, 1.01, false);
}

/* Known from what improves: everything that does has the same answer, on all seeds. */
static bool is_tie(const judge *j, int32_t item) {
    static const char *const improvers[] = {"hsdag",          "hsdag, rate 0", "seeds + local",
                                            "seeds + anneal", "no learning",   "no polish"};
    double low = INFINITY, high = 0;
    int n_arms = 0;
    for (size_t i = 0; i < sizeof improvers / sizeof *improvers; i++) {
        int32_t index = arm(j, improvers[i]), n = 0;
        for (int32_t seed = 0; index >= 0 && seed < j->rows->n_seeds; seed++) {
            const berth_study_row *row = berth_study_rows_at(j->rows, j->suite, item, index, seed);
            if (!row) continue;
            n++;
            low = fmin(low, row->makespan_ms);
            high = fmax(high, row->makespan_ms);
        }
        n_arms += n > 0;
    }
    return n_arms > 1 && high <= low * (1 + same);
}

berth_status berth_study_judge(berth_ctx *ctx, berth_study_rows *rows, const char *suite, berth_study_result *out) {
    judge j = {rows, suite, out};
    *out = (berth_study_result){.rows = rows, .suite = suite};
    out->ties = berth_arena_push(&rows->arena, (size_t)rows->n_cases, sizeof *out->ties);
    if (!out->ties) return berth_fail_nomem(ctx);
    for (int32_t item = 0; item < rows->n_cases; item++) out->ties[item] = is_tie(&j, item);
    if (strcmp(suite, "learn") == 0) judge_learn(&j);
    return rows->arena.failed ? berth_fail_nomem(ctx) : BERTH_OK;
}
