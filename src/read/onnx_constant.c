/* SPDX-License-Identifier: Apache-2.0 */
/* A Constant has exactly one of eight attributes: a tensor, a sparse tensor, or a number, a string or a list of them.
 */
#include "read/onnx_constant.h"

#include "graph/element.h"
#include "read/onnx_attribute.h"
#include "read/onnx_tensor.h"

#include <string.h>

/* The attribute of that type and name holds the value; `element` 0: a tensor that says so itself. */
static const struct {
    const char *name;
    berth_onnx_attribute_type type;
    int64_t element;
    int32_t rank;
} values[] = {
    {"value", BERTH_ONNX_TENSOR, 0, 0},        {"sparse_value", BERTH_ONNX_SPARSE_TENSOR, 0, 0},
    {"value_float", BERTH_ONNX_FLOAT, 1, 0},   {"value_floats", BERTH_ONNX_FLOATS, 1, 1},
    {"value_int", BERTH_ONNX_INT, 7, 0},       {"value_ints", BERTH_ONNX_INTS, 7, 1},
    {"value_string", BERTH_ONNX_STRING, 8, 0}, {"value_strings", BERTH_ONNX_STRINGS, 8, 1},
};

static void put_number(unsigned char *to, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; i++) to[i] = (unsigned char)(value >> (8 * i));
}

static berth_status keep_numbers(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                                 berth_onnx_tensor *stored) {
    size_t width = stored->type == BERTH_TYPE_I64 ? 8 : 4, n = 0, size = (size_t)stored->payload_bytes;
    unsigned char *content = berth_arena_push(berth_build_arena(reader->b), size, 1);
    if (!content) return berth_fail_nomem(reader->b->ctx);
    stored->content = content;
    stored->content_size = stored->payload_bytes;
    if (stored->shape.rank == 0) {
        put_number(content, scan->last.value, width);
        return BERTH_OK;
    }
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number != scan->holder) continue;
        berth_onnx_list list = berth_onnx_list_open(&message, &f);
        for (uint64_t value; n < size && berth_onnx_list_next(&list, &value); n += width)
            put_number(content + n, value, width);
    }
    return message.status;
}

static int64_t string_bytes(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan) {
    int64_t bytes = 0;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);)
        if (f.number == scan->holder)
            bytes = scan->type == BERTH_ONNX_STRING ? (int64_t)f.size : bytes + (int64_t)f.size;
    return bytes;
}

/* A value given as numbers or strings. */
static berth_status describe_list(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                                  int64_t element, int32_t rank, berth_onnx_tensor *stored) {
    berth_dim dim = berth_dim_static((int64_t)scan->n);
    stored->type = berth_onnx_element(element);
    stored->shape.rank = rank;
    stored->shape.dims = berth_arena_copy(berth_build_arena(reader->b), &dim, (size_t)rank, sizeof dim);
    if (!stored->shape.dims) return berth_fail_nomem(reader->b->ctx);
    if (stored->type == BERTH_TYPE_STRING) {
        stored->payload_bytes = string_bytes(reader, field, scan);
        return BERTH_OK;
    }
    stored->payload_bytes = berth_tensor_size(stored->type, &stored->shape);
    return stored->payload_bytes <= BERTH_ONNX_KEPT_BYTES ? keep_numbers(reader, field, scan, stored) : BERTH_OK;
}

berth_status berth_onnx_constant_read(berth_onnx *reader, const berth_wire_field *attribute, int32_t tensor,
                                      bool *found) {
    berth_onnx_scan scan;
    BERTH_TRY(berth_onnx_attribute_scan(reader, attribute, &scan));
    size_t row = 0, n_rows = sizeof values / sizeof *values;
    while (row < n_rows && (scan.type != values[row].type || scan.name.size != strlen(values[row].name) ||
                            memcmp(scan.name.bytes, values[row].name, scan.name.size) != 0))
        row++;
    if (row == n_rows) return BERTH_OK;
    if (*found)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)attribute->where, "a Constant has two values");
    *found = true;
    berth_onnx_tensor stored = {0};
    berth_arena *arena = berth_build_arena(reader->b);
    if (scan.type == BERTH_ONNX_TENSOR)
        BERTH_TRY(berth_onnx_tensor_read(reader, arena, NULL, &scan.last, &stored));
    else if (scan.type == BERTH_ONNX_SPARSE_TENSOR)
        BERTH_TRY(berth_onnx_sparse_read(reader, arena, &scan.last, &stored));
    else
        BERTH_TRY(describe_list(reader, attribute, &scan, values[row].element, values[row].rank, &stored));
    berth_onnx_tensor_assign(&reader->b->tensors.items[tensor], &stored);
    return BERTH_OK;
}

berth_status berth_onnx_fill_read(berth_onnx *reader, const berth_wire_field *attribute, int32_t tensor) {
    berth_onnx_scan scan;
    berth_onnx_tensor stored;
    BERTH_TRY(berth_onnx_attribute_scan(reader, attribute, &scan));
    if (scan.type != BERTH_ONNX_TENSOR || scan.name.size != 5 || memcmp(scan.name.bytes, "value", 5) != 0)
        return BERTH_OK;
    BERTH_TRY(berth_onnx_tensor_read(reader, berth_build_arena(reader->b), NULL, &scan.last, &stored));
    if (berth_shape_elements(&stored.shape) != 1)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)attribute->where,
                                "the value of a ConstantOfShape is not one element");
    berth_tensor *row = &reader->b->tensors.items[tensor];
    row->type = stored.type;
    row->content = stored.content;
    row->content_size = stored.content_size;
    return BERTH_OK;
}
