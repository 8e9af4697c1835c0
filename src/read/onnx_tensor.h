/* SPDX-License-Identifier: Apache-2.0 */
/* TensorProto and SparseTensorProto: stored constants. */
#ifndef BERTH_READ_ONNX_TENSOR_H
#define BERTH_READ_ONNX_TENSOR_H

#include "read/onnx_schema.h"

enum { BERTH_ONNX_KEPT_BYTES = 1024 }; /* the content of larger constants is not kept */

typedef struct berth_onnx_tensor {
    berth_onnx_name name;
    int64_t number; /* ONNX's own number of the element type; it tells the 8-bit floats apart */
    berth_type type;
    berth_shape shape;
    bool external;         /* stored in another file */
    int64_t payload_bytes; /* of the packed elements; of strings the sum of their lengths */
    const void *content;   /* as berth_tensor has it */
    int64_t content_size;
} berth_onnx_tensor;

/* The element type of that number: BERTH_TYPE_UNKNOWN for 0, BERTH_TYPE_COUNT for numbers that ONNX does not have. */
berth_type berth_onnx_element(int64_t number);

/* Check and describe a tensor; shape and content go to `arena`. Larger payloads are not touched. `window` may be NULL;
 * through one, the name is good only until the window moves. */
berth_status berth_onnx_tensor_read(berth_onnx *reader, berth_arena *arena, berth_wire_window *window,
                                    const berth_wire_field *field, berth_onnx_tensor *out);
/* The same for a sparse tensor, described as the dense one that it stands for; its content is not kept. */
berth_status berth_onnx_sparse_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                    berth_onnx_tensor *out);

/* Type, shape and content of a tensor of the graph from a stored one. */
void berth_onnx_tensor_assign(berth_tensor *tensor, const berth_onnx_tensor *stored);

#endif
