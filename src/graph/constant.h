/* SPDX-License-Identifier: Apache-2.0 */
/* Constant expressions: operations computed from constants alone, before the model runs. */
#ifndef BERTH_GRAPH_CONSTANT_H
#define BERTH_GRAPH_CONSTANT_H

#include "graph/graph.h"

/* True for types that draw random numbers or keep state. */
bool berth_type_is_impure(const char *op_type);
/* True for types that yield the shape or the size of what they read, not its content. */
bool berth_type_asks_shape(const char *op_type);
/* True for types that yield a stored or derived value without reading anything. */
bool berth_type_is_stored(const char *op_type);
/* Set BERTH_OP_CONSTANT and BERTH_TENSOR_CONSTANT throughout, in topological order. Needs final shapes. */
void berth_graph_mark_constants(berth_graph *graph);

#endif
