/* SPDX-License-Identifier: Apache-2.0 */
/* The walk forwards: ideals by size, so that all labels of one are known when it is extended.
 *
 * With limits it is a beam search: it keeps the most promising ideals and labels, and remembers the least that any of
 * the others promised, which is still a bound. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

enum { MOST_RANKS = 1 << 12 };

/* The labels at hand are not extended in all ways. */
static void leave_out(berth_walk *w, const berth_labels *labels) {
    for (size_t i = 0; i < labels->n; i++) w->left_out = fmin(w->left_out, labels->labels[i].least);
}

static bool is_more_promising(const void *user, int32_t a, int32_t b) {
    const berth_labels *labels = user;
    double x = labels->labels[a].rank, y = labels->labels[b].rank;
    return x < y || (x == y && a < b);
}

/* Drops what has become hopeless, and beyond the limit what promises least. */
static bool thin_labels(berth_walk *w, berth_labels *labels) {
    size_t width = (size_t)labels->n_times, n = 0;
    for (size_t i = 0; i < labels->n; i++) {
        if (berth_walk_is_hopeless(w, labels->labels[i].least)) continue;
        labels->labels[n] = labels->labels[i];
        if (width > 0) memmove(labels->times + n * width, labels->times + i * width, width * sizeof *labels->times);
        n++;
    }
    labels->n = n;
    if (n <= w->limits.labels) return true;
    berth_mark mark = berth_arena_mark(&w->arena);
    int32_t *order = berth_arena_push(&w->arena, n, sizeof *order);
    bool *keep = berth_arena_push(&w->arena, n, sizeof *keep);
    if (w->arena.failed) return false;
    for (size_t i = 0; i < n; i++) order[i] = (int32_t)i;
    berth_sort(order, n, is_more_promising, labels);
    for (size_t i = 0; i < n; i++) {
        keep[order[i]] = i < w->limits.labels;
        if (!keep[order[i]]) w->left_out = fmin(w->left_out, labels->labels[order[i]].least);
    }
    labels->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!keep[i]) continue;
        labels->labels[labels->n] = labels->labels[i];
        if (width > 0)
            memmove(labels->times + labels->n * width, labels->times + i * width, width * sizeof *labels->times);
        labels->n++;
    }
    berth_arena_release(&w->arena, mark);
    return true;
}

static bool trace_labels(berth_walk *w) {
    w->first_trace = (int32_t)w->traces.n;
    for (size_t i = 0; i < w->labels->n; i++) {
        const berth_label *label = &w->labels->labels[i];
        if (w->traces.n >= INT32_MAX) return false;
        if (!berth_vec_push(&w->arena.allocator, &w->traces, (berth_trace){w->from, label->parent, label->kind}))
            return false;
    }
    return true;
}

static void extend_ideal(berth_walk *w, berth_ideal *ideal) {
    berth_labels *labels = ideal->data;
    if (!thin_labels(w, labels)) w->no_memory = true;
    if (labels->n > 0 && !w->no_memory) {
        berth_walk_enter(w, ideal);
        if (trace_labels(w))
            berth_walk_take_steps(w);
        else
            w->no_memory = true;
        berth_walk_leave(w);
        if (w->stopped || w->cut_short) leave_out(w, labels);
    }
    berth_labels_clear(w, labels);
}

typedef struct ranked {
    berth_ideal **ideal;
    double *rank;
} ranked;

static bool is_better_ideal(const void *user, int32_t a, int32_t b) {
    const ranked *r = user;
    return r->rank[a] < r->rank[b] || (r->rank[a] == r->rank[b] && a < b);
}

static bool has_labels(const berth_ideal *ideal) {
    const berth_labels *labels = ideal->data;
    return labels && labels->n > 0;
}

static double rank_of(const berth_ideal *ideal) {
    const berth_labels *labels = ideal->data;
    double rank = INFINITY;
    for (size_t i = 0; i < labels->n; i++) rank = fmin(rank, labels->labels[i].rank);
    return rank;
}

