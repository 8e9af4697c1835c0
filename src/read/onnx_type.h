/* SPDX-License-Identifier: Apache-2.0 */
/* TypeProto and ValueInfoProto: what the file declares of a value. */
#ifndef BERTH_READ_ONNX_TYPE_H
#define BERTH_READ_ONNX_TYPE_H

#include "read/onnx_schema.h"

typedef struct berth_onnx_declared {
    int64_t where;
    berth_onnx_name name;
    berth_type type; /* BERTH_TYPE_UNKNOWN if the file does not say */
    berth_shape shape;
} berth_onnx_declared;

/* Read a ValueInfoProto; the shape goes to `arena`. */
berth_status berth_onnx_declared_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                      berth_onnx_declared *out);
/* Read a TypeProto alone. */
berth_status berth_onnx_type_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                  berth_type *type, berth_shape *shape);
/* Add to a tensor of the graph what is declared of it; refused if it contradicts what is known already. */
berth_status berth_onnx_declare(berth_onnx *reader, int32_t tensor, const berth_onnx_declared *declared);

#endif
