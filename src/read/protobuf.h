/* SPDX-License-Identifier: Apache-2.0 */
/* The wire format of Protocol Buffers: a cursor over the fields of one message, in place.
 *
 *     berth_wire wire = {.bytes = file, .at = from, .end = to};
 *     berth_wire_field field;
 *     while (berth_wire_next(&wire, &field)) ...
 *     if (wire.problem) ...                        what is wrong at byte wire.at
 *
 * Only tags, lengths and numbers are read; the content of a length-delimited field is not touched. A cursor that passes
 * by large fields may look through a window instead of touching a page of the file for each. */
#ifndef BERTH_READ_PROTOBUF_H
#define BERTH_READ_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum berth_wire_type {
    BERTH_WIRE_VARINT = 0,
    BERTH_WIRE_FIXED64 = 1,
    BERTH_WIRE_BYTES = 2,
    BERTH_WIRE_GROUP = 3, /* with everything in it, up to its end */
    BERTH_WIRE_GROUP_END = 4,
    BERTH_WIRE_FIXED32 = 5,
} berth_wire_type;

/* A piece of the file, copied from where the cursor stands whenever it leaves the piece before. */
typedef struct berth_wire_window {
    void (*copy)(const void *from, size_t at, size_t n, void *to);
    const void *from;
    size_t size;  /* of the file */
    size_t at, n; /* the piece */
    char bytes[4096];
} berth_wire_window;

typedef struct berth_wire {
    const char *bytes; /* of the whole file: offsets count from here */
    size_t at, end;
    const char *problem;       /* NULL, or what is wrong at byte `at` */
    berth_wire_window *window; /* NULL: look at the bytes in place */
} berth_wire;

typedef struct berth_wire_field {
    uint32_t number; /* 1 to 2^29 - 1 */
    berth_wire_type type;
    size_t where;    /* byte of its tag */
    uint64_t value;  /* VARINT, FIXED64, FIXED32 */
    size_t at, size; /* its content: after the length (BYTES), the encoded number itself (the others) */
} berth_wire_field;

/* The next field; false at the end of the message or if it is malformed (then wire->problem is set). */
bool berth_wire_next(berth_wire *wire, berth_wire_field *field);
/* The content of a field: in the window if it shows all of it (until the cursor moves on), else in place. */
const char *berth_wire_content(const berth_wire *wire, size_t at, size_t size);
/* The next number of a packed list of that wire type; false as above. */
bool berth_wire_item(berth_wire *wire, berth_wire_type type, uint64_t *value);

#endif
