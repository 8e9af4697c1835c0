/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the paper's tables. Each is a plan: of one device, of a rule, or of a search on the paper's testbed or on
 * a profile of this machine; real runs of it follow where there is a runtime. */
#include "berth/paper.h"

#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

enum { PATH_SIZE = 4096, N_DEVICES = 2, MOST_SETTINGS = 2, PUBLISHED_RNN_EVALUATIONS = 100 };

static const char *const model_names[] = {"inception_v3", "resnet50", "bert_base"};

typedef enum arm_kind { ARM_SINGLE, ARM_PRIORITY, ARM_METHOD } arm_kind;

typedef struct arm {
    const char *name;
    arm_kind kind;
    int32_t first;      /* the device, or the one that has priority */
    const char *method; /* of ARM_METHOD */
    const char *set[MOST_SETTINGS];
    bool learns;
    int64_t evaluations; /* its own, or 0 */
    bool only_cnn;
} arm;

static const arm arms[] = {
    {.name = "CPU-only", .kind = ARM_SINGLE, .first = 0},
    {.name = "GPU-only", .kind = ARM_SINGLE, .first = 1},
    {.name = "greedy, CPU first", .kind = ARM_PRIORITY, .first = 0},
    {.name = "greedy, GPU first", .kind = ARM_PRIORITY, .first = 1},
    {.name = "placeto", .kind = ARM_METHOD, .method = "placeto", .learns = true},
    {.name = "rnn", .kind = ARM_METHOD, .method = "rnn", .learns = true},
    /* five times the width of its input for the CNNs, 100 measurements, as published */
    {.name = "rnn, published width",
     .kind = ARM_METHOD,
     .method = "rnn",
     .set = {"rnn_hidden=1570"},
     .learns = true,
     .evaluations = PUBLISHED_RNN_EVALUATIONS,
     .only_cnn = true},
    {.name = "hsdag:paper", .kind = ARM_METHOD, .method = "hsdag:paper", .set = {"episodes=0"}, .learns = true},
    {.name = "hsdag:code", .kind = ARM_METHOD, .method = "hsdag:code", .set = {"episodes=0"}, .learns = true},
    {.name = "hsdag", .kind = ARM_METHOD, .method = "hsdag", .learns = true},
    {.name = "min-cut", .kind = ARM_METHOD, .method = "min-cut"},
    {.name = "auto", .kind = ARM_METHOD, .method = "auto"},
};

typedef struct whole { /* what is handed out, with its memory */
    berth_paper paper;
    berth_arena arena;
    berth_paper_row rows[LENGTH(model_names) * LENGTH(arms)];
} whole;

typedef struct runner {
    berth_ctx *ctx;
    const berth_paper_options *options;
    whole *out;
    const char *model;       /* its name ... */
    char path[PATH_SIZE];    /* ... and file */
    char profile[PATH_SIZE]; /* file, or "": simulated */
    berth_graph *graph;
    berth_device_set *devices;
} runner;

berth_paper_options berth_paper_options_default(void) {
    berth_paper_options options = {
        .models = "models", .evaluations = 2000, .seconds = 10, .profile = berth_profile_options_default()};
    options.profile.run.synthesize = true;
    options.profile.run.least_runs = 10;
    return options;
}

const char *berth_paper_arm_name(int32_t index) {
    return index >= 0 && index < LENGTH(arms) ? arms[index].name : NULL;
}

static bool is_wanted(const char *name, const char *const *words, int32_t n, bool whole_word) {
    for (int32_t i = 0; i < n; i++)
        if (whole_word ? strcmp(name, words[i]) == 0 : strstr(name, words[i]) != NULL) return true;
    return n == 0;
}

/* --- plans ------------------------------------------------------------------------------------------------------ */

/* Every operation on the first device of the list that can run it. */
static berth_status find_given(runner *r, int32_t first, const berth_costs *costs, int32_t *device) {
    for (int32_t i = 0; i < berth_graph_op_count(r->graph); i++)
        device[i] = berth_costs_op_ms(costs, i, first) < INFINITY ? first : 1 - first;
    return BERTH_OK;
}

