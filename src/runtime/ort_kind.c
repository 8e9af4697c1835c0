/* SPDX-License-Identifier: Apache-2.0 */
/* ONNX Runtime as one of the runtimes: devices are its execution providers, the CPU's always among them. */
#include "runtime/ort_kind.h"

#include "runtime/providers.h"

#include <string.h>

enum { MOST_DEVICES = 2 };

static const char *const fetched[] = {"onnxruntime/libonnxruntime.so.1", "onnxruntime/libonnxruntime.so", NULL};
static const char *const installed[] = {"/usr/local/lib/libonnxruntime.so",
                                        "/usr/local/lib/libonnxruntime.so.1",
                                        "/usr/lib/x86_64-linux-gnu/libonnxruntime.so.1",
                                        "/usr/lib/aarch64-linux-gnu/libonnxruntime.so.1",
                                        "/usr/lib/libonnxruntime.so",
                                        NULL};

static berth_status list_devices(berth_ctx *ctx, berth_runtime *runtime) {
    int32_t n = 0;
    while (berth_ort_provider_at(n) && !berth_ort_provider_at(n)->described) n++;
    berth_found_device *devices = berth_arena_push(&runtime->arena, (size_t)n, sizeof *devices);
    if (!devices) return berth_fail_nomem(ctx);
    for (int32_t i = 0; i < n; i++) {
        devices[i].name = berth_ort_provider_at(i)->device;
        devices[i].provider = berth_ort_provider_at(i)->name;
    }
    runtime->devices = devices;
    runtime->n_devices = n;
    return BERTH_OK;
}

static bool is_host(const char *device) {
    return strcmp(device, "cpu") == 0;
}

/* Providers have no say in it; what the job says of TF32 is for all. */
static berth_type precision(const char *device) {
    (void)device;
    return BERTH_TYPE_UNKNOWN;
}

static berth_status check_devices(berth_ctx *ctx, const char *const *devices, int32_t n) {
    if (n < 1 || !is_host(devices[0])) return berth_fail(ctx, BERTH_E_ARG, "the first device of a session is the cpu");
    if (n <= MOST_DEVICES) return BERTH_OK;
    return berth_fail(ctx, BERTH_E_INFEASIBLE,
                      "one session of ONNX Runtime runs on the CPU and one other device, not on both '%.60s' and "
                      "'%.60s'",
                      devices[1], devices[2]);
}

const berth_runtime_kind berth_ort_kind = {.name = "onnxruntime",
                                           .title = "ONNX Runtime",
                                           .variable = "BERTH_ONNXRUNTIME",
                                           .fetched = fetched,
                                           .installed = installed,
                                           .model = BERTH_MODEL_QUEUED,
                                           .binds_io = true,
                                           .times_copies = true,
                                           .keeps_on_host = true,
                                           .list_devices = list_devices,
                                           .check_devices = check_devices,
                                           .is_host = is_host,
                                           .precision = precision,
                                           .native = BERTH_TYPE_F16, /* TF32 has as many digits */
                                           .gather = berth_ort_gather,
                                           .place = berth_ort_place,
                                           .single = berth_ort_single,
                                           .op_times = berth_ort_op_times,
                                           .places = berth_ort_places};
