/* SPDX-License-Identifier: Apache-2.0 */
/* The export for OpenVINO. No release reads affinities from a file, so the placement comes as a map, with loaders in
 * Python and C++ that put it on the operations; and an IR is written with the device of each layer as `user_data`,
 * which survives being read and written by OpenVINO 2025.4 and newer. All files are staged and renamed together, the
 * IR, which is begun first, as the last. */
#include "plan/export.h"
#include "plan/openvino_loaders.h"

#include "base/stage.h"
#include "read/ir_splice.h"
#include "runtime/ov_map.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char entry_name[] = "placement";
enum { OLDEST_NOTES = 11 }; /* version of IRs in which OpenVINO reads rt_info */

typedef struct job {
    const berth_export *e;
    const char *output;
    berth_arena arena;
    berth_stage stage;
    berth_openvino_plan plan;
} job;

/* --- devices ---------------------------------------------------------------------------------------------------- */

/* Built-in profiles are descriptions: what they are taken for. */
static const char *guess_device(job *j, const char *name) {
    static const struct {
        const char *described, *device;
    } rows[] = {{"cpu", "CPU"}, {"gpu", "GPU"}, {"igpu", "GPU"}, {"npu", "NPU"}};
    const char *dot = strchr(name, '.');
    size_t n = dot ? (size_t)(dot - name) : strlen(name);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strlen(rows[i].described) != n || memcmp(rows[i].described, name, n) != 0) continue;
        const char *device = berth_arena_printf(&j->arena, "%s%s", rows[i].device, dot ? dot : "");
        if (device)
            berth_log(j->e->ctx, BERTH_LOG_WARNING,
                      "device '%.60s' is taken for %s; --provider %.60s=NAME says otherwise", name, device, name);
        return device;
    }
    return name;
}

static berth_status find_devices(job *j) {
    const berth_export *e = j->e;
    int32_t n = e->plan->n_devices;
    const char **texts = berth_arena_push(&j->arena, (size_t)n, sizeof *texts);
    berth_ov_device *devices = berth_arena_push(&j->arena, (size_t)n, sizeof *devices);
    bool *is_used = berth_arena_push(&j->arena, (size_t)n, sizeof *is_used);
    if (j->arena.failed) return berth_fail_nomem(e->ctx);
    for (int32_t d = 0; d < n; d++) {
        for (int32_t i = 0; i < e->options.n_providers && !texts[d]; i++)
            if (strcmp(e->options.providers[i].device, e->plan->device_names[d]) == 0)
                texts[d] = e->options.providers[i].provider;
        if (!texts[d]) texts[d] = guess_device(j, e->plan->device_names[d]);
        if (!texts[d]) return berth_fail_nomem(e->ctx);
    }
    BERTH_TRY(berth_ov_device_check(e->ctx, texts, n));
    for (int32_t d = 0; d < n; d++) {
        BERTH_TRY(berth_ov_device_parse(e->ctx, texts[d], &devices[d]));
        berth_ov_device_mend(&devices[d]);
    }
    for (int32_t i = 0; i < e->placement->n_ops; i++)
        if (berth_ov_map_has(berth_graph_op(e->graph, i))) is_used[e->placement->device[i]] = true;
    j->plan =
        (berth_openvino_plan){.export_ = e, .n_devices = n, .texts = texts, .devices = devices, .is_used = is_used};
    return BERTH_OK;
}

/* --- the model -------------------------------------------------------------------------------------------------- */

