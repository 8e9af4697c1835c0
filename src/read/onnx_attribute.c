/* SPDX-License-Identifier: Apache-2.0 */
/* AttributeProto: a name, a type and one of a dozen fields with values. Files older than the `type` field leave it out;
 * the field that is present then tells. Writers with proto3 rules leave out a value that is zero or empty. */
#include "read/onnx_attribute.h"

#include "read/onnx_digest.h"

#include <inttypes.h>
#include <string.h>

enum { F_NAME = 1, F_TYPE = 20 };

/* By type: the field that holds the values. */
static const uint32_t holders[] = {
    [BERTH_ONNX_FLOAT] = 2,          [BERTH_ONNX_INT] = 3,
    [BERTH_ONNX_STRING] = 4,         [BERTH_ONNX_TENSOR] = 5,
    [BERTH_ONNX_GRAPH] = 6,          [BERTH_ONNX_FLOATS] = 7,
    [BERTH_ONNX_INTS] = 8,           [BERTH_ONNX_STRINGS] = 9,
    [BERTH_ONNX_TENSORS] = 10,       [BERTH_ONNX_GRAPHS] = 11,
    [BERTH_ONNX_TYPE_PROTO] = 14,    [BERTH_ONNX_TYPE_PROTOS] = 15,
    [BERTH_ONNX_SPARSE_TENSOR] = 22, [BERTH_ONNX_SPARSE_TENSORS] = 23,
};
_Static_assert(sizeof holders / sizeof *holders == BERTH_ONNX_ATTRIBUTE_TYPES, "every attribute type has a field");

static berth_status fail_attribute(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                                   const char *what) {
    return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)field->where, "the attribute '%.*s' %s",
                            scan->name.size > 200 ? 200 : (int)scan->name.size, scan->name.size ? scan->name.bytes : "",
                            what);
}

static size_t count_values(berth_onnx_message *message, const berth_wire_field *field) {
    if (field->number == holders[BERTH_ONNX_FLOATS] && field->type == BERTH_WIRE_BYTES) return field->size / 4;
    if (field->number != holders[BERTH_ONNX_INTS]) return 1;
    berth_onnx_list list = berth_onnx_list_open(message, field);
    size_t n = 0;
    for (uint64_t value; berth_onnx_list_next(&list, &value);) n++;
    return n;
}

static berth_status resolve_type(berth_onnx *reader, const berth_wire_field *field, uint64_t declared, bool mixed,
                                 berth_onnx_scan *scan) {
    if (!scan->name.size) return fail_attribute(reader, field, scan, "has no name");
    if (mixed) return fail_attribute(reader, field, scan, "has values of more than one kind");
    if (declared >= BERTH_ONNX_ATTRIBUTE_TYPES) return fail_attribute(reader, field, scan, "is of an unknown type");
    scan->type = (berth_onnx_attribute_type)declared;
    for (int type = 1; scan->type == BERTH_ONNX_UNDEFINED && type < BERTH_ONNX_ATTRIBUTE_TYPES; type++)
        if (scan->holder && holders[type] == scan->holder) scan->type = (berth_onnx_attribute_type)type;
    if (scan->holder && holders[scan->type] != scan->holder)
        return fail_attribute(reader, field, scan, "has values of another kind than its type says");
    if (!scan->holder && (scan->type == BERTH_ONNX_TENSOR || scan->type == BERTH_ONNX_GRAPH ||
                          scan->type == BERTH_ONNX_SPARSE_TENSOR || scan->type == BERTH_ONNX_TYPE_PROTO))
        return fail_attribute(reader, field, scan, "has no value");
    if (scan->n > INT32_MAX) return fail_attribute(reader, field, scan, "has too many values");
    return BERTH_OK;
}

berth_status berth_onnx_attribute_scan(berth_onnx *reader, const berth_wire_field *field, berth_onnx_scan *out) {
    *out = (berth_onnx_scan){0};
    uint64_t declared = 0;
    bool mixed = false;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number == F_NAME) {
            out->name = berth_onnx_field_name(&message, &f);
        } else if (f.number == F_TYPE) {
            declared = f.value;
        } else {
            mixed = mixed || (out->holder && out->holder != f.number);
            out->holder = f.number;
            out->n += count_values(&message, &f);
            out->last = f;
        }
    }
    BERTH_TRY(message.status);
    return resolve_type(reader, field, declared, mixed, out);
}

static double float_value(uint64_t bits) {
    uint32_t word = (uint32_t)bits;
    float value = 0;
    memcpy(&value, &word, sizeof value);
    return (double)value;
}

