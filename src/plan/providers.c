/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as execution providers. The setting always names providers, never device words such as "cpu" or "gpu": those
 * mean the first provider with memory of that kind, whichever it is. Tokens are exact ("=g"): a plain one is a prefix.
 * A session of ONNX Runtime copies between the CPU and one other provider only. */
#include "plan/providers.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

static const char suffix[] = "ExecutionProvider";

/* --- one device ------------------------------------------------------------------------------------------------- */

/* Names go into a setting that has no escaping, and into source code. */
static bool is_name(const char *text) {
    if (!*text || strlen(text) > 100) return false;
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") == strlen(text);
}

static void add_option(berth_provider *to, const char *key, const char *value) {
    if (key) to->options[to->n_options++] = (berth_provider_option){key, value};
}

/* As it was measured: in the precision of the model, unless the plan says otherwise. */
static void keep_precision(const berth_export *e, const berth_ort_provider *row, berth_provider *to) {
    if (!e->plan->native_precision) add_option(to, row->wide, row->wide_value);
}

/* A provider by the name that the user gave it: its own, or that of a device. Others than those of the table may come
 * with a library of their own. */
static berth_status take_named(const berth_export *e, berth_arena *arena, const berth_provider_rule *rule,
                               berth_provider *out) {
    const berth_ort_provider *row;
    for (int32_t i = 0; (row = berth_ort_provider_at(i)); i++) {
        if (strcasecmp(row->name, rule->provider) != 0 && strcmp(row->device, rule->provider) != 0) continue;
        *out = (berth_provider){.name = row->name, .append = row->append, .word = row->word};
        keep_precision(e, row, out);
        return BERTH_OK;
    }
    if (!is_name(rule->provider))
        return berth_fail(e->ctx, BERTH_E_ARG, "'%.100s' is no name of an execution provider", rule->provider);
    size_t n = strlen(rule->provider), m = sizeof suffix - 1;
    if (n > m && strcmp(rule->provider + n - m, suffix) == 0) n -= m;
    *out = (berth_provider){.name = rule->provider, .append = BERTH_APPEND_BY_NAME};
    out->word = berth_arena_string(arena, rule->provider, n);
    return out->word ? BERTH_OK : berth_fail_nomem(e->ctx);
}

/* "gpu.1" is the second card of "gpu". Returns the number as text, or NULL, and the length of what is before it. */
static const char *find_number(const char *device, size_t *base) {
    const char *dot = strrchr(device, '.');
    *base = strlen(device);
    if (!dot || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1)) return NULL;
    *base = (size_t)(dot - device);
    return dot + 1;
}

static berth_status take_default(const berth_export *e, const char *device, berth_provider *out) {
    size_t base = 0;
    const char *number = find_number(device, &base);
    const berth_ort_provider *row;
    for (int32_t i = 0; (row = berth_ort_provider_at(i)); i++) {
        if (strlen(row->device) != base || strncmp(row->device, device, base) != 0) continue;
        bool picks = number && row->id;
        *out = (berth_provider){.name = row->name, .append = row->append, .word = row->word, .card = number};
        add_option(out, picks ? row->id : row->option, picks ? number : row->value);
        keep_precision(e, row, out);
        if (number && !row->id && row->append != BERTH_APPEND_NONE && strcmp(number, "0") != 0)
            return berth_fail(e->ctx, BERTH_E_ARG, "%s has no option that picks '%.100s'; say --provider %.100s=NAME",
                              out->name, device, device);
        out->guessed = row->described;
        return BERTH_OK;
    }
    return berth_fail(e->ctx, BERTH_E_ARG,
                      "no execution provider is known for device '%.100s'; say --provider %.100s=CUDAExecutionProvider "
                      "or the like",
                      device, device);
}

static berth_status find_provider(const berth_export *e, berth_arena *arena, const char *device, berth_provider *out) {
    for (int32_t i = 0; i < e->options.n_providers; i++)
        if (strcmp(e->options.providers[i].device, device) == 0)
            return take_named(e, arena, &e->options.providers[i], out);
    return take_default(e, device, out);
}

/* --- the session ------------------------------------------------------------------------------------------------ */

