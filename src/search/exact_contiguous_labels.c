/* SPDX-License-Identifier: Apache-2.0 */
/* Labels of ideals: what they remember, what they promise, and which of them are worth keeping.
 *
 * Latency: a label remembers when the values are on the host that tasks outside the ideal read, and the latest end. It
 * promises at least the longest path from each of these through tasks outside; with no device left those tasks run on
 * the host, and the same formula gives what it takes exactly. Throughput: it remembers the host's times and the largest
 * load of a part.
 *
 * A label is no better than another of the same ideal that has at least the same devices left, no later times, and an
 * end no later than what the first one promises anyway. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

/* Something outside the ideal may want to know when this task ends. */
static bool is_wanted(const berth_walk *walk, const uint64_t *bits, int32_t task) {
    const berth_contiguous *m = walk->m;
    for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
        if (!berth_bits_have(bits, m->block_of[m->edge_to[m->succ_edges[i]]])) return true;
    for (int32_t i = m->out_start[task]; m->n_targeted > 0 && i < m->out_start[task + 1]; i++) {
        int32_t target = m->c->value_target[m->out_values[i]];
        if (target >= 0 && target != m->c->host) return true;
    }
    return false;
}

static double tail_of(const berth_walk *walk, const uint64_t *bits, int32_t task, int32_t state) {
    const berth_contiguous *m = walk->m;
    double most = 0;
    for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++) {
        int32_t edge = m->succ_edges[i];
        double ms = m->enter[(size_t)edge * (size_t)m->n_states + (size_t)state];
        if (ms > most && !berth_bits_have(bits, m->block_of[m->edge_to[edge]])) most = ms;
    }
    return most;
}

/* Only tasks that were wanted before, or that are new, can be wanted. */
static bool list_tasks(berth_walk *walk, berth_labels *labels, const uint64_t *bits) {
    const berth_contiguous *m = walk->m;
    int32_t *task = walk->scratch, n = 0;
    for (int32_t i = 0; walk->labels && i < walk->labels->n_times; i++)
        if (is_wanted(walk, bits, walk->labels->task[i])) task[n++] = walk->labels->task[i];
    for (int32_t w = 0; w < walk->ideals.n_words; w++)
        for (uint64_t rest = bits[w] & ~(walk->from ? walk->from->bits[w] : 0); rest; rest &= rest - 1) {
            int32_t block = 64 * w + __builtin_ctzll(rest);
            for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++)
                if (is_wanted(walk, bits, m->block_tasks[k])) task[n++] = m->block_tasks[k];
        }
    labels->n_times = n;
    labels->task = berth_arena_copy(&walk->ideals.arena, task, (size_t)n, sizeof *task);
    return labels->task != NULL;
}

static bool fill_tails(berth_walk *walk, berth_labels *labels, const uint64_t *bits) {
    const berth_contiguous *m = walk->m;
    size_t width = (size_t)labels->n_times + 1, n_tail = width * (size_t)m->n_states;
    labels->tail = berth_resize(&walk->arena.allocator, NULL, 0, n_tail, sizeof *labels->tail);
    if (!labels->tail) return false;
    walk->n_bytes += n_tail * sizeof *labels->tail;
    for (int32_t state = 0; state < m->n_states; state++) {
        double *tail = labels->tail + (size_t)state * width, *start = &tail[width - 1];
        for (size_t i = 0; i + 1 < width; i++) tail[i] = tail_of(walk, bits, labels->task[i], state);
        for (int32_t i = 0; i < m->n_roots; i++)
            if (!berth_bits_have(bits, m->block_of[m->roots[i]]))
                *start = fmax(*start, m->root[(size_t)m->roots[i] * (size_t)m->n_states + (size_t)state]);
    }
    return true;
}

