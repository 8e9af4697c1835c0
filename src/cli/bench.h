/* SPDX-License-Identifier: Apache-2.0 */
/* `berth bench`: suites of workloads, every method on each, and the pace of the inner loops. */
#ifndef BERTH_CLI_BENCH_H
#define BERTH_CLI_BENCH_H

#include "berth/bench.h"
#include "berth/read.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/runtimes.h"

extern const cli_command cli_bench;

typedef struct bench_values {
    cli_common common;
    cli_runtime runtime;
    const char *devices, *model, *budget, *data, *models, *output, *part, *policy, *evaluate;
    cli_list methods, workloads, arms, results;
    int64_t evaluations, seed, seeds, threads;
    bool json, speed, report;
} bench_values;

/* One thing to place. */
typedef struct bench_case {
    const char *suite, *workload;
    const char *devices; /* NULL: the workload brings them */
    berth_model model;   /* BERTH_MODEL_COUNT: that of the devices */
    berth_objective objective;
    double optimum_ms; /* NAN: not known */
    const char *path;  /* a file, or NULL: */
    const char *text;  /* ... a workload in memory, or NULL: */
    berth_generated kind;
    int32_t n_ops;
} bench_case;

/* Call `run` for every case of a suite ("all": of all) until it returns another status than BERTH_OK. BERTH_E_ARG if
 * there is no such suite. Files that are missing are passed over, with a warning for each; if nothing at all was there,
 * or nothing below --data, BERTH_E_IO in the end. */
typedef berth_status (*bench_case_fn)(void *user, const bench_case *item);
berth_status cli_bench_walk(berth_ctx *ctx, const bench_values *values, const char *suite, bench_case_fn run,
                            void *user);
/* The graph of a case and its devices. */
berth_status cli_bench_load(berth_ctx *ctx, const bench_case *item, berth_graph **graph, berth_device_set **devices);

/* `berth bench learn` and `ablation`: the whole command. */
bool cli_bench_is_study(const char *suite);
int cli_bench_study(berth_ctx *ctx, const bench_values *values, const char *suite);

/* `berth bench paper`: the whole command. */
int cli_bench_paper(berth_ctx *ctx, const bench_values *values);
/* What a repeatable option was given, at most n of it. */
int32_t cli_bench_words(const cli_list *list, const char **words, int32_t n);

/* The rows of --speed, each in about that many seconds. */
berth_status cli_bench_speed(berth_ctx *ctx, berth_text *text, const bench_values *values, double seconds);
/* "machine": processor, cores, system; or as a line. */
void cli_bench_machine(berth_text *text, bool json);
/* A warning in the log. */
void cli_bench_missing(const bench_values *values, const char *path);

#endif
