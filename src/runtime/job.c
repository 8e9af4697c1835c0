/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs and answers to and from JSON, and the process between them. */
#include "runtime/job.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_ANSWER = 1 << 26, MAX_DEPTH = 16 };

static const char *const kinds[] = {"probe", "run", "copy"};
static const char *const levels[] = {"none", "basic", "all"};

static void put_text(berth_text *text, const char *key, const char *value) {
    if (value) berth_json_string(text, key, value);
}

static void put_names(berth_text *text, const char *key, const char *const *names) {
    berth_json_array_begin(text, key);
    for (; names && *names; names++) berth_json_string(text, NULL, *names);
    berth_json_array_end(text);
}

static void put_files(berth_text *text, const char *key, const berth_job_file *files, int32_t n) {
    berth_json_array_begin(text, key);
    for (int32_t i = 0; i < n; i++) {
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", files[i].name);
        berth_json_string(text, "file", files[i].file);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

void berth_job_write(berth_text *text, const berth_job *job) {
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "job", kinds[job->kind]);
    berth_json_string(text, "runtime", job->runtime);
    berth_json_string(text, "library", job->library);
    put_names(text, "devices", job->devices);
    put_text(text, "model", job->model);
    put_text(text, "folder", job->folder);
    put_text(text, "assignment", job->assignment);
    berth_json_string(text, "optimisation", levels[job->optimisation]);
    berth_json_int(text, "threads", job->threads);
    berth_json_bool(text, "waits", job->waits);
    berth_json_bool(text, "native_precision", job->native_precision);
    put_files(text, "inputs", job->inputs, job->n_inputs);
    berth_json_array_begin(text, "io");
    for (int32_t i = 0; i < job->n_io; i++) {
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "name", job->io[i].name);
        berth_json_string(text, "device", job->io[i].device);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    berth_json_int(text, "least_runs", job->least_runs);
    berth_json_int(text, "most_runs", job->most_runs);
    berth_json_double(text, "run_seconds", job->run_seconds);
    put_text(text, "output_folder", job->output_folder);
    put_text(text, "profile", job->profile);
    put_text(text, "rewritten", job->rewritten);
    berth_json_object_end(text);
}

/* --- reading ---------------------------------------------------------------------------------------------------- */

typedef struct document {
    berth_ctx *ctx;
    berth_arena *arena;
    const char *name;
    const berth_json *root;
} document;

static berth_status want_optional(const document *d, const char *key, const char **out) {
    *out = NULL;
    if (!berth_json_get(d->root, key)) return BERTH_OK;
    return berth_json_want_string(d->ctx, d->name, d->root, key, out);
}

static berth_status want_word(const document *d, const char *key, const char *const *words, int n, int *out) {
    const char *word = NULL;
    BERTH_TRY(berth_json_want_string(d->ctx, d->name, d->root, key, &word));
    for (*out = 0; *out < n; ++*out)
        if (strcmp(words[*out], word) == 0) return BERTH_OK;
    return berth_fail(d->ctx, BERTH_E_FORMAT, "%s: there is no %s '%.60s'", d->name, key, word);
}

static berth_status want_integer(const document *d, const char *key, int64_t low, int32_t *out) {
    int64_t value = 0;
    BERTH_TRY(berth_json_want_integer(d->ctx, d->name, d->root, key, low, INT32_MAX, &value));
    *out = (int32_t)value;
    return BERTH_OK;
}

static berth_status want_files(const document *d, const char *key, const berth_job_file **out, int32_t *n) {
    const berth_json *list = NULL;
    BERTH_TRY(berth_json_want(d->ctx, d->name, d->root, key, BERTH_JSON_ARRAY, &list));
    berth_job_file *files = berth_arena_push(d->arena, (size_t)list->count, sizeof *files);
    if (!files) return berth_fail_nomem(d->ctx);
    *n = 0;
    for (const berth_json *item = list->child; item; item = item->next, ++*n) {
        BERTH_TRY(berth_json_want_string(d->ctx, d->name, item, "name", &files[*n].name));
        BERTH_TRY(berth_json_want_string(d->ctx, d->name, item, "file", &files[*n].file));
    }
    *out = files;
    return BERTH_OK;
}

static berth_status want_places(const document *d, berth_job *job) {
    const berth_json *list = NULL;
    if (!berth_json_get(d->root, "io")) return BERTH_OK;
    BERTH_TRY(berth_json_want(d->ctx, d->name, d->root, "io", BERTH_JSON_ARRAY, &list));
    berth_job_place *places = berth_arena_push(d->arena, (size_t)list->count, sizeof *places);
    if (!places) return berth_fail_nomem(d->ctx);
    job->io = places;
    for (const berth_json *item = list->child; item; item = item->next, job->n_io++) {
        BERTH_TRY(berth_json_want_string(d->ctx, d->name, item, "name", &places[job->n_io].name));
        BERTH_TRY(berth_json_want_string(d->ctx, d->name, item, "device", &places[job->n_io].device));
    }
    return BERTH_OK;
}

static berth_status want_names(const document *d, const char *key, const char *const **out) {
    const berth_json *list = NULL;
    BERTH_TRY(berth_json_want(d->ctx, d->name, d->root, key, BERTH_JSON_ARRAY, &list));
    const char **names = berth_arena_push(d->arena, (size_t)list->count + 1, sizeof *names);
    if (!names) return berth_fail_nomem(d->ctx);
    *out = names;
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_STRING)
            return berth_fail(d->ctx, BERTH_E_FORMAT, "%s: %s are names", d->name, key);
        *names++ = item->string;
    }
    return BERTH_OK;
}

