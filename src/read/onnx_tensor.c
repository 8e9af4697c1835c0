/* SPDX-License-Identifier: Apache-2.0 */
/* TensorProto. A payload stands in raw_data, in one of five typed lists, or in another file. Its size must agree with
 * type and dimensions. It is counted without touching it (a page of the file that nobody reads costs no memory), except
 * lists of variable-length numbers up to COUNTED_BYTES, which are counted exactly, beyond that only within what their
 * length allows. Contents of at most 1 KiB are converted to packed little-endian elements whatever field they stand
 * in. */
#include "read/onnx_tensor.h"

#include "graph/element.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COUNTED_BYTES = 1 << 16, MAX_VARINT = 10 };
enum { F_DIMS = 1, F_TYPE = 2, F_FLOATS = 4, F_INT32S = 5, F_STRINGS = 6, F_INT64S = 7, F_NAME = 8, F_RAW = 9 };
enum { F_DOUBLES = 10, F_UINT64S = 11, F_LOCATION = 14 };

/* By ONNX number: element type, the list it may stand in, and numbers of that list per element. The two 6-bit floats
 * have no type here and are described without a size. */
static const struct {
    berth_type type;
    int list;
    int numbers;
} elements[] = {
    [1] = {BERTH_TYPE_F32, F_FLOATS, 1},    [2] = {BERTH_TYPE_U8, F_INT32S, 1},
    [3] = {BERTH_TYPE_I8, F_INT32S, 1},     [4] = {BERTH_TYPE_U16, F_INT32S, 1},
    [5] = {BERTH_TYPE_I16, F_INT32S, 1},    [6] = {BERTH_TYPE_I32, F_INT32S, 1},
    [7] = {BERTH_TYPE_I64, F_INT64S, 1},    [8] = {BERTH_TYPE_STRING, F_STRINGS, 1},
    [9] = {BERTH_TYPE_BOOL, F_INT32S, 1},   [10] = {BERTH_TYPE_F16, F_INT32S, 1},
    [11] = {BERTH_TYPE_F64, F_DOUBLES, 1},  [12] = {BERTH_TYPE_U32, F_UINT64S, 1},
    [13] = {BERTH_TYPE_U64, F_UINT64S, 1},  [14] = {BERTH_TYPE_C64, F_FLOATS, 2},
    [15] = {BERTH_TYPE_C128, F_DOUBLES, 2}, [16] = {BERTH_TYPE_BF16, F_INT32S, 1},
    [17] = {BERTH_TYPE_F8, F_INT32S, 1},    [18] = {BERTH_TYPE_F8, F_INT32S, 1},
    [19] = {BERTH_TYPE_F8, F_INT32S, 1},    [20] = {BERTH_TYPE_F8, F_INT32S, 1},
    [21] = {BERTH_TYPE_U4, F_INT32S, 1},    [22] = {BERTH_TYPE_I4, F_INT32S, 1},
    [23] = {BERTH_TYPE_F4, F_INT32S, 1},    [24] = {BERTH_TYPE_F8, F_INT32S, 1},
    [25] = {BERTH_TYPE_U2, F_INT32S, 1},    [26] = {BERTH_TYPE_I2, F_INT32S, 1},
    [27] = {BERTH_TYPE_OTHER, F_INT32S, 1}, [28] = {BERTH_TYPE_OTHER, F_INT32S, 1},
};

berth_type berth_onnx_element(int64_t number) {
    if (number < 0 || number >= (int64_t)(sizeof elements / sizeof *elements)) return BERTH_TYPE_COUNT;
    return elements[number].type;
}

/* What stands in the message, before it is judged. */
typedef struct scan {
    int64_t where;
    berth_onnx_name name, raw; /* in the window, where there is one and it shows them */
    int64_t number;
    bool external;
    int32_t rank;
    berth_dim dims[BERTH_MAX_RANK];
    uint32_t holders;    /* payload fields that are present, by number */
    int64_t least, most; /* how many numbers or strings the lists hold */
    int64_t list_bytes;
} scan;

static berth_status scan_dims(berth_onnx_message *message, const berth_wire_field *field, berth_dim *dims,
                              int32_t *rank) {
    berth_onnx_list list = berth_onnx_list_open(message, field);
    berth_build *b = message->reader->b;
    for (uint64_t value; berth_onnx_list_next(&list, &value);) {
        if (*rank == BERTH_MAX_RANK)
            return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "a tensor of more than %d dimensions",
                                    BERTH_MAX_RANK);
        if ((int64_t)value < 0)
            return berth_build_fail(b, BERTH_E_FORMAT, (int64_t)field->where, "a stored tensor has dimension %" PRId64,
                                    (int64_t)value);
        dims[(*rank)++] = berth_dim_static((int64_t)value);
    }
    return message->status;
}

