/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of operations that pass over their data, of pooling and of convolutions. Elementwise operations count one per
 * output element whatever the function: how long an exponential takes is a matter of the device. A convolution counts
 * 2 x outputs x weights that each output reads, a transposed one 2 x inputs x weights that each input is spread by. */
#include "graph/flops.h"

#include "graph/measure.h"

#include <math.h>
#include <string.h>

double berth_flops_none(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)graph, (void)op, (void)parameter;
    return 0;
}

double berth_flops_unknown(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)graph, (void)op, (void)parameter;
    return NAN;
}

static double outputs_of(const berth_graph *graph, const berth_op *op) {
    berth_shape shape = berth_measure_output(graph, op, 0);
    return berth_measure_elements(&shape);
}

static double inputs_of(const berth_graph *graph, const berth_op *op) {
    berth_shape shape = berth_measure_input(graph, op, 0);
    return berth_measure_elements(&shape);
}

double berth_flops_per_output(const berth_graph *graph, const berth_op *op, int parameter) {
    return parameter * outputs_of(graph, op);
}

double berth_flops_per_input(const berth_graph *graph, const berth_op *op, int parameter) {
    return parameter * inputs_of(graph, op);
}

double berth_flops_variadic(const berth_graph *graph, const berth_op *op, int parameter) {
    int32_t further = op->n_inputs > 2 ? op->n_inputs - 1 : 1;
    return parameter * further * outputs_of(graph, op);
}

/* Elements of the window: kernel_shape in ONNX, kernel in IR, kernel-x and kernel-y in the oldest IR. */
static double kernel_of(const berth_op *op) {
    double old = berth_measure_number(op, "kernel-x", NAN) * berth_measure_number(op, "kernel-y", NAN);
    return berth_measure_values(op, "kernel_shape", berth_measure_values(op, "kernel", old));
}

double berth_flops_pool(const berth_graph *graph, const berth_op *op, int parameter) {
    (void)parameter;
    return outputs_of(graph, op) * kernel_of(op);
}

/* IR before version 10 has the weights inside the operation and says in attributes what they are. */
static bool has_legacy_weights(const berth_op *op) {
    return berth_op_attribute(op, "output") != NULL;
}

static double channels_of(const berth_graph *graph, const berth_op *op) {
    berth_shape shape = berth_measure_input(graph, op, 0);
    return berth_measure_dim(&shape, strncmp(op->type, "Nhwc", 4) == 0 ? -1 : 1);
}

/* One addition per output where the operation has a bias: a vector at port 2, or at 8 of QLinearConv. */
static double bias_of(const berth_graph *graph, const berth_op *op, int weights_port) {
    berth_shape bias = berth_measure_input(graph, op, weights_port == 3 ? 8 : 2);
    return bias.rank == 1 ? outputs_of(graph, op) : 0;
}

double berth_flops_conv(const berth_graph *graph, const berth_op *op, int parameter) {
    berth_shape weights = berth_measure_input(graph, op, parameter);
    double per_output = has_legacy_weights(op)
                            ? kernel_of(op) * channels_of(graph, op) / berth_measure_number(op, "group", 1)
                            : berth_measure_product(&weights, 1, 0);
    return 2 * outputs_of(graph, op) * per_output + bias_of(graph, op, parameter);
}

double berth_flops_group_conv(const berth_graph *graph, const berth_op *op, int parameter) {
    berth_shape weights = berth_measure_input(graph, op, parameter);
    return 2 * outputs_of(graph, op) * berth_measure_product(&weights, 2, 0);
}

double berth_flops_conv_transpose(const berth_graph *graph, const berth_op *op, int parameter) {
    berth_shape weights = berth_measure_input(graph, op, parameter);
    double per_input = has_legacy_weights(op) ? kernel_of(op) * berth_measure_number(op, "output", NAN) /
                                                    berth_measure_number(op, "group", 1)
                                              : berth_measure_product(&weights, 1, 0);
    return 2 * inputs_of(graph, op) * per_input + bias_of(graph, op, parameter);
}

double berth_flops_group_conv_transpose(const berth_graph *graph, const berth_op *op, int parameter) {
    berth_shape weights = berth_measure_input(graph, op, parameter);
    return 2 * inputs_of(graph, op) * berth_measure_product(&weights, 2, 0);
}

bool berth_flops_is_depthwise(const berth_graph *graph, const berth_op *op, berth_flops_fn flops) {
    bool grouped = flops == berth_flops_group_conv || flops == berth_flops_group_conv_transpose;
    berth_shape weights = berth_measure_input(graph, op, 1);
    double groups = grouped ? berth_measure_dim(&weights, 0) : berth_measure_number(op, "group", 1);
    return groups > 1 && groups == channels_of(graph, op);
}
