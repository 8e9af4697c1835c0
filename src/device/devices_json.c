/* SPDX-License-Identifier: Apache-2.0 */
/* devices.json (docs/formats.md), read strictly: a key that is not known, a number out of its range and a device that
 * nothing links to the host are refused with their line. A device may start from a built-in profile and change what it
 * names. What the writer puts down reads back to the same set, bit for bit. */
#include "device/set.h"

#include "device/profiles.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Wide enough for any machine, narrow enough that no sum or quotient of them overflows. */
#define LEAST_RATE       1.0
#define GREATEST_RATE    1e30
#define LEAST_EFFICIENCY 1e-6

typedef struct reader {
    berth_ctx *ctx;
    const char *name; /* of the file */
    berth_device_draft *draft;
    const berth_profile *profile[BERTH_MAX_DEVICES]; /* what a device starts from, or NULL */
    int32_t line[BERTH_MAX_DEVICES];
    bool *has_link; /* [n_devices * n_devices] */
} reader;

static berth_status refuse(const reader *r, const berth_json *at, const char *what, const char *word) {
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": %s '%.80s'", r->name, at->line, what, word);
}

/* A number in [low, high]; *out stays what it was if the key is missing. `found` may be NULL. */
static berth_status take_number(const reader *r, const berth_json *object, const char *key, double low, double high,
                                double *out, bool *found) {
    double number = 0;
    const berth_json *value = berth_json_get(object, key);
    if (found) *found = value != NULL;
    if (!value) return BERTH_OK;
    BERTH_TRY(berth_json_want_number(r->ctx, r->name, object, key, &number));
    if (!(number >= low && number <= high))
        return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%.80s' must be from %g to %g, not %g", r->name,
                          value->line, key, low, high, number);
    *out = number + 0.0; /* never a negative zero */
    return BERTH_OK;
}

static berth_status take_string(const reader *r, const berth_json *object, const char *key, const char **out) {
    const char *text = NULL;
    const berth_json *value = berth_json_get(object, key);
    if (!value) return BERTH_OK;
    BERTH_TRY(berth_json_want_string(r->ctx, r->name, object, key, &text));
    if (!*text) return refuse(r, value, "an empty", key);
    *out = berth_arena_string(&r->draft->arena, text, strlen(text));
    return *out ? BERTH_OK : berth_fail_nomem(r->ctx);
}

/* --- a device --------------------------------------------------------------------------------------------------- */

static berth_status read_flops(const reader *r, const berth_json *object, berth_device *device) {
    const berth_json *rates = NULL;
    if (!berth_json_get(object, "flops_per_s")) return BERTH_OK;
    BERTH_TRY(berth_json_want(r->ctx, r->name, object, "flops_per_s", BERTH_JSON_OBJECT, &rates));
    const char *keys[BERTH_TYPE_COUNT + 1];
    int n = 0;
    for (int type = 0; type < BERTH_TYPE_COUNT; type++)
        if (berth_type_bits((berth_type)type) > 0) keys[n++] = berth_type_name((berth_type)type);
    keys[n] = NULL;
    BERTH_TRY(berth_json_only(r->ctx, r->name, rates, keys));
    memset(device->flops, 0, sizeof device->flops); /* a list of rates stands for itself, whatever the profile has */
    for (int type = 0; type < BERTH_TYPE_COUNT; type++)
        BERTH_TRY(take_number(r, rates, berth_type_name((berth_type)type), LEAST_RATE, GREATEST_RATE,
                              &device->flops[type], NULL));
    if (rates->count == 0) return refuse(r, rates, "no rate in", "flops_per_s");
    return BERTH_OK;
}