/* All numbers of the fields `scan->holder`, to whichever of the two arrays is given. */
static berth_status take_numbers(berth_onnx *reader, const berth_wire_field *field, const berth_onnx_scan *scan,
                                 int64_t *ints, double *floats) {
    size_t n = 0;
    berth_onnx_message message = berth_onnx_open(reader, &berth_onnx_attribute, field);
    for (berth_wire_field f; berth_onnx_next(&message, &f);) {
        if (f.number != scan->holder) continue;
        berth_onnx_list list = berth_onnx_list_open(&message, &f);
        for (uint64_t value; n < scan->n && berth_onnx_list_next(&list, &value); n++) {
            if (ints) ints[n] = (int64_t)value;
            if (floats) floats[n] = float_value(value);
        }
        if (scan->n == n && list.wire.at < list.wire.end)
            return fail_attribute(reader, field, scan, "has a list of numbers that is cut off");
    }
    return message.status;
}

static berth_status read_ints(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                              const berth_onnx_scan *scan, berth_attribute *out) {
    out->kind = BERTH_ATTRIBUTE_INTS;
    out->is_list = scan->type == BERTH_ONNX_INTS;
    out->count = out->is_list ? (int32_t)scan->n : 1;
    int64_t *ints = berth_arena_push(arena, (size_t)out->count, sizeof *ints);
    if (!ints) return berth_fail_nomem(reader->b->ctx);
    out->ints = ints;
    if (out->is_list) return take_numbers(reader, field, scan, ints, NULL);
    ints[0] = (int64_t)scan->last.value;
    return BERTH_OK;
}

static berth_status read_floats(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                const berth_onnx_scan *scan, berth_attribute *out) {
    out->kind = BERTH_ATTRIBUTE_FLOATS;
    out->is_list = scan->type == BERTH_ONNX_FLOATS;
    out->count = out->is_list ? (int32_t)scan->n : 1;
    double *floats = berth_arena_push(arena, (size_t)out->count, sizeof *floats);
    if (!floats) return berth_fail_nomem(reader->b->ctx);
    out->floats = floats;
    if (out->is_list) return take_numbers(reader, field, scan, NULL, floats);
    floats[0] = float_value(scan->last.value);
    return BERTH_OK;
}

static berth_status read_string(berth_onnx *reader, berth_arena *arena, const berth_onnx_scan *scan,
                                berth_attribute *out) {
    if (scan->last.size > INT32_MAX)
        return berth_build_fail(reader->b, BERTH_E_FORMAT, (int64_t)scan->last.where, "a string of %zu bytes",
                                scan->last.size);
    out->kind = BERTH_ATTRIBUTE_STRING;
    out->count = (int32_t)scan->last.size;
    out->string = berth_arena_string(arena, reader->bytes + scan->last.at, scan->last.size);
    return out->string ? BERTH_OK : berth_fail_nomem(reader->b->ctx);
}

static berth_status read_opaque(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                const berth_onnx_scan *scan, berth_attribute *out) {
    unsigned char *digest = berth_arena_push(arena, BERTH_SHA256_SIZE, 1);
    if (!digest) return berth_fail_nomem(reader->b->ctx);
    out->kind = BERTH_ATTRIBUTE_OPAQUE;
    out->is_list = scan->type >= BERTH_ONNX_STRINGS && scan->type != BERTH_ONNX_SPARSE_TENSOR &&
                   scan->type != BERTH_ONNX_TYPE_PROTO;
    out->count = BERTH_SHA256_SIZE;
    out->string = (const char *)digest;
    return berth_onnx_digest(reader, field, scan, digest);
}

static berth_status read_values(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                const berth_onnx_scan *scan, berth_attribute *out) {
    switch (scan->type) {
    case BERTH_ONNX_INT:
    case BERTH_ONNX_INTS: return read_ints(reader, arena, field, scan, out);
    case BERTH_ONNX_FLOAT:
    case BERTH_ONNX_FLOATS: return read_floats(reader, arena, field, scan, out);
    case BERTH_ONNX_STRING: return read_string(reader, arena, scan, out);
    default: return read_opaque(reader, arena, field, scan, out);
    }
}

berth_status berth_onnx_attribute_read(berth_onnx *reader, berth_arena *arena, const berth_wire_field *field,
                                       berth_attribute *out) {
    berth_onnx_scan scan;
    *out = (berth_attribute){0};
    BERTH_TRY(berth_onnx_attribute_scan(reader, field, &scan));
    BERTH_TRY(read_values(reader, arena, field, &scan, out));
    /* After the values: while the digest of nested graphs recurses, little may lie in the scratch arena, whose blocks
     * grow with what is in it. */
    out->name = berth_arena_string(arena, scan.name.bytes, scan.name.size);
    return out->name ? BERTH_OK : berth_fail_nomem(reader->b->ctx);
}
