/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and weights. */
#include "runtime/onnx_files.h"

#include "base/file.h"
#include "base/stage.h"
#include "base/text.h"
#include "read/onnx_external.h"
#include "runtime/weights.h"

#include <inttypes.h>

static berth_status put_bytes(void *user, const char *bytes, size_t n) {
    return berth_stage_put(user, bytes, n);
}

berth_status berth_onnx_files_copy(berth_ctx *ctx, const char *from, const char *to, const berth_onnx_tags *tags) {
    berth_read_options options = berth_read_options_default();
    berth_source source;
    berth_stage stage;
    berth_stage_init(&stage, ctx);
    berth_status status = berth_source_open(ctx, &source, from, &options);
    if (status == BERTH_OK) status = berth_stage_begin(&stage, to);
    if (status == BERTH_OK)
        status = tags ? berth_onnx_annotate(ctx, &source, tags, put_bytes, &stage)
                      : berth_stage_put(&stage, source.bytes, source.size);
    if (status == BERTH_OK) status = berth_stage_commit(&stage);
    berth_stage_deinit(&stage);
    status = berth_file_judge(status);
    berth_source_close(ctx, &source);
    return status;
}

berth_status berth_onnx_files_gather(berth_run_model *m, const char *path, const berth_run_options *options) {
    int32_t n_missing = 0;
    BERTH_TRY(berth_onnx_external_check(m->ctx, path, &n_missing));
    if (n_missing > 0 && !options->synthesize)
        return berth_fail(m->ctx, BERTH_E_ARG,
                          "%.600s: %" PRId32 " of its files of weights %s missing; --synthesize-weights runs it with "
                          "made-up ones",
                          path, n_missing, n_missing == 1 ? "is" : "are");
    m->path = berth_arena_printf(&m->arena, "%s/model.onnx", m->folder);
    if (!m->path) return berth_fail_nomem(m->ctx);
    BERTH_TRY(berth_weights_make(m->ctx, m->graph, path, m->folder, options->seed, &m->n_made_files));
    return berth_onnx_files_copy(m->ctx, path, m->path, NULL);
}
