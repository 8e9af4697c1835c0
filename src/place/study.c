/* SPDX-License-Identifier: Apache-2.0 */
/* Running a study: every arm on every case with every seed, one after another on one thread, so that seconds mean
 * something. A part takes whole pairs of case and seed: arms that are given the time of another one come after it, in
 * the same process. */
#include "place/study.h"

#include "base/file.h"

#include <math.h>
#include <string.h>
#include <time.h>

berth_study_options berth_study_options_default(void) {
    return (berth_study_options){.suite = "learn", .models = "models", .n_parts = 1, .n_seeds = 5, .evaluations = 2000};
}

const char *berth_study_name(int32_t index) {
    static const char *const names[] = {"learn", "ablation"};
    return index >= 0 && index < 2 ? names[index] : NULL;
}

typedef struct study {
    berth_ctx *ctx;
    const berth_study_options *options;
    berth_study_rows rows;
    int64_t n_runs, n_done;
} study;

/* --- what is to be run ------------------------------------------------------------------------------------------ */

static bool is_wanted_case(const berth_study_options *o, const berth_study_case *item) {
    bool wanted = o->n_cases == 0;
    for (int32_t i = 0; i < o->n_cases; i++) wanted |= strstr(item->name, o->cases[i]) != NULL;
    return wanted;
}

static bool is_wanted_arm(const berth_study_options *o, const berth_arm *arm) {
    bool wanted = o->n_arms == 0;
    for (int32_t i = 0; i < o->n_arms; i++) wanted |= strcmp(arm->name, o->arms[i]) == 0;
    return wanted;
}

static bool is_missing(const study *s, int32_t item, int32_t index, int32_t seed) {
    const berth_arm *arm = berth_study_arm_at(s->options->suite, index);
    if (!berth_study_arm_runs(arm, &s->rows.cases[item], s->options) || !is_wanted_arm(s->options, arm)) return false;
    if (arm->once && seed > 0) return false;
    if (arm->timed && !berth_study_rows_at(&s->rows, s->options->suite, item, 0, seed) &&
        !is_wanted_arm(s->options, berth_study_arm_at(s->options->suite, 0)))
        return false;
    return !berth_study_rows_at(&s->rows, s->options->suite, item, index, seed);
}

static bool is_mine(const study *s, int32_t item, int32_t seed) {
    const berth_study_options *o = s->options;
    return is_wanted_case(o, &s->rows.cases[item]) && (item * o->n_seeds + seed) % o->n_parts == o->part;
}

