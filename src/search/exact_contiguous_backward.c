/* SPDX-License-Identifier: Apache-2.0 */
/* Steps backwards: what must at least follow an ideal, from what must follow each larger one.
 *
 * Let T(I, s, x) be a lower bound of the time from the moment that x, a value which tasks outside I wait for, is on the
 * host until the end, if devices s are left and all else had been there for ever. What follows I is either the host
 * alone, or a first step, which leads to a larger ideal J. If the step waits for x, then what it makes, y, is on the
 * host e later at least: copies in + times + copies out of a part, the time along the path from x to y on the host. So
 *
 *     T(I, s, x) = min over steps of max(T(J, s', x), e + T(J, s', y) for all y that the step makes)
 *
 * The start of the model is one more x, for which every step waits. This knows what paths do not: that a part runs one
 * task after another, waits for all that it reads, and has only so much memory. It takes all pairs of ideals that
 * differ by a part, so it is for graphs with few ideals. Steps that take longer than the best placement known are left
 * out: what is said here holds for placements that are better. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

/* walk->follow[i] is what follows the i-th x with this step; it may lower walk->tail. */
static void lower_tails(berth_walk *w, const berth_labels *to, int32_t state, int32_t after) {
    int32_t n = w->labels->n_times;
    double *tail = w->tail + (size_t)state * ((size_t)n + 1);
    const double *larger = to->tail + (size_t)after * ((size_t)to->n_times + 1);
    for (int32_t i = 0; i < to->n_times; i++) {
        int32_t at = w->position[to->task[i]];
        if (at >= 0 && larger[i] > w->follow[at]) w->follow[at] = larger[i];
        if (at >= 0 && larger[i] > w->follow[n]) w->follow[n] = larger[i];
    }
    if (larger[to->n_times] > w->follow[n]) w->follow[n] = larger[to->n_times];
    for (int32_t i = 0; i <= n; i++)
        if (w->follow[i] < tail[i]) tail[i] = w->follow[i];
}

/* Ends of the block's tasks on the host if x alone (position `from`, or n_times: the start) is there at 0; negative:
 * they do not wait for it. */
static void run_on_host(berth_walk *w, int32_t block, int32_t from) {
    const berth_contiguous *m = w->m;
    bool is_start = from == w->labels->n_times;
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        double start = is_start ? 0 : -1;
        for (int32_t i = m->in_start[task]; is_start && i < m->in_start[task + 1]; i++)
            start = fmax(start, m->given_ms[m->in_values[i]]);
        for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) {
            int32_t pred = m->edge_from[e];
            if (m->block_of[pred] == block)
                start = fmax(start, w->ends[pred]);
            else if (w->position[pred] == from)
                start = fmax(start, 0);
        }
        w->ends[task] = start < 0 ? -1 : start + berth_contiguous_ms(m, task, m->c->host);
    }
}

static void step_host(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    const berth_ideal *ideal = berth_walk_reach(w);
    const berth_labels *to = ideal ? ideal->data : NULL;
    if (!ideal) {
        w->no_memory = true;
        return;
    }
    for (int32_t state = 0; state < m->n_states; state++) {
        const double *larger = to->tail + (size_t)state * ((size_t)to->n_times + 1);
        for (int32_t i = 0; i <= w->labels->n_times; i++) {
            run_on_host(w, block, i);
            w->follow[i] = 0;
            for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++)
                w->follow[i] = fmax(w->follow[i], w->ends[m->block_tasks[k]]);
            for (int32_t k = 0; k < to->n_times; k++)
                if (w->position[to->task[k]] < 0 && w->ends[to->task[k]] >= 0)
                    w->follow[i] = fmax(w->follow[i], w->ends[to->task[k]] + larger[k]);
        }
        lower_tails(w, to, state, state);
    }
}

/* A part that cannot end in time for a better placement is of no use, nor is any larger one. */
static bool grow(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    const berth_part *part = &w->part;
    const berth_part_sums *now = berth_part_now(part);
    double *start = &w->starts[part->n];
    *start = w->starts[part->n - 1];
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++)
            if (!part->has[m->edge_from[e]]) *start = fmax(*start, m->arrive[e]);
    }
    double leave =
        m->leave[berth_contiguous_row(m, block, part->kind) + (size_t)m->n_states - 1]; /* all devices left */
    return now->n_cut_in == 0 && !berth_walk_is_hopeless(w, *start + now->in + now->compute + leave);
}

