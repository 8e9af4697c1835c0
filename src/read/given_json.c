/* SPDX-License-Identifier: Apache-2.0 */
/* Recognition must be cheap and must not fail, so it does not parse: it follows strings and brackets, which is enough
 * to tell a key at the top from one inside. */
#include "read/given_json.h"

#include "read/given.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *skip_space(const char *at, const char *end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) at++;
    return at;
}

/* From behind an opening quote to the closing one, or to the end. */
static const char *skip_string(const char *at, const char *end) {
    while (at < end && *at != '"') at += *at == '\\' && end - at > 1 ? 2 : 1;
    return at;
}

bool berth_given_json_has_key(const char *bytes, size_t size, const char *key) {
    const char *at = bytes, *end = bytes + size;
    size_t key_size = strlen(key), depth = 0;
    if (size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0) at += 3;
    at = skip_space(at, end);
    if (at == end || *at != '{') return false;
    for (; at < end; at++) {
        if (*at == '{' || *at == '[') depth++;
        if ((*at == '}' || *at == ']') && --depth == 0) return false;
        if (*at != '"') continue;
        const char *start = at + 1;
        at = skip_string(start, end);
        if (at == end) return false;
        const char *next = skip_space(at + 1, end);
        if (depth == 1 && next < end && *next == ':' && (size_t)(at - start) == key_size &&
            memcmp(start, key, key_size) == 0)
            return true;
    }
    return false;
}

berth_status berth_given_json_amount(berth_ctx *ctx, const berth_source *source, const berth_json *object,
                                     const char *key, double *out) {
    double value = 0;
    BERTH_TRY(berth_json_want_number(ctx, source->name, object, key, &value));
    if (value < 0 || value > BERTH_GIVEN_MAX_NUMBER)
        return berth_fail(ctx, BERTH_E_FORMAT, "%s:%" PRId32 ": '%s' must be from 0 to %g, not %g", source->name,
                          berth_json_get(object, key)->line, key, BERTH_GIVEN_MAX_NUMBER, value);
    *out = value + 0.0;
    return BERTH_OK;
}

berth_status berth_given_json_in(berth_ctx *ctx, berth_status status, const char *list, int32_t index) {
    if (status == BERTH_OK || status == BERTH_E_NOMEM) return status;
    char text[900];
    snprintf(text, sizeof text, "%s", berth_ctx_message(ctx));
    return berth_fail(ctx, status, "%s (%s[%" PRId32 "])", text, list, index);
}
