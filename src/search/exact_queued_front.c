/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of clocks (or rests): which of them are worth keeping, and how to make do with fewer (exact_queued.h). */
#include "search/exact_queued.h"

#include <string.h>

typedef berth_queued_front front;
typedef berth_queued_rank rank;

bool berth_queued_front_init(front *f, berth_arena *arena, int32_t width, int32_t capacity) {
    size_t n = (size_t)capacity;
    *f = (front){.width = width, .capacity = capacity};
    f->clock = berth_arena_push(arena, n * (size_t)width, sizeof *f->clock);
    f->parent = berth_arena_push(arena, n, sizeof *f->parent);
    f->device = berth_arena_push(arena, n, sizeof *f->device);
    return !arena->failed;
}

bool berth_queued_sieve_init(berth_queued_sieve *sieve, berth_arena *arena, int32_t width, int32_t capacity,
                             double tolerance) {
    sieve->tolerance = tolerance;
    sieve->order = berth_arena_push(arena, (size_t)capacity, sizeof *sieve->order);
    sieve->room = berth_arena_push(arena, (size_t)capacity, sizeof *sieve->room);
    return berth_queued_front_init(&sieve->spare, arena, width, capacity);
}

static void copy_member(front *to, int32_t at, const front *from, int32_t member) {
    size_t k = (size_t)to->width;
    memcpy(to->clock + (size_t)at * k, from->clock + (size_t)member * k, k * sizeof *to->clock);
    to->parent[at] = from->parent[member];
    to->device[at] = from->device[member];
}

/* --- thinning ----------------------------------------------------------------------------------------------------- */

static bool comes_before(const front *f, const rank *a, const rank *b) {
    if (a->clock != b->clock) return a->clock < b->clock;
    const double *x = f->clock + (size_t)a->member * (size_t)f->width;
    const double *y = f->clock + (size_t)b->member * (size_t)f->width;
    for (int32_t d = 1; d < f->width; d++)
        if (x[d] != y[d]) return x[d] < y[d];
    return a->member < b->member;
}

static void merge_runs(const front *f, const rank *from, int32_t low, int32_t middle, int32_t high, rank *to) {
    int32_t a = low, b = middle;
    for (int32_t at = low; at < high; at++)
        to[at] = a < middle && (b >= high || !comes_before(f, &from[b], &from[a])) ? from[a++] : from[b++];
}

/* Sorts by merging; the result is where the caller finds it by the returned pointer. */
static rank *sort_members(const front *f, rank *order, rank *room, int32_t n) {
    for (int32_t width = 1; width < n; width *= 2) {
        for (int32_t low = 0; low < n; low += 2 * width) {
            int32_t middle = low + width < n ? low + width : n, high = low + 2 * width < n ? low + 2 * width : n;
            merge_runs(f, order, low, middle, high, room);
        }
        rank *swap = order;
        order = room;
        room = swap;
    }
    return order;
}

static bool dominates(const double *a, const double *b, int32_t width, double scale) {
    for (int32_t d = 0; d < width; d++)
        if (a[d] > b[d] * scale) return false;
    return true;
}

/* Whoever dominates a member comes before it. With two clocks it is the one before, if any; else the one that
 * dominated the last is likely to dominate this one, too. */
static bool is_dominated(const front *kept, const double *clock, int32_t *likely, double scale) {
    int32_t k = kept->width;
    if (kept->n == 0) return false;
    if (k == 2) return dominates(kept->clock + 2 * (size_t)(kept->n - 1), clock, 2, scale);
    if (dominates(kept->clock + (size_t)*likely * (size_t)k, clock, k, scale)) return true;
    for (int32_t i = kept->n - 1; i >= 0; i--)
        if (dominates(kept->clock + (size_t)i * (size_t)k, clock, k, scale)) {
            *likely = i;
            return true;
        }
    return false;
}

