/* SPDX-License-Identifier: Apache-2.0 */
/* The builder: how a reader makes a graph.
 *
 *     berth_build *b;
 *     BERTH_TRY(berth_build_new(ctx, &b, BERTH_FORMAT_ONNX, "model.onnx"));
 *     ... berth_build_op(b, &op), berth_build_tensor(b, &tensor), berth_build_ports(...), inputs, outputs ...
 *     s = berth_build_link(b);            edges, topological order, fingerprint; refuses cycles and loose ends
 *     ... shape inference, in b->graph->order, may still fill in types and shapes ...
 *     s = berth_build_seal(b, &graph);    sizes, constant expressions; hands the graph over
 *     berth_build_free(b);                in every case
 *
 * Memory failure is sticky: berth_build_op and _tensor return -1, and link reports it. Strings and arrays that a row
 * points at must live in berth_build_arena(). */
#ifndef BERTH_GRAPH_BUILD_H
#define BERTH_GRAPH_BUILD_H

#include "base/map.h"
#include "base/vec.h"
#include "graph/graph.h"

typedef struct berth_build {
    berth_ctx *ctx;
    const char *source;  /* the file, for messages */
    bool where_is_line;  /* else a byte offset */
    berth_graph *graph;  /* its arena is in use from the start, its arrays from link on */
    berth_map by_name;   /* tensors by name, for formats that link by name */
    bool failed;         /* no memory */
    bool explicit_edges; /* the file lists edges; else they follow from the inputs */
    BERTH_VEC(berth_op) ops;
    BERTH_VEC(berth_tensor) tensors;
    BERTH_VEC(berth_edge) edges;
    BERTH_VEC(int32_t) inputs;
    BERTH_VEC(int32_t) outputs;
} berth_build;

berth_status berth_build_new(berth_ctx *ctx, berth_build **out, berth_format format, const char *source);
void berth_build_free(berth_build *b);
berth_arena *berth_build_arena(berth_build *b);

/* "model.xml:812: ..." or "model.onnx: byte 812: ..."; `where` < 0 leaves the place out. Returns `code`. */
berth_status berth_build_fail(berth_build *b, berth_status code, int64_t where, const char *format, ...)
    BERTH_PRINTF(4, 5);

/* Append a row; the index comes back, or -1 (no memory, or more than INT32_MAX - 1 rows). */
int32_t berth_build_op(berth_build *b, const berth_op *op);
int32_t berth_build_tensor(berth_build *b, const berth_tensor *tensor);
/* The tensor of that name, made on first use with nothing known of it; -1 on memory failure. The name is copied. */
int32_t berth_build_named(berth_build *b, const char *name, size_t size);
/* The same without making it: -1 if there is none. */
int32_t berth_build_find(const berth_build *b, const char *name, size_t size);

/* Set an operation's ports: copies both arrays; tensor -1 is a port left out. Sets producer and port of the outputs:
 * BERTH_E_FORMAT if one already has a producer or is an input or initializer. */
berth_status berth_build_ports(berth_build *b, int32_t op, const int32_t *inputs, int32_t n_inputs, int32_t n_captures,
                               const int32_t *outputs, int32_t n_outputs);
/* An edge as the file lists it (sets explicit_edges). The ports must be set as well. */
void berth_build_edge(berth_build *b, const berth_edge *edge);
/* Model inputs and outputs, in order. */
void berth_build_input(berth_build *b, int32_t tensor);
void berth_build_output(berth_build *b, int32_t tensor);

berth_status berth_build_link(berth_build *b);
berth_status berth_build_seal(berth_build *b, berth_graph **out);

#endif
