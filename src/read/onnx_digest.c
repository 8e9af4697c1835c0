/* SPDX-License-Identifier: Apache-2.0 */
/* The canonical form behind a digest. Every item is written with its length or count in front, so that no two values
 * have the same form:
 *
 *   strings          each string
 *   tensor           element type, dimensions, content up to 1 KiB
 *   sparse tensor    element type, dimensions (its stored values are not covered)
 *   type             element type and dimensions; the bytes as they stand for anything but a tensor
 *   graph            nodes (name, type, domain, inputs, outputs, attributes), initializers, inputs, outputs, in this
 *                    order whatever the order of the file; attributes of nodes by their own values or digests
 *
 * Annotations, names of nested graphs and value_info are not covered. Each byte of the file is visited a fixed number
 * of times however deep it stands. */
#include "read/onnx_digest.h"

#include "read/onnx_tensor.h"
#include "read/onnx_type.h"

#include <string.h>

static berth_status put_graph(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field);

static void put_int(berth_sha256 *sha, int64_t value) {
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++) bytes[i] = (unsigned char)((uint64_t)value >> (8 * i));
    berth_sha256_update(sha, bytes, sizeof bytes);
}

static void put_bytes(berth_sha256 *sha, const void *bytes, size_t n) {
    put_int(sha, (int64_t)n);
    if (n) berth_sha256_update(sha, bytes, n);
}

static void put_shape(berth_sha256 *sha, const berth_shape *shape) {
    put_int(sha, shape->rank);
    for (int32_t i = 0; i < shape->rank; i++) {
        put_int(sha, shape->dims[i].min);
        put_int(sha, shape->dims[i].max);
        const char *symbol = shape->dims[i].symbol;
        put_bytes(sha, symbol, symbol ? strlen(symbol) : 0);
    }
}

static berth_status put_strings(berth_onnx *reader, berth_sha256 *sha, const berth_onnx_schema *schema,
                                const berth_wire_field *field, uint32_t number) {
    berth_onnx_message message = berth_onnx_open(reader, schema, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == number) put_bytes(sha, reader->bytes + f.at, f.size);
    put_int(sha, -1);
    return message.status;
}

static berth_status put_tensor(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field, bool sparse) {
    berth_mark mark = berth_arena_mark(&reader->scratch);
    berth_onnx_tensor tensor;
    BERTH_TRY(sparse ? berth_onnx_sparse_read(reader, &reader->scratch, field, &tensor)
                     : berth_onnx_tensor_read(reader, &reader->scratch, NULL, field, &tensor));
    put_bytes(sha, tensor.name.bytes, tensor.name.size);
    put_int(sha, tensor.number);
    put_shape(sha, &tensor.shape);
    put_bytes(sha, tensor.content, (size_t)tensor.content_size);
    berth_arena_release(&reader->scratch, mark);
    bool strings = tensor.type == BERTH_TYPE_STRING && !sparse && tensor.payload_bytes <= BERTH_ONNX_KEPT_BYTES;
    return strings ? put_strings(reader, sha, &berth_onnx_tensor_proto, field, ONNX_TENSOR_STRING_DATA) : BERTH_OK;
}

static berth_status put_type(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field) {
    berth_mark mark = berth_arena_mark(&reader->scratch);
    berth_type type = BERTH_TYPE_UNKNOWN;
    berth_shape shape = {.rank = -1};
    BERTH_TRY(berth_onnx_type_read(reader, &reader->scratch, field, &type, &shape));
    put_int(sha, type);
    put_shape(sha, &shape);
    if (type == BERTH_TYPE_OTHER) put_bytes(sha, reader->bytes + field->at, field->size);
    berth_arena_release(&reader->scratch, mark);
    return BERTH_OK;
}

static berth_status put_value(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_value, field);
    berth_onnx_name name = {0};
    berth_wire_field type = {0};
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == ONNX_VALUE_NAME) name = berth_onnx_field_name(&message, &f);
        if (f.number == ONNX_VALUE_TYPE) type = f;
    }
    BERTH_TRY(message.status);
    put_bytes(sha, name.bytes, name.size);
    return put_type(reader, sha, &type);
}

