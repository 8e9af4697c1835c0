/* SPDX-License-Identifier: Apache-2.0 */
/* The validator. It is written against the rules that berth/graph.h states, not against the builder: wherever the
 * builder computes something, this file holds the result to a property that fixes it. The topological order, for one,
 * is not computed again; each operation's place is compared with that of the predecessor that released it. Linear. */
#include "base/arena.h"
#include "graph/constant.h"
#include "graph/graph.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_CONTENT = 1024 };

typedef struct checker {
    berth_ctx *ctx;
    const berth_graph *graph;
    berth_arena scratch;
} checker;

static berth_status violation(checker *c, const char *format, ...) BERTH_PRINTF(2, 3);

static berth_status violation(checker *c, const char *format, ...) {
    va_list args;
    va_start(args, format);
    berth_fail_va(c->ctx, BERTH_E_FORMAT, format, args);
    va_end(args);
    return BERTH_E_FORMAT;
}

static bool in_range(int32_t index, int32_t n) {
    return index >= 0 && index < n;
}

static berth_status check_attributes(checker *c, int32_t op) {
    const berth_op *row = &c->graph->ops[op];
    if (row->n_attributes < 0 || (row->n_attributes > 0 && !row->attributes))
        return violation(c, "operation %" PRId32 ": the attributes are missing", op);
    for (int32_t i = 0; i < row->n_attributes; i++) {
        const berth_attribute *a = &row->attributes[i];
        const void *values = a->kind == BERTH_ATTRIBUTE_INTS     ? (const void *)a->ints
                             : a->kind == BERTH_ATTRIBUTE_FLOATS ? (const void *)a->floats
                                                                 : (const void *)a->string;
        if (!a->name || a->kind < BERTH_ATTRIBUTE_INTS || a->kind > BERTH_ATTRIBUTE_OPAQUE)
            return violation(c, "operation %" PRId32 ": attribute %" PRId32 " has no name or no kind", op, i);
        if (a->count < 0 || (a->count > 0 && !values) || (a->kind == BERTH_ATTRIBUTE_OPAQUE && a->count != 32))
            return violation(c, "operation %" PRId32 ": attribute '%.100s' has no value", op, a->name);
    }
    return BERTH_OK;
}

static berth_status check_ports(checker *c, int32_t op) {
    const berth_graph *graph = c->graph;
    const berth_op *row = &graph->ops[op];
    if (row->n_inputs < 0 || row->n_captures < 0 || row->n_captures > INT32_MAX - row->n_inputs || row->n_outputs < 0)
        return violation(c, "operation %" PRId32 ": negative counts of ports", op);
    int32_t n_reads = row->n_inputs + row->n_captures;
    if ((n_reads > 0 && !row->inputs) || (row->n_outputs > 0 && !row->outputs))
        return violation(c, "operation %" PRId32 ": the ports are missing", op);
    for (int32_t i = 0; i < n_reads; i++) {
        if (row->inputs[i] == -1 && i < row->n_inputs) continue;
        if (!in_range(row->inputs[i], graph->n_tensors))
            return violation(c, "operation %" PRId32 ": input %" PRId32 " is no tensor", op, i);
        const berth_tensor *tensor = &graph->tensors[row->inputs[i]];
        if (tensor->producer < 0 && !(tensor->flags & (BERTH_TENSOR_INPUT | BERTH_TENSOR_INITIALIZER)))
            return violation(c, "operation %" PRId32 ": nothing produces input %" PRId32, op, i);
    }
    for (int32_t i = 0; i < row->n_outputs; i++) {
        if (row->outputs[i] == -1) continue;
        if (!in_range(row->outputs[i], graph->n_tensors))
            return violation(c, "operation %" PRId32 ": output %" PRId32 " is no tensor", op, i);
        const berth_tensor *tensor = &graph->tensors[row->outputs[i]];
        if (tensor->producer != op || tensor->port != i)
            return violation(c, "operation %" PRId32 ": output %" PRId32 " says it comes from elsewhere", op, i);
    }
    return BERTH_OK;
}

