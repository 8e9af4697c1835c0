/* SPDX-License-Identifier: Apache-2.0 */
/* Workloads of DAGBench: one JSON object with a task graph and a network of machines, everything linked by name.
 *
 * A task takes cost / speed of its machine; what a dependency carries takes size / speed of the link, and nothing
 * within a machine (links of a machine to itself are listed with a token speed). A link holds both ways; machines
 * without a link cannot send each other anything. Units are the file's own and are taken as ms. */
#include "read/given.h"
#include "read/given_json.h"
#include "read/readers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct dagbench {
    berth_ctx *ctx;
    berth_build *b;
    const berth_source *source;
    berth_arena scratch; /* the document, and what follows; the maps borrow its names */
    berth_map tasks, machines;
    const berth_json *task_list, *dependencies, *machine_list, *links;
    int32_t n_machines;
    double *speed; /* [machine] */
    berth_given_edge *edges;
    /* in the graph's arena, on their way into berth_given_costs */
    double *op_ms, *edge_amount, *link_ms;
    const char **machine_names;
} dagbench;

bool berth_dagbench_recognise(const char *bytes, size_t size) {
    return berth_given_json_has_key(bytes, size, "task_graph");
}

/* The name of a task or machine: not empty, and not yet in the map. It is copied into the graph. */
static berth_status read_name(dagbench *r, const berth_json *row, berth_map *map, int32_t index, const char **out) {
    const char *name = NULL;
    bool fresh = false;
    BERTH_TRY(berth_json_want_string(r->ctx, r->source->name, row, "name", &name));
    if (!*name) return berth_build_fail(r->b, BERTH_E_FORMAT, row->line, "'name' is empty");
    const int32_t *first = berth_map_insert(map, name, strlen(name), index, &fresh);
    if (!first) return berth_fail_nomem(r->ctx);
    if (!fresh)
        return berth_build_fail(r->b, BERTH_E_FORMAT, row->line,
                                "the name '%.200s' stands twice, first at [%" PRId32 "]", name, *first);
    *out = berth_arena_string(berth_build_arena(r->b), name, strlen(name));
    return *out ? BERTH_OK : berth_fail_nomem(r->ctx);
}

/* One end of a dependency or link, by name. */
static berth_status want_end(const dagbench *r, const berth_json *row, const char *key, const berth_map *map,
                             int32_t *out) {
    const char *name = NULL;
    BERTH_TRY(berth_json_want_string(r->ctx, r->source->name, row, key, &name));
    const int32_t *found = berth_map_find(map, name, strlen(name));
    if (!found)
        return berth_build_fail(r->b, BERTH_E_FORMAT, row->line, "'%s' is '%.200s', which is not in the list", key,
                                name);
    *out = *found;
    return BERTH_OK;
}

static berth_status want_speed(const dagbench *r, const berth_json *row, double *out) {
    BERTH_TRY(berth_given_json_amount(r->ctx, r->source, row, "speed", out));
    if (*out >= 1 / BERTH_GIVEN_MAX_NUMBER) return BERTH_OK;
    return berth_build_fail(r->b, BERTH_E_FORMAT, row->line, "'speed' must be above 0 (at least %g), not %g",
                            1 / BERTH_GIVEN_MAX_NUMBER, *out);
}

static berth_status read_machine(dagbench *r, const berth_json *row, int32_t index) {
    BERTH_TRY(read_name(r, row, &r->machines, index, &r->machine_names[index]));
    return want_speed(r, row, &r->speed[index]);
}

static berth_status read_link(dagbench *r, const berth_json *row, int32_t index) {
    (void)index;
    int32_t a = 0, b = 0;
    double speed = 0;
    BERTH_TRY(want_end(r, row, "source", &r->machines, &a));
    BERTH_TRY(want_end(r, row, "target", &r->machines, &b));
    BERTH_TRY(want_speed(r, row, &speed));
    if (a == b) return BERTH_OK;
    double *there = &r->link_ms[a * r->n_machines + b], *back = &r->link_ms[b * r->n_machines + a];
    if (isfinite(*there) && *there != 1 / speed)
        return berth_build_fail(r->b, BERTH_E_FORMAT, row->line,
                                "'speed' of the link between '%.200s' and '%.200s' was given before, as another",
                                r->machine_names[a], r->machine_names[b]);
    *there = *back = 1 / speed;
    return BERTH_OK;
}

static berth_status read_task(dagbench *r, const berth_json *row, int32_t index) {
    berth_op op = {.type = "task", .domain = "", .id = index, .where = row->line};
    double cost = 0, *ms = r->op_ms + (size_t)index * (size_t)r->n_machines;
    BERTH_TRY(read_name(r, row, &r->tasks, index, &op.name));
    BERTH_TRY(berth_given_json_amount(r->ctx, r->source, row, "cost", &cost));
    for (int32_t machine = 0; machine < r->n_machines; machine++) ms[machine] = cost / r->speed[machine];
    return berth_build_op(r->b, &op) < 0 ? berth_fail_nomem(r->ctx) : BERTH_OK;
}

static berth_status read_dependency(dagbench *r, const berth_json *row, int32_t index) {
    berth_given_edge *edge = &r->edges[index];
    edge->where = row->line;
    BERTH_TRY(want_end(r, row, "source", &r->tasks, &edge->from));
    BERTH_TRY(want_end(r, row, "target", &r->tasks, &edge->to));
    return berth_given_json_amount(r->ctx, r->source, row, "size", &r->edge_amount[index]);
}

