/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting numbers by a caller's order. In place, n log n whatever the input, and without memory of its own (the C
 * library's qsort may allocate behind our back). Not stable: make the order total. */
#ifndef BERTH_BASE_SORT_H
#define BERTH_BASE_SORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if a belongs before b. */
typedef bool (*berth_before_fn)(const void *user, int32_t a, int32_t b);

void berth_sort(int32_t *items, size_t n, berth_before_fn before, const void *user);

#endif
