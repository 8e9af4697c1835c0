/* SPDX-License-Identifier: Apache-2.0 */
/* AttributeProto: the constants that are part of an operation. */
#ifndef BERTH_READ_ONNX_ATTRIBUTE_H
#define BERTH_READ_ONNX_ATTRIBUTE_H

#include "read/onnx_schema.h"

/* Numbers of AttributeProto.type. */
typedef enum berth_onnx_attribute_type {
    BERTH_ONNX_UNDEFINED,
    BERTH_ONNX_FLOAT,
    BERTH_ONNX_INT,
    BERTH_ONNX_STRING,
    BERTH_ONNX_TENSOR,
    BERTH_ONNX_GRAPH,
    BERTH_ONNX_FLOATS,
    BERTH_ONNX_INTS,
    BERTH_ONNX_STRINGS,
    BERTH_ONNX_TENSORS,
    BERTH_ONNX_GRAPHS,
    BERTH_ONNX_SPARSE_TENSOR,
    BERTH_ONNX_SPARSE_TENSORS,
    BERTH_ONNX_TYPE_PROTO,
    BERTH_ONNX_TYPE_PROTOS,
    BERTH_ONNX_ATTRIBUTE_TYPES
} berth_onnx_attribute_type;

/* What an attribute is, before its values are taken. */
typedef struct berth_onnx_scan {
    berth_onnx_name name;
    berth_onnx_attribute_type type; /* inferred from the values where the file does not say */
    uint32_t holder;                /* the field with the values, by number; 0: none, the value is zero or empty */
    size_t n;                       /* values; of a single value that stands twice the last one counts */
    berth_wire_field last;          /* the last of the fields with values */
} berth_onnx_scan;

/* Refuses attributes without a name, of unknown type, or with values of more than one kind. */
berth_status berth_onnx_attribute_scan(berth_onnx *reader, const berth_wire_field *field, berth_onnx_scan *out);
/* The attribute with its values in `arena`; what the graph does not keep becomes a digest (onnx_digest.c). */
berth_status berth_onnx_attribute_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                       berth_attribute *out);

#endif
