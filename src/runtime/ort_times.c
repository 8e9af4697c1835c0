/* SPDX-License-Identifier: Apache-2.0 */
/* What ONNX Runtime's own profile says of operations: what they take, and where they ran. */
#include "runtime/ort_kind.h"

#include "runtime/op_times.h"
#include "runtime/providers.h"
#include "runtime/trace.h"

#include <math.h>
#include <string.h>

enum { LEAST_RUNS = 3, MOST_RUNS = 8, FIRST_RUNS = 2, PLACES_RUNS = 3 };
static const double run_seconds = 1;

/* A profile, and the operations of the model behind its nodes. */
typedef struct traced {
    berth_trace trace;
    const berth_trace_op *ops; /* [n_ops] */
    const double *extra_ms;    /* [nodes] */
} traced;

/* One process; `skip` runs at its beginning do not count. */
static berth_status take_trace(berth_run_model *m, berth_arena *arena, berth_job *job, int32_t skip, traced *out) {
    berth_answer answer;
    berth_graph *rewritten = NULL;
    double copies;
    job->rewritten = berth_arena_printf(arena, "%s/rewritten.onnx", m->scratch);
    if (!job->rewritten) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_job_run(m->ctx, arena, &m->runtime->worker, job, &answer, NULL));
    BERTH_TRY(berth_runtime_note_version(m->ctx, m->runtime, answer.version));
    BERTH_TRY(berth_graph_read(m->ctx, &rewritten, job->rewritten, NULL));
    berth_status status = berth_trace_read(m->ctx, arena, answer.profile, skip, &out->trace);
    if (status == BERTH_OK)
        status =
            berth_trace_attribute(m->ctx, arena, m->graph, rewritten, &out->trace, &out->ops, &out->extra_ms, &copies);
    berth_graph_free(rewritten);
    return status;
}

/* --- times ------------------------------------------------------------------------------------------------------ */

/* What a node takes on its device: by the host's clock, where it waits. Where kernels are seen at all, a node without
 * one does nothing there. */
static double node_ms(const berth_trace_node *node, const berth_ort_provider *provider, bool sees_kernels) {
    if (strcmp(node->provider, provider->name) != 0) return INFINITY;
    if (provider->append == BERTH_APPEND_NONE || provider->waits) return node->host_ms;
    if (!isnan(node->device_ms)) return node->device_ms;
    return sees_kernels ? 0 : NAN;
}

static berth_status spread(const berth_run_model *m, berth_arena *arena, const traced *t, const berth_work *work,
                           const berth_ort_provider *provider, double *out) {
    int32_t n_ops = berth_graph_op_count(m->graph);
    const berth_trace *trace = &t->trace;
    double *weight = berth_arena_push(arena, (size_t)trace->n_nodes, sizeof *weight);
    bool sees_kernels = false;
    if (!weight || !t->ops) return berth_fail_nomem(m->ctx);
    for (int32_t i = 0; i < n_ops; i++)
        if (t->ops[i].node >= 0) weight[t->ops[i].node] += berth_op_times_weight(&work->ops[i]);
    for (int32_t i = 0; i < trace->n_nodes; i++) sees_kernels |= !isnan(trace->nodes[i].device_ms);
    for (int32_t i = 0; i < n_ops; i++) {
        int32_t node = t->ops[i].node;
        double ms = 0;
        if (node >= 0) {
            ms = node_ms(&trace->nodes[node], provider, sees_kernels);
            if (isfinite(ms)) ms = (ms + t->extra_ms[node]) * berth_op_times_weight(&work->ops[i]) / weight[node];
        }
        out[i] = provider->compiles ? NAN : ms;
    }
    return BERTH_OK;
}

berth_status berth_ort_op_times(berth_run_model *model, berth_arena *arena, const char *device, const berth_work *work,
                                bool native_precision, double *ms) {
    const berth_ort_provider *provider = berth_ort_provider_of(device);
    berth_candidate candidate;
    traced t = {0};
    berth_job job;
    BERTH_TRY(berth_run_model_single(model, device, &candidate));
    BERTH_TRY(berth_run_model_profile_job(model, arena, &candidate, native_precision, &job));
    job.waits = true;
    job.least_runs = LEAST_RUNS;
    job.most_runs = MOST_RUNS;
    job.run_seconds = run_seconds;
    BERTH_TRY(take_trace(model, arena, &job, FIRST_RUNS, &t));
    return spread(model, arena, &t, work, provider, ms);
}

/* --- places ----------------------------------------------------------------------------------------------------- */

static const char *device_of_provider(const char *name) {
    for (int32_t i = 0; berth_ort_provider_at(i); i++)
        if (strcmp(berth_ort_provider_at(i)->name, name) == 0) return berth_ort_provider_at(i)->device;
    return name;
}

berth_status berth_ort_places(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                              bool native_precision, berth_sight *out) {
    traced t = {0};
    berth_job job;
    BERTH_TRY(berth_run_model_profile_job(model, arena, candidate, native_precision, &job));
    job.least_runs = 1;
    job.most_runs = PLACES_RUNS;
    BERTH_TRY(take_trace(model, arena, &job, 1, &t));
    if (!t.ops) return berth_fail_nomem(model->ctx);
    for (int32_t i = 0; i < berth_graph_op_count(model->graph); i++) {
        int32_t node = t.ops[i].node;
        out->ops[i] = (berth_seen){.unit = node, .is_root = t.ops[i].is_root};
        if (node >= 0) out->ops[i].device = device_of_provider(t.trace.nodes[node].provider);
    }
    return BERTH_OK;
}