static berth_status check_ops(checker *c) {
    for (int32_t op = 0; op < c->graph->n_ops; op++) {
        const berth_op *row = &c->graph->ops[op];
        if (!row->name || !row->type || !row->domain)
            return violation(c, "operation %" PRId32 ": no name, type or domain", op);
        if (row->n_bodies < 0 || row->n_nested_ops < 0 || (row->n_bodies == 0 && row->n_nested_ops > 0))
            return violation(c, "operation %" PRId32 ": nested operations without a nested graph", op);
        if (row->n_captures > 0 && row->n_bodies == 0)
            return violation(c, "operation %" PRId32 ": captures without a nested graph", op);
        if (row->blob_bytes < 0) return violation(c, "operation %" PRId32 ": negative blob size", op);
        BERTH_TRY(check_ports(c, op));
        BERTH_TRY(check_attributes(c, op));
    }
    return BERTH_OK;
}

/* Bytes of a tensor, -1 if unknown; -2 if they do not fit, which no graph may hold. */
static int64_t expected_bytes(const berth_tensor *tensor) {
    int64_t elements = 1;
    bool empty = false, known = tensor->shape.rank >= 0, fits = true;
    for (int32_t i = 0; i < tensor->shape.rank; i++) {
        const berth_dim *dim = &tensor->shape.dims[i];
        if (dim->max == 0) empty = true;
        if (dim->min != dim->max) {
            known = false;
        } else if (dim->min > 0) {
            if (elements > INT64_MAX / dim->min) fits = false;
            elements = fits ? elements * dim->min : elements;
        }
    }
    if (empty) elements = 0;
    int64_t bits = berth_type_bits(tensor->type);
    if (!empty && (!fits || (bits >= 8 && elements > INT64_MAX / (bits / 8)))) return -2;
    if (!known || bits == 0) return -1;
    if (bits >= 8) return elements * (bits / 8);
    uint64_t high = (uint64_t)elements >> 32, low = (uint64_t)elements & 0xffffffffu;
    uint64_t low_bits = low * (uint64_t)bits; /* elements = high * 2^32 + low, and 2^32 * bits is whole bytes */
    return (int64_t)(high * (((uint64_t)bits << 32) / 8) + (low_bits + 7) / 8);
}

static berth_status check_shape(checker *c, int32_t t) {
    const berth_tensor *tensor = &c->graph->tensors[t];
    const berth_shape *shape = &tensor->shape;
    if (shape->rank < -1 || shape->rank > BERTH_MAX_RANK || (shape->rank > 0 && !shape->dims))
        return violation(c, "tensor %" PRId32 ": rank %" PRId32, t, shape->rank);
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i].min < 0 || shape->dims[i].min > shape->dims[i].max)
            return violation(c, "tensor %" PRId32 ": dimension %" PRId32 " is no range", t, i);
    int64_t bytes = expected_bytes(tensor);
    if (bytes == -2) return violation(c, "tensor %" PRId32 ": the size does not fit 64 bits", t);
    if (bytes != tensor->bytes)
        return violation(c, "tensor %" PRId32 ": %" PRId64 " bytes, but type and shape give %" PRId64, t, tensor->bytes,
                         bytes);
    return BERTH_OK;
}

static berth_status check_storage(checker *c, int32_t t) {
    const berth_tensor *tensor = &c->graph->tensors[t];
    if (tensor->payload_bytes < 0 || tensor->content_size < 0 || tensor->content_size > MAX_CONTENT)
        return violation(c, "tensor %" PRId32 ": sizes of the stored content are out of bounds", t);
    if (!tensor->content && tensor->content_size > 0)
        return violation(c, "tensor %" PRId32 ": the content is missing", t);
    if (tensor->content && tensor->bytes >= 0 && tensor->content_size != tensor->bytes)
        return violation(c, "tensor %" PRId32 ": content of %" PRId64 " bytes in a tensor of %" PRId64, t,
                         tensor->content_size, tensor->bytes);
    bool stored = tensor->content || tensor->payload_bytes > 0 || (tensor->flags & BERTH_TENSOR_EXTERNAL);
    if (stored && !(tensor->flags & BERTH_TENSOR_CONSTANT))
        return violation(c, "tensor %" PRId32 ": stored, but not constant", t);
    return BERTH_OK;
}

