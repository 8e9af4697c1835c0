/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/bench.h: what benchmarks need beside berth_place(): graphs of any size, and the pace of the inner loops.
 */
#ifndef BERTH_BENCH_H
#define BERTH_BENCH_H

#include "berth/place.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum berth_generated {
    BERTH_GENERATED_BRANCHES,        /* blocks of parallel chains, as in Inception */
    BERTH_GENERATED_LAYERS,          /* every operation reads one to three of the layer before */
    BERTH_GENERATED_SERIES_PARALLEL, /* nested chains and forks */
    BERTH_GENERATED_TRANSFORMER,     /* blocks of attention, head by head, and two products, each with a shortcut */
    BERTH_GENERATED_COUNT
} berth_generated;

/** "branches", "layers", "series-parallel", "transformer". */
BERTH_API const char *berth_generated_name(berth_generated kind);

/**
 * A graph of n_ops operations (a few more, to close forks) with shapes and weights, so that any device can be
 * estimated. Equal arguments give equal graphs. Free with berth_graph_free().
 * @return BERTH_OK; BERTH_E_ARG (n_ops below 1); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_graph_generate(berth_ctx *ctx, berth_graph **out, berth_generated kind,
                                                             int32_t n_ops, uint64_t seed);

/**
 * n devices, the first of them the host, that differ in peak, bandwidth, overhead, what they are good at and how they
 * are linked, scaled so that on generated graphs copies cost about as much as computing. Equal arguments give equal
 * devices. Free with berth_device_set_free().
 * @return BERTH_OK; BERTH_E_ARG (n below 1); BERTH_E_LIMIT (n above BERTH_MAX_DEVICES); BERTH_E_NOMEM
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_device_set_generate(berth_ctx *ctx, berth_device_set **out, int32_t n,
                                                                  uint64_t seed);

typedef enum berth_pace_kind {
    BERTH_PACE_EVALUATIONS, /* makespans of whole placements */
    BERTH_PACE_MOVES,       /* one unit on another device, tried from a placement that is kept */
} berth_pace_kind;

/**
 * How many a second, on one thread: the fastest of several runs that take about `seconds` together. Placements and
 * moves are drawn at random, by units of the options; of these method, budget and threads are not used.
 */
BERTH_API BERTH_MUST_CHECK berth_status berth_measure_pace(berth_ctx *ctx, double *per_second, berth_pace_kind kind,
                                                           const berth_graph *graph, const berth_device_set *devices,
                                                           const berth_place_options *options, double seconds);

#ifdef __cplusplus
}
#endif
#endif
