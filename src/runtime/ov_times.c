/* SPDX-License-Identifier: Apache-2.0 */
/* What OpenVINO's runtime model says of operations: what they take, and where they ran.
 *
 * A node that is executed names the operations that it was made of; its time goes to them by their work. Nodes that
 * name none (reorderings) were added for the one that reads from them. */
#include "runtime/ov_kind.h"

#include "base/map.h"
#include "runtime/op_times.h"
#include "runtime/ov_map.h"
#include "runtime/ov_report.h"

#include <math.h>
#include <string.h>

enum { LEAST_RUNS = 10, MOST_RUNS = 60, PLACES_RUNS = 2, MOST_HOPS = 16 };
static const double run_seconds = 1;

/* A report, and the node of each operation of the model. */
typedef struct matched {
    berth_run_model *model;
    berth_ov_reported report;
    berth_map names;  /* of operations that run, and of tensors that they make */
    int32_t *node_of; /* [n_ops] or -1 */
    bool *has_ops;    /* [nodes] */
    bool *is_refused; /* [n_ops] by the device */
} matched;

static berth_status index_names(matched *m) {
    const berth_graph *graph = m->model->graph;
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) {
        const berth_op *op = berth_graph_op(graph, i);
        if (!berth_ov_map_has(op)) continue;
        if (!berth_map_insert(&m->names, op->name, strlen(op->name), i, NULL)) return berth_fail_nomem(m->model->ctx);
        for (int32_t k = 0; k < op->n_outputs; k++) {
            const char *tensor = op->outputs[k] < 0 ? "" : berth_graph_tensor(graph, op->outputs[k])->name;
            if (*tensor && !berth_map_insert(&m->names, tensor, strlen(tensor), i, NULL))
                return berth_fail_nomem(m->model->ctx);
        }
    }
    return BERTH_OK;
}

/* Names are separated by commas and may hold some: the shortest that is one, else up to the next comma, is skipped. */
static void match_node(matched *m, int32_t node) {
    for (const char *at = m->report.nodes[node].node.originals; *at;) {
        const int32_t *op = NULL;
        size_t n = strcspn(at, ","), first = n;
        while (!(op = berth_map_find(&m->names, at, n)) && at[n]) n += 1 + strcspn(at + n + 1, ",");
        if (op && m->node_of[*op] < 0) {
            m->node_of[*op] = node;
            m->has_ops[node] = true;
        }
        at += op ? n : first;
        at += *at == ',';
    }
}

static berth_status match(berth_run_model *model, berth_arena *arena, const char *path, matched *m) {
    size_t n_ops = (size_t)berth_graph_op_count(model->graph);
    m->model = model;
    BERTH_TRY(berth_ov_report_read(model->ctx, arena, path, &m->report));
    m->node_of = berth_arena_push(arena, n_ops, sizeof *m->node_of);
    m->is_refused = berth_arena_push(arena, n_ops, sizeof *m->is_refused);
    m->has_ops = berth_arena_push(arena, (size_t)m->report.n_nodes, sizeof *m->has_ops);
    if (arena->failed) return berth_fail_nomem(model->ctx);
    for (size_t i = 0; i < n_ops; i++) m->node_of[i] = -1;
    berth_map_init(&m->names, model->ctx);
    berth_status status = index_names(m);
    for (int32_t i = 0; i < m->report.n_nodes && status == BERTH_OK; i++) match_node(m, i);
    for (int32_t i = 0; i < m->report.n_refused && status == BERTH_OK; i++) {
        const int32_t *op = berth_map_find(&m->names, m->report.refused[i], strlen(m->report.refused[i]));
        if (op) m->is_refused[*op] = true;
    }
    berth_map_deinit(&m->names);
    return status;
}

static berth_status run_job(berth_run_model *model, berth_arena *arena, berth_job *job, matched *out) {
    berth_answer answer;
    BERTH_TRY(berth_job_run(model->ctx, arena, &model->runtime->worker, job, &answer, NULL));
    BERTH_TRY(berth_runtime_note_version(model->ctx, model->runtime, answer.version));
    return match(model, arena, answer.profile, out);
}

/* --- times ------------------------------------------------------------------------------------------------------ */

/* Which node an added one was added for: the first with operations behind it, else the last before it. */
static int32_t owner_of(const matched *m, int32_t added) {
    int32_t at = added;
    for (int hop = 0; hop < MOST_HOPS && at >= 0; hop++) {
        if (m->has_ops[at]) return at;
        at = m->report.nodes[at].node.reader;
    }
    for (at = added; at >= 0; at--)
        if (m->has_ops[at]) return at;
    return -1;
}

/* Does the runtime model have times of anything that ran on the device? Not all have: NPU's has nothing but inputs and
 * outputs in it. */
static bool tells(const matched *m, const char *device) {
    size_t n = strcspn(device, ":");
    for (int32_t i = 0; i < m->report.n_nodes; i++) {
        const berth_ov_report_node *node = &m->report.nodes[i];
        const char *there = node->piece < 0 ? NULL : m->report.pieces[node->piece];
        if (!m->has_ops[i] || isnan(node->node.ms)) continue;
        if (there ? strlen(there) == n && memcmp(there, device, n) == 0 : m->report.n_pieces <= 1) return true;
    }
    return false;
}