static berth_status check_tensors(checker *c) {
    const berth_graph *graph = c->graph;
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        const berth_tensor *tensor = &graph->tensors[t];
        if (!tensor->name) return violation(c, "tensor %" PRId32 ": no name", t);
        if (tensor->type < BERTH_TYPE_UNKNOWN || tensor->type >= BERTH_TYPE_COUNT)
            return violation(c, "tensor %" PRId32 ": no element type", t);
        if (tensor->producer == -1) {
            if (tensor->port != -1) return violation(c, "tensor %" PRId32 ": a port without a producer", t);
        } else {
            if (!in_range(tensor->producer, graph->n_ops))
                return violation(c, "tensor %" PRId32 ": no such producer", t);
            const berth_op *op = &graph->ops[tensor->producer];
            if (!in_range(tensor->port, op->n_outputs) || op->outputs[tensor->port] != t)
                return violation(c, "tensor %" PRId32 ": not at that port of its producer", t);
            if (tensor->flags & BERTH_TENSOR_INITIALIZER)
                return violation(c, "tensor %" PRId32 ": an initializer with a producer", t);
            if ((tensor->flags & BERTH_TENSOR_INPUT) && !(op->flags & BERTH_OP_INPUT))
                return violation(c, "tensor %" PRId32 ": a model input with a producer", t);
        }
        BERTH_TRY(check_shape(c, t));
        BERTH_TRY(check_storage(c, t));
    }
    return BERTH_OK;
}

/* A list of model inputs or outputs holds exactly the tensors with that flag; inputs are distinct. */
static berth_status check_list(checker *c, const int32_t *list, int32_t n, uint32_t flag) {
    const berth_graph *graph = c->graph;
    bool *listed = berth_arena_push(&c->scratch, (size_t)graph->n_tensors, sizeof *listed);
    if (!listed) return berth_fail_nomem(c->ctx);
    if (n < 0 || (n > 0 && !list)) return violation(c, "the list of model inputs or outputs is missing");
    for (int32_t i = 0; i < n; i++) {
        if (!in_range(list[i], graph->n_tensors))
            return violation(c, "model input or output %" PRId32 " is no tensor", i);
        if (flag == BERTH_TENSOR_INPUT && listed[list[i]]) return violation(c, "model input %" PRId32 " repeats", i);
        listed[list[i]] = true;
    }
    for (int32_t t = 0; t < graph->n_tensors; t++)
        if (listed[t] != ((graph->tensors[t].flags & flag) != 0))
            return violation(c, "tensor %" PRId32 ": the flag and the list of model inputs or outputs disagree", t);
    return BERTH_OK;
}

/* Each explicit edge fills one input port, each input port that an operation feeds has one edge. */
static berth_status check_explicit_edges(checker *c) {
    const berth_graph *graph = c->graph;
    size_t n_ports = 0, n_fed = 0;
    size_t *first = berth_arena_push(&c->scratch, (size_t)graph->n_ops, sizeof *first);
    if (!first) return berth_fail_nomem(c->ctx);
    for (int32_t op = 0; op < graph->n_ops; op++) {
        first[op] = n_ports;
        n_ports += (size_t)graph->ops[op].n_inputs;
        for (int32_t i = 0; i < graph->ops[op].n_inputs; i++) {
            int32_t tensor = graph->ops[op].inputs[i];
            if (tensor >= 0 && graph->tensors[tensor].producer >= 0) n_fed++;
        }
    }
    bool *filled = berth_arena_push(&c->scratch, n_ports, sizeof *filled);
    if (!filled) return berth_fail_nomem(c->ctx);
    for (int32_t e = 0; e < graph->n_edges; e++) {
        const berth_edge *edge = &graph->edges[e];
        if (!in_range(edge->to_port, graph->ops[edge->to].n_inputs) ||
            graph->ops[edge->to].inputs[edge->to_port] != edge->tensor)
            return violation(c, "edge %" PRId32 ": no such input port", e);
        bool *port = &filled[first[edge->to] + (size_t)edge->to_port];
        if (*port) return violation(c, "edge %" PRId32 ": the input port has an edge already", e);
        *port = true;
    }
    if (n_fed != (size_t)graph->n_edges)
        return violation(c, "%zu input ports are fed by operations, but not by edges", n_fed);
    return BERTH_OK;
}