static bool fill_prices(berth_walk *walk, berth_labels *labels, const uint64_t *bits) {
    const berth_contiguous *m = walk->m;
    size_t n_states = (size_t)m->n_states;
    labels->tail = berth_resize(&walk->arena.allocator, NULL, 0, 2 * n_states, sizeof *labels->tail);
    if (!labels->tail) return false;
    walk->n_bytes += 2 * n_states * sizeof *labels->tail;
    for (int32_t b = 0; b < m->n_blocks; b++)
        for (int32_t k = m->block_start[b]; !berth_bits_have(bits, b) && k < m->block_start[b + 1]; k++)
            for (size_t state = 0; state < n_states; state++)
                labels->tail[2 * state + 1] += m->price[(size_t)m->block_tasks[k] * n_states + state];
    return true;
}

static void sum_rest(berth_walk *walk, berth_labels *labels, const uint64_t *bits) {
    const berth_contiguous *m = walk->m;
    for (int32_t b = 0; b < m->n_blocks; b++)
        for (int32_t k = m->block_start[b]; !berth_bits_have(bits, b) && k < m->block_start[b + 1]; k++) {
            int32_t task = m->block_tasks[k];
            bool on_host = m->block_allowed[b] >> m->c->host & 1;
            labels->rest_host_ms += on_host ? berth_contiguous_ms(m, task, m->c->host) : INFINITY;
            if (m->weighs_host) labels->rest_bytes += m->c->task_memory[task];
        }
}

static berth_labels *make_labels(berth_walk *walk, const uint64_t *bits) {
    berth_labels *labels = berth_resize(&walk->arena.allocator, NULL, 0, 1, sizeof *labels);
    if (!labels) return NULL;
    walk->n_bytes += sizeof *labels;
    if (walk->m->throughput || walk->m->weighs_host) sum_rest(walk, labels, bits);
    labels->n_times = 1;
    if (walk->m->throughput || list_tasks(walk, labels, bits)) return labels;
    berth_labels_free(walk, labels);
    return NULL;
}

berth_ideal *berth_walk_reach(berth_walk *walk) {
    berth_ideal *ideal = berth_ideals_find(&walk->ideals, walk->bits, walk->hash);
    if (!ideal) ideal = berth_ideals_add(&walk->ideals, walk->bits, walk->hash, walk->n_members);
    if (!ideal) return NULL;
    if (!ideal->data) ideal->data = make_labels(walk, ideal->bits);
    berth_labels *labels = ideal->data;
    if (!labels || labels->tail) return labels ? ideal : NULL;
    bool filled = walk->m->throughput ? fill_prices(walk, labels, ideal->bits) : fill_tails(walk, labels, ideal->bits);
    return filled ? ideal : NULL;
}

berth_ideal *berth_walk_reach_empty(berth_walk *walk) {
    memset(walk->bits, 0, (size_t)walk->ideals.n_words * sizeof *walk->bits);
    walk->hash = 0;
    walk->n_members = 0;
    return berth_walk_reach(walk);
}

void berth_labels_clear(berth_walk *walk, berth_labels *labels) {
    const berth_allocator *allocator = &walk->arena.allocator;
    size_t width = (size_t)labels->n_times, n_tail = (width + 1) * (size_t)walk->m->n_states;
    if (labels->tail && !walk->keep_tails) {
        labels->tail = berth_resize(allocator, labels->tail, n_tail, 0, sizeof *labels->tail);
        walk->n_bytes -= n_tail * sizeof *labels->tail;
    }
    if (labels->labels) berth_resize(allocator, labels->labels, labels->capacity, 0, sizeof *labels->labels);
    if (labels->times) berth_resize(allocator, labels->times, labels->capacity * width, 0, sizeof *labels->times);
    walk->n_bytes -= labels->capacity * (sizeof *labels->labels + width * sizeof *labels->times);
    labels->labels = NULL;
    labels->times = NULL;
    labels->n = labels->capacity = 0;
}

void berth_labels_free(berth_walk *walk, berth_labels *labels) {
    walk->keep_tails = false;
    berth_labels_clear(walk, labels);
    walk->n_bytes -= sizeof *labels;
    berth_resize(&walk->arena.allocator, labels, 1, 0, sizeof *labels);
}

