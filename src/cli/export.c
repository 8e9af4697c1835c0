/* SPDX-License-Identifier: Apache-2.0 */
/* `berth export`: a plan for others. Formats are the library's (berth/export.h). */
#include "cli/export.h"

#include "berth/export.h"
#include "cli/output.h"
#include "cli/pairs.h"
#include "cli/report.h"
#include "cli/usage.h"

#include <stdio.h>
#include <string.h>

typedef struct export_values {
    cli_common common;
    const char *to, *output;
    cli_list providers;
    bool force;
} export_values;

#define AT(member) offsetof(export_values, member)

static const cli_option options[] = {
    {"to", 't', CLI_STRING, CLI_USUAL, AT(to), "FORMAT", .help = "onnx, openvino, json or dot"},
    {"output", 'o', CLI_STRING, CLI_USUAL, AT(output), "FILE", .help = "what to write; onnx and openvino need it"},
    {"provider", 0, CLI_LIST, CLI_USUAL, AT(providers), "DEVICE=EP",
     .help = "what a device is there, as in gpu=CUDAExecutionProvider or gpu=GPU.1"},
    {"force", 0, CLI_FLAG, CLI_USUAL, AT(force), NULL,
     .help = "also a plan for another model, and over files that differ"},
    {0},
};

static const char details[] =
    "Writes what PLAN, a file that 'berth place -o' wrote, says about MODEL in a form for others:\n"
    "  onnx  the same model with a layer_ann on every node, which ONNX Runtime 1.25 or newer\n"
    "        places by; FILE.berth.json has the session's settings, FILE.py and FILE.c open it.\n"
    "        External data are linked or copied beside it. It stays valid for every runtime.\n"
    "  openvino  FILE.berth.json, a map; FILE.py and FILE.cpp, which open the model and put the\n"
    "        placement on it; and FILE, for an IR, with the device of each layer as user_data.\n"
    "  json  a map from operations to devices\n"
    "  dot   a drawing for Graphviz, a colour per device\n"
    "\n"
    "Devices that a runtime found have the provider of that name (cuda, webgpu, ...). Of those\n"
    "that are only described, gpu is taken for CUDA, igpu for WebGPU and npu for OpenVINO,\n"
    "with a warning, unless --provider says otherwise. A session takes the CPU and one more.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 3 bad input, 4 out of memory, disk or limits,\n"
    "5 more than one accelerator, 130 interrupted.\n";

static int run_export(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_export = {
    .name = "export",
    .run = run_export,
    .summary = "a plan as an annotated model, a map, a drawing",
    .operands = "MODEL PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .options = options,
    .details = details,
};

/* "onnx, json, dot": whatever formats there are. */
static const char *list_formats(char *list, size_t size) {
    size_t used = 0;
    for (int32_t i = 0; berth_export_format_name(i) && used < size; i++)
        used += (size_t)snprintf(list + used, size - used, "%s%s", i ? ", " : "", berth_export_format_name(i));
    return list;
}

static bool find_format(const export_values *values, int32_t *format, char *message, size_t size) {
    char list[200];
    *format = values->to ? berth_export_format_find(values->to) : -1;
    if (!values->to)
        snprintf(message, size, "to which format? --to takes %s", list_formats(list, sizeof list));
    else if (*format < 0)
        snprintf(message, size, "unknown format '%.60s'; --to takes %s", values->to, list_formats(list, sizeof list));
    else if (berth_export_format_needs_file(*format) && (!values->output || strcmp(values->output, "-") == 0))
        snprintf(message, size, "--to %s writes several files; say where with -o FILE", values->to);
    else
        return true;
    return false;
}

static int export_plan(berth_ctx *ctx, const export_values *values, const cli_pairs *providers, int32_t format) {
    static berth_provider_rule rules[CLI_MAX_PAIRS];
    for (int32_t i = 0; i < providers->n; i++)
        rules[i] = (berth_provider_rule){providers->pairs[i].name, providers->pairs[i].value};
    cli_scan at = values->common.operands.start;
    const char *model = cli_list_next(&values->common.operands, &at);
    const char *path = cli_list_next(&values->common.operands, &at);
    berth_export_options how = {rules, providers->n, values->force};
    berth_plan *plan = NULL;
    berth_export *open = NULL;
    int code = CLI_DONE;
    berth_status status = berth_plan_read(ctx, &plan, path);
    if (status == BERTH_OK) status = berth_export_open(ctx, &open, plan, model, &how);
    if (status != BERTH_OK) {
        code = cli_report_failure(ctx, status, CLI_READING);
    } else {
        status = berth_export_write(open, format, values->output ? values->output : "-");
        if (status != BERTH_OK) code = cli_report_failure(ctx, status, CLI_WRITING);
    }
    berth_export_free(open);
    berth_plan_free(plan);
    return code;
}

static int run_export(berth_ctx *ctx, int argc, char **argv) {
    export_values values = {0};
    static cli_pairs found;
    char message[512];
    int32_t format = 0;
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_export, &values, argc, argv, &code)) return code;
    if (!find_format(&values, &format, message, sizeof message) ||
        !cli_pairs_parse(&found, &values.providers, "--provider DEVICE=NAME", message, sizeof message))
        return cli_report_misuse(&cli_export, message);
    return export_plan(ctx, &values, &found, format);
}
