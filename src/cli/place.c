/* SPDX-License-Identifier: Apache-2.0 */
/* `berth place`: read a model and its devices, search, print the answer, write the plan. */
#include "cli/place.h"

#include "berth/real.h"

#include "cli/amounts.h"
#include "cli/cases.h"
#include "cli/devices.h"
#include "cli/limits.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/running.h"
#include "cli/settings.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct place_values {
    cli_common common;
    const char *devices, *model, *method, *group, *objective, *budget, *profile, *policy, *evaluate, *output;
    int64_t evaluations, seed, threads;
    double piece_ms;
    cli_limit_lists limits;
    cli_list shapes, settings;
    cli_running running;
    double min_gain;
    bool json;
} place_values;

#define AT(member) offsetof(place_values, member)

static const cli_option options[] = {
    {"devices", 'd', CLI_STRING, CLI_USUAL, AT(devices), "LIST",
     .help = "profiles such as cpu,gpu,gpu, or a devices.json"},
    {"execution-model", 0, CLI_STRING, CLI_USUAL, AT(model), "NAME",
     .help = "serial, queued, concurrent or contiguous"},
    {"method", 'm', CLI_STRING, CLI_USUAL, AT(method), "NAME", .help = "how to search (default auto)"},
    {"budget", 'b', CLI_STRING, CLI_USUAL, AT(budget), "TIME", .help = "for the search: 10s (default), 500ms, 2m"},
    {"evaluations", 0, CLI_INT, CLI_USUAL, AT(evaluations), "N", .low = 1, .high = 1e15,
     .help = "budget in makespans; alone, equal runs give equal plans"},
    {"memory", 0, CLI_LIST, CLI_USUAL, AT(limits.memory), "DEVICE=SIZE",
     .help = "capacity, as in gpu=512M or gpu=2GiB"},
    {"pin", 0, CLI_LIST, CLI_USUAL, AT(limits.pins), "PATTERN=DEVICE",
     .help = "operations by name or type that must run there"},
    {"ban", 0, CLI_LIST, CLI_USUAL, AT(limits.bans), "PATTERN=DEVICE", .help = "operations that must not run there"},
    {"together", 0, CLI_LIST, CLI_USUAL, AT(limits.together), "PATTERN", .help = "operations that must share a device"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write the plan to FILE"},
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print the plan and the search as one JSON document"},
    {"objective", 0, CLI_STRING, CLI_RARE, AT(objective), "NAME",
     .help = "latency (default) or throughput: least largest load"},
    {"group", 0, CLI_STRING, CLI_RARE, AT(group), "RULE", .help = "search over groups: paper, code or fused"},
    {"piece-ms", 0, CLI_DOUBLE, CLI_RARE, AT(piece_ms), "MS", .low = 0, .high = 1e12,
     .help = "serial: cost of each piece"},
    {"io", 0, CLI_LIST, CLI_RARE, AT(limits.io), "NAME=DEVICE",
     .help = "where an input starts or an output ends (default host)"},
    {"policy", 0, CLI_STRING, CLI_RARE, AT(policy), "FILE", .help = "what a learned method starts from (berth train)"},
    {"profile", 0, CLI_STRING, CLI_RARE, AT(profile), "FILE", .help = "measured times in place of estimates"},
    {"seed", 0, CLI_INT, CLI_RARE, AT(seed), "N", .low = 0, .high = 9e18, .help = "of random numbers (default 0)"},
    {"set", 0, CLI_LIST, CLI_RARE, AT(settings), "NAME=VALUE",
     .help = "of a learned method; 'berth help settings' lists them"},
    {"shape", 0, CLI_LIST, CLI_RARE, AT(shapes), "NAME=DIMS[@WEIGHT]",
     .help = "shape of an input, as in x=1x3x224x224; several of one: a plan for all"},
    {"threads", 0, CLI_INT, CLI_RARE, AT(threads), "N", .low = 0, .high = 1024, .help = "default 0: one per processor"},
    {"evaluate", 0, CLI_STRING, CLI_RARE, AT(evaluate), "HOW",
     .help = "simulated (default), or measured: by real runs"},
    {"min-gain", 0, CLI_DOUBLE, CLI_RARE, AT(min_gain), "PERCENT", .low = 0, .high = 100,
     .help = "that a split must surely gain when it is run (default 3)"},
    CLI_RUNNING_CORE(place_values, running, CLI_RUNTIME_OR_NONE),
    {0},
};

static const char details[] =
    "Finds for every operation of MODEL the device to run it on. Without --runtime everything\n"
    "is simulated, on devices that are described, not present: --devices names built-in\n"
    "profiles (see 'berth devices') or a file (docs/formats.md); the default is cpu,gpu, or the\n"
    "devices of --profile. A workload file brings its own. 'berth help methods' lists methods.\n"
    "\n"
    "With --runtime onnxruntime or openvino the devices are real: every operation is timed on\n"
    "each, the best placements are run against every single device, and a split is the answer\n"
    "only if it surely gains --min-gain. --budget (default 2m) is then for everything, and\n"
    "--profile the file that the times are kept in (default: beside the plan). With --evaluate\n"
    "measured every placement that the method compares is run, too, and a learned method learns\n"
    "from what was measured; the same placement is run once, what cannot be run is left out, and\n"
    "after a kill --resume repeats nothing. --evaluations alone then sets no limit of time.\n"
    "\n"
    "The answer comes with a lower bound on what any placement takes; a gap of 0 means that it\n"
    "is proven optimal. Ctrl-C ends the search and keeps the best answer so far.\n"
    "\n"
    "A pattern is a glob that matches the whole name of an operation or its whole type.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 no\n"
    "feasible placement or learning diverged, 130 interrupted (the answer so far is still printed and written).\n";

static int run_place(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_place = {
    .name = "place",
    .run = run_place,
    .summary = "find every operation the device to run it on",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .details = details,
};

/* --- options ---------------------------------------------------------------------------------------------------- */

static bool check_method(const char *method, char *message, size_t size) {
    berth_nearest nearest = berth_nearest_begin(method);
    for (int32_t i = 0; berth_method_name(i); i++) {
        if (strcmp(berth_method_name(i), method) == 0) return true;
        berth_nearest_offer(&nearest, berth_method_name(i));
    }
    if (nearest.best)
        snprintf(message, size, "there is no method '%.60s'; did you mean '%s'?", method, nearest.best);
    else
        snprintf(message, size, "there is no method '%.60s'; 'berth help methods' lists them", method);
    return false;
}

static bool parse_names(const place_values *values, berth_place_options *out, char *message, size_t size) {
    if (values->method) out->method = values->method;
    if (!check_method(out->method, message, size)) return false;
    if (values->model && (out->model = berth_model_find(values->model)) == BERTH_MODEL_COUNT) {
        snprintf(message, size, "there is no execution model '%.60s'", values->model);
        return false;
    }
    if (values->objective && strcmp(values->objective, "throughput") == 0) {
        out->objective = BERTH_OBJECTIVE_THROUGHPUT;
    } else if (values->objective && strcmp(values->objective, "latency") != 0) {
        snprintf(message, size, "--objective is latency or throughput, not '%.60s'", values->objective);
        return false;
    }
    if (!values->group) return true;
    for (int rule = 0; rule <= BERTH_GROUP_FUSED; rule++)
        if (strcmp(values->group, berth_group_rule_name((berth_group_rule)rule)) == 0) {
            out->grouped = true;
            out->group = (berth_group_rule)rule;
            return true;
        }
    snprintf(message, size, "--group is paper, code or fused, not '%.60s'", values->group);
    return false;
}

static bool parse_budget(const place_values *values, berth_place_options *out, char *message, size_t size) {
    if (values->evaluations > 0) {
        out->evaluations = values->evaluations;
        out->seconds = INFINITY;
    }
    if (!values->budget || cli_parse_seconds(values->budget, &out->seconds)) return true;
    snprintf(message, size, "--budget needs a time such as 10s, 500ms or 2m, not '%.60s'", values->budget);
    return false;
}

/* --evaluate, and options that are for real runs only. */
static bool parse_evaluate(const place_values *values, bool is_real, bool *measured, char *message, size_t size) {
    const char *how = values->evaluate;
    *measured = how && strcmp(how, "measured") == 0;
    if (how && !*measured && strcmp(how, "simulated") != 0) {
        snprintf(message, size, "--evaluate is simulated or measured, not '%.60s'", how);
        return false;
    }
    if (is_real) return true;
    if (*measured) {
        snprintf(message, size,
                 "--evaluate measured needs a runtime to measure with: --runtime onnxruntime or openvino");
        return false;
    }
    if (!isnan(values->min_gain)) {
        snprintf(message, size, "--min-gain is for real runs: it needs --runtime");
        return false;
    }
    return cli_running_absent(&values->running, message, size);
}

/* --- output ----------------------------------------------------------------------------------------------------- */

static int print_plan(berth_ctx *ctx, const berth_plan *plan, bool search, const char *path) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    berth_plan_write(text, plan, search);
    int code = cli_output_keep(ctx, text, path);
    berth_text_free(text);
    return code;
}

static int print_summary(berth_ctx *ctx, placed *found, const place_values *values) {
    berth_text *text = NULL;
    berth_timeline *timeline = NULL;
    berth_ctx_set_log(ctx, NULL, NULL); /* what is to be said about the costs was said before the search */
    berth_status status = berth_plan_simulate(ctx, &timeline, found->plan, found->graph, values->profile, false);
    cli_report_log(ctx, &values->common);
    if (status == BERTH_OK) status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) {
        berth_timeline_free(timeline);
        return cli_report_failure(ctx, status, CLI_WORKING);
    }
    found->timeline = timeline;
    cli_place_summary(text, found);
    int code = cli_output_keep(ctx, text, NULL);
    berth_text_free(text);
    berth_timeline_free(timeline);
    return code;
}