static berth_status read_efficiency(const reader *r, const berth_json *object, berth_device *device) {
    const berth_json *shares = NULL;
    double other = NAN;
    if (!berth_json_get(object, "efficiency")) return BERTH_OK;
    BERTH_TRY(berth_json_want(r->ctx, r->name, object, "efficiency", BERTH_JSON_OBJECT, &shares));
    const char *keys[BERTH_WORK_CLASS_COUNT + 1] = {"default"};
    for (int cls = BERTH_WORK_FREE + 1; cls < BERTH_WORK_CLASS_COUNT; cls++)
        keys[cls] = berth_work_class_name((berth_work_class)cls);
    BERTH_TRY(berth_json_only(r->ctx, r->name, shares, keys));
    BERTH_TRY(take_number(r, shares, "default", LEAST_EFFICIENCY, 1, &other, NULL));
    for (int cls = BERTH_WORK_FREE + 1; cls < BERTH_WORK_CLASS_COUNT; cls++) {
        if (!isnan(other)) device->efficiency[cls] = other;
        BERTH_TRY(take_number(r, shares, keys[cls], LEAST_EFFICIENCY, 1, &device->efficiency[cls], NULL));
    }
    return BERTH_OK;
}

static berth_status read_unsupported(const reader *r, const berth_json *object, berth_device *device) {
    const berth_json *list = NULL;
    if (!berth_json_get(object, "unsupported")) return BERTH_OK;
    BERTH_TRY(berth_json_want(r->ctx, r->name, object, "unsupported", BERTH_JSON_ARRAY, &list));
    const char **types = berth_arena_push(&r->draft->arena, (size_t)list->count, sizeof *types);
    if (!types) return berth_fail_nomem(r->ctx);
    device->n_unsupported = 0;
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_STRING || memchr(item->string, 0, item->size))
            return refuse(r, item, "only names of operation types may stand in", "unsupported");
        const char *copy = berth_arena_string(&r->draft->arena, item->string, item->size);
        if (!copy) return berth_fail_nomem(r->ctx);
        types[device->n_unsupported++] = copy;
    }
    device->unsupported = types;
    return BERTH_OK;
}

/* "null" is no limit, as for a device that does not say. */
static berth_status read_memory(const reader *r, const berth_json *object, berth_device *device) {
    const berth_json *value = berth_json_get(object, "memory_bytes");
    if (value && value->kind == BERTH_JSON_NULL) {
        device->memory_bytes = INFINITY;
        return BERTH_OK;
    }
    return take_number(r, object, "memory_bytes", 0, BERTH_GREATEST_BYTES, &device->memory_bytes, NULL);
}

static berth_status start_device(reader *r, const berth_json *object, int32_t index) {
    berth_device *device = &r->draft->devices[index];
    const char *profile = NULL;
    BERTH_TRY(take_string(r, object, "profile", &profile));
    device->memory_bytes = INFINITY;
    for (int cls = 0; cls < BERTH_WORK_CLASS_COUNT; cls++) device->efficiency[cls] = 1;
    if (!profile) return BERTH_OK;
    const berth_profile *found = berth_profile_find(profile, strlen(profile));
    if (!found || found->n_devices > 1)
        return refuse(r, berth_json_get(object, "profile"), "no profile of a single device is called", profile);
    r->profile[index] = found;
    *device = found->devices[0];
    return BERTH_OK;
}

static berth_status read_name(const reader *r, const berth_json *object, int32_t index) {
    berth_device *device = &r->draft->devices[index];
    BERTH_TRY(take_string(r, object, "name", &device->name));
    if (!device->name) return refuse(r, object, "a device without", "name");
    for (int32_t d = 0; d < index; d++)
        if (strcmp(r->draft->devices[d].name, device->name) == 0)
            return refuse(r, object, "there are two devices called", device->name);
    size_t stem = strcspn(device->name, "."); /* "gpu" of "gpu.1"; all of ".1" */
    if (stem == 0) stem = strlen(device->name);
    if (!device->kind) device->kind = berth_arena_string(&r->draft->arena, device->name, stem);
    if (!device->kind) return berth_fail_nomem(r->ctx);
    return take_string(r, object, "kind", &device->kind);
}

