/* SPDX-License-Identifier: Apache-2.0 */
/* The walk: ideals by size, so that all labels of one are known when it is extended; from each every host step and
 * every part. Parts on top of an ideal are enumerated by adding blocks in ascending order, which makes each set once.
 *
 * A part is given up as soon as its device's memory is exceeded or, for every label, start + copies in + times + what
 * must follow its last block is no better than the best placement known: all of these only grow with the part.
 *
 * A block that only the host may take is added by itself as soon as it is ready: the host starts it as soon as it can
 * in any case, and no part is lost by it.
 *
 * With limits the walk is a beam search: it keeps the most promising ideals and labels, and remembers the least that
 * any of the others promised, which is still a bound. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

#include "base/sort.h"

static int32_t state_after(const berth_walk *w, int32_t state, int32_t class) {
    return w->m->after[(size_t)state * (size_t)w->m->n_classes + (size_t) class];
}

static int32_t count_left(const berth_contiguous *m, int32_t state, int32_t class) {
    int32_t n = 0;
    while ((state = m->after[(size_t)state * (size_t)m->n_classes + (size_t) class]) >= 0) n++;
    return n;
}

static bool is_hopeless(const berth_walk *w, double ms) {
    return ms >= w->best * (1 - 1e-12);
}

static void add_block(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    berth_bits_set(w->bits, block);
    w->hash += w->ideals.key[block];
    w->n_members++;
    for (int32_t i = m->behind_start[block]; i < m->behind_start[block + 1]; i++)
        if (--w->missing[m->behind[i]] == 0) berth_bits_set(w->ready, m->behind[i]);
}

static void remove_block(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    berth_bits_clear(w->bits, block);
    w->hash -= w->ideals.key[block];
    w->n_members--;
    for (int32_t i = m->behind_start[block]; i < m->behind_start[block + 1]; i++)
        if (w->missing[m->behind[i]]++ == 0) berth_bits_clear(w->ready, m->behind[i]);
}

/* The values that a label of the ideal at hand remembers, as a label of the larger ideal sees them; those of tasks that
 * were added since are in w->ends. */
static void carry_times(berth_walk *w, const berth_ideal *to, size_t label) {
    const berth_labels *labels = to->data;
    const double *times = w->labels->times + label * (size_t)w->labels->n_times;
    for (int32_t i = 0; i < labels->n_times; i++) {
        int32_t at = w->position[labels->task[i]];
        w->times[i] = at >= 0 ? times[at] : w->ends[labels->task[i]];
    }
}

/* A value of the block with a target that has been used up, and is not where the value is, is sent there at once. */
static double send_to_targets(const berth_walk *w, int32_t task, int32_t device, int32_t state, double ready) {
    const berth_contiguous *m = w->m;
    double end = ready;
    for (int32_t i = m->out_start[task]; m->n_targeted > 0 && i < m->out_start[task + 1]; i++) {
        int32_t value = m->out_values[i], target = m->c->value_target[value];
        if (target < 0 || target == m->c->host || target == device) continue;
        if (w->class_of[target] >= 0 && berth_walk_has_left(w, state, w->class_of[target])) continue;
        end = fmax(end, ready + berth_costs_copy(m->c, value, m->c->host, target));
    }
    return end;
}

/* When the task ends on the host, by the times of a label. */
static double end_on_host(berth_walk *w, int32_t task, int32_t block, const double *times) {
    const berth_contiguous *m = w->m;
    double start = 0;
    for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++)
        start = fmax(start, m->given_ms[m->in_values[i]]);
    for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) {
        int32_t pred = m->edge_from[e];
        start = fmax(start, m->block_of[pred] == block ? w->ends[pred] : times[w->position[pred]]);
    }
    return start + berth_contiguous_ms(m, task, m->c->host);
}

static void put_host_step(berth_walk *w, const berth_ideal *to, int32_t block, size_t from) {
    const berth_contiguous *m = w->m;
    berth_label label = w->labels->labels[from];
    const double *times = w->labels->times + from * (size_t)w->labels->n_times;
    label.parent = w->first_trace + (int32_t)from;
    label.class = -1;
    double sum = 0;
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        if (m->throughput) {
            sum += berth_contiguous_ms(m, task, m->c->host);
            continue;
        }
        w->ends[task] = end_on_host(w, task, block, times);
        label.ms = fmax(label.ms, send_to_targets(w, task, m->c->host, label.state, w->ends[task]));
    }
    if (m->throughput)
        w->times[0] = times[0] + sum;
    else
        carry_times(w, to, from);
    berth_walk_put(w, to, label);
}