/* By real runs; the best split is taken as it is, whatever it gains. */
static berth_status learn_measured(runner *r, const berth_place_options *place, berth_plan **plan) {
    berth_real_options how = berth_real_options_default();
    berth_real_plan *real = NULL;
    how.place = *place;
    how.profile = r->options->profile;
    how.measured = true;
    how.min_gain = -INFINITY;
    BERTH_TRY(
        berth_place_real(r->ctx, &real, r->options->runtime, r->graph, r->path, r->options->devices, N_DEVICES, &how));
    *plan = real->plan;
    real->plan = NULL;
    (*plan)->measured = NULL; /* goes with the rest */
    (*plan)->verdict = NULL;
    berth_real_plan_free(real);
    return BERTH_OK;
}

static berth_status make_plan(runner *r, const arm *a, const berth_costs *costs, berth_plan **plan) {
    berth_place_options how = berth_place_options_default();
    berth_mark mark = berth_arena_mark(&r->out->arena);
    int32_t *device = berth_arena_push(&r->out->arena, (size_t)berth_graph_op_count(r->graph), sizeof *device);
    if (!device) return berth_fail_nomem(r->ctx);
    how.profile = *r->profile ? r->profile : NULL;
    how.seed = r->options->seed;
    how.threads = r->options->threads;
    how.unbounded = true;
    if (a->kind == ARM_METHOD) {
        how.method = a->method;
        how.set = a->set;
        while (how.n_set < MOST_SETTINGS && a->set[how.n_set]) how.n_set++;
        how.seconds = a->learns ? INFINITY : r->options->seconds;
        if (a->learns) how.evaluations = a->evaluations > 0 ? a->evaluations : r->options->evaluations;
    } else {
        BERTH_TRY(find_given(r, a->first, costs, device));
        how.given = device;
    }
    berth_status status = a->learns && r->options->measured ? learn_measured(r, &how, plan)
                                                            : berth_place(r->ctx, plan, r->graph, r->devices, &how);
    berth_arena_release(&r->out->arena, mark);
    return status;
}

static void take_plan(const runner *r, const berth_plan *plan, const berth_costs *costs, berth_paper_row *row) {
    int32_t n = 0, second = 0;
    for (int32_t i = 0; i < plan->n_ops; i++) {
        bool runs = berth_costs_op_ms(costs, i, 0) > 0 || berth_costs_op_ms(costs, i, 1) > 0;
        n += runs;
        second += runs && plan->ops[i].device == 1;
    }
    row->share = n > 0 ? (double)second / n : 0;
    row->predicted_ms = plan->makespan_ms;
    row->evaluations = plan->evaluations;
    row->search_seconds = plan->seconds;
    if (r->options->runtime) return;
    row->gain_cpu = 1 - plan->makespan_ms / plan->single_ms[0];
    row->gain_best = 1 - plan->makespan_ms / fmin(plan->single_ms[0], plan->single_ms[1]);
}

/* --- runs ------------------------------------------------------------------------------------------------------- */

/* One device alone is a stock session, not a plan that has everything on it. */
static void take_runs(const arm *a, const berth_measured *m, berth_paper_row *row) {
    const berth_measured_run *run = a->kind == ARM_SINGLE ? &m->singles[a->first] : &m->plan;
    if (run->latency.runs == 0) {
        row->reason = run->reason;
        return;
    }
    row->protocol_ms = run->latency.protocol_ms;
    row->median_ms = run->latency.median_ms;
    row->low_ms = run->latency.low_ms;
    row->high_ms = run->latency.high_ms;
    if (m->singles[0].latency.runs > 0) row->gain_cpu = 1 - row->median_ms / m->singles[0].latency.median_ms;
    if (m->best >= 0) row->gain_best = 1 - row->median_ms / m->singles[m->best].latency.median_ms;
    row->outputs = m->outputs; /* of everything on that device, where it is one alone */
}