/* Everything is printed and written even after Ctrl-C: it is the best answer so far. */
static int print(berth_ctx *ctx, placed *found, const place_values *values) {
    int code = CLI_DONE;
    if (values->output) code = print_plan(ctx, found->plan, false, values->output);
    if (code != CLI_DONE && code != CLI_INTERRUPTED) return code;
    return values->json ? print_plan(ctx, found->plan, true, NULL) : print_summary(ctx, found, values);
}

/* --- the whole -------------------------------------------------------------------------------------------------- */

static int place(berth_ctx *ctx, const place_values *values, const berth_place_options *how, const cli_cases *cases) {
    cli_scan at = values->common.operands.start;
    placed found = {.path = cli_list_next(&values->common.operands, &at), .output = values->output};
    static cli_model model;
    berth_device_set *devices = NULL;
    berth_plan *plan = NULL;
    int code;
    berth_status status = cli_model_read(ctx, &model, found.path, cases);
    if (status == BERTH_OK) status = cli_devices_for(ctx, &devices, values->devices, values->profile, model.graphs[0]);
    if (status != BERTH_OK) {
        code = cli_report_failure(ctx, status, CLI_READING);
    } else {
        status = model.n > 1 ? berth_place_cases(ctx, &plan, model.cases, model.n, devices, how)
                             : berth_place(ctx, &plan, model.graphs[0], devices, how);
        cli_progress_end(values->common.quiet);
        found.graph = model.graphs[0];
        found.plan = plan;
        code = status == BERTH_OK ? print(ctx, &found, values) : cli_report_failure(ctx, status, CLI_READING);
    }
    berth_plan_free(plan);
    berth_device_set_free(devices);
    cli_model_free(&model);
    return code;
}

