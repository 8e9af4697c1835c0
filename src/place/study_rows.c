/* SPDX-License-Identifier: Apache-2.0 */
/* Results of a study as lines of JSON. A line that is cut short, by whoever was killed while writing it, is passed
 * over; so is one of another suite or budget, of an arm or a case that is no more. Of several for one run the first
 * counts. */
#include "place/study.h"

#include "base/file.h"
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { MAX_FILE_BYTES = 1 << 30, MAX_DEPTH = 8 };

/* --- the table -------------------------------------------------------------------------------------------------- */

static size_t place_of(const berth_study_rows *rows, int32_t item, int32_t arm, int32_t seed) {
    return ((size_t)item * (size_t)rows->n_arms + (size_t)arm) * (size_t)rows->n_seeds + (size_t)seed;
}

bool berth_study_rows_put(berth_study_rows *rows, const berth_study_row *row) {
    const berth_study_row **at = &rows->rows[place_of(rows, row->case_index, row->arm, row->seed)];
    if (*at) return true;
    berth_study_row *copy = berth_arena_copy(&rows->arena, row, 1, sizeof *row);
    if (!copy) return false;
    if (row->source) copy->source = berth_arena_string(&rows->arena, row->source, strlen(row->source));
    *at = copy;
    rows->n_rows++;
    return !rows->arena.failed;
}

const berth_study_row *berth_study_rows_at(const berth_study_rows *rows, const char *suite, int32_t item, int32_t arm,
                                           int32_t seed) {
    return rows->rows[place_of(rows, item, arm, berth_study_arm_at(suite, arm)->once ? 0 : seed)];
}

/* --- lines ------------------------------------------------------------------------------------------------------ */

berth_status berth_study_row_append(berth_ctx *ctx, const berth_study_options *options, const berth_study_case *item,
                                    const berth_study_row *row) {
    berth_text *text = NULL;
    BERTH_TRY(berth_text_new(ctx, &text));
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "suite", options->suite);
    berth_json_string(text, "case", item->name);
    berth_json_string(text, "arm", berth_study_arm_at(options->suite, row->arm)->name);
    berth_json_int(text, "seed", row->seed);
    berth_json_int(text, "budget", options->evaluations);
    berth_json_double(text, "makespan_ms", row->makespan_ms);
    berth_json_array_begin(text, "marks_ms");
    for (int i = 0; i < BERTH_STUDY_MARKS; i++) berth_json_double(text, NULL, row->marks_ms[i]);
    berth_json_array_end(text);
    berth_json_int(text, "evaluations", row->evaluations);
    berth_json_double(text, "seconds", row->seconds);
    berth_json_double(text, "cpu_seconds", row->cpu_seconds);
    berth_json_string(text, "source", row->source ? row->source : "");
    berth_json_string(text, "berth", berth_version());
    berth_json_object_end(text);
    if (berth_text_size(text) == 0 || berth_text_string(text)[berth_text_size(text) - 1] != '\n')
        berth_text_append(text, "\n", 1);
    berth_status status = berth_text_status(text) == BERTH_OK ? BERTH_OK : berth_fail_nomem(ctx);
    if (status == BERTH_OK)
        status = berth_file_append(ctx, options->results[0], berth_text_string(text), berth_text_size(text));
    berth_text_free(text);
    return status;
}

static double number_of(const berth_json *value) {
    return value && value->kind == BERTH_JSON_NUMBER ? value->number : INFINITY;
}

static bool string_is(const berth_json *object, const char *key, const char *word) {
    const berth_json *value = berth_json_get(object, key);
    return value && value->kind == BERTH_JSON_STRING && strcmp(value->string, word) == 0;
}

static int32_t find_case(const berth_study_rows *rows, const berth_json *object) {
    for (int32_t i = 0; i < rows->n_cases; i++)
        if (string_is(object, "case", rows->cases[i].name)) return i;
    return -1;
}

