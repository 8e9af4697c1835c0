/* SPDX-License-Identifier: Apache-2.0 */
/* A plan from JSON (docs/formats.md). Nothing is taken on trust: every key is known, every name leads somewhere, every
 * operation stands once and in its place, and numbers are what they can be. The document lives in the plan's arena. */
#include "plan/plan.h"

#include "base/file.h"
#include "base/json.h"
#include "device/set.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_FILE_BYTES = 1 << 30, MAX_DEPTH = 32, MAX_SETTINGS = 256 };

typedef struct reader {
    berth_ctx *ctx;
    const char *name; /* of the file */
    berth_plan_draft *draft;
    berth_arena *arena;
} reader;

static berth_status refuse(const reader *r, const berth_json *at, const char *what, const char *word) {
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": %s '%.200s'", r->name, at->line, what, word);
}

static berth_status want_string(const reader *r, const berth_json *object, const char *key, const char **out) {
    return berth_json_want_string(r->ctx, r->name, object, key, out);
}

static berth_status want_array(const reader *r, const berth_json *object, const char *key, const berth_json **out) {
    return berth_json_want(r->ctx, r->name, object, key, BERTH_JSON_ARRAY, out);
}

/* A number from 0 to `most` (INFINITY: a result, with which nothing is calculated); null stands for infinity where that
 * may be. */
static berth_status want_amount(const reader *r, const berth_json *object, const char *key, bool may_be_null,
                                double most, double *out) {
    const berth_json *value = berth_json_get(object, key);
    if (may_be_null && value && value->kind == BERTH_JSON_NULL) {
        *out = INFINITY;
        return BERTH_OK;
    }
    BERTH_TRY(berth_json_want(r->ctx, r->name, object, key, BERTH_JSON_NUMBER, &value));
    *out = value->number;
    if (!(*out >= 0)) return refuse(r, value, "must not be negative:", key);
    if (*out <= most) return BERTH_OK;
    return berth_fail(r->ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%.80s' must be from 0 to %g, not %g", r->name,
                      value->line, key, most, *out);
}

/* Text, or null for NULL. */
static berth_status want_text(const reader *r, const berth_json *object, const char *key, const char **out) {
    const berth_json *value = berth_json_get(object, key);
    if (value && value->kind == BERTH_JSON_NULL) return BERTH_OK;
    return want_string(r, object, key, out);
}

static berth_status find_device(const reader *r, const berth_json *at, const char *name, int32_t *out) {
    const berth_plan *plan = &r->draft->plan;
    for (*out = 0; *out < plan->n_devices; ++*out)
        if (strcmp(plan->device_names[*out], name) == 0) return BERTH_OK;
    return refuse(r, at, "this is none of the plan's devices:", name);
}

/* --- the model -------------------------------------------------------------------------------------------------- */

static berth_status read_dims(const reader *r, const berth_json *object, bool open, int32_t *rank,
                              const int64_t **dims) {
    const berth_json *list = berth_json_get(object, "shape");
    int64_t *out = NULL;
    int32_t n = 0;
    *rank = -1;
    *dims = NULL;
    if (open && list && list->kind == BERTH_JSON_NULL) return BERTH_OK;
    BERTH_TRY(want_array(r, object, "shape", &list));
    if (list->count > BERTH_MAX_RANK) return refuse(r, list, "too many dimensions in", "shape");
    out = berth_arena_push(r->arena, (size_t)list->count, sizeof *out);
    if (!out) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next) {
        bool unknown = open && item->kind == BERTH_JSON_NULL;
        if (!unknown && !(item->kind == BERTH_JSON_NUMBER && item->is_integer && item->integer >= 0))
            return refuse(r, item, "a dimension must be a whole number, at least 0, in", "shape");
        out[n++] = unknown ? -1 : item->integer;
    }
    *rank = n;
    *dims = out;
    return BERTH_OK;
}

static berth_status read_inputs(const reader *r, const berth_json *root) {
    static const char *const keys[] = {"name", "type", "shape", NULL};
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, root, "inputs", &list));
    berth_plan_input *inputs = berth_arena_push(r->arena, (size_t)list->count, sizeof *inputs), *at = inputs;
    if (!inputs) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next, at++) {
        BERTH_TRY(want_string(r, item, "name", &at->name));
        BERTH_TRY(want_string(r, item, "type", &at->type));
        BERTH_TRY(read_dims(r, item, true, &at->rank, &at->dims));
        BERTH_TRY(berth_json_only(r->ctx, r->name, item, keys));
    }
    r->draft->plan.inputs = inputs;
    r->draft->plan.n_inputs = list->count;
    return BERTH_OK;
}

