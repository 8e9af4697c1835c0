/* SPDX-License-Identifier: Apache-2.0 */
/* The blocks of the paper that need no search of the graph: type, shape, degrees, position (shared/HSDAG.md 3.1). */
#include "policy/features.h"

#include <math.h>
#include <string.h>

#include "graph/graph.h"

static berth_real *row_of(berth_block block, int32_t node) {
    return block.first + (size_t)node * (size_t)block.stride;
}

/* --- type ------------------------------------------------------------------------------------------------------- */

static int32_t type_index(int32_t n_types, const char *const *types, const char *type) {
    int32_t low = 0, high = n_types;
    while (low < high) {
        int32_t middle = low + (high - low) / 2, order = strcmp(types[middle], type);
        if (order == 0) return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

void berth_feature_type(const berth_view *view, int32_t n_types, const char *const *types, berth_block block) {
    for (int32_t node = 0; view->ops && n_types > 0 && node < view->n_nodes; node++) {
        int32_t first = view->op_start[node], end = view->op_start[node + 1];
        berth_real *row = row_of(block, node);
        for (int32_t i = first; i < end; i++) {
            int32_t type = type_index(n_types, types, view->costs->graph->ops[view->ops[i]].type);
            if (type >= 0) row[type] += 1;
        }
        for (int32_t type = 0; type < n_types; type++) row[type] /= (berth_real)(end - first);
    }
}

/* --- shape ------------------------------------------------------------------------------------------------------ */

/* The last output of a node's last operation, or NULL. */
static const berth_shape *node_shape(const berth_view *view, int32_t node) {
    if (!view->ops || view->op_start[node] == view->op_start[node + 1]) return NULL;
    const berth_graph *graph = view->costs->graph;
    const berth_op *op = &graph->ops[view->ops[view->op_start[node + 1] - 1]];
    for (int32_t i = op->n_outputs - 1; i >= 0; i--)
        if (op->outputs[i] >= 0) return &graph->tensors[op->outputs[i]].shape;
    /* Results yield nothing of their own: what they pass on. */
    for (int32_t i = 0; i < op->n_inputs; i++)
        if (op->inputs[i] >= 0) return &graph->tensors[op->inputs[i]].shape;
    return NULL;
}

int32_t berth_node_rank(const berth_view *view, int32_t node) {
    const berth_shape *shape = node_shape(view, node);
    return shape ? shape->rank : -1;
}

void berth_feature_shape(const berth_view *view, int32_t n_dims, berth_block block) {
    for (int32_t node = 0; n_dims > 0 && node < view->n_nodes; node++) {
        const berth_shape *shape = node_shape(view, node);
        for (int32_t i = 0; shape && i < shape->rank && i < n_dims; i++) {
            /* A dimension that is not fixed counts by its least value: the largest may be unlimited. */
            row_of(block, node)[i] = (berth_real)log1p((double)shape->dims[i].min);
        }
    }
}

/* --- degrees ---------------------------------------------------------------------------------------------------- */

void berth_feature_degree(int32_t n_nodes, const int32_t *degree, int32_t n_values, const int32_t *values,
                          berth_block block) {
    for (int32_t node = 0; n_values > 0 && node < n_nodes; node++) {
        int32_t low = 0, high = n_values; /* the last value that is at most the degree, or the first of all */
        while (high - low > 1) {
            int32_t middle = low + (high - low) / 2;
            if (values[middle] <= degree[node])
                low = middle;
            else
                high = middle;
        }
        row_of(block, node)[low] = 1;
    }
}

/* --- position --------------------------------------------------------------------------------------------------- */

void berth_feature_index(int32_t n_nodes, berth_block block) {
    for (int32_t node = 0; node < n_nodes; node++) *row_of(block, node) = (berth_real)node;
}

void berth_feature_rank(int32_t n_nodes, berth_block block) {
    for (int32_t node = 0; node < n_nodes; node++) *row_of(block, node) = (berth_real)((double)node / n_nodes);
}

/* PE(pos, 2i) = sin(pos / 10000^(2i / width)), PE(pos, 2i + 1) = cos of the same. */
static double positional_encoding(int32_t position, int32_t column, int32_t width) {
    int32_t even = column - column % 2;
    double angle = position / pow(10000, (double)even / width);
    return column % 2 == 0 ? sin(angle) : cos(angle);
}

void berth_feature_sinusoid(int32_t n_nodes, int32_t width, berth_block block) {
    for (int32_t node = 0; node < n_nodes; node++)
        for (int32_t column = 0; column < width; column++)
            row_of(block, node)[column] = (berth_real)positional_encoding(node + 1, column, width);
}