berth_status berth_job_read(berth_ctx *ctx, berth_arena *arena, const char *bytes, size_t size, berth_job *job) {
    document d = {.ctx = ctx, .arena = arena, .name = "job"};
    int kind = 0, level = 0;
    *job = (berth_job){0};
    BERTH_TRY(berth_json_parse(ctx, arena, d.name, bytes, size, MAX_DEPTH, &d.root));
    BERTH_TRY(want_word(&d, "job", kinds, BERTH_JOB_KINDS, &kind));
    BERTH_TRY(want_word(&d, "optimisation", levels, BERTH_OPTIMISE_ALL + 1, &level));
    job->kind = (berth_job_kind)kind;
    job->optimisation = (berth_optimisation)level;
    BERTH_TRY(berth_json_want_string(ctx, d.name, d.root, "runtime", &job->runtime));
    BERTH_TRY(berth_json_want_string(ctx, d.name, d.root, "library", &job->library));
    BERTH_TRY(want_names(&d, "devices", &job->devices));
    BERTH_TRY(want_optional(&d, "model", &job->model));
    BERTH_TRY(want_optional(&d, "folder", &job->folder));
    BERTH_TRY(want_optional(&d, "assignment", &job->assignment));
    BERTH_TRY(want_optional(&d, "output_folder", &job->output_folder));
    BERTH_TRY(want_optional(&d, "profile", &job->profile));
    BERTH_TRY(want_optional(&d, "rewritten", &job->rewritten));
    BERTH_TRY(want_integer(&d, "threads", 0, &job->threads));
    BERTH_TRY(want_integer(&d, "least_runs", 0, &job->least_runs));
    BERTH_TRY(want_integer(&d, "most_runs", 0, &job->most_runs));
    BERTH_TRY(berth_json_want_bool(ctx, d.name, d.root, "waits", &job->waits));
    BERTH_TRY(berth_json_want_bool(ctx, d.name, d.root, "native_precision", &job->native_precision));
    BERTH_TRY(berth_json_want_number(ctx, d.name, d.root, "run_seconds", &job->run_seconds));
    BERTH_TRY(want_places(&d, job));
    return want_files(&d, "inputs", &job->inputs, &job->n_inputs);
}

/* --- answers ---------------------------------------------------------------------------------------------------- */

static void put_copies(berth_text *text, const berth_answer *answer) {
    berth_json_array_begin(text, "copies");
    for (int32_t i = 0; i < answer->n_copies; i++) {
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "bytes", answer->copies[i].bytes);
        berth_json_double(text, "in_ms", answer->copies[i].in_ms);
        berth_json_double(text, "out_ms", answer->copies[i].out_ms);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
}

