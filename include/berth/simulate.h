/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/simulate.h: what a placement takes, and when everything happens.
 */
#ifndef BERTH_SIMULATE_H
#define BERTH_SIMULATE_H

#include "berth/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum berth_event_kind {
    BERTH_EVENT_RUN,   /* an operation on a device */
    BERTH_EVENT_COPY,  /* a tensor over a link */
    BERTH_EVENT_PIECE, /* `serial`: the cost of entering a piece */
} berth_event_kind;

typedef struct berth_event {
    berth_event_kind kind;
    int32_t op;     /* RUN, PIECE (the piece's first operation); else -1 */
    int32_t tensor; /* COPY; else -1 */
    int32_t from;   /* COPY: device it leaves; else the device */
    int32_t to;     /* COPY: device it reaches; else the device */
    double start_ms, end_ms;
} berth_event;

typedef struct berth_timeline {
    berth_model model;
    double makespan_ms; /* the largest load, where throughput is the objective */
    int32_t n_devices;
    const double *memory_peak_bytes; /* [n_devices] */
    int32_t n_events;
    const berth_event *events; /* by start, then end, kind, operation, tensor */
} berth_timeline;

/**
 * Simulate a placement. The makespan is the one that berth_place() reports for it, bit for bit. Devices of operations
 * that do not run (constants, inputs, outputs) do not matter.
 * @return BERTH_OK; BERTH_E_INFEASIBLE (the message says why: an operation where it cannot run, a tensor that
 *         no link carries, a device over its memory, a part that is not convex); BERTH_E_ARG (the placement does not
 * fit the graph); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_simulate(berth_ctx *ctx, berth_timeline **out, const berth_costs *costs,
                                                       const berth_placement *placement);
BERTH_API void berth_timeline_free(berth_timeline *timeline);

#ifdef __cplusplus
}
#endif
#endif
