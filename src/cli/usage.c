/* SPDX-License-Identifier: Apache-2.0 */
/* Help is the option table, printed: nothing about an option is said anywhere else. -h shows the usual rows and fits a
 * screen, --help shows all rows and the command's details. */
#include "cli/usage.h"

#include "cli/output.h"
#include "cli/report.h"

#include <stdio.h>
#include <string.h>

/* "-o, --output FILE", as wide as `width` at least. */
static void append_spelling(berth_text *text, const cli_option *option, int width) {
    char spelling[80];
    const char *metavar = option->metavar ? option->metavar : "";
    const char *blank = option->metavar ? " " : "";
    if (!option->name)
        snprintf(spelling, sizeof spelling, "-%c%s%s", option->letter, blank, metavar);
    else if (option->letter)
        snprintf(spelling, sizeof spelling, "-%c, --%s%s%s", option->letter, option->name, blank, metavar);
    else
        snprintf(spelling, sizeof spelling, "    --%s%s%s", option->name, blank, metavar);
    berth_text_printf(text, "%-*s", width, spelling);
}

static void append_rows(berth_text *text, const cli_option *options, bool all) {
    for (; options && (options->name || options->letter); options++) {
        if (options->use == CLI_RARE && !all) continue;
        berth_text_printf(text, "  ");
        append_spelling(text, options, 22);
        berth_text_printf(text, "  %s%s\n", options->help, options->kind == CLI_LIST ? " (repeatable)" : "");
    }
}

void cli_usage_append(berth_text *text, const cli_command *command, bool all) {
    berth_text_printf(text, "usage: berth %s [OPTION...]%s%s\n\n%s\n\n", command->name, command->operands ? " " : "",
                      command->operands ? command->operands : "", command->summary);
    append_rows(text, command->options, all);
    append_rows(text, cli_common_options, all);
    if (all && command->details) berth_text_printf(text, "\n%s", command->details);
}

int cli_usage_print(berth_ctx *ctx, const cli_command *command, bool all) {
    berth_text *text = NULL;
    berth_status status = berth_text_new(ctx, &text);
    if (status != BERTH_OK) return cli_report_failure(ctx, status, CLI_WORKING);
    cli_usage_append(text, command, all);
    int code = cli_output_write(ctx, text, NULL);
    berth_text_free(text);
    return code;
}

bool cli_command_begin(berth_ctx *ctx, const cli_command *command, void *values, int argc, char **argv, int *code) {
    char message[512];
    const cli_common *common = values;
    if (!cli_options_parse(command, values, argc, argv, message, sizeof message))
        *code = cli_report_misuse(command, message);
    else if (common->help || common->long_help)
        *code = cli_usage_print(ctx, command, common->long_help);
    else {
        cli_report_log(ctx, common);
        return true;
    }
    return false;
}
