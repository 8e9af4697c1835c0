/* SPDX-License-Identifier: Apache-2.0 */
/* The part of onnx.proto that the reader knows: for each message a table of fields by number. Annotations
 * (doc_string, metadata_props), training information and model-local functions have no row and are passed over. */
#include "read/onnx_schema.h"

#include <string.h>

typedef enum field_kind {
    KIND_NONE,
    KIND_INT,
    KIND_FLOAT,
    KIND_NAME,   /* a string without NUL bytes */
    KIND_DATA,   /* any bytes */
    KIND_SINGLE, /* a message, at most once */
    KIND_MANY,   /* messages */
    KIND_INTS,   /* lists of numbers, packed or not */
    KIND_FLOATS,
    KIND_DOUBLES
} field_kind;

enum { N_FIELDS = 24, RELAX_BYTES = 1 << 25 };

struct berth_onnx_schema {
    const char *name;
    struct {
        const char *name;
        field_kind kind;
    } fields[N_FIELDS];
};

const berth_onnx_schema berth_onnx_model = {"ModelProto",
                                            {[1] = {"ir_version", KIND_INT},
                                             [2] = {"producer_name", KIND_DATA},
                                             [3] = {"producer_version", KIND_DATA},
                                             [4] = {"domain", KIND_DATA},
                                             [5] = {"model_version", KIND_INT},
                                             [6] = {"doc_string", KIND_DATA},
                                             [7] = {"graph", KIND_SINGLE},
                                             [8] = {"opset_import", KIND_MANY},
                                             [14] = {"metadata_props", KIND_MANY},
                                             [20] = {"training_info", KIND_MANY}}};
const berth_onnx_schema berth_onnx_opset = {"OperatorSetIdProto",
                                            {[1] = {"domain", KIND_NAME}, [2] = {"version", KIND_INT}}};
const berth_onnx_schema berth_onnx_entry = {"StringStringEntryProto",
                                            {[1] = {"key", KIND_DATA}, [2] = {"value", KIND_DATA}}};
const berth_onnx_schema berth_onnx_graph = {"GraphProto",
                                            {[1] = {"node", KIND_MANY},
                                             [2] = {"name", KIND_NAME},
                                             [5] = {"initializer", KIND_MANY},
                                             [10] = {"doc_string", KIND_DATA},
                                             [11] = {"input", KIND_MANY},
                                             [12] = {"output", KIND_MANY},
                                             [13] = {"value_info", KIND_MANY},
                                             [15] = {"sparse_initializer", KIND_MANY}}};
const berth_onnx_schema berth_onnx_node = {"NodeProto",
                                           {[1] = {"input", KIND_NAME},
                                            [2] = {"output", KIND_NAME},
                                            [3] = {"name", KIND_NAME},
                                            [4] = {"op_type", KIND_NAME},
                                            [5] = {"attribute", KIND_MANY},
                                            [7] = {"domain", KIND_NAME}}};
const berth_onnx_schema berth_onnx_attribute = {"AttributeProto",
                                                {[1] = {"name", KIND_NAME},
                                                 [2] = {"f", KIND_FLOAT},
                                                 [3] = {"i", KIND_INT},
                                                 [4] = {"s", KIND_DATA},
                                                 [5] = {"t", KIND_SINGLE},
                                                 [6] = {"g", KIND_SINGLE},
                                                 [7] = {"floats", KIND_FLOATS},
                                                 [8] = {"ints", KIND_INTS},
                                                 [9] = {"strings", KIND_DATA},
                                                 [10] = {"tensors", KIND_MANY},
                                                 [11] = {"graphs", KIND_MANY},
                                                 [14] = {"tp", KIND_SINGLE},
                                                 [15] = {"type_protos", KIND_MANY},
                                                 [20] = {"type", KIND_INT},
                                                 [22] = {"sparse_tensor", KIND_SINGLE},
                                                 [23] = {"sparse_tensors", KIND_MANY}}};
const berth_onnx_schema berth_onnx_tensor_proto = {"TensorProto",
                                                   {[1] = {"dims", KIND_INTS},
                                                    [2] = {"data_type", KIND_INT},
                                                    [4] = {"float_data", KIND_FLOATS},
                                                    [5] = {"int32_data", KIND_INTS},
                                                    [6] = {"string_data", KIND_DATA},
                                                    [7] = {"int64_data", KIND_INTS},
                                                    [8] = {"name", KIND_NAME},
                                                    [9] = {"raw_data", KIND_DATA},
                                                    [10] = {"double_data", KIND_DOUBLES},
                                                    [11] = {"uint64_data", KIND_INTS},
                                                    [13] = {"external_data", KIND_MANY},
                                                    [14] = {"data_location", KIND_INT}}};
const berth_onnx_schema berth_onnx_sparse = {
    "SparseTensorProto", {[1] = {"values", KIND_SINGLE}, [2] = {"indices", KIND_SINGLE}, [3] = {"dims", KIND_INTS}}};
