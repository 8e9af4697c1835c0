/* SPDX-License-Identifier: Apache-2.0 */
/* Options of commands that run a model, beside `--runtime`: inputs, weights, precision, seed. */
#ifndef BERTH_CLI_RUNNING_H
#define BERTH_CLI_RUNNING_H

#include "cli/pairs.h"
#include "cli/runtimes.h"

typedef struct cli_running {
    cli_runtime runtime;
    const char *precision;
    cli_list inputs, io; /* io: only of CLI_RUNNING_OPTIONS; commands that plan have their own */
    int64_t rounds, seed, threads;
    bool synthesize;
} cli_running;

/* Rows of a command's table whose values hold a cli_running in that member; CLI_RUNNING_OPTIONS with --seed and
 * --threads, for those that have no others. */
/* clang-format off */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define CLI_RUNNING_CORE(values, member, names)                                                                       \
    {"rounds", 0, CLI_INT, CLI_USUAL, offsetof(values, member.rounds), "N", .low = 1, .high = 1000,                    \
     .help = "processes of each candidate"},                                                                          \
    {"input", 0, CLI_LIST, CLI_USUAL, offsetof(values, member.inputs), "NAME=FILE",                                   \
     .help = "a .npy file for an input (default: random)"},                                                           \
    {"synthesize-weights", 0, CLI_FLAG, CLI_USUAL, offsetof(values, member.synthesize), NULL,                         \
     .help = "make up weights whose files are missing"},                                                              \
    {"precision", 0, CLI_STRING, CLI_USUAL, offsetof(values, member.precision), "HOW",                                \
     .help = "same (default), or native: TF32 and the like"},                                                         \
    {"resume", 0, CLI_FLAG, CLI_USUAL, offsetof(values, member.runtime.resume), NULL,                                 \
     .help = "do not repeat runs that a killed command had finished"},                                                \
    {"refresh", 0, CLI_FLAG, CLI_RARE, offsetof(values, member.runtime.refresh), NULL,                                \
     .help = "take a profile again that the store has"},                                                              \
    {"store", 0, CLI_STRING, CLI_RARE, offsetof(values, member.runtime.store), "FILE",                                \
     .help = "that keeps what was measured (default in ~/.cache/berth), or none"},                                    \
    CLI_RUNTIME_OPTIONS(values, member.runtime, names)

#define CLI_RUNNING_OPTIONS(values, member)                                                                           \
    CLI_RUNNING_CORE(values, member, CLI_RUNTIME_NEEDED),                                                             \
    {"io", 0, CLI_LIST, CLI_RARE, offsetof(values, member.io), "NAME=DEVICE",                                         \
     .help = "where an input or output lies (default: on the host)"},                                                 \
    {"seed", 0, CLI_INT, CLI_RARE, offsetof(values, member.seed), "N", .low = 0, .high = 9e18,                        \
     .help = "of random inputs, weights and orders (default 0)"},                                                     \
    {"threads", 0, CLI_INT, CLI_RARE, offsetof(values, member.threads), "N", .low = 0, .high = 4096,                  \
     .help = "of the CPU (default 0: one per processor)"}
/* NOLINTEND(bugprone-macro-parentheses) */
/* clang-format on */

/* What the options say, into options with defaults in them. `inputs` keeps the names that they point to. False:
 * `message` says what is wrong. */
bool cli_running_parse(cli_running *running, cli_pairs *inputs, berth_run_options *out, bool quiet, char *message,
                       size_t size);

/* Where nothing is run: false if an option that would change the answer was given nevertheless, and `message` names it.
 */
bool cli_running_absent(const cli_running *running, char *message, size_t size);

#endif
