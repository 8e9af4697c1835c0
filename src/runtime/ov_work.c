/* SPDX-License-Identifier: Apache-2.0 */
/* The jobs of the worker with OpenVINO: try a device on a small model; run a model and take times. */
#include "runtime/ov.h"

#include "runtime/ov_map.h"
#include "runtime/timing.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TARGET = 600 };

/* What a run needs, all by position. */
typedef struct run {
    const berth_ov *ov;
    ov_model *model;
    ov_compiled *compiled;
    ov_request *request;
    size_t n_in, n_out;
    berth_npy *given; /* [n_in] */
    ov_tensor **in;
    const char *const *refused; /* operations that the first device cannot run */
    int32_t n_refused;
    char target[MOST_TARGET]; /* what it is compiled for */
} run;

static void release(run *r) {
    const ov_api *api = r->ov->api;
    if (r->request) api->infer_request_free(r->request);
    for (size_t i = 0; i < r->n_in && r->in; i++)
        if (r->in[i]) api->tensor_free(r->in[i]);
    if (r->compiled) api->compiled_model_free(r->compiled);
    if (r->model) api->model_free(r->model);
}

static berth_status compile(run *r) {
    const berth_ov *ov = r->ov;
    int code = ov->job->profile
                   ? ov->api->core_compile_model(ov->core, r->model, r->target, 2, &r->compiled, "PERF_COUNT", "YES")
                   : ov->api->core_compile_model(ov->core, r->model, r->target, 0, &r->compiled);
    BERTH_TRY(berth_ov_check(ov, code, BERTH_E_UNSUPPORTED, r->target));
    return berth_ov_check(ov, ov->api->compiled_model_create_infer_request(r->compiled, &r->request),
                          BERTH_E_UNSUPPORTED, r->target);
}

static berth_status infer(void *user, double *ms) {
    run *r = user;
    double start = berth_timing_now_ms();
    int code = r->ov->api->infer_request_infer(r->request);
    *ms = berth_timing_now_ms() - start;
    return berth_ov_check(r->ov, code, BERTH_E_UNSUPPORTED, "OpenVINO");
}

/* --- probe ------------------------------------------------------------------------------------------------------ */

/* y = ReLU(x xT): large enough for the instructions that products of large matrices are computed by, and in whole
 * numbers that every type has. */
enum { ROWS = 16, COLUMNS = 32, NUMBERS = ROWS * COLUMNS };
#define PORT(id, n) "<port id=\"" id "\" precision=\"FP32\"><dim>16</dim><dim>" n "</dim></port>"
#define EDGE(from, port, to, at) \
    "<edge from-layer=\"" from "\" from-port=\"" port "\" to-layer=\"" to "\" to-port=\"" at "\"/>"
/* clang-format off */
static const char small_model[] =
    "<?xml version=\"1.0\"?><net name=\"small\" version=\"11\"><layers>"
    "<layer id=\"0\" name=\"x\" type=\"Parameter\" version=\"opset1\"><data shape=\"16,32\" element_type=\"f32\"/>"
        "<output>" PORT("0", "32") "</output></layer>"
    "<layer id=\"1\" name=\"product\" type=\"MatMul\" version=\"opset1\">"
        "<data transpose_a=\"false\" transpose_b=\"true\"/>"
        "<input>" PORT("0", "32") PORT("1", "32") "</input><output>" PORT("2", "16") "</output></layer>"
    "<layer id=\"2\" name=\"relu\" type=\"ReLU\" version=\"opset1\">"
        "<input>" PORT("0", "16") "</input><output>" PORT("1", "16") "</output></layer>"
    "<layer id=\"3\" name=\"y\" type=\"Result\" version=\"opset1\"><input>" PORT("0", "16") "</input></layer>"
    "</layers><edges>" EDGE("0", "0", "1", "0") EDGE("0", "0", "1", "1") EDGE("1", "2", "2", "0") EDGE("2", "1", "3", "0")
    "</edges></net>";
/* clang-format on */

static bool is_right(const float *x, const float *y) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            float sum = 0;
            for (int k = 0; k < COLUMNS; k++) sum += x[i * COLUMNS + k] * x[j * COLUMNS + k];
            if (y[i * ROWS + j] != (sum > 0 ? sum : 0)) return false;
        }
    return true;
}