static berth_status put_attribute(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field) {
    berth_mark mark = berth_arena_mark(&reader->scratch);
    berth_attribute attribute;
    BERTH_TRY(berth_onnx_attribute_read(reader, &reader->scratch, field, &attribute));
    put_bytes(sha, attribute.name, strlen(attribute.name));
    put_int(sha, attribute.kind);
    put_int(sha, attribute.is_list);
    put_int(sha, attribute.count);
    for (int32_t i = 0; attribute.ints && i < attribute.count; i++) put_int(sha, attribute.ints[i]);
    for (int32_t i = 0; attribute.floats && i < attribute.count; i++) {
        int64_t bits = 0;
        memcpy(&bits, &attribute.floats[i], sizeof bits);
        put_int(sha, bits);
    }
    if (attribute.string) put_bytes(sha, attribute.string, (size_t)attribute.count);
    berth_arena_release(&reader->scratch, mark);
    return BERTH_OK;
}

static berth_status put_node(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field) {
    berth_onnx_name name = {0}, type = {0}, domain = {0};
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_node, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == ONNX_NODE_NAME) name = berth_onnx_field_name(&message, &f);
        if (f.number == ONNX_NODE_OP_TYPE) type = berth_onnx_field_name(&message, &f);
        if (f.number == ONNX_NODE_DOMAIN) domain = berth_onnx_field_name(&message, &f);
    }
    BERTH_TRY(message.status);
    put_bytes(sha, name.bytes, name.size);
    put_bytes(sha, type.bytes, type.size);
    put_bytes(sha, domain.bytes, domain.size);
    BERTH_TRY(put_strings(reader, sha, &berth_onnx_node, field, ONNX_NODE_INPUT));
    BERTH_TRY(put_strings(reader, sha, &berth_onnx_node, field, ONNX_NODE_OUTPUT));
    message = berth_onnx_open(reader, &berth_onnx_node, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == ONNX_NODE_ATTRIBUTE) BERTH_TRY(put_attribute(reader, sha, &f));
    put_int(sha, -1);
    return message.status;
}

static berth_status put_graph(berth_onnx *reader, berth_sha256 *sha, const berth_wire_field *field) {
    static const uint32_t numbers[] = {ONNX_GRAPH_NODE, ONNX_GRAPH_INITIALIZER, ONNX_GRAPH_SPARSE_INITIALIZER,
                                       ONNX_GRAPH_INPUT, ONNX_GRAPH_OUTPUT};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        put_int(sha, numbers[i]);
        berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_graph, field);
        for (berth_wire_field f; berth_onnx_next(&message, &f);) {
            if (f.number != numbers[i]) continue;
            put_int(sha, 1);
            switch (f.number) {
            case ONNX_GRAPH_NODE: BERTH_TRY(put_node(reader, sha, &f)); break;
            case ONNX_GRAPH_INITIALIZER: BERTH_TRY(put_tensor(reader, sha, &f, false)); break;
            case ONNX_GRAPH_SPARSE_INITIALIZER: BERTH_TRY(put_tensor(reader, sha, &f, true)); break;
            default: BERTH_TRY(put_value(reader, sha, &f)); break;
            }
        }
        BERTH_TRY(message.status);
        put_int(sha, 0);
    }
    return BERTH_OK;
}

static berth_status put_holder(berth_onnx *reader, berth_sha256 *sha, berth_onnx_attribute_type type,
                               const berth_wire_field *field) {
    switch (type) {
    case BERTH_ONNX_TENSOR:
    case BERTH_ONNX_TENSORS: return put_tensor(reader, sha, field, false);
    case BERTH_ONNX_SPARSE_TENSOR:
    case BERTH_ONNX_SPARSE_TENSORS: return put_tensor(reader, sha, field, true);
    case BERTH_ONNX_GRAPH:
    case BERTH_ONNX_GRAPHS: return put_graph(reader, sha, field);
    case BERTH_ONNX_TYPE_PROTO:
    case BERTH_ONNX_TYPE_PROTOS: return put_type(reader, sha, field);
    default: put_bytes(sha, reader->bytes + field->at, field->size); return BERTH_OK;
    }
}

berth_status berth_onnx_digest(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                               unsigned char digest[BERTH_SHA256_SIZE]) {
    berth_sha256 sha;
    berth_sha256_init(&sha);
    put_int(&sha, scan->type);
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == scan->holder) BERTH_TRY(put_holder(reader, &sha, scan->type, &f));
    BERTH_TRY(message.status);
    berth_sha256_finish(&sha, digest);
    return BERTH_OK;
}
