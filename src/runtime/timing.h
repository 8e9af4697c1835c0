/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of a model in the worker, by the clock: the same for all runtimes. */
#ifndef BERTH_RUNTIME_TIMING_H
#define BERTH_RUNTIME_TIMING_H

#include "runtime/job.h"

/* One run, and what it took. */
typedef berth_status (*berth_timed_run)(void *user, double *ms);

double berth_timing_now_ms(void);

/* As many runs as the job says, after the first one and others until they are steady: first_ms, n_warm, runs_ms and
 * cores of the answer. */
berth_status berth_timing_take(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_timed_run run,
                               void *user, berth_answer *answer);

#endif
