/* SPDX-License-Identifier: Apache-2.0 */
/* Typed members of JSON objects, with messages that name the place, the key and what was expected. */
#include "base/json.h"

#include "berth/text.h"

#include <inttypes.h>
#include <string.h>

const char *berth_json_kind_name(berth_json_kind kind) {
    switch (kind) {
    case BERTH_JSON_NULL: return "null";
    case BERTH_JSON_FALSE:
    case BERTH_JSON_TRUE: return "true or false";
    case BERTH_JSON_NUMBER: return "a number";
    case BERTH_JSON_STRING: return "a string";
    case BERTH_JSON_ARRAY: return "an array";
    case BERTH_JSON_OBJECT: return "an object";
    }
    return "a value";
}

const berth_json *berth_json_get(const berth_json *object, const char *key) {
    if (object->kind != BERTH_JSON_OBJECT) return NULL;
    size_t size = strlen(key);
    for (const berth_json *member = object->child; member; member = member->next)
        if (member->key_size == size && memcmp(member->key, key, size) == 0) return member;
    return NULL;
}

/* The member, or NULL with the message set. */
static const berth_json *find(berth_ctx *ctx, const char *name, const berth_json *object, const char *key) {
    const berth_json *member = berth_json_get(object, key);
    if (object->kind != BERTH_JSON_OBJECT)
        (void)berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": expected an object with '%s', not %s", name,
                         object->line, key, berth_json_kind_name(object->kind));
    else if (!member)
        (void)berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' is missing", name, object->line, key);
    return member;
}

static berth_status fail_kind(berth_ctx *ctx, const char *name, const berth_json *value, const char *wanted) {
    return berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' must be %s, not %s", name, value->line, value->key,
                      wanted, berth_json_kind_name(value->kind));
}

static const berth_json *find_kind(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                   berth_json_kind kind) {
    const berth_json *value = find(ctx, name, object, key);
    if (!value || value->kind == kind) return value;
    (void)fail_kind(ctx, name, value, berth_json_kind_name(kind));
    return NULL;
}

berth_status berth_json_want(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                             berth_json_kind kind, const berth_json **out) {
    const berth_json *value = find_kind(ctx, name, object, key, kind);
    if (!value) return BERTH_E_FORMAT;
    *out = value;
    return BERTH_OK;
}

berth_status berth_json_want_number(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                    double *out) {
    const berth_json *value = find_kind(ctx, name, object, key, BERTH_JSON_NUMBER);
    if (!value) return BERTH_E_FORMAT;
    *out = value->number;
    return BERTH_OK;
}

berth_status berth_json_want_integer(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                     int64_t low, int64_t high, int64_t *out) {
    const berth_json *value = find(ctx, name, object, key);
    if (!value) return BERTH_E_FORMAT;
    if (value->kind != BERTH_JSON_NUMBER) return fail_kind(ctx, name, value, "an integer");
    if (!value->is_integer || value->integer < low || value->integer > high)
        return berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' must be an integer from %" PRId64 " to %" PRId64,
                          name, value->line, key, low, high);
    *out = value->integer;
    return BERTH_OK;
}

berth_status berth_json_want_string(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                    const char **out) {
    const berth_json *value = find_kind(ctx, name, object, key, BERTH_JSON_STRING);
    if (!value) return BERTH_E_FORMAT;
    if (memchr(value->string, 0, value->size))
        return berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' must not hold the character U+0000", name,
                          value->line, key);
    *out = value->string;
    return BERTH_OK;
}

berth_status berth_json_want_bool(berth_ctx *ctx, const char *name, const berth_json *object, const char *key,
                                  bool *out) {
    const berth_json *value = find(ctx, name, object, key);
    if (!value) return BERTH_E_FORMAT;
    if (value->kind != BERTH_JSON_TRUE && value->kind != BERTH_JSON_FALSE)
        return fail_kind(ctx, name, value, "true or false");
    *out = value->kind == BERTH_JSON_TRUE;
    return BERTH_OK;
}

static bool is_listed(const berth_json *member, const char *const *keys) {
    for (; *keys; keys++)
        if (strlen(*keys) == member->key_size && memcmp(*keys, member->key, member->key_size) == 0) return true;
    return false;
}

berth_status berth_json_only(berth_ctx *ctx, const char *name, const berth_json *object, const char *const *keys) {
    if (object->kind != BERTH_JSON_OBJECT) return BERTH_OK;
    for (const berth_json *member = object->child; member; member = member->next) {
        if (is_listed(member, keys)) continue;
        berth_nearest nearest = berth_nearest_begin(member->key);
        for (; *keys; keys++) berth_nearest_offer(&nearest, *keys);
        return berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": unknown key '%.80s'%s%s%s", name, member->line,
                          member->key, nearest.best ? ", did you mean '" : "", nearest.best ? nearest.best : "",
                          nearest.best ? "'?" : "");
    }
    return BERTH_OK;
}
