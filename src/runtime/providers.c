/* SPDX-License-Identifier: Apache-2.0 */
/* By device name as runtimes find them; below them what is only described. */
#include "runtime/providers.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define BY_NAME(word_) .append = BERTH_APPEND_BY_NAME, .word = (word_)
#define BY_CALL(word_) .append = BERTH_APPEND_BY_CALL, .word = (word_)
#define CUDA .name = "CUDAExecutionProvider", BY_CALL("CUDA"), .id = "device_id", .wide = "use_tf32", .wide_value = "0"
#define MIGRAPHX .name = "MIGraphXExecutionProvider", BY_NAME("MIGraphX"), .id = "device_id", .compiles = true
#define OPENVINO .name = "OpenVINOExecutionProvider", BY_NAME("OpenVINO"), .compiles = true
#define WEBGPU .name = "WebGpuExecutionProvider", BY_NAME("WebGPU")

static const berth_ort_provider rows[] = {
    {"cpu", .name = "CPUExecutionProvider"},
    {"webgpu", WEBGPU, .id = "deviceId", .memory = {"WebGPU_Buf", "WebGPU_Buffer"}},
    {"cuda", CUDA, .waits = "CUDA_LAUNCH_BLOCKING", .memory = {"Cuda"}},
    {"tensorrt", .name = "TensorrtExecutionProvider", BY_CALL("TensorRT"), .id = "device_id", .compiles = true},
    {"dml", .name = "DmlExecutionProvider", BY_NAME("DML"), .id = "device_id"},
    {"coreml", .name = "CoreMLExecutionProvider", BY_NAME("CoreML"), .compiles = true},
    {"openvino", OPENVINO},
    {"qnn", .name = "QNNExecutionProvider", BY_NAME("QNN"), .compiles = true},
    {"migraphx", MIGRAPHX},
    {"nvtensorrtrtx", .name = "NvTensorRTRTXExecutionProvider", BY_NAME("NvTensorRtRtx"), .id = "device_id", .compiles = true},
    {"vitisai", .name = "VitisAIExecutionProvider", BY_NAME("VitisAI"), .compiles = true},
    {"xnnpack", .name = "XnnpackExecutionProvider", BY_NAME("XNNPACK")},
    {"webnn", .name = "WebNNExecutionProvider", BY_NAME("WEBNN"), .compiles = true},
    {"rocm", .described = true, MIGRAPHX},
    {"gpu", .described = true, CUDA},
    {"igpu", .described = true, WEBGPU},
    {"npu", .described = true, OPENVINO, .option = "device_type", .value = "NPU"},
};
/* clang-format on */

const berth_ort_provider *berth_ort_provider_at(int32_t index) {
    return index >= 0 && index < (int32_t)(sizeof rows / sizeof *rows) ? &rows[index] : NULL;
}

const berth_ort_provider *berth_ort_provider_of(const char *device) {
    for (int32_t i = 0; berth_ort_provider_at(i); i++)
        if (!rows[i].described && strcmp(rows[i].device, device) == 0) return &rows[i];
    return NULL;
}
