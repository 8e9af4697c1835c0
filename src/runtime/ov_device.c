/* SPDX-License-Identifier: Apache-2.0 */
/* Names of devices, taken apart. */
#include "runtime/ov_device.h"

#include <stdio.h>
#include <string.h>

static const char hint[] = "INFERENCE_PRECISION_HINT";
static const char npu[] = "NPU"; /* which has no other precision than its own */

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

/* A type, or a key and its value; `at` behind them. */
static berth_status take_property(berth_ctx *ctx, const char *text, const char **at, berth_ov_device *out) {
    const char *key = *at, *value = key;
    size_t n_key = strcspn(key, ":"), n_value = n_key;
    bool is_precision = find_precision(key, n_key) != BERTH_TYPE_UNKNOWN;
    if (!is_precision) {
        value = key[n_key] ? key + n_key + 1 : key + n_key;
        n_value = strcspn(value, ":");
    }
    if (n_key == 0 || n_value == 0)
        return berth_fail(ctx, BERTH_E_ARG,
                          "device '%.100s': behind a colon stands f32, bf16, f16 or KEY:VALUE, not '%.*s'", text,
                          n_key < 60 ? (int)n_key : 60, key);
    if (out->n == BERTH_OV_PROPERTIES || n_key >= BERTH_OV_WORD || n_value >= BERTH_OV_WORD)
        return berth_fail(ctx, BERTH_E_ARG, "device '%.100s' has too many or too long properties", text);
    memcpy(out->keys[out->n], is_precision ? hint : key, is_precision ? sizeof hint - 1 : n_key);
    for (int32_t i = 0; i < out->n; i++)
        if (strcmp(out->keys[i], out->keys[out->n]) == 0)
            return berth_fail(ctx, BERTH_E_ARG, "device '%.100s' has %s twice", text, out->keys[i]);
    memcpy(out->values[out->n++], value, n_value);
    out->n_told = out->n;
    *at = value + n_value;
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
        BERTH_TRY(take_property(ctx, text, &at, out));
    }
    return BERTH_OK;
}

void berth_ov_device_mend(berth_ov_device *device) {
    static const char joins[] = "SNIPPETS_MODE", never[] = "DISABLE";
    bool narrow = false;
    for (int32_t i = 0; i < device->n; i++) {
        if (strcmp(device->keys[i], joins) == 0) return;
        narrow |= strcmp(device->keys[i], hint) == 0 && strcmp(device->values[i], "f32") != 0;
    }
    if (!narrow || !berth_ov_device_is_cpu(device->name) || device->n == BERTH_OV_PROPERTIES) return;
    memcpy(device->keys[device->n], joins, sizeof joins);
    memcpy(device->values[device->n++], never, sizeof never);
}

bool berth_ov_device_is_told(const berth_ov_device *device) {
    for (int32_t i = 0; i < device->n; i++)
        if (strcmp(device->keys[i], hint) == 0) return true;
    return strncmp(device->name, npu, sizeof npu - 1) == 0;
}

const char *berth_ov_device_plugin(void) {
#if defined(__aarch64__) || defined(__arm__)
    return "openvino_arm_cpu_plugin";
#else
    return "openvino_intel_cpu_plugin";
#endif
}

berth_type berth_ov_device_precision(const char *text) {
    bool is_value = false; /* of a key that is not the hint */
    for (const char *at = strchr(text, ':'); at; at = strchr(at, ':')) {
        at++;
        size_t n = strcspn(at, ":");
        berth_type type = is_value ? BERTH_TYPE_UNKNOWN : find_precision(at, n);
        if (type != BERTH_TYPE_UNKNOWN) return type;
        bool is_hint = n == sizeof hint - 1 && memcmp(at, hint, n) == 0;
        is_value = !is_value && !is_hint;
    }
    return strncmp(text, npu, sizeof npu - 1) == 0 ? BERTH_TYPE_F16 : BERTH_TYPE_UNKNOWN;
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
