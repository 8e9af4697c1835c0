/* SPDX-License-Identifier: Apache-2.0 */
/* `berth place`: read a model and its devices, search, print the answer, write the plan. */
#include "cli/place.h"

#include "cli/amounts.h"
#include "cli/devices.h"
#include "cli/limits.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "cli/shapes.h"
#include "cli/usage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct place_values {
    cli_common common;
    const char *devices, *model, *method, *group, *objective, *budget, *profile, *policy, *output;
    int64_t evaluations, seed, threads;
    double piece_ms;
    cli_limit_lists limits;
    cli_list shapes, settings;
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
    {"shape", 0, CLI_LIST, CLI_RARE, AT(shapes), "NAME=DIMS", .help = "shape of an input, as in x=1x3x224x224"},
    {"threads", 0, CLI_INT, CLI_RARE, AT(threads), "N", .low = 0, .high = 1024, .help = "default 0: one per processor"},
    {0},
};

static const char details[] =
    "Finds for every operation of MODEL the device to run it on. Everything is simulated, on\n"
    "devices that are described, not present: --devices names built-in profiles (see 'berth\n"
    "devices') or a file (docs/formats.md); the default is cpu,gpu. A workload file brings its\n"
    "own devices. 'berth help methods' is the list of methods.\n"
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

static int place(berth_ctx *ctx, const place_values *values, const berth_place_options *how) {
    cli_scan at = values->common.operands.start;
    placed found = {.path = cli_list_next(&values->common.operands, &at), .output = values->output};
    berth_read_options read = berth_read_options_default();
    berth_graph *graph = NULL;
    berth_device_set *devices = NULL;
    berth_plan *plan = NULL;
    read.shapes = how->shapes;
    read.n_shapes = how->n_shapes;
    int code;
    berth_status status = berth_graph_read(ctx, &graph, found.path, &read);
    if (status == BERTH_OK) status = cli_devices_for(ctx, &devices, values->devices, graph);
    if (status != BERTH_OK) {
        code = cli_report_failure(ctx, status, CLI_READING);
    } else {
        status = berth_place(ctx, &plan, graph, devices, how);
        cli_progress_end(values->common.quiet);
        found.graph = graph;
        found.plan = plan;
        code = status == BERTH_OK ? print(ctx, &found, values) : cli_report_failure(ctx, status, CLI_READING);
    }
    berth_plan_free(plan);
    berth_device_set_free(devices);
    berth_graph_free(graph);
    return code;
}

static int run_place(berth_ctx *ctx, int argc, char **argv) {
    place_values values = {.piece_ms = NAN};
    cli_shapes shapes = {0};
    cli_limits limits = {0};
    cli_settings settings = {0};
    berth_place_options how = berth_place_options_default();
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_place, &values, argc, argv, &code)) return code;
    if (!parse_names(&values, &how, message, sizeof message) || !parse_budget(&values, &how, message, sizeof message) ||
        !cli_shapes_parse(&shapes, &values.shapes, message, sizeof message) ||
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
    how.shapes = shapes.bindings;
    how.n_shapes = shapes.n;
    how.progress = cli_progress(values.common.quiet);
    return place(ctx, &values, &how);
}