static berth_status read_device(reader *r, const berth_json *object, int32_t index) {
    static const char *const keys[] = {"name",      "kind",         "profile",    "flops_per_s", "bytes_per_s",
                                       "launch_ms", "memory_bytes", "efficiency", "unsupported", NULL};
    berth_device *device = &r->draft->devices[index];
    bool has_rate = false;
    if (object->kind != BERTH_JSON_OBJECT) return refuse(r, object, "only objects may stand in", "devices");
    BERTH_TRY(berth_json_only(r->ctx, r->name, object, keys));
    BERTH_TRY(start_device(r, object, index));
    BERTH_TRY(read_name(r, object, index));
    BERTH_TRY(read_flops(r, object, device));
    BERTH_TRY(take_number(r, object, "bytes_per_s", LEAST_RATE, GREATEST_RATE, &device->bandwidth, NULL));
    BERTH_TRY(take_number(r, object, "launch_ms", 0, BERTH_GREATEST_MS, &device->launch_ms, NULL));
    BERTH_TRY(read_memory(r, object, device));
    BERTH_TRY(read_efficiency(r, object, device));
    BERTH_TRY(read_unsupported(r, object, device));
    for (int type = 0; type < BERTH_TYPE_COUNT; type++) has_rate |= device->flops[type] > 0;
    r->line[index] = object->line;
    if (!has_rate) return refuse(r, object, "'flops_per_s' is missing for", device->name);
    if (!(device->bandwidth > 0)) return refuse(r, object, "'bytes_per_s' is missing for", device->name);
    return BERTH_OK;
}

/* --- links ------------------------------------------------------------------------------------------------------ */

static berth_status want_device(const reader *r, const berth_json *object, const char *key, int32_t *out) {
    const char *name = NULL;
    BERTH_TRY(berth_json_want_string(r->ctx, r->name, object, key, &name));
    *out = berth_device_find(&r->draft->set, name);
    if (*out >= 0) return BERTH_OK;
    berth_nearest nearest = berth_nearest_begin(name);
    for (int32_t d = 0; d < r->draft->set.n_devices; d++) berth_nearest_offer(&nearest, r->draft->devices[d].name);
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' is '%.80s', which is no device%s%.80s%s", r->name,
                      berth_json_get(object, key)->line, key, name, nearest.best ? ", did you mean '" : "",
                      nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static berth_status read_link(const reader *r, const berth_json *object) {
    static const char *const keys[] = {"from", "to", "fixed_ms", "bytes_per_s", "ms_per_byte", "parallel", NULL};
    int32_t from = 0, to = 0, n = r->draft->set.n_devices;
    double rate = 0;
    bool by_rate = false, by_time = false, parallel = false;
    if (object->kind != BERTH_JSON_OBJECT) return refuse(r, object, "only objects may stand in", "links");
    BERTH_TRY(berth_json_only(r->ctx, r->name, object, keys));
    BERTH_TRY(want_device(r, object, "from", &from));
    BERTH_TRY(want_device(r, object, "to", &to));
    if (from == to) return refuse(r, object, "a link from a device to itself:", r->draft->devices[from].name);
    if (r->has_link[from * n + to])
        return refuse(r, object, "a second link in this direction, to", r->draft->devices[to].name);
    berth_link *link = &r->draft->links[from * n + to];
    BERTH_TRY(take_number(r, object, "fixed_ms", 0, BERTH_GREATEST_MS, &link->fixed_ms, NULL));
    BERTH_TRY(take_number(r, object, "bytes_per_s", LEAST_RATE, GREATEST_RATE, &rate, &by_rate));
    BERTH_TRY(take_number(r, object, "ms_per_byte", 0, BERTH_GREATEST_MS, &link->ms_per_byte, &by_time));
    if (by_rate == by_time) return refuse(r, object, "a link must have either 'bytes_per_s' or", "ms_per_byte");
    if (by_rate) link->ms_per_byte = 1e3 / rate;
    if (berth_json_get(object, "parallel"))
        BERTH_TRY(berth_json_want_bool(r->ctx, r->name, object, "parallel", &parallel));
    link->queued = !parallel;
    r->has_link[from * n + to] = true;
    return BERTH_OK;
}

/* A link holds both ways unless the other way has its own. */
static void mirror_links(const reader *r) {
    int32_t n = r->draft->set.n_devices;
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = 0; to < from; to++) {
            bool *there = &r->has_link[from * n + to], *back = &r->has_link[to * n + from];
            if (*there && !*back) r->draft->links[to * n + from] = r->draft->links[from * n + to];
            if (*back && !*there) r->draft->links[from * n + to] = r->draft->links[to * n + from];
            *there = *back = *there || *back;
        }
}