static berth_status for_each(dagbench *r, const berth_json *list, const char *name,
                             berth_status (*read)(dagbench *r, const berth_json *row, int32_t index)) {
    int32_t index = 0;
    for (const berth_json *row = list->child; row; row = row->next, index++)
        BERTH_TRY(berth_given_json_in(r->ctx, read(r, row, index), name, index));
    return BERTH_OK;
}

static berth_status find_lists(dagbench *r, const berth_json *root) {
    const char *file = r->source->name;
    const berth_json *graph = NULL, *network = NULL;
    BERTH_TRY(berth_json_want(r->ctx, file, root, "task_graph", BERTH_JSON_OBJECT, &graph));
    BERTH_TRY(berth_json_want(r->ctx, file, graph, "tasks", BERTH_JSON_ARRAY, &r->task_list));
    BERTH_TRY(berth_json_want(r->ctx, file, graph, "dependencies", BERTH_JSON_ARRAY, &r->dependencies));
    BERTH_TRY(berth_json_want(r->ctx, file, root, "network", BERTH_JSON_OBJECT, &network));
    BERTH_TRY(berth_json_want(r->ctx, file, network, "nodes", BERTH_JSON_ARRAY, &r->machine_list));
    BERTH_TRY(berth_json_want(r->ctx, file, network, "edges", BERTH_JSON_ARRAY, &r->links));
    r->n_machines = r->machine_list->count;
    if (r->n_machines < 1 || r->n_machines > BERTH_GIVEN_MAX_DEVICES)
        return berth_build_fail(r->b, BERTH_E_FORMAT, r->machine_list->line,
                                "the network must have 1 to %d nodes, not %" PRId32, BERTH_GIVEN_MAX_DEVICES,
                                r->n_machines);
    return berth_given_check_room(r->b, r->task_list->line, r->source, (size_t)r->task_list->count,
                                  (size_t)r->n_machines);
}

static berth_status make_costs(dagbench *r) {
    berth_arena *arena = berth_build_arena(r->b);
    size_t n = (size_t)r->n_machines, n_edges = (size_t)r->dependencies->count;
    berth_given_costs *given =
        berth_given_new(r->b, (size_t)r->task_list->count, r->n_machines, &r->op_ms, &r->machine_names);
    r->edge_amount = berth_arena_push(arena, n_edges, sizeof *r->edge_amount);
    r->link_ms = berth_arena_push(arena, n * n, sizeof *r->link_ms);
    r->speed = berth_arena_push(&r->scratch, n, sizeof *r->speed);
    r->edges = berth_arena_push(&r->scratch, n_edges, sizeof *r->edges);
    if (!given || arena->failed || r->scratch.failed) return berth_fail_nomem(r->ctx);
    for (size_t i = 0; i < n * n; i++) r->link_ms[i] = i % (n + 1) ? INFINITY : 0;
    given->edge_amount = r->edge_amount;
    given->link_ms = r->link_ms;
    return BERTH_OK;
}

static berth_status read_all(dagbench *r, berth_graph **out, const berth_read_options *options) {
    const berth_json *root = NULL;
    const char *name = "";
    BERTH_TRY(berth_json_parse(r->ctx, &r->scratch, r->source->name, r->source->bytes, r->source->size,
                               options->max_depth, &root));
    BERTH_TRY(find_lists(r, root));
    if (berth_json_get(root, "name")) BERTH_TRY(berth_json_want_string(r->ctx, r->source->name, root, "name", &name));
    BERTH_TRY(make_costs(r));
    BERTH_TRY(for_each(r, r->machine_list, "network.nodes", read_machine));
    BERTH_TRY(for_each(r, r->links, "network.edges", read_link));
    BERTH_TRY(for_each(r, r->task_list, "task_graph.tasks", read_task));
    BERTH_TRY(berth_given_check_tasks(r->b, options));
    BERTH_TRY(for_each(r, r->dependencies, "task_graph.dependencies", read_dependency));
    BERTH_TRY(berth_given_connect(r->b, r->edges, (size_t)r->dependencies->count, BERTH_GIVEN_TENSOR_PER_EDGE));
    r->b->graph->name = berth_arena_string(berth_build_arena(r->b), name, strlen(name));
    BERTH_TRY(berth_build_link(r->b));
    return berth_build_seal(r->b, out);
}

berth_status berth_dagbench_read(berth_ctx *ctx, berth_graph **out, const berth_source *source,
                                 const berth_read_options *options) {
    *out = NULL;
    dagbench r = {.ctx = ctx, .source = source};
    BERTH_TRY(berth_build_new(ctx, &r.b, BERTH_FORMAT_DAGBENCH, source->name));
    berth_arena_init(&r.scratch, berth_ctx_allocator(ctx));
    berth_map_init(&r.tasks, ctx);
    berth_map_init(&r.machines, ctx);
    berth_status status = read_all(&r, out, options);
    berth_map_deinit(&r.machines);
    berth_map_deinit(&r.tasks);
    berth_arena_deinit(&r.scratch);
    berth_build_free(r.b);
    return status;
}
