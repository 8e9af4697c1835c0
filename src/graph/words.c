/* SPDX-License-Identifier: Apache-2.0 */
/* Words for shapes. A dimension is known if its range is one number; a symbol is shown only where it is not. Inference
 * hands a symbol on to any number of tensors: symbols and shapes are cut, so that a file with one long symbol cannot
 * make us print it a million times. */
#include "berth/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHAPE_BYTES = 200 };

/* A symbol that fits the buffer as it is, else its beginning, without half a character at the end, and dots. */
static const char *symbol_word(const char *symbol, char buffer[static BERTH_DIM_SIZE]) {
    size_t size = strlen(symbol);
    if (size < BERTH_DIM_SIZE) return symbol;
    for (size = BERTH_DIM_SIZE - 4; size > 0 && (symbol[size] & 0xc0) == 0x80;) size--;
    snprintf(buffer, BERTH_DIM_SIZE, "%.*s...", (int)size, symbol);
    return buffer;
}

const char *berth_dim_word(const berth_dim *dim, char *buffer) {
    if (dim->min == dim->max)
        snprintf(buffer, BERTH_DIM_SIZE, "%" PRId64, dim->min);
    else if (dim->symbol && *dim->symbol)
        return symbol_word(dim->symbol, buffer);
    else if (dim->max < INT64_MAX)
        snprintf(buffer, BERTH_DIM_SIZE, "%" PRId64 "..%" PRId64, dim->min, dim->max);
    else if (dim->min > 0)
        snprintf(buffer, BERTH_DIM_SIZE, "%" PRId64 "..", dim->min);
    else
        return "?";
    return buffer;
}

void berth_text_shape(berth_text *text, const berth_shape *shape, berth_append_fn append) {
    char word[BERTH_DIM_SIZE];
    const char *times = berth_shape_is_static(shape) ? "x" : " x "; /* a symbol may hold an x of its own */
    size_t before = berth_text_size(text);
    if (shape->rank <= 0) berth_text_printf(text, "%s", shape->rank < 0 ? "?" : "scalar");
    for (int32_t i = 0; i < shape->rank; i++) {
        if (i > 0) berth_text_printf(text, "%s", times);
        if (berth_text_size(text) - before > MOST_SHAPE_BYTES) {
            berth_text_printf(text, "...");
            break;
        }
        append(text, berth_dim_word(&shape->dims[i], word));
    }
}
