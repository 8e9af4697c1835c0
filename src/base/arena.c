/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks double in size up to 1 MiB, so that the memory of an arena stays within twice of what was pushed. */
#include "base/arena.h"

#include <stdalign.h>
#include <stdio.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define BERTH_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BERTH_HAS_ASAN 1
#endif
#endif
#ifdef BERTH_HAS_ASAN
#include <sanitizer/asan_interface.h>
#define POISON(start, n)   __asan_poison_memory_region(start, n)
#define UNPOISON(start, n) __asan_unpoison_memory_region(start, n)
#else
#define POISON(start, n)   ((void)(start), (void)(n))
#define UNPOISON(start, n) ((void)(start), (void)(n))
#endif

enum { FIRST_BLOCK = 1 << 10, LARGEST_STEP = 1 << 20, ALIGNMENT = alignof(max_align_t) };

struct berth_arena_block {
    berth_arena_block *older;
    size_t size; /* bytes at `bytes` */
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
    UNPOISON(block->bytes, block->size);
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
    if (size > SIZE_MAX - sizeof(berth_arena_block)) return false;
    berth_arena_block *block = berth_resize(&arena->allocator, NULL, 0, sizeof *block + size, 1);
    if (!block) return false;
    block->older = arena->block;
    block->size = size;
    arena->block = block;
    arena->used = 0;
    arena->total += sizeof *block + size;
    POISON(block->bytes, block->size);
    return true;
}

void *berth_arena_push(berth_arena *arena, size_t n, size_t size) {
    if (arena->failed) return NULL;
    size_t bytes = 0;
    if (__builtin_mul_overflow(n, size, &bytes) || bytes > (size_t)PTRDIFF_MAX - ALIGNMENT) {
        arena->failed = true;
        return NULL;
    }
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!arena->block || arena->block->size - arena->used < bytes) {
        if (!add_block(arena, bytes)) {
            arena->failed = true;
            return NULL;
        }
    }
    char *piece = arena->block->bytes + arena->used;
    UNPOISON(piece, bytes);
    memset(piece, 0, bytes);
    arena->used += bytes;
    return piece;
}

void *berth_arena_copy(berth_arena *arena, const void *bytes, size_t n, size_t size) {
    void *copy = berth_arena_push(arena, n, size);
    if (copy && n && size) memcpy(copy, bytes, n * size);
    return copy;
}

char *berth_arena_string(berth_arena *arena, const char *bytes, size_t n) {
    char *copy = n == SIZE_MAX ? NULL : berth_arena_push(arena, n + 1, 1);
    if (copy && n) memcpy(copy, bytes, n);
    return copy;
}

char *berth_arena_printf(berth_arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = n < 0 ? NULL : berth_arena_push(arena, (size_t)n + 1, 1);
    if (!text) return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)n + 1, format, args);
    va_end(args);
    return text;
}

berth_mark berth_arena_mark(const berth_arena *arena) {
    return (berth_mark){arena->block, arena->used};
}

void berth_arena_release(berth_arena *arena, berth_mark mark) {
    while (arena->block != mark.block) drop_block(arena);
    arena->used = mark.used;
    arena->failed = false;
    if (arena->block) POISON(arena->block->bytes + arena->used, arena->block->size - arena->used);
}