static void step_to_host(berth_walk *w, int32_t block) {
    add_block(w, block);
    berth_ideal *to = berth_walk_reach(w);
    if (!to) w->no_memory = true;
    for (size_t i = 0; to && i < w->labels->n && !w->no_memory; i++) put_host_step(w, to, block, i);
    berth_search_count(w->search, (int64_t)w->labels->n);
    remove_block(w, block);
}

/* Values that wait on the host for the part's device as their target and that the part does not read. */
static double send_to_part(const berth_walk *w, const double *times) {
    const berth_contiguous *m = w->m;
    double end = 0;
    for (int32_t i = 0; i < m->n_targeted; i++) {
        int32_t value = m->targeted[i], producer = m->c->value_producer[value];
        if (m->c->value_target[value] != w->part.device || w->part.n_inside[value] > 0) continue;
        if (producer >= 0 && !berth_bits_have(w->from->bits, m->block_of[producer])) continue;
        double ready = producer >= 0 ? times[w->position[producer]] : m->given_ms[value];
        end = fmax(end, ready + berth_costs_copy(m->c, value, m->c->host, w->part.device));
    }
    return end;
}

static double finish_part(berth_walk *w, const double *times, int32_t state, double end) {
    const berth_contiguous *m = w->m;
    double ms = fmax(end, send_to_part(w, times));
    for (int32_t i = 1; i <= w->part.n; i++) {
        int32_t block = w->part.sums[i].block;
        for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
            w->ends[m->block_tasks[k]] = end;
            if (m->n_targeted > 0) ms = fmax(ms, send_to_targets(w, m->block_tasks[k], w->part.device, state, end));
        }
    }
    return ms;
}

static void put_part(berth_walk *w) {
    const berth_part_sums *now = berth_part_now(&w->part);
    const double *starts = w->starts + (size_t)w->part.n * w->n_users;
    if (now->n_open > 0 || now->n_cut_in > 0 || now->n_cut_out > 0) return;
    double took = now->in + now->compute + now->out;
    berth_ideal *to = NULL;
    for (size_t i = 0; i < w->n_users && !w->no_memory; i++) {
        if (is_hopeless(w, starts[i] + took)) continue;
        if (!to && !(to = berth_walk_reach(w))) {
            w->no_memory = true;
            return;
        }
        size_t from = (size_t)w->users[i];
        berth_label label = w->labels->labels[from];
        const double *times = w->labels->times + from * (size_t)w->labels->n_times;
        label.parent = w->first_trace + (int32_t)from;
        label.class = (int16_t)w->part.class;
        label.state = (int16_t)state_after(w, label.state, w->part.class);
        if (w->m->throughput) {
            label.ms = fmax(label.ms, took);
            w->times[0] = times[0];
        } else {
            label.ms = fmax(label.ms, finish_part(w, times, label.state, starts[i] + took));
            carry_times(w, to, from);
        }
        berth_search_count(w->search, 1);
        berth_walk_put(w, to, label);
    }
}

/* When each label could start the part with its new block; false if that is too late for all of them. */
static bool delay_starts(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    const berth_part *part = &w->part;
    const berth_part_sums *now = berth_part_now(part);
    const double *before = w->starts + (size_t)(part->n - 1) * w->n_users;
    double *starts = w->starts + (size_t)part->n * w->n_users;
    double least = now->compute + now->in - (m->throughput ? part->sums[0].in : 0);
    bool any = false;
    if (!m->throughput && now->n_cut_in > 0) return false;
    memcpy(starts, before, w->n_users * sizeof *starts);
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1] && !m->throughput; k++) {
        int32_t task = m->block_tasks[k];
        for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) {
            int32_t value = m->in_values[i], producer = m->c->value_producer[value];
            if (producer >= 0 || m->c->value_home[value] == part->device) continue;
            for (size_t u = 0; u < w->n_users; u++) starts[u] = fmax(starts[u], m->given_ms[value]);
        }
        for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) {
            int32_t pred = m->edge_from[e];
            if (part->has[pred]) continue;
            const double *times = w->labels->times + w->position[pred];
            for (size_t u = 0; u < w->n_users; u++) {
                double ready = times[(size_t)w->users[u] * (size_t)w->labels->n_times];
                if (ready > starts[u]) starts[u] = ready;
            }
        }
    }
    const double *leave =
        m->throughput ? NULL
                      : m->leave + ((size_t)block * (size_t)m->n_classes + (size_t)part->class) * (size_t)m->n_states;
    for (size_t u = 0; u < w->n_users; u++) {
        int32_t state = state_after(w, w->labels->labels[w->users[u]].state, part->class);
        if (is_hopeless(w, starts[u] + least + (leave ? leave[state] : 0)))
            starts[u] = INFINITY;
        else
            any = true;
    }
    return any;
}

