/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as profile.json (docs/formats.md). */
#include "berth/profile.h"

#include "berth/base.h"

#include <math.h>

static void put_operation(berth_text *text, const berth_profile *p, int32_t op) {
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "index", op);
    berth_json_string(text, "name", p->op_names[op]);
    berth_json_object_begin(text, "ms");
    for (int32_t d = 0; d < p->n_devices; d++) {
        double ms = p->op_ms[(size_t)op * (size_t)p->n_devices + (size_t)d];
        if (isfinite(ms))
            berth_json_double(text, p->devices->devices[d].name, ms);
        else
            berth_json_null(text, p->devices->devices[d].name);
    }
    berth_json_object_end(text);
    berth_json_object_end(text);
}

static void put_run(berth_text *text, const berth_profiled_run *run) {
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_string(text, "label", run->label);
    berth_json_int(text, "pieces", run->n_pieces);
    berth_json_bool(text, "held_out", run->is_held_out);
    berth_json_double(text, "measured_ms", run->measured_ms);
    berth_json_double(text, "unrest", run->unrest);
    berth_json_int(text, "processes", run->n_processes);
    berth_json_double(text, "predicted_ms", run->predicted_ms);
    berth_json_string(text, "placement", run->placement);
    berth_json_object_end(text);
}

void berth_profile_write(berth_text *text, const berth_profile *profile) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_string(text, "berth", berth_version());
    berth_json_object_begin(text, "model");
    berth_json_string(text, "name", profile->model_name);
    berth_json_string(text, "fingerprint", profile->fingerprint);
    berth_json_object_end(text);
    berth_json_object_begin(text, "machine");
    berth_json_string(text, "cpu", profile->machine);
    berth_json_object_end(text);
    berth_json_object_begin(text, "runtime");
    berth_json_string(text, "name", profile->runtime);
    berth_json_string(text, "version", profile->runtime_version);
    berth_json_bool(text, "synthesized_weights", profile->synthesized);
    berth_json_double(text, "mean_error", profile->mean_error);
    berth_json_double(text, "rank_correlation", profile->rank_correlation);
    berth_json_inline(text);
    berth_json_object_begin(text, "fit");
    berth_json_double(text, "run_ms", profile->fit.run_ms);
    berth_json_object_begin(text, "scale");
    for (int32_t d = 0; d < profile->n_devices && profile->fit.scale; d++)
        berth_json_double(text, profile->devices->devices[d].name, profile->fit.scale[d]);
    berth_json_object_end(text);
    berth_json_object_end(text);
    berth_json_array_begin(text, "copies");
    for (int32_t i = 0; i < profile->n_copies; i++) {
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_int(text, "bytes", profile->copies[i].bytes);
        berth_json_double(text, "in_ms", profile->copies[i].in_ms);
        berth_json_double(text, "out_ms", profile->copies[i].out_ms);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    berth_json_array_begin(text, "runs");
    for (int32_t i = 0; i < profile->n_runs; i++) put_run(text, &profile->runs[i]);
    berth_json_array_end(text);
    berth_json_object_end(text);
    berth_json_inline(text);
    berth_json_array_begin(text, "devices");
    for (int32_t d = 0; d < profile->n_devices; d++) berth_json_string(text, NULL, profile->devices->devices[d].name);
    berth_json_array_end(text);
    berth_device_set_write(text, "device_set", profile->devices);
    berth_json_array_begin(text, "operations");
    for (int32_t op = 0; op < profile->n_ops; op++) put_operation(text, profile, op);
    berth_json_array_end(text);
    berth_json_object_end(text);
}