static berth_status read_shapes(const reader *r, const berth_json *root) {
    static const char *const keys[] = {"input", "shape", NULL};
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, root, "shapes", &list));
    berth_shape_binding *shapes = berth_arena_push(r->arena, (size_t)list->count, sizeof *shapes), *at = shapes;
    if (!shapes) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next, at++) {
        BERTH_TRY(want_string(r, item, "input", &at->input));
        BERTH_TRY(read_dims(r, item, false, &at->rank, &at->dims));
        BERTH_TRY(berth_json_only(r->ctx, r->name, item, keys));
    }
    r->draft->plan.shapes = shapes;
    r->draft->plan.n_shapes = list->count;
    return BERTH_OK;
}

static bool is_digest(const char *text) {
    return strlen(text) == 64 && strspn(text, "0123456789abcdef") == 64;
}

static berth_status read_model(const reader *r, const berth_json *root) {
    static const char *const keys[] = {"name", "format", "fingerprint", NULL};
    const berth_json *model = NULL;
    berth_plan *plan = &r->draft->plan;
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "model", BERTH_JSON_OBJECT, &model));
    BERTH_TRY(want_string(r, model, "name", &plan->model_name));
    BERTH_TRY(want_string(r, model, "format", &plan->model_format));
    BERTH_TRY(want_string(r, model, "fingerprint", &plan->fingerprint));
    BERTH_TRY(berth_json_only(r->ctx, r->name, model, keys));
    if (!is_digest(plan->fingerprint))
        return refuse(r, berth_json_get(model, "fingerprint"), "this is no fingerprint:", plan->fingerprint);
    BERTH_TRY(read_inputs(r, root));
    return read_shapes(r, root);
}

/* --- the assumptions -------------------------------------------------------------------------------------------- */

/* Of a workload's devices only the names count: the file itself brings the rest. */
static berth_status read_names(const reader *r, const berth_json *devices) {
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, devices, "devices", &list));
    if (list->count < 1 || list->count > BERTH_MAX_DEVICES)
        return refuse(r, list, "how many devices are there in", "devices");
    const char **names = berth_arena_push(r->arena, (size_t)list->count, sizeof *names);
    int32_t n = 0;
    if (!names) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next) {
        BERTH_TRY(want_string(r, item, "name", &names[n]));
        for (int32_t i = 0; i < n; i++)
            if (strcmp(names[i], names[n]) == 0) return refuse(r, item, "a second device is called", names[n]);
        n++;
    }
    r->draft->plan.device_names = names;
    r->draft->plan.n_devices = n;
    return BERTH_OK;
}

static berth_status read_devices(const reader *r, const berth_json *root) {
    const berth_json *devices = NULL;
    berth_plan *plan = &r->draft->plan;
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "devices", BERTH_JSON_OBJECT, &devices));
    if (strcmp(plan->costs, "given") == 0) return read_names(r, devices);
    BERTH_TRY(berth_device_set_parse(r->ctx, &r->draft->devices, r->name, devices));
    plan->devices = r->draft->devices;
    plan->n_devices = plan->devices->n_devices;
    const char **names = berth_arena_push(r->arena, (size_t)plan->n_devices, sizeof *names);
    if (!names) return berth_fail_nomem(r->ctx);
    for (int32_t d = 0; d < plan->n_devices; d++) names[d] = plan->devices->devices[d].name;
    plan->device_names = names;
    return BERTH_OK;
}

static berth_status read_costs(const reader *r, const berth_json *root) {
    static const char *const keys[] = {"path", "sha256", NULL};
    berth_plan *plan = &r->draft->plan;
    const berth_json *profile = berth_json_get(root, "profile");
    BERTH_TRY(want_string(r, root, "costs", &plan->costs));
    bool has_profile = strcmp(plan->costs, "profile") == 0;
    if (!has_profile && strcmp(plan->costs, "given") != 0 && strcmp(plan->costs, "estimated") != 0)
        return refuse(r, berth_json_get(root, "costs"), "costs are estimated, given or of a profile, not", plan->costs);
    if (!has_profile) {
        if (!profile || profile->kind == BERTH_JSON_NULL) return BERTH_OK;
        return refuse(r, profile, "there is a profile though costs are", plan->costs);
    }
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "profile", BERTH_JSON_OBJECT, &profile));
    BERTH_TRY(want_string(r, profile, "path", &plan->profile));
    BERTH_TRY(want_string(r, profile, "sha256", &plan->profile_sha256));
    if (!is_digest(plan->profile_sha256)) return refuse(r, profile, "this is no digest:", plan->profile_sha256);
    return berth_json_only(r->ctx, r->name, profile, keys);
}