void berth_answer_write(berth_text *text, const berth_answer *answer) {
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "version", answer->version);
    put_text(text, "description", answer->description);
    put_text(text, "profile", answer->profile);
    berth_json_double(text, "load_ms", answer->load_ms);
    berth_json_double(text, "first_ms", answer->first_ms);
    if (answer->peak_bytes > 0) berth_json_double(text, "peak_bytes", answer->peak_bytes);
    if (answer->device_peak_bytes > 0) berth_json_double(text, "device_peak_bytes", answer->device_peak_bytes);
    if (answer->cores > 0) berth_json_double(text, "cores", answer->cores);
    if (answer->available) put_names(text, "available", answer->available);
    berth_json_int(text, "warm", answer->n_warm);
    berth_json_array_begin(text, "runs_ms");
    for (int32_t i = 0; i < answer->n_runs; i++) berth_json_double(text, NULL, answer->runs_ms[i]);
    berth_json_array_end(text);
    put_files(text, "outputs", answer->outputs, answer->n_outputs);
    if (answer->n_copies > 0) put_copies(text, answer);
    berth_json_object_end(text);
}

static berth_status read_runs(const document *d, berth_answer *answer) {
    const berth_json *list = NULL;
    BERTH_TRY(berth_json_want(d->ctx, d->name, d->root, "runs_ms", BERTH_JSON_ARRAY, &list));
    double *runs = berth_arena_push(d->arena, (size_t)list->count, sizeof *runs);
    if (!runs) return berth_fail_nomem(d->ctx);
    answer->runs_ms = runs;
    for (const berth_json *item = list->child; item; item = item->next) {
        if (item->kind != BERTH_JSON_NUMBER) return berth_fail(d->ctx, BERTH_E_FORMAT, "%s: runs are times", d->name);
        runs[answer->n_runs++] = item->number;
    }
    return BERTH_OK;
}

/* Sizes ascend and times are times: what is fitted to them relies on it. */
static berth_status read_copies(const document *d, berth_answer *answer) {
    const berth_json *list = NULL;
    if (!berth_json_get(d->root, "copies")) return BERTH_OK;
    BERTH_TRY(berth_json_want(d->ctx, d->name, d->root, "copies", BERTH_JSON_ARRAY, &list));
    berth_copy *copies = berth_arena_push(d->arena, (size_t)list->count, sizeof *copies);
    if (!copies) return berth_fail_nomem(d->ctx);
    answer->copies = copies;
    int64_t least = 1;
    for (const berth_json *item = list->child; item; item = item->next) {
        berth_copy *copy = &copies[answer->n_copies++];
        BERTH_TRY(berth_json_want_integer(d->ctx, d->name, item, "bytes", least, INT64_MAX - 1, &copy->bytes));
        BERTH_TRY(berth_json_want_number(d->ctx, d->name, item, "in_ms", &copy->in_ms));
        BERTH_TRY(berth_json_want_number(d->ctx, d->name, item, "out_ms", &copy->out_ms));
        if (!(copy->in_ms >= 0 && copy->out_ms >= 0))
            return berth_fail(d->ctx, BERTH_E_FORMAT, "%s: a copy takes less than no time", d->name);
        least = copy->bytes + 1;
    }
    return BERTH_OK;
}

static berth_status read_error(const document *d, const berth_json *error) {
    int64_t status = 0;
    const char *message = NULL;
    BERTH_TRY(berth_json_want_integer(d->ctx, d->name, error, "status", BERTH_E_CANCELLED, BERTH_E_NOMEM, &status));
    BERTH_TRY(berth_json_want_string(d->ctx, d->name, error, "message", &message));
    /* Memory that the worker lacks is not ours. */
    if (status == BERTH_E_NOMEM) status = BERTH_E_LIMIT;
    return berth_fail(d->ctx, (berth_status)status, "%s", message);
}

static berth_status read_answer(const document *d, berth_answer *answer) {
    const berth_json *error = berth_json_get(d->root, "error");
    if (error) return read_error(d, error);
    BERTH_TRY(berth_json_want_string(d->ctx, d->name, d->root, "version", &answer->version));
    BERTH_TRY(want_optional(d, "description", &answer->description));
    BERTH_TRY(want_optional(d, "profile", &answer->profile));
    BERTH_TRY(berth_json_want_number(d->ctx, d->name, d->root, "load_ms", &answer->load_ms));
    BERTH_TRY(berth_json_want_number(d->ctx, d->name, d->root, "first_ms", &answer->first_ms));
    BERTH_TRY(want_integer(d, "warm", 0, &answer->n_warm));
    BERTH_TRY(read_runs(d, answer));
    BERTH_TRY(read_copies(d, answer));
    return want_files(d, "outputs", &answer->outputs, &answer->n_outputs);
}

