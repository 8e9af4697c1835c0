/* SPDX-License-Identifier: Apache-2.0 */
/* The builder. Rows are collected in vectors, then `link` moves them into the graph's arena and derives what a graph
 * has beyond its rows: edges, CSR both ways, distinct pairs and Kahn's order with a first-in-first-out queue (sources
 * in file order, successors in the order of the first edge of each pair). `seal` fills in what depends on shapes. */
#include "graph/build.h"

#include "graph/constant.h"
#include "graph/element.h"
#include "graph/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

berth_status berth_build_new(berth_ctx *ctx, berth_build **out, berth_format format, const char *source) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_build *b = berth_resize(allocator, NULL, 0, 1, sizeof *b);
    if (!b) return berth_fail_nomem(ctx);
    b->graph = berth_resize(allocator, NULL, 0, 1, sizeof *b->graph);
    if (!b->graph) {
        berth_resize(allocator, b, 1, 0, sizeof *b);
        return berth_fail_nomem(ctx);
    }
    b->ctx = ctx;
    b->source = source;
    b->where_is_line = format != BERTH_FORMAT_ONNX;
    berth_arena_init(&b->graph->arena, allocator);
    b->graph->format = format;
    b->graph->name = "";
    berth_map_init(&b->by_name, ctx);
    *out = b;
    return BERTH_OK;
}

void berth_build_free(berth_build *b) {
    if (!b) return;
    const berth_allocator *allocator = berth_ctx_allocator(b->ctx);
    berth_graph_free(b->graph);
    berth_map_deinit(&b->by_name);
    berth_vec_free(allocator, &b->ops);
    berth_vec_free(allocator, &b->tensors);
    berth_vec_free(allocator, &b->edges);
    berth_vec_free(allocator, &b->inputs);
    berth_vec_free(allocator, &b->outputs);
    berth_resize(allocator, b, 1, 0, sizeof *b);
}

berth_arena *berth_build_arena(berth_build *b) {
    return &b->graph->arena;
}

berth_status berth_build_fail(berth_build *b, berth_status code, int64_t where, const char *format, ...) {
    char text[800];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (where < 0) return berth_fail(b->ctx, code, "%s: %s", b->source, text);
    if (b->where_is_line) return berth_fail(b->ctx, code, "%s:%" PRId64 ": %s", b->source, where, text);
    return berth_fail(b->ctx, code, "%s: byte %" PRId64 ": %s", b->source, where, text);
}

int32_t berth_build_op(berth_build *b, const berth_op *op) {
    if (b->failed || b->ops.n >= INT32_MAX - 1 || !berth_vec_push(berth_ctx_allocator(b->ctx), &b->ops, *op)) {
        b->failed = true;
        return -1;
    }
    return (int32_t)(b->ops.n - 1);
}

int32_t berth_build_tensor(berth_build *b, const berth_tensor *tensor) {
    if (b->failed || b->tensors.n >= INT32_MAX - 1 ||
        !berth_vec_push(berth_ctx_allocator(b->ctx), &b->tensors, *tensor)) {
        b->failed = true;
        return -1;
    }
    return (int32_t)(b->tensors.n - 1);
}

int32_t berth_build_find(const berth_build *b, const char *name, size_t size) {
    const int32_t *found = berth_map_find(&b->by_name, name, size);
    return found ? *found : -1;
}

int32_t berth_build_named(berth_build *b, const char *name, size_t size) {
    int32_t found = berth_build_find(b, name, size);
    if (found >= 0) return found;
    char *copy = berth_arena_string(&b->graph->arena, name, size);
    berth_tensor tensor = {.name = copy, .producer = -1, .port = -1, .shape = {.rank = -1}, .bytes = -1};
    int32_t index = copy ? berth_build_tensor(b, &tensor) : -1;
    if (index < 0 || !berth_map_insert(&b->by_name, copy, size, index, NULL)) {
        b->failed = true;
        return -1;
    }
    return index;
}

