/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of devices: by profile names, from a file, from a workload. Whatever they come from, the square of links is
 * full in the end: where no link is given, data go through the host and pay both legs. */
#include "device/set.h"

#include "base/file.h"
#include "device/profiles.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FILE_BYTES = 16 << 20, MAX_DEPTH = 16 };

const char *berth_model_name(berth_model model) {
    switch (model) {
    case BERTH_MODEL_SERIAL: return "serial";
    case BERTH_MODEL_QUEUED: return "queued";
    case BERTH_MODEL_CONCURRENT: return "concurrent";
    case BERTH_MODEL_CONTIGUOUS: return "contiguous";
    case BERTH_MODEL_COUNT: break;
    }
    return "unknown";
}

berth_model berth_model_find(const char *name) {
    for (int model = 0; model < BERTH_MODEL_COUNT; model++)
        if (strcmp(name, berth_model_name((berth_model)model)) == 0) return (berth_model)model;
    return BERTH_MODEL_COUNT;
}

berth_status berth_device_draft_new(berth_ctx *ctx, berth_device_draft **out, int32_t n, const char *source) {
    *out = NULL;
    if (n < 1) return berth_fail(ctx, BERTH_E_ARG, "%.600s: there must be at least one device", source);
    if (n > BERTH_MAX_DEVICES)
        return berth_fail(ctx, BERTH_E_LIMIT, "%.600s: %" PRId32 " devices are more than %d", source, n,
                          BERTH_MAX_DEVICES);
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_device_draft *draft = berth_resize(allocator, NULL, 0, 1, sizeof *draft);
    if (!draft) return berth_fail_nomem(ctx);
    berth_arena_init(&draft->arena, allocator);
    draft->devices = berth_arena_push(&draft->arena, (size_t)n, sizeof *draft->devices);
    draft->links = berth_arena_push(&draft->arena, (size_t)n * (size_t)n, sizeof *draft->links);
    draft->set = (berth_device_set){
        .n_devices = n,
        .devices = draft->devices,
        .links = draft->links,
        .model = BERTH_MODEL_SERIAL,
        .source = berth_arena_string(&draft->arena, source, strlen(source)),
    };
    if (draft->arena.failed) {
        berth_device_set_free(&draft->set);
        return berth_fail_nomem(ctx);
    }
    *out = draft;
    return BERTH_OK;
}

void berth_device_set_free(berth_device_set *set) {
    if (!set) return;
    berth_device_draft *draft = (berth_device_draft *)set;
    berth_allocator allocator = draft->arena.allocator;
    berth_arena_deinit(&draft->arena);
    berth_resize(&allocator, draft, 1, 0, sizeof *draft);
}

int32_t berth_device_find(const berth_device_set *set, const char *name) {
    for (int32_t d = 0; d < set->n_devices; d++)
        if (strcmp(set->devices[d].name, name) == 0) return d;
    return -1;
}

int32_t berth_device_draft_host(const berth_device_draft *draft) {
    for (int32_t d = 0; d < draft->set.n_devices; d++)
        if (strcmp(draft->devices[d].kind, "cpu") == 0) return d;
    return 0;
}

berth_link berth_link_join(berth_link first, berth_link second) {
    return (berth_link){
        .fixed_ms = first.fixed_ms + second.fixed_ms,
        .ms_per_byte = first.ms_per_byte + second.ms_per_byte,
        .queued = first.queued || second.queued,
    };
}

void berth_device_draft_route(berth_device_draft *draft, const bool *has) {
    int32_t n = draft->set.n_devices, host = draft->set.host;
    for (int32_t from = 0; from < n; from++)
        for (int32_t to = 0; to < n; to++)
            if (from != to && !has[from * n + to])
                draft->links[from * n + to] =
                    berth_link_join(draft->links[from * n + host], draft->links[host * n + to]);
}

/* --- by profile names ------------------------------------------------------------------------------------------- */