/* --- on real devices -------------------------------------------------------------------------------------------- */

static void put_runs(berth_text *text, const berth_plan *plan) {
    const berth_plan_runs *runs = plan->runs;
    cli_text_key(text, "evaluations");
    berth_text_printf(text,
                      "%" PRId64 ", measured: %" PRId64 " placements run, %" PRId64 " more from the store, %" PRId64
                      " that could not be run, %" PRId64 " times one that was known\n",
                      plan->evaluations, runs->made, runs->stored, runs->failed, runs->repeated);
    cli_text_key(text, "found by");
    berth_text_printf(text, "%s (%s)%s; nothing is proven of what was measured\n", plan->found_by, plan->source,
                      plan->interrupted ? "; interrupted" : "");
}

static void put_real(berth_text *text, const berth_real_plan *real, const berth_graph *graph, const char *output) {
    cli_text_key(text, "answer");
    berth_text_printf(text, "%s\n", real->verdict);
    cli_text_key(text, "operations");
    for (int32_t d = 0; d < real->plan->n_devices; d++) {
        int n = 0;
        for (int32_t i = 0; i < real->plan->n_ops; i++) n += real->plan->ops[i].device == d;
        berth_text_printf(text, "%s%d on %s", d ? ", " : "", n, real->plan->device_names[d]);
    }
    berth_text_printf(text, "\n");
    if (real->plan->runs) put_runs(text, real->plan);
    if (real->profile) cli_prediction_summary(text, real->profile);
    cli_cases_summary(text, real->plan);
    if (real->measured) {
        cli_measured_summary(text, graph, real->measured);
        cli_text_key(text, "predicted");
        berth_text_printf(text, "%.4g ms for the split\n", real->predicted_ms);
    }
    if (!output) return;
    cli_text_key(text, "plan");
    cli_text_escaped(text, output);
    berth_text_printf(text, "\n");
}

