/* SPDX-License-Identifier: Apache-2.0 */
/* Exports inside: what a format gets to see. A new format is a file and a row in export.c. */
#ifndef BERTH_PLAN_EXPORT_H
#define BERTH_PLAN_EXPORT_H

#include "base/arena.h"
#include "base/stage.h"
#include "berth/export.h"
#include "read/source.h"

struct berth_export {
    berth_ctx *ctx;
    const berth_plan *plan;
    const char *model; /* its path */
    berth_export_options options;
    berth_source source; /* the model's bytes */
    berth_graph *graph;
    berth_placement *placement; /* of the plan, for this graph */
};

typedef berth_status (*berth_export_fn)(const berth_export *e, const char *output);

berth_status berth_export_json(const berth_export *e, const char *output);
berth_status berth_export_dot(const berth_export *e, const char *output);
berth_status berth_export_onnx(const berth_export *e, const char *output);
berth_status berth_export_openvino(const berth_export *e, const char *output);

/* `model` of plans and exports: name, format, fingerprint. */
void berth_export_put_model(const berth_export *e, berth_text *text);

/* A finished text as a file beside the output, by its ending, into the stage; the path is the arena's. */
berth_status berth_export_stage(const berth_export *e, berth_arena *arena, berth_stage *stage, const char *output,
                                const char *ending, const berth_text *text);

#endif
