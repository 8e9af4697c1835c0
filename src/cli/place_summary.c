/* SPDX-License-Identifier: Apache-2.0 */
/* The answer in words: how long, how good, what runs where, what is copied, who found it. What differs from run to run
 * (seconds) is left to --json, so that equal runs print the same. */
#include "cli/output.h"
#include "cli/place.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { KEY_WIDTH = 13, MOST_NAMES = 8 };

static void put_key(berth_text *text, const char *key) {
    berth_text_printf(text, "%-*s", KEY_WIDTH, key);
}

static void put_head(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    put_key(text, "simulated");
    berth_text_printf(text, "nothing was run; ");
    for (int32_t d = 0; d < plan->n_devices && d < MOST_NAMES; d++) {
        if (d) berth_text_printf(text, ", ");
        cli_text_cell(text, plan->device_names[d], 0, 32);
    }
    if (plan->n_devices > MOST_NAMES) berth_text_printf(text, ", %" PRId32 " more", plan->n_devices - MOST_NAMES);
    berth_text_printf(text, " as %s\n",
                      strcmp(plan->costs, "given") == 0     ? "the workload gives them"
                      : strcmp(plan->costs, "profile") == 0 ? "measured elsewhere"
                                                            : "described");
    put_key(text, "model");
    cli_text_escaped(text, strcmp(found->path, "-") == 0 ? "standard input" : found->path);
    berth_text_printf(text, "\n");
    put_key(text, "execution");
    berth_text_printf(text, "%s", berth_model_name(plan->execution_model));
    if (plan->piece_ms > 0) berth_text_printf(text, ", %.6g ms per piece", plan->piece_ms);
    if (plan->objective == BERTH_OBJECTIVE_THROUGHPUT) berth_text_printf(text, "; the largest load counts");
    berth_text_printf(text, "\n");
}

static int32_t best_single(const berth_plan *plan) {
    int32_t best = 0;
    for (int32_t d = 1; d < plan->n_devices; d++)
        if (plan->single_ms[d] < plan->single_ms[best]) best = d;
    return best;
}

static void put_answer(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    int32_t best = best_single(plan);
    put_key(text, "answer");
    berth_text_printf(text, "%.6g ms", plan->makespan_ms);
    if (isinf(plan->single_ms[best])) {
        berth_text_printf(text, "; no single device can run it all\n");
    } else {
        berth_text_printf(text, "; the best single device, ");
        cli_text_cell(text, plan->device_names[best], 0, 32);
        berth_text_printf(text, ", takes %.6g ms", plan->single_ms[best]);
        if (plan->makespan_ms > 0 && plan->single_ms[best] > plan->makespan_ms)
            berth_text_printf(text, ": %.3g times as long", plan->single_ms[best] / plan->makespan_ms);
        berth_text_printf(text, "\n");
    }
    put_key(text, "bound");
    if (plan->gap == 0)
        berth_text_printf(text, "proven optimal: no placement takes less\n");
    else if (isinf(plan->gap))
        berth_text_printf(text, "none known\n");
    else
        berth_text_printf(text, "no placement takes less than %.6g ms: at most %.2f %% to gain\n", plan->lower_bound_ms,
                          100 * (1 - plan->lower_bound_ms / plan->makespan_ms));
}

/* --- devices ---------------------------------------------------------------------------------------------------- */

static int name_width(const berth_plan *plan) {
    int width = 6;
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int columns = cli_columns(plan->device_names[d], 24);
        if (columns > width) width = columns > 24 ? 24 : columns;
    }
    return width;
}

static void put_device(berth_text *text, const placed *found, int32_t d, int width) {
    const berth_plan *plan = found->plan;
    const berth_timeline *line = found->timeline;
    char bytes[CLI_SCALED_SIZE];
    double busy = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < line->n_events; i++) {
        const berth_event *event = &line->events[i];
        if (event->kind != BERTH_EVENT_RUN || event->from != d) continue;
        busy += event->end_ms - event->start_ms;
        n++;
    }
    put_key(text, "");
    cli_text_cell(text, plan->device_names[d], width, width);
    berth_text_printf(text, "  %10" PRId32 "  %10.4g  %5.1f %%", n, busy,
                      plan->makespan_ms > 0 ? 100 * busy / plan->makespan_ms : 0.0);
    berth_text_printf(text, "  %9s", cli_scaled(line->memory_peak_bytes[d], "B", bytes));
    if (isinf(plan->single_ms[d]))
        berth_text_printf(text, "  %10s\n", "-");
    else
        berth_text_printf(text, "  %10.6g\n", plan->single_ms[d]);
}

static void put_devices(berth_text *text, const placed *found) {
    int width = name_width(found->plan);
    put_key(text, "devices");
    berth_text_printf(text, "%-*s  %10s  %10s  %7s  %9s  %10s\n", width, "device", "operations", "busy ms", "busy",
                      "memory", "alone ms");
    for (int32_t d = 0; d < found->plan->n_devices; d++) put_device(text, found, d, width);
}

static void put_copies(berth_text *text, const placed *found) {
    const berth_timeline *line = found->timeline;
    char size[CLI_SCALED_SIZE];
    double bytes = 0, ms = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < line->n_events; i++) {
        const berth_event *event = &line->events[i];
        if (event->kind != BERTH_EVENT_COPY) continue;
        int64_t tensor = berth_graph_tensor(found->graph, event->tensor)->bytes;
        bytes += tensor > 0 ? (double)tensor : 0;
        ms += event->end_ms - event->start_ms;
        n++;
    }
    put_key(text, "copies");
    berth_text_printf(text, "%" PRId32, n);
    if (n > 0) berth_text_printf(text, ", together %.4g ms", ms);
    if (bytes > 0) berth_text_printf(text, " and %s", cli_scaled(bytes, "B", size));
    berth_text_printf(text, "\n");
}

static void put_search(berth_text *text, const placed *found) {
    const berth_plan *plan = found->plan;
    put_key(text, "methods");
    berth_text_printf(text, "%-8s  %12s  %12s\n", "method", "ms", "evaluations");
    for (int32_t i = 0; i < plan->n_methods; i++) {
        const berth_plan_method *row = &plan->methods[i];
        put_key(text, "");
        berth_text_printf(text, "%-8s  ", row->method);
        if (isinf(row->makespan_ms))
            berth_text_printf(text, "%12s", "-");
        else
            berth_text_printf(text, "%12.6g", row->makespan_ms);
        berth_text_printf(text, "  %12" PRId64 "\n", row->evaluations);
    }
    put_key(text, "found by");
    berth_text_printf(text, "%s (%s)%s\n", plan->found_by, plan->source, plan->interrupted ? "; interrupted" : "");
    if (!found->output || strcmp(found->output, "-") == 0) return;
    put_key(text, "plan");
    cli_text_escaped(text, found->output);
    berth_text_printf(text, "\n");
}

void cli_place_summary(berth_text *text, const placed *found) {
    put_head(text, found);
    put_answer(text, found);
    put_devices(text, found);
    put_copies(text, found);
    put_search(text, found);
}
