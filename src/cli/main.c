/* SPDX-License-Identifier: Apache-2.0 */
/* The command `berth`: one row per command. A new command is a new file and a row here. */
#include "berth/runtime.h"
#include "cli/bench.h"
#include "cli/devices.h"
#include "cli/export.h"
#include "cli/inspect.h"
#include "cli/measure.h"
#include "cli/output.h"
#include "cli/place.h"
#include "cli/report.h"
#include "cli/settings.h"
#include "cli/signals.h"
#include "cli/simulate.h"
#include "cli/train.h"
#include "cli/usage.h"

#include <stdio.h>
#include <string.h>

static int run_help(berth_ctx *ctx, int argc, char **argv);
static int run_version(berth_ctx *ctx, int argc, char **argv);

static const cli_command help_command = {
    .name = "help",
    .run = run_help,
    .summary = "explain berth, or one of its commands",
    .operands = "[COMMAND | methods | settings]",
    .max_operands = 1,
};

static const cli_command version_command = {
    .name = "version",
    .run = run_version,
    .summary = "print the version",
};

/* Not for people: not in the table that help shows. */
static int run_worker(berth_ctx *ctx) {
    berth_status status = berth_worker_run(ctx);
    return status == BERTH_OK ? CLI_DONE : cli_report_failure(ctx, status, CLI_WORKING);
}

static const cli_command *const commands[] = {
    &cli_inspect, &cli_devices, &cli_place,    &cli_simulate,    &cli_measure, &cli_export,
    &cli_train,   &cli_bench,   &help_command, &version_command, NULL,
};

static const cli_command *find_command(const char *name) {
    for (int i = 0; commands[i]; i++)
        if (strcmp(commands[i]->name, name) == 0) return commands[i];
    return NULL;
}

static int fail_unknown(const char *name) {
    char message[256];
    const char *what = name[0] == '-' ? "option" : "command";
    berth_nearest nearest = berth_nearest_begin(name);
    for (int i = 0; commands[i]; i++) berth_nearest_offer(&nearest, commands[i]->name);
    if (nearest.best)
        snprintf(message, sizeof message, "unknown %s '%.60s'; did you mean '%s'?", what, name, nearest.best);
    else
        snprintf(message, sizeof message, "unknown %s '%.60s'", what, name);
    return cli_report_misuse(NULL, message);
}

static void append_overview(berth_text *text) {
    berth_text_printf(text, "usage: berth COMMAND [OPTION...]\n\n"
                            "Berth finds, for every operation of a neural network, the device to run it on.\n\n");
    for (int i = 0; commands[i]; i++) berth_text_printf(text, "  %-9s %s\n", commands[i]->name, commands[i]->summary);
    berth_text_printf(text,
                      "\n'berth COMMAND -h' shows the usual options of a command, --help all of them; 'berth help\n"
                      "methods' lists the methods of placing, 'berth help settings' what the learned ones take.\n");
}

/* Print what `append` writes to standard output. */
static int print(berth_ctx *ctx, void (*append)(berth_text *text)) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    append(text);
    int code = cli_output_write(ctx, text, NULL);
    berth_text_free(text);
    return code;
}

static void append_methods(berth_text *text) {
    berth_text_printf(text, "Methods of 'berth place' and 'berth bench':\n\n");
    for (int32_t i = 0; berth_method_name(i); i++)
        berth_text_printf(text, "  %-11s  %s\n", berth_method_name(i), berth_method_summary(i));
}

static int run_help(berth_ctx *ctx, int argc, char **argv) {
    cli_common values = {0};
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &help_command, &values, argc, argv, &code)) return code;
    cli_scan at = values.operands.start;
    const char *name = cli_list_next(&values.operands, &at);
    if (!name) return print(ctx, append_overview);
    if (strcmp(name, "methods") == 0) return print(ctx, append_methods);
    if (strcmp(name, "settings") == 0) return print(ctx, cli_settings_list);
    const cli_command *command = find_command(name);
    return command ? cli_usage_print(ctx, command, true) : fail_unknown(name);
}

static void append_version(berth_text *text) {
    berth_text_printf(text, "berth %s\n", berth_version());
}

static int run_version(berth_ctx *ctx, int argc, char **argv) {
    cli_common values = {0};
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &version_command, &values, argc, argv, &code)) return code;
    return print(ctx, append_version);
}

static int dispatch(berth_ctx *ctx, int argc, char **argv) {
    if (argc < 2) return cli_report_misuse(NULL, "which command?");
    const char *name = argv[1];
    if (strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0) name = "help";
    if (strcmp(name, "--version") == 0) name = "version";
    if (strcmp(name, "worker") == 0) return run_worker(ctx);
    const cli_command *command = find_command(name);
    return command ? command->run(ctx, argc - 2, argv + 2) : fail_unknown(name);
}

int main(int argc, char **argv) {
    cli_signals_install();
    berth_ctx *ctx = NULL;
    berth_status status = berth_ctx_new(&ctx, NULL);
    if (status != BERTH_OK) {
        fprintf(stderr, "berth: %s\n", berth_status_name(status));
        return cli_exit_code(status, CLI_WORKING);
    }
    berth_ctx_set_cancel(ctx, cli_interrupted, NULL);
    int code = dispatch(ctx, argc, argv);
    berth_ctx_free(ctx);
    return code;
}
