/* SPDX-License-Identifier: Apache-2.0 */
/* `berth profile`: time every operation on every device. */
#include "cli/profile.h"

#include "berth/profile.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/running.h"
#include "cli/shapes.h"
#include "cli/timeline.h"
#include "cli/usage.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct profile_values {
    cli_common common;
    cli_running running;
    const char *output, *devices;
    cli_list shapes;
    int64_t placements, held_out, processes, more_rounds;
    bool json, pieces;
} profile_values;

#define AT(member) offsetof(profile_values, member)

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "write the profile to FILE"},
    {"devices", 'd', CLI_STRING, CLI_USUAL, AT(devices), "LIST",
     .help = "of the runtime, as in cpu,webgpu or CPU0,CPU1:bf16 (default: the first two that work)"},
    {"json", 0, CLI_FLAG, CLI_USUAL, AT(json), NULL, .help = "print the profile"},
    {"placements", 0, CLI_INT, CLI_USUAL, AT(placements), "N",
     .help = "random ones to calibrate on, for each device but the first (default 12)", .low = 0, .high = 1000},
    {"held-out", 0, CLI_INT, CLI_RARE, AT(held_out), "N",
     .help = "as many more to see how well it predicts (default 0)", .low = 0, .high = 1000},
    {"processes", 0, CLI_INT, CLI_RARE, AT(processes), "N", .help = "to profile on each device (default 3)", .low = 1,
     .high = 16},
    {"more-rounds", 0, CLI_INT, CLI_RARE, AT(more_rounds), "N",
     .help = "processes more of placements whose two fastest do not agree (default 4)", .low = 0, .high = 100},
    {"pieces", 0, CLI_FLAG, CLI_RARE, AT(pieces), NULL,
     .help = "time pieces of the model on devices but the first, as on those that tell nothing"},
    {"shape", 0, CLI_LIST, CLI_USUAL, AT(shapes), "NAME=DIMS", .help = "shape of an input"},
    CLI_RUNNING_OPTIONS(profile_values, running),
    {0},
};

static const char details[] =
    "Runs MODEL on each device with the runtime's own profile, and finds for each operation of\n"
    "the model what it takes there, through everything that the runtime has fused and folded.\n"
    "Then runs random placements without profile and fits a handful of numbers, what launches,\n"
    "copies and pieces take, so that the runtime's execution model predicts whole runs: 'queued'\n"
    "for ONNX Runtime, 'serial' for OpenVINO.\n"
    "'berth place MODEL --profile FILE' places by it, on its devices.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory or limits, 5 more\n"
    "devices than one session takes, 130 interrupted.\n";

static int run_profile(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_profile = {
    .name = "profile",
    .run = run_profile,
    .summary = "time every operation of a model on every device",
    .operands = "MODEL",
    .min_operands = 1,
    .max_operands = 1,
    .options = options,
    .details = details,
};

static void put_summary(berth_text *text, const berth_profile *p) {
    cli_text_key(text, "profiled");
    berth_text_printf(text, "with %s %s%s\n", p->runtime, p->runtime_version,
                      p->synthesized ? ", made-up weights" : "");
    for (int32_t d = 0; d < p->n_devices; d++) {
        const berth_device *device = &p->devices->devices[d];
        double sum = 0;
        int32_t n = 0;
        for (int32_t i = 0; i < p->n_ops; i++) {
            double ms = p->op_ms[(size_t)i * (size_t)p->n_devices + (size_t)d];
            if (isfinite(ms))
                sum += ms;
            else
                n++;
        }
        cli_text_key(text, device->name);
        berth_text_printf(text, "%.4g ms measured, operations sum to %.4g ms", p->runs[d].measured_ms, sum);
        if (n > 0) berth_text_printf(text, "; %" PRId32 " operations do not run there", n);
        if (device->launch_ms > 0) berth_text_printf(text, "; launch %.3g us", 1e3 * device->launch_ms);
        berth_text_printf(text, "\n");
    }
    for (int32_t from = 0; from < p->n_devices; from++)
        for (int32_t to = 0; to < p->n_devices; to++) {
            const berth_link *link = &p->devices->links[from * p->n_devices + to];
            if (from == to) continue;
            cli_text_key(text, "copies");
            berth_text_printf(text, "%s to %s: %.3g us and %.3g GB/s\n", p->devices->devices[from].name,
                              p->devices->devices[to].name, 1e3 * link->fixed_ms, 1e-6 / link->ms_per_byte);
        }
    if (p->n_devices < 2) return;
    if (p->devices->piece_ms > 0) {
        cli_text_key(text, "pieces");
        berth_text_printf(text, "%.3g us each\n", 1e3 * p->devices->piece_ms);
    }
    cli_prediction_summary(text, p);
}

static int finish(berth_ctx *ctx, const profile_values *values, const berth_profile *profile) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    int code = CLI_DONE;
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    berth_profile_write(text, profile);
    if (values->output) code = cli_output_write(ctx, text, values->output);
    if (code == CLI_DONE && values->json) code = cli_output_write(ctx, text, NULL);
    berth_text_free(text);
    if (code != CLI_DONE || values->json) return code;
    status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    put_summary(text, profile);
    code = cli_output_write(ctx, text, NULL);
    berth_text_free(text);
    return code;
}

static int profile(berth_ctx *ctx, const profile_values *values, const cli_shapes *shapes,
                   const berth_profile_options *how) {
    cli_scan at = values->common.operands.start;
    const char *model = cli_list_next(&values->common.operands, &at), *devices[CLI_RUNTIME_DEVICES];
    char names[CLI_RUNTIME_NAMES];
    berth_read_options read = berth_read_options_default();
    berth_graph *graph = NULL;
    berth_runtime *runtime = NULL;
    berth_profile *taken = NULL;
    int32_t n = 0;
    read.shapes = shapes->bindings;
    read.n_shapes = shapes->n;
    berth_status status = berth_graph_read(ctx, &graph, model, &read);
    if (status == BERTH_OK) status = cli_runtime_open(ctx, &runtime, &values->running.runtime);
    if (status == BERTH_OK) status = cli_runtime_list(ctx, runtime, values->devices, names, devices, &n);
    if (status == BERTH_OK) status = berth_profile_take(ctx, &taken, runtime, graph, model, devices, n, how);
    cli_progress_end(values->common.quiet);
    int code = status == BERTH_OK ? finish(ctx, values, taken) : cli_report_failure(ctx, status, CLI_READING);
    berth_profile_free(taken);
    berth_runtime_free(runtime);
    berth_graph_free(graph);
    return code;
}

static int run_profile(berth_ctx *ctx, int argc, char **argv) {
    berth_profile_options how = berth_profile_options_default();
    profile_values values = {.placements = how.placements,
                             .held_out = how.held_out,
                             .processes = how.processes,
                             .more_rounds = how.more_rounds};
    static cli_shapes shapes;
    static cli_pairs inputs;
    char message[512];
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_profile, &values, argc, argv, &code)) return code;
    if (!cli_shapes_parse(&shapes, &values.shapes, message, sizeof message) ||
        !cli_running_parse(&values.running, &inputs, &how.run, values.common.quiet, message, sizeof message))
        return cli_report_misuse(&cli_profile, message);
    how.placements = (int32_t)values.placements;
    how.held_out = (int32_t)values.held_out;
    how.processes = (int32_t)values.processes;
    how.more_rounds = (int32_t)values.more_rounds;
    how.pieces = values.pieces;
    return profile(ctx, &values, &shapes, &how);
}
