/* SPDX-License-Identifier: Apache-2.0 */
/* From a graph and devices to a cost block: tasks, values, weights, times, copies, limits, rows. Linear in the graph
 * (times the devices).
 *
 * A tensor is a value if a task reads it, or if a task makes it and the model yields it. Where it comes from no task
 * (a model input), it starts at its home. A model output that is a constant or a model input costs nothing here,
 * whatever reads it. Values are numbered as their tensors. */
#include "cost/build.h"

#include "device/set.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

berth_cost_options berth_cost_options_default(void) {
    return (berth_cost_options){.model = BERTH_MODEL_COUNT, .piece_ms = NAN, .objective = BERTH_OBJECTIVE_LATENCY};
}

static berth_status check_arguments(const berth_costs_build *b) {
    const berth_device_set *set = b->devices;
    double piece_ms = b->options->piece_ms;
    if (set->n_devices > BERTH_MAX_DEVICES)
        return berth_fail(b->ctx, BERTH_E_LIMIT, "%" PRId32 " devices are more than %d", set->n_devices,
                          BERTH_MAX_DEVICES);
    if (set->n_devices < 1 || set->host < 0 || set->host >= set->n_devices)
        return berth_fail(b->ctx, BERTH_E_ARG, "%" PRId32 " devices with host %" PRId32, set->n_devices, set->host);
    if (!isnan(piece_ms) && !(piece_ms >= 0 && piece_ms <= BERTH_GREATEST_MS))
        return berth_fail(b->ctx, BERTH_E_ARG, "piece_ms must be from 0 to %g, not %g", BERTH_GREATEST_MS, piece_ms);
    return BERTH_OK;
}

static berth_status make_room(berth_costs_build *b) {
    berth_costs *c = b->costs;
    const berth_device_set *set = b->devices;
    size_t n = b->n_devices;
    b->capacity = berth_arena_push(&c->arena, n, sizeof *b->capacity);
    b->copy_fixed = berth_arena_push(&c->arena, n * n, sizeof *b->copy_fixed);
    b->copy_per_unit = berth_arena_push(&c->arena, n * n, sizeof *b->copy_per_unit);
    double *launch_ms = berth_arena_push(&c->arena, n, sizeof *launch_ms);
    bool *queued = berth_arena_push(&c->arena, n * n, sizeof *queued);
    if (c->arena.failed) return berth_fail_nomem(b->ctx);
    for (size_t d = 0; d < n; d++) {
        b->capacity[d] = set->devices[d].memory_bytes;
        launch_ms[d] = set->devices[d].launch_ms;
    }
    for (size_t i = 0; i < n * n; i++) {
        b->copy_fixed[i] = set->links[i].fixed_ms;
        b->copy_per_unit[i] = set->links[i].ms_per_byte;
        queued[i] = set->links[i].queued;
    }
    c->capacity = b->capacity;
    c->copy_fixed = b->copy_fixed;
    c->copy_per_unit = b->copy_per_unit;
    c->launch_ms = launch_ms;
    c->link_queued = queued;
    return BERTH_OK;
}

static berth_status list_tasks(berth_costs_build *b) {
    const berth_graph *graph = b->graph;
    berth_costs *c = b->costs;
    const uint32_t not_run = BERTH_OP_CONSTANT | BERTH_OP_INPUT | BERTH_OP_OUTPUT;
    int32_t *op_task = berth_arena_push(&c->arena, (size_t)graph->n_ops, sizeof *op_task);
    int32_t *task_op = berth_arena_push(&c->arena, (size_t)graph->n_ops, sizeof *task_op);
    if (c->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i];
        op_task[op] = -1;
        if (graph->ops[op].flags & not_run) continue;
        op_task[op] = c->n_tasks;
        task_op[c->n_tasks++] = op;
    }
    c->op_task = op_task;
    c->task_op = task_op;
    b->time_ms = berth_arena_push(&c->arena, (size_t)c->n_tasks * b->n_devices, sizeof *b->time_ms);
    c->time_ms = b->time_ms;
    return b->time_ms ? BERTH_OK : berth_fail_nomem(b->ctx);
}

/* The task that makes a tensor, or -1. */
static int32_t maker_of(const berth_costs_build *b, const berth_tensor *tensor) {
    return tensor->producer < 0 ? -1 : b->costs->op_task[tensor->producer];
}

static void want_output(const berth_costs_build *b, int32_t *wanted, int32_t tensor) {
    if (tensor >= 0 && maker_of(b, &b->graph->tensors[tensor]) >= 0) wanted[tensor] = 1;
}

