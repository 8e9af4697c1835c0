/* SPDX-License-Identifier: Apache-2.0 */
/* Models for ONNX Runtime: a candidate is a copy with marks on its operations. */
#include "runtime/ort_kind.h"

#include "base/text.h"
#include "runtime/onnx_files.h"
#include "runtime/providers.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_TAG = 8 };

berth_status berth_ort_gather(berth_run_model *m, const char *path, const berth_run_options *options) {
    if (berth_graph_format(m->graph) != BERTH_FORMAT_ONNX)
        return berth_fail(m->ctx, BERTH_E_UNSUPPORTED, "%.600s: ONNX Runtime runs ONNX models, and this is %s", path,
                          berth_format_name(berth_graph_format(m->graph)));
    return berth_onnx_files_gather(m, path, options);
}

/* --- candidates ------------------------------------------------------------------------------------------------- */

static berth_status find_provider(const berth_run_model *m, const char *device, const berth_ort_provider **out) {
    *out = berth_ort_provider_of(device);
    if (*out) return BERTH_OK;
    return berth_fail(m->ctx, BERTH_E_ARG, "ONNX Runtime has no device '%.60s'", device);
}

static bool holds_io(const berth_run_model *m, const char *device) {
    for (int32_t i = 0; i < m->n_io; i++)
        if (strcmp(m->io[i].device, device) == 0) return true;
    return false;
}

/* Only devices that are used, be it for inputs and outputs alone, are registered, the accelerator before the CPU, which
 * is always there. */
static berth_status list_devices(berth_run_model *m, const char *const *devices, int32_t n, const int32_t *device,
                                 berth_candidate *out) {
    const char **names = berth_arena_push(&m->arena, (size_t)n + 1, sizeof *names);
    bool *used = berth_arena_push(&m->arena, (size_t)n + 1, sizeof *used);
    berth_text *text = NULL;
    int32_t n_names = 0;
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++) used[device[i]] = true;
    BERTH_TRY(berth_text_new(m->ctx, &text));
    berth_status status = BERTH_OK;
    for (int32_t d = 0; d < n && status == BERTH_OK; d++) {
        const berth_ort_provider *provider = NULL;
        status = find_provider(m, devices[d], &provider);
        bool is_needed = used[d] || holds_io(m, devices[d]);
        if (status != BERTH_OK || (!is_needed && provider->append != BERTH_APPEND_NONE)) continue;
        berth_text_printf(text, "%s%s(=%c)", berth_text_size(text) > 0 ? ";" : "", provider->name, 'a' + d);
        if (provider->append != BERTH_APPEND_NONE) names[n_names++] = devices[d];
    }
    if (status == BERTH_OK && n_names > 1)
        status = berth_fail(m->ctx, BERTH_E_INFEASIBLE,
                            "one session of ONNX Runtime runs on the CPU and one other device, not on both '%.60s' and "
                            "'%.60s'",
                            names[0], names[1]);
    out->devices = names;
    out->assignment = berth_arena_string(&m->arena, berth_text_string(text), berth_text_size(text));
    if (status == BERTH_OK && (m->arena.failed || berth_text_status(text) != BERTH_OK))
        status = berth_fail_nomem(m->ctx);
    berth_text_free(text);
    return status;
}

berth_status berth_ort_place(berth_run_model *m, const char *const *devices, int32_t n_devices, const int32_t *device,
                             berth_candidate *out) {
    static const char *const letters[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    berth_onnx_tags tags = {letters, device, berth_graph_op_count(m->graph)};
    if (n_devices > MOST_TAG) return berth_fail(m->ctx, BERTH_E_LIMIT, "more than %d devices in one session", MOST_TAG);
    BERTH_TRY(list_devices(m, devices, n_devices, device, out));
    out->model = berth_arena_printf(&m->arena, "%s/placed%" PRId32 ".onnx", m->folder, m->n_placed++);
    if (!out->model) return berth_fail_nomem(m->ctx);
    return berth_onnx_files_copy(m->ctx, m->path, out->model, &tags);
}

/* Everything on the CPU, and inputs or outputs on another device, which the session needs to have for that. */
static berth_status place_on_host(berth_run_model *m, const char *host, berth_candidate *out) {
    const char *const devices[] = {host, m->io[0].device};
    int32_t *device = berth_arena_push(&m->arena, (size_t)berth_graph_op_count(m->graph), sizeof *device);
    return device ? berth_ort_place(m, devices, 2, device, out) : berth_fail_nomem(m->ctx);
}

berth_status berth_ort_single(berth_run_model *m, const char *device, berth_candidate *out) {
    const berth_ort_provider *provider = NULL;
    const char **names = berth_arena_push(&m->arena, 2, sizeof *names);
    if (!names) return berth_fail_nomem(m->ctx);
    BERTH_TRY(find_provider(m, device, &provider));
    if (provider->append != BERTH_APPEND_NONE) names[0] = device;
    if (provider->append == BERTH_APPEND_NONE && m->n_io > 0) return place_on_host(m, device, out);
    out->devices = names;
    return BERTH_OK;
}
