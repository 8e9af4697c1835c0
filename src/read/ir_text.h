/* SPDX-License-Identifier: Apache-2.0 */
/* The small languages inside the attributes of OpenVINO IR: integers, element types, shapes, lists of names. */
#ifndef BERTH_READ_IR_TEXT_H
#define BERTH_READ_IR_TEXT_H

#include "base/arena.h"
#include "berth/graph.h"

static inline bool berth_ir_is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A decimal integer of 64 bits, blanks around it allowed; false if the text is anything else. */
bool berth_ir_text_int(const char *text, size_t size, int64_t *out);

/* "f32", "FP32", "boolean", "BOOL", ...; whatever has no fixed meaning ("dynamic", "UNSPECIFIED") is
 * BERTH_TYPE_UNKNOWN. False if there is no such type. */
bool berth_ir_text_type(const char *text, berth_type *out);

/* The text of a <dim>: a size, or -1 or ? where it is not known. */
bool berth_ir_text_dim(const char *text, size_t size, berth_dim *out);

typedef enum berth_ir_shape_text {
    BERTH_IR_SHAPE_GOOD,
    BERTH_IR_SHAPE_BAD,
    BERTH_IR_SHAPE_TOO_LONG, /* more than BERTH_MAX_RANK dimensions */
} berth_ir_shape_text;

/* A partial shape: "1,3,224,224", "" (a scalar), "..." (any rank); a dimension may also be "?", "-1", "1..10", "..10"
 * or "5..". Blanks are allowed around numbers, brackets around the whole. The dimensions go into `dims`; *rank is -1
 * for any rank. */
berth_ir_shape_text berth_ir_text_shape(const char *text, berth_dim dims[BERTH_MAX_RANK], int32_t *rank);

/* The first of a list of names ("a,b"; "\," is a comma inside a name), copied; "" if there is none. NULL: no memory. */
const char *berth_ir_text_first_name(berth_arena *arena, const char *text);

#endif
