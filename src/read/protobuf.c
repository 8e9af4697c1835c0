/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of Protocol Buffers (protobuf.dev, "Encoding"). A message is a row of tags, each followed by a number
 * or by a length and that many bytes. Everything is checked against the end of the enclosing message, so that a reader
 * that goes down into a field can never leave it. Groups (deprecated, never used by ONNX) are skipped whole: unknown
 * fields may be groups. After a problem the cursor stays where it is and yields nothing more. */
#include "read/protobuf.h"

enum { MAX_VARINT = 10, MAX_GROUP_DEPTH = 64 };

static bool stop(berth_wire *wire, size_t at, const char *problem) {
    wire->at = at;
    wire->problem = problem;
    return false;
}

/* The bytes at the cursor: n of them, or as many as the message still has. */
static const unsigned char *look(const berth_wire *wire, size_t n) {
    berth_wire_window *window = wire->window;
    if (!window) return (const unsigned char *)wire->bytes + wire->at;
    if (n > wire->end - wire->at) n = wire->end - wire->at;
    if (wire->at < window->at || wire->at + n > window->at + window->n) {
        size_t left = window->size - wire->at;
        window->at = wire->at;
        window->n = left < sizeof window->bytes ? left : sizeof window->bytes;
        window->copy(window->from, window->at, window->n, window->bytes);
    }
    return (const unsigned char *)window->bytes + (wire->at - window->at);
}

static bool read_varint(berth_wire *wire, uint64_t *value) {
    const unsigned char *bytes = look(wire, MAX_VARINT);
    size_t left = wire->end - wire->at;
    *value = 0;
    for (size_t i = 0; i < MAX_VARINT; i++) {
        if (i == left) return stop(wire, wire->at, "a number is cut off");
        if (i == MAX_VARINT - 1 && bytes[i] > 1) break;
        *value |= (uint64_t)(bytes[i] & 0x7f) << (7 * i);
        if (bytes[i] < 0x80) {
            wire->at += i + 1;
            return true;
        }
    }
    return stop(wire, wire->at, "a number has more than 64 bits");
}

static bool read_fixed(berth_wire *wire, size_t size, uint64_t *value) {
    if (wire->end - wire->at < size) return stop(wire, wire->at, "a number is cut off");
    const unsigned char *bytes = look(wire, size);
    *value = 0;
    for (size_t i = 0; i < size; i++) *value |= (uint64_t)bytes[i] << (8 * i);
    wire->at += size;
    return true;
}

static bool read_tag(berth_wire *wire, berth_wire_field *field) {
    *field = (berth_wire_field){.where = wire->at};
    uint64_t tag = 0;
    if (!read_varint(wire, &tag)) return false;
    if (tag > UINT32_MAX) return stop(wire, field->where, "a field number beyond 29 bits");
    if (tag >> 3 == 0) return stop(wire, field->where, "a field with number 0");
    if ((tag & 7) > BERTH_WIRE_FIXED32) return stop(wire, field->where, "a field of an unknown wire type");
    field->number = (uint32_t)(tag >> 3);
    field->type = (berth_wire_type)(tag & 7);
    return true;
}

static bool read_number(berth_wire *wire, berth_wire_type type, uint64_t *value) {
    if (type == BERTH_WIRE_VARINT) return read_varint(wire, value);
    return read_fixed(wire, type == BERTH_WIRE_FIXED64 ? 8 : 4, value);
}

static bool read_content(berth_wire *wire, berth_wire_field *field) {
    field->at = wire->at;
    if (field->type == BERTH_WIRE_GROUP || field->type == BERTH_WIRE_GROUP_END) return true;
    if (field->type == BERTH_WIRE_BYTES) {
        uint64_t size = 0;
        if (!read_varint(wire, &size)) return false;
        if (size > wire->end - wire->at) return stop(wire, field->where, "a field is longer than what holds it");
        field->at = wire->at;
        wire->at += (size_t)size;
    } else if (!read_number(wire, field->type, &field->value)) {
        return false;
    }
    field->size = wire->at - field->at;
    return true;
}

static bool skip_group(berth_wire *wire, const berth_wire_field *group) {
    uint32_t open[MAX_GROUP_DEPTH] = {group->number};
    for (int depth = 1; depth > 0;) {
        berth_wire_field inner;
        if (wire->at == wire->end) return stop(wire, group->where, "a group does not end");
        if (!read_tag(wire, &inner) || !read_content(wire, &inner)) return false;
        if (inner.type == BERTH_WIRE_GROUP) {
            if (depth == MAX_GROUP_DEPTH) return stop(wire, inner.where, "groups are nested too deeply");
            open[depth++] = inner.number;
        } else if (inner.type == BERTH_WIRE_GROUP_END && open[--depth] != inner.number) {
            return stop(wire, inner.where, "the end of a group that did not begin");
        }
    }
    return true;
}

bool berth_wire_next(berth_wire *wire, berth_wire_field *field) {
    *field = (berth_wire_field){0};
    if (wire->problem || wire->at == wire->end) return false;
    if (!read_tag(wire, field) || !read_content(wire, field)) return false;
    if (field->type == BERTH_WIRE_GROUP_END) return stop(wire, field->where, "the end of a group that did not begin");
    return field->type != BERTH_WIRE_GROUP || skip_group(wire, field);
}

const char *berth_wire_content(const berth_wire *wire, size_t at, size_t size) {
    const berth_wire_window *window = wire->window;
    bool shown = window && at >= window->at && at + size <= window->at + window->n;
    return shown ? window->bytes + (at - window->at) : wire->bytes + at;
}

bool berth_wire_item(berth_wire *wire, berth_wire_type type, uint64_t *value) {
    return !wire->problem && wire->at < wire->end && read_number(wire, type, value);
}
