/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts, runs and differences. */
#include "place/pieces.h"

#include "berth/work.h"
#include "runtime/op_times.h"

#include <math.h>
#include <string.h>

/* --- cuts ------------------------------------------------------------------------------------------------------- */

typedef struct cutter {
    const berth_graph *graph;
    const int32_t *order; /* of execution */
    int32_t n_ops, n_running;
    double *work;  /* [n_ops + 1] of the operations before each position */
    double *bytes; /* [n_ops + 1] that cross each position */
} cutter;

static bool runs(const berth_graph *graph, int32_t op) {
    return !(berth_graph_op(graph, op)->flags & (BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT));
}

/* From behind its producer to before its last reader a tensor crosses. */
static void sum_crossing(cutter *c) {
    const int32_t *rank = berth_graph_rank(c->graph);
    for (int32_t op = 0; op < c->n_ops; op++) {
        const berth_op *from = berth_graph_op(c->graph, op);
        int32_t n = 0, last = rank[op];
        const int32_t *edges = berth_graph_out_edges(c->graph, op, &n);
        if (from->flags & BERTH_OP_CONSTANT) continue;
        for (int32_t i = 0; i < n; i++) {
            int32_t to = rank[berth_graph_edge(c->graph, edges[i])->to];
            if (to > last) last = to;
        }
        double bytes = 0;
        for (int32_t i = 0; i < from->n_outputs; i++) {
            const berth_tensor *tensor = from->outputs[i] < 0 ? NULL : berth_graph_tensor(c->graph, from->outputs[i]);
            int64_t elements = tensor ? berth_shape_elements(&tensor->shape) : 0;
            if (elements > 0) bytes += (double)elements * berth_type_bits(tensor->type) / 8;
        }
        c->bytes[rank[op] + 1] += bytes; /* as steps, summed up below */
        if (last < c->n_ops) c->bytes[last + 1] -= bytes;
    }
    for (int32_t i = 1; i <= c->n_ops; i++) c->bytes[i] += c->bytes[i - 1];
}

/* Where the work up to there is nearest to `wanted`, or a neighbour within `room` of it that less crosses. */
static int32_t find_cut(const cutter *c, int32_t from, double wanted, double room) {
    int32_t best = -1;
    for (int32_t at = from + 1; at < c->n_ops; at++) {
        if (c->work[at] < wanted - room || !runs(c->graph, c->order[at - 1])) continue;
        if (c->work[at] > wanted + room && best >= 0) break;
        if (best < 0 || c->bytes[at] < c->bytes[best]) best = at;
    }
    return best;
}

static berth_status prepare(berth_ctx *ctx, berth_arena *arena, cutter *c) {
    berth_work *work = NULL;
    c->work = berth_arena_push(arena, (size_t)c->n_ops + 1, sizeof *c->work);
    c->bytes = berth_arena_push(arena, (size_t)c->n_ops + 1, sizeof *c->bytes);
    if (arena->failed) return berth_fail_nomem(ctx);
    BERTH_TRY(berth_work_compute(ctx, &work, c->graph));
    for (int32_t i = 0; i < c->n_ops; i++) {
        int32_t op = c->order[i];
        c->n_running += runs(c->graph, op);
        c->work[i + 1] = c->work[i] + (runs(c->graph, op) ? berth_op_times_weight(&work->ops[op]) : 0);
    }
    berth_work_free(work);
    sum_crossing(c);
    return BERTH_OK;
}