static int32_t next_block(const berth_walk *w, int32_t class, int32_t after) {
    const uint64_t *may = w->class_bits + (size_t) class * (size_t)w->ideals.n_words;
    int32_t first = after + 1, word = first >> 6;
    if (first >= w->m->n_blocks) return -1;
    uint64_t bits = w->ready[word] & may[word] & ~w->closed[word] & ~w->bits[word] & (UINT64_MAX << (first & 63));
    while (!bits) {
        if (++word >= w->ideals.n_words) return -1;
        bits = w->ready[word] & may[word] & ~w->closed[word] & ~w->bits[word];
    }
    return 64 * word + __builtin_ctzll(bits);
}

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

static bool find_users(berth_walk *w, int32_t class) {
    const berth_allocator *allocator = &w->arena.allocator;
    w->n_users = 0;
    if (w->labels->n > w->users_capacity) {
        int32_t *users = berth_resize(allocator, w->users, w->users_capacity, 2 * w->labels->n, sizeof *users);
        if (!users) return false;
        w->users = users;
        w->users_capacity = 2 * w->labels->n;
    }
    for (size_t i = 0; i < w->labels->n; i++)
        if (berth_walk_has_left(w, w->labels->labels[i].state, class)) w->users[w->n_users++] = (int32_t)i;
    w->part.n = 0;
    if (!make_starts(w)) return false;
    for (size_t i = 0; i < w->n_users; i++) w->starts[i] = 0;
    return true;
}

/* The labels at hand are not extended in all ways. */
static void leave_out(berth_walk *w, const berth_labels *labels) {
    for (size_t i = 0; i < labels->n; i++) w->left_out = fmin(w->left_out, labels->labels[i].least);
}

/* Adds a block to the part and to the ideal, if some label may still gain from it. */
static void try_block(berth_walk *w, int32_t block) {
    if (!make_starts(w)) {
        w->no_memory = true;
        return;
    }
    if (!berth_part_add(&w->part, block) || !delay_starts(w, block)) {
        berth_part_undo(&w->part);
        return;
    }
    add_block(w, block);
    w->cursor[w->part.n] = block;
    put_part(w);
}

static void step_to_parts(berth_walk *w, int32_t class) {
    berth_part *part = &w->part;
    if (!find_users(w, class)) w->no_memory = true;
    if (w->no_memory || w->n_users == 0) return;
    berth_part_begin(part, class);
    w->cursor[0] = -1;
    for (size_t n_steps = 0;; n_steps++) {
        bool go_on = n_steps < w->limits.steps && !w->stopped && !w->no_memory;
        int32_t block = go_on ? next_block(w, class, w->cursor[part->n]) : -1;
        if (block >= 0) {
            w->cursor[part->n] = block;
            try_block(w, block);
            w->stopped = n_steps % 16 == 0 && berth_search_stop(w->search);
            continue;
        }
        if (n_steps == w->limits.steps) leave_out(w, w->labels);
        if (part->n == 0) break;
        remove_block(w, berth_part_now(part)->block);
        berth_part_undo(part);
    }
}

/* A ready block that only the host may take, or -1. */
static int32_t find_forced(const berth_walk *w) {
    const berth_contiguous *m = w->m;
    for (int32_t word = 0; word < w->ideals.n_words; word++)
        for (uint64_t bits = w->ready[word] & ~w->bits[word]; bits; bits &= bits - 1) {
            int32_t block = 64 * word + __builtin_ctzll(bits), task = m->block_tasks[m->block_start[block]];
            if (berth_bits_have(w->closed, block) || m->allowed[task] == (uint64_t)1 << m->c->host) return block;
        }
    return -1;
}