static berth_status list_available(const berth_ov *ov, berth_answer *answer) {
    ov_names found = {0};
    BERTH_TRY(
        berth_ov_check(ov, ov->api->core_get_available_devices(ov->core, &found), BERTH_E_UNSUPPORTED, "devices"));
    const char **names = berth_arena_push(ov->arena, found.n + 1, sizeof *names);
    for (size_t i = 0; i < found.n && names; i++)
        names[i] = berth_arena_string(ov->arena, found.names[i], strlen(found.names[i]));
    ov->api->available_devices_free(&found);
    answer->available = names;
    return ov->arena->failed ? berth_fail_nomem(ov->ctx) : BERTH_OK;
}

static berth_status describe(const berth_ov *ov, berth_answer *answer) {
    char *name = NULL;
    if (ov->api->core_get_property(ov->core, ov->devices[0].name, "FULL_DEVICE_NAME", &name) != 0) return BERTH_OK;
    answer->description = berth_arena_printf(
        ov->arena, "%s%s", name, ov->avoids_tiles ? ", without AMX: this machine hides its tiles from libraries" : "");
    ov->api->text_free(name);
    return answer->description ? BERTH_OK : berth_fail_nomem(ov->ctx);
}

static berth_status try_numbers(run *r, berth_answer *answer) {
    float x[NUMBERS];
    const berth_ov *ov = r->ov;
    berth_npy given = {.kind = 'f', .item_size = 4, .rank = 2, .dims = {ROWS, COLUMNS}, .count = NUMBERS}, got;
    ov_tensor *in = NULL, *out = NULL;
    ov_port *port = NULL;
    int type = 0;
    for (int i = 0; i < NUMBERS; i++) x[i] = (float)(i % 7 % 3 - 1);
    given.data = x;
    given.size = sizeof x;
    BERTH_TRY(berth_ov_check(ov, ov->api->model_const_input_by_index(r->model, 0, &port), BERTH_E_IO, "input"));
    berth_status status = berth_ov_check(ov, ov->api->port_get_element_type(port, &type), BERTH_E_IO, "input");
    ov->api->output_const_port_free(port);
    if (status == BERTH_OK) status = berth_ov_value(ov, &given, type, &in);
    if (status == BERTH_OK)
        status = berth_ov_check(ov, ov->api->infer_request_set_input_tensor_by_index(r->request, 0, in), BERTH_E_IO,
                                "input");
    if (status == BERTH_OK) status = infer(r, &answer->first_ms);
    if (status == BERTH_OK)
        status = berth_ov_check(ov, ov->api->infer_request_get_output_tensor_by_index(r->request, 0, &out), BERTH_E_IO,
                                "output");
    if (status == BERTH_OK) status = berth_ov_to_npy(ov, out, &got);
    if (status == BERTH_OK && !(got.size == sizeof(float[ROWS * ROWS]) && is_right(x, got.data)))
        status = berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "a first run gave wrong numbers");
    if (out) ov->api->tensor_free(out);
    if (in) ov->api->tensor_free(in);
    return status;
}

static berth_status probe(const berth_ov *ov, berth_answer *answer) {
    run r = {.ov = ov};
    double start = berth_timing_now_ms();
    if (ov->n_devices != 1) return berth_fail(ov->ctx, BERTH_E_ARG, "a probe has one device");
    snprintf(r.target, sizeof r.target, "%s", ov->devices[0].name);
    berth_status status = berth_ov_check(
        ov, ov->api->core_read_model_from_memory_buffer(ov->core, small_model, sizeof small_model - 1, NULL, &r.model),
        BERTH_E_UNSUPPORTED, "OpenVINO");
    if (status == BERTH_OK) status = compile(&r);
    answer->load_ms = berth_timing_now_ms() - start;
    if (status == BERTH_OK) status = try_numbers(&r, answer);
    if (status == BERTH_OK) status = list_available(ov, answer);
    if (status == BERTH_OK) status = describe(ov, answer);
    release(&r);
    return status;
}

/* --- inputs and outputs ----------------------------------------------------------------------------------------- */

/* What is given for an input: by one of its names, else by its place, where the file gives it no name that we saw. */
static berth_status find_input(const run *r, size_t i, const ov_port *port, const char **file) {
    const berth_job *job = r->ov->job;
    char *name = NULL;
    *file = NULL;
    if (r->ov->api->port_get_any_name(port, &name) == 0) {
        for (int32_t k = 0; k < job->n_inputs; k++)
            if (strcmp(job->inputs[k].name, name) == 0) *file = job->inputs[k].file;
        r->ov->api->text_free(name);
    }
    if (!*file && (size_t)job->n_inputs == r->n_in) *file = job->inputs[i].file;
    if (*file) return BERTH_OK;
    return berth_fail(r->ov->ctx, BERTH_E_ARG, "nothing is given for input %zu of the model", i);
}

