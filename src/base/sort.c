/* SPDX-License-Identifier: Apache-2.0 */
/* Heap sort (Williams 1964; Floyd's bottom-up construction): a heap with the last item on top, which is taken off and
 * put behind it, again and again. */
#include "base/sort.h"

static void swap(int32_t *a, int32_t *b) {
    int32_t kept = *a;
    *a = *b;
    *b = kept;
}

static void sift_down(int32_t *heap, size_t at, size_t n, berth_before_fn before, const void *user) {
    for (size_t child = 2 * at + 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && before(user, heap[child], heap[child + 1])) child++;
        if (!before(user, heap[at], heap[child])) return;
        swap(&heap[at], &heap[child]);
        at = child;
    }
}

void berth_sort(int32_t *items, size_t n, berth_before_fn before, const void *user) {
    for (size_t at = n / 2; at-- > 0;) sift_down(items, at, n, before, user);
    for (size_t end = n; end-- > 1;) {
        swap(&items[0], &items[end]);
        sift_down(items, 0, end, before, user);
    }
}