static berth_status check_rules(const berth_export *e) {
    for (int32_t i = 0; i < e->options.n_providers; i++) {
        const char *device = e->options.providers[i].device;
        berth_nearest nearest = berth_nearest_begin(device);
        bool known = false;
        for (int32_t d = 0; d < e->plan->n_devices; d++) {
            known |= strcmp(e->plan->device_names[d], device) == 0;
            berth_nearest_offer(&nearest, e->plan->device_names[d]);
        }
        if (known) continue;
        return berth_fail(e->ctx, BERTH_E_ARG, "the plan has no device '%.100s'%s%.100s%s", device,
                          nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                          nearest.best ? "'?" : "");
    }
    return BERTH_OK;
}

static bool same_text(const char *a, const char *b) {
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_provider(const berth_provider *a, const berth_provider *b) {
    bool same = strcmp(a->name, b->name) == 0 && same_text(a->card, b->card) && a->n_options == b->n_options;
    for (int32_t i = 0; i < a->n_options && same; i++)
        same =
            strcmp(a->options[i].key, b->options[i].key) == 0 && strcmp(a->options[i].value, b->options[i].value) == 0;
    return same;
}

/* The device's place in the session; `first` is the accelerator found so far, or NULL. */
static berth_status add_device(const berth_export *e, berth_arena *arena, int32_t device, const char **first,
                               berth_session *out, int32_t *place) {
    berth_provider found = {0};
    const char *name = e->plan->device_names[device];
    BERTH_TRY(find_provider(e, arena, name, &found));
    *place = 1; /* the CPU; moved to the front if nothing else is there */
    if (found.append == BERTH_APPEND_NONE) return BERTH_OK;
    *place = 0;
    if (*first && !same_provider(&found, &out->providers[0]))
        return berth_fail(e->ctx, BERTH_E_INFEASIBLE,
                          "the plan uses %.100s and %.100s, but a session of ONNX Runtime takes the CPU and one "
                          "accelerator; place on --devices cpu,%.100s",
                          *first, name, *first);
    if (!*first) *first = name;
    out->providers[0] = found;
    out->providers[0].tag = "g";
    return BERTH_OK;
}

static berth_status add_devices(const berth_export *e, berth_arena *arena, berth_session *out, int32_t *of_device,
                                const char **accelerator) {
    out->n = 2;
    out->providers[1] = (berth_provider){.name = berth_ort_provider_at(0)->name, .tag = "c"};
    for (int32_t d = 0; d < e->plan->n_devices; d++) of_device[d] = -1;
    for (int32_t op = 0; op < e->placement->n_ops; op++) {
        int32_t d = e->placement->device[op];
        if (of_device[d] < 0) BERTH_TRY(add_device(e, arena, d, accelerator, out, &of_device[d]));
    }
    if (*accelerator) return BERTH_OK;
    out->providers[0] = out->providers[1];
    out->n = 1;
    for (int32_t d = 0; d < e->plan->n_devices; d++) of_device[d] = of_device[d] < 0 ? -1 : 0;
    return BERTH_OK;
}

berth_status berth_session_find(const berth_export *e, berth_arena *arena, berth_session *out) {
    const char *accelerator = NULL;
    *out = (berth_session){0};
    BERTH_TRY(check_rules(e));
    int32_t *of_device = berth_arena_push(arena, (size_t)e->plan->n_devices, sizeof *of_device);
    if (!of_device) return berth_fail_nomem(e->ctx);
    BERTH_TRY(add_devices(e, arena, out, of_device, &accelerator));
    out->of_device = of_device;
    if (out->providers[0].guessed)
        berth_log(e->ctx, BERTH_LOG_WARNING,
                  "the plan's %.100s is only described; it is taken for %s (or say --provider)", accelerator,
                  out->providers[0].name);
    const berth_provider *first = &out->providers[0], *cpu = &out->providers[out->n - 1];
    out->settings = out->n == 1
                        ? berth_arena_printf(arena, "%s(=%s)", cpu->name, cpu->tag)
                        : berth_arena_printf(arena, "%s(=%s);%s(=%s)", first->name, first->tag, cpu->name, cpu->tag);
    return out->settings ? BERTH_OK : berth_fail_nomem(e->ctx);
}
