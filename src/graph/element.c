/* SPDX-License-Identifier: Apache-2.0 */
/* Element types and sizes. Every product is checked: a graph holds no size that does not fit 63 bits, so that sums of
 * bytes can be trusted up to the point where somebody adds them. */
#include "graph/element.h"

static const struct {
    const char *name;
    int bits;
} types[] = {
    [BERTH_TYPE_UNKNOWN] = {"unknown", 0}, [BERTH_TYPE_F32] = {"f32", 32},    [BERTH_TYPE_F64] = {"f64", 64},
    [BERTH_TYPE_F16] = {"f16", 16},        [BERTH_TYPE_BF16] = {"bf16", 16},  [BERTH_TYPE_F8] = {"f8", 8},
    [BERTH_TYPE_F4] = {"f4", 4},           [BERTH_TYPE_I64] = {"i64", 64},    [BERTH_TYPE_I32] = {"i32", 32},
    [BERTH_TYPE_I16] = {"i16", 16},        [BERTH_TYPE_I8] = {"i8", 8},       [BERTH_TYPE_I4] = {"i4", 4},
    [BERTH_TYPE_I2] = {"i2", 2},           [BERTH_TYPE_U64] = {"u64", 64},    [BERTH_TYPE_U32] = {"u32", 32},
    [BERTH_TYPE_U16] = {"u16", 16},        [BERTH_TYPE_U8] = {"u8", 8},       [BERTH_TYPE_U6] = {"u6", 6},
    [BERTH_TYPE_U4] = {"u4", 4},           [BERTH_TYPE_U3] = {"u3", 3},       [BERTH_TYPE_U2] = {"u2", 2},
    [BERTH_TYPE_U1] = {"u1", 1},           [BERTH_TYPE_NF4] = {"nf4", 4},     [BERTH_TYPE_BOOL] = {"bool", 8},
    [BERTH_TYPE_C64] = {"c64", 64},        [BERTH_TYPE_C128] = {"c128", 128}, [BERTH_TYPE_STRING] = {"string", 0},
    [BERTH_TYPE_OTHER] = {"other", 0},
};
_Static_assert(sizeof types / sizeof *types == BERTH_TYPE_COUNT, "every element type needs a row");

const char *berth_type_name(berth_type type) {
    return types[type < BERTH_TYPE_COUNT ? type : BERTH_TYPE_UNKNOWN].name;
}

int berth_type_bits(berth_type type) {
    return types[type < BERTH_TYPE_COUNT ? type : BERTH_TYPE_UNKNOWN].bits;
}

bool berth_shape_is_static(const berth_shape *shape) {
    if (shape->rank < 0) return false;
    for (int32_t i = 0; i < shape->rank; i++)
        if (!berth_dim_is_static(&shape->dims[i])) return false;
    return true;
}

bool berth_shape_product_fits(const berth_shape *shape, int bits) {
    int64_t product = bits > 8 ? bits / 8 : 1;
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i].max == 0) return true;
    for (int32_t i = 0; i < shape->rank; i++) {
        if (!berth_dim_is_static(&shape->dims[i])) continue;
        if (__builtin_mul_overflow(product, shape->dims[i].min, &product)) return false;
    }
    return true;
}

int64_t berth_shape_elements(const berth_shape *shape) {
    if (!berth_shape_is_static(shape)) return -1;
    int64_t product = 1;
    for (int32_t i = 0; i < shape->rank; i++)
        if (shape->dims[i].min == 0) return 0;
    for (int32_t i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(product, shape->dims[i].min, &product)) return -1;
    return product;
}

int64_t berth_tensor_size(berth_type type, const berth_shape *shape) {
    int64_t elements = berth_shape_elements(shape);
    int bits = berth_type_bits(type);
    if (elements < 0 || bits == 0) return -1;
    int64_t size = 0;
    if (bits % 8 == 0) return __builtin_mul_overflow(elements, (int64_t)bits / 8, &size) ? -1 : size;
    /* Packed: eight elements fill `bits` bytes. */
    return elements / 8 * bits + (elements % 8 * bits + 7) / 8;
}