static berth_status load_input(run *r, size_t i) {
    const berth_ov *ov = r->ov;
    const char *file = NULL;
    ov_port *port = NULL;
    int type = 0;
    BERTH_TRY(berth_ov_check(ov, ov->api->model_const_input_by_index(r->model, i, &port), BERTH_E_IO, "input"));
    berth_status status = berth_ov_check(ov, ov->api->port_get_element_type(port, &type), BERTH_E_IO, "input");
    if (status == BERTH_OK) status = find_input(r, i, port, &file);
    ov->api->output_const_port_free(port);
    if (status == BERTH_OK) status = berth_npy_read(ov->ctx, ov->arena, file, &r->given[i]);
    return status == BERTH_OK ? berth_ov_value(ov, &r->given[i], type, &r->in[i]) : status;
}

/* The model in the shapes of its inputs: pieces of one with open dimensions cannot be compiled. */
static berth_status reshape(run *r) {
    const berth_ov *ov = r->ov;
    size_t *index = berth_arena_push(ov->arena, r->n_in, sizeof *index);
    ov_partial_shape *shapes = berth_arena_push(ov->arena, r->n_in, sizeof *shapes);
    for (size_t i = 0; i < r->n_in && !ov->arena->failed; i++) {
        ov_dim *dims = berth_arena_push(ov->arena, (size_t)r->given[i].rank, sizeof *dims);
        for (int32_t k = 0; k < r->given[i].rank && dims; k++)
            dims[k] = (ov_dim){r->given[i].dims[k], r->given[i].dims[k]};
        index[i] = i;
        shapes[i] = (ov_partial_shape){{r->given[i].rank, r->given[i].rank}, dims};
    }
    if (ov->arena->failed) return berth_fail_nomem(ov->ctx);
    return berth_ov_check(ov, ov->api->model_reshape_by_port_indexes(r->model, index, shapes, r->n_in),
                          BERTH_E_UNSUPPORTED, "these shapes");
}

static berth_status read_model(run *r) {
    const berth_ov *ov = r->ov;
    BERTH_TRY(berth_ov_check(ov, ov->api->core_read_model(ov->core, ov->job->model, NULL, &r->model),
                             BERTH_E_UNSUPPORTED, "OpenVINO"));
    BERTH_TRY(berth_ov_check(ov, ov->api->model_inputs_size(r->model, &r->n_in), BERTH_E_IO, "inputs"));
    BERTH_TRY(berth_ov_check(ov, ov->api->model_outputs_size(r->model, &r->n_out), BERTH_E_IO, "outputs"));
    r->given = berth_arena_push(ov->arena, r->n_in, sizeof *r->given);
    r->in = berth_arena_push(ov->arena, r->n_in, sizeof(ov_tensor *));
    if (ov->arena->failed) return berth_fail_nomem(ov->ctx);
    for (size_t i = 0; i < r->n_in; i++) BERTH_TRY(load_input(r, i));
    return r->n_in > 0 ? reshape(r) : BERTH_OK;
}

static const char *name_output(const run *r, size_t i) {
    const berth_ov *ov = r->ov;
    ov_port *port = NULL;
    char *name = NULL;
    const char *kept = NULL;
    if (ov->api->model_const_output_by_index(r->model, i, &port) == 0) {
        if (ov->api->port_get_any_name(port, &name) == 0) {
            kept = berth_arena_string(ov->arena, name, strlen(name));
            ov->api->text_free(name);
        }
        ov->api->output_const_port_free(port);
    }
    return kept ? kept : berth_arena_printf(ov->arena, "output%zu", i);
}

