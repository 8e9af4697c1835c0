/* SPDX-License-Identifier: Apache-2.0 */
/* The estimate for one operation on one device. */
#ifndef BERTH_COST_ROOFLINE_H
#define BERTH_COST_ROOFLINE_H

#include "berth/device.h"
#include "graph/graph.h"

/* The type in which an operation computes: of its first input for products, else of its first output; f32 if neither
 * is known. */
berth_type berth_roofline_type(const berth_graph *graph, const berth_op *op, berth_work_class cls);
/* FLOP/s of a device in that type; where it has no rate of its own, that of the signed type of equal width, else that
 * of f32. 0: none of them. */
double berth_roofline_rate(const berth_device *device, berth_type type);
/* Milliseconds without the launch; INFINITY if the device has no rate. Whether it supports the type of operation is not
 * asked here. */
double berth_roofline_ms(const berth_device *device, const berth_op_work *work, berth_type type);

#endif
