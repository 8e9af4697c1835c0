/* SPDX-License-Identifier: Apache-2.0 */
/**
 * berth/print.h: how graphs are shown: shapes in words, and a graph in Graphviz's language.
 */
#ifndef BERTH_PRINT_H
#define BERTH_PRINT_H

#include "berth/graph.h"
#include "berth/text.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_DIM_SIZE 48

/** A dimension in a word: its number, its symbol, its range as in "1..8" or "1..", or "?". May use the buffer, which
 * has BERTH_DIM_SIZE bytes. */
BERTH_API const char *berth_dim_word(const berth_dim *dim, char *buffer);

/** "1x3x224x224"; "batch x 3 x ? x ?"; "scalar"; "?" where not even the rank is known. `append` escapes the symbols. */
BERTH_API void berth_text_shape(berth_text *text, const berth_shape *shape, berth_append_fn append);

/** Colours for a drawing: each operation belongs to one class, such as the device it runs on. */
typedef struct berth_dot_classes {
    int32_t n;
    const char *const *names;   /* [n], for the legend */
    const int32_t *class_of_op; /* [operations]; constant expressions are grey whatever it says */
} berth_dot_classes;

/**
 * Append the graph for Graphviz. Nodes are numbered and names stand in labels only, so that any name will do. Constant
 * expressions are grey, captures of nested graphs dashed; an edge shows the shape that travels. With classes (NULL:
 * none) every class has its colour, and edges from one class to another are thick.
 */
BERTH_API void berth_graph_dot(berth_text *text, const berth_graph *graph, const berth_dot_classes *classes);

#ifdef __cplusplus
}
#endif
#endif
