/* SPDX-License-Identifier: Apache-2.0 */
/* Workload files name their tasks by numbers or names and list the links between them in any order. Here the links
 * become edges with ports and tensors: two counting sorts by task, linear in the file. Ports follow the order of the
 * links in the file, at both ends.
 *
 * Tables of costs are dense, tasks times devices, and a file can ask for both in few bytes ("maxFPGAs": 200). Their
 * size is therefore held to a small multiple of the file's. */
#include "read/given.h"

#include <string.h>

enum { FREE_ROOM = 1 << 16, ROOM_PER_BYTE = 4 };

void berth_given_ids_init(berth_given_ids *ids, berth_ctx *ctx) {
    berth_map_init(&ids->map, ctx);
    berth_arena_init(&ids->keys, berth_ctx_allocator(ctx));
}

void berth_given_ids_deinit(berth_given_ids *ids) {
    berth_map_deinit(&ids->map);
    berth_arena_deinit(&ids->keys);
}

int32_t berth_given_ids_find(const berth_given_ids *ids, int64_t id) {
    const int32_t *found = berth_map_find(&ids->map, (const char *)&id, sizeof id);
    return found ? *found : -1;
}

int32_t berth_given_ids_put(berth_given_ids *ids, int64_t id, int32_t fresh) {
    int32_t found = berth_given_ids_find(ids, id);
    if (found >= 0) return found;
    const char *key = berth_arena_copy(&ids->keys, &id, 1, sizeof id);
    return key && berth_map_insert(&ids->map, key, sizeof id, fresh, NULL) ? fresh : -1;
}

/* The links of each task, in file order: list[start[task]] .. list[start[task + 1] - 1]. */
typedef struct links {
    int32_t *start, *list;
} links;

static links sort_links(berth_arena *arena, const berth_given_edge *edges, size_t n_edges, size_t n_ops,
                        bool by_source) {
    links by = {berth_arena_push(arena, n_ops + 1, sizeof *by.start),
                berth_arena_push(arena, n_edges, sizeof *by.list)};
    int32_t *next = berth_arena_push(arena, n_ops + 1, sizeof *next);
    if (arena->failed) return by;
    for (size_t e = 0; e < n_edges; e++) by.start[(by_source ? edges[e].from : edges[e].to) + 1]++;
    for (size_t op = 0; op < n_ops; op++) by.start[op + 1] += by.start[op];
    memcpy(next, by.start, n_ops * sizeof *next);
    for (size_t e = 0; e < n_edges; e++) by.list[next[by_source ? edges[e].from : edges[e].to]++] = (int32_t)e;
    return by;
}

static berth_status check_links(berth_build *b, const berth_given_edge *edges, const links *out, int32_t *seen,
                                bool once) {
    int32_t n_ops = (int32_t)b->ops.n;
    memset(seen, 0xff, b->ops.n * sizeof *seen);
    for (int32_t op = 0; op < n_ops; op++) {
        for (int32_t i = out->start[op]; i < out->start[op + 1]; i++) {
            const berth_given_edge *edge = &edges[out->list[i]];
            const char *from = b->ops.items[op].name, *to = b->ops.items[edge->to].name;
            if (edge->to == op)
                return berth_build_fail(b, BERTH_E_FORMAT, edge->where,
                                        "the graph has a cycle: '%.200s' follows itself", from);
            if (once && seen[edge->to] == op)
                return berth_build_fail(b, BERTH_E_FORMAT, edge->where, "'%.200s' to '%.200s' is listed twice", from,
                                        to);
            seen[edge->to] = op;
        }
    }
    return BERTH_OK;
}

/* Tensors, and for each link the tensor it carries and the port it leaves from. */
static void make_tensors(berth_build *b, berth_edge *rows, const links *out, berth_given_tensors tensors) {
    berth_tensor blank = {.name = "", .producer = -1, .port = -1, .shape = {.rank = -1}, .bytes = -1};
    for (int32_t op = 0; op < (int32_t)b->ops.n; op++) {
        int32_t first = out->start[op], end = out->start[op + 1], tensor = -1;
        for (int32_t i = first; i < end; i++) {
            berth_edge *row = &rows[out->list[i]];
            if (i == first || tensors == BERTH_GIVEN_TENSOR_PER_EDGE) tensor = berth_build_tensor(b, &blank);
            row->tensor = tensor;
            row->from_port = tensors == BERTH_GIVEN_TENSOR_PER_EDGE ? i - first : 0;
        }
    }
}

