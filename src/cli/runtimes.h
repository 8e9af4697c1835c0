/* SPDX-License-Identifier: Apache-2.0 */
/* `--runtime` and what goes with it, for all commands that run models. */
#ifndef BERTH_CLI_RUNTIMES_H
#define BERTH_CLI_RUNTIMES_H

#include "berth/runtime.h"
#include "cli/options.h"

typedef struct cli_runtime {
    const char *name; /* "none": no runtime is to be used; NULL: not said */
    const char *library;
    const char *store;
    bool resume, refresh;
    int32_t threads; /* 0: one per processor */
} cli_runtime;

/* What --runtime takes, of commands that can do without one and of those that cannot. */
#define CLI_RUNTIME_OR_NONE "onnxruntime, openvino or none"
#define CLI_RUNTIME_NEEDED  "onnxruntime or openvino"

/* Rows of a command's table whose values hold a cli_runtime in that member. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define CLI_RUNTIME_OPTIONS(values, member, names)                                                 \
    {"runtime", 0, CLI_STRING, CLI_USUAL, offsetof(values, member.name), "NAME", .help = names}, { \
        "library", 0, CLI_STRING, CLI_RARE, offsetof(values, member.library), "FILE",              \
            .help = "of the runtime (default: found, see docs/runtimes.md)"                        \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

bool cli_runtime_is_none(const cli_runtime *runtime);

enum { CLI_RUNTIME_DEVICES = 64, CLI_RUNTIME_NAMES = 4096 }; /* more than any runtime takes, which then says so */

/* The devices of a list such as "cpu,webgpu" or "CPU0,CPU1:bf16" or, if it is NULL, the cpu and the first other that
 * works. Names of a list are in `names`. */
berth_status cli_runtime_list(berth_ctx *ctx, berth_runtime *runtime, const char *list, char names[CLI_RUNTIME_NAMES],
                              const char **out, int32_t *n);

/* The runtime, with this very program as its worker. */
berth_status cli_runtime_open(berth_ctx *ctx, berth_runtime **out, const cli_runtime *runtime);

#endif
