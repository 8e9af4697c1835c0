/* SPDX-License-Identifier: Apache-2.0 */
/* profile.json (docs/formats.md): times that were measured, in place of estimates. The file must be of this very model
 * (by fingerprint). Operations and devices that it does not have keep their estimates, and a line says how many. A
 * measured time holds the launch; where the simulator charges that apart, it is taken off. */
#include "cost/build.h"

#include "base/file.h"
#include "base/json.h"
#include "base/map.h"
#include "graph/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 30, MAX_DEPTH = 32 };
#define GREATEST_MS   1e12
#define LEAST_RATE    1e-3 /* bytes per ms: 1 byte/s */
#define GREATEST_RATE 1e27

typedef struct profile {
    berth_costs_build *b;
    const char *name; /* of the file */
    berth_map devices;
    int32_t n_devices;   /* listed in the file */
    const char **listed; /* [n_devices] */
    int32_t *device;     /* [n_devices] of the set, or -1 */
    int32_t *seen_in;    /* [n_devices] the row that named it last, plus one */
    bool *measured;      /* [n_ops] */
    bool measured_link[BERTH_MAX_DEVICES * BERTH_MAX_DEVICES];
} profile;

static berth_status refuse(const profile *p, const berth_json *at, const char *what, const char *word) {
    return berth_fail(p->b->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": %s '%.200s'", p->name, at->line, what, word);
}

static berth_status check_model(const profile *p, const berth_json *root) {
    static const char *const keys[] = {"name", "fingerprint", NULL};
    const berth_json *model = NULL;
    const char *fingerprint = NULL;
    BERTH_TRY(berth_json_want(p->b->ctx, p->name, root, "model", BERTH_JSON_OBJECT, &model));
    BERTH_TRY(berth_json_only(p->b->ctx, p->name, model, keys));
    BERTH_TRY(berth_json_want_string(p->b->ctx, p->name, model, "fingerprint", &fingerprint));
    if (strcmp(fingerprint, berth_graph_fingerprint(p->b->graph)) == 0) return BERTH_OK;
    return refuse(p, berth_json_get(model, "fingerprint"), "this was measured on another model, whose fingerprint is",
                  fingerprint);
}

static berth_status list_devices(profile *p, const berth_json *root) {
    berth_costs_build *b = p->b;
    const berth_json *list = NULL;
    int32_t known = 0;
    BERTH_TRY(berth_json_want(b->ctx, p->name, root, "devices", BERTH_JSON_ARRAY, &list));
    p->listed = berth_arena_push(&b->scratch, (size_t)list->count, sizeof *p->listed);
    p->device = berth_arena_push(&b->scratch, (size_t)list->count, sizeof *p->device);
    p->seen_in = berth_arena_push(&b->scratch, (size_t)list->count, sizeof *p->seen_in);
    if (b->scratch.failed) return berth_fail_nomem(b->ctx);
    for (const berth_json *item = list->child; item; item = item->next) {
        bool fresh = false;
        if (item->kind != BERTH_JSON_STRING || memchr(item->string, 0, item->size))
            return refuse(p, item, "only names may stand in", "devices");
        if (!berth_map_insert(&p->devices, item->string, item->size, p->n_devices, &fresh))
            return berth_fail_nomem(b->ctx);
        if (!fresh) return refuse(p, item, "a second time in 'devices':", item->string);
        p->listed[p->n_devices] = item->string;
        p->device[p->n_devices] = berth_device_find(b->devices, item->string);
        known += p->device[p->n_devices++] >= 0;
    }
    if (known == 0) return refuse(p, list, "none of the devices to place on is in", "devices");
    if (known < b->devices->n_devices)
        berth_log(b->ctx, BERTH_LOG_WARNING, "%s: has no times for %" PRId32 " of %" PRId32 " devices: estimated",
                  p->name, b->devices->n_devices - known, b->devices->n_devices);
    return BERTH_OK;
}

static berth_status find_listed(const profile *p, const berth_json *at, const char *name, size_t size, int32_t *out) {
    const int32_t *found = berth_map_find(&p->devices, name, size);
    if (!found) return refuse(p, at, "not in 'devices':", name);
    *out = *found;
    return BERTH_OK;
}

/* --- operations ------------------------------------------------------------------------------------------------- */

