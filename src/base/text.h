/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a berth_text, shared by the text and the JSON writer. */
#ifndef BERTH_BASE_TEXT_H
#define BERTH_BASE_TEXT_H

#include "base/vec.h"
#include "berth/text.h"

/* An array or object that was begun and not yet ended. */
typedef struct berth_text_level {
    bool is_object;
    bool is_inline;
    bool is_empty;
} berth_text_level;

struct berth_text {
    berth_allocator allocator;
    berth_status status; /* the first failure; it stays */
    char *bytes;         /* capacity bytes, of which size + 1 are used, or NULL while nothing was written */
    size_t size, capacity;
    BERTH_VEC(berth_text_level) levels; /* of JSON, outermost first */
    bool inline_next;                   /* berth_json_inline was called */
};

/* Room for n more bytes and the NUL behind them; NULL (and the status says why) if there is none. */
char *berth_text_room(berth_text *text, size_t n);

#endif
