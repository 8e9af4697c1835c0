/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes as real numbers. Doubles hold every count up to 2^53 exactly and never overflow; a FLOP count beyond that is
 * good to 16 digits. Values of IR attributes are text such as "3,3" or "true". */
#include "graph/measure.h"

#include "graph/element.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static berth_shape shape_of(const berth_graph *graph, const int32_t *tensors, int32_t n, int32_t port) {
    if (port < 0 || port >= n || tensors[port] < 0) return (berth_shape){.rank = -1};
    return graph->tensors[tensors[port]].shape;
}

berth_shape berth_measure_input(const berth_graph *graph, const berth_op *op, int32_t port) {
    return shape_of(graph, op->inputs, op->n_inputs, port);
}

berth_shape berth_measure_output(const berth_graph *graph, const berth_op *op, int32_t port) {
    return shape_of(graph, op->outputs, op->n_outputs, port);
}

double berth_measure_dim(const berth_shape *shape, int32_t axis) {
    if (axis < 0) axis += shape->rank;
    if (axis < 0 || axis >= shape->rank || !berth_dim_is_static(&shape->dims[axis])) return NAN;
    return (double)shape->dims[axis].min;
}

double berth_measure_product(const berth_shape *shape, int32_t first, int32_t drop) {
    if (shape->rank < first + drop) return NAN;
    double product = 1;
    for (int32_t i = first; i < shape->rank - drop; i++) product *= berth_measure_dim(shape, i);
    return product;
}

double berth_measure_elements(const berth_shape *shape) {
    return berth_measure_product(shape, 0, 0);
}

bool berth_measure_flag(const berth_op *op, const char *name) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    if (attribute && attribute->kind == BERTH_ATTRIBUTE_STRING && strcmp(attribute->string, "true") == 0) return true;
    double value = berth_measure_number(op, name, 0);
    return value != 0 && !isnan(value);
}

double berth_measure_number(const berth_op *op, const char *name, double fallback) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    if (!attribute) return fallback;
    if (attribute->kind == BERTH_ATTRIBUTE_INTS) return attribute->count > 0 ? (double)attribute->ints[0] : fallback;
    if (attribute->kind != BERTH_ATTRIBUTE_STRING) return NAN;
    char *end = NULL;
    errno = 0;
    long long value = strtoll(attribute->string, &end, 10);
    return end == attribute->string || errno ? NAN : (double)value;
}

/* "3,3", "3, 3" or "3 3". */
static double multiply_text(const char *text) {
    double product = 1;
    for (;;) {
        text += strspn(text, " ,\t\n\r");
        if (!*text) return product;
        char *end = NULL;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || errno) return NAN;
        product *= (double)value;
        text = end;
    }
}

double berth_measure_values(const berth_op *op, const char *name, double fallback) {
    const berth_attribute *attribute = berth_op_attribute(op, name);
    if (!attribute) return fallback;
    if (attribute->kind == BERTH_ATTRIBUTE_STRING) return multiply_text(attribute->string);
    if (attribute->kind != BERTH_ATTRIBUTE_INTS) return NAN;
    double product = 1;
    for (int32_t i = 0; i < attribute->count; i++) product *= (double)attribute->ints[i];
    return product;
}
