/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold of a study's results, and whether it does. */
#ifndef BERTH_PLACE_STUDY_VERDICTS_H
#define BERTH_PLACE_STUDY_VERDICTS_H

#include "place/study.h"

typedef enum berth_verdict_state { BERTH_VERDICT_OPEN, BERTH_VERDICT_HOLDS, BERTH_VERDICT_FAILS } berth_verdict_state;

typedef struct berth_verdict {
    berth_verdict_state state; /* open: the runs are not there */
    const char *what;
    const char *found;
} berth_verdict;

enum { BERTH_MAX_VERDICTS = 16 };

typedef struct berth_study_result {
    const berth_study_rows *rows;
    const char *suite;
    bool *ties; /* [n_cases] everything that improves ends the same */
    int32_t n_verdicts;
    berth_verdict verdicts[BERTH_MAX_VERDICTS];
} berth_study_result;

/* Four or eight devices side by side, with or without limits on memory. */
bool berth_study_is_wide(const berth_study_case *item);

/* Strings are in the arena of the rows. */
berth_status berth_study_judge(berth_ctx *ctx, berth_study_rows *rows, const char *suite, berth_study_result *out);

#endif
