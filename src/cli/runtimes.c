/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a runtime as the user says. */
#include "cli/runtimes.h"

#include <string.h>

bool cli_runtime_is_none(const cli_runtime *runtime) {
    return runtime->name && strcmp(runtime->name, "none") == 0;
}

berth_status cli_runtime_open(berth_ctx *ctx, berth_runtime **out, const cli_runtime *runtime) {
    berth_runtime_options how = berth_runtime_options_default();
    if (runtime->name) how.name = runtime->name;
    how.library = runtime->library;
    how.threads = runtime->threads;
    how.worker = "/proc/self/exe";
    return berth_runtime_new(ctx, out, &how);
}
