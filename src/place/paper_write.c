/* SPDX-License-Identifier: Apache-2.0 */
/* The paper's tables, as text or as JSON. */
#include "berth/paper.h"

#include <inttypes.h>
#include <math.h>

static void put_number(berth_text *text, int width, int digits, double value) {
    if (isnan(value))
        berth_text_printf(text, " %*s", width, "-");
    else
        berth_text_printf(text, " %*.*f", width, digits, value);
}

static void put_row(berth_text *text, const berth_paper *paper, const berth_paper_row *row) {
    berth_text_printf(text, "%-14s %-20s", row->model, row->arm);
    if (*row->reason) {
        berth_text_printf(text, "  %s\n", row->reason);
        return;
    }
    put_number(text, 9, 3, row->predicted_ms);
    if (!paper->simulated) {
        put_number(text, 9, 3, row->protocol_ms);
        put_number(text, 9, 3, row->median_ms);
        put_number(text, 9, 3, row->low_ms);
        put_number(text, 9, 3, row->high_ms);
    }
    put_number(text, 8, 2, 100 * row->gain_cpu);
    put_number(text, 8, 2, 100 * row->gain_best);
    put_number(text, 7, 1, 100 * row->share);
    berth_text_printf(text, " %8" PRId64, row->evaluations);
    put_number(text, 9, 3, row->search_seconds);
    if (!paper->simulated)
        berth_text_printf(text, " %9.2e %8.6f %9.2e", row->outputs.mean_square, row->outputs.cosine,
                          row->outputs.distance);
    berth_text_append(text, "\n", 1);
}

static void write_table(berth_text *text, const berth_paper *paper) {
    if (paper->simulated)
        berth_text_printf(text, "SIMULATED on the testbed `paper`: nothing was run.\n");
    else
        berth_text_printf(text, "Measured with %s; CPU is %s, GPU is %s.\n", paper->runtime, paper->devices[0],
                          paper->devices[1]);
    berth_text_printf(text, "Gains are 1 - latency / latency of CPU-only and of the faster device alone, %%.\n\n");
    berth_text_printf(text, "%-14s %-20s %9s", "model", "method", "simulated");
    if (!paper->simulated) berth_text_printf(text, " %9s %9s %9s %9s", "last 5", "median", "from", "to");
    berth_text_printf(text, " %8s %8s %7s %8s %9s", "on CPU", "on best", "GPU %", "evals", "search s");
    if (!paper->simulated) berth_text_printf(text, " %9s %8s %9s", "mse", "cosine", "L2");
    berth_text_append(text, "\n", 1);
    for (int32_t i = 0; i < paper->n_rows; i++) put_row(text, paper, &paper->rows[i]);
}

static void write_json(berth_text *text, const berth_paper *paper) {
    berth_json_object_begin(text, NULL);
    berth_json_int(text, "schema", 1);
    berth_json_bool(text, "simulated", paper->simulated);
    berth_json_string(text, "runtime", paper->runtime);
    berth_json_string(text, "cpu", paper->devices[0]);
    berth_json_string(text, "gpu", paper->devices[1]);
    berth_json_array_begin(text, "results");
    for (int32_t i = 0; i < paper->n_rows; i++) {
        const berth_paper_row *row = &paper->rows[i];
        berth_json_inline(text);
        berth_json_object_begin(text, NULL);
        berth_json_string(text, "model", row->model);
        berth_json_string(text, "method", row->arm);
        berth_json_string(text, "reason", row->reason);
        berth_json_double(text, "predicted_ms", row->predicted_ms);
        berth_json_double(text, "protocol_ms", row->protocol_ms);
        berth_json_double(text, "median_ms", row->median_ms);
        berth_json_double(text, "low_ms", row->low_ms);
        berth_json_double(text, "high_ms", row->high_ms);
        berth_json_double(text, "gain_over_cpu", row->gain_cpu);
        berth_json_double(text, "gain_over_best", row->gain_best);
        berth_json_double(text, "share_on_gpu", row->share);
        berth_json_int(text, "evaluations", row->evaluations);
        berth_json_double(text, "seconds", row->search_seconds);
        berth_json_double(text, "mean_square", row->outputs.mean_square);
        berth_json_double(text, "cosine", row->outputs.cosine);
        berth_json_double(text, "distance", row->outputs.distance);
        berth_json_object_end(text);
    }
    berth_json_array_end(text);
    berth_json_object_end(text);
}

void berth_paper_write(berth_text *text, const berth_paper *paper, bool json) {
    if (json)
        write_json(text, paper);
    else
        write_table(text, paper);
}
