/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured, as JSON (docs/formats.md). */
#include "berth/runtime.h"

static void put_latency(berth_text *text, const char *key, const berth_measured_run *run) {
    const berth_latency *l = &run->latency;
    if (l->runs == 0) {
        berth_json_object_begin(text, key);
        berth_json_null(text, "median_ms");
        berth_json_string(text, "reason", run->reason);
        if (run->out_of_memory) berth_json_string(text, "out_of_memory", run->out_of_memory);
        berth_json_object_end(text);
        return;
    }
    berth_json_inline(text);
    berth_json_object_begin(text, key);
    berth_json_double(text, "median_ms", l->median_ms);
    berth_json_double(text, "low_ms", l->low_ms);
    berth_json_double(text, "high_ms", l->high_ms);
    berth_json_double(text, "p95_ms", l->p95_ms);
    berth_json_double(text, "p99_ms", l->p99_ms);
    berth_json_int(text, "runs", l->runs);
    berth_json_double(text, "load_ms", l->load_ms);
    berth_json_double(text, "first_ms", l->first_ms);
    berth_json_double(text, "peak_bytes", l->peak_bytes);
    berth_json_double(text, "device_peak_bytes", l->device_peak_bytes);
    if (l->cores > 0) berth_json_double(text, "cores", l->cores);
    if (*run->reason) berth_json_string(text, "reason", run->reason);
    if (run->out_of_memory) berth_json_string(text, "out_of_memory", run->out_of_memory);
    berth_json_object_end(text);
}

static void put_deviation(berth_text *text, const berth_deviation *d, const berth_graph *graph) {
    berth_json_inline(text);
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "index", d->op);
    berth_json_string(text, "name", berth_graph_op(graph, d->op)->name);
    berth_json_string(text, "planned", d->planned);
    berth_json_string(text, "ran", d->ran);
    berth_json_string(text, "reason", d->reason);
    berth_json_bool(text, "explained", d->explained);
    berth_json_object_end(text);
}

static void put_pieces(berth_text *text, const berth_measured *m) {
    berth_json_int(text, "planned_pieces", m->n_planned_pieces);
    berth_json_inline(text);
    berth_json_array_begin(text, "pieces");
    for (int32_t i = 0; i < m->n_pieces; i++) berth_json_string(text, NULL, m->pieces[i]);
    berth_json_array_end(text);
}

void berth_measured_write(berth_text *text, const berth_measured *measured, const berth_graph *graph) {
    const berth_measured *m = measured;
    berth_json_inline(text);
    berth_json_object_begin(text, "runtime");
    berth_json_string(text, "name", m->runtime);
    berth_json_string(text, "version", m->runtime_version);
    berth_json_bool(text, "synthesized_weights", m->n_made_files > 0);
    berth_json_string(text, "precision", m->full ? "native" : "same");
    berth_json_object_end(text);
    berth_json_object_begin(text, "measured");
    put_latency(text, "plan", &m->plan);
    berth_json_object_begin(text, "single");
    for (int32_t i = 0; i < m->n_singles; i++) put_latency(text, m->singles[i].name, &m->singles[i]);
    berth_json_object_end(text);
    if (m->full) {
        berth_json_object_begin(text, "full_precision");
        for (int32_t i = 0; i < m->n_singles; i++) put_latency(text, m->full[i].name, &m->full[i]);
        berth_json_object_end(text);
    }
    berth_json_double(text, "gain", m->gain);
    berth_json_double(text, "gain_low", m->gain_low);
    berth_json_object_end(text);
    berth_json_inline(text);
    berth_json_object_begin(text, "outputs");
    berth_json_double(text, "max_abs", m->outputs.max_abs);
    berth_json_double(text, "max_rel", m->outputs.max_rel);
    berth_json_double(text, "cosine", m->outputs.cosine);
    berth_json_double(text, "mean_square", m->outputs.mean_square);
    berth_json_double(text, "distance", m->outputs.distance);
    berth_json_bool(text, "equal", m->outputs.equal);
    berth_json_object_end(text);
    berth_json_int(text, "checked", m->n_checked);
    if (m->n_pieces > 0) put_pieces(text, m);
    berth_json_array_begin(text, "deviations");
    for (int32_t i = 0; i < m->n_deviations; i++) put_deviation(text, &m->deviations[i], graph);
    berth_json_array_end(text);
}
