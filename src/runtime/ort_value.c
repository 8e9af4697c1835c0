/* SPDX-License-Identifier: Apache-2.0 */
/* Values of ONNX Runtime from and to .npy tensors. Element types are numbered as in ONNX files. */
#include "runtime/ort.h"

#include <string.h>

/* Which of ours an ONNX element type is. */
static berth_type type_of(int type) {
    static const berth_type types[] = {
        BERTH_TYPE_UNKNOWN, BERTH_TYPE_F32, BERTH_TYPE_U8,     BERTH_TYPE_I8,   BERTH_TYPE_U16,  BERTH_TYPE_I16,
        BERTH_TYPE_I32,     BERTH_TYPE_I64, BERTH_TYPE_STRING, BERTH_TYPE_BOOL, BERTH_TYPE_F16,  BERTH_TYPE_F64,
        BERTH_TYPE_U32,     BERTH_TYPE_U64, BERTH_TYPE_C64,    BERTH_TYPE_C128, BERTH_TYPE_BF16, BERTH_TYPE_F8,
        BERTH_TYPE_F8,      BERTH_TYPE_F8,  BERTH_TYPE_F8,
    };
    return type >= 0 && type < (int)(sizeof types / sizeof *types) ? types[type] : BERTH_TYPE_OTHER;
}

static berth_status make_strings(const berth_ort *ort, const berth_npy *from, ort_value **out) {
    size_t n = (size_t)from->count, width = (size_t)from->item_size;
    const char **strings = berth_arena_push(ort->arena, n, sizeof *strings);
    if (!strings) return berth_fail_nomem(ort->ctx);
    for (size_t i = 0; i < n; i++) {
        const char *text = (const char *)from->data + i * width;
        strings[i] = berth_arena_string(ort->arena, text, strnlen(text, width));
        if (!strings[i]) return berth_fail_nomem(ort->ctx);
    }
    BERTH_TRY(berth_ort_check(
        ort, ort->api->CreateTensorAsOrtValue(ort->allocator, from->dims, (size_t)from->rank, ORT_STRING, out),
        BERTH_E_IO, "input"));
    return berth_ort_check(ort, ort->api->FillStringTensor(*out, strings, n), BERTH_E_IO, "input");
}

berth_status berth_ort_value(const berth_ort *ort, const berth_npy *from, int type, ort_value **out) {
    char kind;
    int32_t item_size;
    *out = NULL;
    if (!berth_npy_type(type_of(type), &kind, &item_size) || kind != from->kind ||
        (kind != 'S' && item_size != from->item_size))
        return berth_fail(ort->ctx, BERTH_E_ARG, "a tensor of numpy's type %c%d is given where the model wants %s",
                          from->kind, (int)from->item_size, berth_type_name(type_of(type)));
    if (kind == 'S') return make_strings(ort, from, out);
    /* The library does not write to what is given as an input. */
    void *data = (void *)from->data; /* NOLINT(clang-diagnostic-cast-qual) */
    return berth_ort_check(ort,
                           ort->api->CreateTensorWithDataAsOrtValue(ort->memory, data, from->size, from->dims,
                                                                    (size_t)from->rank, type, out),
                           BERTH_E_IO, "input");
}

static berth_status take_strings(const berth_ort *ort, ort_value *value, berth_npy *out) {
    size_t total = 0, n = (size_t)out->count, width = 1;
    BERTH_TRY(berth_ort_check(ort, ort->api->GetStringTensorDataLength(value, &total), BERTH_E_IO, "output"));
    char *bytes = berth_arena_push(ort->arena, total + 1, 1);
    size_t *offsets = berth_arena_push(ort->arena, n + 1, sizeof *offsets);
    if (!bytes || !offsets) return berth_fail_nomem(ort->ctx);
    BERTH_TRY(
        berth_ort_check(ort, ort->api->GetStringTensorContent(value, bytes, total, offsets, n), BERTH_E_IO, "output"));
    offsets[n] = total;
    for (size_t i = 0; i < n; i++)
        if (offsets[i + 1] - offsets[i] > width) width = offsets[i + 1] - offsets[i];
    char *cells = berth_arena_push(ort->arena, n, width);
    if (!cells) return berth_fail_nomem(ort->ctx);
    for (size_t i = 0; i < n; i++) memcpy(cells + i * width, bytes + offsets[i], offsets[i + 1] - offsets[i]);
    out->item_size = (int32_t)width;
    out->data = cells;
    out->size = n * width;
    return BERTH_OK;
}

static berth_status take_shape(const berth_ort *ort, const ort_tensor_type *info, berth_npy *out, int *type) {
    size_t rank = 0;
    BERTH_TRY(berth_ort_check(ort, ort->api->GetTensorElementType(info, type), BERTH_E_IO, "output"));
    BERTH_TRY(berth_ort_check(ort, ort->api->GetDimensionsCount(info, &rank), BERTH_E_IO, "output"));
    if (rank > BERTH_NPY_RANK) return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "an output of %zu dimensions", rank);
    BERTH_TRY(berth_ort_check(ort, ort->api->GetDimensions(info, out->dims, rank), BERTH_E_IO, "output"));
    out->rank = (int32_t)rank;
    out->count = 1;
    for (size_t i = 0; i < rank; i++) out->count *= out->dims[i];
    return BERTH_OK;
}

berth_status berth_ort_to_npy(const berth_ort *ort, ort_value *value, berth_npy *out) {
    ort_tensor_type *info = NULL;
    int type = 0, is_tensor = 0;
    void *data = NULL;
    *out = (berth_npy){0};
    BERTH_TRY(berth_ort_check(ort, ort->api->IsTensor(value, &is_tensor), BERTH_E_IO, "output"));
    if (!is_tensor) return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "an output that is not a tensor");
    BERTH_TRY(berth_ort_check(ort, ort->api->GetTensorTypeAndShape(value, &info), BERTH_E_IO, "output"));
    berth_status status = take_shape(ort, info, out, &type);
    ort->api->ReleaseTensorTypeAndShapeInfo(info);
    BERTH_TRY(status);
    if (!berth_npy_type(type_of(type), &out->kind, &out->item_size))
        return berth_fail(ort->ctx, BERTH_E_UNSUPPORTED, "an output of element type %d", type);
    if (out->kind == 'S') return take_strings(ort, value, out);
    BERTH_TRY(berth_ort_check(ort, ort->api->GetTensorMutableData(value, &data), BERTH_E_IO, "output"));
    out->data = data;
    out->size = (size_t)out->count * (size_t)out->item_size;
    return BERTH_OK;
}
