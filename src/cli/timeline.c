/* SPDX-License-Identifier: Apache-2.0 */
/* Tables over the events of a timeline, each made in one walk over them. */
#include "cli/timeline.h"

#include <inttypes.h>
#include <math.h>

enum { KEY_WIDTH = 13, MOST_NAME = 24, N_COLUMNS = 60 };

void cli_text_key(berth_text *text, const char *key) {
    berth_text_printf(text, "%-*s", KEY_WIDTH, key);
}

static int name_width(const berth_plan *plan) {
    int width = 6;
    for (int32_t d = 0; d < plan->n_devices; d++) {
        int columns = cli_columns(plan->device_names[d], MOST_NAME);
        if (columns > width) width = columns > MOST_NAME ? MOST_NAME : columns;
    }
    return width;
}

typedef struct busy {
    int32_t n;
    double ms;
} busy;

static void put_device(berth_text *text, const berth_plan *plan, const berth_timeline *timeline, int32_t d, busy at,
                       int width) {
    char bytes[CLI_SCALED_SIZE];
    cli_text_key(text, "");
    cli_text_cell(text, plan->device_names[d], width, width);
    berth_text_printf(text, "  %10" PRId32 "  %10.4g  %5.1f %%  %9s", at.n, at.ms,
                      timeline->makespan_ms > 0 ? 100 * at.ms / timeline->makespan_ms : 0.0,
                      cli_scaled(timeline->memory_peak_bytes[d], "B", bytes));
    if (isinf(plan->single_ms[d]))
        berth_text_printf(text, "  %10s\n", "-");
    else
        berth_text_printf(text, "  %10.6g\n", plan->single_ms[d]);
}

void cli_timeline_devices(berth_text *text, const berth_plan *plan, const berth_timeline *timeline) {
    busy sums[BERTH_MAX_DEVICES] = {{0}};
    int width = name_width(plan);
    for (int32_t i = 0; i < timeline->n_events; i++) {
        const berth_event *event = &timeline->events[i];
        if (event->kind != BERTH_EVENT_RUN) continue;
        sums[event->from].ms += event->end_ms - event->start_ms;
        sums[event->from].n++;
    }
    cli_text_key(text, "devices");
    berth_text_printf(text, "%-*s  %10s  %10s  %7s  %9s  %10s\n", width, "device", "operations", "busy ms", "busy",
                      "memory", "alone ms");
    for (int32_t d = 0; d < timeline->n_devices; d++) put_device(text, plan, timeline, d, sums[d], width);
}

void cli_timeline_copies(berth_text *text, const berth_graph *graph, const berth_timeline *timeline) {
    char size[CLI_SCALED_SIZE];
    double bytes = 0;
    busy sum = {0};
    for (int32_t i = 0; i < timeline->n_events; i++) {
        const berth_event *event = &timeline->events[i];
        if (event->kind != BERTH_EVENT_COPY) continue;
        int64_t tensor = berth_graph_tensor(graph, event->tensor)->bytes;
        bytes += tensor > 0 ? (double)tensor : 0;
        sum.ms += event->end_ms - event->start_ms;
        sum.n++;
    }
    cli_text_key(text, "copies");
    berth_text_printf(text, "%" PRId32, sum.n);
    if (sum.n > 0) berth_text_printf(text, ", together %.4g ms", sum.ms);
    if (bytes > 0) berth_text_printf(text, " and %s", cli_scaled(bytes, "B", size));
    berth_text_printf(text, "\n");
}

/* Adds the part of each column that an event covers. */
static void cover(double *row, const berth_event *event, double makespan) {
    double from = event->start_ms / makespan * N_COLUMNS, to = event->end_ms / makespan * N_COLUMNS;
    for (int column = from > 0 ? (int)from : 0; column < N_COLUMNS && column < to; column++)
        row[column] += fmin(to, column + 1) - fmax(from, column);
}

static void put_bar(berth_text *text, const double *row) {
    for (int column = 0; column < N_COLUMNS; column++)
        berth_text_append(text,
                          row[column] > 2.0 / 3   ? "#"
                          : row[column] > 1.0 / 3 ? "+"
                          : row[column] > 0       ? "-"
                                                  : ".",
                          1);
    berth_text_printf(text, "\n");
}

void cli_timeline_bars(berth_text *text, const berth_plan *plan, const berth_timeline *timeline) {
    double rows[BERTH_MAX_DEVICES + 1][N_COLUMNS] = {{0}}; /* the last one is for copies */
    int width = name_width(plan);
    if (!(timeline->makespan_ms > 0)) return;
    for (int32_t i = 0; i < timeline->n_events; i++) {
        const berth_event *event = &timeline->events[i];
        cover(rows[event->kind == BERTH_EVENT_COPY ? timeline->n_devices : event->from], event, timeline->makespan_ms);
    }
    for (int32_t d = 0; d <= timeline->n_devices; d++) {
        cli_text_key(text, d ? "" : "timeline");
        cli_text_cell(text, d < timeline->n_devices ? plan->device_names[d] : "copies", width, width);
        berth_text_printf(text, "  ");
        put_bar(text, rows[d]);
    }
}
