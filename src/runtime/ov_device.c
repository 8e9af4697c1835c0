/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices, taken apart. */
#include "runtime/ov_device.h"

#include <stdio.h>
#include <string.h>

static const char hint[] = "INFERENCE_PRECISION_HINT";

static const struct {
    const char *word;
    berth_type type;
} precisions[] = {{"f32", BERTH_TYPE_F32}, {"bf16", BERTH_TYPE_BF16}, {"f16", BERTH_TYPE_F16}};

static berth_type find_precision(const char *word, size_t n) {
    for (size_t i = 0; i < sizeof precisions / sizeof *precisions; i++)
        if (strlen(precisions[i].word) == n && memcmp(precisions[i].word, word, n) == 0) return precisions[i].type;
    return BERTH_TYPE_UNKNOWN;
}

static bool is_name(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool good = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
        if (!good) return false;
    }
    return n > 0;
}

bool berth_ov_device_is_cpu(const char *text) {
    return strncmp(text, "CPU", 3) == 0;
}

static berth_status take_property(berth_ctx *ctx, const char *text, const char *at, size_t n, berth_ov_device *out) {
    const char *equals = memchr(at, '=', n);
    bool is_precision = find_precision(at, n) != BERTH_TYPE_UNKNOWN;
    if (!is_precision && (!equals || equals == at || equals + 1 == at + n))
        return berth_fail(ctx, BERTH_E_ARG,
                          "device '%.100s': behind a colon stands f32, bf16, f16 or KEY=VALUE, not '%.*s'", text,
                          n < 60 ? (int)n : 60, at);
    if (out->n == BERTH_OV_PROPERTIES || n >= BERTH_OV_WORD)
        return berth_fail(ctx, BERTH_E_ARG, "device '%.100s' has too many or too long properties", text);
    size_t key = is_precision ? 0 : (size_t)(equals - at), value = is_precision ? 0 : key + 1;
    snprintf(out->keys[out->n], BERTH_OV_WORD, "%.*s", is_precision ? (int)(sizeof hint - 1) : (int)key,
             is_precision ? hint : at);
    snprintf(out->values[out->n], BERTH_OV_WORD, "%.*s", (int)(n - value), at + value);
    out->n++;
    return BERTH_OK;
}

berth_status berth_ov_device_parse(berth_ctx *ctx, const char *text, berth_ov_device *out) {
    size_t n = strcspn(text, ":");
    *out = (berth_ov_device){0};
    if (!is_name(text, n) || n >= BERTH_OV_WORD)
        return berth_fail(ctx, BERTH_E_ARG,
                          "'%.60s' is no device of OpenVINO; 'berth devices --runtime openvino' lists them", text);
    memcpy(out->name, text, n);
    out->is_alias = berth_ov_device_is_cpu(out->name) && n > 3;
    if (out->is_alias && strchr(out->name, '.'))
        return berth_fail(ctx, BERTH_E_ARG, "'%.60s': a further name of the CPU has no dot", text);
    for (const char *at = text + n; *at;) {
        at++;
        size_t length = strcspn(at, ":");
        BERTH_TRY(take_property(ctx, text, at, length, out));
        at += length;
    }
    return BERTH_OK;
}

berth_type berth_ov_device_precision(const char *text) {
    for (const char *at = strchr(text, ':'); at; at = strchr(at, ':')) {
        at++;
        size_t n = strcspn(at, ":");
        berth_type type = find_precision(at, n);
        if (type != BERTH_TYPE_UNKNOWN) return type;
        if (n > sizeof hint && memcmp(at, hint, sizeof hint - 1) == 0 && at[sizeof hint - 1] == '=')
            return find_precision(at + sizeof hint, n - sizeof hint);
    }
    return BERTH_TYPE_UNKNOWN;
}

berth_status berth_ov_device_check(berth_ctx *ctx, const char *const *devices, int32_t n) {
    for (int32_t i = 0; i < n; i++) {
        berth_ov_device device, other;
        BERTH_TRY(berth_ov_device_parse(ctx, devices[i], &device));
        for (int32_t k = 0; k < i; k++) {
            BERTH_TRY(berth_ov_device_parse(ctx, devices[k], &other));
            if (strcmp(device.name, other.name) == 0)
                return berth_fail(ctx, BERTH_E_ARG, "'%.60s' and '%.60s' are both %s; another name of the CPU is CPU1",
                                  devices[k], devices[i], device.name);
        }
    }
    return BERTH_OK;
}
