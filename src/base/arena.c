/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks grow with the arena, up to steps of 1 MiB; a piece larger than the step gets a block of its own size. What is
 * left of a block when a piece does not fit is given up, and is then smaller than that piece: an arena takes at most
 * twice what was pushed, plus one step. A block is zeroed once when it is made; `touched` tells which part of it was
 * in use before a release and must be cleared again. Under AddressSanitizer exactly the bytes asked for may be
 * touched: neither what rounds them up to the alignment nor what is not in use. */
#include "base/arena.h"

#include "base/poison.h"

#include <assert.h>
#include <stdalign.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_BLOCK = 1 << 10, LARGEST_STEP = 1 << 20, ALIGNMENT = alignof(max_align_t) };

struct berth_arena_block {
    berth_arena_block *older;
    size_t size;    /* bytes at `bytes` */
    size_t touched; /* of which all but these first ones are still zero */
    alignas(max_align_t) char bytes[];
};

void berth_arena_init(berth_arena *arena, const berth_allocator *allocator) {
    *arena = (berth_arena){.allocator = *allocator};
}

static void drop_block(berth_arena *arena) {
    berth_arena_block *block = arena->block;
    size_t size = sizeof *block + block->size;
    arena->block = block->older;
    arena->total -= size;
    BERTH_UNPOISON(block->bytes, block->size);
    berth_resize(&arena->allocator, block, size, 0, 1);
}

void berth_arena_deinit(berth_arena *arena) {
    while (arena->block) drop_block(arena);
    arena->used = 0;
    arena->failed = false;
}

static bool add_block(berth_arena *arena, size_t need) {
    size_t size = arena->total < FIRST_BLOCK ? FIRST_BLOCK : arena->total;
    if (size > LARGEST_STEP) size = LARGEST_STEP;
    if (size < need) size = need;
    berth_arena_block *block = berth_resize(&arena->allocator, NULL, 0, sizeof *block + size, 1);
    if (!block) return false;
    block->older = arena->block;
    block->size = size;
    arena->block = block;
    arena->used = 0;
    arena->total += sizeof *block + size;
    BERTH_POISON(block->bytes, block->size);
    return true;
}

void *berth_arena_push(berth_arena *arena, size_t n, size_t size) {
    if (arena->failed) return NULL;
    size_t bytes = 0;
    arena->failed = true;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > (size_t)PTRDIFF_MAX - ALIGNMENT) return NULL;
    size_t rounded = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if ((!arena->block || arena->block->size - arena->used < rounded) && !add_block(arena, rounded)) return NULL;
    arena->failed = false;
    berth_arena_block *block = arena->block;
    char *piece = block->bytes + arena->used;
    BERTH_UNPOISON(piece, bytes);
    if (arena->used < block->touched) {
        size_t dirty = block->touched - arena->used;
        memset(piece, 0, dirty < bytes ? dirty : bytes);
    }
    arena->used += rounded;
    if (block->touched < arena->used) block->touched = arena->used;
    return piece;
}

void *berth_arena_copy(berth_arena *arena, const void *bytes, size_t n, size_t size) {
    void *copy = berth_arena_push(arena, n, size);
    if (copy && n && size) memcpy(copy, bytes, n * size);
    return copy;
}

char *berth_arena_string(berth_arena *arena, const char *bytes, size_t n) {
    if (n == SIZE_MAX) arena->failed = true;
    char *copy = berth_arena_push(arena, n + 1, 1);
    if (copy && n) memcpy(copy, bytes, n);
    return copy;
}

char *berth_arena_printf(berth_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) arena->failed = true;
    char *text = berth_arena_push(arena, (size_t)n + 1, 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

void berth_arena_empty(berth_arena *arena) {
    size_t total = arena->total;
    if (arena->block && arena->block->older) {
        berth_arena_deinit(arena);
        add_block(arena, total); /* if that much is not to be had in one piece, the next pushes find their own way */
    }
    arena->used = 0;
    arena->failed = false;
    if (arena->block) BERTH_POISON(arena->block->bytes, arena->block->size);
}

berth_mark berth_arena_mark(const berth_arena *arena) {
    return (berth_mark){arena->block, arena->used, arena->failed};
}

void berth_arena_release(berth_arena *arena, berth_mark mark) {
    while (arena->block != mark.block) {
        assert(arena->block); /* else the mark is another arena's, or older than an earlier release */
        drop_block(arena);
    }
    arena->used = mark.used;
    arena->failed = mark.failed;
    if (arena->block) BERTH_POISON(arena->block->bytes + arena->used, arena->block->size - arena->used);
}
