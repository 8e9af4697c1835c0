/* SPDX-License-Identifier: Apache-2.0 */
/* The profile: a JSON array of events as Chrome's tracing has them. A run is one event "model_run"; nodes are events of
 * the category "Node" whose names end in "_kernel_time"; kernels of WebGPU are events of the category "Api" named
 * "node&type&kernel", those of CUDA (where the library can see them) of the category "Kernel" with the node's name
 * among their arguments. */
#include "runtime/trace.h"

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "runtime/stats.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 32, MOST_RUNS = 4096 };
static const size_t most_bytes = (size_t)1 << 30;
static const char suffix[] = "_kernel_time";

typedef struct reader {
    berth_ctx *ctx;
    berth_arena *arena;
    const char *path;
    const berth_json *events;
    int32_t n_runs, n_nodes; /* nodes of one run */
    berth_map names;         /* of nodes, to positions in one run */
    berth_trace_node *nodes;
    double *host, *device; /* [n_nodes * n_runs] microseconds */
    bool *has_device;      /* [n_nodes] */
} reader;

static const char *text_of(const berth_json *object, const char *key) {
    const berth_json *value = object ? berth_json_get(object, key) : NULL;
    return value && value->kind == BERTH_JSON_STRING ? value->string : "";
}

static double microseconds_of(const berth_json *event) {
    const berth_json *value = berth_json_get(event, "dur");
    return value && value->kind == BERTH_JSON_NUMBER ? fmax(value->number, 0) : 0;
}

static bool is_node(const berth_json *event) {
    const char *name = text_of(event, "name");
    size_t n = strlen(name), k = sizeof suffix - 1;
    return strcmp(text_of(event, "cat"), "Node") == 0 && n >= k && strcmp(name + n - k, suffix) == 0;
}

static bool is_run(const berth_json *event) {
    return strcmp(text_of(event, "cat"), "Session") == 0 && strcmp(text_of(event, "name"), "model_run") == 0;
}

static berth_status refuse(const reader *r, const char *what) {
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%.400s: not a profile that can be used: %s", r->path, what);
}

static berth_status count(reader *r) {
    int32_t n = 0;
    for (const berth_json *e = r->events->child; e; e = e->next) {
        n += is_node(e);
        r->n_runs += is_run(e);
    }
    if (r->n_runs < 1 || r->n_runs > MOST_RUNS) return refuse(r, "it has no runs");
    if (n % r->n_runs != 0) return refuse(r, "its runs are not alike");
    r->n_nodes = n / r->n_runs;
    return BERTH_OK;
}

/* Nodes of every run come in the same order. */
static berth_status take_nodes(reader *r) {
    int32_t at = 0;
    for (const berth_json *e = r->events->child; e; e = e->next) {
        if (!is_node(e) || r->n_nodes == 0) continue;
        int32_t node = at % r->n_nodes, run = at / r->n_nodes;
        const berth_json *args = berth_json_get(e, "args");
        const char *name = text_of(e, "name");
        size_t n = strlen(name) - (sizeof suffix - 1);
        if (run == 0) {
            bool fresh;
            r->nodes[node].name = berth_arena_string(r->arena, name, n);
            r->nodes[node].type = text_of(args, "op_name");
            r->nodes[node].provider = text_of(args, "provider");
            if (!r->nodes[node].name || !berth_map_insert(&r->names, name, n, node, &fresh))
                return berth_fail_nomem(r->ctx);
        } else if (strlen(r->nodes[node].name) != n || memcmp(name, r->nodes[node].name, n) != 0) {
            return refuse(r, "its runs are not alike");
        }
        r->host[(size_t)node * (size_t)r->n_runs + (size_t)run] = microseconds_of(e);
        at++;
    }
    return BERTH_OK;
}

/* The node that a kernel event speaks of, or -1. */
static int32_t node_of_kernel(const reader *r, const berth_json *event) {
    const char *category = text_of(event, "cat"), *name = text_of(event, "name");
    size_t n = 0;
    if (strcmp(category, "Api") == 0) {
        n = strcspn(name, "&");
    } else if (strcmp(category, "Kernel") == 0) {
        name = text_of(berth_json_get(event, "args"), "op_name");
        n = strlen(name);
    } else {
        return -1;
    }
    const int32_t *found = berth_map_find(&r->names, name, n);
    return found ? *found : -1;
}

/* A node may have several kernels in a run, in each as many. */
static berth_status take_kernels(reader *r) {
    int32_t *total = berth_arena_push(r->arena, (size_t)r->n_nodes, sizeof *total);
    int32_t *seen = berth_arena_push(r->arena, (size_t)r->n_nodes, sizeof *seen);
    if (!total || !seen) return berth_fail_nomem(r->ctx);
    for (const berth_json *e = r->events->child; e; e = e->next) {
        int32_t node = node_of_kernel(r, e);
        if (node >= 0) total[node]++;
    }
    for (const berth_json *e = r->events->child; e; e = e->next) {
        int32_t node = node_of_kernel(r, e);
        if (node < 0) continue;
        int32_t each = (total[node] + r->n_runs - 1) / r->n_runs, run = seen[node]++ / each;
        r->has_device[node] = true;
        r->device[(size_t)node * (size_t)r->n_runs + (size_t)run] += microseconds_of(e);
    }
    return BERTH_OK;
}

static void sum_up(reader *r, int32_t skip) {
    if (skip >= r->n_runs) skip = r->n_runs - 1;
    size_t n = (size_t)(r->n_runs - skip);
    for (int32_t i = 0; i < r->n_nodes; i++) {
        size_t at = (size_t)i * (size_t)r->n_runs + (size_t)skip;
        r->nodes[i].host_ms = 1e-3 * berth_stats_quantile(r->host + at, n, 0.5);
        r->nodes[i].device_ms = r->has_device[i] ? 1e-3 * berth_stats_quantile(r->device + at, n, 0.5) : NAN;
    }
}

static berth_status read_events(reader *r, int32_t skip) {
    BERTH_TRY(count(r));
    size_t n = (size_t)r->n_nodes, times = n * (size_t)r->n_runs;
    r->nodes = berth_arena_push(r->arena, n, sizeof *r->nodes);
    r->host = berth_arena_push(r->arena, times, sizeof *r->host);
    r->device = berth_arena_push(r->arena, times, sizeof *r->device);
    r->has_device = berth_arena_push(r->arena, n, sizeof *r->has_device);
    if (r->arena->failed) return berth_fail_nomem(r->ctx);
    BERTH_TRY(take_nodes(r));
    BERTH_TRY(take_kernels(r));
    sum_up(r, skip);
    return BERTH_OK;
}

berth_status berth_trace_read(berth_ctx *ctx, berth_arena *arena, const char *path, int32_t skip, berth_trace *out) {
    reader r = {.ctx = ctx, .arena = arena, .path = path};
    const char *bytes = NULL;
    size_t size = 0;
    *out = (berth_trace){0};
    BERTH_TRY(berth_file_read(ctx, arena, path, most_bytes, &bytes, &size));
    BERTH_TRY(berth_json_parse(ctx, arena, path, bytes, size, MAX_DEPTH, &r.events));
    if (r.events->kind != BERTH_JSON_ARRAY) return refuse(&r, "it is not a list of events");
    berth_map_init(&r.names, ctx);
    berth_status status = read_events(&r, skip);
    berth_map_deinit(&r.names);
    if (status == BERTH_OK) *out = (berth_trace){r.n_runs, r.n_nodes, r.nodes};
    return status;
}