static berth_status read_rules(const reader *r, const berth_json *limits, const char *key, bool with_device,
                               const berth_rule **out, int32_t *n) {
    static const char *const keys[] = {"pattern", "device", NULL}, *const pattern[] = {"pattern", NULL};
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, limits, key, &list));
    berth_rule *rules = berth_arena_push(r->arena, (size_t)list->count, sizeof *rules), *at = rules;
    if (!rules) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next, at++) {
        BERTH_TRY(want_string(r, item, "pattern", &at->pattern));
        if (with_device) BERTH_TRY(want_string(r, item, "device", &at->device));
        BERTH_TRY(berth_json_only(r->ctx, r->name, item, with_device ? keys : pattern));
    }
    *out = rules;
    *n = list->count;
    return BERTH_OK;
}

static berth_status read_memory(const reader *r, const berth_json *object, berth_limits *limits) {
    static const char *const keys[] = {"device", "bytes", NULL};
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, object, "memory", &list));
    berth_memory_rule *memory = berth_arena_push(r->arena, (size_t)list->count, sizeof *memory), *at = memory;
    if (!memory) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next, at++) {
        int32_t device = 0;
        BERTH_TRY(want_string(r, item, "device", &at->device));
        BERTH_TRY(find_device(r, item, at->device, &device));
        BERTH_TRY(want_amount(r, item, "bytes", true, BERTH_GREATEST_BYTES, &at->bytes));
        BERTH_TRY(berth_json_only(r->ctx, r->name, item, keys));
    }
    limits->memory = memory;
    limits->n_memory = list->count;
    return BERTH_OK;
}

static berth_status read_limits(const reader *r, const berth_json *root) {
    static const char *const keys[] = {"memory", "io", "pins", "bans", "together", NULL};
    const berth_json *object = NULL;
    berth_limits *limits = &r->draft->plan.limits;
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "limits", BERTH_JSON_OBJECT, &object));
    BERTH_TRY(read_memory(r, object, limits));
    BERTH_TRY(read_rules(r, object, "io", true, &limits->io, &limits->n_io));
    BERTH_TRY(read_rules(r, object, "pins", true, &limits->pins, &limits->n_pins));
    BERTH_TRY(read_rules(r, object, "bans", true, &limits->bans, &limits->n_bans));
    BERTH_TRY(read_rules(r, object, "together", false, &limits->together, &limits->n_together));
    return berth_json_only(r->ctx, r->name, object, keys);
}

static berth_status read_assumptions(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    const char *model = NULL, *objective = NULL;
    BERTH_TRY(read_costs(r, root));
    BERTH_TRY(read_devices(r, root));
    BERTH_TRY(want_string(r, root, "execution_model", &model));
    plan->execution_model = berth_model_find(model);
    if (plan->execution_model == BERTH_MODEL_COUNT)
        return refuse(r, berth_json_get(root, "execution_model"), "there is no execution model", model);
    BERTH_TRY(want_amount(r, root, "piece_ms", false, BERTH_GREATEST_MS, &plan->piece_ms));
    BERTH_TRY(want_string(r, root, "objective", &objective));
    plan->objective = strcmp(objective, "throughput") == 0 ? BERTH_OBJECTIVE_THROUGHPUT : BERTH_OBJECTIVE_LATENCY;
    if (plan->objective == BERTH_OBJECTIVE_LATENCY && strcmp(objective, "latency") != 0)
        return refuse(r, berth_json_get(root, "objective"), "there is no objective", objective);
    return read_limits(r, root);
}

/* --- the answer ------------------------------------------------------------------------------------------------- */