/* The ideals of one size that the limit allows, most promising first; the rest is released. NULL: no memory. */
static berth_ideal **choose_ideals(berth_walk *w, int32_t size, size_t *n_chosen) {
    size_t n = 0;
    for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next) n += has_labels(ideal);
    ranked r = {berth_arena_push(&w->arena, n, sizeof *r.ideal), berth_arena_push(&w->arena, n, sizeof *r.rank)};
    berth_ideal **chosen = berth_arena_push(&w->arena, n, sizeof *chosen);
    int32_t *order = berth_arena_push(&w->arena, n, sizeof *order);
    if (w->arena.failed) return NULL;
    n = 0;
    for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next) {
        if (!has_labels(ideal)) continue;
        order[n] = (int32_t)n;
        r.rank[n] = rank_of(ideal);
        r.ideal[n++] = ideal;
    }
    berth_sort(order, n, is_better_ideal, &r);
    *n_chosen = n < w->limits.ideals ? n : w->limits.ideals;
    for (size_t i = 0; i < n; i++) {
        berth_ideal *ideal = r.ideal[order[i]];
        if (i < *n_chosen) {
            chosen[i] = ideal;
            continue;
        }
        leave_out(w, ideal->data);
        berth_labels_clear(w, ideal->data);
    }
    return chosen;
}

static void walk_size(berth_walk *w, int32_t size) {
    berth_mark mark = berth_arena_mark(&w->arena);
    size_t n = 0;
    berth_ideal **chosen = choose_ideals(w, size, &n);
    if (!chosen) {
        w->no_memory = true;
        return;
    }
    for (size_t i = 0; i < n && !w->no_memory && !w->stopped; i++) {
        extend_ideal(w, chosen[i]);
        if (w->has_news && !w->no_memory) berth_walk_offer(w);
        if (berth_search_stop(w->search) || berth_walk_bytes(w) > w->most_bytes) w->stopped = true;
    }
    berth_arena_release(&w->arena, mark);
}

static void fill_tables(berth_walk *w, bool *covers) {
    const berth_contiguous *m = w->m;
    for (int32_t d = 0; d < m->c->n_devices; d++) w->kind_of[d] = -1;
    for (int32_t kind = 0; kind <= m->n_kinds + 1; kind++) {
        int32_t device = kind < m->n_kinds ? m->kind_device[kind] : m->c->host;
        uint64_t *bits = w->kind_bits + (size_t)kind * (size_t)w->ideals.n_words;
        for (int32_t b = 0; b < m->n_blocks; b++)
            if (kind > m->n_kinds || m->block_allowed[b] >> device & 1) berth_bits_set(bits, b);
    }
    for (int32_t kind = 0; kind < m->n_kinds; kind++) {
        w->kind_of[m->kind_device[kind]] = kind;
        berth_part_begin(&w->part, kind);
        const berth_part_sums *empty = berth_part_now(&w->part);
        w->idle_ms[kind] = empty->n_cut_in + empty->n_cut_out > 0 ? INFINITY : empty->in + empty->out;
    }
    for (int32_t a = 0; a < m->n_states; a++)
        for (int32_t b = 0; b < m->n_states; b++) {
            bool all = true;
            for (int32_t kind = 0; kind < m->n_kinds; kind++)
                all = all && berth_walk_left(w, a, kind) >= berth_walk_left(w, b, kind);
            covers[(size_t)a * (size_t)m->n_states + (size_t)b] = all;
        }
    for (int32_t task = 0; task < m->c->n_tasks; task++) w->position[task] = -1;
}

#define MAKE(field, n) (w->field = berth_arena_push(&w->arena, (n), sizeof *w->field))

static berth_status set_up(berth_walk *w) {
    const berth_contiguous *m = w->m;
    size_t n = (size_t)m->c->n_tasks, n_blocks = (size_t)m->n_blocks, n_states = (size_t)m->n_states;
    BERTH_TRY(berth_ideals_init(w->search->ctx, &w->ideals, m->n_blocks));
    size_t n_words = (size_t)w->ideals.n_words;
    bool *covers = berth_arena_push(&w->arena, n_states * n_states, sizeof *covers);
    MAKE(position, n);
    MAKE(missing, n_blocks);
    MAKE(unit_inside, (size_t)m->problem->n_units);
    MAKE(ready, n_words);
    MAKE(closed, n_words);
    MAKE(bits, n_words);
    MAKE(cursor, n_blocks + 2);
    MAKE(times, n + 1);
    MAKE(ends, n);
    MAKE(scratch, n);
    MAKE(device, n);
    if (!m->throughput) MAKE(tail, n_states * (n + 1));
    MAKE(follow, n + 1);
    MAKE(kind_bits, ((size_t)m->n_kinds + 2) * n_words);
    MAKE(kind_of, (size_t)m->c->n_devices);
    MAKE(idle_ms, (size_t)m->n_kinds);
    if (w->arena.failed || !berth_part_init(&w->part, &w->arena, m)) return berth_fail_nomem(w->search->ctx);
    fill_tables(w, covers);
    w->covers = covers;
    return BERTH_OK;
}