/* wanted[tensor] is 1 where it is a value; counts the reads, repeated ones too. */
static void mark_values(berth_costs_build *b, int32_t *wanted) {
    const berth_graph *graph = b->graph;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        const berth_op *op = &graph->ops[i];
        bool is_task = b->costs->op_task[i] >= 0;
        for (int32_t k = 0; k < op->n_inputs + op->n_captures; k++) {
            int32_t tensor = op->inputs[k];
            if (tensor < 0) continue;
            if (op->flags & BERTH_OP_OUTPUT) want_output(b, wanted, tensor);
            if (!is_task || (graph->tensors[tensor].flags & BERTH_TENSOR_CONSTANT)) continue;
            wanted[tensor] = 1;
            b->n_reads++;
        }
    }
    for (int32_t i = 0; i < graph->n_outputs; i++) want_output(b, wanted, graph->outputs[i]);
}

static berth_status list_reads(berth_costs_build *b) {
    const berth_graph *graph = b->graph;
    size_t n = 0;
    b->reads = berth_arena_push(&b->scratch, b->n_reads, sizeof *b->reads);
    if (!b->reads) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < b->costs->n_tasks; task++) {
        const berth_op *op = &graph->ops[b->costs->task_op[task]];
        for (int32_t k = 0; k < op->n_inputs + op->n_captures; k++)
            if (op->inputs[k] >= 0 && b->tensor_value[op->inputs[k]] >= 0)
                b->reads[n++] = (berth_read){b->tensor_value[op->inputs[k]], task};
    }
    b->n_reads = n;
    return BERTH_OK;
}

/* Where inputs start and outputs end, before --io is heard. */
static void set_ends(berth_costs_build *b) {
    const berth_graph *graph = b->graph;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        const berth_op *op = &graph->ops[i];
        if (!(op->flags & BERTH_OP_OUTPUT)) continue;
        for (int32_t k = 0; k < op->n_inputs; k++)
            if (op->inputs[k] >= 0 && b->tensor_value[op->inputs[k]] >= 0)
                b->value_target[b->tensor_value[op->inputs[k]]] = b->costs->host;
    }
    for (int32_t i = 0; i < graph->n_outputs; i++)
        if (b->tensor_value[graph->outputs[i]] >= 0)
            b->value_target[b->tensor_value[graph->outputs[i]]] = b->costs->host;
}

static berth_status list_values(berth_costs_build *b) {
    const berth_graph *graph = b->graph;
    berth_costs *c = b->costs;
    int32_t *number = berth_arena_push(&b->scratch, (size_t)graph->n_tensors, sizeof *number);
    if (!number) return berth_fail_nomem(b->ctx);
    mark_values(b, number);
    for (int32_t t = 0; t < graph->n_tensors; t++) number[t] = number[t] ? c->n_values++ : -1;
    b->tensor_value = number;
    size_t n = (size_t)c->n_values;
    int32_t *tensor = berth_arena_push(&c->arena, n, sizeof *tensor);
    int32_t *producer = berth_arena_push(&c->arena, n, sizeof *producer);
    b->value_home = berth_arena_push(&c->arena, n, sizeof *b->value_home);
    b->value_target = berth_arena_push(&c->arena, n, sizeof *b->value_target);
    double *bytes = berth_arena_push(&c->arena, n, sizeof *bytes);
    if (c->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        int32_t value = number[t];
        if (value < 0) continue;
        tensor[value] = t;
        producer[value] = maker_of(b, &graph->tensors[t]);
        b->value_home[value] = producer[value] < 0 ? c->host : -1;
        b->value_target[value] = -1;
        bytes[value] = graph->tensors[t].bytes > 0 ? (double)graph->tensors[t].bytes : 0;
    }
    c->value_tensor = tensor;
    c->value_producer = producer;
    c->value_home = b->value_home;
    c->value_target = b->value_target;
    c->value_bytes = bytes;
    c->value_amount = bytes;
    set_ends(b);
    return list_reads(b);
}

/* --- weights ---------------------------------------------------------------------------------------------------- */

static double weight_size(const berth_tensor *tensor) {
    int64_t bytes = tensor->bytes >= 0 ? tensor->bytes : tensor->payload_bytes;
    return bytes > 0 ? (double)bytes : 0;
}

typedef struct weight_list {
    int32_t *number; /* [n_tensors] weight + 1, or 0 */
    int32_t *reader; /* [n_tensors] task + 1 that was the last to count it */
    double *bytes;   /* room for a weight per tensor and per task */
    int32_t *start, *weights;
    int32_t used;
} weight_list;