/* False: the line says nothing that is wanted. */
static bool take_line(const berth_study_rows *rows, const berth_study_options *options, const berth_json *object,
                      berth_study_row *row) {
    const berth_json *arm = berth_json_get(object, "arm"), *marks = berth_json_get(object, "marks_ms");
    const berth_json *source = berth_json_get(object, "source");
    double seed = number_of(berth_json_get(object, "seed")), count = number_of(berth_json_get(object, "evaluations"));
    if (!string_is(object, "suite", options->suite) || !arm || arm->kind != BERTH_JSON_STRING) return false;
    if (number_of(berth_json_get(object, "budget")) != (double)options->evaluations) return false;
    *row = (berth_study_row){.case_index = find_case(rows, object),
                             .arm = berth_study_arm_find(options->suite, arm->string),
                             .makespan_ms = number_of(berth_json_get(object, "makespan_ms")),
                             .seconds = number_of(berth_json_get(object, "seconds")),
                             .cpu_seconds = number_of(berth_json_get(object, "cpu_seconds"))};
    if (row->case_index < 0 || row->arm < 0 || !(seed >= 0 && seed < rows->n_seeds)) return false;
    row->seed = (int32_t)seed;
    row->evaluations = count >= 0 && count < 1e15 ? (int64_t)count : 0;
    row->source = source && source->kind == BERTH_JSON_STRING ? source->string : NULL;
    const berth_json *mark = marks && marks->kind == BERTH_JSON_ARRAY ? marks->child : NULL;
    for (int i = 0; i < BERTH_STUDY_MARKS; i++, mark = mark ? mark->next : NULL) row->marks_ms[i] = number_of(mark);
    return row->makespan_ms > 0;
}

static berth_status read_lines(berth_ctx *ctx, berth_study_rows *out, const berth_study_options *options,
                               const char *path, const char *bytes, size_t size) {
    berth_arena scratch;
    int32_t n_bad = 0;
    berth_status status = BERTH_OK;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    for (size_t at = 0; at < size && status == BERTH_OK;) {
        const char *end = memchr(bytes + at, '\n', size - at);
        size_t length = end ? (size_t)(end - bytes) - at : size - at;
        const berth_json *object = NULL;
        berth_study_row row;
        berth_mark mark = berth_arena_mark(&scratch);
        if (length > 0) status = berth_json_parse(ctx, &scratch, path, bytes + at, length, MAX_DEPTH, &object);
        if (status == BERTH_E_FORMAT) {
            n_bad++;
            status = BERTH_OK;
        } else if (status == BERTH_OK && object && take_line(out, options, object, &row)) {
            if (!berth_study_rows_put(out, &row)) status = berth_fail_nomem(ctx);
        }
        berth_arena_release(&scratch, mark);
        at += length + 1;
    }
    berth_arena_deinit(&scratch);
    if (n_bad > 0) berth_log(ctx, BERTH_LOG_WARNING, "%s: %" PRId32 " damaged lines are passed over", path, n_bad);
    return status;
}

static berth_status read_file(berth_ctx *ctx, berth_study_rows *out, const berth_study_options *options,
                              const char *path) {
    berth_arena scratch;
    const char *bytes = NULL;
    size_t size = 0;
    if (access(path, F_OK) != 0) return BERTH_OK; /* nothing yet */
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_status status = berth_file_read(ctx, &scratch, path, MAX_FILE_BYTES, &bytes, &size);
    if (status == BERTH_OK) status = read_lines(ctx, out, options, path, bytes, size);
    berth_arena_deinit(&scratch);
    return status;
}

berth_status berth_study_rows_read(berth_ctx *ctx, berth_study_rows *out, const berth_study_options *options) {
    berth_study_case item;
    *out = (berth_study_rows){.n_seeds = options->n_seeds};
    berth_arena_init(&out->arena, berth_ctx_allocator(ctx));
    while (berth_study_case_at(options->suite, out->n_cases, &item)) out->n_cases++;
    while (berth_study_arm_at(options->suite, out->n_arms)) out->n_arms++;
    out->cases = berth_arena_push(&out->arena, (size_t)out->n_cases, sizeof *out->cases);
    out->rows = berth_arena_push(&out->arena, (size_t)out->n_cases * (size_t)out->n_arms * (size_t)out->n_seeds,
                                 sizeof *out->rows);
    if (out->arena.failed) return berth_fail_nomem(ctx);
    for (int32_t i = 0; i < out->n_cases; i++) berth_study_case_at(options->suite, i, &out->cases[i]);
    for (int32_t i = 0; i < options->n_results; i++) BERTH_TRY(read_file(ctx, out, options, options->results[i]));
    return BERTH_OK;
}

void berth_study_rows_free(berth_study_rows *rows) {
    berth_arena_deinit(&rows->arena);
}