/* Ports of all operations; `ports` has room for one number per link, twice. */
static berth_status make_ports(berth_build *b, berth_edge *rows, const links *out, const links *in, int32_t *ports) {
    for (int32_t op = 0; op < (int32_t)b->ops.n; op++) {
        int32_t n_inputs = in->start[op + 1] - in->start[op], n_outputs = 0;
        for (int32_t i = 0; i < n_inputs; i++) {
            berth_edge *row = &rows[in->list[in->start[op] + i]];
            row->to_port = i;
            ports[i] = row->tensor;
        }
        int32_t *outputs = ports + n_inputs;
        for (int32_t i = out->start[op]; i < out->start[op + 1]; i++) {
            const berth_edge *row = &rows[out->list[i]];
            if (row->from_port == n_outputs) outputs[n_outputs++] = row->tensor;
        }
        BERTH_TRY(berth_build_ports(b, op, ports, n_inputs, 0, outputs, n_outputs));
    }
    return BERTH_OK;
}

static berth_status connect(berth_build *b, berth_arena *scratch, const berth_given_edge *edges, size_t n_edges,
                            berth_given_tensors tensors) {
    links out = sort_links(scratch, edges, n_edges, b->ops.n, true);
    links in = sort_links(scratch, edges, n_edges, b->ops.n, false);
    berth_edge *rows = berth_arena_push(scratch, n_edges, sizeof *rows);
    int32_t *ports = berth_arena_push(scratch, 2 * n_edges, sizeof *ports);
    int32_t *seen = berth_arena_push(scratch, b->ops.n, sizeof *seen);
    if (scratch->failed) return berth_fail_nomem(b->ctx);
    BERTH_TRY(check_links(b, edges, &out, seen, tensors == BERTH_GIVEN_TENSOR_PER_EDGE));
    for (size_t e = 0; e < n_edges; e++) rows[e] = (berth_edge){.from = edges[e].from, .to = edges[e].to};
    make_tensors(b, rows, &out, tensors);
    BERTH_TRY(make_ports(b, rows, &out, &in, ports));
    for (size_t e = 0; e < n_edges; e++) berth_build_edge(b, &rows[e]);
    return BERTH_OK;
}

berth_status berth_given_connect(berth_build *b, const berth_given_edge *edges, size_t n_edges,
                                 berth_given_tensors tensors) {
    if (b->failed || n_edges >= INT32_MAX) return berth_fail_nomem(b->ctx);
    berth_arena scratch;
    berth_arena_init(&scratch, berth_ctx_allocator(b->ctx));
    berth_status status = connect(b, &scratch, edges, n_edges, tensors);
    berth_arena_deinit(&scratch);
    return status;
}

berth_given_costs *berth_given_new(berth_build *b, size_t n_ops, int32_t n_devices, double **op_ms,
                                   const char ***device_names) {
    berth_arena *arena = berth_build_arena(b);
    berth_given_costs *given = berth_arena_push(arena, 1, sizeof *given);
    *op_ms = berth_arena_push(arena, n_ops * (size_t)n_devices, sizeof **op_ms);
    *device_names = berth_arena_push(arena, (size_t)n_devices, sizeof **device_names);
    if (arena->failed) return NULL;
    given->n_devices = n_devices;
    given->op_ms = *op_ms;
    given->device_names = *device_names;
    b->graph->given = given;
    return given;
}

berth_status berth_given_check_room(berth_build *b, int64_t where, const berth_source *source, size_t n,
                                    size_t n_columns) {
    size_t room = source->size > SIZE_MAX / ROOM_PER_BYTE ? SIZE_MAX : source->size * ROOM_PER_BYTE;
    if (room < FREE_ROOM) room = FREE_ROOM;
    if (n_columns == 0 || n <= room / n_columns) return BERTH_OK;
    return berth_build_fail(b, BERTH_E_FORMAT, where, "%zu x %zu times are out of proportion to a file of %zu bytes", n,
                            n_columns, source->size);
}

berth_status berth_given_check_tasks(berth_build *b, const berth_read_options *options) {
    if (b->failed) return berth_fail_nomem(b->ctx);
    if (options->n_shapes > 0)
        return berth_build_fail(b, BERTH_E_ARG, -1, "a workload has no input '%.200s' to give a shape to",
                                options->shapes[0].input);
    if (b->ops.n == 0) return berth_build_fail(b, BERTH_E_FORMAT, 1, "the workload has no tasks");
    return BERTH_OK;
}
