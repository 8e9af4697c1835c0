/* SPDX-License-Identifier: Apache-2.0 */
/* All steps from an ideal: each ready block to the host, and every part on top of it.
 *
 * Parts are enumerated depth first by adding blocks in ascending order, which makes each set once: blocks are numbered
 * so that the predecessors of a block are smaller. What exceeds the device's memory, or is of no use to the visitor, is
 * not enlarged any further.
 *
 * A block that only the host may take is added by itself as soon as it is ready: the host starts it as soon as it can
 * in any case, and no part is lost by it. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

void berth_walk_add_block(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    berth_bits_set(w->bits, block);
    w->hash += w->ideals.key[block];
    w->n_members++;
    for (int32_t i = m->behind_start[block]; i < m->behind_start[block + 1]; i++)
        if (--w->missing[m->behind[i]] == 0) berth_bits_set(w->ready, m->behind[i]);
}

void berth_walk_remove_block(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    berth_bits_clear(w->bits, block);
    w->hash -= w->ideals.key[block];
    w->n_members--;
    for (int32_t i = m->behind_start[block]; i < m->behind_start[block + 1]; i++)
        if (w->missing[m->behind[i]]++ == 0) berth_bits_clear(w->ready, m->behind[i]);
}

int32_t berth_walk_next_block(const berth_walk *w, int32_t kind, int32_t after) {
    const uint64_t *may = w->kind_bits + (size_t)kind * (size_t)w->ideals.n_words;
    int32_t first = after + 1, word = first >> 6;
    if (first >= w->m->n_blocks) return -1;
    uint64_t bits = w->ready[word] & may[word] & ~w->closed[word] & (UINT64_MAX << (first & 63));
    while (!bits) {
        if (++word >= w->ideals.n_words) return -1;
        bits = w->ready[word] & may[word] & ~w->closed[word];
    }
    return 64 * word + __builtin_ctzll(bits);
}

void berth_walk_enter(berth_walk *w, const berth_ideal *ideal) {
    const berth_contiguous *m = w->m;
    size_t n_bytes = (size_t)w->ideals.n_words * sizeof *w->bits;
    w->from = ideal;
    w->labels = ideal->data;
    w->hash = ideal->hash;
    w->n_members = ideal->n_members;
    memcpy(w->bits, ideal->bits, n_bytes);
    memset(w->ready, 0, n_bytes);
    memset(w->closed, 0, n_bytes);
    memset(w->unit_inside, 0, (size_t)m->problem->n_units * sizeof *w->unit_inside);
    for (int32_t b = 0; b < m->n_blocks; b++) {
        w->missing[b] = 0;
        for (int32_t i = m->before_start[b]; i < m->before_start[b + 1]; i++)
            w->missing[b] += !berth_bits_have(w->bits, m->before[i]);
        if (w->missing[b] == 0) berth_bits_set(w->ready, b);
        w->unit_inside[m->block_unit[b]] += berth_bits_have(w->bits, b);
    }
    for (int32_t b = 0; b < m->n_blocks; b++)
        if (w->unit_inside[m->block_unit[b]] > 0) berth_bits_set(w->closed, b);
    for (int32_t i = 0; !m->throughput && i < w->labels->n_times; i++) w->position[w->labels->task[i]] = i;
}

void berth_walk_leave(berth_walk *w) {
    for (int32_t i = 0; !w->m->throughput && i < w->labels->n_times; i++) w->position[w->labels->task[i]] = -1;
    w->labels = NULL;
    w->from = NULL;
}

static void step_to_host(berth_walk *w, int32_t block) {
    berth_search_step(w->search, 1);
    berth_walk_add_block(w, block);
    w->visitor->host(w, block);
    berth_walk_remove_block(w, block);
}

/* Room for the starts of one more block. */
static bool make_starts(berth_walk *w) {
    size_t want = ((size_t)w->part.n + 2) * w->n_users;
    if (want <= w->starts_capacity) return true;
    want *= 2;
    double *starts = berth_resize(&w->arena.allocator, w->starts, w->starts_capacity, want, sizeof *starts);
    if (!starts) return false;
    w->n_bytes += (want - w->starts_capacity) * sizeof *starts;
    w->starts = starts;
    w->starts_capacity = want;
    return true;
}