static int64_t count_missing(const study *s) {
    int64_t n = 0;
    for (int32_t item = 0; item < s->rows.n_cases; item++)
        for (int32_t seed = 0; seed < s->rows.n_seeds; seed++)
            for (int32_t arm = 0; arm < s->rows.n_arms && is_mine(s, item, seed); arm++)
                n += is_missing(s, item, arm, seed);
    return n;
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Nothing feasible is a result; so is a method that this build lacks, or one that diverged. */
static bool is_result(berth_status status) {
    return status == BERTH_OK || status == BERTH_E_INFEASIBLE || status == BERTH_E_UNSUPPORTED ||
           status == BERTH_E_NUMERIC;
}

static berth_place_options options_for(const study *s, const berth_arm *arm, int32_t item, int32_t seed,
                                       berth_study_row *row) {
    berth_place_options how = berth_place_options_default();
    how.method = arm->method;
    how.set = arm->set;
    while (how.n_set < (int32_t)(sizeof arm->set / sizeof *arm->set) && arm->set[how.n_set]) how.n_set++;
    how.policy = arm->pretrained ? s->options->policy : NULL;
    how.seeded = arm->seeded;
    how.unbounded = true;
    how.seed = (uint64_t)seed;
    how.threads = 1;
    how.seconds = INFINITY;
    how.evaluations = arm->evaluations > 0 ? arm->evaluations : s->options->evaluations;
    how.marks = berth_study_marks;
    how.marks_ms = row->marks_ms;
    how.n_marks = BERTH_STUDY_MARKS;
    if (arm->timed) {
        how.seconds = berth_study_rows_at(&s->rows, s->options->suite, item, 0, seed)->seconds;
        how.evaluations = INT64_MAX;
    }
    return how;
}

static berth_status run_arm(study *s, const berth_graph *graph, const berth_device_set *devices, int32_t item,
                            int32_t index, int32_t seed) {
    const berth_arm *arm = berth_study_arm_at(s->options->suite, index);
    berth_study_row row = {.case_index = item, .arm = index, .seed = seed, .makespan_ms = INFINITY};
    berth_plan *plan = NULL;
    for (int i = 0; i < BERTH_STUDY_MARKS; i++) row.marks_ms[i] = INFINITY;
    berth_place_options how = options_for(s, arm, item, seed, &row);
    if (s->options->note)
        s->options->note(s->options->note_user, s->rows.cases[item].name, arm->name, s->n_done, s->n_runs);
    double begun = cpu_seconds();
    berth_status status = berth_place(s->ctx, &plan, graph, devices, &how);
    row.cpu_seconds = cpu_seconds() - begun;
    if (plan && plan->interrupted) status = BERTH_E_CANCELLED;
    if (plan && status == BERTH_OK) {
        row.makespan_ms = plan->makespan_ms;
        row.seconds = plan->seconds;
        row.evaluations = plan->evaluations;
        row.source = plan->source;
    }
    if (is_result(status)) {
        if (status == BERTH_E_NUMERIC) berth_log(s->ctx, BERTH_LOG_WARNING, "%s", berth_ctx_message(s->ctx));
        status = berth_study_row_append(s->ctx, s->options, &s->rows.cases[item], &row);
        if (status == BERTH_OK && !berth_study_rows_put(&s->rows, &row)) status = berth_fail_nomem(s->ctx);
        s->n_done++;
    }
    berth_plan_free(plan);
    return status;
}

static berth_status run_pair(study *s, int32_t item, int32_t seed) {
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    bool any = false;
    for (int32_t arm = 0; arm < s->rows.n_arms; arm++) any |= is_missing(s, item, arm, seed);
    if (!any) return BERTH_OK;
    BERTH_TRY(berth_study_case_load(s->ctx, &s->rows.cases[item], s->options->models, &graph, &devices));
    berth_status status = BERTH_OK;
    for (int32_t arm = 0; arm < s->rows.n_arms && status == BERTH_OK; arm++) {
        if (berth_cancelled(s->ctx)) status = berth_fail(s->ctx, BERTH_E_CANCELLED, "interrupted");
        if (status == BERTH_OK && is_missing(s, item, arm, seed)) status = run_arm(s, graph, devices, item, arm, seed);
    }
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

berth_status berth_study_check(berth_ctx *ctx, const berth_study_options *o) {
    bool known = false;
    for (int32_t i = 0; berth_study_name(i); i++) known |= strcmp(o->suite, berth_study_name(i)) == 0;
    if (!known) return berth_fail(ctx, BERTH_E_ARG, "there is no study '%.60s'", o->suite);
    if (o->n_results < 1) return berth_fail(ctx, BERTH_E_ARG, "a study needs a file for its results");
    if (o->n_parts < 1 || o->part < 0 || o->part >= o->n_parts || o->n_seeds < 1 || o->n_seeds > 1000 ||
        o->evaluations < 1)
        return berth_fail(ctx, BERTH_E_ARG, "part, seeds or evaluations of the study are out of bounds");
    for (int32_t i = 0; i < o->n_arms; i++)
        if (berth_study_arm_find(o->suite, o->arms[i]) < 0)
            return berth_fail(ctx, BERTH_E_ARG, "study %s has no arm '%.60s'", o->suite, o->arms[i]);
    return BERTH_OK;
}

/* The next line starts on a line of its own, whatever the last writer left. */
static berth_status end_last_line(berth_ctx *ctx, const char *path) {
    berth_arena scratch;
    const char *bytes = NULL;
    size_t size = 0;
    berth_arena_init(&scratch, berth_ctx_allocator(ctx));
    berth_status status = berth_file_append(ctx, path, "", 0);
    if (status == BERTH_OK) status = berth_file_read(ctx, &scratch, path, (size_t)1 << 30, &bytes, &size);
    if (status == BERTH_OK && size > 0 && bytes[size - 1] != '\n') status = berth_file_append(ctx, path, "\n", 1);
    berth_arena_deinit(&scratch);
    return status;
}

static berth_status run(study *s) {
    BERTH_TRY(end_last_line(s->ctx, s->options->results[0]));
    BERTH_TRY(berth_study_rows_read(s->ctx, &s->rows, s->options));
    s->n_runs = count_missing(s);
    for (int32_t item = 0; item < s->rows.n_cases; item++)
        for (int32_t seed = 0; seed < s->rows.n_seeds; seed++)
            if (is_mine(s, item, seed)) BERTH_TRY(run_pair(s, item, seed));
    return BERTH_OK;
}

berth_status berth_study_run(berth_ctx *ctx, const berth_study_options *options) {
    study s = {.ctx = ctx, .options = options};
    BERTH_TRY(berth_study_check(ctx, options));
    berth_status status = run(&s);
    berth_study_rows_free(&s.rows);
    return status;
}
