/* SPDX-License-Identifier: Apache-2.0 */
/* A placement for OpenVINO as a file: what the worker gets as an assignment and what `berth export --to openvino` hands
 * out. docs/formats.md describes it.
 *
 * Only operations that run are in it. Constants, inputs and outputs go with their readers, whatever the plan says: a
 * constant that lies elsewhere is no longer folded into the operation that it belongs to. */
#ifndef BERTH_RUNTIME_OV_MAP_H
#define BERTH_RUNTIME_OV_MAP_H

#include "base/stage.h"
#include "berth/device.h"
#include "berth/text.h"
#include "runtime/ov_module.h"

/* The members `devices` and `operations` of an object that was begun. device [n_ops] by operation. */
void berth_ov_map_write(berth_text *text, const berth_graph *graph, const char *const *devices, int32_t n_devices,
                        const int32_t *device);
/* Marks in the arena, with devices as OpenVINO names them. BERTH_OK; BERTH_E_IO; BERTH_E_FORMAT; BERTH_E_NOMEM. */
berth_status berth_ov_map_read(berth_ctx *ctx, berth_arena *arena, const char *path, const berth_ov_mark **out,
                               size_t *n);
/* Is it placed by a mark of its own? */
bool berth_ov_map_has(const berth_op *op);
/* The name of the first tensor that an operation makes and that has one; "" if there is none. */
const char *berth_ov_map_tensor(const berth_graph *graph, const berth_op *op);

/* How long the path of an IR is without its endings: weights lie beside it under that name. */
int berth_ov_stem(const char *path);
/* A file of the stage with the content of another, which may be packed. */
berth_status berth_ov_unpack(berth_ctx *ctx, berth_stage *stage, const char *from, const char *to);
/* Does any layer have weights? */
bool berth_ov_needs_weights(const berth_graph *graph);

#endif