static berth_status keep_outputs(const run *r, berth_answer *answer) {
    const berth_ov *ov = r->ov;
    berth_job_file *files = berth_arena_push(ov->arena, r->n_out, sizeof *files);
    if (!files) return berth_fail_nomem(ov->ctx);
    answer->outputs = files;
    for (size_t i = 0; i < r->n_out; i++) {
        ov_tensor *out = NULL;
        berth_npy tensor;
        files[i].name = name_output(r, i);
        files[i].file = berth_arena_printf(ov->arena, "%s/output%zu.npy", ov->job->output_folder, i);
        if (!files[i].name || !files[i].file) return berth_fail_nomem(ov->ctx);
        BERTH_TRY(berth_ov_check(ov, ov->api->infer_request_get_output_tensor_by_index(r->request, i, &out), BERTH_E_IO,
                                 "output"));
        berth_status status = berth_ov_to_npy(ov, out, &tensor);
        if (status == BERTH_OK) status = berth_npy_write(ov->ctx, files[i].file, &tensor);
        ov->api->tensor_free(out);
        BERTH_TRY(status);
        answer->n_outputs++;
    }
    return BERTH_OK;
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

/* "HETERO:CPU0,CPU1" */
static void name_hetero(run *r) {
    size_t used = (size_t)snprintf(r->target, sizeof r->target, "HETERO");
    for (int32_t i = 0; i < r->ov->n_devices && used < sizeof r->target; i++)
        used +=
            (size_t)snprintf(r->target + used, sizeof r->target - used, "%c%s", i ? ',' : ':', r->ov->devices[i].name);
}

static berth_status place(run *r) {
    const berth_ov_mark *marks = NULL;
    size_t n = 0;
    char error[BERTH_OV_ERROR] = "";
    BERTH_TRY(berth_ov_need_module(r->ov));
    BERTH_TRY(berth_ov_map_read(r->ov->ctx, r->ov->arena, r->ov->job->assignment, &marks, &n));
    name_hetero(r);
    if (r->ov->module->place(r->model, marks, n, error) == 0) return BERTH_OK;
    return berth_fail(r->ov->ctx, BERTH_E_UNSUPPORTED, "OpenVINO: %.800s", error);
}

typedef struct name_list {
    berth_arena *arena;
    const char **names;
    int32_t n, room;
} name_list;

static void take_name(void *user, const char *name) {
    name_list *list = user;
    if (list->n == list->room) {
        const char **wider = berth_arena_push(list->arena, 2 * (size_t)list->room + 16, sizeof *wider);
        if (!wider) return;
        if (list->n > 0) memcpy(wider, list->names, (size_t)list->n * sizeof *wider);
        list->names = wider;
        list->room = 2 * list->room + 16;
    }
    list->names[list->n++] = berth_arena_string(list->arena, name, strlen(name));
}

/* One device alone; with others behind it if it cannot run everything, as stock HETERO has it. */
static berth_status choose(run *r) {
    const berth_ov *ov = r->ov;
    name_list list = {.arena = ov->arena};
    char error[BERTH_OV_ERROR] = "";
    bool looks = ov->module && (ov->n_devices > 1 || ov->job->profile);
    if (looks && ov->module->refused(ov->core, r->model, ov->devices[0].name, take_name, &list, error) != 0)
        return berth_fail(ov->ctx, BERTH_E_UNSUPPORTED, "%s: %.800s", ov->devices[0].name, error);
    if (ov->arena->failed) return berth_fail_nomem(ov->ctx);
    r->refused = list.names;
    r->n_refused = list.n;
    snprintf(r->target, sizeof r->target, "%s", ov->devices[0].name);
    if (list.n > 0 && ov->n_devices > 1) name_hetero(r);
    return BERTH_OK;
}

/* --- run -------------------------------------------------------------------------------------------------------- */

static berth_status run_model(const berth_ov *ov, berth_answer *answer) {
    run r = {.ov = ov};
    double start = berth_timing_now_ms();
    if (ov->n_devices < 1) return berth_fail(ov->ctx, BERTH_E_ARG, "OpenVINO needs a device to run on");
    berth_status status = read_model(&r);
    if (status == BERTH_OK) status = ov->job->assignment ? place(&r) : choose(&r);
    if (status == BERTH_OK) status = compile(&r);
    answer->load_ms = berth_timing_now_ms() - start;
    for (size_t i = 0; i < r.n_in && status == BERTH_OK; i++)
        status = berth_ov_check(ov, ov->api->infer_request_set_input_tensor_by_index(r.request, i, r.in[i]), BERTH_E_IO,
                                "input");
    if (status == BERTH_OK) status = berth_timing_take(ov->ctx, ov->arena, ov->job, infer, &r, answer);
    if (status == BERTH_OK && ov->job->output_folder) status = keep_outputs(&r, answer);
    if (status == BERTH_OK && ov->job->profile) {
        status = berth_ov_report(ov, r.compiled, r.request, r.refused, r.n_refused);
        answer->profile = ov->job->profile;
    }
    release(&r);
    return status;
}

berth_status berth_ov_work(berth_ctx *ctx, berth_arena *arena, const berth_job *job, berth_answer *answer) {
    berth_ov ov;
    berth_status status = berth_ov_open(&ov, ctx, arena, job);
    answer->version = ov.version;
    if (status == BERTH_OK) status = job->kind == BERTH_JOB_PROBE ? probe(&ov, answer) : run_model(&ov, answer);
    berth_ov_close(&ov);
    return status;
}
