/* SPDX-License-Identifier: Apache-2.0 */
/* A part under construction: what it takes, kept up to date block by block.
 *
 * All predecessors of a block are in the ideal below or in the part when it is added, so that a value read by the part
 * comes from outside for good unless its producer is inside already. Copies in and times only grow; copies out fall
 * when the last reader of a value joins. Under throughput the device also pays for values that it is the target of,
 * until it makes them itself, and for given values that start there and are wanted elsewhere. */
#include "search/exact_contiguous.h"

#include <math.h>
#include <string.h>

bool berth_part_init(berth_part *part, berth_arena *arena, const berth_contiguous *m) {
    const berth_costs *c = m->c;
    memset(part, 0, sizeof *part);
    part->m = m;
    part->sums = berth_arena_push(arena, (size_t)m->n_blocks + 1, sizeof *part->sums);
    part->has = berth_arena_push(arena, (size_t)c->n_tasks, sizeof *part->has);
    part->n_inside = berth_arena_push(arena, (size_t)c->n_values, sizeof *part->n_inside);
    part->n_weight = berth_arena_push(arena, (size_t)c->n_weights, sizeof *part->n_weight);
    part->unit_has = berth_arena_push(arena, (size_t)m->problem->n_units, sizeof *part->unit_has);
    part->touched = berth_arena_push(arena, (size_t)c->n_values, sizeof *part->touched);
    part->is_touched = berth_arena_push(arena, (size_t)c->n_values, sizeof *part->is_touched);
    part->held = berth_arena_push(arena, (size_t)c->n_tasks + 2, sizeof *part->held);
    return !arena->failed;
}

static void pay(double *sum, int32_t *n_cut, double ms, int32_t sign) {
    if (ms == INFINITY)
        *n_cut += sign;
    else
        *sum += sign * ms;
}

static void pay_in(berth_part *part, berth_part_sums *now, int32_t value, int32_t sign) {
    const berth_costs *c = part->m->c;
    pay(&now->in, &now->n_cut_in, berth_costs_copy(c, value, c->host, part->device), sign);
}

static void pay_out(berth_part *part, berth_part_sums *now, int32_t value, int32_t sign) {
    const berth_costs *c = part->m->c;
    pay(&now->out, &now->n_cut_out, berth_costs_copy(c, value, part->device, c->host), sign);
}

/* A value made in the part, or there from the start, is wanted elsewhere. */
static bool leaves(const berth_part *part, int32_t value) {
    int32_t target = part->m->c->value_target[value];
    return part->n_inside[value] < berth_contiguous_n_readers(part->m, value) ||
           (target >= 0 && target != part->device);
}

static void touch(berth_part *part, berth_part_sums *now, int32_t value) {
    if (!part->weigh || part->is_touched[value]) return;
    part->is_touched[value] = true;
    part->touched[now->n_touched++] = value;
    now->touched += part->m->c->value_bytes[value];
}

void berth_part_begin(berth_part *part, int32_t kind) {
    const berth_contiguous *m = part->m;
    const berth_costs *c = m->c;
    part->kind = kind;
    part->device = m->kind_device[kind];
    part->weigh = m->problem->memory_binds && c->capacity[part->device] < INFINITY;
    part->n = 0;
    berth_part_sums *now = &part->sums[0];
    for (int32_t i = 0; i < now->n_touched; i++) part->is_touched[part->touched[i]] = false;
    *now = (berth_part_sums){.block = -1};
    for (int32_t i = 0; i < m->n_targeted; i++)
        if (c->value_target[m->targeted[i]] == part->device) {
            touch(part, now, m->targeted[i]);
            if (m->throughput) pay_in(part, now, m->targeted[i], 1);
        }
    for (int32_t i = 0; i < c->n_given; i++) {
        int32_t value = c->given_values[i];
        if (c->value_home[value] != part->device) continue;
        touch(part, now, value);
        if (m->throughput && leaves(part, value)) pay_out(part, now, value, 1);
    }
}

/* The task is in the part already. */
static void read_value(berth_part *part, berth_part_sums *now, int32_t value) {
    const berth_contiguous *m = part->m;
    const berth_costs *c = m->c;
    int32_t producer = c->value_producer[value];
    bool at_home = producer >= 0 ? part->has[producer] : c->value_home[value] == part->device;
    bool is_target = m->throughput && c->value_target[value] == part->device;
    touch(part, now, value);
    bool left = leaves(part, value);
    if (part->n_inside[value]++ == 0 && !at_home && !is_target) pay_in(part, now, value, 1);
    /* Under latency given values leave their home by themselves at the start. */
    if (at_home && (producer >= 0 || m->throughput) && left && !leaves(part, value)) pay_out(part, now, value, -1);
}

static void make_value(berth_part *part, berth_part_sums *now, int32_t value) {
    const berth_contiguous *m = part->m;
    touch(part, now, value);
    if (m->throughput && m->c->value_target[value] == part->device) pay_in(part, now, value, -1);
    if (leaves(part, value)) pay_out(part, now, value, 1);
}

static void weigh_task(berth_part *part, berth_part_sums *now, int32_t task) {
    const berth_costs *c = part->m->c;
    if (c->task_memory) {
        now->memory += c->task_memory[task];
        return;
    }
    for (int32_t i = c->weight_start[task]; i < c->weight_start[task + 1]; i++)
        if (part->n_weight[c->weights[i]]++ == 0) now->memory += c->weight_bytes[c->weights[i]];
}

bool berth_part_add(berth_part *part, int32_t block) {
    const berth_contiguous *m = part->m;
    int32_t unit = m->block_unit[block];
    part->sums[part->n + 1] = part->sums[part->n];
    berth_part_sums *now = &part->sums[++part->n];
    now->block = block;
    now->n_open += part->unit_has[unit]++ == 0 ? m->unit_blocks[unit] - 1 : -1;
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        part->has[task] = true;
        now->compute += berth_contiguous_ms(m, task, part->device);
        if (part->weigh) weigh_task(part, now, task);
        for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) read_value(part, now, m->in_values[i]);
        for (int32_t i = m->out_start[task]; i < m->out_start[task + 1]; i++) make_value(part, now, m->out_values[i]);
    }
    return !part->weigh || berth_part_fits(part);
}

void berth_part_undo(berth_part *part) {
    const berth_contiguous *m = part->m;
    const berth_costs *c = m->c;
    berth_part_sums *now = &part->sums[part->n--];
    int32_t block = now->block;
    for (int32_t i = part->sums[part->n].n_touched; i < now->n_touched; i++) part->is_touched[part->touched[i]] = false;
    part->unit_has[m->block_unit[block]]--;
    for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
        int32_t task = m->block_tasks[k];
        part->has[task] = false;
        for (int32_t i = m->in_start[task]; i < m->in_start[task + 1]; i++) part->n_inside[m->in_values[i]]--;
        for (int32_t i = c->weight_start[task]; part->weigh && !c->task_memory && i < c->weight_start[task + 1]; i++)
            part->n_weight[c->weights[i]]--;
    }
}
