/* SPDX-License-Identifier: Apache-2.0 */
/* The part of onnx.proto that the reader knows, and a cursor that holds files to it.
 *
 *     berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, &field);
 *     berth_wire_field inner;
 *     while (berth_onnx_next(&message, &inner)) switch (inner.number) { ... }
 *     BERTH_TRY(message.status);
 *
 * Unknown fields are passed over. A known field of the wrong wire type is an error, as is a name with a NUL in it, and
 * a single message that stands twice (protobuf would merge the two; no writer makes such files, and a merged graph or
 * tensor is nothing a user could have meant). Of a single number or string that stands twice the last one counts. */
#ifndef BERTH_READ_ONNX_SCHEMA_H
#define BERTH_READ_ONNX_SCHEMA_H

#include "graph/build.h"
#include "read/protobuf.h"
#include "read/source.h"

typedef struct berth_onnx_schema berth_onnx_schema;
extern const berth_onnx_schema berth_onnx_model, berth_onnx_opset, berth_onnx_graph, berth_onnx_node,
    berth_onnx_attribute, berth_onnx_tensor_proto, berth_onnx_sparse, berth_onnx_value, berth_onnx_type,
    berth_onnx_tensor_type, berth_onnx_shape, berth_onnx_dimension, berth_onnx_entry;

/* Field numbers, where more than one file needs them. */
enum {
    ONNX_GRAPH_NODE = 1,
    ONNX_GRAPH_NAME = 2,
    ONNX_GRAPH_INITIALIZER = 5,
    ONNX_GRAPH_INPUT = 11,
    ONNX_GRAPH_OUTPUT = 12,
    ONNX_GRAPH_VALUE_INFO = 13,
    ONNX_GRAPH_SPARSE_INITIALIZER = 15,

    ONNX_NODE_INPUT = 1,
    ONNX_NODE_OUTPUT = 2,
    ONNX_NODE_NAME = 3,
    ONNX_NODE_OP_TYPE = 4,
    ONNX_NODE_ATTRIBUTE = 5,
    ONNX_NODE_DOMAIN = 7,

    ONNX_ATTRIBUTE_G = 6,
    ONNX_ATTRIBUTE_GRAPHS = 11,

    ONNX_TENSOR_STRING_DATA = 6,
    ONNX_TENSOR_NAME = 8,

    ONNX_SPARSE_VALUES = 1,
    ONNX_SPARSE_INDICES = 2,

    ONNX_VALUE_NAME = 1,
    ONNX_VALUE_TYPE = 2,

    ONNX_OPSET_DOMAIN = 1,
    ONNX_OPSET_VERSION = 2,
};

/* A name as it stands in the file; not NUL-terminated. */
typedef struct berth_onnx_name {
    const char *bytes;
    size_t size;
} berth_onnx_name;

/* What the reading of one file shares. */
typedef struct berth_onnx {
    berth_build *b;
    const berth_source *source;
    const char *bytes; /* of the source */
    size_t size;
    size_t relaxed; /* where the reading stood when pages of the file were last given back */
    const berth_read_options *options;
    int64_t opset;       /* of the default domain; 0: not imported */
    berth_arena scratch; /* what dies before the reading ends */

    /* The operation at hand: tensors of its ports, captures behind the inputs. */
    BERTH_VEC(int32_t) inputs;
    BERTH_VEC(int32_t) outputs;

    /* Nested graphs (onnx_nest.c). */
    berth_map scope;    /* names defined in nested graphs -> how many graphs around here define it */
    berth_map captured; /* names captured so far -> the last operation that did */
    BERTH_VEC(berth_onnx_name) defined;
} berth_onnx;

typedef struct berth_onnx_message {
    berth_onnx *reader;
    const berth_onnx_schema *schema;
    berth_wire wire;
    uint32_t seen; /* single messages met so far, by number */
    berth_status status;
} berth_onnx_message;

/* The fields inside a length-delimited field. */
berth_onnx_message berth_onnx_open(berth_onnx *reader, const berth_onnx_schema *schema, const berth_wire_field *field);
/* The next field that the schema knows; false at the end and after a failure (message->status). */
bool berth_onnx_next(berth_onnx_message *message, berth_wire_field *field);

/* Look without a reader: is this a field that the schema knows, in the right wire type? */
bool berth_onnx_knows(const berth_onnx_schema *schema, const berth_wire_field *field);

/* The numbers of a repeated field, packed or not. A failure is the message's. */
typedef struct berth_onnx_list {
    berth_onnx_message *message;
    berth_wire wire;
    berth_wire_type type;
} berth_onnx_list;
berth_onnx_list berth_onnx_list_open(berth_onnx_message *message, const berth_wire_field *field);
bool berth_onnx_list_next(berth_onnx_list *list, uint64_t *value);

static inline berth_onnx_name berth_onnx_field_name(const berth_onnx_message *message, const berth_wire_field *field) {
    return (berth_onnx_name){berth_wire_content(&message->wire, field->at, field->size), field->size};
}

#endif
