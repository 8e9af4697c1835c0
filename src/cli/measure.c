/* SPDX-License-Identifier: Apache-2.0 */
/* `berth measure`: a plan, really run: latency against every single device, outputs compared, places checked. */
#include "cli/measure.h"

#include "berth/plan.h"
#include "cli/amounts.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/runtimes.h"
#include "cli/shapes.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 10 };

typedef struct measure_values {
    cli_common common;
    cli_runtime runtime;
    const char *output, *budget, *precision;
    cli_list shapes, inputs, providers;
    int64_t rounds, seed, threads;
    bool json, force, synthesize;
} measure_values;

#define AT(member) offsetof(measure_values, member)

static const cli_option options[] = {
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print one JSON document"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write to FILE instead of standard output"},
    {"budget", 'b', CLI_STRING, CLI_USUAL, AT(budget), "TIME", .help = "no further round after it (default 60s)"},
    {"rounds", 0, CLI_INT, CLI_USUAL, AT(rounds), "N", .help = "processes of each candidate (default 7)", .low = 1,
     .high = 1000},
    {"input", 0, CLI_LIST, CLI_USUAL, AT(inputs), "NAME=FILE", .help = "a .npy file for an input (default: random)"},
    {"synthesize-weights", 0, CLI_FLAG, CLI_USUAL, AT(synthesize), NULL,
     .help = "make up weights whose files are missing"},
    {"precision", 0, CLI_STRING, CLI_USUAL, AT(precision), "HOW",
     .help = "same (default), or native: TF32 and the like"},
    {"provider", 0, CLI_LIST, CLI_USUAL, AT(providers), "DEVICE=NAME",
     .help = "device to use for one that the plan only describes, as in gpu=cuda"},
    {"force", 0, CLI_FLAG, CLI_USUAL, AT(force), NULL, .help = "use a plan that was made for another model"},
    {"shape", 0, CLI_LIST, CLI_RARE, AT(shapes), "NAME=DIMS", .help = "shape of an input (default: as in the plan)"},
    {"seed", 0, CLI_INT, CLI_RARE, AT(seed), "N", .help = "of random inputs, weights and orders (default 0)",
     .high = 9e18},
    {"threads", 0, CLI_INT, CLI_RARE, AT(threads), "N", .help = "of the CPU (default 0: one per processor)",
     .high = 4096},
    CLI_RUNTIME_OPTIONS(measure_values, runtime),
    {0},
};

static const char details[] =
    "Runs MODEL as PLAN, a file that 'berth place -o' wrote, says, and on each of its devices\n"
    "alone, as a stock session has it. Every candidate has processes of its own; they take turns\n"
    "in random order, with the same inputs and threads. Outputs are compared with those of the\n"
    "CPU, and the runtime's own profile tells where each operation ran.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 the plan\n"
    "cannot be run in one session, or its outputs differ, 130 interrupted.\n";

static int run_measure(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_measure = {
    .name = "measure",
    .run = run_measure,
    .summary = "run a plan: latency, outputs, where operations ran",
    .operands = "MODEL PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .details = details,
};

/* --- output ----------------------------------------------------------------------------------------------------- */

static void put_latency(berth_text *text, const char *key, const berth_measured_run *run) {
    const berth_latency *l = &run->latency;
    if (l->runs == 0) {
        berth_json_object_begin(text, key);
        berth_json_null(text, "median_ms");
        berth_json_string(text, "reason", run->reason);
        berth_json_object_end(text);
        return;
    }
    berth_json_inline(text);
    berth_json_object_begin(text, key);
    berth_json_double(text, "median_ms", l->median_ms);
    berth_json_double(text, "low_ms", l->low_ms);
    berth_json_double(text, "high_ms", l->high_ms);
    berth_json_double(text, "p95_ms", l->p95_ms);
    berth_json_double(text, "p99_ms", l->p99_ms);
    berth_json_int(text, "runs", l->runs);
    berth_json_double(text, "load_ms", l->load_ms);
    berth_json_double(text, "first_ms", l->first_ms);
    berth_json_double(text, "peak_bytes", l->peak_bytes);
    if (*run->reason) berth_json_string(text, "reason", run->reason);
    berth_json_object_end(text);
}

static void put_json(berth_text *text, const berth_plan *plan, const berth_graph *graph, const berth_measured *m,
                     const berth_runtime *runtime) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "runtime", berth_runtime_name(runtime));
    berth_json_string(text, "runtime_version", berth_runtime_version(runtime));
    berth_json_double(text, "predicted_ms", plan->makespan_ms);
    berth_json_object_begin(text, "measured");
    put_latency(text, "plan", &m->plan);
    berth_json_object_begin(text, "single");
    for (int32_t i = 0; i < m->n_singles; i++) put_latency(text, m->singles[i].name, &m->singles[i]);
    berth_json_object_end(text);
    berth_json_double(text, "gain", m->gain);
    berth_json_double(text, "gain_low", m->gain_low);
    berth_json_object_end(text);
    berth_json_inline(text);
    berth_json_object_begin(text, "outputs");
    berth_json_double(text, "max_abs", m->outputs.max_abs);
    berth_json_double(text, "max_rel", m->outputs.max_rel);
    berth_json_double(text, "cosine", m->outputs.cosine);
    berth_json_bool(text, "equal", m->outputs.equal);
    berth_json_object_end(text);
    berth_json_bool(text, "synthesized_weights", m->n_made_files > 0);
    berth_json_int(text, "checked", m->n_checked);
    berth_json_array_begin(text, "deviations");
    for (int32_t i = 0; i < m->n_deviations; i++) {
        const berth_deviation *d = &m->deviations[i];
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "index", d->op);
        berth_json_string(text, "name", berth_graph_op(graph, d->op)->name);
        berth_json_string(text, "planned", d->planned);
        berth_json_string(text, "ran", d->ran);
        berth_json_string(text, "reason", d->reason);
        berth_json_bool(text, "explained", d->explained);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    berth_json_object_end(text);
}