const berth_onnx_schema berth_onnx_value = {"ValueInfoProto", {[1] = {"name", KIND_NAME}, [2] = {"type", KIND_SINGLE}}};
const berth_onnx_schema berth_onnx_type = {"TypeProto",
                                           {[1] = {"tensor_type", KIND_SINGLE},
                                            [4] = {"sequence_type", KIND_SINGLE},
                                            [5] = {"map_type", KIND_SINGLE},
                                            [7] = {"opaque_type", KIND_SINGLE},
                                            [8] = {"sparse_tensor_type", KIND_SINGLE},
                                            [9] = {"optional_type", KIND_SINGLE}}};
const berth_onnx_schema berth_onnx_tensor_type = {"TypeProto.Tensor",
                                                  {[1] = {"elem_type", KIND_INT}, [2] = {"shape", KIND_SINGLE}}};
const berth_onnx_schema berth_onnx_shape = {"TensorShapeProto", {[1] = {"dim", KIND_MANY}}};
const berth_onnx_schema berth_onnx_dimension = {"Dimension",
                                                {[1] = {"dim_value", KIND_INT}, [2] = {"dim_param", KIND_NAME}}};

static field_kind kind_of(const berth_onnx_schema *schema, const berth_wire_field *field) {
    return field->number < N_FIELDS ? schema->fields[field->number].kind : KIND_NONE;
}

static bool fits(field_kind kind, berth_wire_type type) {
    switch (kind) {
    case KIND_NONE: return true;
    case KIND_INT: return type == BERTH_WIRE_VARINT;
    case KIND_FLOAT: return type == BERTH_WIRE_FIXED32;
    case KIND_NAME:
    case KIND_DATA:
    case KIND_SINGLE:
    case KIND_MANY: return type == BERTH_WIRE_BYTES;
    case KIND_INTS: return type == BERTH_WIRE_VARINT || type == BERTH_WIRE_BYTES;
    case KIND_FLOATS: return type == BERTH_WIRE_FIXED32 || type == BERTH_WIRE_BYTES;
    case KIND_DOUBLES: return type == BERTH_WIRE_FIXED64 || type == BERTH_WIRE_BYTES;
    }
    return false;
}

bool berth_onnx_knows(const berth_onnx_schema *schema, const berth_wire_field *field) {
    field_kind kind = kind_of(schema, field);
    return kind != KIND_NONE && fits(kind, field->type);
}

berth_onnx_message berth_onnx_open(berth_onnx *reader, const berth_onnx_schema *schema, const berth_wire_field *field) {
    return (berth_onnx_message){.reader = reader,
                                .schema = schema,
                                .wire = {.bytes = reader->bytes, .at = field->at, .end = field->at + field->size}};
}

static berth_status check_field(berth_onnx_message *message, const berth_wire_field *field, field_kind kind) {
    berth_build *b = message->reader->b;
    const char *name = message->schema->fields[field->number].name;
    if (!fits(kind, field->type))
        return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "'%s' of a %s has wire type %d", name,
                                message->schema->name, (int)field->type);
    if (kind == KIND_SINGLE && message->seen & 1u << field->number)
        return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "'%s' stands twice in a %s", name,
                                message->schema->name);
    if (kind == KIND_NAME && field->size &&
        memchr(berth_wire_content(&message->wire, field->at, field->size), 0, field->size))
        return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "'%s' of a %s holds a NUL byte", name,
                                message->schema->name);
    message->seen |= 1u << field->number;
    return BERTH_OK;
}

/* Every page that is read stays in memory, with what the kernel maps around it (2 MiB where the page cache has large
 * pages): give them back from time to time, or the memory taken would grow with the weights. */
static void relax(berth_onnx *reader, size_t at) {
    size_t distance = at > reader->relaxed ? at - reader->relaxed : reader->relaxed - at;
    if (distance < RELAX_BYTES) return;
    berth_source_relax(reader->source);
    reader->relaxed = at;
}

bool berth_onnx_next(berth_onnx_message *message, berth_wire_field *field) {
    while (message->status == BERTH_OK && berth_wire_next(&message->wire, field)) {
        if (!message->wire.window) relax(message->reader, message->wire.at);
        field_kind kind = kind_of(message->schema, field);
        if (kind == KIND_NONE) continue;
        message->status = check_field(message, field, kind);
        return message->status == BERTH_OK;
    }
    if (message->wire.problem)
        message->status = berth_build_fail(message->reader->b, BERTH_E_FORMAT, (int64_t)message->wire.at, "%s, in a %s",
                                           message->wire.problem, message->schema->name);
    return false;
}

berth_onnx_list berth_onnx_list_open(berth_onnx_message *message, const berth_wire_field *field) {
    field_kind kind = kind_of(message->schema, field);
    berth_onnx_list list = {.message = message, .wire = message->wire};
    list.wire.at = field->at;
    list.wire.end = field->at + field->size;
    list.type = kind == KIND_FLOATS    ? BERTH_WIRE_FIXED32
                : kind == KIND_DOUBLES ? BERTH_WIRE_FIXED64
                                       : BERTH_WIRE_VARINT;
    return list;
}

bool berth_onnx_list_next(berth_onnx_list *list, uint64_t *value) {
    if (berth_wire_item(&list->wire, list->type, value)) return true;
    if (list->wire.problem)
        list->message->status = berth_build_fail(list->message->reader->b, BERTH_E_FORMAT, (int64_t)list->wire.at,
                                                 "%s, in a list", list->wire.problem);
    return false;
}
