/* SPDX-License-Identifier: Apache-2.0 */
/* By device name as runtimes find them; below them what is only described. */
#include "runtime/providers.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
static const berth_ort_provider rows[] = {
    {"cpu", false, "CPUExecutionProvider", BERTH_APPEND_NONE, NULL, NULL, NULL, NULL, false, NULL, {NULL}},
    {"webgpu", false, "WebGpuExecutionProvider", BERTH_APPEND_BY_NAME, "WebGPU", "deviceId", NULL, NULL, false, NULL,
     {"WebGPU_Buf", "WebGPU_Buffer"}},
    {"cuda", false, "CUDAExecutionProvider", BERTH_APPEND_BY_CALL, "CUDA", "device_id", NULL, NULL, false,
     "CUDA_LAUNCH_BLOCKING", {"Cuda"}},
    {"tensorrt", false, "TensorrtExecutionProvider", BERTH_APPEND_BY_CALL, "TensorRT", "device_id", NULL, NULL, true,
     NULL, {NULL}},
    {"dml", false, "DmlExecutionProvider", BERTH_APPEND_BY_NAME, "DML", "device_id", NULL, NULL, false, NULL, {NULL}},
    {"coreml", false, "CoreMLExecutionProvider", BERTH_APPEND_BY_NAME, "CoreML", NULL, NULL, NULL, true, NULL, {NULL}},
    {"openvino", false, "OpenVINOExecutionProvider", BERTH_APPEND_BY_NAME, "OpenVINO", NULL, NULL, NULL, true,
     NULL, {NULL}},
    {"qnn", false, "QNNExecutionProvider", BERTH_APPEND_BY_NAME, "QNN", NULL, NULL, NULL, true, NULL, {NULL}},
    {"migraphx", false, "MIGraphXExecutionProvider", BERTH_APPEND_BY_NAME, "MIGraphX", "device_id", NULL, NULL, true,
     NULL, {NULL}},
    {"nvtensorrtrtx", false, "NvTensorRTRTXExecutionProvider", BERTH_APPEND_BY_NAME, "NvTensorRtRtx", "device_id", NULL,
     NULL, true, NULL, {NULL}},
    {"vitisai", false, "VitisAIExecutionProvider", BERTH_APPEND_BY_NAME, "VitisAI", NULL, NULL, NULL, true,
     NULL, {NULL}},
    {"xnnpack", false, "XnnpackExecutionProvider", BERTH_APPEND_BY_NAME, "XNNPACK", NULL, NULL, NULL, false,
     NULL, {NULL}},
    {"webnn", false, "WebNNExecutionProvider", BERTH_APPEND_BY_NAME, "WEBNN", NULL, NULL, NULL, true, NULL, {NULL}},
    {"rocm", true, "MIGraphXExecutionProvider", BERTH_APPEND_BY_NAME, "MIGraphX", "device_id", NULL, NULL, true,
     NULL, {NULL}},
    {"gpu", true, "CUDAExecutionProvider", BERTH_APPEND_BY_CALL, "CUDA", "device_id", NULL, NULL, false, NULL, {NULL}},
    {"igpu", true, "WebGpuExecutionProvider", BERTH_APPEND_BY_NAME, "WebGPU", NULL, NULL, NULL, false, NULL, {NULL}},
    {"npu", true, "OpenVINOExecutionProvider", BERTH_APPEND_BY_NAME, "OpenVINO", NULL, "device_type", "NPU", true,
     NULL, {NULL}},
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