static void enter_ideal(berth_walk *w, const berth_ideal *ideal) {
    const berth_contiguous *m = w->m;
    size_t n_bytes = (size_t)w->ideals.n_words * sizeof *w->bits;
    w->from = ideal;
    w->labels = ideal->data;
    w->hash = ideal->hash;
    w->n_members = ideal->n_members;
    memcpy(w->bits, ideal->bits, n_bytes);
    memset(w->ready, 0, n_bytes);
    memset(w->closed, 0, n_bytes);
    for (int32_t b = 0; b < m->n_blocks; b++) {
        w->missing[b] = 0;
        for (int32_t i = m->before_start[b]; i < m->before_start[b + 1]; i++)
            w->missing[b] += !berth_bits_have(w->bits, m->before[i]);
        if (w->missing[b] == 0) berth_bits_set(w->ready, b);
        w->unit_inside[m->block_unit[b]] = 0;
    }
    for (int32_t b = 0; b < m->n_blocks; b++) w->unit_inside[m->block_unit[b]] += berth_bits_have(w->bits, b);
    for (int32_t b = 0; b < m->n_blocks; b++)
        if (w->unit_inside[m->block_unit[b]] > 0) berth_bits_set(w->closed, b);
    for (int32_t i = 0; !m->throughput && i < w->labels->n_times; i++) w->position[w->labels->task[i]] = i;
}

static bool is_more_promising(const void *user, int32_t a, int32_t b) {
    const berth_labels *labels = user;
    double x = labels->labels[a].least, y = labels->labels[b].least;
    return x < y || (x == y && a < b);
}

/* Drops what has become hopeless, and beyond the limit what promises least. */
static bool thin_labels(berth_walk *w, berth_labels *labels) {
    size_t width = (size_t)labels->n_times, n = 0;
    for (size_t i = 0; i < labels->n; i++) {
        if (is_hopeless(w, labels->labels[i].least)) continue;
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
        if (!berth_vec_push(&w->arena.allocator, &w->traces, (berth_trace){w->from, label->parent, label->class}))
            return false;
    }
    return true;
}

static void take_steps(berth_walk *w) {
    int32_t n_classes = w->m->n_classes, forced = find_forced(w);
    if (forced >= 0) {
        step_to_host(w, forced);
        return;
    }
    for (int32_t block = next_block(w, n_classes, -1); block >= 0 && !w->no_memory;
         block = next_block(w, n_classes, block))
        step_to_host(w, block);
    for (int32_t class = 0; class < n_classes && !w->stopped && !w->no_memory; class ++) step_to_parts(w, class);
}

static void extend_ideal(berth_walk *w, berth_ideal *ideal) {
    berth_labels *labels = ideal->data;
    if (!thin_labels(w, labels)) w->no_memory = true;
    if (labels->n > 0 && !w->no_memory) {
        enter_ideal(w, ideal);
        if (trace_labels(w))
            take_steps(w);
        else
            w->no_memory = true;
        for (int32_t i = 0; !w->m->throughput && i < labels->n_times; i++) w->position[labels->task[i]] = -1;
        if (w->stopped) leave_out(w, labels);
    }
    w->labels = NULL;
    w->from = NULL;
    berth_labels_release(w, labels);
    ideal->data = NULL;
}

typedef struct ranked {
    berth_ideal **ideal;
    double *least;
} ranked;

static bool is_better_ideal(const void *user, int32_t a, int32_t b) {
    const ranked *r = user;
    return r->least[a] < r->least[b] || (r->least[a] == r->least[b] && a < b);
}

static double least_of(const berth_ideal *ideal) {
    const berth_labels *labels = ideal->data;
    double least = INFINITY;
    for (size_t i = 0; labels && i < labels->n; i++) least = fmin(least, labels->labels[i].least);
    return least;
}

/* The ideals of one size that the limit allows, most promising first; the rest is released. NULL: no memory. */
static berth_ideal **choose_ideals(berth_walk *w, int32_t size, size_t *n_chosen) {
    size_t n = 0;
    for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next) n++;
    ranked r = {berth_arena_push(&w->arena, n, sizeof *r.ideal), berth_arena_push(&w->arena, n, sizeof *r.least)};
    berth_ideal **chosen = berth_arena_push(&w->arena, n, sizeof *chosen);
    int32_t *order = berth_arena_push(&w->arena, n, sizeof *order);
    if (w->arena.failed) return NULL;
    n = 0;
    for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next) {
        order[n] = (int32_t)n;
        r.least[n] = least_of(ideal);
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
        w->left_out = fmin(w->left_out, r.least[order[i]]);
        berth_labels_release(w, ideal->data);
        ideal->data = NULL;
    }
    return chosen;
}

static size_t used_bytes(const berth_walk *w) {
    return w->n_bytes + w->ideals.arena.total + w->ideals.n_slots * sizeof *w->ideals.slots +
           w->traces.capacity * sizeof *w->traces.items;
}