static berth_status run_plan(runner *r, const arm *a, const berth_plan *plan, berth_paper_row *row) {
    berth_placement *placement = NULL;
    berth_measured *measured = NULL;
    BERTH_TRY(berth_placement_new(r->ctx, &placement, plan->n_ops, false));
    for (int32_t i = 0; i < plan->n_ops; i++) placement->device[i] = plan->ops[i].device;
    berth_status status = berth_measure(r->ctx, &measured, r->options->runtime, r->graph, r->path, r->options->devices,
                                        N_DEVICES, placement, &r->options->profile.run);
    berth_placement_free(placement);
    if (status == BERTH_OK) {
        take_runs(a, measured, row);
        row->reason = berth_arena_string(&r->out->arena, row->reason, strlen(row->reason));
    }
    berth_measured_free(measured);
    return row->reason || status != BERTH_OK ? status : berth_fail_nomem(r->ctx);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

/* Failures that are the row's own. */
static bool is_result(berth_status status) {
    return status == BERTH_E_INFEASIBLE || status == BERTH_E_UNSUPPORTED || status == BERTH_E_NUMERIC ||
           status == BERTH_E_LIMIT;
}

static berth_status add_row(runner *r, const arm *a, const berth_costs *costs) {
    berth_paper_row *row = &r->out->rows[r->out->paper.n_rows];
    berth_plan *plan = NULL;
    *row = (berth_paper_row){.model = r->model,
                             .arm = a->name,
                             .reason = "",
                             .predicted_ms = NAN,
                             .protocol_ms = NAN,
                             .median_ms = NAN,
                             .low_ms = NAN,
                             .high_ms = NAN,
                             .gain_cpu = NAN,
                             .gain_best = NAN,
                             .share = NAN,
                             .search_seconds = NAN};
    row->outputs =
        (berth_difference){.max_abs = NAN, .max_rel = NAN, .cosine = NAN, .mean_square = NAN, .distance = NAN};
    if (r->options->note) r->options->note(r->options->note_user, r->model, a->name);
    berth_status status = make_plan(r, a, costs, &plan);
    if (plan && plan->interrupted) status = berth_fail(r->ctx, BERTH_E_CANCELLED, "interrupted");
    if (plan && status == BERTH_OK) take_plan(r, plan, costs, row);
    if (plan && status == BERTH_OK && r->options->runtime) status = run_plan(r, a, plan, row);
    berth_plan_free(plan);
    if (is_result(status)) {
        const char *why = berth_ctx_message(r->ctx);
        row->reason = berth_arena_string(&r->out->arena, why, strlen(why));
        status = row->reason ? BERTH_OK : berth_fail_nomem(r->ctx);
    }
    if (status == BERTH_OK) r->out->paper.n_rows++;
    return status;
}

static berth_status add_rows(runner *r) {
    berth_costs *costs = NULL;
    berth_cost_options how = berth_cost_options_default();
    how.profile = *r->profile ? r->profile : NULL;
    BERTH_TRY(berth_costs_new(r->ctx, &costs, r->graph, r->devices, &how));
    berth_status status = BERTH_OK;
    for (int32_t i = 0; i < LENGTH(arms) && status == BERTH_OK; i++) {
        if (!is_wanted(arms[i].name, r->options->arms, r->options->n_arms, true)) continue;
        if (arms[i].only_cnn && strcmp(r->model, "bert_base") == 0) continue;
        status = add_row(r, &arms[i], costs);
    }
    berth_costs_free(costs);
    return status;
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static berth_status take_profile(runner *r) {
    berth_profile *profile = NULL;
    berth_text *text = NULL;
    const char *folder = getenv("TMPDIR");
    snprintf(r->profile, sizeof r->profile, "%s/berth-paper-%d.json", folder && *folder ? folder : "/tmp",
             (int)getpid());
    if (r->options->note) r->options->note(r->options->note_user, r->model, "profile");
    BERTH_TRY(berth_profile_take(r->ctx, &profile, r->options->runtime, r->graph, r->path, r->options->devices,
                                 N_DEVICES, &r->options->profile));
    berth_status status = berth_text_new(r->ctx, &text);
    if (status == BERTH_OK) berth_profile_write(text, profile);
    if (status == BERTH_OK) status = berth_text_write(r->ctx, text, r->profile);
    berth_text_free(text);
    berth_profile_free(profile);
    return status;
}

static berth_status run_model(runner *r) {
    snprintf(r->path, sizeof r->path, "%s/ir/%s.xml", r->options->models, r->model);
    BERTH_TRY(berth_graph_read(r->ctx, &r->graph, r->path, NULL));
    berth_status status = r->options->runtime ? take_profile(r) : BERTH_OK;
    if (status == BERTH_OK) status = berth_device_set_read(r->ctx, &r->devices, *r->profile ? r->profile : "paper");
    if (status == BERTH_OK) status = add_rows(r);
    if (*r->profile) unlink(r->profile);
    berth_device_set_free(r->devices);
    berth_graph_free(r->graph);
    r->devices = NULL;
    r->graph = NULL;
    return status;
}

static berth_status check(berth_ctx *ctx, const berth_paper_options *o) {
    for (int32_t i = 0; i < o->n_arms; i++) {
        bool known = false;
        for (int32_t k = 0; k < LENGTH(arms); k++) known |= strcmp(o->arms[i], arms[k].name) == 0;
        if (!known) return berth_fail(ctx, BERTH_E_ARG, "there is no row '%.60s'", o->arms[i]);
    }
    if (o->runtime && o->n_devices != N_DEVICES)
        return berth_fail(ctx, BERTH_E_ARG, "the paper's protocol is for two devices");
    if (o->measured && !o->runtime) return berth_fail(ctx, BERTH_E_ARG, "real runs as evaluations need a runtime");
    return BERTH_OK;
}

static berth_status name_columns(runner *r) {
    berth_paper *paper = &r->out->paper;
    const berth_runtime *runtime = r->options->runtime;
    paper->simulated = !runtime;
    paper->rows = r->out->rows;
    for (int d = 0; d < N_DEVICES; d++) {
        const char *name = runtime ? r->options->devices[d] : d == 0 ? "cpu" : "gpu";
        paper->devices[d] = berth_arena_string(&r->out->arena, name, strlen(name));
    }
    paper->runtime = runtime ? berth_arena_printf(&r->out->arena, "%s %s", berth_runtime_name(runtime),
                                                  berth_runtime_version(runtime))
                             : "";
    return r->out->arena.failed ? berth_fail_nomem(r->ctx) : BERTH_OK;
}

berth_status berth_paper_run(berth_ctx *ctx, berth_paper **out, const berth_paper_options *options) {
    *out = NULL;
    BERTH_TRY(check(ctx, options));
    whole *made = berth_resize(berth_ctx_allocator(ctx), NULL, 0, 1, sizeof *made);
    if (!made) return berth_fail_nomem(ctx);
    berth_arena_init(&made->arena, berth_ctx_allocator(ctx));
    made->paper.n_rows = 0;
    runner r = {.ctx = ctx, .options = options, .out = made};
    berth_status status = BERTH_OK;
    for (int32_t i = 0; i < LENGTH(model_names) && status == BERTH_OK; i++) {
        r.model = model_names[i];
        if (is_wanted(r.model, options->cases, options->n_cases, false)) status = run_model(&r);
    }
    if (status == BERTH_OK) status = name_columns(&r);
    if (status == BERTH_OK)
        *out = &made->paper;
    else
        berth_paper_free(&made->paper);
    return status;
}

void berth_paper_free(berth_paper *paper) {
    if (!paper) return;
    whole *made = (whole *)paper;
    berth_allocator allocator = made->arena.allocator;
    berth_arena_deinit(&made->arena);
    berth_resize(&allocator, made, 1, 0, sizeof *made);
}