static bool make_room(berth_walk *walk, berth_labels *labels) {
    const berth_allocator *allocator = &walk->arena.allocator;
    size_t width = (size_t)labels->n_times, more = labels->capacity ? 2 * labels->capacity : 4;
    if (labels->n < labels->capacity) return true;
    berth_label *items = berth_resize(allocator, labels->labels, labels->capacity, more, sizeof *items);
    if (!items) return false;
    labels->labels = items;
    if (width > 0) {
        double *times = berth_resize(allocator, labels->times, labels->capacity * width, more * width, sizeof *times);
        if (!times) {
            /* both arrays must have the same room */
            items = berth_resize(allocator, items, more, labels->capacity, sizeof *items);
            labels->labels = items;
            return false;
        }
        labels->times = times;
    }
    walk->n_bytes += (more - labels->capacity) * (sizeof *items + width * sizeof(double));
    labels->capacity = more;
    return true;
}

/* Values still to be sent to a device that took no part: with everything else on the host they are sent by it. */
static double pending_targets(const berth_walk *walk, const berth_ideal *ideal, int32_t state) {
    const berth_contiguous *m = walk->m;
    const berth_labels *labels = ideal->data;
    double most = 0;
    for (int32_t i = 0; i < m->n_targeted; i++) {
        int32_t value = m->targeted[i], target = m->c->value_target[value], producer = m->c->value_producer[value];
        int32_t kind = walk->kind_of[target];
        if (kind >= 0 && berth_walk_after(walk, state, kind) < 0) continue;
        double copy = berth_costs_copy(m->c, value, m->c->host, target), ready = m->given_ms[value];
        if (producer >= 0 && !berth_bits_have(ideal->bits, m->block_of[producer])) continue;
        for (int32_t k = 0; producer >= 0 && k < labels->n_times; k++)
            if (labels->task[k] == producer) ready = walk->times[k];
        most = fmax(most, ready + copy);
    }
    return most;
}

/* Loads that devices without a part have all the same. */
static double idle_load(const berth_walk *walk, int32_t state) {
    double most = 0;
    for (int32_t kind = 0; kind < walk->m->n_kinds; kind++)
        if (berth_walk_after(walk, state, kind) >= 0) most = fmax(most, walk->idle_ms[kind]);
    return most;
}

/* Fills in label->least; returns what it takes if everything outside is put on the host. */
static double judge(const berth_walk *walk, const berth_ideal *ideal, berth_label *label) {
    const berth_contiguous *m = walk->m;
    const berth_labels *labels = ideal->data;
    if (m->throughput) {
        double cores = m->c->max_cpus > 1 ? m->c->max_cpus : 1, host = walk->times[0];
        label->least = fmax(label->ms, labels->tail[2 * label->state + 1] + m->host_price[label->state] * host);
        return fmax(fmax(label->ms, (host + labels->rest_host_ms) / cores), idle_load(walk, label->state));
    }
    size_t width = (size_t)labels->n_times + 1;
    const double *tail = labels->tail + (size_t)label->state * width, *none = labels->tail;
    double least = fmax(label->ms, tail[width - 1]), done = fmax(label->ms, none[width - 1]);
    for (size_t i = 0; i + 1 < width; i++) {
        double some = walk->times[i] + tail[i], all = walk->times[i] + none[i];
        if (some > least) least = some;
        if (all > done) done = all;
    }
    label->least = least;
    return m->n_targeted > 0 ? fmax(done, pending_targets(walk, ideal, label->state)) : done;
}