/* Captures stand in the order of the operations and of their lists. */
static berth_status check_capture_edges(checker *c) {
    const berth_graph *graph = c->graph;
    int32_t e = graph->n_edges, end = graph->n_edges + graph->n_captures;
    for (int32_t op = 0; op < graph->n_ops; op++)
        for (int32_t i = 0; i < graph->ops[op].n_captures; i++) {
            int32_t tensor = graph->ops[op].inputs[graph->ops[op].n_inputs + i];
            if (graph->tensors[tensor].producer < 0) continue;
            if (e == end || graph->edges[e].to != op || graph->edges[e].tensor != tensor)
                return violation(c, "operation %" PRId32 ": capture %" PRId32 " has no edge", op, i);
            if (graph->edges[e].to_port != -1) return violation(c, "edge %" PRId32 ": a capture with a port", e);
            e++;
        }
    if (e != end) return violation(c, "edge %" PRId32 ": captures what no operation lists", e);
    return BERTH_OK;
}

static berth_status check_edges(checker *c) {
    const berth_graph *graph = c->graph;
    for (int32_t e = 0; e < graph->n_edges + graph->n_captures; e++) {
        const berth_edge *edge = &graph->edges[e];
        if (!in_range(edge->from, graph->n_ops) || !in_range(edge->to, graph->n_ops) ||
            !in_range(edge->tensor, graph->n_tensors))
            return violation(c, "edge %" PRId32 ": an end or the tensor does not exist", e);
        const berth_tensor *tensor = &graph->tensors[edge->tensor];
        if (tensor->producer != edge->from || tensor->port != edge->from_port)
            return violation(c, "edge %" PRId32 ": its tensor comes from elsewhere", e);
    }
    BERTH_TRY(check_explicit_edges(c));
    return check_capture_edges(c);
}

/* Rows that are in bounds, hold only edges of their operation in ascending order, and are as long together as there
 * are edges, hold every edge once. */
static berth_status check_csr(checker *c, const int32_t *start, const int32_t *list, bool by_source) {
    const berth_graph *graph = c->graph;
    const char *side = by_source ? "out" : "in";
    int32_t n = graph->n_edges + graph->n_captures;
    if (start[0] != 0 || start[graph->n_ops] != n)
        return violation(c, "%s-edges: the rows do not cover the edges", side);
    for (int32_t op = 0; op < graph->n_ops; op++) {
        if (start[op + 1] < start[op] || start[op + 1] > n) return violation(c, "%s-edges: row %" PRId32, side, op);
        for (int32_t i = start[op]; i < start[op + 1]; i++) {
            if (!in_range(list[i], n)) return violation(c, "%s-edges of %" PRId32 ": no such edge", side, op);
            const berth_edge *edge = &graph->edges[list[i]];
            if ((by_source ? edge->from : edge->to) != op)
                return violation(c, "%s-edges of %" PRId32 ": edge %" PRId32 " is another's", side, op, list[i]);
            if (i > start[op] && list[i] <= list[i - 1])
                return violation(c, "%s-edges of %" PRId32 ": order", side, op);
        }
    }
    return BERTH_OK;
}

/* First in, first out: sources come first, in file order; any other operation is released by the last of its
 * predecessors, and operations are sorted by (place of that predecessor, first edge from it). */