static berth_status spread(const matched *m, berth_arena *arena, const char *device, const berth_work *work,
                           double *ms) {
    int32_t n_ops = berth_graph_op_count(m->model->graph), n = m->report.n_nodes;
    double *node_ms = berth_arena_push(arena, (size_t)n, sizeof *node_ms);
    double *weight = berth_arena_push(arena, (size_t)n, sizeof *weight);
    bool is_silent = !tells(m, device);
    if (arena->failed) return berth_fail_nomem(m->model->ctx);
    for (int32_t i = 0; i < n; i++) {
        int32_t owner = isnan(m->report.nodes[i].node.ms) ? -1 : owner_of(m, i);
        if (owner >= 0) node_ms[owner] += m->report.nodes[i].node.ms;
    }
    for (int32_t i = 0; i < n_ops; i++)
        if (m->node_of[i] >= 0) weight[m->node_of[i]] += berth_op_times_weight(&work->ops[i]);
    for (int32_t i = 0; i < n_ops; i++) {
        int32_t node = m->node_of[i];
        ms[i] = node >= 0 ? node_ms[node] * berth_op_times_weight(&work->ops[i]) / weight[node] : 0;
        if (is_silent && berth_ov_map_has(berth_graph_op(m->model->graph, i))) ms[i] = NAN;
        if (m->is_refused[i]) ms[i] = INFINITY;
    }
    return BERTH_OK;
}

static berth_status time_candidate(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                                   const berth_work *work, bool native_precision, double *ms) {
    matched m = {0};
    berth_job job;
    BERTH_TRY(berth_run_model_profile_job(model, arena, candidate, native_precision, &job));
    job.least_runs = LEAST_RUNS;
    job.most_runs = MOST_RUNS;
    job.run_seconds = run_seconds;
    BERTH_TRY(run_job(model, arena, &job, &m));
    return spread(&m, arena, candidate->devices[0], work, ms);
}

/* As pieces of a placement run, not as a stock session does: there constants are folded, also weights that are kept in
 * a narrower type, and BERT-base takes a fifth less with that. Where the device cannot have everything, or is not
 * placed on, a stock session has to do. */
berth_status berth_ov_op_times(berth_run_model *model, berth_arena *arena, const char *device, const berth_work *work,
                               bool native_precision, double *ms) {
    const char *const devices[] = {device};
    int32_t *place = berth_arena_push(arena, (size_t)berth_graph_op_count(model->graph), sizeof *place);
    berth_candidate candidate;
    if (!place) return berth_fail_nomem(model->ctx);
    berth_status status = berth_run_model_place(model, devices, 1, place, "profile", &candidate);
    if (status == BERTH_OK) status = time_candidate(model, arena, &candidate, work, native_precision, ms);
    if (status == BERTH_OK || status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED) return status;
    BERTH_TRY(berth_run_model_single(model, device, &candidate));
    return time_candidate(model, arena, &candidate, work, native_precision, ms);
}

/* --- places ----------------------------------------------------------------------------------------------------- */

/* The device of the candidate that OpenVINO calls so. */
static const char *our_name(const berth_candidate *candidate, const char *name) {
    size_t n = strlen(name);
    for (int32_t i = 0; candidate->devices[i]; i++)
        if (strncmp(candidate->devices[i], name, n) == 0 &&
            (!candidate->devices[i][n] || candidate->devices[i][n] == ':'))
            return candidate->devices[i];
    return name;
}

berth_status berth_ov_places(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                             bool native_precision, berth_sight *out) {
    matched m = {0};
    berth_job job;
    BERTH_TRY(berth_run_model_profile_job(model, arena, candidate, native_precision, &job));
    job.least_runs = job.most_runs = PLACES_RUNS;
    BERTH_TRY(run_job(model, arena, &job, &m));
    bool is_known = false;
    for (int32_t i = 0; i < m.report.n_nodes && !is_known; i++) is_known = m.report.nodes[i].piece >= 0;
    if (!is_known) return berth_fail(model->ctx, BERTH_E_UNSUPPORTED, "the devices do not tell");
    const char **pieces = berth_arena_push(arena, (size_t)m.report.n_pieces, sizeof *pieces);
    if (!pieces) return berth_fail_nomem(model->ctx);
    for (int32_t i = 0; i < m.report.n_pieces; i++) pieces[i] = our_name(candidate, m.report.pieces[i]);
    out->pieces = pieces;
    out->n_pieces = m.report.n_pieces;
    for (int32_t i = 0; i < berth_graph_op_count(model->graph); i++) {
        const berth_ov_report_node *node = m.node_of[i] < 0 ? NULL : &m.report.nodes[m.node_of[i]];
        out->ops[i] = (berth_seen){.unit = m.node_of[i]};
        if (!node || node->piece < 0) continue;
        out->ops[i].device = pieces[node->piece];
        out->ops[i].is_root = strcmp(node->node.name, berth_graph_op(model->graph, i)->name) == 0;
    }
    return BERTH_OK;
}
