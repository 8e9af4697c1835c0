/* SPDX-License-Identifier: Apache-2.0 */
/* Studies: arms (methods with settings) on cases (graphs on devices), and what came of each run. */
#ifndef BERTH_PLACE_STUDY_H
#define BERTH_PLACE_STUDY_H

#include "base/arena.h"
#include "base/vec.h"
#include "berth/bench.h"

enum { BERTH_STUDY_MARKS = 5 };
extern const int64_t berth_study_marks[BERTH_STUDY_MARKS]; /* evaluations after which the best is written down */

/* --- cases and arms: study_tables.c ------------------------------------------------------------------------------ */

typedef struct berth_study_case {
    char name[64];            /* "layers/4/concurrent" */
    const char *architecture; /* what resampling takes as one: models of one network, graphs of one kind */
    const char *model;        /* a file below the folder of models; NULL: a generated graph */
    const char *profiles;     /* of devices; NULL: generated ones */
    berth_case how;           /* kind and n_ops for a generated graph only */
} berth_study_case;

/* Case `index` of a suite; false past the end. */
bool berth_study_case_at(const char *suite, int32_t index, berth_study_case *out);
berth_status berth_study_case_load(berth_ctx *ctx, const berth_study_case *item, const char *models,
                                   berth_graph **graph, berth_device_set **devices);

typedef enum berth_arm_where { BERTH_ARM_EVERYWHERE, BERTH_ARM_MODELS, BERTH_ARM_CUT } berth_arm_where;

typedef struct berth_arm {
    const char *name, *method;
    const char *set[6];  /* settings; NULL ends them */
    bool seeded;         /* starts from the best of the methods that build */
    bool once;           /* no random numbers: one seed stands for all */
    bool timed;          /* as many seconds as the first arm took, instead of evaluations */
    bool pretrained;     /* starts from the policy */
    int64_t evaluations; /* 0: those of the study */
    berth_arm_where where;
    const char *base; /* in an ablation: the arm that it is compared with */
    const char *what; /* in words */
} berth_arm;

/* Arm `index` of a suite; NULL past the end. The first is what the others are compared with. */
const berth_arm *berth_study_arm_at(const char *suite, int32_t index);
int32_t berth_study_arm_find(const char *suite, const char *name); /* -1: none */
bool berth_study_arm_runs(const berth_arm *arm, const berth_study_case *item, const berth_study_options *options);

/* --- results: study_rows.c --------------------------------------------------------------------------------------- */

typedef struct berth_study_row {
    int32_t case_index, arm, seed;
    double makespan_ms; /* INFINITY: nothing feasible */
    double marks_ms[BERTH_STUDY_MARKS];
    double seconds, cpu_seconds;
    int64_t evaluations;
    const char *source;
} berth_study_row;

/* All runs of a suite with that budget that are known, [case][arm][seed]; NULL where there is none. */
typedef struct berth_study_rows {
    berth_arena arena;
    int32_t n_cases, n_arms, n_seeds;
    berth_study_case *cases;
    const berth_study_row **rows;
    int32_t n_rows;
} berth_study_rows;

berth_status berth_study_rows_read(berth_ctx *ctx, berth_study_rows *out, const berth_study_options *options);
void berth_study_rows_free(berth_study_rows *rows);
berth_status berth_study_row_append(berth_ctx *ctx, const berth_study_options *options, const berth_study_case *item,
                                    const berth_study_row *row);
/* A copy of the row at its place. */
bool berth_study_rows_put(berth_study_rows *rows, const berth_study_row *row);
/* The run, or that of seed 0 if the arm draws nothing at random; NULL: not there. */
const berth_study_row *berth_study_rows_at(const berth_study_rows *rows, const char *suite, int32_t item, int32_t arm,
                                           int32_t seed);

/* --- running: study.c --------------------------------------------------------------------------------------------- */

/* BERTH_E_ARG if the options make no sense. */
berth_status berth_study_check(berth_ctx *ctx, const berth_study_options *options);

/* --- ratios: study_ratios.c -------------------------------------------------------------------------------------- */

enum { BERTH_STUDY_FINAL = -1 };

typedef bool (*berth_study_filter)(const berth_study_case *item);

typedef struct berth_ratio {
    double mean;      /* geometric, over cases and seeds that both arms have; NAN: none */
    double low, high; /* 95 % of resamplings of architectures */
    int32_t n_cases, n_pairs, n_better, n_worse;
} berth_ratio;

/* Makespans of arm a over those of b: final ones, or at the number of a mark. A run that found nothing counts as ten
 * times the worst that any arm found there. */
typedef struct berth_ratio_query {
    int32_t a, mark_a, b, mark_b;
    berth_study_filter filter; /* cases; NULL: all */
    const bool *skip;          /* [n_cases] cases to leave out; NULL: none */
    bool one_seed;             /* only pairs of `seed` */
    int32_t seed;
} berth_ratio_query;

berth_ratio berth_study_ratio(const berth_study_rows *rows, const char *suite, const berth_ratio_query *query);
/* The geometric mean over seeds on one case; NAN: no pairs. */
double berth_study_case_ratio(const berth_study_rows *rows, const char *suite, int32_t item, int32_t a, int32_t b);

#endif