static void put_run(berth_text *text, const berth_measured_run *run) {
    const berth_latency *l = &run->latency;
    char bytes[CLI_SCALED_SIZE];
    cli_text_key(text, run->name);
    if (l->runs == 0) {
        berth_text_printf(text, "cannot be run: %s\n", run->reason);
        return;
    }
    berth_text_printf(text, "%.4g ms (%.4g to %.4g), p95 %.4g, p99 %.4g; first %.4g, load %.4g ms; %s\n", l->median_ms,
                      l->low_ms, l->high_ms, l->p95_ms, l->p99_ms, l->first_ms, l->load_ms,
                      cli_scaled(l->peak_bytes, "B", bytes));
}

static void put_deviations(berth_text *text, const berth_graph *graph, const berth_measured *m) {
    cli_text_key(text, "places");
    berth_text_printf(text, "%" PRId32 " operations checked, %" PRId32 " ran elsewhere\n", m->n_checked,
                      m->n_deviations);
    for (int32_t i = 0; i < m->n_deviations && i < MOST_SHOWN; i++) {
        const berth_deviation *d = &m->deviations[i];
        cli_text_key(text, "");
        cli_text_escaped(text, berth_graph_op(graph, d->op)->name);
        berth_text_printf(text, ": on %s, not on %s: ", d->ran, d->planned);
        cli_text_escaped(text, d->reason);
        berth_text_printf(text, "\n");
    }
    if (m->n_deviations > MOST_SHOWN) {
        cli_text_key(text, "");
        berth_text_printf(text, "and %" PRId32 " more; --json has them all\n", m->n_deviations - MOST_SHOWN);
    }
}

static void put_summary(berth_text *text, const berth_plan *plan, const berth_graph *graph, const berth_measured *m,
                        const berth_runtime *runtime) {
    cli_text_key(text, "measured");
    berth_text_printf(text, "with %s %s, 95 %% intervals of the median%s\n", berth_runtime_name(runtime),
                      berth_runtime_version(runtime), m->n_made_files > 0 ? ", made-up weights" : "");
    put_run(text, &m->plan);
    for (int32_t i = 0; i < m->n_singles; i++) put_run(text, &m->singles[i]);
    if (!isnan(m->gain)) {
        cli_text_key(text, "gain");
        berth_text_printf(text, "%.1f %% over %s, with 95 %% confidence at least %.1f %%\n", 100 * m->gain,
                          m->singles[m->best].name, 100 * m->gain_low);
    }
    cli_text_key(text, "predicted");
    berth_text_printf(text, "%.4g ms (%s)\n", plan->makespan_ms, plan->costs);
    cli_text_key(text, "outputs");
    if (isnan(m->outputs.max_abs))
        berth_text_printf(text, "could not be compared\n");
    else
        berth_text_printf(text, "%s: largest difference %.3g, relative %.3g, cosine %.9g\n",
                          m->outputs.equal ? "equal within tolerance" : "DIFFERENT", m->outputs.max_abs,
                          m->outputs.max_rel, m->outputs.cosine);
    put_deviations(text, graph, m);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

typedef struct job {
    const measure_values *values;
    const cli_shapes *shapes;
    const cli_pairs *providers;
    berth_run_options how;
    berth_plan *plan;
    berth_graph *graph;
    berth_placement *placement;
    berth_runtime *runtime;
    berth_measured *measured;
    const char *devices[BERTH_MAX_DEVICES];
} job;

static berth_status open_all(berth_ctx *ctx, job *j, const char *model, const char *path) {
    berth_read_options read = berth_read_options_default();
    berth_status status = berth_plan_read(ctx, &j->plan, path);
    if (status == BERTH_OK) {
        read.shapes = j->shapes->n ? j->shapes->bindings : j->plan->shapes;
        read.n_shapes = j->shapes->n ? j->shapes->n : j->plan->n_shapes;
        status = berth_graph_read(ctx, &j->graph, model, &read);
    }
    if (status == BERTH_OK) status = berth_plan_fit(ctx, &j->placement, j->plan, j->graph, j->values->force);
    for (int32_t d = 0; status == BERTH_OK && d < j->plan->n_devices; d++) {
        j->devices[d] = j->plan->device_names[d];
        for (int32_t i = 0; i < j->providers->n; i++)
            if (strcmp(j->providers->pairs[i].name, j->devices[d]) == 0) j->devices[d] = j->providers->pairs[i].value;
    }
    if (status == BERTH_OK) status = cli_runtime_open(ctx, &j->runtime, &j->values->runtime);
    return status;
}

static int print(berth_ctx *ctx, const job *j) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    (j->values->json ? put_json : put_summary)(text, j->plan, j->graph, j->measured, j->runtime);
    int code = cli_output_write(ctx, text, j->values->output);
    berth_text_free(text);
    bool differs = !isnan(j->measured->outputs.max_abs) && !j->measured->outputs.equal;
    return code == CLI_DONE && differs ? CLI_INFEASIBLE : code;
}