berth_status berth_build_ports(berth_build *b, int32_t op, const int32_t *inputs, int32_t n_inputs, int32_t n_captures,
                               const int32_t *outputs, int32_t n_outputs) {
    if (b->failed || op < 0 || n_captures > INT32_MAX - n_inputs) return berth_fail_nomem(b->ctx);
    berth_op *row = &b->ops.items[op];
    row->n_inputs = n_inputs;
    row->n_captures = n_captures;
    row->n_outputs = n_outputs;
    row->inputs = berth_arena_copy(&b->graph->arena, inputs, (size_t)n_inputs + (size_t)n_captures, sizeof *inputs);
    row->outputs = berth_arena_copy(&b->graph->arena, outputs, (size_t)n_outputs, sizeof *outputs);
    if (!row->inputs || !row->outputs) {
        b->failed = true;
        return berth_fail_nomem(b->ctx);
    }
    for (int32_t port = 0; port < n_outputs; port++) {
        if (outputs[port] < 0) continue;
        berth_tensor *tensor = &b->tensors.items[outputs[port]];
        if (tensor->producer >= 0)
            return berth_build_fail(b, BERTH_E_FORMAT, row->where, "'%.200s' is produced by both '%.200s' and '%.200s'",
                                    tensor->name, b->ops.items[tensor->producer].name, row->name);
        if (tensor->flags & (BERTH_TENSOR_INPUT | BERTH_TENSOR_INITIALIZER))
            return berth_build_fail(b, BERTH_E_FORMAT, row->where,
                                    "'%.200s' is an input or initializer and also an output of '%.200s'", tensor->name,
                                    row->name);
        tensor->producer = op;
        tensor->port = port;
    }
    return BERTH_OK;
}

void berth_build_edge(berth_build *b, const berth_edge *edge) {
    b->explicit_edges = true;
    if (b->failed || b->edges.n >= INT32_MAX - 1 || !berth_vec_push(berth_ctx_allocator(b->ctx), &b->edges, *edge))
        b->failed = true;
}

void berth_build_input(berth_build *b, int32_t tensor) {
    if (b->failed || tensor < 0 || b->inputs.n >= INT32_MAX - 1 ||
        !berth_vec_push(berth_ctx_allocator(b->ctx), &b->inputs, tensor))
        b->failed = true;
    else
        b->tensors.items[tensor].flags |= BERTH_TENSOR_INPUT;
}

void berth_build_output(berth_build *b, int32_t tensor) {
    if (b->failed || tensor < 0 || b->outputs.n >= INT32_MAX - 1 ||
        !berth_vec_push(berth_ctx_allocator(b->ctx), &b->outputs, tensor))
        b->failed = true;
    else
        b->tensors.items[tensor].flags |= BERTH_TENSOR_OUTPUT;
}

/* Edges that follow from the inputs: explicit ones for formats that do not list them, captures for all. */
static bool derive_edges(berth_build *b) {
    const berth_allocator *allocator = berth_ctx_allocator(b->ctx);
    for (int captures = b->explicit_edges; captures < 2; captures++) {
        for (size_t op = 0; op < b->ops.n; op++) {
            const berth_op *row = &b->ops.items[op];
            int32_t first = captures ? row->n_inputs : 0;
            int32_t end = captures ? row->n_inputs + row->n_captures : row->n_inputs;
            for (int32_t i = first; i < end; i++) {
                const berth_tensor *tensor = row->inputs[i] < 0 ? NULL : &b->tensors.items[row->inputs[i]];
                if (!tensor || tensor->producer < 0) continue;
                berth_edge edge = {.from = tensor->producer, .to = (int32_t)op, .from_port = tensor->port};
                edge.to_port = captures ? -1 : i;
                edge.tensor = row->inputs[i];
                if (b->edges.n >= INT32_MAX - 1 || !berth_vec_push(allocator, &b->edges, edge)) return false;
            }
        }
        if (!captures) b->graph->n_edges = (int32_t)b->edges.n;
    }
    return true;
}

static berth_status check_loose_ends(berth_build *b) {
    for (size_t op = 0; op < b->ops.n; op++) {
        const berth_op *row = &b->ops.items[op];
        for (int32_t i = 0; i < row->n_inputs + row->n_captures; i++) {
            if (row->inputs[i] < 0) continue;
            const berth_tensor *tensor = &b->tensors.items[row->inputs[i]];
            if (tensor->producer < 0 && !(tensor->flags & (BERTH_TENSOR_INPUT | BERTH_TENSOR_INITIALIZER)))
                return berth_build_fail(b, BERTH_E_FORMAT, row->where,
                                        "'%.200s' reads '%.200s', which nothing produces", row->name, tensor->name);
        }
    }
    for (size_t i = 0; i < b->outputs.n; i++) {
        const berth_tensor *tensor = &b->tensors.items[b->outputs.items[i]];
        if (tensor->producer < 0 && !(tensor->flags & (BERTH_TENSOR_INPUT | BERTH_TENSOR_INITIALIZER)))
            return berth_build_fail(b, BERTH_E_FORMAT, -1, "nothing produces the model output '%.200s'", tensor->name);
    }
    return BERTH_OK;
}