berth_status berth_answer_read(berth_ctx *ctx, berth_arena *arena, const char *bytes, size_t size,
                               berth_answer *answer) {
    document d = {.ctx = ctx, .arena = arena, .name = "answer of the worker"};
    *answer = (berth_answer){0};
    BERTH_TRY(berth_json_parse(ctx, arena, d.name, bytes, size, MAX_DEPTH, &d.root));
    if (berth_json_get(d.root, "peak_bytes"))
        BERTH_TRY(berth_json_want_number(ctx, d.name, d.root, "peak_bytes", &answer->peak_bytes));
    if (berth_json_get(d.root, "device_peak_bytes"))
        BERTH_TRY(berth_json_want_number(ctx, d.name, d.root, "device_peak_bytes", &answer->device_peak_bytes));
    if (berth_json_get(d.root, "cores"))
        BERTH_TRY(berth_json_want_number(ctx, d.name, d.root, "cores", &answer->cores));
    if (berth_json_get(d.root, "available")) BERTH_TRY(want_names(&d, "available", &answer->available));
    return read_answer(&d, answer);
}

berth_status berth_answer_check(berth_ctx *ctx, const berth_job *job, const berth_answer *answer) {
    int32_t most = job->most_runs > job->least_runs ? job->most_runs : job->least_runs;
    if (job->kind != BERTH_JOB_RUN) return BERTH_OK;
    if (job->profile && !answer->profile)
        return berth_fail(ctx, BERTH_E_FORMAT, "answer of the worker: there is no profile");
    if (answer->n_runs < job->least_runs || answer->n_runs > most)
        return berth_fail(ctx, BERTH_E_FORMAT,
                          "answer of the worker: %" PRId32 " runs, where %" PRId32 " to %" PRId32 " were wanted",
                          answer->n_runs, job->least_runs, most);
    for (int32_t i = 0; i < answer->n_runs; i++)
        if (!(answer->runs_ms[i] > 0))
            return berth_fail(ctx, BERTH_E_FORMAT, "answer of the worker: a run that took %g ms", answer->runs_ms[i]);
    return BERTH_OK;
}

static berth_status judge_end(berth_ctx *ctx, const berth_job *job, const berth_child_result *result) {
    char how[BERTH_CHILD_WORDS + 100];
    berth_child_describe(result, how, sizeof how);
    switch (result->end) {
    case BERTH_CHILD_EXITED:
        if (result->code == 0 && result->answer_size > 0) return BERTH_OK;
        break;
    case BERTH_CHILD_CANCELLED: return berth_fail(ctx, BERTH_E_CANCELLED, "stopped while %s ran", job->runtime);
    case BERTH_CHILD_TOO_LONG:
    case BERTH_CHILD_TOO_LARGE: return berth_fail(ctx, BERTH_E_LIMIT, "the process that ran %s %s", job->runtime, how);
    default: break;
    }
    return berth_fail(ctx, BERTH_E_IO, "the process that ran %s %s", job->runtime, how);
}

berth_status berth_job_run(berth_ctx *ctx, berth_arena *arena, const berth_worker *worker, const berth_job *job,
                           berth_answer *answer, berth_child_end *end) {
    const char *const argv[] = {worker->program, "worker", NULL};
    berth_child_result result = {0};
    berth_text *text = NULL;
    *answer = (berth_answer){0};
    BERTH_TRY(berth_text_new(ctx, &text));
    berth_job_write(text, job);
    berth_status status = berth_text_status(text) == BERTH_OK ? BERTH_OK : berth_fail_nomem(ctx);
    berth_child_job child = {.argv = argv,
                             .input = berth_text_string(text),
                             .input_size = berth_text_size(text),
                             .seconds = worker->seconds,
                             .memory_bytes = worker->memory_bytes,
                             .most_answer = MOST_ANSWER};
    if (status == BERTH_OK) status = berth_child_run(ctx, arena, &child, &result);
    berth_text_free(text);
    if (status == BERTH_OK && end) *end = result.end;
    if (status == BERTH_OK) status = judge_end(ctx, job, &result);
    if (status != BERTH_OK) return status;
    status = berth_answer_read(ctx, arena, result.answer, result.answer_size, answer);
    answer->peak_bytes = result.peak_bytes;
    return status == BERTH_OK ? berth_answer_check(ctx, job, answer) : status;
}