static berth_status count_list(berth_onnx_message *message, const berth_wire_field *field, scan *s) {
    s->list_bytes += (int64_t)field->size;
    int64_t size = (int64_t)field->size, n = 1;
    if (field->number == F_FLOATS || field->number == F_DOUBLES) {
        int64_t width = field->number == F_FLOATS ? 4 : 8;
        if (size % width)
            return berth_build_fail(message->reader->b, BERTH_E_FORMAT, (int64_t)field->where,
                                    "a list of %d-byte numbers has %" PRId64 " bytes", (int)width, size);
        n = size / width;
    } else if (field->number != F_STRINGS && size > COUNTED_BYTES) {
        s->least += (size + MAX_VARINT - 1) / MAX_VARINT;
        s->most += size;
        return BERTH_OK;
    } else if (field->number != F_STRINGS) {
        berth_onnx_list list = berth_onnx_list_open(message, field);
        n = 0;
        for (uint64_t value; berth_onnx_list_next(&list, &value);) n++;
    }
    s->least += n;
    s->most += n;
    return message->status;
}

static berth_status scan_tensor(berth_onnx *reader, berth_wire_window *window, const berth_wire_field *field, scan *s) {
    *s = (scan){.where = (int64_t)field->where};
    berth_wire_field name = {0}, raw = {0};
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_tensor_proto, field);
    message.wire.window = window;
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        switch (f.number) {
        case F_DIMS: BERTH_TRY(scan_dims(&message, &f, s->dims, &s->rank)); break;
        case F_TYPE: s->number = (int64_t)f.value; break;
        case F_NAME: name = f; break;
        case F_LOCATION: s->external = f.value == 1; break;
        case F_RAW:
            raw = f;
            s->holders |= 1u << F_RAW;
            break;
        case F_FLOATS:
        case F_INT32S:
        case F_STRINGS:
        case F_INT64S:
        case F_DOUBLES:
        case F_UINT64S:
            /* An empty packed list is no holder: some writers leave one beside raw_data. */
            if (f.size > 0 || f.number == F_STRINGS) s->holders |= 1u << f.number;
            BERTH_TRY(count_list(&message, &f, s));
            break;
        default: break;
        }
    }
    /* Only now: the window has stopped moving. */
    s->name = berth_onnx_field_name(&message, &name);
    s->raw = berth_onnx_field_name(&message, &raw);
    return message.status;
}

BERTH_PRINTF(3, 4) static berth_status fail_tensor(berth_onnx *reader, const scan *s, const char *format, ...) {
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return berth_build_fail(reader->b, BERTH_E_FORMAT, s->where, "the tensor '%.*s' %s",
                            s->name.size > 200 ? 200 : (int)s->name.size, s->name.size ? s->name.bytes : "", what);
}

/* Numbers that a list must hold for so many elements: types below 8 bits stand packed, a byte per number. */
static int64_t numbers_needed(int64_t number, int64_t n) {
    int bits = berth_type_bits(elements[number].type);
    int64_t needed = 0;
    if (bits > 0 && bits < 8) return n / 8 * bits + (n % 8 * bits + 7) / 8;
    return __builtin_mul_overflow(n, (int64_t)elements[number].numbers, &needed) ? INT64_MAX : needed;
}

static berth_status check_payload(berth_onnx *reader, const scan *s, int64_t n, int64_t bytes) {
    uint32_t list = 1u << elements[s->number].list, raw = 1u << F_RAW;
    if (s->holders & (s->holders - 1)) return fail_tensor(reader, s, "has its data in more than one field");
    if (s->holders & ~(list | raw)) return fail_tensor(reader, s, "has its data in a field for another type");
    if (s->holders == raw) {
        if (elements[s->number].type == BERTH_TYPE_STRING) return fail_tensor(reader, s, "has raw_data for strings");
        if (bytes < 0 || (int64_t)s->raw.size == bytes) return BERTH_OK;
        return fail_tensor(reader, s, "has %" PRId64 " bytes of raw_data, its type and dimensions need %" PRId64,
                           (int64_t)s->raw.size, bytes);
    }
    int64_t needed = numbers_needed(s->number, n);
    if (needed >= s->least && needed <= s->most) return BERTH_OK;
    return fail_tensor(reader, s, "has %s%" PRId64 " numbers or strings, its type and dimensions need %" PRId64,
                       s->least < s->most ? "at least " : "", s->least, needed);
}

/* Pack the numbers of the lists, each into `width` bytes. */
static berth_status pack_lists(berth_onnx *reader, const berth_wire_field *field, uint32_t number, size_t width,
                               unsigned char *to, const unsigned char *end) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_tensor_proto, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number != number) continue;
        berth_onnx_list list = berth_onnx_list_open(&message, &f);
        for (uint64_t value; berth_onnx_list_next(&list, &value);)
            for (size_t i = 0; i < width && to < end; i++) *to++ = (unsigned char)(value >> (8 * i));
    }
    return message.status;
}

