/* SPDX-License-Identifier: Apache-2.0 */
/* Declared types and shapes. A value may be declared more than once (an output that value_info lists too, an
 * initializer that is also an input): what one place leaves open another may fill in, but they must not contradict each
 * other. */
#include "read/onnx_type.h"

#include "graph/element.h"
#include "read/onnx_tensor.h"

#include <inttypes.h>

static berth_status read_dimension(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                   berth_dim *dim) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_dimension, field);
    *dim = berth_dim_unknown();
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        *dim = berth_dim_unknown();
        int64_t value = (int64_t)f.value;
        if (f.number == 2 && f.size > 0) {
            berth_onnx_name name = berth_onnx_field_name(&message, &f);
            dim->symbol = berth_arena_string(arena, name.bytes, name.size);
            if (!dim->symbol) return berth_fail_nomem(reader->b->ctx);
        } else if (f.number == 1 && value < -1) {
            return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)f.where, "a dimension of %" PRId64, value);
        } else if (f.number == 1 && value >= 0) { /* some exporters write -1 for a dimension that is not known */
            *dim = berth_dim_static(value);
        }
    }
    return message.status;
}

static berth_status read_shape(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                               berth_shape *shape) {
    berth_dim dims[BERTH_MAX_RANK];
    int32_t rank = 0;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_shape, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (rank == BERTH_MAX_RANK)
            return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)f.where, "a shape of more than %d dimensions",
                                    BERTH_MAX_RANK);
        BERTH_TRY(read_dimension(reader, arena, &f, &dims[rank++]));
    }
    BERTH_TRY(message.status);
    *shape = (berth_shape){rank, berth_arena_copy(arena, dims, (size_t)rank, sizeof *dims)};
    return shape->dims ? BERTH_OK : berth_fail_nomem(reader->b->ctx);
}

static berth_status read_tensor_type(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                     berth_type *type, berth_shape *shape) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_tensor_type, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == 2) {
            BERTH_TRY(read_shape(reader, arena, &f, shape));
            continue;
        }
        *type = berth_onnx_element((int64_t)f.value);
        if (*type == BERTH_TYPE_COUNT)
            return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)f.where, "an unknown element type, %" PRId64,
                                    (int64_t)f.value);
    }
    return message.status;
}

berth_status berth_onnx_type_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                  berth_type *type, berth_shape *shape) {
    *type = BERTH_TYPE_UNKNOWN;
    *shape = (berth_shape){.rank = -1};
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_type, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        *type = BERTH_TYPE_UNKNOWN;
        *shape = (berth_shape){.rank = -1};
        if (f.number == 1 || f.number == 8) /* a tensor; a sparse one counts as what it stands for */
            BERTH_TRY(read_tensor_type(reader, arena, &f, type, shape));
        else
            *type = BERTH_TYPE_OTHER;
    }
    return message.status;
}

berth_status berth_onnx_declared_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                      berth_onnx_declared *out) {
    *out = (berth_onnx_declared){.where = (int64_t)field->where, .shape = {.rank = -1}};
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_value, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == ONNX_VALUE_NAME) {
            out->name = berth_onnx_field_name(&message, &f);
        } else {
            BERTH_TRY(berth_onnx_type_read(reader, arena, &f, &out->type, &out->shape));
        }
    }
    return message.status;
}

static berth_status merge_shapes(berth_onnx *reader, berth_tensor *tensor, const berth_onnx_declared *declared) {
    const berth_shape *known = &tensor->shape, *fresh = &declared->shape;
    if (fresh->rank < 0) return BERTH_OK;
    if (known->rank < 0) {
        tensor->shape = *fresh;
        return BERTH_OK;
    }
    if (known->rank != fresh->rank)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, declared->where,
                                "'%.200s' is declared with %d dimensions, but it has %d", tensor->name,
                                (int)fresh->rank, (int)known->rank);
    berth_dim *dims = berth_arena_copy(berth_build_arena(reader->b), known->dims, (size_t)known->rank, sizeof *dims);
    if (!dims) return berth_fail_nomem(reader->b->ctx);
    for (int32_t i = 0; i < known->rank; i++) {
        const berth_dim *dim = &fresh->dims[i];
        if (!dims[i].symbol) dims[i].symbol = dim->symbol;
        if (!berth_dim_is_static(dim)) continue;
        if (berth_dim_is_static(&dims[i]) && dims[i].min != dim->min)
            return berth_build_fail(reader->b, BERTH_E_FORMAT, declared->where,
                                    "dimension %d of '%.200s' is declared %" PRId64 ", but it is %" PRId64, (int)i,
                                    tensor->name, dim->min, dims[i].min);
        dims[i].min = dims[i].max = dim->min;
    }
    tensor->shape.dims = dims;
    return BERTH_OK;
}

berth_status berth_onnx_declare(berth_onnx *reader, int32_t index, const berth_onnx_declared *declared) {
    if (reader->b->failed || index < 0) return berth_fail_nomem(reader->b->ctx);
    berth_tensor *tensor = &reader->b->tensors.items[index];
    if (tensor->type == BERTH_TYPE_UNKNOWN)
        tensor->type = declared->type;
    else if (declared->type != BERTH_TYPE_UNKNOWN && declared->type != tensor->type)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, declared->where, "'%.200s' is declared %s, but it is %s",
                                tensor->name, berth_type_name(declared->type), berth_type_name(tensor->type));
    BERTH_TRY(merge_shapes(reader, tensor, declared));
    if (berth_shape_product_fits(&tensor->shape, berth_type_bits(tensor->type))) return BERTH_OK;
    return berth_build_fail(reader->b, BERTH_E_FORMAT, declared->where,
                            "the dimensions of '%.200s' multiply beyond 64 bits", tensor->name);
}