static berth_status read_single(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    const berth_json *object = NULL;
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "single_ms", BERTH_JSON_OBJECT, &object));
    double *single = berth_arena_push(r->arena, (size_t)plan->n_devices, sizeof *single);
    if (!single) return berth_fail_nomem(r->ctx);
    for (int32_t d = 0; d < plan->n_devices; d++)
        BERTH_TRY(want_amount(r, object, plan->device_names[d], true, INFINITY, &single[d]));
    if (object->count != plan->n_devices)
        return refuse(r, object, "more than the plan's devices stand in", "single_ms");
    plan->single_ms = single;
    return BERTH_OK;
}

/* Whatever another release may have written down there: names with words, numbers and switches. */
static berth_status read_settings(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    const berth_json *object = berth_json_get(root, "settings");
    if (!object || object->kind == BERTH_JSON_NULL) return BERTH_OK;
    BERTH_TRY(berth_json_want(r->ctx, r->name, root, "settings", BERTH_JSON_OBJECT, &object));
    if (object->count > MAX_SETTINGS) return refuse(r, object, "there are too many", "settings");
    berth_plan_setting *settings = berth_arena_push(r->arena, (size_t)object->count, sizeof *settings), *at = settings;
    if (!settings) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = object->child; item; item = item->next, at++) {
        at->name = item->key;
        bool is_word = item->kind == BERTH_JSON_STRING && !memchr(item->string, 0, item->size);
        if (strlen(item->key) != item->key_size) return refuse(r, item, "a name with a NUL in", "settings");
        at->is_switch = item->kind == BERTH_JSON_TRUE || item->kind == BERTH_JSON_FALSE;
        if (item->kind == BERTH_JSON_NUMBER)
            at->number = item->number;
        else if (is_word)
            at->word = item->string;
        else if (at->is_switch)
            at->number = item->kind == BERTH_JSON_TRUE;
        else
            return refuse(r, item, "neither a number nor a word nor a switch:", item->key);
    }
    plan->settings = settings;
    plan->n_settings = object->count;
    return BERTH_OK;
}

static berth_status read_policy(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    if (!berth_json_get(root, "policy_sha256")) return BERTH_OK;
    BERTH_TRY(want_text(r, root, "policy_sha256", &plan->policy_sha256));
    if (!plan->policy_sha256 || is_digest(plan->policy_sha256)) return BERTH_OK;
    return refuse(r, berth_json_get(root, "policy_sha256"), "this is no digest:", plan->policy_sha256);
}

static berth_status read_numbers(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    int64_t seed = 0;
    BERTH_TRY(want_string(r, root, "method", &plan->method));
    BERTH_TRY(want_string(r, root, "found_by", &plan->found_by));
    BERTH_TRY(want_text(r, root, "group", &plan->group));
    BERTH_TRY(want_string(r, root, "source", &plan->source));
    BERTH_TRY(berth_json_want_integer(r->ctx, r->name, root, "seed", 0, INT64_MAX, &seed));
    plan->seed = (uint64_t)seed;
    BERTH_TRY(read_settings(r, root));
    BERTH_TRY(read_policy(r, root));
    BERTH_TRY(want_amount(r, root, "makespan_ms", false, INFINITY, &plan->makespan_ms));
    BERTH_TRY(want_amount(r, root, "lower_bound_ms", true, INFINITY, &plan->lower_bound_ms));
    if (isinf(plan->lower_bound_ms)) plan->lower_bound_ms = NAN; /* there is none: evaluations were real runs */
    BERTH_TRY(want_amount(r, root, "gap", true, INFINITY, &plan->gap));
    return read_single(r, root);
}

static berth_status read_op(const reader *r, const berth_json *item, int32_t index, berth_plan_op *op) {
    static const char *const keys[] = {"index", "name", "type", "device", NULL};
    const char *device = NULL;
    int64_t number = 0;
    BERTH_TRY(berth_json_want_integer(r->ctx, r->name, item, "index", index, index, &number));
    BERTH_TRY(want_string(r, item, "name", &op->name));
    BERTH_TRY(want_string(r, item, "type", &op->type));
    BERTH_TRY(want_string(r, item, "device", &device));
    BERTH_TRY(find_device(r, item, device, &op->device));
    return item->count == 4 ? BERTH_OK : berth_json_only(r->ctx, r->name, item, keys);
}

