/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a runtime as the user says. */
#include "cli/runtimes.h"

#include <stdio.h>
#include <string.h>

bool cli_runtime_is_none(const cli_runtime *runtime) {
    return runtime->name && strcmp(runtime->name, "none") == 0;
}

berth_status cli_runtime_open(berth_ctx *ctx, berth_runtime **out, const cli_runtime *runtime) {
    berth_runtime_options how = berth_runtime_options_default();
    if (runtime->name) how.name = runtime->name;
    how.library = runtime->library;
    how.threads = runtime->threads;
    how.store = runtime->store ? runtime->store : "";
    how.resume = runtime->resume;
    how.refresh = runtime->refresh;
    how.worker = "/proc/self/exe";
    return berth_runtime_new(ctx, out, &how);
}

berth_status cli_runtime_list(berth_ctx *ctx, berth_runtime *runtime, const char *list, char names[CLI_RUNTIME_NAMES],
                              const char **out, int32_t *n) {
    const berth_found_device *found = NULL;
    int32_t n_found = 0;
    *n = 0;
    if (list) {
        snprintf(names, CLI_RUNTIME_NAMES, "%s", list);
        for (char *at = names; at && *n < CLI_RUNTIME_DEVICES;) {
            char *comma = strchr(at, ',');
            if (comma) *comma++ = 0;
            out[(*n)++] = at;
            at = comma;
        }
        return BERTH_OK;
    }
    berth_status status = berth_runtime_devices(ctx, runtime, &found, &n_found);
    for (int32_t i = 0; i < n_found && status == BERTH_OK && *n < 2; i++)
        if (found[i].works && !found[i].is_alias) out[(*n)++] = found[i].name;
    return status;
}