void berth_queued_front_thin(front *f, int32_t from, berth_queued_sieve *sieve) {
    int32_t n = f->n - from, likely = 0;
    size_t k = (size_t)f->width;
    front *kept = &sieve->spare;
    double scale = 1 + sieve->tolerance;
    for (int32_t i = 0; i < n; i++)
        sieve->order[i] = (rank){.clock = f->clock[(size_t)(from + i) * k], .member = from + i};
    const rank *sorted = sort_members(f, sieve->order, sieve->room, n);
    kept->n = 0;
    for (int32_t i = 0; i < n; i++)
        if (!is_dominated(kept, f->clock + (size_t)sorted[i].member * k, &likely, scale))
            copy_member(kept, kept->n++, f, sorted[i].member);
    for (int32_t i = 0; i < kept->n; i++) copy_member(f, from + i, kept, i);
    f->n = from + kept->n;
}

/* --- merging ------------------------------------------------------------------------------------------------------ */

typedef struct merging {
    const front *from;
    front *to;
    rank *order;
} merging;

static double clock_of(const merging *m, int32_t at, int32_t d) {
    return m->from->clock[(size_t)m->order[at].member * (size_t)m->from->width + (size_t)d];
}

/* The least of each clock; the way back is that of the member whose largest clock is least. */
static void make_one(merging *m, int32_t low, int32_t high) {
    int32_t k = m->from->width, best = low, at = m->to->n++;
    double best_most = 0;
    copy_member(m->to, at, m->from, m->order[low].member);
    double *least = m->to->clock + (size_t)at * (size_t)k;
    for (int32_t i = low; i < high; i++) {
        double most = 0;
        for (int32_t d = 0; d < k; d++) {
            double clock = clock_of(m, i, d);
            if (clock < least[d]) least[d] = clock;
            if (clock > most) most = clock;
        }
        if (i > low && most >= best_most) continue;
        best = i;
        best_most = most;
    }
    m->to->parent[at] = m->from->parent[m->order[best].member];
    m->to->device[at] = m->from->device[m->order[best].member];
}

static int32_t widest(const merging *m, int32_t low, int32_t high) {
    int32_t best = 0;
    double best_extent = -1;
    for (int32_t d = 0; d < m->from->width; d++) {
        double least = clock_of(m, low, d), most = least;
        for (int32_t i = low + 1; i < high; i++) {
            double clock = clock_of(m, i, d);
            if (clock < least) least = clock;
            if (clock > most) most = clock;
        }
        if (most - least <= best_extent) continue;
        best = d;
        best_extent = most - least;
    }
    return best;
}

/* Puts the smaller half of [low, high) by rank->clock first (Hoare's selection). */
static void halve(rank *order, int32_t low, int32_t high) {
    int32_t middle = low + (high - low) / 2;
    for (high--; low < high;) {
        double pivot = order[low + (high - low) / 2].clock;
        int32_t i = low, j = high;
        while (i <= j) {
            while (order[i].clock < pivot) i++;
            while (order[j].clock > pivot) j--;
            if (i > j) break;
            rank swap = order[i];
            order[i++] = order[j];
            order[j--] = swap;
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/* Halves the members along the clock in which they differ most until there are `most` parts. */
static void merge_part(merging *m, int32_t low, int32_t high, int32_t most) {
    if (high - low <= most) {
        for (int32_t i = low; i < high; i++) copy_member(m->to, m->to->n++, m->from, m->order[i].member);
        return;
    }
    if (most == 1) {
        make_one(m, low, high);
        return;
    }
    int32_t d = widest(m, low, high), middle = low + (high - low) / 2;
    for (int32_t i = low; i < high; i++) m->order[i].clock = clock_of(m, i, d);
    halve(m->order, low, high);
    merge_part(m, low, middle, most / 2);
    merge_part(m, middle, high, most - most / 2);
}

void berth_queued_front_merge(const front *f, int32_t from, int32_t to, int32_t most, berth_queued_sieve *sieve,
                              front *out) {
    merging m = {.from = f, .to = out, .order = sieve->order};
    for (int32_t i = from; i < to; i++) m.order[i - from] = (rank){.member = i};
    merge_part(&m, 0, to - from, most);
}
