/* SPDX-License-Identifier: Apache-2.0 */
/* The other process: reads a job from standard input, does it, answers on file descriptor 3. */
#include "berth/runtime.h"

#include "base/file.h"
#include "base/text.h"
#include "runtime/ort.h"
#include "runtime/ov.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { MOST_JOB = 1 << 26 };

static const struct {
    const char *name;
    berth_status (*work)(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer);
} runtimes[] = {
    {"onnxruntime", berth_ort_work},
    {"openvino", berth_ov_work},
};

static berth_status work(berth_ctx *ctx, berth_arena *arena, berth_answer *answer) {
    const char *bytes = NULL;
    size_t size = 0;
    berth_job job;
    BERTH_TRY(berth_file_read(ctx, arena, "-", MOST_JOB, &bytes, &size));
    BERTH_TRY(berth_job_read(ctx, arena, bytes, size, &job));
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++)
        if (strcmp(runtimes[i].name, job.runtime) == 0) return runtimes[i].work(ctx, arena, &job, answer);
    return berth_fail(ctx, BERTH_E_ARG, "there is no runtime '%.60s'", job.runtime);
}

static void put_error(berth_ctx *ctx, berth_text *text, berth_status status) {
    berth_json_object_begin(text, NULL);
    berth_json_object_begin(text, "error");
    berth_json_int(text, "status", status);
    berth_json_string(text, "message", berth_ctx_message(ctx));
    berth_json_object_end(text);
    berth_json_object_end(text);
}

static berth_status send_answer(const berth_text *text) {
    const char *bytes = berth_text_string(text);
    size_t left = berth_text_size(text);
    while (left > 0) {
        ssize_t n = write(BERTH_CHILD_ANSWER_FD, bytes, left);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return BERTH_E_IO;
        bytes += n;
        left -= (size_t)n;
    }
    return BERTH_OK;
}

berth_status berth_worker_run(berth_ctx *ctx) {
    berth_answer answer = {.version = ""};
    berth_arena arena;
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(ctx, &text));
    berth_arena_init(&arena, berth_ctx_allocator(ctx));
    berth_status status = work(ctx, &arena, &answer);
    if (status == BERTH_OK)
        berth_answer_write(text, &answer);
    else
        put_error(ctx, text, status);
    status = berth_text_status(text) == BERTH_OK ? send_answer(text) : berth_fail_nomem(ctx);
    if (status == BERTH_E_IO)
        berth_fail(ctx, status, "a worker is started by berth itself, with file descriptor %d open for its answer",
                   BERTH_CHILD_ANSWER_FD);
    berth_arena_deinit(&arena);
    berth_text_free(text);
    return status;
}
