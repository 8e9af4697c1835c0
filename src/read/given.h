/* SPDX-License-Identifier: Apache-2.0 */
/* What the workload readers share: tasks and their links become a graph, their times berth_given_costs. */
#ifndef BERTH_READ_GIVEN_H
#define BERTH_READ_GIVEN_H

#include "graph/build.h"
#include "read/source.h"

/* More devices than any workload has; the square table of links stays at half a MiB. */
#define BERTH_GIVEN_MAX_DEVICES 256
/* Times, sizes and their products can then be summed without overflow. */
#define BERTH_GIVEN_MAX_NUMBER 1e100

/* From a file's own numbers to ours. */
typedef struct berth_given_ids {
    berth_map map;
    berth_arena keys;
} berth_given_ids;

void berth_given_ids_init(berth_given_ids *ids, berth_ctx *ctx);
void berth_given_ids_deinit(berth_given_ids *ids);
/* The value of `id`, or -1. */
int32_t berth_given_ids_find(const berth_given_ids *ids, int64_t id);
/* The value of `id`, which becomes `fresh` if it has none; -1 if there is no memory. */
int32_t berth_given_ids_put(berth_given_ids *ids, int64_t id, int32_t fresh);

/* One link between tasks, as the file lists it. */
typedef struct berth_given_edge {
    int32_t from, to;
    int64_t where;
} berth_given_edge;

typedef enum berth_given_tensors {
    BERTH_GIVEN_TENSOR_PER_TASK, /* all readers of a task share what it yields; reading it twice is two edges */
    BERTH_GIVEN_TENSOR_PER_EDGE, /* every link carries its own tensor, so that a pair is linked at most once */
} berth_given_tensors;

/* Makes tensors, ports and edges (in the order given) for the tasks already in the builder. Refuses a task that
 * depends on itself and, with a tensor per edge, pairs listed twice. */
berth_status berth_given_connect(berth_build *b, const berth_given_edge *edges, size_t n_edges,
                                 berth_given_tensors tensors);

/* A new table of costs for the builder's graph, with room for device names and times of operations. NULL: no memory
 * (the arena then says so as well). */
berth_given_costs *berth_given_new(berth_build *b, size_t n_ops, int32_t n_devices, double **op_ms,
                                   const char ***device_names);

/* Refuses a table of n times n_columns numbers that is out of proportion to the file. */
berth_status berth_given_check_room(berth_build *b, int64_t where, const berth_source *source, size_t n,
                                    size_t n_columns);
/* A task list must not be empty, and shape bindings have nothing to bind here. */
berth_status berth_given_check_tasks(berth_build *b, const berth_read_options *options);

#endif
