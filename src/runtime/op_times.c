/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles of several processes, and medians over them. */
#include "runtime/op_times.h"

#include "berth/work.h"
#include "runtime/ort.h"
#include "runtime/stats.h"
#include "runtime/trace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 8, MOST_PROCESSES = 16, FIRST_RUNS = 2 };
static const double run_seconds = 1;

typedef struct taker {
    berth_ctx *ctx;
    berth_arena *arena;
    berth_runtime *runtime;
    berth_run_model *model;
    const berth_work *work;
    bool native_precision;
    double *samples; /* [n_ops * processes] */
    int32_t n_processes;
} taker;

/* How large a part of a node's time an operation is likely to be: bytes, and what arithmetic costs in bytes. */
static double weight_of(const berth_op_work *work) {
    static const double flops_per_byte = 20, least = 1;
    return least + (double)(work->input_bytes + work->output_bytes + work->parameter_bytes) +
           work->flops / flops_per_byte;
}

/* One process. */
static berth_status take_trace(taker *t, const berth_candidate *c, berth_trace *trace, const berth_trace_op **ops,
                               const double **extra) {
    berth_run_model *m = t->model;
    berth_answer answer;
    berth_graph *rewritten = NULL;
    double copies;
    berth_job job = {.kind = BERTH_JOB_RUN,
                     .runtime = t->runtime->name,
                     .library = t->runtime->library,
                     .devices = c->devices,
                     .model = c->model,
                     .optimisation = BERTH_OPTIMISE_ALL,
                     .threads = t->runtime->threads,
                     .waits = true,
                     .native_precision = t->native_precision,
                     .inputs = m->inputs,
                     .n_inputs = m->n_inputs,
                     .least_runs = LEAST_RUNS,
                     .most_runs = MOST_RUNS,
                     .run_seconds = run_seconds,
                     .profile = berth_arena_printf(t->arena, "%s/profile", m->scratch),
                     .rewritten = berth_arena_printf(t->arena, "%s/rewritten.onnx", m->scratch)};
    if (t->arena->failed) return berth_fail_nomem(t->ctx);
    BERTH_TRY(berth_job_run(t->ctx, t->arena, &t->runtime->worker, &job, &answer, NULL));
    BERTH_TRY(berth_runtime_note_version(t->ctx, t->runtime, answer.version));
    BERTH_TRY(berth_graph_read(t->ctx, &rewritten, job.rewritten, NULL));
    berth_status status = berth_trace_read(t->ctx, t->arena, answer.profile, FIRST_RUNS, trace);
    if (status == BERTH_OK)
        status = berth_trace_attribute(t->ctx, t->arena, m->graph, rewritten, trace, ops, extra, &copies);
    berth_graph_free(rewritten);
    return status;
}

/* What a node takes on its device: by the host's clock, where it waits. Where kernels are seen at all, a node without
 * one does nothing there. */
static double node_ms(const berth_trace_node *node, const berth_ort_provider *provider, bool sees_kernels) {
    if (strcmp(node->provider, provider->name) != 0) return INFINITY;
    if (provider->append == BERTH_APPEND_NONE || provider->waits) return node->host_ms;
    if (!isnan(node->device_ms)) return node->device_ms;
    return sees_kernels ? 0 : NAN;
}

static berth_status spread(taker *t, const berth_trace *trace, const berth_trace_op *ops, const double *extra,
                           const berth_ort_provider *provider, int32_t process) {
    int32_t n_ops = berth_graph_op_count(t->model->graph);
    double *weight = berth_arena_push(t->arena, (size_t)trace->n_nodes, sizeof *weight);
    bool sees_kernels = false;
    if (!weight || !ops) return berth_fail_nomem(t->ctx);
    for (int32_t i = 0; i < n_ops; i++)
        if (ops[i].node >= 0) weight[ops[i].node] += weight_of(&t->work->ops[i]);
    for (int32_t i = 0; i < trace->n_nodes; i++) sees_kernels |= !isnan(trace->nodes[i].device_ms);
    for (int32_t i = 0; i < n_ops; i++) {
        int32_t node = ops[i].node;
        double ms = 0;
        if (node >= 0) {
            ms = node_ms(&trace->nodes[node], provider, sees_kernels);
            if (isfinite(ms)) ms = (ms + extra[node]) * weight_of(&t->work->ops[i]) / weight[node];
        }
        t->samples[(size_t)i * (size_t)t->n_processes + (size_t)process] = provider->compiles ? NAN : ms;
    }
    return BERTH_OK;
}

static berth_status take_device(taker *t, const char *device) {
    const berth_ort_provider *provider = berth_ort_provider_of(device);
    berth_candidate candidate;
    BERTH_TRY(berth_run_model_single(t->model, device, &candidate));
    for (int32_t i = 0; i < t->n_processes; i++) {
        berth_trace trace = {0};
        const berth_trace_op *ops = NULL;
        const double *extra = NULL;
        BERTH_TRY(take_trace(t, &candidate, &trace, &ops, &extra));
        BERTH_TRY(spread(t, &trace, ops, extra, provider, i));
    }
    return BERTH_OK;
}

/* The median of what is not NAN; NAN if nothing is. */
static double middle(const double *samples, int32_t n) {
    double known[MOST_PROCESSES] = {0};
    size_t n_known = 0;
    for (int32_t i = 0; i < n; i++)
        if (!isnan(samples[i])) known[n_known++] = samples[i];
    return n_known > 0 ? berth_stats_quantile(known, n_known, 0.5) : NAN;
}

berth_status berth_op_times_take(berth_ctx *ctx, berth_arena *arena, berth_runtime *runtime, berth_run_model *model,
                                 const char *const *devices, int32_t n_devices, int32_t processes,
                                 bool native_precision, const double **out) {
    taker t = {.ctx = ctx, .arena = arena, .runtime = runtime, .model = model, .native_precision = native_precision};
    size_t n_ops = (size_t)berth_graph_op_count(model->graph), n = (size_t)n_devices;
    berth_work *work = NULL;
    t.n_processes = processes < 1 ? 1 : processes > MOST_PROCESSES ? MOST_PROCESSES : processes;
    double *ms = berth_arena_push(arena, n_ops * n, sizeof *ms);
    t.samples = berth_arena_push(arena, n_ops * (size_t)t.n_processes, sizeof *t.samples);
    if (arena->failed) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_work_compute(ctx, &work, model->graph));
    t.work = work;
    berth_status status = BERTH_OK;
    for (size_t d = 0; d < n && status == BERTH_OK; d++) {
        status = take_device(&t, devices[d]);
        for (size_t i = 0; i < n_ops && status == BERTH_OK; i++)
            ms[i * n + d] = middle(t.samples + i * (size_t)t.n_processes, t.n_processes);
    }
    berth_work_free(work);
    *out = ms;
    return status;
}
