/* SPDX-License-Identifier: Apache-2.0 */
/* From options to berth_run_options. */
#include "cli/running.h"

#include "cli/progress.h"

#include <stdio.h>
#include <string.h>

bool cli_running_parse(cli_running *running, cli_pairs *inputs, berth_run_options *out, bool quiet, char *message,
                       size_t size) {
    static berth_input_file files[CLI_MAX_PAIRS];
    static berth_rule rules[CLI_MAX_PAIRS];
    static cli_pairs io;
    if (cli_runtime_is_none(&running->runtime)) {
        snprintf(message, size, "--runtime none: nothing can be run without a runtime, " CLI_RUNTIME_NEEDED);
        return false;
    }
    if (!cli_pairs_parse(inputs, &running->inputs, "--input NAME=FILE", message, size)) return false;
    if (!cli_pairs_parse(&io, &running->io, "--io NAME=DEVICE", message, size)) return false;
    if (running->precision && strcmp(running->precision, "same") != 0 && strcmp(running->precision, "native") != 0) {
        snprintf(message, size, "--precision is same or native, not '%.60s'", running->precision);
        return false;
    }
    for (int32_t i = 0; i < inputs->n; i++)
        files[i] = (berth_input_file){inputs->pairs[i].name, inputs->pairs[i].value};
    for (int32_t i = 0; i < io.n; i++) rules[i] = (berth_rule){io.pairs[i].name, io.pairs[i].value};
    out->io = rules;
    out->n_io = io.n;
    out->inputs = files;
    out->n_inputs = inputs->n;
    out->native_precision = running->precision && strcmp(running->precision, "native") == 0;
    if (running->rounds > 0) out->rounds = (int32_t)running->rounds;
    out->synthesize = running->synthesize;
    out->seed = (uint64_t)running->seed;
    out->progress = cli_progress(quiet) ? cli_progress_runs : NULL;
    running->runtime.threads = (int32_t)running->threads;
    return true;
}

bool cli_running_absent(const cli_running *running, char *message, size_t size) {
    const struct {
        const char *name;
        bool given;
    } options[] = {
        {"rounds", running->rounds > 0},
        {"input", running->inputs.n > 0},
        {"synthesize-weights", running->synthesize},
        {"precision", running->precision != NULL},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given) continue;
        snprintf(message, size, "--%s is for real runs: it needs --runtime", options[i].name);
        return false;
    }
    return true;
}