static berth_status walk_size(berth_walk *w, int32_t size) {
    berth_mark mark = berth_arena_mark(&w->arena);
    size_t n = 0;
    berth_ideal **chosen = choose_ideals(w, size, &n);
    berth_status status = chosen ? BERTH_OK : berth_fail_nomem(w->search->ctx);
    for (size_t i = 0; status == BERTH_OK && i < n && !w->stopped; i++) {
        extend_ideal(w, chosen[i]);
        if (w->no_memory) status = berth_fail_nomem(w->search->ctx);
        if (status == BERTH_OK && w->has_news) status = berth_walk_offer(w);
        if (berth_search_stop(w->search) || used_bytes(w) > w->limits.bytes) w->stopped = true;
    }
    berth_arena_release(&w->arena, mark);
    return status;
}

/* What is still to be extended promises this much. */
static void count_pending(berth_walk *w) {
    for (int32_t size = 0; size <= w->m->n_blocks; size++)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next)
            w->left_out = fmin(w->left_out, least_of(ideal));
}

static void fill_tables(berth_walk *w, bool *covers) {
    const berth_contiguous *m = w->m;
    for (int32_t d = 0; d < m->c->n_devices; d++) w->class_of[d] = -1;
    for (int32_t class = 0; class <= m->n_classes; class ++) {
        int32_t device = class < m->n_classes ? m->class_device[class] : m->c->host;
        uint64_t *bits = w->class_bits + (size_t) class * (size_t)w->ideals.n_words;
        for (int32_t b = 0; b < m->n_blocks; b++)
            if (m->allowed[m->block_tasks[m->block_start[b]]] >> device & 1) berth_bits_set(bits, b);
        if (class == m->n_classes) break;
        w->class_of[device] = class;
        berth_part_begin(&w->part, class);
        const berth_part_sums *empty = berth_part_now(&w->part);
        w->idle_ms[class] = empty->n_cut_in + empty->n_cut_out > 0 ? INFINITY : empty->in + empty->out;
    }
    for (int32_t a = 0; a < m->n_states; a++)
        for (int32_t b = 0; b < m->n_states; b++) {
            bool all = true;
            for (int32_t class = 0; class < m->n_classes; class ++)
                all = all && count_left(m, a, class) >= count_left(m, b, class);
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
    MAKE(class_bits, ((size_t)m->n_classes + 1) * n_words);
    MAKE(class_of, (size_t)m->c->n_devices);
    MAKE(idle_ms, (size_t)m->n_classes);
    if (w->arena.failed || !berth_part_init(&w->part, &w->arena, m)) return berth_fail_nomem(w->search->ctx);
    fill_tables(w, covers);
    w->covers = covers;
    return BERTH_OK;
}

static berth_status walk_all(berth_walk *w) {
    BERTH_TRY(set_up(w));
    berth_ideal *empty = berth_walk_reach(w);
    if (!empty) return berth_fail_nomem(w->search->ctx);
    w->times[0] = 0;
    berth_walk_put(w, empty,
                   (berth_label){.ms = w->m->throughput ? 0 : w->m->base_ms,
                                 .parent = -1,
                                 .state = (int16_t)(w->m->n_states - 1),
                                 .class = -1});
    if (w->no_memory) return berth_fail_nomem(w->search->ctx);
    if (w->has_news) BERTH_TRY(berth_walk_offer(w));
    for (int32_t size = 0; size <= w->m->n_blocks && !w->stopped; size++) BERTH_TRY(walk_size(w, size));
    count_pending(w);
    return BERTH_OK;
}

static void release(berth_walk *w) {
    const berth_allocator *allocator = &w->arena.allocator;
    for (int32_t size = 0; w->ideals.of_size && size <= w->m->n_blocks; size++)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal; ideal = ideal->next)
            if (ideal->data) berth_labels_release(w, ideal->data);
    berth_vec_free(allocator, &w->traces);
    if (w->users) berth_resize(allocator, w->users, w->users_capacity, 0, sizeof *w->users);
    if (w->starts) berth_resize(allocator, w->starts, w->starts_capacity, 0, sizeof *w->starts);
    berth_ideals_deinit(&w->ideals);
    berth_arena_deinit(&w->arena);
}

berth_status berth_contiguous_walk(berth_search *search, const berth_contiguous *m, berth_walk_limits limits,
                                   berth_walk_result *out) {
    berth_walk w = {.search = search, .m = m, .limits = limits, .best = search->best_ms, .left_out = INFINITY};
    berth_arena_init(&w.arena, berth_ctx_allocator(search->ctx));
    berth_status status = walk_all(&w);
    *out = (berth_walk_result){w.best, fmin(w.best, w.left_out), !(w.left_out < w.best)};
    release(&w);
    return status;
}