/* CSR of edge numbers by one end, edges of an operation in edge order. */
static void fill_csr(const berth_graph *graph, int32_t *start, int32_t *list, bool by_source) {
    int32_t n = graph->n_edges + graph->n_captures;
    for (int32_t e = 0; e < n; e++) start[(by_source ? graph->edges[e].from : graph->edges[e].to) + 1]++;
    for (int32_t op = 0; op < graph->n_ops; op++) start[op + 1] += start[op];
    for (int32_t e = n - 1; e >= 0; e--) {
        int32_t op = by_source ? graph->edges[e].from : graph->edges[e].to;
        list[--start[op + 1]] = e; /* fills each row from its end, shifting starts one to the left ... */
    }
    for (int32_t op = 0; op < graph->n_ops; op++) start[op] = start[op + 1]; /* ... and back */
    start[graph->n_ops] = n;
}

static bool move_rows(berth_build *b) {
    berth_graph *graph = b->graph;
    berth_arena *arena = &graph->arena;
    graph->n_ops = (int32_t)b->ops.n;
    graph->n_tensors = (int32_t)b->tensors.n;
    graph->n_captures = (int32_t)b->edges.n - graph->n_edges;
    graph->n_inputs = (int32_t)b->inputs.n;
    graph->n_outputs = (int32_t)b->outputs.n;
    graph->ops = berth_arena_copy(arena, b->ops.items, b->ops.n, sizeof *b->ops.items);
    graph->tensors = berth_arena_copy(arena, b->tensors.items, b->tensors.n, sizeof *b->tensors.items);
    graph->edges = berth_arena_copy(arena, b->edges.items, b->edges.n, sizeof *b->edges.items);
    graph->inputs = berth_arena_copy(arena, b->inputs.items, b->inputs.n, sizeof *b->inputs.items);
    graph->outputs = berth_arena_copy(arena, b->outputs.items, b->outputs.n, sizeof *b->outputs.items);
    graph->out_start = berth_arena_push(arena, b->ops.n + 1, sizeof *graph->out_start);
    graph->in_start = berth_arena_push(arena, b->ops.n + 1, sizeof *graph->in_start);
    graph->out_edges = berth_arena_push(arena, b->edges.n, sizeof *graph->out_edges);
    graph->in_edges = berth_arena_push(arena, b->edges.n, sizeof *graph->in_edges);
    graph->order = berth_arena_push(arena, b->ops.n, sizeof *graph->order);
    graph->rank = berth_arena_push(arena, b->ops.n, sizeof *graph->rank);
    if (arena->failed) return false;
    fill_csr(graph, graph->out_start, graph->out_edges, true);
    fill_csr(graph, graph->in_start, graph->in_edges, false);
    return true;
}

/* Distinct (from, to) pairs among the explicit edges; `seen` has room for one number per operation. */
static int32_t count_pairs(const berth_graph *graph, int32_t *seen) {
    int32_t pairs = 0;
    memset(seen, 0xff, (size_t)graph->n_ops * sizeof *seen);
    for (int32_t op = 0; op < graph->n_ops; op++)
        for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1]; i++) {
            const berth_edge *edge = &graph->edges[graph->out_edges[i]];
            if (edge->to_port < 0 || seen[edge->to] == op) continue;
            seen[edge->to] = op;
            pairs++;
        }
    return pairs;
}

/* Kahn's order; the queue is graph->order itself. `waiting` counts distinct predecessors not yet sorted. Returns how
 * many operations were sorted: fewer than all if there is a cycle, whose operations then still wait. */