static berth_status check_order(checker *c) {
    const berth_graph *graph = c->graph;
    for (int32_t i = 0; i < graph->n_ops; i++)
        if (!in_range(graph->order[i], graph->n_ops) || graph->rank[graph->order[i]] != i)
            return violation(c, "place %" PRId32 " of the order and the ranks disagree", i);
    int32_t last_place = -1, last_key = -1;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i], place = -1, key = op;
        for (int32_t k = graph->in_start[op]; k < graph->in_start[op + 1]; k++) {
            int32_t from = graph->rank[graph->edges[graph->in_edges[k]].from];
            if (from >= i) return violation(c, "operation %" PRId32 " stands before what it reads", op);
            if (from > place) place = from, key = graph->in_edges[k];
        }
        if (i > 0 && (place < last_place || (place == last_place && key <= last_key)))
            return violation(c, "operation %" PRId32 ": not in first-in, first-out order", op);
        last_place = place, last_key = key;
    }
    return BERTH_OK;
}

/* The builder counts pairs by their source; this counts them by their target. */
static berth_status check_pairs(checker *c) {
    const berth_graph *graph = c->graph;
    int32_t n = 0;
    int32_t *reader = berth_arena_push(&c->scratch, (size_t)graph->n_ops, sizeof *reader);
    if (!reader) return berth_fail_nomem(c->ctx);
    for (int32_t op = 0; op < graph->n_ops; op++)
        for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
            const berth_edge *edge = &graph->edges[graph->in_edges[i]];
            if (edge->to_port < 0 || reader[edge->from] == op + 1) continue;
            reader[edge->from] = op + 1;
            n++;
        }
    if (n != graph->n_pairs) return violation(c, "%" PRId32 " pairs, but the edges have %" PRId32, graph->n_pairs, n);
    return BERTH_OK;
}

/* Whether the flags of what an operation reads make it a constant expression. Since the order is topological, flags
 * that agree with this everywhere are the only ones that do. */
static bool should_be_constant(const berth_graph *graph, const berth_op *op) {
    int32_t n_read = 0, n_constant = 0;
    for (int32_t i = 0; i < op->n_inputs + op->n_captures; i++) {
        if (op->inputs[i] == -1) continue;
        n_read++;
        if (graph->tensors[op->inputs[i]].flags & BERTH_TENSOR_CONSTANT) n_constant++;
    }
    bool barred = op->n_bodies > 0 || (op->flags & (BERTH_OP_IMPURE | BERTH_OP_INPUT | BERTH_OP_OUTPUT)) != 0;
    bool folds = n_read > 0 ? n_constant == n_read : berth_type_is_stored(op->type) || op->blob_bytes > 0;
    bool asks = berth_type_asks_shape(op->type) && op->n_inputs > 0 && op->inputs[0] >= 0 &&
                berth_shape_is_static(&graph->tensors[op->inputs[0]].shape);
    return !barred && (folds || asks);
}

static berth_status check_flags(checker *c) {
    const berth_graph *graph = c->graph;
    for (int32_t op = 0; op < graph->n_ops; op++) {
        const berth_op *row = &graph->ops[op];
        if (berth_type_is_impure(row->type) && !(row->flags & BERTH_OP_IMPURE))
            return violation(c, "operation %" PRId32 ": random or stateful, but not marked so", op);
        if (should_be_constant(graph, row) != ((row->flags & BERTH_OP_CONSTANT) != 0))
            return violation(c, "operation %" PRId32 ": wrongly marked as a constant expression or not", op);
    }
    for (int32_t t = 0; t < graph->n_tensors; t++) {
        const berth_tensor *tensor = &graph->tensors[t];
        bool constant = tensor->producer < 0 ? (tensor->flags & BERTH_TENSOR_INITIALIZER) != 0
                                             : (graph->ops[tensor->producer].flags & BERTH_OP_CONSTANT) != 0;
        if (constant != ((tensor->flags & BERTH_TENSOR_CONSTANT) != 0))
            return violation(c, "tensor %" PRId32 ": wrongly marked as constant or not", t);
    }
    return BERTH_OK;
}

/* Numbers from 0 to `limit`, which NaN is not. */
static berth_status check_costs(checker *c, const char *what, const double *costs, size_t n, double limit) {
    for (size_t i = 0; costs && i < n; i++)
        if (!(costs[i] >= 0 && costs[i] <= limit)) return violation(c, "given costs: %s %zu is %g", what, i, costs[i]);
    return BERTH_OK;
}