static bool find_users(berth_walk *w, int32_t kind) {
    w->n_users = 0;
    if (w->labels->n > w->users_capacity) {
        size_t want = 2 * w->labels->n;
        int32_t *users = berth_resize(&w->arena.allocator, w->users, w->users_capacity, want, sizeof *users);
        if (!users) return false;
        w->users = users;
        w->users_capacity = want;
    }
    for (size_t i = 0; i < w->labels->n; i++)
        if (berth_walk_after(w, w->labels->labels[i].state, kind) >= 0) w->users[w->n_users++] = (int32_t)i;
    if (!w->visitor->by_label) w->n_users = 1; /* one start, for all */
    w->part.n = 0;
    if (!make_starts(w)) return false;
    for (size_t i = 0; i < w->n_users; i++) w->starts[i] = 0;
    return true;
}

/* Adds a block to the part and to the ideal unless it leads nowhere. */
static void try_block(berth_walk *w, int32_t block) {
    if (!make_starts(w)) {
        w->no_memory = true;
        return;
    }
    if (!berth_part_add(&w->part, block) || !w->visitor->grow(w, block)) {
        berth_part_undo(&w->part);
        return;
    }
    berth_walk_add_block(w, block);
    w->cursor[w->part.n] = block;
    const berth_part_sums *now = berth_part_now(&w->part);
    if (now->n_open == 0 && now->n_cut_in == 0 && now->n_cut_out == 0) w->visitor->part(w);
}

static void step_to_parts(berth_walk *w, int32_t kind) {
    berth_part *part = &w->part;
    if (!find_users(w, kind)) w->no_memory = true;
    if (w->no_memory || w->n_users == 0) return;
    berth_part_begin(part, kind);
    w->cursor[0] = -1;
    size_t n_steps = 0;
    for (;;) {
        bool go_on = n_steps < w->limits.steps && !w->stopped && !w->no_memory;
        int32_t block = go_on ? berth_walk_next_block(w, kind, w->cursor[part->n]) : -1;
        if (block >= 0) {
            w->cursor[part->n] = block;
            try_block(w, block);
            w->n_steps++;
            berth_search_step(w->search, 1);
            if (++n_steps % 16 == 0 && berth_search_stop(w->search)) w->stopped = true;
            continue;
        }
        if (part->n == 0) break;
        berth_walk_remove_block(w, berth_part_now(part)->block);
        berth_part_undo(part);
    }
    w->cut_short |= n_steps >= w->limits.steps;
}

/* A ready block that only the host may take, or -1. */
static int32_t find_forced(const berth_walk *w) {
    const berth_contiguous *m = w->m;
    for (int32_t word = 0; word < w->ideals.n_words; word++)
        for (uint64_t bits = w->ready[word] & ~w->bits[word]; bits; bits &= bits - 1) {
            int32_t block = 64 * word + __builtin_ctzll(bits);
            if (berth_bits_have(w->closed, block) || m->block_allowed[block] == (uint64_t)1 << m->c->host) return block;
        }
    return -1;
}

void berth_walk_take_steps(berth_walk *w) {
    int32_t host = w->m->n_kinds, forced = find_forced(w);
    w->cut_short = false;
    if (forced >= 0) {
        step_to_host(w, forced);
        return;
    }
    for (int32_t block = berth_walk_next_block(w, host, -1); block >= 0 && !w->no_memory;
         block = berth_walk_next_block(w, host, block))
        step_to_host(w, block);
    for (int32_t kind = 0; kind < host && !w->stopped && !w->no_memory; kind++) step_to_parts(w, kind);
}
