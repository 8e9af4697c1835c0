/* SPDX-License-Identifier: Apache-2.0 */
/* Warm up, then count. */
#include "runtime/timing.h"

#include <math.h>
#include <time.h>

double berth_timing_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Of all threads of this process. */
static double cpu_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Runs that are not counted: until three in a row are no faster than those before, within a tenth. */
static berth_status warm_up(const berth_job *job, berth_timed_run run, void *user, berth_answer *answer) {
    enum { MOST = 20, STILL = 3 };
    double best = INFINITY, ms = 0;
    int still = 0;
    BERTH_TRY(run(user, &answer->first_ms)); /* may compile for seconds */
    double end = berth_timing_now_ms() + 1e3 * job->run_seconds;
    for (int i = 0; i < MOST && still < STILL && berth_timing_now_ms() < end; i++) {
        BERTH_TRY(run(user, &ms));
        answer->n_warm++;
        still = ms > 0.9 * best ? still + 1 : 0;
        best = fmin(best, ms);
    }
    return BERTH_OK;
}

berth_status berth_timing_take(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_timed_run run,
                               void *user, berth_answer *answer) {
    int32_t most = job->most_runs > job->least_runs ? job->most_runs : job->least_runs;
    double *runs = berth_arena_push(arena, (size_t)most, sizeof *runs);
    if (!runs) return berth_fail_nomem(ctx);
    answer->runs_ms = runs;
    BERTH_TRY(warm_up(job, run, user, answer));
    double start = berth_timing_now_ms(), used = cpu_ms(), end = start + 1e3 * job->run_seconds;
    while (answer->n_runs < most && (answer->n_runs < job->least_runs || berth_timing_now_ms() < end))
        BERTH_TRY(run(user, &runs[answer->n_runs++]));
    double took = berth_timing_now_ms() - start;
    if (answer->n_runs > 0 && took > 0) answer->cores = (cpu_ms() - used) / took;
    return BERTH_OK;
}