static void list_weights_of(berth_costs_build *b, weight_list *w, int32_t task) {
    const berth_op *op = &b->graph->ops[b->costs->task_op[task]];
    for (int32_t k = 0; k < op->n_inputs + op->n_captures; k++) {
        int32_t t = op->inputs[k];
        if (t < 0 || !(b->graph->tensors[t].flags & BERTH_TENSOR_CONSTANT) || w->reader[t] == task + 1) continue;
        w->reader[t] = task + 1;
        if (!w->number[t]) {
            w->bytes[b->costs->n_weights] = weight_size(&b->graph->tensors[t]);
            w->number[t] = ++b->costs->n_weights;
        }
        w->weights[w->used++] = w->number[t] - 1;
    }
    if (op->blob_bytes > 0) { /* inside the operation: a weight of its own */
        w->bytes[b->costs->n_weights] = (double)op->blob_bytes;
        w->weights[w->used++] = b->costs->n_weights++;
    }
    w->start[task + 1] = w->used;
}

static berth_status list_weights(berth_costs_build *b) {
    berth_costs *c = b->costs;
    size_t n_reads = 0, n_tensors = (size_t)b->graph->n_tensors, n_tasks = (size_t)c->n_tasks;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        const berth_op *op = &b->graph->ops[c->task_op[task]];
        n_reads += (size_t)op->n_inputs + (size_t)op->n_captures + 1;
    }
    weight_list w = {
        .number = berth_arena_push(&b->scratch, n_tensors, sizeof *w.number),
        .reader = berth_arena_push(&b->scratch, n_tensors, sizeof *w.reader),
        .bytes = berth_arena_push(&b->scratch, n_tensors + n_tasks, sizeof *w.bytes),
        .weights = berth_arena_push(&b->scratch, n_reads, sizeof *w.weights),
        .start = berth_arena_push(&c->arena, n_tasks + 1, sizeof *w.start),
    };
    if (b->scratch.failed || c->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < c->n_tasks; task++) list_weights_of(b, &w, task);
    c->weight_start = w.start;
    c->weights = berth_arena_copy(&c->arena, w.weights, (size_t)w.used, sizeof *w.weights);
    c->weight_bytes = berth_arena_copy(&c->arena, w.bytes, (size_t)c->n_weights, sizeof *w.bytes);
    return c->arena.failed ? berth_fail_nomem(b->ctx) : BERTH_OK;
}

/* --- all of it -------------------------------------------------------------------------------------------------- */

static berth_status build(berth_costs_build *b) {
    berth_costs *c = b->costs;
    BERTH_TRY(check_arguments(b));
    c->graph = b->graph;
    c->devices = b->devices;
    c->n_ops = b->graph->n_ops;
    c->n_devices = b->devices->n_devices;
    c->host = b->devices->host;
    c->model = b->options->model == BERTH_MODEL_COUNT ? b->devices->model : b->options->model;
    c->piece_ms = isnan(b->options->piece_ms) ? b->devices->piece_ms : b->options->piece_ms;
    c->objective = b->options->objective;
    BERTH_TRY(make_room(b));
    BERTH_TRY(list_tasks(b));
    BERTH_TRY(list_values(b));
    BERTH_TRY(list_weights(b));
    BERTH_TRY(b->graph->given ? berth_costs_take_given(b) : berth_costs_estimate(b));
    if (b->options->profile) BERTH_TRY(berth_costs_take_profile(b));
    BERTH_TRY(berth_costs_apply_io(b));
    BERTH_TRY(berth_costs_apply_rules(b));
    BERTH_TRY(berth_costs_link(b->ctx, c, b->reads, b->n_reads));
    return berth_costs_order(b);
}

berth_status berth_costs_new(berth_ctx *ctx, berth_costs **out, const berth_graph *graph,
                             const berth_device_set *devices, const berth_cost_options *options) {
    *out = NULL;
    berth_cost_options defaults = berth_cost_options_default();
    berth_limits none = {0};
    berth_costs_build b = {
        .ctx = ctx,
        .graph = graph,
        .devices = devices,
        .options = options ? options : &defaults,
        .n_devices = (size_t)devices->n_devices,
    };
    b.limits = b.options->limits ? b.options->limits : &none;
    BERTH_TRY(berth_costs_alloc(ctx, &b.costs));
    berth_arena_init(&b.scratch, berth_ctx_allocator(ctx));
    berth_status status = build(&b);
    berth_arena_deinit(&b.scratch);
    if (status == BERTH_OK)
        *out = b.costs;
    else
        berth_costs_free(b.costs);
    return status;
}

double berth_costs_op_ms(const berth_costs *costs, int32_t op, int32_t device) {
    int32_t task = costs->op_task[op];
    return task < 0 ? 0 : costs->time_ms[(size_t)task * (size_t)costs->n_devices + (size_t)device];
}

double berth_costs_copy_ms(const berth_costs *costs, int32_t tensor, int32_t from, int32_t to) {
    int32_t low = 0, high = costs->n_values; /* values are numbered as their tensors */
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (costs->value_tensor[middle] < tensor)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == costs->n_values || costs->value_tensor[low] != tensor) return 0;
    return berth_costs_copy(costs, low, from, to);
}
