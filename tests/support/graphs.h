/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs for tests: written down as text, or drawn at random. */
#ifndef BERTH_TESTS_GRAPHS_H
#define BERTH_TESTS_GRAPHS_H

#include "support.h"

#include "graph/build.h"

/* Build a graph from a text of one statement a line; fields are separated by blanks:
 *
 *     input x f32 1x3x8x8
 *     initializer w f32 4x3x3x3
 *     initializer k i64 2 = 0500000000000000ff00000000000000     with content, in hexadecimal
 *     Conv x w -> y f32 1x4x6x6 ; strides = 1,1 ; auto_pad = 'VALID' ; alpha = 0.5 ; value = opaque
 *     com.microsoft:Gelu y as named -> z f32 1x4x6x6             with a domain and a name of its own
 *     If c +z -> r f32 ?x4                                       + is a capture; the operation gets a nested graph
 *     Split r - -> a f32 2 , b f32 2                             - is a port left out; a comma between outputs
 *     output a
 *
 * Dimensions: "scalar", "*" (rank unknown), else sizes with x between, "?" or "2..5" for what is not static. An
 * operation without a name is marked unnamed. Types Parameter and Input stand for model inputs, Result and Output for
 * model outputs. Only the statuses of the builder come back; a text that does not parse fails the test. */
berth_status support_graph_build(berth_ctx *ctx, berth_graph **out, berth_format format, const char *text);
/* The same, checked by berth_graph_check; any failure fails the test. Format ONNX. */
berth_graph *support_graph(berth_ctx *ctx, const char *text);
berth_graph *support_graph_ir(berth_ctx *ctx, const char *text);

typedef struct support_dag {
    int32_t n_ops;
    int32_t max_inputs;       /* ports per operation */
    int32_t reach;            /* inputs come from the last `reach` operations before it, mostly; 0: from any */
    int32_t constants;        /* percent of sources that are Constant */
    const char *const *types; /* NULL-terminated; others are drawn from these; NULL: all "Custom" */
    bool shuffled;            /* file order is a random permutation, else a topological order */
    bool captures;            /* some operations have nested graphs that read from outside */
} support_dag;

/* A random graph without shapes. Equal arguments give equal graphs. */
berth_graph *support_random_dag(berth_ctx *ctx, uint64_t *state, const support_dag *dag);

#endif
