/* SPDX-License-Identifier: Apache-2.0 */
/* Many ways to run one model, measured fairly: each in processes of its own, in turn, in an order drawn anew for every
 * round, all with the same inputs, threads and settings. */
#ifndef BERTH_RUNTIME_TRIAL_H
#define BERTH_RUNTIME_TRIAL_H

#include "runtime/compare.h"
#include "runtime/runtime.h"

/* One way to run the model. */
typedef struct berth_candidate {
    const char *label;          /* for messages */
    const char *model;          /* path: the model as it is, or with marks on its operations */
    const char *folder;         /* of its external data, or NULL */
    const char *const *devices; /* to register besides the CPU; NULL ends them */
    const char *assignment;     /* or NULL: the runtime's own choice */
    const char *identity;       /* what is run, for keys of the store */
    bool full_precision;        /* computes as the model says, also if the others need not */
    bool once;                  /* one process is enough: its outputs are wanted, not its times */
} berth_candidate;

typedef struct berth_trial_options {
    const berth_job_file *inputs;
    int32_t n_inputs;
    const berth_job_place *io;
    int32_t n_io;
    bool native_precision;
    int32_t rounds;                /* processes of each candidate */
    int32_t more_rounds;           /* of those whose two fastest processes do not agree yet */
    int32_t least_runs, most_runs; /* in each process */
    double run_seconds;            /* in each process */
    double until;                  /* berth_trial_clock(): no round begins after it, but the first; INFINITY: no end */
    int32_t spare_from;            /* candidates from this one on come last in the first round, in this order, and have
                                      not even that turn after `until`; 0: all have */
    uint64_t seed;
    const char *folder;  /* for outputs; NULL: they are not wanted */
    bool keeps_failures; /* in the store too: a trial that is resumed does not try again what failed */
    /* Called on what the first process of a candidate has computed, which is then not kept. Unless it returns BERTH_OK
     * the candidate has failed, as the message says; BERTH_E_NOMEM and BERTH_E_CANCELLED end the trial. May be NULL. */
    berth_status (*check)(void *user, const berth_answer *answer);
    void *check_user;
    /* called after each process; may be NULL */
    void (*progress)(void *user, const char *label, int32_t done, int32_t of);
    void *progress_user;
} berth_trial_options;

/* Whose memory did not suffice. */
typedef enum berth_shortage { BERTH_SHORT_OF_NOTHING, BERTH_SHORT_OF_HOST, BERTH_SHORT_OF_DEVICE } berth_shortage;

typedef struct berth_trial_result {
    berth_status status; /* of the first job that failed, and why; the rest is then of those before it */
    berth_child_end end;
    const char *reason;
    berth_shortage shortage; /* if that is the reason, as far as one can tell */
    berth_latency latency;
    int32_t n_rounds;
    int32_t n_recalled;     /* processes whose result was in the store */
    const double *round_ms; /* [n_rounds] median of each */
    double steady_ms;       /* mean of the two fastest of them: what it takes undisturbed; of one, if there is one */
    double unrest;          /* by how much the second is above the first; 0 if there is one */
    int32_t n_outputs;
    const berth_job_file *outputs; /* of its first process */
} berth_trial_result;

double berth_trial_clock(void);

/* A candidate that fails leaves the others their turns. BERTH_OK unless nothing more can be done: BERTH_E_NOMEM,
 * BERTH_E_CANCELLED, BERTH_E_IO (no folder for the outputs). `results` [n], in the arena. */
berth_status berth_trial_run(berth_ctx *ctx, berth_arena *arena, berth_runtime *runtime,
                             const berth_candidate *candidates, int32_t n, const berth_trial_options *options,
                             berth_trial_result *results);

/* How far the outputs of one candidate are from another's. `computed`: the type that devices were told to compute in,
 * if it is narrower than that of the outputs; else BERTH_TYPE_UNKNOWN. `narrow`: what such a device computes alone, or
 * NULL: nobody is asked to be nearer to the reference than that, by half. */
berth_status berth_trial_compare(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph,
                                 const berth_trial_result *result, const berth_trial_result *reference,
                                 berth_type computed, const berth_trial_result *narrow, berth_difference *difference);

#endif