berth_status berth_pieces_cut(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph, int32_t most,
                              const int32_t **cuts, int32_t *n) {
    cutter c = {.graph = graph, .order = berth_graph_order(graph), .n_ops = berth_graph_op_count(graph)};
    int32_t *list = berth_arena_push(arena, (size_t)most + 1, sizeof *list);
    *n = 0;
    *cuts = list;
    if (!list) return berth_fail_nomem(ctx);
    BERTH_TRY(prepare(ctx, arena, &c));
    if (most > c.n_running) most = c.n_running;
    double total = c.work[c.n_ops], step = total / fmax(most, 1);
    for (int32_t k = 1; k < most; k++) {
        int32_t at = find_cut(&c, list[*n], k * step, step / 4);
        if (at > list[*n] && c.work[at] > c.work[list[*n]] && c.work[at] < total) list[++*n] = at;
    }
    list[++*n] = c.n_ops;
    return BERTH_OK;
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

typedef struct timer {
    berth_run_model *model;
    const char *const *devices;
    const berth_run_options *options;
    const int32_t *order;
    const int32_t *cuts;
    int32_t n;                              /* pieces */
    const double *ms;                       /* INFINITY: that operation stays on the host */
    double whole_ms[BERTH_MOST_PIECES + 1]; /* with the first k pieces there */
} timer;

static bool moves(const timer *t, int32_t op) {
    return runs(t->model->graph, op) && !isinf(t->ms[op]);
}

/* Everything here, everything there, then with more and more of it there. */
static berth_status list_candidates(timer *t, berth_candidate *candidates) {
    berth_run_model *m = t->model;
    int32_t *device = berth_arena_push(&m->arena, (size_t)berth_graph_op_count(m->graph), sizeof *device);
    if (!device) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_run_model_single(m, t->devices[0], &candidates[0]));
    BERTH_TRY(berth_run_model_single(m, t->devices[1], &candidates[1]));
    for (int32_t k = 1; k < t->n; k++) {
        for (int32_t i = t->cuts[k - 1]; i < t->cuts[k]; i++) device[t->order[i]] = !isinf(t->ms[t->order[i]]);
        BERTH_TRY(berth_run_model_place(m, t->devices, 2, device, "piece", &candidates[k + 1]));
    }
    return BERTH_OK;
}

static berth_status run_all(timer *t) {
    berth_run_model *m = t->model;
    const berth_run_options *o = t->options;
    size_t n = (size_t)t->n + 1;
    berth_candidate *candidates = berth_arena_push(&m->arena, n, sizeof *candidates);
    berth_trial_result *results = berth_arena_push(&m->arena, n, sizeof *results);
    berth_trial_options how = {.inputs = m->inputs,
                               .n_inputs = m->n_inputs,
                               .io = m->io,
                               .n_io = m->n_io,
                               .native_precision = o->native_precision,
                               .rounds = o->rounds,
                               .least_runs = o->least_runs,
                               .most_runs = o->most_runs,
                               .run_seconds = o->run_seconds,
                               .until = berth_trial_clock() + o->seconds,
                               .spare_from = 2,     /* cuts that there is no time for are told from their neighbours */
                               .seed = o->seed + 1, /* other runs than those that are calibrated on */
                               .progress = o->progress,
                               .progress_user = o->progress_user};
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    BERTH_TRY(list_candidates(t, candidates));
    BERTH_TRY(berth_trial_run(m->ctx, &m->arena, m->runtime, candidates, (int32_t)n, &how, results));
    for (size_t i = 0; i < n; i++) {
        double *whole_ms = &t->whole_ms[i == 0 ? 0 : i == 1 ? n - 1 : i - 1];
        *whole_ms = results[i].latency.runs > 0 ? results[i].latency.median_ms : NAN;
        if (i < 2 && isnan(*whole_ms))
            return berth_fail(m->ctx, results[i].status, "%.60s: %.900s", candidates[i].label, results[i].reason);
    }
    return BERTH_OK;
}

/* --- differences ------------------------------------------------------------------------------------------------ */

/* What each piece takes there, from whole runs; pieces between two that ran share what is between them. Beside them
 * `stays` is always taken on the host. */
static void find_pieces(const timer *t, const double *host, double stays, double *there) {
    double sum = 0;
    for (int32_t k = 0; k < t->n;) {
        int32_t end = k + 1;
        double on_host = host[k];
        while (end < t->n && isnan(t->whole_ms[end])) on_host += host[end++];
        double longer = fmax(t->whole_ms[end] - t->whole_ms[k] + on_host, 1e-3 * on_host);
        for (int32_t i = k; i < end; i++) there[i] = on_host > 0 ? longer * host[i] / on_host : longer / (end - k);
        k = end;
    }
    for (int32_t k = 0; k < t->n; k++) sum += there[k];
    double all = fmax(t->whole_ms[t->n] - stays, 1e-3 * t->whole_ms[t->n]);
    for (int32_t k = 0; k < t->n && sum > 0; k++) there[k] *= all / sum;
}

