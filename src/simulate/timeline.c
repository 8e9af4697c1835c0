/* SPDX-License-Identifier: Apache-2.0 */
/* The public call: a placement of operations becomes one of tasks, is run by the same simulator that searches use, and
 * what the recorder saw becomes events. The first run counts them, the second takes them down, so that there is one
 * array of the right size. A placement that cannot be run is looked at again for a sentence that says why. */
#include "simulate/sim_impl.h"

#include "base/sort.h"
#include "berth/simulate.h"
#include "simulate/refusal.h"

#include <inttypes.h>
#include <math.h>

typedef struct holder {
    berth_timeline timeline; /* first, so that its address is the holder's */
    berth_arena arena;
} holder;

typedef struct request {
    berth_ctx *ctx;
    const berth_costs *costs;
    const berth_placement *placement;
    berth_sim *sim;
    int32_t *device, *priority; /* [n_tasks] */
    berth_event *events;        /* NULL while they are counted */
    int32_t n_events;
} request;

static void take(request *q, berth_event event) {
    if (q->events) q->events[q->n_events] = event;
    q->n_events++;
}

static void take_copy(void *user, int32_t value, int32_t from, int32_t to, double start, double end) {
    request *q = user;
    take(q, (berth_event){BERTH_EVENT_COPY, -1, q->costs->value_tensor[value], from, to, start, end});
}

static void take_piece(void *user, int32_t task, int32_t device, double start, double end) {
    request *q = user;
    take(q, (berth_event){BERTH_EVENT_PIECE, q->costs->task_op[task], -1, device, device, start, end});
}

static void take_tasks(request *q) {
    const berth_costs *c = q->costs;
    for (int32_t task = 0; task < c->n_tasks; task++)
        take(q, (berth_event){BERTH_EVENT_RUN, c->task_op[task], -1, q->device[task], q->device[task],
                              berth_sim_starts(q->sim)[task], berth_sim_ends(q->sim)[task]});
}

static bool event_before(const void *user, int32_t a, int32_t b) {
    const berth_event *x = (const berth_event *)user + a, *y = (const berth_event *)user + b;
    if (x->start_ms != y->start_ms) return x->start_ms < y->start_ms;
    if (x->end_ms != y->end_ms) return x->end_ms < y->end_ms;
    if (x->kind != y->kind) return x->kind < y->kind;
    if (x->op != y->op) return x->op < y->op;
    if (x->tensor != y->tensor) return x->tensor < y->tensor;
    return x->to != y->to ? x->to < y->to : x->from < y->from;
}

static bool task_before(const void *user, int32_t a, int32_t b) {
    const request *q = user;
    int32_t x = q->placement->priority[q->costs->task_op[a]], y = q->placement->priority[q->costs->task_op[b]];
    return x != y ? x < y : a < b;
}

/* Devices by task, and priorities as ranks. */
static berth_status read_placement(request *q, berth_arena *scratch) {
    const berth_costs *c = q->costs;
    size_t n = (size_t)c->n_tasks;
    if (q->placement->n_ops != c->n_ops)
        return berth_fail(q->ctx, BERTH_E_ARG, "the placement is of %" PRId32 " operations, the graph has %" PRId32,
                          q->placement->n_ops, c->n_ops);
    q->device = berth_arena_push(scratch, n, sizeof *q->device);
    if (!q->device) return berth_fail_nomem(q->ctx);
    for (size_t task = 0; task < n; task++) {
        int32_t d = q->placement->device[c->task_op[task]];
        if (d < 0 || d >= c->n_devices)
            return berth_fail(q->ctx, BERTH_E_ARG, "operation %" PRId32 " is on device %" PRId32 " of %" PRId32,
                              c->task_op[task], d, c->n_devices);
        q->device[task] = d;
    }
    if (!q->placement->priority) return BERTH_OK;
    q->priority = berth_arena_push(scratch, n, sizeof *q->priority);
    int32_t *ranked = berth_arena_push(scratch, n, sizeof *ranked);
    if (scratch->failed) return berth_fail_nomem(q->ctx);
    for (int32_t task = 0; task < c->n_tasks; task++) ranked[task] = task;
    berth_sort(ranked, n, task_before, q);
    for (int32_t rank = 0; rank < c->n_tasks; rank++) q->priority[ranked[rank]] = rank;
    return BERTH_OK;
}

static berth_status take_events(request *q, holder *made, berth_arena *scratch, const berth_recorder *recorder) {
    size_t n = (size_t)q->n_events + (size_t)q->costs->n_tasks;
    int32_t *sorted = berth_arena_push(scratch, n, sizeof *sorted);
    berth_event *events = berth_arena_push(&made->arena, n, sizeof *events);
    q->events = berth_arena_push(scratch, n, sizeof *q->events);
    if (scratch->failed || made->arena.failed) return berth_fail_nomem(q->ctx);
    q->n_events = 0;
    q->sim->recorder = recorder;
    made->timeline.makespan_ms = berth_sim_run(q->sim, q->device, q->priority);
    q->sim->recorder = NULL;
    take_tasks(q);
    for (size_t i = 0; i < n; i++) sorted[i] = (int32_t)i;
    berth_sort(sorted, n, event_before, q->events);
    for (size_t i = 0; i < n; i++) events[i] = q->events[sorted[i]];
    made->timeline.events = events;
    made->timeline.n_events = q->n_events;
    return BERTH_OK;
}

static berth_status simulate(request *q, holder *made, berth_arena *scratch) {
    const berth_costs *c = q->costs;
    berth_recorder recorder = {take_copy, take_piece, q};
    BERTH_TRY(read_placement(q, scratch));
    BERTH_TRY(berth_sim_new(q->ctx, &q->sim, c));
    q->sim->recorder = &recorder;
    double ms = berth_sim_run(q->sim, q->device, q->priority);
    q->sim->recorder = NULL;
    if (!(ms < INFINITY)) return berth_sim_refusal(q->ctx, q->sim, q->device, q->priority);
    BERTH_TRY(take_events(q, made, scratch, &recorder));
    double *peak = berth_arena_push(&made->arena, (size_t)c->n_devices, sizeof *peak);
    if (!peak) return berth_fail_nomem(q->ctx);
    berth_sim_memory(q->sim, q->device, q->priority, peak);
    made->timeline.memory_peak_bytes = peak;
    made->timeline.model = c->model;
    made->timeline.n_devices = c->n_devices;
    return BERTH_OK;
}

berth_status berth_simulate(berth_ctx *ctx, berth_timeline **out, const berth_costs *costs,
                            const berth_placement *placement) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    holder *made = berth_resize(allocator, NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena scratch;
    berth_arena_init(&made->arena, allocator);
    berth_arena_init(&scratch, allocator);
    request q = {.ctx = ctx, .costs = costs, .placement = placement};
    berth_status status = simulate(&q, made, &scratch);
    berth_sim_free(q.sim);
    berth_arena_deinit(&scratch);
    if (status == BERTH_OK)
        *out = &made->timeline;
    else
        berth_timeline_free(&made->timeline);
    return status;
}

void berth_timeline_free(berth_timeline *timeline) {
    if (!timeline) return;
    holder *made = (holder *)timeline;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