static berth_status take_time(const profile *p, const berth_json *value, int32_t device, int32_t task) {
    const berth_costs *c = p->b->costs;
    bool is_null = value->kind == BERTH_JSON_NULL;
    if (!is_null && (value->kind != BERTH_JSON_NUMBER || !(value->number >= 0 && value->number <= GREATEST_MS)))
        return refuse(p, value, "a time must be a number of ms, at least 0, or null, for", value->key);
    if (task < 0 || device < 0) return BERTH_OK;
    double ms = is_null ? INFINITY : value->number + 0.0;
    if (berth_costs_launch_apart(c, device)) ms = ms > c->launch_ms[device] ? ms - c->launch_ms[device] : 0;
    p->b->time_ms[(size_t)task * p->b->n_devices + (size_t)device] = ms;
    return BERTH_OK;
}

static berth_status read_times(profile *p, const berth_json *times, int32_t row, int32_t task) {
    for (const berth_json *value = times->child; value; value = value->next) {
        int32_t listed = -1;
        BERTH_TRY(find_listed(p, value, value->key, value->key_size, &listed));
        p->seen_in[listed] = row + 1;
        BERTH_TRY(take_time(p, value, p->device[listed], task));
    }
    for (int32_t i = 0; i < p->n_devices; i++)
        if (p->seen_in[i] != row + 1) return refuse(p, times, "no time (null: it cannot run there) for", p->listed[i]);
    return BERTH_OK;
}

static berth_status read_operation(profile *p, const berth_json *object, int32_t row) {
    static const char *const keys[] = {"index", "name", "ms", NULL};
    berth_ctx *ctx = p->b->ctx;
    int64_t index = 0;
    const char *name = NULL;
    const berth_json *times = NULL;
    BERTH_TRY(berth_json_only(ctx, p->name, object, keys));
    BERTH_TRY(berth_json_want_integer(ctx, p->name, object, "index", 0, (int64_t)p->b->graph->n_ops - 1, &index));
    BERTH_TRY(berth_json_want_string(ctx, p->name, object, "name", &name));
    BERTH_TRY(berth_json_want(ctx, p->name, object, "ms", BERTH_JSON_OBJECT, &times));
    if (strcmp(name, p->b->graph->ops[index].name) != 0)
        return refuse(p, object, "the operation of this index has another name than", name);
    if (p->measured[index]) return refuse(p, object, "a second row for", name);
    p->measured[index] = true;
    return read_times(p, times, row, p->b->costs->op_task[index]);
}

static berth_status read_operations(profile *p, const berth_json *root) {
    const berth_json *list = NULL;
    int32_t row = 0, missing = 0;
    BERTH_TRY(berth_json_want(p->b->ctx, p->name, root, "operations", BERTH_JSON_ARRAY, &list));
    p->measured = berth_arena_push(&p->b->scratch, (size_t)p->b->graph->n_ops, sizeof *p->measured);
    if (!p->measured) return berth_fail_nomem(p->b->ctx);
    for (const berth_json *object = list->child; object; object = object->next, row++)
        BERTH_TRY(read_operation(p, object, row));
    for (int32_t task = 0; task < p->b->costs->n_tasks; task++) missing += !p->measured[p->b->costs->task_op[task]];
    if (missing > 0)
        berth_log(p->b->ctx, BERTH_LOG_WARNING, "%s: has no times for %" PRId32 " of %" PRId32 " operations: estimated",
                  p->name, missing, p->b->costs->n_tasks);
    return BERTH_OK;
}

/* --- transfers -------------------------------------------------------------------------------------------------- */

static berth_status want_number(const profile *p, const berth_json *object, const char *key, double low, double high,
                                double *out) {
    BERTH_TRY(berth_json_want_number(p->b->ctx, p->name, object, key, out));
    if (*out >= low && *out <= high) return BERTH_OK;
    return berth_fail(p->b->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' must be from %g to %g, not %g", p->name,
                      berth_json_get(object, key)->line, key, low, high, *out);
}

