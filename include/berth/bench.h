/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/bench.h: what benchmarks need beside berth_place(): graphs of any size, and the pace of the inner loops.
 */
#ifndef BERTH_BENCH_H
#define BERTH_BENCH_H

#include "berth/place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum berth_generated {
    BERTH_GENERATED_BRANCHES,        /* blocks of parallel chains, as in Inception */
    BERTH_GENERATED_LAYERS,          /* every operation reads one to three of the layer before */
    BERTH_GENERATED_SERIES_PARALLEL, /* nested chains and forks */
    BERTH_GENERATED_TRANSFORMER,     /* blocks of attention, head by head, and two products, each with a shortcut */
    BERTH_GENERATED_COUNT
} berth_generated;

/** "branches", "layers", "series-parallel", "transformer". */
BERTH_API const char *berth_generated_name(berth_generated kind);

/**
 * A graph of n_ops operations (a few more, to close forks) with shapes and weights, so that any device can be
 * estimated. Equal arguments give equal graphs. Free with berth_graph_free().
 * @return BERTH_OK; BERTH_E_ARG (n_ops below 1); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_graph_generate(berth_ctx *ctx, berth_graph **out, berth_generated kind,
                                                             int32_t n_ops, uint64_t seed);

/**
 * n devices, the first of them the host, that differ in peak, bandwidth, overhead, what they are good at and how they
 * are linked, scaled so that on generated graphs copies cost about as much as computing. Equal arguments give equal
 * devices. Free with berth_device_set_free().
 * @return BERTH_OK; BERTH_E_ARG (n below 1); BERTH_E_LIMIT (n above BERTH_MAX_DEVICES); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_device_set_generate(berth_ctx *ctx, berth_device_set **out, int32_t n,
                                                                  uint64_t seed);

/** Under what a case is placed. */
typedef enum berth_case_rule {
    BERTH_CASE_SERIAL,     /* one piece after another, each with an overhead */
    BERTH_CASE_CUT,        /* the same without: the minimum cut is the optimum on two devices */
    BERTH_CASE_CONCURRENT, /* devices side by side */
    BERTH_CASE_MEMORY,     /* the same, and no device has room for more than 60 % of what the whole graph needs there */
    BERTH_CASE_RULE_COUNT
} berth_case_rule;

/** "serial", "cut", "concurrent", "memory". */
BERTH_API const char *berth_case_rule_name(berth_case_rule rule);

/** A graph on devices, both generated. */
typedef struct berth_case {
    berth_generated kind;
    int32_t n_ops, n_devices;
    berth_case_rule rule;
    uint64_t seed;
} berth_case;

/** Cases to learn on: number `index` of a kind, of 100 to 400 operations on 2, 4 or 8 devices. None is in the suites of
 *  `berth bench learn`. */
BERTH_API berth_case berth_case_at(berth_generated kind, int64_t index);
/** What the case says. Free both. */
BERTH_API BERTH_MUST_CHECK berth_status berth_case_generate(berth_ctx *ctx, berth_graph **graph,
                                                            berth_device_set **devices, const berth_case *item);
/**
 * The same devices under a rule: its execution model, the overhead of pieces, and memory for this graph.
 * @return BERTH_OK; what berth_costs_new() returns
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_device_set_restrict(berth_ctx *ctx, berth_device_set *devices,
                                                                  const berth_graph *graph, berth_case_rule rule);

typedef enum berth_pace_kind {
    BERTH_PACE_EVALUATIONS, /* makespans of whole placements */
    BERTH_PACE_MOVES,       /* one unit on another device, tried from a placement that is kept */
} berth_pace_kind;

/**
 * How many a second, on one thread: the fastest of several runs that take about `seconds` together. Placements and
 * moves are drawn at random, by units of the options; of these method, budget and threads are not used.
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_measure_pace(berth_ctx *ctx, double *per_second, berth_pace_kind kind,
                                                           const berth_graph *graph, const berth_device_set *devices,
                                                           const berth_place_options *options, double seconds);

/**
 * Studies of the learned methods: "learn" (against their controls and everything else) and "ablation" (with parts of
 * them switched off), arms on cases with paired seeds. Results are lines of JSON in a file, one per run; what is there
 * is not run again, so that a study can be interrupted, killed and split over machines.
 */
typedef struct berth_study_options {
    const char *suite;
    const char *const *results; /* [n_results] files that are read; the first is appended to */
    int32_t n_results;
    const char *models;       /* folder of the bundled models */
    const char *policy;       /* a pretrained policy, or NULL: its arm is left out */
    const char *const *cases; /* [n_cases] only those with one of these in their names; none: all */
    int32_t n_cases;
    const char *const *arms; /* [n_arms] only these; none: all */
    int32_t n_arms;
    int32_t part, n_parts; /* this process does part 0 .. n_parts - 1 */
    int32_t n_seeds;
    int64_t evaluations;
    void (*note)(void *user, const char *name, const char *arm, int64_t done, int64_t runs); /* may be NULL */
    void *note_user;
} berth_study_options;

/** Suite learn, 2000 evaluations, 5 seeds, one part. */
BERTH_API berth_study_options berth_study_options_default(void);
/** Suites for listings: number `index`, or NULL past the end. */
BERTH_API const char *berth_study_name(int32_t index);

/**
 * Make the runs that are missing. BERTH_E_CANCELLED if the cancel callback asked to stop: what was done is in the file.
 * @return BERTH_OK; BERTH_E_ARG (no such suite or arm); BERTH_E_IO; what berth_place() returns but for
 *         BERTH_E_INFEASIBLE, which is a result
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_study_run(berth_ctx *ctx, const berth_study_options *options);
/**
 * What the results say: ratios of makespans with bootstrap intervals, and whether what must hold does. As text, or as
 * one JSON document.
 * @return BERTH_OK; BERTH_E_ARG; BERTH_E_IO; BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_study_report(berth_ctx *ctx, berth_text *text,
                                                           const berth_study_options *options, bool json);

#ifdef __cplusplus
}
#endif
#endif