static berth_status walk_all(berth_walk *w) {
    berth_ideal *empty = berth_walk_reach_empty(w);
    if (!empty) return berth_fail_nomem(w->search->ctx);
    w->times[0] = 0;
    berth_walk_put(w, empty,
                   (berth_label){.ms = w->m->throughput ? 0 : w->m->base_ms,
                                 .parent = -1,
                                 .state = (int16_t)(w->m->n_states - 1),
                                 .kind = -1});
    if (w->has_news) berth_walk_offer(w);
    for (int32_t size = 0; size <= w->m->n_blocks && !w->stopped && !w->no_memory; size++) walk_size(w, size);
    return w->no_memory ? berth_fail_nomem(w->search->ctx) : BERTH_OK;
}

/* What is still to be extended promises this much. */
static void give_up_rest(berth_walk *w) {
    for (int32_t size = 0; size <= w->m->n_blocks; size++)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next) {
            if (!ideal->data) continue;
            leave_out(w, ideal->data);
            berth_labels_clear(w, ideal->data);
        }
}

/* Room for the best ranks of each size, if the limits are narrow enough for them to be few. */
static berth_status make_ranks(berth_walk *w) {
    size_t n_sizes = (size_t)w->m->n_blocks + 1;
    w->ranks = NULL;
    if (w->limits.ideals > MOST_RANKS / w->limits.labels) return BERTH_OK;
    w->most_ranks = w->limits.ideals * w->limits.labels;
    w->ranks = berth_arena_push(&w->arena, n_sizes * w->most_ranks, sizeof *w->ranks);
    w->n_ranks = berth_arena_push(&w->arena, n_sizes, sizeof *w->n_ranks);
    return w->arena.failed ? berth_fail_nomem(w->search->ctx) : BERTH_OK;
}

berth_status berth_walk_run(berth_walk *w, berth_walk_limits limits, berth_walk_result *out) {
    w->visitor = &berth_walk_forward;
    w->limits = limits;
    w->stopped = w->has_news = false;
    w->best = w->search->best_ms;
    w->left_out = INFINITY;
    w->traces.n = 0;
    berth_mark mark = berth_arena_mark(&w->arena);
    berth_status status = make_ranks(w);
    if (status == BERTH_OK) status = walk_all(w);
    give_up_rest(w);
    w->ranks = NULL;
    berth_arena_release(&w->arena, mark);
    *out = (berth_walk_result){w->best, fmin(w->best, w->left_out), !(w->left_out < w->best)};
    return status;
}

berth_status berth_walk_init(berth_walk *w, berth_search *search, const berth_contiguous *m, size_t most_bytes) {
    memset(w, 0, sizeof *w);
    w->search = search;
    w->m = m;
    w->most_bytes = most_bytes;
    berth_arena_init(&w->arena, berth_ctx_allocator(search->ctx));
    berth_status status = set_up(w);
    if (status != BERTH_OK) berth_walk_deinit(w);
    return status;
}

void berth_walk_deinit(berth_walk *w) {
    const berth_allocator *allocator = &w->arena.allocator;
    for (int32_t size = 0; w->ideals.of_size && size <= w->m->n_blocks; size++)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next)
            if (ideal->data) berth_labels_free(w, ideal->data);
    berth_vec_free(allocator, &w->traces);
    if (w->users) berth_resize(allocator, w->users, w->users_capacity, 0, sizeof *w->users);
    if (w->starts) berth_resize(allocator, w->starts, w->starts_capacity, 0, sizeof *w->starts);
    berth_ideals_deinit(&w->ideals);
    berth_arena_deinit(&w->arena);
}