static int measure(berth_ctx *ctx, job *j) {
    cli_scan at = j->values->common.operands.start;
    const char *model = cli_list_next(&j->values->common.operands, &at);
    const char *path = cli_list_next(&j->values->common.operands, &at);
    berth_status status = open_all(ctx, j, model, path);
    if (status == BERTH_OK)
        status = berth_measure(ctx, &j->measured, j->runtime, j->graph, model, j->devices, j->plan->n_devices,
                               j->placement, &j->how);
    cli_progress_end(j->values->common.quiet);
    int code = status == BERTH_OK ? print(ctx, j) : cli_report_failure(ctx, status, CLI_READING);
    berth_measured_free(j->measured);
    berth_runtime_free(j->runtime);
    berth_placement_free(j->placement);
    berth_graph_free(j->graph);
    berth_plan_free(j->plan);
    return code;
}

static bool parse(const measure_values *values, job *j, cli_shapes *shapes, cli_pairs *inputs, cli_pairs *providers,
                  char *message, size_t size) {
    if (!cli_shapes_parse(shapes, &values->shapes, message, size) ||
        !cli_pairs_parse(inputs, &values->inputs, "--input NAME=FILE", message, size) ||
        !cli_pairs_parse(providers, &values->providers, "--provider DEVICE=NAME", message, size))
        return false;
    j->how.seconds = 60;
    if (values->budget && !cli_parse_seconds(values->budget, &j->how.seconds)) {
        snprintf(message, size, "--budget needs a time such as 10s, 500ms or 2m, not '%.60s'", values->budget);
        return false;
    }
    if (values->precision && strcmp(values->precision, "same") != 0 && strcmp(values->precision, "native") != 0) {
        snprintf(message, size, "--precision is same or native, not '%.60s'", values->precision);
        return false;
    }
    j->how.native_precision = values->precision && strcmp(values->precision, "native") == 0;
    if (values->rounds > 0) j->how.rounds = (int32_t)values->rounds;
    j->how.synthesize = values->synthesize;
    j->how.seed = (uint64_t)values->seed;
    return true;
}

static int run_measure(berth_ctx *ctx, int argc, char **argv) {
    measure_values values = {0};
    static cli_shapes shapes;
    static cli_pairs inputs, providers;
    static berth_input_file files[CLI_MAX_PAIRS];
    char message[512];
    int code = CLI_DONE;
    job j = {.values = &values, .shapes = &shapes, .providers = &providers, .how = berth_run_options_default()};
    if (!cli_command_begin(ctx, &cli_measure, &values, argc, argv, &code)) return code;
    if (!parse(&values, &j, &shapes, &inputs, &providers, message, sizeof message))
        return cli_report_misuse(&cli_measure, message);
    for (int32_t i = 0; i < inputs.n; i++) files[i] = (berth_input_file){inputs.pairs[i].name, inputs.pairs[i].value};
    j.how.inputs = files;
    j.how.n_inputs = inputs.n;
    j.how.progress = cli_progress(values.common.quiet) ? cli_progress_runs : NULL;
    values.runtime.threads = (int32_t)values.threads;
    return measure(ctx, &j);
}
