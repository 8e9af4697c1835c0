/* SPDX-License-Identifier: Apache-2.0 */
/* What the row of ONNX Runtime (kind.h) is made of. */
#ifndef BERTH_RUNTIME_ORT_KIND_H
#define BERTH_RUNTIME_ORT_KIND_H

#include "runtime/kind.h"

/* ort_model.c */
berth_status berth_ort_gather(berth_run_model *model, const char *path, const berth_run_options *options);
berth_status berth_ort_place(berth_run_model *model, const char *const *devices, int32_t n_devices,
                             const int32_t *device, berth_candidate *out);
berth_status berth_ort_single(berth_run_model *model, const char *device, berth_candidate *out);

/* ort_times.c */
berth_status berth_ort_op_times(berth_run_model *model, berth_arena *arena, const char *device, const berth_work *work,
                                bool native_precision, double *ms);
berth_status berth_ort_places(berth_run_model *model, berth_arena *arena, const berth_candidate *candidate,
                              bool native_precision, berth_sight *out);

#endif
