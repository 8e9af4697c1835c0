/* SPDX-License-Identifier: Apache-2.0 */
/* One line, written over itself. */
#include "cli/progress.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static void show(void *user, const berth_progress *p) {
    (void)user;
    fprintf(stderr, "\r\033[K%6.1f s  %-11s", p->seconds, p->method);
    if (isfinite(p->makespan_ms)) fprintf(stderr, "  best %.6g ms", p->makespan_ms);
    if (p->lower_bound_ms > 0) fprintf(stderr, "  bound %.6g ms", p->lower_bound_ms);
    if (isfinite(p->makespan_ms) && p->lower_bound_ms > 0)
        fprintf(stderr, "  gap %.2f %%", 100 * fmax(0, p->makespan_ms / p->lower_bound_ms - 1));
    fprintf(stderr, "  %" PRId64 " evaluations", p->evaluations);
    fflush(stderr);
}

void cli_progress_train(const berth_train_progress *p, const char *name) {
    fprintf(stderr, "\r\033[K%6.1f s  episode %" PRId64 " of %" PRId64 "  %.40s  best %.6g ms  mean %.6g ms",
            p->seconds, p->episode, p->episodes, name, p->last->best_ms, p->last->mean_ms);
    fflush(stderr);
}

void cli_progress_runs(void *user, const char *label, int32_t done, int32_t of) {
    (void)user;
    fprintf(stderr, "\r\033[Kprocess %" PRId32 " of %" PRId32 "  %.60s", done, of, label);
    fflush(stderr);
}

static bool is_seen(bool quiet) {
    return !quiet && isatty(STDERR_FILENO);
}

berth_progress_fn cli_progress(bool quiet) {
    return is_seen(quiet) ? show : NULL;
}

void cli_progress_end(bool quiet) {
    if (is_seen(quiet)) fputs("\r\033[K", stderr);
}
