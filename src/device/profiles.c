/* SPDX-License-Identifier: Apache-2.0 */
/* The table of built-in profiles. Peak rates, bandwidths and capacities are those of data sheets; efficiencies, launch
 * overheads and the fixed cost of links are round assumptions; `paper` is fitted by tests/oracle/fit_paper.py.
 * docs/devices.md has the source of every figure. Rates that are not listed fall back as docs/devices.md says. */
#include "device/profiles.h"

#include <string.h>

#define GIB           (1024.0 * 1024 * 1024)
#define LENGTH(array) ((int32_t)(sizeof(array) / sizeof *(array)))

/* Milliseconds for one byte at so many bytes a second. */
#define MS_PER_BYTE(rate) (1e3 / (rate))

/* What has to know the size of its output before it runs, or runs other graphs: neural engines take neither. */
static const char *const dynamic_types[] = {
    "If", "Loop", "NonMaxSuppression", "NonZero", "Scan", "TensorIterator", "Unique",
};

static const berth_profile profiles[] = {
    {
        .name = "cpu",
        .summary = "desktop processor: 16 cores with AVX-512, two channels of DDR5-5600 (AMD Ryzen 9 9950X)",
        .n_devices = 1,
        .devices = {{
            .name = "cpu",
            .kind = "cpu",
            .flops = {[BERTH_TYPE_F32] = 4.4e12,
                      [BERTH_TYPE_F64] = 2.2e12,
                      [BERTH_TYPE_BF16] = 8.8e12,
                      [BERTH_TYPE_I8] = 17.6e12},
            .bandwidth = 89.6e9,
            .launch_ms = 0.002,
            .memory_bytes = 64 * GIB,
            .efficiency = {[BERTH_WORK_FREE] = 1,
                           [BERTH_WORK_CONV] = 0.5,
                           [BERTH_WORK_DEPTHWISE] = 0.25,
                           [BERTH_WORK_MATMUL] = 0.6,
                           [BERTH_WORK_POOL] = 0.4,
                           [BERTH_WORK_REDUCE] = 0.5,
                           [BERTH_WORK_ELEMENTWISE] = 0.7,
                           [BERTH_WORK_MOVE] = 0.5,
                           [BERTH_WORK_CONTROL] = 0.5,
                           [BERTH_WORK_OTHER] = 0.4},
        }},
        .link = {.fixed_ms = 0.002, .ms_per_byte = MS_PER_BYTE(40e9), .queued = true},
    },
    {
        .name = "gpu",
        .summary = "graphics card: 56 TFLOP/s, 960 GB/s, 16 GB, PCIe 5.0 x16 (NVIDIA GeForce RTX 5080)",
        .n_devices = 1,
        .devices = {{
            .name = "gpu",
            .kind = "gpu",
            .flops = {[BERTH_TYPE_F32] = 56.3e12,
                      [BERTH_TYPE_F64] = 0.88e12,
                      [BERTH_TYPE_F16] = 112.6e12,
                      [BERTH_TYPE_BF16] = 112.6e12,
                      [BERTH_TYPE_F8] = 225.1e12,
                      [BERTH_TYPE_I8] = 450.2e12,
                      [BERTH_TYPE_F4] = 900.4e12},
            .bandwidth = 960e9,
            .launch_ms = 0.005,
            .memory_bytes = 16e9,
            .efficiency = {[BERTH_WORK_FREE] = 1,
                           [BERTH_WORK_CONV] = 0.45,
                           [BERTH_WORK_DEPTHWISE] = 0.2,
                           [BERTH_WORK_MATMUL] = 0.6,
                           [BERTH_WORK_POOL] = 0.5,
                           [BERTH_WORK_REDUCE] = 0.5,
                           [BERTH_WORK_ELEMENTWISE] = 0.8,
                           [BERTH_WORK_MOVE] = 0.6,
                           [BERTH_WORK_CONTROL] = 0.1,
                           [BERTH_WORK_OTHER] = 0.3},
        }},
        .link = {.fixed_ms = 0.010, .ms_per_byte = MS_PER_BYTE(50e9), .queued = true},
    },
    {
        .name = "igpu",
        .summary = "graphics inside a mobile processor: 67 TOPS, shared LPDDR5X (Intel Arc 140V)",
        .n_devices = 1,
        .devices = {{
            .name = "igpu",
            .kind = "igpu",
            .flops = {[BERTH_TYPE_F32] = 4.2e12, [BERTH_TYPE_F16] = 33.5e12, [BERTH_TYPE_I8] = 67e12},
            .bandwidth = 136.5e9,
            .launch_ms = 0.008,
            .memory_bytes = 16 * GIB,
            .efficiency = {[BERTH_WORK_FREE] = 1,
                           [BERTH_WORK_CONV] = 0.5,
                           [BERTH_WORK_DEPTHWISE] = 0.25,
                           [BERTH_WORK_MATMUL] = 0.6,
                           [BERTH_WORK_POOL] = 0.5,
                           [BERTH_WORK_REDUCE] = 0.5,
                           [BERTH_WORK_ELEMENTWISE] = 0.7,
                           [BERTH_WORK_MOVE] = 0.6,
                           [BERTH_WORK_CONTROL] = 0.1,
                           [BERTH_WORK_OTHER] = 0.3},
        }},
        .link = {.fixed_ms = 0.005, .ms_per_byte = MS_PER_BYTE(60e9), .queued = true},
    },
    {
        .name = "npu",
        .summary = "neural engine inside a mobile processor: 48 TOPS, f32 computed as f16 (Intel NPU 4)",
        .n_devices = 1,
        .devices = {{
            .name = "npu",
            .kind = "npu",
            .flops = {[BERTH_TYPE_F32] = 24e12, [BERTH_TYPE_F16] = 24e12, [BERTH_TYPE_I8] = 48e12},
            .bandwidth = 136.5e9,
            .launch_ms = 0.003,
            .memory_bytes = 16 * GIB,
            .efficiency = {[BERTH_WORK_FREE] = 1,
                           [BERTH_WORK_CONV] = 0.4,
                           [BERTH_WORK_DEPTHWISE] = 0.1,
                           [BERTH_WORK_MATMUL] = 0.4,
                           [BERTH_WORK_POOL] = 0.3,
                           [BERTH_WORK_REDUCE] = 0.2,
                           [BERTH_WORK_ELEMENTWISE] = 0.3,
                           [BERTH_WORK_MOVE] = 0.3,
                           [BERTH_WORK_CONTROL] = 0.1,
                           [BERTH_WORK_OTHER] = 0.1},
            .n_unsupported = LENGTH(dynamic_types),
            .unsupported = dynamic_types,
        }},
        .link = {.fixed_ms = 0.050, .ms_per_byte = MS_PER_BYTE(30e9), .queued = true},
    },
    {
        .name = "paper",
        .summary = "the testbed of the HSDAG paper: Intel Core i9-12900K and Data Center GPU Flex 170",
        .n_devices = 2,
        .devices = {{
                        .name = "cpu",
                        .kind = "cpu",
                        .flops = {[BERTH_TYPE_F32] = 1.73e12},
                        .bandwidth = 76.8e9,
                        .launch_ms = 0.001,
                        .memory_bytes = 64 * GIB,
                        .efficiency = {[BERTH_WORK_FREE] = 1,
                                       [BERTH_WORK_CONV] = 0.9,
                                       [BERTH_WORK_DEPTHWISE] = 0.3,
                                       [BERTH_WORK_MATMUL] = 0.7,
                                       [BERTH_WORK_POOL] = 0.8,
                                       [BERTH_WORK_REDUCE] = 0.8,
                                       [BERTH_WORK_ELEMENTWISE] = 0.338,
                                       [BERTH_WORK_MOVE] = 0.8,
                                       [BERTH_WORK_CONTROL] = 0.5,
                                       [BERTH_WORK_OTHER] = 0.5},
                    },
                    {
                        .name = "gpu",
                        .kind = "gpu",
                        .flops = {[BERTH_TYPE_F32] = 16.8e12},
                        .bandwidth = 576e9,
                        .launch_ms = 0.005,
                        .memory_bytes = 16 * GIB,
                        .efficiency = {[BERTH_WORK_FREE] = 1,
                                       [BERTH_WORK_CONV] = 0.0844,
                                       [BERTH_WORK_DEPTHWISE] = 0.05,
                                       [BERTH_WORK_MATMUL] = 0.5,
                                       [BERTH_WORK_POOL] = 0.0639,
                                       [BERTH_WORK_REDUCE] = 0.8,
                                       [BERTH_WORK_ELEMENTWISE] = 0.8,
                                       [BERTH_WORK_MOVE] = 0.0639,
                                       [BERTH_WORK_CONTROL] = 0.1,
                                       [BERTH_WORK_OTHER] = 0.3},
                    }},
        .link = {.fixed_ms = 0.020, .ms_per_byte = MS_PER_BYTE(25e9), .queued = true},
        .piece_ms = 0.050,
    },
};

const char *berth_profile_name(int32_t index) {
    return index >= 0 && index < LENGTH(profiles) ? profiles[index].name : NULL;
}

const char *berth_profile_summary(int32_t index) {
    return index >= 0 && index < LENGTH(profiles) ? profiles[index].summary : NULL;
}

const berth_profile *berth_profile_find(const char *name, size_t size) {
    for (int32_t i = 0; i < LENGTH(profiles); i++)
        if (strlen(profiles[i].name) == size && memcmp(profiles[i].name, name, size) == 0) return &profiles[i];
    return NULL;
}
