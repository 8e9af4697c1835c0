/* SPDX-License-Identifier: Apache-2.0 */
/* Constant expressions: operations computed from constants alone, before the model runs. */
#ifndef BERTH_GRAPH_CONSTANT_H
#define BERTH_GRAPH_CONSTANT_H

#include "graph/graph.h"

/* True for types that draw random numbers or keep state. */
bool berth_type_is_impure(const char *op_type);
/* Set BERTH_OP_CONSTANT and BERTH_TENSOR_CONSTANT throughout, in topological order. Needs final shapes. */
void berth_graph_mark_constants(berth_graph *graph);

#endif
