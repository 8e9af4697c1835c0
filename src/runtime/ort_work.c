/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of the worker with ONNX Runtime: try a device on a small model; run a model and take times. */
#include "runtime/ort.h"

#include "runtime/timing.h"

#include <stdlib.h>
#include <string.h>

/* What a run needs, all by position. */
typedef struct run {
    const berth_ort *ort;
    const berth_job *job;
    ort_session *session;
    size_t n_in, n_out;
    char **in_names, **out_names; /* the library's */
    ort_value **in, **out;
    int *types;      /* of the inputs */
    berth_ort_io io; /* where inputs or outputs do not lie on the host */
} run;

/* --- probe ------------------------------------------------------------------------------------------------------ */

/* y = Relu(Relu(x)) of 4 floats, opset 13: the second so that there is something between two operations. */
/* clang-format off */
static const unsigned char small_model[] = {
    0x08, 0x07, 0x12, 0x00, 0x3a, 'E', 0x0a, 0x0c, 0x0a, 0x01, 'x', 0x12, 0x01, 'h', 0x22, 0x04, 'R', 'e', 'l',
    'u', 0x0a, 0x0c, 0x0a, 0x01, 'h', 0x12, 0x01, 'y', 0x22, 0x04, 'R', 'e', 'l', 'u', 0x12, 0x05, 's', 'm',
    'a', 'l', 'l', 'Z', 0x0f, 0x0a, 0x01, 'x', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02,
    0x08, 0x04, 'b', 0x0f, 0x0a, 0x01, 'y', 0x12, 0x0a, 0x0a, 0x08, 0x08, 0x01, 0x12, 0x04, 0x0a, 0x02, 0x08,
    0x04, 'B', 0x04, 0x0a, 0x00, 0x10, 0x0d,
};
/* clang-format on */

static berth_status probe(const berth_ort *ort, const berth_job *job, berth_answer *answer) {
    static const char *const in_names[] = {"x"}, *const out_names[] = {"y"};
    static const float given[] = {-1, 2, -3, 4};
    ort_session *session = NULL;
    ort_value *in = NULL, *out = NULL;
    void *data = NULL;
    berth_npy x = {
        .kind = 'f', .item_size = 4, .rank = 1, .dims = {4}, .count = 4, .data = given, .size = sizeof given};
    double start = berth_timing_now_ms();
    BERTH_TRY(berth_ort_session(ort, job, small_model, sizeof small_model, &session));
    answer->load_ms = berth_timing_now_ms() - start;
    berth_status status = berth_ort_value(ort, &x, 1, &in);
    start = berth_timing_now_ms();
    if (status == BERTH_OK)
        status = berth_ort_check(
            ort, ort->api->Run(session, NULL, in_names, (const ort_value *const *)&in, 1, out_names, 1, &out),
            BERTH_E_UNSUPPORTED, "a first run");
    answer->first_ms = berth_timing_now_ms() - start;
    if (status == BERTH_OK)
        status = berth_ort_check(ort, ort->api->GetTensorMutableData(out, &data), BERTH_E_UNSUPPORTED, "a first run");
    const float *y = data;
    if (status == BERTH_OK && !(y[0] == 0 && y[1] == 2 && y[2] == 0 && y[3] == 4))
        status = berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "a first run gave wrong numbers");
    if (out) ort->api->ReleaseValue(out);
    if (in) ort->api->ReleaseValue(in);
    ort->api->ReleaseSession(session);
    return status;
}

/* --- run -------------------------------------------------------------------------------------------------------- */

static berth_status find_input(const run *r, const char *name, const char **file) {
    for (int32_t i = 0; i < r->job->n_inputs; i++)
        if (strcmp(r->job->inputs[i].name, name) == 0) {
            *file = r->job->inputs[i].file;
            return BERTH_OK;
        }
    return berth_fail(r->ort->ctx, BERTH_E_ARG, "nothing is given for the input '%.200s'", name);
}

static berth_status load_input(run *r, size_t i) {
    const berth_ort *ort = r->ort;
    ort_type *info = NULL;
    const ort_tensor_type *tensor = NULL;
    const char *file = NULL;
    int type = 0;
    berth_npy from;
    BERTH_TRY(berth_ort_check(ort, ort->api->SessionGetInputTypeInfo(r->session, i, &info), BERTH_E_IO, "input"));
    berth_status status = berth_ort_check(ort, ort->api->CastTypeInfoToTensorInfo(info, &tensor), BERTH_E_IO, "input");
    if (status == BERTH_OK && !tensor)
        status = berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "the input '%.200s' is not a tensor", r->in_names[i]);
    if (status == BERTH_OK)
        status = berth_ort_check(ort, ort->api->GetTensorElementType(tensor, &type), BERTH_E_IO, "input");
    ort->api->ReleaseTypeInfo(info);
    BERTH_TRY(status);
    BERTH_TRY(find_input(r, r->in_names[i], &file));
    BERTH_TRY(berth_npy_read(ort->ctx, ort->arena, file, &from));
    r->types[i] = type;
    return berth_ort_value(ort, &from, type, &r->in[i]);
}

