/* SPDX-License-Identifier: Apache-2.0 */
/* Models for OpenVINO: an IR beside its weights, or an ONNX file; a candidate is the same model with a map of its
 * operations (ov_map.h). */
#include "runtime/ov_kind.h"

#include "base/file.h"
#include "base/text.h"
#include "read/source.h"
#include "runtime/ir_weights.h"
#include "runtime/onnx_files.h"
#include "runtime/ov_device.h"
#include "runtime/ov_map.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- files ------------------------------------------------------------------------------------------------------ */

/* Weights are as large as the user made them. */
berth_status berth_ov_unpack(berth_ctx *ctx, berth_stage *stage, const char *from, const char *to) {
    berth_read_options options = berth_read_options_default();
    berth_source source;
    options.max_inflated = INT64_MAX / 2;
    options.max_expansion = INT_MAX;
    berth_status status = berth_source_open(ctx, &source, from, &options);
    if (status == BERTH_OK) status = berth_stage_begin(stage, to);
    if (status == BERTH_OK) status = berth_stage_put(stage, source.bytes, source.size);
    int error = errno;
    berth_source_close(ctx, &source);
    errno = error;
    return status;
}

static berth_status unpack(berth_ctx *ctx, const char *from, const char *to) {
    berth_stage stage;
    berth_stage_init(&stage, ctx);
    berth_status status = berth_ov_unpack(ctx, &stage, from, to);
    if (status == BERTH_OK) status = berth_stage_commit(&stage);
    berth_stage_deinit(&stage);
    return berth_file_judge(status);
}

static berth_status link_to(berth_ctx *ctx, const char *from, const char *to) {
    char path[PATH_MAX];
    if (realpath(from, path) && symlink(path, to) == 0) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_IO, "cannot link to %.600s: %s", from, strerror(errno));
}

int berth_ov_stem(const char *path) {
    size_t n = strlen(path);
    if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
    if (n > 4 && memcmp(path + n - 4, ".xml", 4) == 0) n -= 4;
    return (int)n;
}

bool berth_ov_needs_weights(const berth_graph *graph) {
    for (int32_t i = 0; i < berth_graph_op_count(graph); i++) {
        const berth_op *op = berth_graph_op(graph, i);
        if (op->blob_bytes > 0) return true;
        for (int32_t k = 0; k < op->n_outputs; k++)
            if (op->outputs[k] >= 0 && berth_graph_tensor(graph, op->outputs[k])->payload_bytes > 0) return true;
    }
    return false;
}

static berth_status gather_ir(berth_run_model *m, const char *path, const berth_run_options *options) {
    int n = berth_ov_stem(path);
    const char *bin = berth_arena_printf(&m->arena, "%.*s.bin", n, path);
    const char *packed = berth_arena_printf(&m->arena, "%.*s.bin.gz", n, path);
    const char *to = berth_arena_printf(&m->arena, "%s/model.bin", m->folder);
    m->path = berth_arena_printf(&m->arena, "%s/model.xml", m->folder);
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    BERTH_TRY(unpack(m->ctx, path, m->path));
    if (access(bin, R_OK) == 0) return link_to(m->ctx, bin, to);
    if (access(packed, R_OK) == 0) return unpack(m->ctx, packed, to);
    if (!berth_ov_needs_weights(m->graph)) return BERTH_OK;
    if (options->synthesize) {
        m->n_made_files = 1;
        return berth_ir_weights_make(m->ctx, m->graph, to, options->seed);
    }
    return berth_fail(m->ctx, BERTH_E_ARG,
                      "%.600s: its weights, %.600s, are missing; --synthesize-weights runs it with made-up ones", path,
                      bin);
}

berth_status berth_ov_gather(berth_run_model *model, const char *path, const berth_run_options *options) {
    berth_format format = berth_graph_format(model->graph);
    if (format == BERTH_FORMAT_OPENVINO_IR) return gather_ir(model, path, options);
    if (format == BERTH_FORMAT_ONNX) return berth_onnx_files_gather(model, path, options);
    return berth_fail(model->ctx, BERTH_E_UNSUPPORTED, "%.600s: OpenVINO runs OpenVINO IR and ONNX, and this is %s",
                      path, berth_format_name(format));
}

/* --- candidates ------------------------------------------------------------------------------------------------- */

static berth_status write_map(berth_run_model *m, const char *const *devices, int32_t n_devices, const int32_t *device,
                              const char *path) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(m->ctx, &text));
    berth_json_object_begin(text, NULL);
    berth_ov_map_write(text, m->graph, devices, n_devices, device);
    berth_json_object_end(text);
    berth_status status = berth_text_write(m->ctx, text, path);
    berth_text_free(text);
    return status;
}

/* Devices that no operation is on are left alone: they may be missing, or unable to compute as they were told. */
static const char *const *list_used(berth_run_model *m, const char *const *devices, int32_t n_devices,
                                    const int32_t *device) {
    const char **names = berth_arena_push(&m->arena, (size_t)n_devices + 1, sizeof *names);
    bool *is_used = berth_arena_push(&m->arena, (size_t)n_devices, sizeof *is_used);
    int32_t n = 0;
    if (m->arena.failed) return NULL;
    for (int32_t i = 0; i < berth_graph_op_count(m->graph); i++)
        if (berth_ov_map_has(berth_graph_op(m->graph, i))) is_used[device[i]] = true;
    for (int32_t d = 0; d < n_devices; d++)
        if (is_used[d]) names[n++] = devices[d];
    if (n == 0) names[0] = devices[0];
    return names;
}

berth_status berth_ov_place(berth_run_model *m, const char *const *devices, int32_t n_devices, const int32_t *device,
                            berth_candidate *out) {
    const char *const *names = list_used(m, devices, n_devices, device);
    const char *map = berth_arena_printf(&m->arena, "%s/placed%" PRId32 ".json", m->folder, m->n_placed++);
    if (m->arena.failed) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_ov_device_check(m->ctx, devices, n_devices));
    out->model = m->path;
    out->devices = names;
    out->assignment = map;
    return write_map(m, devices, n_devices, device, map);
}

/* A device that is not the CPU has it behind it, for what it cannot run. */
berth_status berth_ov_single(berth_run_model *m, const char *device, berth_candidate *out) {
    const char **names = berth_arena_push(&m->arena, 3, sizeof *names);
    if (!names) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_ov_device_check(m->ctx, &device, 1));
    names[0] = device;
    if (!berth_ov_device_is_cpu(device)) names[1] = "CPU";
    out->devices = names;
    return BERTH_OK;
}