/* Devices that start from a profile know how far the host is. */
static berth_status link_host(const reader *r) {
    int32_t n = r->draft->set.n_devices, host = r->draft->set.host;
    bool host_is_cpu = strcmp(r->draft->devices[host].kind, "cpu") == 0;
    for (int32_t d = 0; d < n; d++) {
        if (d == host || r->has_link[d * n + host]) continue;
        if (!r->profile[d] || (!host_is_cpu && !r->profile[host]))
            return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": no link joins '%.80s' and the host '%.80s'",
                              r->name, r->line[d], r->draft->devices[d].name, r->draft->devices[host].name);
        berth_link link = r->profile[d]->link;
        if (!host_is_cpu) link = berth_link_join(link, r->profile[host]->link);
        r->draft->links[d * n + host] = r->draft->links[host * n + d] = link;
        r->has_link[d * n + host] = r->has_link[host * n + d] = true;
    }
    return BERTH_OK;
}

static berth_status read_links(const reader *r, const berth_json *root) {
    const berth_json *list = NULL;
    if (berth_json_get(root, "links")) {
        BERTH_TRY(berth_json_want(r->ctx, r->name, root, "links", BERTH_JSON_ARRAY, &list));
        for (const berth_json *link = list->child; link; link = link->next) BERTH_TRY(read_link(r, link));
    }
    mirror_links(r);
    BERTH_TRY(link_host(r));
    berth_device_draft_route(r->draft, r->has_link);
    return BERTH_OK;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status read_model(const reader *r, const berth_json *root) {
    const char *model = NULL;
    berth_device_set *set = &r->draft->set;
    BERTH_TRY(take_string(r, root, "source", &set->source));
    BERTH_TRY(take_number(r, root, "piece_ms", 0, BERTH_GREATEST_MS, &set->piece_ms, NULL));
    BERTH_TRY(take_string(r, root, "execution_model", &model));
    if (model) set->model = berth_model_find(model);
    if (set->model == BERTH_MODEL_COUNT)
        return berth_fail(r->ctx, BERTH_E_FORMAT,
                          "%s:%" PRId32 ": no execution model is called '%.80s'; there are %s, %s, %s and %s", r->name,
                          berth_json_get(root, "execution_model")->line, model, berth_model_name(BERTH_MODEL_SERIAL),
                          berth_model_name(BERTH_MODEL_QUEUED), berth_model_name(BERTH_MODEL_CONCURRENT),
                          berth_model_name(BERTH_MODEL_CONTIGUOUS));
    return BERTH_OK;
}

static berth_status fill(reader *r, const berth_json *root, const berth_json *list) {
    int32_t index = 0, n = r->draft->set.n_devices;
    r->has_link = berth_arena_push(&r->draft->arena, (size_t)n * (size_t)n, sizeof *r->has_link);
    if (!r->has_link) return berth_fail_nomem(r->ctx);
    for (const berth_json *device = list->child; device; device = device->next, index++)
        BERTH_TRY(read_device(r, device, index));
    r->draft->set.host = berth_device_draft_host(r->draft);
    if (berth_json_get(root, "host")) BERTH_TRY(want_device(r, root, "host", &r->draft->set.host));
    BERTH_TRY(read_model(r, root));
    return read_links(r, root);
}

berth_status berth_device_set_parse(berth_ctx *ctx, berth_device_set **out, const char *name, const berth_json *root) {
    static const char *const keys[] = {"schema", "source",  "execution_model", "piece_ms",
                                       "host",   "devices", "links",           NULL};
    *out = NULL;
    reader r = {.ctx = ctx, .name = name};
    const berth_json *list = NULL;
    int64_t schema = 0;
    BERTH_TRY(berth_json_only(ctx, name, root, keys));
    BERTH_TRY(berth_json_want_integer(ctx, name, root, "schema", 1, 1, &schema));
    BERTH_TRY(berth_json_want(ctx, name, root, "devices", BERTH_JSON_ARRAY, &list));
    if (list->count == 0) return refuse(&r, list, "no device in", "devices");
    BERTH_TRY(berth_device_draft_new(ctx, &r.draft, list->count, name));
    berth_status status = fill(&r, root, list);
    if (status == BERTH_OK)
        *out = &r.draft->set;
    else
        berth_device_set_free(&r.draft->set);
    return status;
}
