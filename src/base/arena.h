/* SPDX-License-Identifier: Apache-2.0 */
/* An arena: many small pieces of memory that die together.
 *
 * Pieces come from growing blocks and never move. Failure is sticky: after the allocator refused once, every push
 * returns NULL until the arena is emptied or released to a mark from before the failure, so that code that builds
 * something checks `failed` once at its end (but must not write through a NULL). Under AddressSanitizer the unused part
 * of each block is poisoned. */
#ifndef BERTH_BASE_ARENA_H
#define BERTH_BASE_ARENA_H

#include "base/ctx.h"

typedef struct berth_arena_block berth_arena_block;

typedef struct berth_arena {
    berth_allocator allocator;
    berth_arena_block *block; /* the newest; older ones hang behind it */
    size_t used;              /* bytes taken from `block` */
    size_t total;             /* bytes of all blocks */
    bool failed;
} berth_arena;

typedef struct berth_mark {
    berth_arena_block *block;
    size_t used;
    bool failed;
} berth_mark;

void berth_arena_init(berth_arena *arena, const berth_allocator *allocator);
void berth_arena_deinit(berth_arena *arena);

/* n zeroed elements of `size` bytes, aligned for any type; n 0 gives a valid pointer to nothing. */
void *berth_arena_push(berth_arena *arena, size_t n, size_t size);
/* A NUL-terminated copy of n bytes; `bytes` may be NULL if n is 0. */
char *berth_arena_string(berth_arena *arena, const char *bytes, size_t n);
char *berth_arena_printf(berth_arena *arena, const char *format, ...) BERTH_PRINTF(2, 3);
void *berth_arena_copy(berth_arena *arena, const void *bytes, size_t n, size_t size);

/* Everything is given back at once, but the memory stays, as one block: the same pushes again allocate nothing. */
void berth_arena_empty(berth_arena *arena);

/* Scratch use: everything pushed after the mark is given back, blocks that were added since to the allocator. Marks are
 * released in the reverse order of their making. */
berth_mark berth_arena_mark(const berth_arena *arena);
void berth_arena_release(berth_arena *arena, berth_mark mark);

#endif
