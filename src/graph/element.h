/* SPDX-License-Identifier: Apache-2.0 */
/* Element types and shapes: small helpers shared by readers and shape inference. */
#ifndef BERTH_GRAPH_ELEMENT_H
#define BERTH_GRAPH_ELEMENT_H

#include "berth/graph.h"

static inline berth_dim berth_dim_static(int64_t size) {
    return (berth_dim){size, size, NULL};
}

static inline berth_dim berth_dim_unknown(void) {
    return (berth_dim){0, INT64_MAX, NULL};
}

static inline bool berth_dim_is_static(const berth_dim *dim) {
    return dim->min == dim->max;
}

/* Whether the number of elements and of bytes fit 63 bits. Dimensions that are not static count as one, a zero makes
 * everything fit; elements smaller than a byte pack, and their number alone must fit. */
bool berth_shape_product_fits(const berth_shape *shape, int bits);
/* Bytes of a tensor of that type and shape, rounded up to whole bytes; -1 if not known. */
int64_t berth_tensor_size(berth_type type, const berth_shape *shape);

#endif