static bool same_file(const char *a, const char *b) {
    struct stat first, second;
    if (stat(a, &first) != 0 || stat(b, &second) != 0) return false;
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static berth_status put_stage(void *user, const char *bytes, size_t n) {
    return berth_stage_put(user, bytes, n);
}

static berth_status stage_ir(job *j) {
    const berth_export *e = j->e;
    int32_t n = berth_graph_op_count(e->graph);
    const char **values = berth_arena_push(&j->arena, (size_t)n, sizeof *values);
    if (!values) return berth_fail_nomem(e->ctx);
    if (!e->options.force && strcmp(e->model, "-") != 0 && same_file(j->output, e->model))
        return berth_fail(e->ctx, BERTH_E_ARG, "%.600s is the model itself; choose another name, or --force",
                          j->output);
    if (berth_graph_version(e->graph) < OLDEST_NOTES)
        berth_log(e->ctx, BERTH_LOG_WARNING,
                  "OpenVINO does not read notes in an IR of version %d; the map has them all",
                  (int)berth_graph_version(e->graph));
    for (int32_t i = 0; i < n; i++)
        if (berth_ov_map_has(berth_graph_op(e->graph, i))) values[i] = j->plan.devices[e->placement->device[i]].name;
    berth_ir_notes notes = {entry_name, values, n};
    BERTH_TRY(berth_stage_begin(&j->stage, j->output));
    return berth_ir_annotate(e->ctx, &e->source, &notes, put_stage, &j->stage);
}

/* Beside the new IR, under its name. */
static berth_status stage_weights(job *j) {
    const berth_export *e = j->e;
    int n = berth_ov_stem(e->model);
    if (strcmp(e->model, "-") == 0 || !berth_ov_needs_weights(e->graph)) return BERTH_OK;
    const char *from = berth_arena_printf(&j->arena, "%.*s.bin", n, e->model);
    const char *to = berth_arena_printf(&j->arena, "%.*s.bin", berth_ov_stem(j->output), j->output);
    const char *packed = berth_arena_printf(&j->arena, "%.*s.bin.gz", n, e->model);
    if (j->arena.failed) return berth_fail_nomem(e->ctx);
    bool is_there = access(from, R_OK) == 0, is_packed = !is_there && access(packed, R_OK) == 0;
    if (!is_there && !is_packed) {
        berth_log(e->ctx, BERTH_LOG_WARNING, "the weights of %.400s are missing; the export loads once %.400s is there",
                  e->model, to);
        return BERTH_OK;
    }
    struct stat there;
    if (same_file(from, to)) return BERTH_OK;
    if (!j->e->options.force && lstat(to, &there) == 0)
        return berth_fail(j->e->ctx, BERTH_E_ARG, "%.600s is there already; choose another name, or --force", to);
    return is_packed ? berth_ov_unpack(e->ctx, &j->stage, packed, to) : berth_stage_link(&j->stage, to, from);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status stage_text(job *j, const char *ending, void (*put)(berth_text *, const berth_openvino_plan *)) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(j->e->ctx, &text));
    put(text, &j->plan);
    berth_status status = berth_export_stage(j->e, &j->arena, &j->stage, j->output, ending, text);
    berth_text_free(text);
    return status;
}

static berth_status run(job *j) {
    BERTH_TRY(find_devices(j));
    if (berth_graph_format(j->e->graph) == BERTH_FORMAT_OPENVINO_IR) {
        BERTH_TRY(stage_ir(j));
        BERTH_TRY(stage_weights(j));
    }
    BERTH_TRY(stage_text(j, ".berth.json", berth_openvino_put_map));
    BERTH_TRY(stage_text(j, ".py", berth_openvino_put_python));
    BERTH_TRY(stage_text(j, ".cpp", berth_openvino_put_cpp));
    return berth_stage_commit(&j->stage);
}

berth_status berth_export_openvino(const berth_export *e, const char *output) {
    berth_format format = berth_graph_format(e->graph);
    if (format != BERTH_FORMAT_OPENVINO_IR && format != BERTH_FORMAT_ONNX)
        return berth_fail(e->ctx, BERTH_E_UNSUPPORTED, "%.600s: OpenVINO runs OpenVINO IR and ONNX, and this is %s",
                          e->source.name, berth_format_name(format));
    job j = {.e = e, .output = output};
    berth_arena_init(&j.arena, berth_ctx_allocator(e->ctx));
    berth_stage_init(&j.stage, e->ctx);
    berth_status status = run(&j);
    berth_stage_deinit(&j.stage);
    int error = errno;
    berth_arena_deinit(&j.arena);
    errno = error;
    return status;
}
