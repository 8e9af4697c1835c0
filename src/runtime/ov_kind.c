/* SPDX-License-Identifier: Apache-2.0 */
/* OpenVINO as one of the runtimes: devices as it names them, and further names of the CPU's plugin (ov_device.h). A
 * placement is run by HETERO: pieces strictly one after another, tensors between them by way of the host. */
#include "runtime/ov_kind.h"

#include "runtime/ov_device.h"

#include <string.h>

enum { MOST_DEVICES = 8 };

static const char *const fetched[] = {"openvino/openvino/libs/libopenvino_c.so*", NULL};
static const char *const installed[] = {"/usr/local/lib/libopenvino_c.so*",
                                        "/usr/lib/x86_64-linux-gnu/libopenvino_c.so*",
                                        "/usr/lib/aarch64-linux-gnu/libopenvino_c.so*",
                                        "/usr/lib/libopenvino_c.so*",
                                        "/opt/intel/openvino*/runtime/lib/intel64/libopenvino_c.so*",
                                        NULL};

/* Known to be asked for, be it that the library does not list them here; then all that it lists; then two further names
 * of the CPU, for machines that have nothing else. */
static const char *const usual[] = {"CPU", "GPU", "NPU"};
static const char *const aliases[] = {"CPU0", "CPU1:bf16"};
enum { N_USUAL = sizeof usual / sizeof *usual, N_ALIASES = sizeof aliases / sizeof *aliases };

/* What the library lists; nothing if it does not get so far. */
static berth_status ask(berth_ctx *ctx, berth_runtime *runtime, const char *const **out) {
    static const char *const cpu[] = {"CPU", NULL}, *const none[] = {NULL};
    berth_job job = {.kind = BERTH_JOB_PROBE,
                     .runtime = runtime->kind->name,
                     .library = runtime->library,
                     .devices = cpu,
                     .threads = runtime->threads};
    berth_answer answer;
    berth_status status = berth_job_run(ctx, &runtime->arena, &runtime->worker, &job, &answer, NULL);
    *out = status == BERTH_OK && answer.available ? answer.available : none;
    return status == BERTH_E_NOMEM || status == BERTH_E_CANCELLED ? status : BERTH_OK;
}

static bool is_listed(const berth_runtime *runtime, const char *name) {
    for (int32_t i = 0; i < runtime->n_devices; i++)
        if (strcmp(runtime->devices[i].name, name) == 0) return true;
    return false;
}

static berth_status list_devices(berth_ctx *ctx, berth_runtime *runtime) {
    const char *const *available = NULL;
    size_t n = 0;
    BERTH_TRY(ask(ctx, runtime, &available));
    while (available[n]) n++;
    runtime->n_devices = 0;
    runtime->devices = berth_arena_push(&runtime->arena, n + N_USUAL + N_ALIASES, sizeof *runtime->devices);
    if (!runtime->devices) return berth_fail_nomem(ctx);
    for (size_t i = 0; i < N_USUAL; i++)
        runtime->devices[runtime->n_devices++] = (berth_found_device){.name = usual[i], .provider = ""};
    for (size_t i = 0; i < n; i++)
        if (!is_listed(runtime, available[i]))
            runtime->devices[runtime->n_devices++] = (berth_found_device){.name = available[i], .provider = ""};
    for (size_t i = 0; i < N_ALIASES; i++)
        runtime->devices[runtime->n_devices++] =
            (berth_found_device){.name = aliases[i], .provider = "the CPU under a further name", .is_alias = true};
    return BERTH_OK;
}

static berth_status check_devices(berth_ctx *ctx, const char *const *devices, int32_t n) {
    BERTH_TRY(berth_ov_device_check(ctx, devices, n));
    if (n < 1 || !berth_ov_device_is_cpu(devices[0]))
        return berth_fail(ctx, BERTH_E_ARG, "the first device is the CPU, or one of its further names");
    if (n <= MOST_DEVICES) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_INFEASIBLE, "a profile is of %d devices at most, and here are %d", MOST_DEVICES,
                      (int)n);
}

const berth_runtime_kind berth_ov_kind = {.name = "openvino",
                                          .title = "OpenVINO",
                                          .variable = "BERTH_OPENVINO",
                                          .fetched = fetched,
                                          .installed = installed,
                                          .model = BERTH_MODEL_SERIAL,
                                          .places_first = true,
                                          .stock_differs = true, /* it keeps weights in the narrower type of the file */
                                          .list_devices = list_devices,
                                          .check_devices = check_devices,
                                          .is_host = berth_ov_device_is_cpu,
                                          .precision = berth_ov_device_precision,
                                          .native = BERTH_TYPE_BF16,
                                          .gather = berth_ov_gather,
                                          .place = berth_ov_place,
                                          .single = berth_ov_single,
                                          .op_times = berth_ov_op_times,
                                          .places = berth_ov_places};
