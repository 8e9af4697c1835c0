/* SPDX-License-Identifier: Apache-2.0 */
/* What an ONNX Runtime profile says, and what it says about the operations of the model as we know it.
 *
 * The runtime rewrites a model before it runs it: operations are folded, fused, joined by reorderings and copies. The
 * profile speaks of what is left. Which of our operations stand behind a node is found from the rewritten model: the
 * output that a node makes is that of one of our operations, its root, which names tell, and whatever lies between the
 * roots of two nodes belongs to the later one. */
#ifndef BERTH_RUNTIME_TRACE_H
#define BERTH_RUNTIME_TRACE_H

#include "base/arena.h"
#include "berth/graph.h"

/* One node as it was run. */
typedef struct berth_trace_node {
    const char *name, *type, *provider;
    double host_ms;   /* between its start and its end on the host: for devices that work on later, only until it was
                         handed over */
    double device_ms; /* of its kernels, as the device says; NAN: it says nothing */
} berth_trace_node;

typedef struct berth_trace {
    int32_t n_runs;  /* in the file */
    int32_t n_nodes; /* of one run, in the order in which they were run */
    const berth_trace_node *nodes;
} berth_trace;

/* Medians over all runs but the first `skip`. BERTH_OK; BERTH_E_IO; BERTH_E_FORMAT; BERTH_E_LIMIT; BERTH_E_NOMEM. */
berth_status berth_trace_read(berth_ctx *ctx, berth_arena *arena, const char *path, int32_t skip, berth_trace *out);

/* Where an operation of the model ended. */
typedef struct berth_trace_op {
    int32_t node;      /* of the trace; -1: it was folded away, or nothing is known of it */
    bool is_root;      /* the last one of the operations behind the node */
    int32_t n_members; /* operations behind the node */
} berth_trace_op;

/* For each operation of `graph`, [n_ops] in the arena. `rewritten` is the graph that the runtime wrote in the same job.
 * Nodes that the runtime has added (reorderings) belong to the operations that read from them; copies between devices
 * to none: their time goes to *copy_ms. `extra_ms` [n_nodes] gets, for each node, the time of added ones that belong to
 * it. BERTH_OK; BERTH_E_FORMAT (the two do not fit); BERTH_E_NOMEM. */
berth_status berth_trace_attribute(berth_ctx *ctx, berth_arena *arena, const berth_graph *graph,
                                   const berth_graph *rewritten, const berth_trace *trace, const berth_trace_op **out,
                                   const double **extra_ms, double *copy_ms);

#endif
