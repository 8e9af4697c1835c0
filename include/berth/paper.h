/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/paper.h: the protocol of the HSDAG paper (arXiv 2405.14185) on its three models, Inception-V3, ResNet-50 and
 * BERT-base: latency of both devices alone, of the runtimes' own rule in both orders, of the learned methods and of
 * ours, what each gains, how long it searched, and whether the outputs agree.
 *
 * Without a runtime everything is simulated on the `paper` testbed, and the report says so. With one, plans are made on
 * a profile of this machine and every latency and every output is that of real runs.
 */
#ifndef BERTH_PAPER_H
#define BERTH_PAPER_H

#include "berth/real.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct berth_paper_options {
    const char *models;       /* folder of the bundled models */
    const char *const *cases; /* [n_cases] only models with one of these in their names; none: all */
    int32_t n_cases;
    const char *const *arms; /* [n_arms] only these rows; none: all */
    int32_t n_arms;
    int64_t evaluations; /* of each method that learns */
    double seconds;      /* of each method that does not */
    uint64_t seed;
    int32_t threads;

    berth_runtime *runtime;     /* NULL: simulated */
    const char *const *devices; /* [n_devices] of the runtime, two of them, the CPU first */
    int32_t n_devices;
    berth_profile_options profile; /* with a runtime: how it is measured */
    bool measured; /* what methods that learn evaluate are real runs, as the paper has it; else the profile is simulated
                    */

    void (*note)(void *user, const char *model, const char *arm); /* before each row; may be NULL */
    void *note_user;
} berth_paper_options;

/** All three models and all rows, simulated: 2000 evaluations, 10 seconds. */
BERTH_API berth_paper_options berth_paper_options_default(void);

/** Rows for listings: number `index`, or NULL past the end. */
BERTH_API const char *berth_paper_arm_name(int32_t index);

/** One row of one model. What is not known is NAN. */
typedef struct berth_paper_row {
    const char *model, *arm;
    const char *reason;                /* why there are no numbers, or "" */
    double predicted_ms;               /* by the simulator */
    double protocol_ms;                /* as the paper takes it: mean of the last 5 of 10 runs */
    double median_ms, low_ms, high_ms; /* of real runs, with the 95 % interval of the median */
    double gain_cpu, gain_best;        /* 1 - latency / latency of the CPU, of the faster device, by medians */
    double share;                      /* of the operations that take time, on the second device */
    int64_t evaluations;
    double search_seconds;
    berth_difference outputs; /* to those of the CPU */
} berth_paper_row;

typedef struct berth_paper {
    bool simulated;
    const char *devices[2]; /* names of the columns "CPU" and "GPU" */
    const char *runtime;    /* name and version, or "" */
    int32_t n_rows;
    const berth_paper_row *rows;
} berth_paper;

/**
 * Run it. A row that cannot be made says why and leaves the others.
 * @return BERTH_OK; BERTH_E_ARG (no such row, other than two devices); BERTH_E_CANCELLED; what berth_graph_read(),
 *         berth_profile_take() and berth_place() return
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_paper_run(berth_ctx *ctx, berth_paper **out,
                                                        const berth_paper_options *options);
BERTH_API void berth_paper_free(berth_paper *paper);
/** Append it as a table, or as one JSON object that was not begun. */
BERTH_API void berth_paper_write(berth_text *text, const berth_paper *paper, bool json);

#ifdef __cplusplus
}
#endif
#endif