static berth_status read_placement(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    const berth_json *list = NULL;
    BERTH_TRY(want_array(r, root, "placement", &list));
    berth_plan_op *ops = berth_arena_push(r->arena, (size_t)list->count, sizeof *ops);
    int32_t n = 0;
    if (!ops) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next, n++) BERTH_TRY(read_op(r, item, n, &ops[n]));
    plan->ops = ops;
    plan->n_ops = n;
    return BERTH_OK;
}

static berth_status read_order(const reader *r, const berth_json *root) {
    berth_plan *plan = &r->draft->plan;
    const berth_json *list = berth_json_get(root, "order");
    if (list && list->kind == BERTH_JSON_NULL) return BERTH_OK;
    BERTH_TRY(want_array(r, root, "order", &list));
    int32_t *order = berth_arena_push(r->arena, (size_t)list->count, sizeof *order), n = 0;
    bool *seen = berth_arena_push(r->arena, (size_t)plan->n_ops, sizeof *seen);
    if (!order || !seen) return berth_fail_nomem(r->ctx);
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_NUMBER || !item->is_integer || item->integer < 0 || item->integer >= plan->n_ops)
            return refuse(r, item, "only operations of the plan, by index, may stand in", "order");
        if (seen[item->integer]) return refuse(r, item, "an operation stands twice in", "order");
        seen[item->integer] = true;
        order[n++] = (int32_t)item->integer;
    }
    plan->order = order;
    plan->n_order = n;
    return BERTH_OK;
}

/* Of real runs only what a hand-over needs. */
static berth_status read_runtime(const reader *r, const berth_json *root) {
    const berth_json *runtime = berth_json_get(root, "runtime");
    const char *precision = NULL;
    if (!runtime || !berth_json_get(runtime, "precision")) return BERTH_OK;
    BERTH_TRY(want_string(r, runtime, "precision", &precision));
    r->draft->plan.native_precision = strcmp(precision, "native") == 0;
    if (r->draft->plan.native_precision || strcmp(precision, "same") == 0) return BERTH_OK;
    return refuse(r, berth_json_get(runtime, "precision"), "precision is same or native, not", precision);
}

static berth_status read_root(const reader *r, const berth_json *root) {
    /* Those of the search and of real runs, at the end, are not kept. */
    static const char *const keys[] = {
        "schema",       "berth",    "model",           "inputs",         "shapes",
        "costs",        "profile",  "devices",         "piece_ms",       "execution_model",
        "objective",    "limits",   "method",          "found_by",       "group",
        "source",       "seed",     "makespan_ms",     "lower_bound_ms", "gap",
        "single_ms",    "order",    "placement",       "interrupted",    "evaluations",
        "seconds",      "methods",  "settings",        "policy_sha256",  "verdict",
        "runtime",      "measured", "outputs",         "checked",        "deviations",
        "predicted_ms", "evaluate", "evaluation_runs", "cases",          "planned_pieces",
        "pieces",       NULL};
    int64_t schema = 0;
    BERTH_TRY(berth_json_want_integer(r->ctx, r->name, root, "schema", 1, 1, &schema));
    BERTH_TRY(berth_json_only(r->ctx, r->name, root, keys));
    BERTH_TRY(want_string(r, root, "berth", &r->draft->plan.version));
    BERTH_TRY(read_model(r, root));
    BERTH_TRY(read_assumptions(r, root));
    BERTH_TRY(read_numbers(r, root));
    BERTH_TRY(read_placement(r, root));
    BERTH_TRY(read_runtime(r, root));
    return read_order(r, root);
}

berth_status berth_plan_read(berth_ctx *ctx, berth_plan **out, const char *path) {
    const char *bytes = NULL;
    size_t size = 0;
    const berth_json *root = NULL;
    berth_plan_draft *draft = NULL;
    *out = NULL;
    BERTH_TRY(berth_plan_draft_new(ctx, &draft));
    reader r = {.ctx = ctx, .name = strcmp(path, "-") == 0 ? "standard input" : path, .draft = draft};
    r.arena = &draft->arena;
    berth_status status = berth_file_read(ctx, r.arena, path, MAX_FILE_BYTES, &bytes, &size);
    if (status == BERTH_OK) status = berth_json_parse(ctx, r.arena, r.name, bytes, size, MAX_DEPTH, &root);
    if (status == BERTH_OK) status = read_root(&r, root);
    if (status == BERTH_OK)
        *out = &draft->plan;
    else
        berth_plan_free(&draft->plan);
    return status;
}