/* Label a, with times, makes b, with times, unnecessary. */
static bool beats(const berth_walk *walk, const berth_label *a, const double *a_times, const berth_label *b,
                  const double *b_times, int32_t n) {
    const berth_contiguous *m = walk->m;
    if (a->ms > b->least || a->host_bytes > b->host_bytes) return false;
    if (a->state != b->state &&
        (m->n_targeted > 0 || !walk->covers[(size_t)a->state * (size_t)m->n_states + (size_t)b->state]))
        return false;
    for (int32_t i = 0; i < n; i++)
        if (a_times[i] > b_times[i]) return false;
    return true;
}

static void move_label(berth_labels *labels, size_t from, size_t to) {
    size_t width = (size_t)labels->n_times;
    labels->labels[to] = labels->labels[from];
    if (width > 0) memmove(labels->times + to * width, labels->times + from * width, width * sizeof *labels->times);
}

/* A little more than there is, since the simulator may add in another order. */
static double room_on_host(const berth_walk *walk, const berth_label *label) {
    return walk->m->c->capacity[walk->m->c->host] * (1 + 1e-12) - label->host_bytes;
}

static double room_elsewhere(const berth_walk *walk, int32_t state) {
    const berth_contiguous *m = walk->m;
    double room = 0;
    for (int32_t kind = 0; kind < m->n_kinds; kind++)
        if (berth_walk_left(walk, state, kind) > 0)
            room += berth_walk_left(walk, state, kind) * m->c->capacity[m->kind_device[kind]] * (1 + 1e-12);
    return room;
}

/* Whether the rank is among the best of its size, which it then joins. */
static bool is_among_best(berth_walk *walk, int32_t size, double rank) {
    if (!walk->ranks) return true;
    double *heap = walk->ranks + (size_t)size * walk->most_ranks;
    size_t n = (size_t)walk->n_ranks[size], at = 0;
    if (n < walk->most_ranks) {
        for (at = n; at > 0 && heap[(at - 1) / 2] < rank; at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
        heap[at] = rank;
        walk->n_ranks[size]++;
        return true;
    }
    if (rank >= heap[0]) return false;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && heap[child + 1] > heap[child]) child++;
        if (heap[child] <= rank) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = rank;
    return true;
}

void berth_walk_forget_empty(berth_walk *walk, const berth_ideal *ideal) {
    berth_labels *labels = ideal->data;
    if (walk->ranks && labels->n == 0) berth_labels_clear(walk, labels);
}

void berth_walk_put(berth_walk *walk, const berth_ideal *ideal, berth_label label) {
    berth_labels *labels = ideal->data;
    size_t width = (size_t)labels->n_times;
    double done = judge(walk, ideal, &label);
    label.rank = label.least + (done < INFINITY ? done : label.least) / 2; /* promises and what is there already */
    double room = walk->m->weighs_host ? room_on_host(walk, &label) : INFINITY;
    berth_trace trace = {ideal, label.parent, label.kind};
    if (!berth_walk_is_hopeless(walk, done) && labels->rest_bytes <= room &&
        (!walk->only_accepted || berth_walk_is_accepted(walk, trace))) {
        walk->best = done;
        walk->best_trace = trace;
        walk->has_news = true;
    }
    if (label.state == 0 || berth_walk_is_hopeless(walk, label.least)) return;
    if (labels->rest_bytes > room + room_elsewhere(walk, label.state)) return;
    for (size_t i = 0; i < labels->n; i++)
        if (beats(walk, &labels->labels[i], labels->times + i * width, &label, walk->times, labels->n_times)) return;
    if (!is_among_best(walk, ideal->n_members, label.rank)) {
        walk->left_out = fmin(walk->left_out, label.least);
        return;
    }
    for (size_t i = labels->n; i-- > 0;)
        if (beats(walk, &label, walk->times, &labels->labels[i], labels->times + i * width, labels->n_times))
            move_label(labels, --labels->n, i);
    if (!make_room(walk, labels)) {
        walk->no_memory = true;
        return;
    }
    labels->labels[labels->n] = label;
    if (width > 0) memcpy(labels->times + labels->n * width, walk->times, width * sizeof *walk->times);
    labels->n++;
}