static berth_status check_given(checker *c) {
    const berth_given_costs *given = c->graph->given;
    if (!given) return BERTH_OK;
    if (given->n_devices <= 0 || !given->device_names || !given->op_ms)
        return violation(c, "given costs: no devices or no times");
    bool by_edge = given->edge_ms && !given->edge_amount && !given->link_ms;
    bool by_link = !given->edge_ms && given->edge_amount && given->link_ms;
    if (!by_edge && !by_link) return violation(c, "given costs: not one way to time an edge");
    for (int32_t d = 0; d < given->n_devices; d++)
        if (!given->device_names[d]) return violation(c, "given costs: device %" PRId32 " has no name", d);
    size_t n_devices = (size_t)given->n_devices, n_links = n_devices * n_devices, n_ops = (size_t)c->graph->n_ops;
    size_t n_edges = (size_t)c->graph->n_edges + (size_t)c->graph->n_captures;
    BERTH_TRY(check_costs(c, "operation time", given->op_ms, n_ops * n_devices, INFINITY));
    BERTH_TRY(check_costs(c, "edge time", given->edge_ms, n_edges * n_links, DBL_MAX));
    BERTH_TRY(check_costs(c, "edge amount", given->edge_amount, n_edges, DBL_MAX));
    BERTH_TRY(check_costs(c, "link time", given->link_ms, n_links, INFINITY));
    BERTH_TRY(check_costs(c, "operation memory", given->op_memory, n_ops, DBL_MAX));
    BERTH_TRY(check_costs(c, "capacity", given->capacity, n_devices, INFINITY));
    for (size_t op = 0; given->colour && op < n_ops; op++)
        if (given->colour[op] < -1) return violation(c, "given costs: operation %zu has a negative colour", op);
    if (given->max_cpus < 0) return violation(c, "given costs: negative number of CPUs");
    return BERTH_OK;
}

static berth_status check_frame(checker *c) {
    const berth_graph *graph = c->graph;
    if (graph->n_ops < 0 || graph->n_tensors < 0 || graph->n_edges < 0 || graph->n_captures < 0 ||
        graph->n_captures > INT32_MAX - graph->n_edges)
        return violation(c, "negative counts");
    if (!graph->name || !graph->out_start || !graph->in_start) return violation(c, "name or rows are missing");
    if (strspn(graph->fingerprint, "0123456789abcdef") != 64 || graph->fingerprint[64])
        return violation(c, "the fingerprint is not 64 hexadecimal digits");
    if (graph->n_ops > 0 && (!graph->ops || !graph->order || !graph->rank))
        return violation(c, "operations are missing");
    if (graph->n_tensors > 0 && !graph->tensors) return violation(c, "tensors are missing");
    if (graph->n_edges + graph->n_captures > 0 && (!graph->edges || !graph->out_edges || !graph->in_edges))
        return violation(c, "edges are missing");
    return BERTH_OK;
}

/* Each step may rely on what the steps before it have found in order. */
static berth_status check_all(checker *c) {
    const berth_graph *graph = c->graph;
    BERTH_TRY(check_frame(c));
    BERTH_TRY(check_ops(c));
    BERTH_TRY(check_tensors(c));
    BERTH_TRY(check_list(c, graph->inputs, graph->n_inputs, BERTH_TENSOR_INPUT));
    BERTH_TRY(check_list(c, graph->outputs, graph->n_outputs, BERTH_TENSOR_OUTPUT));
    BERTH_TRY(check_edges(c));
    BERTH_TRY(check_csr(c, graph->out_start, graph->out_edges, true));
    BERTH_TRY(check_csr(c, graph->in_start, graph->in_edges, false));
    BERTH_TRY(check_order(c));
    BERTH_TRY(check_pairs(c));
    BERTH_TRY(check_flags(c));
    return check_given(c);
}

berth_status berth_graph_check(berth_ctx *ctx, const berth_graph *graph) {
    checker c = {.ctx = ctx, .graph = graph};
    berth_arena_init(&c.scratch, berth_ctx_allocator(ctx));
    berth_status status = check_all(&c);
    berth_arena_deinit(&c.scratch);
    return status;
}
