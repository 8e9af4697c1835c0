/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads of MSR (Tarnawski et al., "Efficient Algorithms for Device Placement of DNN Graph Operators", 2020): one
 * JSON object with lists of nodes and edges, for a host and k equal accelerators (the files call them FPGAs).
 *
 * Devices are cpu, acc.0 .. acc.(k-1). An edge's cost is the time between an accelerator and host memory, so that a
 * link takes 1 x cost between the CPU and an accelerator and 2 x cost, out and in, between two accelerators. It
 * belongs to what the node yields: all edges out of a node must cost the same, and its readers share one tensor. Sizes
 * count on accelerators only; host memory has no limit. */
#include "read/given.h"
#include "read/given_json.h"
#include "read/readers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct msr {
    berth_ctx *ctx;
    berth_build *b;
    const berth_source *source;
    berth_arena scratch; /* the document, and what follows */
    berth_given_ids tasks, colours;
    int32_t n_nodes, n_edges, n_devices, n_colours;
    double *yield_cost; /* [node] cost of its edges; < 0: not known */
    berth_given_edge *edges;
    /* in the graph's arena, on their way into berth_given_costs */
    double *op_ms, *op_memory, *edge_amount;
    int32_t *colour;
    bool *backward;
} msr;

bool berth_msr_recognise(const char *bytes, size_t size) {
    static const char *const keys[] = {"maxFPGAs", "maxSizePerFPGA", "maxCPUs"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (berth_given_json_has_key(bytes, size, keys[i])) return true;
    return false;
}

/* true and false, or 1 and 0: the files have both. */
static berth_status want_flag(const msr *r, const berth_json *node, const char *key, bool *out) {
    const berth_json *value = berth_json_get(node, key);
    if (value && value->kind == BERTH_JSON_NUMBER && value->is_integer &&
        (value->integer == 0 || value->integer == 1)) {
        *out = value->integer == 1;
        return BERTH_OK;
    }
    return berth_json_want_bool(r->ctx, r->source->name, node, key, out);
}

static bool is_given(const berth_json *node, const char *key) {
    const berth_json *value = berth_json_get(node, key);
    return value && value->kind != BERTH_JSON_NULL;
}

static berth_status read_colour(msr *r, const berth_json *node, int32_t index) {
    int64_t colour = -1;
    r->colour[index] = -1;
    if (is_given(node, "colorClass"))
        BERTH_TRY(berth_json_want_integer(r->ctx, r->source->name, node, "colorClass", -1, INT64_MAX, &colour));
    if (colour < 0) return BERTH_OK;
    r->colour[index] = berth_given_ids_put(&r->colours, colour, r->n_colours);
    if (r->colour[index] < 0) return berth_fail_nomem(r->ctx);
    if (r->colour[index] == r->n_colours) r->n_colours++;
    return BERTH_OK;
}

static berth_status read_times(msr *r, const berth_json *node, int32_t index) {
    bool accelerated = false;
    double *ms = r->op_ms + (size_t)index * (size_t)r->n_devices, accelerator_ms = INFINITY;
    BERTH_TRY(want_flag(r, node, "supportedOnFpga", &accelerated));
    BERTH_TRY(berth_given_json_amount(r->ctx, r->source, node, "cpuLatency", &ms[0]));
    if (accelerated || is_given(node, "fpgaLatency"))
        BERTH_TRY(berth_given_json_amount(r->ctx, r->source, node, "fpgaLatency", &accelerator_ms));
    for (int32_t device = 1; device < r->n_devices; device++) ms[device] = accelerated ? accelerator_ms : INFINITY;
    return berth_given_json_amount(r->ctx, r->source, node, "size", &r->op_memory[index]);
}

static berth_status read_node(msr *r, const berth_json *node, int32_t index) {
    const char *name = "";
    berth_op op = {.type = "task", .domain = "", .where = node->line};
    BERTH_TRY(berth_json_want_integer(r->ctx, r->source->name, node, "id", INT64_MIN, INT64_MAX, &op.id));
    if (is_given(node, "name")) BERTH_TRY(berth_json_want_string(r->ctx, r->source->name, node, "name", &name));
    berth_arena *arena = berth_build_arena(r->b);
    op.name = *name ? berth_arena_string(arena, name, strlen(name)) : berth_arena_printf(arena, "task%" PRId64, op.id);
    int32_t first = op.name ? berth_given_ids_put(&r->tasks, op.id, index) : -1;
    if (first < 0 || berth_build_op(r->b, &op) < 0) return berth_fail_nomem(r->ctx);
    if (first != index)
        return berth_build_fail(r->b, BERTH_E_FORMAT, node->line,
                                "the id %" PRId64 " is also that of nodes[%" PRId32 "]", op.id, first);
    BERTH_TRY(read_times(r, node, index));
    BERTH_TRY(read_colour(r, node, index));
    if (is_given(node, "isBackwardNode")) BERTH_TRY(want_flag(r, node, "isBackwardNode", &r->backward[index]));
    return BERTH_OK;
}

static berth_status want_node(const msr *r, const berth_json *edge, const char *key, int32_t *out) {
    int64_t id = 0;
    BERTH_TRY(berth_json_want_integer(r->ctx, r->source->name, edge, key, INT64_MIN, INT64_MAX, &id));
    *out = berth_given_ids_find(&r->tasks, id);
    if (*out >= 0) return BERTH_OK;
    return berth_build_fail(r->b, BERTH_E_FORMAT, edge->line, "'%s' is %" PRId64 ", which no node has", key, id);
}

static berth_status read_edge(msr *r, const berth_json *row, int32_t index) {
    berth_given_edge *edge = &r->edges[index];
    double *amount = &r->edge_amount[index];
    edge->where = row->line;
    BERTH_TRY(want_node(r, row, "sourceId", &edge->from));
    BERTH_TRY(want_node(r, row, "destId", &edge->to));
    BERTH_TRY(berth_given_json_amount(r->ctx, r->source, row, "cost", amount));
    double *known = &r->yield_cost[edge->from];
    if (*known >= 0 && *known != *amount)
        return berth_build_fail(r->b, BERTH_E_FORMAT, row->line,
                                "'cost' is %g where another edge out of '%.200s' has %g: they must be equal", *amount,
                                r->b->ops.items[edge->from].name, *known);
    *known = *amount;
    return BERTH_OK;
}

static berth_status make_room(msr *r, const berth_json *root) {
    BERTH_TRY(berth_given_check_room(r->b, root->line, r->source, (size_t)r->n_nodes, (size_t)r->n_devices));
    berth_arena *arena = berth_build_arena(r->b);
    size_t n_nodes = (size_t)r->n_nodes, n_edges = (size_t)r->n_edges;
    r->op_memory = berth_arena_push(arena, n_nodes, sizeof *r->op_memory);
    r->colour = berth_arena_push(arena, n_nodes, sizeof *r->colour);
    r->backward = berth_arena_push(arena, n_nodes, sizeof *r->backward);
    r->edge_amount = berth_arena_push(arena, n_edges, sizeof *r->edge_amount);
    r->yield_cost = berth_arena_push(&r->scratch, n_nodes, sizeof *r->yield_cost);
    r->edges = berth_arena_push(&r->scratch, n_edges, sizeof *r->edges);
    if (arena->failed || r->scratch.failed) return berth_fail_nomem(r->ctx);
    for (size_t i = 0; i < n_nodes; i++) r->yield_cost[i] = -1;
    return BERTH_OK;
}

static berth_status make_costs(msr *r, const berth_json *root) {
    int64_t accelerators = 0, cpus = 0;
    double capacity_each = 0;
    const char *file = r->source->name, **names = NULL;
    BERTH_TRY(berth_json_want_integer(r->ctx, file, root, "maxFPGAs", 0, BERTH_GIVEN_MAX_DEVICES - 1, &accelerators));
    BERTH_TRY(berth_json_want_integer(r->ctx, file, root, "maxCPUs", 0, INT32_MAX, &cpus));
    BERTH_TRY(berth_given_json_amount(r->ctx, r->source, root, "maxSizePerFPGA", &capacity_each));
    size_t n = (size_t)accelerators + 1;
    r->n_devices = (int32_t)n;
    BERTH_TRY(make_room(r, root));
    berth_arena *arena = berth_build_arena(r->b);
    berth_given_costs *given = berth_given_new(r->b, (size_t)r->n_nodes, r->n_devices, &r->op_ms, &names);
    double *capacity = berth_arena_push(arena, n, sizeof *capacity);
    double *link_ms = berth_arena_push(arena, n * n, sizeof *link_ms);
    if (!given || arena->failed) return berth_fail_nomem(r->ctx);
    for (size_t a = 0; a < n; a++) {
        names[a] = a ? berth_arena_printf(arena, "acc.%zu", a - 1) : "cpu";
        capacity[a] = a ? capacity_each : INFINITY;
        for (size_t b = 0; b < n; b++) link_ms[a * n + b] = a == b ? 0 : a == 0 || b == 0 ? 1 : 2;
    }
    given->edge_amount = r->edge_amount;
    given->link_ms = link_ms;
    given->op_memory = r->op_memory;
    given->capacity = capacity;
    given->colour = r->colour;
    given->backward = r->backward;
    given->max_cpus = (int32_t)cpus;
    return BERTH_OK;
}

static berth_status read_all(msr *r, berth_graph **out, const berth_read_options *options) {
    const berth_json *root = NULL, *nodes = NULL, *edges = NULL;
    BERTH_TRY(berth_json_parse(r->ctx, &r->scratch, r->source->name, r->source->bytes, r->source->size,
                               options->max_depth, &root));
    BERTH_TRY(berth_json_want(r->ctx, r->source->name, root, "nodes", BERTH_JSON_ARRAY, &nodes));
    BERTH_TRY(berth_json_want(r->ctx, r->source->name, root, "edges", BERTH_JSON_ARRAY, &edges));
    r->n_nodes = nodes->count;
    r->n_edges = edges->count;
    BERTH_TRY(make_costs(r, root));
    int32_t index = 0;
    for (const berth_json *node = nodes->child; node; node = node->next, index++)
        BERTH_TRY(berth_given_json_in(r->ctx, read_node(r, node, index), "nodes", index));
    BERTH_TRY(berth_given_check_tasks(r->b, options));
    index = 0;
    for (const berth_json *edge = edges->child; edge; edge = edge->next, index++)
        BERTH_TRY(berth_given_json_in(r->ctx, read_edge(r, edge, index), "edges", index));
    BERTH_TRY(berth_given_connect(r->b, r->edges, (size_t)r->n_edges, BERTH_GIVEN_TENSOR_PER_TASK));
    if (r->n_colours == 0) r->b->graph->given->colour = NULL;
    BERTH_TRY(berth_build_link(r->b));
    return berth_build_seal(r->b, out);
}

berth_status berth_msr_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                            const berth_read_options *options) {
    *out = NULL;
    msr r = {.ctx = ctx, .source = source};
    BERTH_TRY(berth_build_new(ctx, &r.b, BERTH_FORMAT_MSR, source->name));
    berth_arena_init(&r.scratch, berth_ctx_allocator(ctx));
    berth_given_ids_init(&r.tasks, ctx);
    berth_given_ids_init(&r.colours, ctx);
    berth_status status = read_all(&r, out, options);
    berth_given_ids_deinit(&r.colours);
    berth_given_ids_deinit(&r.tasks);
    berth_arena_deinit(&r.scratch);
    berth_build_free(r.b);
    return status;
}
