/* SPDX-License-Identifier: Apache-2.0 */
/* `berth devices`: what a model can be placed on: devices that a runtime really can use here, and built-in profiles,
 * which are descriptions: nothing runs on them. */
#include "cli/devices.h"

#include "berth/device.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/runtimes.h"
#include "cli/usage.h"

#include <math.h>
#include <string.h>

typedef struct devices_values {
    cli_common common;
    bool json;
    const char *show;
    cli_runtime runtime;
} devices_values;

static const cli_option options[] = {
    {"json", 0, CLI_FLAG, CLI_USUAL, offsetof(devices_values, json), NULL, .help = "print one JSON document"},
    {"show", 0, CLI_STRING, CLI_USUAL, offsetof(devices_values, show), "LIST",
     .help = "print these devices as a devices.json to start from"},
    CLI_RUNTIME_OPTIONS(devices_values, runtime, CLI_RUNTIME_OR_NONE),
    {0},
};

static const char details[] =
    "Lists what the runtimes that are found can use on this machine: every device is tried on a\n"
    "small model, in a process of its own. Then come the built-in profiles, which 'berth place\n"
    "--devices' takes by name, any number of them separated by commas. They describe devices;\n"
    "nothing runs on them. docs/devices.md has the source of every figure.\n"
    "\n"
    "Exit status: 0 done, 1 failed, 2 usage, 4 out of memory, 130 interrupted.\n";

static int run_devices(berth_ctx *ctx, int argc, char **argv);

const cli_command cli_devices = {
    .name = "devices",
    .run = run_devices,
    .summary = "devices that a model can be placed on",
    .options = options,
    .details = details,
};

berth_status cli_devices_for(berth_ctx *ctx, berth_device_set **out, const char *list, const char *profile,
                             const berth_graph *graph) {
    if (!list && berth_graph_given_costs(graph)) return berth_device_set_given(ctx, out, graph);
    /* A profile that was taken elsewhere may have times only. */
    if (!list && profile && berth_device_set_read(ctx, out, profile) == BERTH_OK) return BERTH_OK;
    return berth_device_set_read(ctx, out, list ? list : "cpu,gpu");
}

static const char reason[] = "described, not measured";

static void put_row(berth_text *text, const berth_device_set *set, int32_t index, bool json) {
    char bytes[CLI_SCALED_SIZE];
    double memory = 0;
    for (int32_t d = 0; d < set->n_devices; d++) memory += set->devices[d].memory_bytes;
    if (!json) {
        berth_text_printf(text, "%-10s  %7s  %s\n", berth_profile_name(index),
                          isinf(memory) ? "no limit" : cli_scaled(memory, "B", bytes), berth_profile_summary(index));
        return;
    }
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "name", berth_profile_name(index));
    berth_json_null(text, "runtime");
    berth_json_string(text, "description", berth_profile_summary(index));
    berth_json_double(text, "memory_bytes", memory);
    berth_json_bool(text, "works", false);
    berth_json_string(text, "reason", reason);
    berth_json_inline(text);
    berth_json_array_begin(text, "members");
    for (int32_t d = 0; d < set->n_devices; d++) berth_json_string(text, NULL, set->devices[d].name);
    berth_json_array_end(text);
    berth_json_object_end(text);
}

/* Without the place in their source that some runtimes begin with. */
static const char *shorten(const char *why) {
    const char *failed = strstr(why, "Failed to");
    return failed ? failed : why;
}

static void put_found(berth_text *text, const berth_runtime *runtime, const berth_found_device *device, bool json) {
    if (!json) {
        if (device->works)
            berth_text_printf(text, "%-10s  %7s  %s\n", device->name, "works", device->provider);
        else
            berth_text_printf(text, "%-10s  %7s  %s\n", device->name, "no", shorten(device->reason));
        return;
    }
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "name", device->name);
    berth_json_string(text, "runtime", berth_runtime_name(runtime));
    berth_json_string(text, "description", device->provider);
    berth_json_null(text, "memory_bytes");
    berth_json_bool(text, "works", device->works);
    berth_json_string(text, "reason", device->reason);
    berth_json_inline(text);
    berth_json_array_begin(text, "members");
    berth_json_string(text, NULL, device->name);
    berth_json_array_end(text);
    berth_json_object_end(text);
}

/* No runtime is no failure: that is what there is to say. */
static berth_status put_runtime(berth_ctx *ctx, berth_text *text, const devices_values *values) {
    const berth_found_device *devices = NULL;
    berth_runtime *runtime = NULL;
    int32_t n = 0;
    if (cli_runtime_is_none(&values->runtime)) return BERTH_OK;
    berth_status status = cli_runtime_open(ctx, &runtime, &values->runtime);
    if (status == BERTH_OK) status = berth_runtime_devices(ctx, runtime, &devices, &n);
    if (status == BERTH_OK && !values->json)
        berth_text_printf(text, "%-10s  %7s  %s %s\n", "name", "", berth_runtime_name(runtime),
                          berth_runtime_version(runtime));
    for (int32_t i = 0; i < n && status == BERTH_OK; i++) put_found(text, runtime, &devices[i], values->json);
    if (status == BERTH_OK && !values->json) berth_text_printf(text, "\n");
    berth_runtime_free(runtime);
    if (values->runtime.name || (status != BERTH_E_IO && status != BERTH_E_UNSUPPORTED)) return status;
    if (!values->json) berth_text_printf(text, "%s\n\n", berth_ctx_message(ctx));
    return BERTH_OK;
}

static berth_status put_all(berth_ctx *ctx, berth_text *text, const devices_values *values) {
    bool json = values->json;
    if (json) {
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "schema", 1);
        berth_json_array_begin(text, "devices");
    }
    berth_status found = put_runtime(ctx, text, values);
    if (found != BERTH_OK) return found;
    if (!json) berth_text_printf(text, "%-10s  %7s  built-in profile (%s)\n", "name", "memory", reason);
    for (int32_t i = 0; berth_profile_name(i); i++) {
        berth_device_set *set = NULL;
        berth_status status = berth_device_set_read(ctx, &set, berth_profile_name(i));
        if (status != BERTH_OK) return status;
        put_row(text, set, i, json);
        berth_device_set_free(set);
    }
    if (json) {
        berth_json_array_end(text);
        berth_json_object_end(text);
    }
    return BERTH_OK;
}

static berth_status put_set(berth_ctx *ctx, berth_text *text, const char *names) {
    berth_device_set *set = NULL;
    berth_status status = berth_device_set_read(ctx, &set, names);
    if (status != BERTH_OK) return status;
    berth_device_set_write(text, NULL, set);
    berth_device_set_free(set);
    return BERTH_OK;
}

static int run_devices(berth_ctx *ctx, int argc, char **argv) {
    devices_values values = {.runtime = {.store = "none"}};
    berth_text *text = NULL;
    int code = CLI_DONE;
    if (!cli_command_begin(ctx, &cli_devices, &values, argc, argv, &code)) return code;
    berth_status status = berth_text_new(ctx, &text);
    if (status == BERTH_OK) status = values.show ? put_set(ctx, text, values.show) : put_all(ctx, text, &values);
    code = status == BERTH_OK ? cli_output_write(ctx, text, NULL) : cli_report_failure(ctx, status, CLI_READING);
    berth_text_free(text);
    return code;
}