static void spread(const timer *t, const berth_work *work, const double *there, double *ms) {
    for (int32_t k = 0; k < t->n; k++) {
        double sum = 0;
        for (int32_t i = t->cuts[k]; i < t->cuts[k + 1]; i++)
            if (moves(t, t->order[i])) sum += berth_op_times_weight(&work->ops[t->order[i]]);
        for (int32_t i = t->cuts[k]; i < t->cuts[k + 1]; i++) {
            int32_t op = t->order[i];
            if (isinf(ms[op])) continue;
            ms[op] = moves(t, op) && sum > 0 ? there[k] * berth_op_times_weight(&work->ops[op]) / sum : 0;
        }
    }
}

berth_status berth_pieces_take(berth_run_model *model, const char *const *devices, const berth_run_options *options,
                               const double *host_ms, double *ms) {
    timer t = {
        .model = model, .devices = devices, .options = options, .order = berth_graph_order(model->graph), .ms = ms};
    double host[BERTH_MOST_PIECES] = {0}, there[BERTH_MOST_PIECES] = {0}, stays = 0, sum = 0;
    berth_work *work = NULL;
    BERTH_TRY(berth_pieces_cut(model->ctx, &model->arena, model->graph, BERTH_MOST_PIECES, &t.cuts, &t.n));
    BERTH_TRY(run_all(&t));
    for (int32_t k = 0; k < t.n; k++)
        for (int32_t i = t.cuts[k]; i < t.cuts[k + 1]; i++) {
            int32_t op = t.order[i];
            if (!isfinite(host_ms[op])) continue;
            *(moves(&t, op) ? &host[k] : &stays) += host_ms[op];
            sum += host_ms[op];
        }
    for (int32_t k = 0; k < t.n && sum > 0; k++) host[k] *= t.whole_ms[0] / sum;
    if (sum > 0) stays *= t.whole_ms[0] / sum;
    find_pieces(&t, host, stays, there);
    BERTH_TRY(berth_work_compute(model->ctx, &work, model->graph));
    spread(&t, work, there, ms);
    berth_work_free(work);
    return BERTH_OK;
}

/* --- a table of all devices ------------------------------------------------------------------------------------- */

bool berth_pieces_wanted(const double *op_ms, int32_t n_ops, int32_t n_devices, int32_t d) {
    int32_t n = 0, n_silent = 0;
    for (int32_t op = 0; op < n_ops; op++) {
        double ms = op_ms[(size_t)op * (size_t)n_devices + (size_t)d];
        n += ms != 0 && !isinf(ms);
        n_silent += isnan(ms);
    }
    return 2 * n_silent > n;
}

berth_status berth_pieces_fill(berth_run_model *model, const char *const *devices, int32_t n_devices, int32_t d,
                               const berth_run_options *options, double *op_ms) {
    const char *const pair[] = {devices[0], devices[d]};
    int32_t n_ops = berth_graph_op_count(model->graph);
    double *host = berth_arena_push(&model->arena, (size_t)n_ops, sizeof *host);
    double *there = berth_arena_push(&model->arena, (size_t)n_ops, sizeof *there);
    if (model->arena.failed) return berth_fail_nomem(model->ctx);
    for (int32_t op = 0; op < n_ops; op++) {
        host[op] = op_ms[(size_t)op * (size_t)n_devices];
        there[op] = op_ms[(size_t)op * (size_t)n_devices + (size_t)d];
    }
    BERTH_TRY(berth_pieces_take(model, pair, options, host, there));
    for (int32_t op = 0; op < n_ops; op++) op_ms[(size_t)op * (size_t)n_devices + (size_t)d] = there[op];
    return BERTH_OK;
}
