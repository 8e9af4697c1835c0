/* SPDX-License-Identifier: Apache-2.0 */
/* A growing array of any element type:
 *
 *     BERTH_VEC(int32_t) stack = {0};
 *     if (!berth_vec_push(allocator, &stack, value)) return berth_fail_nomem(ctx);
 *     berth_vec_free(allocator, &stack);
 *
 * `vec` is evaluated several times. */
#ifndef BERTH_BASE_VEC_H
#define BERTH_BASE_VEC_H

#include "base/ctx.h"

#define BERTH_VEC(type)     \
    struct {                \
        type *items;        \
        size_t n, capacity; \
    }

/* Room for one more element; false if the allocator refuses. The array itself is unchanged then. */
#define berth_vec_reserve(allocator, vec)                                                               \
    ((vec)->n < (vec)->capacity ||                                                                      \
     ((vec)->items = berth_vec_grow((allocator), (vec)->items, &(vec)->capacity, sizeof *(vec)->items), \
      (vec)->n < (vec)->capacity))

/* The value stands last because it may be a compound literal with commas in it. */
#define berth_vec_push(allocator, vec, ...) \
    (berth_vec_reserve(allocator, vec) ? ((vec)->items[(vec)->n++] = (__VA_ARGS__), true) : false)

#define berth_vec_free(allocator, vec)                                                                 \
    ((vec)->items = berth_resize((allocator), (vec)->items, (vec)->capacity, 0, sizeof *(vec)->items), \
     (vec)->n = (vec)->capacity = 0)

/* The grown array, with *capacity raised; or, if there is no memory, `items` and *capacity as they were. (It returns
 * the array instead of taking a pointer to it because a T ** may not be written through as a void **.) */
void *berth_vec_grow(const berth_allocator *allocator, void *items, size_t *capacity, size_t size);

#endif