/* Whether the part waits for the task. */
static bool reads(const berth_walk *w, int32_t task) {
    const berth_contiguous *m = w->m;
    for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
        if (w->part.has[m->edge_to[m->succ_edges[i]]]) return true;
    return false;
}

static void step_part(berth_walk *w) {
    const berth_contiguous *m = w->m;
    const berth_part_sums *now = berth_part_now(&w->part);
    double took = now->in + now->compute + now->out;
    if (berth_walk_is_hopeless(w, w->starts[w->part.n] + took)) return;
    const berth_ideal *ideal = berth_walk_reach(w);
    if (!ideal) {
        w->no_memory = true;
        return;
    }
    const berth_labels *to = ideal->data;
    int32_t n = w->labels->n_times;
    for (int32_t i = 0; i < n; i++) w->times[i] = reads(w, w->labels->task[i]) ? took : -1;
    w->times[n] = took;
    for (int32_t state = 0; state < m->n_states; state++) {
        int32_t after = berth_walk_after(w, state, w->part.kind);
        if (after < 0) continue;
        const double *larger = to->tail + (size_t)after * ((size_t)to->n_times + 1);
        double behind = 0;
        for (int32_t i = 0; i < to->n_times; i++)
            if (w->position[to->task[i]] < 0 && larger[i] > behind) behind = larger[i];
        for (int32_t i = 0; i <= n; i++) w->follow[i] = w->times[i] < 0 ? 0 : w->times[i] + behind;
        lower_tails(w, to, state, after);
    }
}

static const berth_walk_visitor backward = {step_host, grow, step_part, .by_label = false};

/* The tails of one ideal, once those of all larger ones are known. */
static void look_from(berth_walk *w, berth_ideal *ideal) {
    const berth_contiguous *m = w->m;
    berth_labels *labels = ideal->data;
    size_t width = (size_t)labels->n_times + 1;
    double most = 0;
    for (size_t i = 0; i < width; i++) most = fmax(most, labels->tail[i]);
    for (size_t state = 0; state < (size_t)m->n_states; state++) {
        memcpy(w->tail + state * width, labels->tail, width * sizeof *w->tail);
        w->tail[(state + 1) * width - 1] = most;
    }
    berth_walk_enter(w, ideal);
    berth_walk_take_steps(w);
    berth_walk_leave(w);
    for (size_t i = width; !w->stopped && i < width * (size_t)m->n_states; i++)
        labels->tail[i] = fmax(labels->tail[i], w->tail[i]);
}

/* All ideals, by adding single blocks; false if there are too many. */
static bool list_ideals(berth_walk *w, size_t most_ideals) {
    const berth_contiguous *m = w->m;
    if (!berth_walk_reach_empty(w)) w->no_memory = true;
    for (int32_t size = 0; size < m->n_blocks; size++)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal && !w->no_memory; ideal = ideal->next) {
            if (w->ideals.n > most_ideals || berth_walk_bytes(w) > w->most_bytes || berth_search_stop(w->search))
                return false;
            berth_walk_enter(w, ideal);
            memcpy(w->closed, w->bits, (size_t)w->ideals.n_words * sizeof *w->bits);
            for (int32_t b = berth_walk_next_block(w, m->n_kinds + 1, -1); b >= 0 && !w->no_memory;
                 b = berth_walk_next_block(w, m->n_kinds + 1, b)) {
                berth_search_step(w->search, 1);
                berth_walk_add_block(w, b);
                if (!berth_walk_reach(w)) w->no_memory = true;
                berth_walk_remove_block(w, b);
            }
            berth_walk_leave(w);
        }
    return w->ideals.n <= most_ideals;
}

berth_status berth_walk_look_back(berth_walk *w, size_t most_ideals, int64_t most_steps) {
    w->visitor = &backward;
    w->limits = (berth_walk_limits){SIZE_MAX, SIZE_MAX, SIZE_MAX};
    w->stopped = false;
    w->best = w->search->best_ms;
    w->keep_tails = list_ideals(w, most_ideals);
    int64_t end = w->n_steps + most_steps;
    for (int32_t size = w->m->n_blocks; size >= 0 && w->keep_tails && !w->no_memory && !w->stopped; size--)
        for (berth_ideal *ideal = w->ideals.of_size[size]; ideal && !w->no_memory && !w->stopped; ideal = ideal->next) {
            if (w->n_steps < end) look_from(w, ideal);
            if (berth_search_stop(w->search)) w->stopped = true;
        }
    return w->no_memory ? berth_fail_nomem(w->search->ctx) : BERTH_OK;
}
