/* SPDX-License-Identifier: Apache-2.0 */
/* The files that put a placement on a model in OpenVINO. */
#ifndef BERTH_PLAN_OPENVINO_LOADERS_H
#define BERTH_PLAN_OPENVINO_LOADERS_H

#include "plan/export.h"
#include "runtime/ov_device.h"

typedef struct berth_openvino_plan {
    const berth_export *export_;
    int32_t n_devices;
    const char *const *texts; /* "CPU1:bf16" */
    const berth_ov_device *devices;
    const bool *is_used; /* [n_devices] some operation is there; others are not opened */
} berth_openvino_plan;

void berth_openvino_put_map(berth_text *text, const berth_openvino_plan *plan);
void berth_openvino_put_python(berth_text *text, const berth_openvino_plan *plan);
void berth_openvino_put_cpp(berth_text *text, const berth_openvino_plan *plan);

#endif
