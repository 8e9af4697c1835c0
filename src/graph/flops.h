/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of one operation: 2 x multiply-adds for products, else a small count per element. Each function returns NAN
 * where a shape that it needs is not known. What `parameter` means stands with each. */
#ifndef BERTH_GRAPH_FLOPS_H
#define BERTH_GRAPH_FLOPS_H

#include "graph/graph.h"

typedef double (*berth_flops_fn)(const berth_graph *graph, const berth_op *op, int parameter);

double berth_flops_none(const berth_graph *graph, const berth_op *op, int parameter);       /* no arithmetic: 0 */
double berth_flops_unknown(const berth_graph *graph, const berth_op *op, int parameter);    /* depends on the data */
double berth_flops_per_output(const berth_graph *graph, const berth_op *op, int parameter); /* FLOPs per element */
double berth_flops_per_input(const berth_graph *graph, const berth_op *op, int parameter);  /* ... of input 0 */
double berth_flops_variadic(const berth_graph *graph, const berth_op *op, int parameter);   /* ... per further input */
double berth_flops_pool(const berth_graph *graph, const berth_op *op, int parameter);       /* not used */

/* Convolutions. Parameter: the port of the weights. */
double berth_flops_conv(const berth_graph *graph, const berth_op *op, int parameter);
double berth_flops_group_conv(const berth_graph *graph, const berth_op *op, int parameter);
double berth_flops_conv_transpose(const berth_graph *graph, const berth_op *op, int parameter);
double berth_flops_group_conv_transpose(const berth_graph *graph, const berth_op *op, int parameter);
/* Whether the groups of a convolution, counted by one of the four above, have one input channel each. */
bool berth_flops_is_depthwise(const berth_graph *graph, const berth_op *op, berth_flops_fn flops);

/* Products. */
double berth_flops_matmul(const berth_graph *graph, const berth_op *op, int parameter); /* not used */
double berth_flops_gemm(const berth_graph *graph, const berth_op *op, int parameter);   /* port of the addend */
double berth_flops_fully_connected(const berth_graph *graph, const berth_op *op, int parameter); /* not used */
double berth_flops_einsum(const berth_graph *graph, const berth_op *op, int parameter);          /* not used */
double berth_flops_recurrent(const berth_graph *graph, const berth_op *op, int parameter); /* port of W; R follows */
double berth_flops_attention(const berth_graph *graph, const berth_op *op, int parameter); /* not used */
double berth_flops_projected_attention(const berth_graph *graph, const berth_op *op, int parameter); /* not used */

#endif