static berth_status fail_profile(berth_ctx *ctx, const char *name, size_t size) {
    char known[256] = "";
    size_t used = 0;
    for (int32_t i = 0; berth_profile_name(i) && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", berth_profile_name(i));
    return berth_fail(ctx, BERTH_E_ARG, "there is no device profile '%.*s'; there are %s", (int)(size > 80 ? 80 : size),
                      name, known);
}

/* A whole testbed, as it stands in the table. */
static berth_status copy_testbed(berth_ctx *ctx, berth_device_set **out, const berth_profile *profile) {
    berth_device_draft *draft = NULL;
    BERTH_TRY(berth_device_draft_new(ctx, &draft, profile->n_devices, profile->name));
    assert(draft);
    for (int32_t d = 0; d < profile->n_devices; d++) draft->devices[d] = profile->devices[d];
    for (int32_t i = 0; i < profile->n_devices * profile->n_devices; i++)
        if (i % (profile->n_devices + 1)) draft->links[i] = profile->link;
    draft->set.piece_ms = profile->piece_ms;
    draft->set.host = berth_device_draft_host(draft);
    *out = &draft->set;
    return BERTH_OK;
}

typedef struct name_list {
    int32_t n;
    const berth_profile *profile[BERTH_MAX_DEVICES];
} name_list;

static berth_status find_profiles(berth_ctx *ctx, const char *text, name_list *list) {
    for (const char *at = text;; at++) {
        size_t size = strcspn(at, ",");
        const berth_profile *profile = berth_profile_find(at, size);
        if (!profile) return fail_profile(ctx, at, size);
        if (list->n == BERTH_MAX_DEVICES)
            return berth_fail(ctx, BERTH_E_LIMIT, "there may be at most %d devices", BERTH_MAX_DEVICES);
        list->profile[list->n++] = profile;
        at += size;
        if (!*at) break;
    }
    for (int32_t i = 0; i < list->n; i++)
        if (list->profile[i]->n_devices > 1 && list->n > 1)
            return berth_fail(ctx, BERTH_E_ARG, "'%s' is a whole testbed and cannot be combined with other devices",
                              list->profile[i]->name);
    return BERTH_OK;
}

/* "gpu" alone, but "gpu.0" and "gpu.1" where there are two. */
static const char *name_device(berth_arena *arena, const name_list *list, int32_t index) {
    int32_t before = 0, all = 0;
    for (int32_t i = 0; i < list->n; i++) {
        if (list->profile[i] != list->profile[index]) continue;
        all++;
        before += i < index;
    }
    if (all == 1) return list->profile[index]->name;
    return berth_arena_printf(arena, "%s.%" PRId32, list->profile[index]->name, before);
}

/* From a device to the host's memory, or back. The host is there already, if it is a CPU. */
static berth_link leg_of(const berth_device_draft *draft, const name_list *list, int32_t d) {
    bool is_there = d == draft->set.host && strcmp(draft->devices[d].kind, "cpu") == 0;
    return is_there ? (berth_link){0} : list->profile[d]->link;
}

static berth_status read_profiles(berth_ctx *ctx, berth_device_set **out, const char *text) {
    name_list list = {0};
    berth_device_draft *draft = NULL;
    BERTH_TRY(find_profiles(ctx, text, &list));
    assert(list.profile[0]); /* an empty text has one name, the empty one, and was refused */
    if (list.profile[0]->n_devices > 1) return copy_testbed(ctx, out, list.profile[0]);
    BERTH_TRY(berth_device_draft_new(ctx, &draft, list.n, text));
    assert(draft);
    for (int32_t d = 0; d < list.n; d++) {
        draft->devices[d] = list.profile[d]->devices[0];
        draft->devices[d].name = name_device(&draft->arena, &list, d);
    }
    draft->set.host = berth_device_draft_host(draft);
    for (int32_t from = 0; from < list.n; from++)
        for (int32_t to = 0; to < list.n; to++)
            if (from != to)
                draft->links[from * list.n + to] =
                    berth_link_join(leg_of(draft, &list, from), leg_of(draft, &list, to));
    if (draft->arena.failed) {
        berth_device_set_free(&draft->set);
        return berth_fail_nomem(ctx);
    }
    *out = &draft->set;
    return BERTH_OK;
}

/* --- from a file ------------------------------------------------------------------------------------------------ */

static berth_status read_file(berth_ctx *ctx, berth_device_set **out, const char *path, berth_arena *scratch) {
    const char *bytes = NULL;
    size_t size = 0;
    const berth_json *root = NULL;
    BERTH_TRY(berth_file_read(ctx, scratch, path, MAX_FILE_BYTES, &bytes, &size));
    BERTH_TRY(berth_json_parse(ctx, scratch, path, bytes, size, MAX_DEPTH, &root));
    const berth_json *measured = berth_json_get(root, "device_set"); /* the file is a profile.json */
    return berth_device_set_parse(ctx, out, path, measured ? measured : root);
}

static bool is_path(const char *text) {
    size_t size = strlen(text);
    return strchr(text, '/') || (size >= 5 && strcmp(text + size - 5, ".json") == 0);
}

berth_status berth_device_set_read(berth_ctx *ctx, berth_device_set **out, const char *text) {
    *out = NULL;
    if (!is_path(text)) return read_profiles(ctx, out, text);
    berth_arena scratch;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_status status = read_file(ctx, out, text, &scratch);
    berth_arena_deinit(&scratch);
    return status;
}

/* --- from a workload -------------------------------------------------------------------------------------------- */

berth_status berth_device_set_given(berth_ctx *ctx, berth_device_set **out, const berth_graph *graph) {
    *out = NULL;
    const berth_given_costs *given = berth_graph_given_costs(graph);
    const char *format = berth_format_name(berth_graph_format(graph));
    if (!given) return berth_fail(ctx, BERTH_E_ARG, "a model in the format %s brings no devices of its own", format);
    berth_device_draft *draft = NULL;
    BERTH_TRY(berth_device_draft_new(ctx, &draft, given->n_devices, format));
    assert(draft);
    bool is_msr = berth_graph_format(graph) == BERTH_FORMAT_MSR;
    int32_t n = given->n_devices;
    for (int32_t d = 0; d < n; d++) {
        const char *name = given->device_names[d];
        draft->devices[d] = (berth_device){
            .name = berth_arena_string(&draft->arena, name, strlen(name)),
            .kind = is_msr ? d == 0 ? "cpu" : "acc" : "device",
            .memory_bytes = given->capacity ? given->capacity[d] : INFINITY,
        };
    }
    for (int32_t i = 0; i < n * n && given->link_ms; i++)
        draft->links[i] = isinf(given->link_ms[i]) ? (berth_link){.fixed_ms = INFINITY}
                                                   : (berth_link){.ms_per_byte = given->link_ms[i]};
    draft->set.model = is_msr ? BERTH_MODEL_CONTIGUOUS : BERTH_MODEL_CONCURRENT;
    if (draft->arena.failed) {
        berth_device_set_free(&draft->set);
        return berth_fail_nomem(ctx);
    }
    *out = &draft->set;
    return BERTH_OK;
}