static berth_status keep_content(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field, const scan *s,
                                 berth_onnx_tensor *out) {
    unsigned char *content = berth_arena_push(arena, (size_t)out->payload_bytes, 1);
    if (!content) return berth_fail_nomem(reader->b->ctx);
    out->content = content;
    out->content_size = out->payload_bytes;
    if (s->holders == 1u << F_RAW) {
        if (out->content_size) memcpy(content, s->raw.bytes, (size_t)out->content_size);
        return BERTH_OK;
    }
    int bits = berth_type_bits(out->type) / elements[s->number].numbers;
    return pack_lists(reader, field, (uint32_t)elements[s->number].list, bits < 8 ? 1 : (size_t)bits / 8, content,
                      content + out->content_size);
}

berth_status berth_onnx_tensor_read(berth_onnx *reader, berth_arena *arena, berth_wire_window *window,
                                    const berth_wire_field *field, berth_onnx_tensor *out) {
    scan s;
    *out = (berth_onnx_tensor){0};
    BERTH_TRY(scan_tensor(reader, window, field, &s));
    berth_type type = berth_onnx_element(s.number);
    if (type == BERTH_TYPE_COUNT) return fail_tensor(reader, &s, "has an element type that ONNX does not know");
    if (type == BERTH_TYPE_UNKNOWN) return fail_tensor(reader, &s, "has no element type");
    *out = (berth_onnx_tensor){.name = s.name, .number = s.number, .type = type, .external = s.external};
    out->shape.rank = s.rank;
    out->shape.dims = berth_arena_copy(arena, s.dims, (size_t)s.rank, sizeof *s.dims);
    if (!out->shape.dims) return berth_fail_nomem(reader->b->ctx);
    if (!berth_shape_product_fits(&out->shape, berth_type_bits(type)))
        return fail_tensor(reader, &s, "has dimensions whose product goes beyond 64 bits");
    int64_t n = berth_shape_elements(&out->shape), bytes = berth_tensor_size(type, &out->shape);
    out->payload_bytes = bytes;
    if (s.external) {
        if (bytes < 0) out->payload_bytes = 0;
        return BERTH_OK;
    }
    BERTH_TRY(check_payload(reader, &s, n, bytes));
    if (bytes < 0) out->payload_bytes = (int64_t)s.raw.size + s.list_bytes;
    if (bytes < 0 || bytes > BERTH_ONNX_KEPT_BYTES) return BERTH_OK;
    return keep_content(reader, arena, field, &s, out);
}

berth_status berth_onnx_sparse_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                    berth_onnx_tensor *out) {
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_sparse, field);
    berth_onnx_tensor values = {0}, indices = {0};
    berth_dim dims[BERTH_MAX_RANK];
    int32_t rank = 0;
    *out = (berth_onnx_tensor){0};
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        switch (f.number) {
        case ONNX_SPARSE_VALUES: BERTH_TRY(berth_onnx_tensor_read(reader, arena, NULL, &f, &values)); break;
        case ONNX_SPARSE_INDICES: BERTH_TRY(berth_onnx_tensor_read(reader, arena, NULL, &f, &indices)); break;
        default: BERTH_TRY(scan_dims(&message, &f, dims, &rank)); break;
        }
    }
    BERTH_TRY(message.status);
    if (values.type == BERTH_TYPE_UNKNOWN)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)field->where, "a sparse tensor has no values");
    *out = (berth_onnx_tensor){.name = values.name, .number = values.number, .type = values.type};
    out->external = values.external || indices.external;
    if (__builtin_add_overflow(values.payload_bytes, indices.payload_bytes, &out->payload_bytes))
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)field->where, "a sparse tensor beyond 64 bits");
    out->shape.rank = rank;
    out->shape.dims = berth_arena_copy(arena, dims, (size_t)rank, sizeof *dims);
    if (!out->shape.dims) return berth_fail_nomem(reader->b->ctx);
    if (berth_shape_product_fits(&out->shape, berth_type_bits(out->type))) return BERTH_OK;
    return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)field->where,
                            "a sparse tensor has dimensions whose product goes beyond 64 bits");
}

void berth_onnx_tensor_assign(berth_tensor *tensor, const berth_onnx_tensor *stored) {
    tensor->type = stored->type;
    tensor->shape = stored->shape;
    tensor->content = stored->content;
    tensor->content_size = stored->content_size;
    tensor->payload_bytes = stored->payload_bytes;
    if (stored->external) tensor->flags |= BERTH_TENSOR_EXTERNAL;
}
