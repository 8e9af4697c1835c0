/* SPDX-License-Identifier: Apache-2.0 */
/* Steps forwards: from the labels of an ideal to those of a larger one.
 *
 * A part is given up when, for every label, start + copies in + times + what must follow its last block is no better
 * than the best placement known: all of these only grow with the part. */
#include "search/exact_contiguous_walk.h"

#include <math.h>
#include <string.h>

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
        if (w->kind_of[target] >= 0 && berth_walk_after(w, state, w->kind_of[target]) >= 0) continue;
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
    label.kind = -1;
    double sum = 0;
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        if (m->weighs_host) label.host_bytes += m->c->task_memory[task];
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

static void step_host(berth_walk *w, int32_t block) {
    berth_ideal *to = berth_walk_reach(w);
    if (!to) w->no_memory = true;
    for (size_t i = 0; i < w->labels->n && !w->no_memory && !w->stopped; i++) {
        put_host_step(w, to, block, i);
        berth_search_count(w->search, 1);
        w->stopped = berth_search_stop(w->search);
    }
    if (to) berth_walk_forget_empty(w, to);
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

static void put_part(berth_walk *w, const berth_ideal *to, size_t from, double start) {
    const berth_part_sums *now = berth_part_now(&w->part);
    berth_label label = w->labels->labels[from];
    const double *times = w->labels->times + from * (size_t)w->labels->n_times;
    double took = now->in + now->compute + now->out;
    label.parent = w->first_trace + (int32_t)from;
    label.kind = (int16_t)w->part.kind;
    label.state = (int16_t)berth_walk_after(w, label.state, w->part.kind);
    if (w->m->throughput) {
        label.ms = fmax(label.ms, took);
        w->times[0] = times[0];
    } else {
        label.ms = fmax(label.ms, finish_part(w, times, label.state, start + took));
        carry_times(w, to, from);
    }
    berth_walk_put(w, to, label);
}

static void step_part(berth_walk *w) {
    const berth_part_sums *now = berth_part_now(&w->part);
    const double *starts = w->starts + (size_t)w->part.n * w->n_users;
    double took = now->in + now->compute + now->out;
    berth_ideal *to = NULL;
    for (size_t i = 0; i < w->n_users && !w->no_memory && !w->stopped; i++) {
        if (berth_walk_is_hopeless(w, starts[i] + took)) continue;
        if (!to && !(to = berth_walk_reach(w))) {
            w->no_memory = true;
            return;
        }
        put_part(w, to, (size_t)w->users[i], starts[i]);
        berth_search_count(w->search, 1);
        w->stopped = berth_search_stop(w->search);
    }
    if (to) berth_walk_forget_empty(w, to);
}

/* The block waits for a value; `times` of a label are `stride` apart. */
static void wait_for(berth_walk *w, double *starts, const double *times, size_t stride) {
    for (size_t u = 0; u < w->n_users; u++) {
        double ready = times[(size_t)w->users[u] * stride];
        if (ready > starts[u]) starts[u] = ready;
    }
}

static void wait_for_inputs(berth_walk *w, int32_t task, double *starts) {
    const berth_contiguous *m = w->m;
    for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) {
        int32_t value = m->in_values[i];
        if (m->c->value_producer[value] < 0 && m->c->value_home[value] != w->part.device)
            wait_for(w, starts, &m->given_ms[value], 0);
    }
    for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++) {
        int32_t pred = m->edge_from[e];
        if (!w->part.has[pred]) wait_for(w, starts, w->labels->times + w->position[pred], (size_t)w->labels->n_times);
    }
}

/* When each label could start the part with its new block; false if that is too late for all of them. */
static bool delay_starts(berth_walk *w, int32_t block) {
    const berth_contiguous *m = w->m;
    const berth_part *part = &w->part;
    const berth_part_sums *now = berth_part_now(part);
    double *starts = w->starts + (size_t)part->n * w->n_users;
    /* Under throughput, what the device pays as a target may still fall. */
    double took = now->compute + now->in - (m->throughput ? part->sums[0].in : 0);
    const double *leave = m->throughput ? NULL : m->leave + berth_contiguous_row(m, block, part->kind);
    bool any = false;
    if (!m->throughput && now->n_cut_in > 0) return false;
    memcpy(starts, starts - w->n_users, w->n_users * sizeof *starts);
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1] && !m->throughput; k++)
        wait_for_inputs(w, m->block_tasks[k], starts);
    for (size_t u = 0; u < w->n_users; u++) {
        int32_t state = berth_walk_after(w, w->labels->labels[w->users[u]].state, part->kind);
        if (berth_walk_is_hopeless(w, starts[u] + took + (leave ? leave[state] : 0)))
            starts[u] = INFINITY;
        else
            any = true;
    }
    return any;
}

const berth_walk_visitor berth_walk_forward = {step_host, delay_starts, step_part, .by_label = true};
