/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that turns a status into an exit code and that writes to standard error. */
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>

int cli_exit_code(berth_status status, cli_phase phase) {
    switch (status) {
    case BERTH_OK: return CLI_DONE;
    case BERTH_E_IO: return phase == CLI_READING ? CLI_BAD_INPUT : CLI_FAILED;
    case BERTH_E_FORMAT:
    case BERTH_E_UNSUPPORTED: return CLI_BAD_INPUT;
    case BERTH_E_ARG: return CLI_USAGE;
    case BERTH_E_NOMEM:
    case BERTH_E_LIMIT: return CLI_RESOURCES;
    case BERTH_E_INFEASIBLE:
    case BERTH_E_NUMERIC: return CLI_INFEASIBLE;
    case BERTH_E_CANCELLED: return CLI_INTERRUPTED;
    }
    return CLI_FAILED;
}

int cli_report_failure(const berth_ctx *ctx, berth_status status, cli_phase phase) {
    int error = status == BERTH_E_IO && phase == CLI_WRITING ? errno : 0;
    /* Whoever reads our output has seen enough of it, as in `berth inspect model --table | head`: nothing to say. */
    if (error == EPIPE) return CLI_FAILED;
    const char *message = berth_ctx_message(ctx);
    fprintf(stderr, "berth: %s\n", *message ? message : berth_status_name(status));
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? CLI_RESOURCES : cli_exit_code(status, phase);
}

int cli_report_misuse(const cli_command *command, const char *message) {
    fputs("berth: ", stderr);
    if (command) fprintf(stderr, "%s: ", command->name);
    /* What the user typed may hold anything; the message stays one line. */
    for (; *message; message++) fputc((unsigned char)*message < 0x20 || *message == 0x7f ? '?' : *message, stderr);
    fprintf(stderr, "\nTry 'berth %s%s'.\n", command ? command->name : "help", command ? " --help" : "");
    return CLI_USAGE;
}

static void print_warning(void *user, berth_log_level level, const char *message) {
    (void)user;
    if (level == BERTH_LOG_WARNING) fprintf(stderr, "berth: warning: %s\n", message);
}

static void print_all(void *user, berth_log_level level, const char *message) {
    (void)user;
    fprintf(stderr, "berth: %s%s\n", level == BERTH_LOG_WARNING ? "warning: " : "", message);
}

void cli_report_log(berth_ctx *ctx, const cli_common *common) {
    berth_log_fn log = common->verbose ? print_all : common->quiet ? NULL : print_warning;
    berth_ctx_set_log(ctx, log, NULL);
}