static int32_t sort_ops(berth_graph *graph, int32_t *waiting, int32_t *seen) {
    int32_t head = 0, tail = 0;
    memset(seen, 0xff, (size_t)graph->n_ops * sizeof *seen);
    for (int32_t op = 0; op < graph->n_ops; op++) waiting[op] = 0;
    for (int32_t op = 0; op < graph->n_ops; op++)
        for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
            int32_t from = graph->edges[graph->in_edges[i]].from;
            if (seen[from] != op) waiting[op]++;
            seen[from] = op;
        }
    for (int32_t op = 0; op < graph->n_ops; op++)
        if (waiting[op] == 0) graph->order[tail++] = op;
    memset(seen, 0xff, (size_t)graph->n_ops * sizeof *seen);
    while (head < tail) {
        int32_t op = graph->order[head];
        graph->rank[op] = head++;
        for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1]; i++) {
            int32_t to = graph->edges[graph->out_edges[i]].to;
            if (seen[to] == op) continue;
            seen[to] = op;
            if (--waiting[to] == 0) graph->order[tail++] = to;
        }
    }
    return tail;
}

/* An operation on a cycle: walk backwards among the unsorted ones until one repeats. */
static int32_t find_cycle(const berth_graph *graph, const int32_t *waiting, int32_t *seen) {
    int32_t op = 0;
    while (waiting[op] == 0) op++;
    memset(seen, 0, (size_t)graph->n_ops * sizeof *seen);
    while (!seen[op]) {
        seen[op] = 1;
        int32_t next = -1;
        for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
            int32_t from = graph->edges[graph->in_edges[i]].from;
            if (waiting[from] > 0) next = from;
        }
        op = next;
    }
    return op;
}

berth_status berth_build_link(berth_build *b) {
    if (b->failed || b->graph->arena.failed) return berth_fail_nomem(b->ctx);
    BERTH_TRY(check_loose_ends(b));
    if (b->explicit_edges) b->graph->n_edges = (int32_t)b->edges.n;
    if (!derive_edges(b) || !move_rows(b)) return berth_fail_nomem(b->ctx);
    berth_graph *graph = b->graph;
    berth_mark mark = berth_arena_mark(&graph->arena);
    int32_t *waiting = berth_arena_push(&graph->arena, (size_t)graph->n_ops, sizeof *waiting);
    int32_t *seen = berth_arena_push(&graph->arena, (size_t)graph->n_ops, sizeof *seen);
    berth_status status = BERTH_OK;
    if (!waiting || !seen) {
        status = berth_fail_nomem(b->ctx);
    } else {
        graph->n_pairs = count_pairs(graph, seen);
        if (sort_ops(graph, waiting, seen) < graph->n_ops) {
            const berth_op *op = &graph->ops[find_cycle(graph, waiting, seen)];
            status = berth_build_fail(b, BERTH_E_FORMAT, op->where, "the graph has a cycle through '%.200s'", op->name);
        }
    }
    berth_arena_release(&graph->arena, mark);
    if (status == BERTH_OK && !berth_graph_fingerprint_set(graph)) status = berth_fail_nomem(b->ctx);
    return status;
}

/* Where a tensor comes in: at its producer, else at the first operation that reads it; -1 if nobody does. */
static int64_t find_place(const berth_graph *graph, int32_t tensor) {
    if (graph->tensors[tensor].producer >= 0) return graph->ops[graph->tensors[tensor].producer].where;
    for (int32_t op = 0; op < graph->n_ops; op++)
        for (int32_t i = 0; i < graph->ops[op].n_inputs + graph->ops[op].n_captures; i++)
            if (graph->ops[op].inputs[i] == tensor) return graph->ops[op].where;
    return -1;
}

berth_status berth_build_seal(berth_build *b, berth_graph **out) {
    *out = NULL;
    berth_graph *graph = b->graph;
    if (b->failed || graph->arena.failed) return berth_fail_nomem(b->ctx);
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        berth_tensor *tensor = &graph->tensors[t];
        if (!berth_shape_product_fits(&tensor->shape, berth_type_bits(tensor->type)))
            return berth_build_fail(b, BERTH_E_FORMAT, find_place(graph, t),
                                    "the dimensions of '%.200s' multiply beyond 64 bits", tensor->name);
        tensor->bytes = berth_tensor_size(tensor->type, &tensor->shape);
    }
    berth_graph_mark_constants(graph);
    *out = graph;
    b->graph = NULL;
    return BERTH_OK;
}
