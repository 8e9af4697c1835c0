/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is parsed by hand and in full: strtoll takes signs, blanks and prefixes that no writer of IR uses, and
 * stops quietly at the first odd character. */
#include "read/ir_text.h"

#include "graph/element.h"

#include <string.h>

typedef struct span {
    const char *start, *end;
} span;

static span trim(const char *text, size_t size) {
    span s = {text, text + size};
    while (s.start < s.end && berth_ir_is_blank(*s.start)) s.start++;
    while (s.start < s.end && berth_ir_is_blank(s.end[-1])) s.end--;
    return s;
}

bool berth_ir_text_int(const char *text, size_t size, int64_t *out) {
    span s = trim(text, size);
    bool negative = s.start < s.end && *s.start == '-';
    if (negative) s.start++;
    if (s.start == s.end) return false;
    int64_t value = 0;
    for (; s.start < s.end; s.start++) {
        if (*s.start < '0' || *s.start > '9') return false;
        int64_t digit = *s.start - '0';
        if (__builtin_mul_overflow(value, (int64_t)10, &value)) return false;
        if (__builtin_add_overflow(value, negative ? -digit : digit, &value)) return false;
    }
    *out = value;
    return true;
}

/* Spellings of the ports' `precision` (upper case, "FP32") and of the operations' `element_type` (lower case, "f32").
 * Compared without regard to case. */
static const struct {
    const char *name;
    berth_type type;
} type_names[] = {
    {"fp32", BERTH_TYPE_F32},
    {"f32", BERTH_TYPE_F32},
    {"fp16", BERTH_TYPE_F16},
    {"f16", BERTH_TYPE_F16},
    {"i64", BERTH_TYPE_I64},
    {"i32", BERTH_TYPE_I32},
    {"u8", BERTH_TYPE_U8},
    {"i8", BERTH_TYPE_I8},
    {"boolean", BERTH_TYPE_BOOL},
    {"bool", BERTH_TYPE_BOOL},
    {"string", BERTH_TYPE_STRING},
    {"bf16", BERTH_TYPE_BF16},
    {"fp64", BERTH_TYPE_F64},
    {"f64", BERTH_TYPE_F64},
    {"i16", BERTH_TYPE_I16},
    {"i4", BERTH_TYPE_I4},
    {"i2", BERTH_TYPE_I2},
    {"u64", BERTH_TYPE_U64},
    {"u32", BERTH_TYPE_U32},
    {"u16", BERTH_TYPE_U16},
    {"u6", BERTH_TYPE_U6},
    {"u4", BERTH_TYPE_U4},
    {"u3", BERTH_TYPE_U3},
    {"u2", BERTH_TYPE_U2},
    {"u1", BERTH_TYPE_U1},
    {"bin", BERTH_TYPE_U1},
    {"nf4", BERTH_TYPE_NF4},
    {"f8e4m3", BERTH_TYPE_F8},
    {"f8e5m2", BERTH_TYPE_F8},
    {"f8e8m0", BERTH_TYPE_F8},
    {"f4e2m1", BERTH_TYPE_F4},
    {"dynamic", BERTH_TYPE_UNKNOWN},
    {"undefined", BERTH_TYPE_UNKNOWN},
    {"unspecified", BERTH_TYPE_UNKNOWN},
    {"mixed", BERTH_TYPE_UNKNOWN},
    {"custom", BERTH_TYPE_UNKNOWN},
    {"q78", BERTH_TYPE_UNKNOWN},
};

static bool is_equal_caseless(span s, const char *lower) {
    for (; s.start < s.end; s.start++, lower++) {
        char c = *s.start >= 'A' && *s.start <= 'Z' ? (char)(*s.start - 'A' + 'a') : *s.start;
        if (c != *lower) return false;
    }
    return *lower == 0;
}

bool berth_ir_text_type(const char *text, berth_type *out) {
    span s = trim(text, strlen(text));
    for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++) {
        if (!is_equal_caseless(s, type_names[i].name)) continue;
        *out = type_names[i].type;
        return true;
    }
    return false;
}

bool berth_ir_text_dim(const char *text, size_t size, berth_dim *out) {
    span s = trim(text, size);
    int64_t value = 0;
    if (s.end - s.start == 1 && *s.start == '?')
        value = -1;
    else if (!berth_ir_text_int(s.start, (size_t)(s.end - s.start), &value) || value < -1)
        return false;
    *out = value < 0 ? berth_dim_unknown() : berth_dim_static(value);
    return true;
}

/* "1..10"; either side may be missing. `dots` is where the two dots stand. */
static bool parse_range(span s, const char *dots, berth_dim *out) {
    span low = trim(s.start, (size_t)(dots - s.start));
    span high = trim(dots + 2, (size_t)(s.end - dots - 2));
    *out = berth_dim_unknown();
    if (low.start < low.end && !berth_ir_text_int(low.start, (size_t)(low.end - low.start), &out->min)) return false;
    if (high.start < high.end && !berth_ir_text_int(high.start, (size_t)(high.end - high.start), &out->max))
        return false;
    return out->min >= 0 && out->min <= out->max;
}

static bool parse_dim(span s, berth_dim *out) {
    for (const char *c = s.start; c + 1 < s.end; c++)
        if (c[0] == '.' && c[1] == '.') return parse_range(s, c, out);
    return berth_ir_text_dim(s.start, (size_t)(s.end - s.start), out);
}

berth_ir_shape_text berth_ir_text_shape(const char *text, berth_dim dims[BERTH_MAX_RANK], int32_t *rank) {
    span s = trim(text, strlen(text));
    if (s.end - s.start >= 2 && *s.start == '[' && s.end[-1] == ']')
        s = trim(s.start + 1, (size_t)(s.end - s.start - 2));
    *rank = 0;
    if (s.start == s.end) return BERTH_IR_SHAPE_GOOD;
    if (s.end - s.start == 3 && memcmp(s.start, "...", 3) == 0) {
        *rank = -1;
        return BERTH_IR_SHAPE_GOOD;
    }
    for (const char *start = s.start;;) {
        const char *comma = memchr(start, ',', (size_t)(s.end - start));
        const char *end = comma ? comma : s.end;
        if (*rank == BERTH_MAX_RANK) return BERTH_IR_SHAPE_TOO_LONG;
        if (!parse_dim(trim(start, (size_t)(end - start)), &dims[*rank])) return BERTH_IR_SHAPE_BAD;
        (*rank)++;
        if (!comma) return BERTH_IR_SHAPE_GOOD;
        start = comma + 1;
    }
}

const char *berth_ir_text_first_name(berth_arena *arena, const char *text) {
    const char *end = text;
    while (*end && *end != ',') end += end[0] == '\\' && end[1] == ',' ? 2 : 1;
    span s = trim(text, (size_t)(end - text));
    char *name = berth_arena_string(arena, s.start, (size_t)(s.end - s.start));
    if (!name) return NULL;
    char *to = name;
    for (const char *from = name; *from;) {
        if (from[0] == '\\' && from[1] == ',') from++;
        *to++ = *from++;
    }
    *to = 0;
    return name;
}