static berth_status prepare(run *r) {
    const berth_ort *ort = r->ort;
    BERTH_TRY(berth_ort_check(ort, ort->api->SessionGetInputCount(r->session, &r->n_in), BERTH_E_IO, "inputs"));
    BERTH_TRY(berth_ort_check(ort, ort->api->SessionGetOutputCount(r->session, &r->n_out), BERTH_E_IO, "outputs"));
    r->in_names = berth_arena_push(ort->arena, r->n_in, sizeof *r->in_names);
    r->out_names = berth_arena_push(ort->arena, r->n_out, sizeof *r->out_names);
    r->types = berth_arena_push(ort->arena, r->n_in, sizeof *r->types);
    r->in = berth_arena_push(ort->arena, r->n_in, sizeof(ort_value *));
    r->out = berth_arena_push(ort->arena, r->n_out, sizeof(ort_value *));
    if (ort->arena->failed) return berth_fail_nomem(ort->ctx);
    for (size_t i = 0; i < r->n_out; i++)
        BERTH_TRY(berth_ort_check(ort, ort->api->SessionGetOutputName(r->session, i, ort->allocator, &r->out_names[i]),
                                  BERTH_E_IO, "outputs"));
    for (size_t i = 0; i < r->n_in; i++) {
        BERTH_TRY(berth_ort_check(ort, ort->api->SessionGetInputName(r->session, i, ort->allocator, &r->in_names[i]),
                                  BERTH_E_IO, "inputs"));
        BERTH_TRY(load_input(r, i));
    }
    if (!berth_ort_io_wanted(r->job, r->in_names, r->n_in) && !berth_ort_io_wanted(r->job, r->out_names, r->n_out))
        return BERTH_OK;
    r->io = (berth_ort_io){.job = r->job,
                           .n_in = r->n_in,
                           .n_out = r->n_out,
                           .in_names = r->in_names,
                           .out_names = r->out_names,
                           .types = r->types,
                           .in = r->in};
    return berth_ort_io_open(ort, r->session, &r->io);
}

static void drop_outputs(run *r) {
    for (size_t i = 0; i < r->n_out; i++) {
        if (r->out[i]) r->ort->api->ReleaseValue(r->out[i]);
        r->out[i] = NULL;
    }
}

/* Outputs on the host, wherever inputs lie. */
static berth_status run_plainly(run *r, double *ms) {
    drop_outputs(r);
    double start = berth_timing_now_ms();
    ort_status *status =
        r->ort->api->Run(r->session, NULL, (const char *const *)r->in_names, (const ort_value *const *)r->in, r->n_in,
                         (const char *const *)r->out_names, r->n_out, r->out);
    *ms = berth_timing_now_ms() - start;
    return berth_ort_check(r->ort, status, BERTH_E_UNSUPPORTED, "ONNX Runtime");
}

static berth_status run_once(void *user, double *ms) {
    run *r = user;
    if (!r->io.binding) return run_plainly(r, ms);
    double start = berth_timing_now_ms();
    berth_status status = berth_ort_io_run(r->ort, &r->io);
    *ms = berth_timing_now_ms() - start;
    return status;
}

static berth_status keep_outputs(run *r, berth_answer *answer) {
    berth_arena *arena = r->ort->arena;
    double ignored;
    berth_job_file *files = berth_arena_push(arena, r->n_out, sizeof *files);
    if (!files) return berth_fail_nomem(r->ort->ctx);
    if (r->io.binding) BERTH_TRY(run_plainly(r, &ignored));
    answer->outputs = files;
    for (size_t i = 0; i < r->n_out; i++) {
        berth_npy tensor;
        files[i].name = r->out_names[i];
        files[i].file = berth_arena_printf(arena, "%s/output%zu.npy", r->job->output_folder, i);
        if (!files[i].file) return berth_fail_nomem(r->ort->ctx);
        BERTH_TRY(berth_ort_to_npy(r->ort, r->out[i], &tensor));
        BERTH_TRY(berth_npy_write(r->ort->ctx, files[i].file, &tensor));
        answer->n_outputs++;
    }
    return BERTH_OK;
}

static berth_status end_profile(run *r, berth_answer *answer) {
    char *name = NULL;
    BERTH_TRY(berth_ort_check(r->ort, r->ort->api->SessionEndProfiling(r->session, r->ort->allocator, &name),
                              BERTH_E_IO, "profile"));
    answer->profile = name;
    return BERTH_OK;
}

static berth_status run_model(const berth_ort *ort, const berth_job *job, berth_answer *answer) {
    run r = {.ort = ort, .job = job};
    double start = berth_timing_now_ms();
    BERTH_TRY(berth_ort_session(ort, job, NULL, 0, &r.session));
    answer->load_ms = berth_timing_now_ms() - start;
    berth_status status = prepare(&r);
    if (status == BERTH_OK) status = berth_timing_take(ort->ctx, ort->arena, job, run_once, &r, answer);
    if (status == BERTH_OK && job->output_folder) status = keep_outputs(&r, answer);
    if (status == BERTH_OK && job->profile) status = end_profile(&r, answer);
    if (status == BERTH_OK && job->devices[0])
        answer->device_peak_bytes = berth_ort_peak(ort, r.session, job->devices[0]);
    drop_outputs(&r);
    berth_ort_io_close(ort, &r.io);
    for (size_t i = 0; i < r.n_in && r.in; i++)
        if (r.in[i]) ort->api->ReleaseValue(r.in[i]);
    ort->api->ReleaseSession(r.session);
    return status;
}

berth_status berth_ort_work(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer) {
    berth_ort ort;
    for (int32_t i = 0; job->waits && job->devices[i]; i++) {
        const berth_ort_provider *provider = berth_ort_provider_of(job->devices[i]);
        if (provider && provider->waits) setenv(provider->waits, "1", 1); /* before its driver is loaded */
    }
    berth_status status = berth_ort_open(&ort, ctx, arena, job->library);
    answer->version = ort.version;
    if (status == BERTH_OK)
        status = job->kind == BERTH_JOB_PROBE  ? probe(&ort, job, answer)
                 : job->kind == BERTH_JOB_COPY ? berth_ort_copies(&ort, job, answer)
                                               : run_model(&ort, job, answer);
    if (status == BERTH_OK) berth_ort_close(&ort);
    return status;
}
