/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and attributes of an operation as real numbers, for formulas: what is not known is NAN, which spreads through
 * products by itself. */
#ifndef BERTH_GRAPH_MEASURE_H
#define BERTH_GRAPH_MEASURE_H

#include "graph/graph.h"

/* The shape at a port; rank -1 if the port is left out, does not exist or has no known rank. */
berth_shape berth_measure_input(const berth_graph *graph, const berth_op *op, int32_t port);
berth_shape berth_measure_output(const berth_graph *graph, const berth_op *op, int32_t port);

/* One dimension; -1 is the last. */
double berth_measure_dim(const berth_shape *shape, int32_t axis);
/* Product of the dimensions from `first` on, `drop` of them left out at the end. */
double berth_measure_product(const berth_shape *shape, int32_t first, int32_t drop);
double berth_measure_elements(const berth_shape *shape);

/* An attribute as ONNX (numbers) or IR (text) has it. */
bool berth_measure_flag(const berth_op *op, const char *name);
/* The first value, or `fallback` if there is no such attribute. */
double berth_measure_number(const berth_op *op, const char *name, double fallback);
/* The product of all values, or `fallback`. */
double berth_measure_values(const berth_op *op, const char *name, double fallback);

#endif