static berth_status read_transfer(profile *p, const berth_json *object) {
    static const char *const keys[] = {"from", "to", "fixed_ms", "bytes_per_ms", NULL};
    static const char *const ends[] = {"from", "to"};
    int32_t device[2] = {-1, -1};
    double fixed = 0, rate = 0;
    BERTH_TRY(berth_json_only(p->b->ctx, p->name, object, keys));
    for (int i = 0; i < 2; i++) {
        const char *name = NULL;
        BERTH_TRY(berth_json_want_string(p->b->ctx, p->name, object, ends[i], &name));
        BERTH_TRY(find_listed(p, object, name, strlen(name), &device[i]));
        device[i] = p->device[device[i]];
    }
    BERTH_TRY(want_number(p, object, "fixed_ms", 0, GREATEST_MS, &fixed));
    BERTH_TRY(want_number(p, object, "bytes_per_ms", LEAST_RATE, GREATEST_RATE, &rate));
    if (device[0] < 0 || device[1] < 0 || device[0] == device[1]) return BERTH_OK;
    size_t link = (size_t)device[0] * p->b->n_devices + (size_t)device[1];
    if (p->measured_link[link])
        return refuse(p, object, "a second transfer to", p->b->devices->devices[device[1]].name);
    p->measured_link[link] = true;
    p->b->copy_fixed[link] = fixed + 0.0;
    p->b->copy_per_unit[link] = 1 / rate;
    return BERTH_OK;
}

/* Pairs that were the sum of both legs through the host stay that sum when a leg was measured. */
static void route_again(const profile *p) {
    const berth_costs_build *b = p->b;
    const berth_link *old = b->devices->links;
    size_t n = b->n_devices, host = (size_t)b->devices->host;
    for (size_t from = 0; from < n; from++)
        for (size_t to = 0; to < n; to++) {
            size_t link = from * n + to, in = from * n + host, out = host * n + to;
            if (from == to || from == host || to == host || p->measured_link[link]) continue;
            if (old[link].fixed_ms != old[in].fixed_ms + old[out].fixed_ms ||
                old[link].ms_per_byte != old[in].ms_per_byte + old[out].ms_per_byte)
                continue;
            b->copy_fixed[link] = b->copy_fixed[in] + b->copy_fixed[out];
            b->copy_per_unit[link] = b->copy_per_unit[in] + b->copy_per_unit[out];
        }
}

static berth_status read_transfers(profile *p, const berth_json *root) {
    const berth_json *list = NULL;
    if (!berth_json_get(root, "transfers")) return BERTH_OK;
    BERTH_TRY(berth_json_want(p->b->ctx, p->name, root, "transfers", BERTH_JSON_ARRAY, &list));
    for (const berth_json *object = list->child; object; object = object->next) BERTH_TRY(read_transfer(p, object));
    route_again(p);
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status read_all(profile *p) {
    static const char *const keys[] = {"schema",  "berth",      "model",      "machine",   "runtime",
                                       "devices", "device_set", "operations", "transfers", NULL};
    berth_ctx *ctx = p->b->ctx;
    const char *bytes = NULL;
    size_t size = 0;
    int64_t schema = 0;
    const berth_json *root = NULL, *object = NULL;
    BERTH_TRY(berth_file_read(ctx, &p->b->scratch, p->name, MAX_FILE_BYTES, &bytes, &size));
    BERTH_TRY(berth_json_parse(ctx, &p->b->scratch, p->name, bytes, size, MAX_DEPTH, &root));
    BERTH_TRY(berth_json_only(ctx, p->name, root, keys));
    BERTH_TRY(berth_json_want_integer(ctx, p->name, root, "schema", 1, 1, &schema));
    if (berth_json_get(root, "machine"))
        BERTH_TRY(berth_json_want(ctx, p->name, root, "machine", BERTH_JSON_OBJECT, &object));
    if (berth_json_get(root, "runtime"))
        BERTH_TRY(berth_json_want(ctx, p->name, root, "runtime", BERTH_JSON_OBJECT, &object));
    BERTH_TRY(check_model(p, root));
    BERTH_TRY(list_devices(p, root));
    BERTH_TRY(read_operations(p, root));
    return read_transfers(p, root);
}

berth_status berth_costs_take_profile(berth_costs_build *b) {
    profile p = {.b = b, .name = b->options->profile};
    if (b->graph->given)
        return berth_fail(b->ctx, BERTH_E_ARG, "%.600s: a workload brings its own times and takes no profile", p.name);
    berth_map_init(&p.devices, b->ctx);
    berth_status status = read_all(&p);
    berth_map_deinit(&p.devices);
    return status;
}