static int print_real(berth_ctx *ctx, const berth_real_plan *real, const berth_graph *graph,
                      const place_values *values) {
    berth_text *text = NULL;
    int code = CLI_DONE;
    if (values->output) code = print_plan(ctx, real->plan, false, values->output);
    if (code != CLI_DONE && code != CLI_INTERRUPTED) return code;
    if (values->json) return print_plan(ctx, real->plan, true, NULL);
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    put_real(text, real, graph, values->output);
    code = cli_output_keep(ctx, text, NULL);
    berth_text_free(text);
    return code;
}

static int place_real(berth_ctx *ctx, const place_values *values, const berth_real_options *how,
                      const cli_cases *cases) {
    cli_scan at = values->common.operands.start;
    const char *path = cli_list_next(&values->common.operands, &at), *devices[CLI_RUNTIME_DEVICES];
    char names[CLI_RUNTIME_NAMES];
    static cli_model model;
    berth_runtime *runtime = NULL;
    berth_real_plan *real = NULL;
    int32_t n = 0;
    berth_status status = cli_model_read(ctx, &model, path, cases);
    if (status == BERTH_OK) status = cli_runtime_open(ctx, &runtime, &values->running.runtime);
    if (status == BERTH_OK) status = cli_runtime_list(ctx, runtime, values->devices, names, devices, &n);
    if (status == BERTH_OK)
        status = model.n > 1 ? berth_place_real_cases(ctx, &real, runtime, model.cases, model.n, path, devices, n, how)
                             : berth_place_real(ctx, &real, runtime, model.graphs[0], path, devices, n, how);
    cli_progress_end(values->common.quiet);
    int code = status == BERTH_OK ? print_real(ctx, real, model.graphs[0], values)
                                  : cli_report_failure(ctx, status, CLI_READING);
    berth_real_plan_free(real);
    berth_runtime_free(runtime);
    cli_model_free(&model);
    return code;
}

/* Beside the plan: plan.json, plan.profile.json. */
static const char *name_profile(const place_values *values, char *path, size_t size) {
    if (values->profile || !values->output) return values->profile;
    size_t n = strlen(values->output);
    if (n > 5 && strcmp(values->output + n - 5, ".json") == 0) n -= 5;
    snprintf(path, size, "%.*s.profile.json", (int)n, values->output);
    return path;
}

static int run_place(berth_ctx *ctx, int argc, char **argv) {
    place_values values = {.piece_ms = NAN, .min_gain = NAN};
    static cli_shapes shapes;
    static cli_cases cases;
    cli_limits limits = {0};
    cli_settings settings = {0};
    berth_place_options how = berth_place_options_default();
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_place, &values, argc, argv, &code)) return code;
    if (!parse_names(&values, &how, message, sizeof message) || !parse_budget(&values, &how, message, sizeof message) ||
        !cli_cases_parse(&cases, &shapes, &values.shapes, message, sizeof message) ||
        !cli_pieces_check(values.piece_ms, how.model, message, sizeof message) ||
        !cli_limits_parse(&limits, &values.limits, message, sizeof message) ||
        !cli_settings_parse(&settings, &values.settings, how.method, message, sizeof message))
        return cli_report_misuse(&cli_place, message);
    how.limits = &limits.limits;
    how.profile = values.profile;
    how.policy = values.policy;
    how.set = settings.set;
    how.n_set = settings.n;
    how.piece_ms = values.piece_ms;
    how.seed = (uint64_t)values.seed;
    how.threads = (int32_t)values.threads;
    how.shapes = cases.bindings;
    how.n_shapes = cases.start[1];
    how.progress = cli_progress(values.common.quiet);
    bool is_real = values.running.runtime.name && !cli_runtime_is_none(&values.running.runtime), measured = false;
    if (!parse_evaluate(&values, is_real, &measured, message, sizeof message))
        return cli_report_misuse(&cli_place, message);
    if (!is_real) return place(ctx, &values, &how, &cases);
    static cli_pairs inputs;
    char profile[4096];
    berth_real_options real = berth_real_options_default();
    if (!cli_running_parse(&values.running, &inputs, &real.profile.run, values.common.quiet, message, sizeof message))
        return cli_report_misuse(&cli_place, message);
    how.profile = name_profile(&values, profile, sizeof profile);
    if (!values.budget && !(measured && values.evaluations > 0)) how.seconds = real.place.seconds;
    real.place = how;
    real.measured = measured;
    real.profile.run.seed = how.seed;
    real.profile.run.io = limits.limits.io;
    real.profile.run.n_io = limits.limits.n_io;
    if (!isnan(values.min_gain)) real.min_gain = values.min_gain / 100;
    return place_real(ctx, &values, &real, &cases);
}
