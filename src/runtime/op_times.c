/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of several processes, and medians over them. */
#include "runtime/op_times.h"

#include "runtime/kept.h"
#include "runtime/kind.h"
#include "runtime/stats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_PROCESSES = 16 };

double berth_op_times_weight(const berth_op_work *work) {
    static const double flops_per_byte = 20, least = 1;
    return least + (double)(work->input_bytes + work->output_bytes + work->parameter_bytes) +
           work->flops / flops_per_byte;
}

/* The median of what is not NAN; NAN if nothing is. */
static double middle(const double *samples, int32_t n) {
    double known[MOST_PROCESSES] = {0};
    size_t n_known = 0;
    for (int32_t i = 0; i < n; i++)
        if (!isnan(samples[i])) known[n_known++] = samples[i];
    return n_known > 0 ? berth_stats_quantile(known, n_known, 0.5) : NAN;
}

typedef struct taker {
    berth_ctx *ctx;
    berth_arena *arena;
    berth_run_model *model;
    const berth_work *work;
    bool native_precision;
    int32_t n_processes;
    double *samples; /* [processes * n_ops] */
} taker;

/* One process, unless it was finished before. */
static berth_status take_process(taker *t, const char *device, int32_t process, double *ms) {
    berth_run_model *m = t->model;
    size_t size = (size_t)berth_graph_op_count(m->graph) * sizeof *ms, n = 0;
    const char *bytes = NULL;
    berth_candidate candidate;
    BERTH_TRY(berth_run_model_single(m, device, &candidate));
    const char *key = berth_arena_printf(t->arena, "times 3\n%s\n%s\nprecision %d\nprocess %" PRId32,
                                         m->runtime->identity, candidate.identity, t->native_precision, process);
    if (!key) return berth_fail_nomem(t->ctx);
    BERTH_TRY(berth_kept_get(m->runtime, t->arena, "times", key, &bytes, &n));
    if (bytes && n == size) {
        memcpy(ms, bytes, n);
        return BERTH_OK;
    }
    BERTH_TRY(m->runtime->kind->op_times(m, t->arena, device, t->work, t->native_precision, ms));
    return berth_kept_put(m->runtime, "times", key, ms, size);
}

/* The medians over its processes into every n-th place of `ms`. */
static berth_status take_device(taker *t, const char *device, double seconds, double *ms, size_t n) {
    size_t n_ops = (size_t)berth_graph_op_count(t->model->graph);
    double of_op[MOST_PROCESSES], until = berth_trial_clock() + seconds;
    int32_t done = 0;
    for (; done < t->n_processes && (done == 0 || berth_trial_clock() < until); done++)
        BERTH_TRY(take_process(t, device, done, t->samples + (size_t)done * n_ops));
    for (size_t op = 0; op < n_ops; op++) {
        for (int32_t i = 0; i < done; i++) of_op[i] = t->samples[(size_t)i * n_ops + op];
        ms[op * n] = middle(of_op, done);
    }
    return BERTH_OK;
}

berth_status berth_op_times_take(berth_ctx *ctx, berth_arena *arena, berth_run_model *model, const char *const *devices,
                                 int32_t n_devices, int32_t processes, double seconds, bool native_precision,
                                 const double **out) {
    taker t = {.ctx = ctx, .arena = arena, .model = model, .native_precision = native_precision};
    size_t n_ops = (size_t)berth_graph_op_count(model->graph), n = (size_t)n_devices;
    berth_work *work = NULL;
    t.n_processes = processes < 1 ? 1 : processes > MOST_PROCESSES ? MOST_PROCESSES : processes;
    double *ms = berth_arena_push(arena, n_ops * n, sizeof *ms);
    t.samples = berth_arena_push(arena, n_ops * (size_t)t.n_processes, sizeof *t.samples);
    if (arena->failed) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_work_compute(ctx, &work, model->graph));
    t.work = work;
    berth_status status = BERTH_OK;
    for (size_t d = 0; d < n && status == BERTH_OK; d++)
        status = take_device(&t, devices[d], seconds / (double)n, ms + d, n);
    berth_work_free(work);
    *out = ms;
    return status;
}
