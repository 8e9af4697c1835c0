/* SPDX-License-Identifier: Apache-2.0 */
/* Finding gates, cutting the problem at them, and the bounds of a block by relaxation. */
#include "search/block.h"

#include "base/vec.h"

#include <math.h>
#include <string.h>

/* Marks gate[task] for tasks that all others come before or after, without anything that passes them by. */
static void find_gates(const berth_problem *problem, bool *gate) {
    const berth_costs *c = problem->costs;
    int32_t reach = -1;       /* the farthest task that anything so far leads to */
    bool open_before = false; /* a task so far that leads nowhere, or a value that must end somewhere */
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t n_succs = c->succ_start[task + 1] - c->succ_start[task];
        int32_t farthest = n_succs ? c->succs[c->succ_start[task + 1] - 1] : -1;
        const int32_t unit = problem->unit_of[task];
        int32_t last_of_unit = problem->unit_tasks[problem->unit_start[unit + 1] - 1];
        bool wanted = false;
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            wanted |= c->value_target[c->out_values[i]] >= 0;
        if (last_of_unit > reach) reach = last_of_unit;
        gate[task] = reach <= task && !open_before && !wanted && n_succs > 0 && task + 1 < c->n_tasks;
        open_before |= n_succs == 0 || wanted;
        if (farthest > reach) reach = farthest;
    }
    bool open_behind = false; /* a task further on that waits for nothing, or reads what is given */
    for (int32_t task = c->n_tasks - 1; task >= 0; task--) {
        gate[task] &= !open_behind;
        open_behind |= c->pred_start[task + 1] == c->pred_start[task];
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++)
            open_behind |= c->value_producer[c->in_values[i]] < 0;
    }
    /* Given values that nobody reads but that are wanted somewhere take their time beside everything. */
    for (int32_t i = 0; i < c->n_given; i++)
        if (c->value_target[c->given_values[i]] >= 0) memset(gate, 0, (size_t)c->n_tasks * sizeof *gate);
}

typedef struct cutter {
    berth_ctx *ctx;
    const berth_problem *problem;
    berth_arena *arena;
    BERTH_VEC(berth_read) reads;
    BERTH_VEC(int32_t) values; /* of the problem, that the block knows */
} cutter;

static bool list_value(cutter *cut, const berth_block *block, int32_t v) {
    const berth_costs *c = cut->problem->costs;
    const berth_allocator *allocator = berth_ctx_allocator(cut->ctx);
    bool used = c->value_target[v] >= 0;
    for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) {
        if (c->readers[i] < block->first || c->readers[i] >= block->first + block->n) continue;
        berth_read read = {(int32_t)cut->values.n, c->readers[i] - block->first};
        if (!berth_vec_push(allocator, &cut->reads, read)) return false;
        used = true;
    }
    return !used || berth_vec_push(allocator, &cut->values, v);
}

/* Values made in the block, those of the gate before it, and in the first block the problem's given ones. */
static bool list_values(cutter *cut, const berth_block *block) {
    const berth_costs *c = cut->problem->costs;
    cut->reads.n = cut->values.n = 0;
    if (!block->after_gate)
        for (int32_t i = 0; i < c->n_given; i++)
            if (!list_value(cut, block, c->given_values[i])) return false;
    for (int32_t task = block->first - block->after_gate; task < block->first + block->n; task++)
        for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++)
            if (!list_value(cut, block, c->out_values[i])) return false;
    return true;
}

static bool copy_values(cutter *cut, berth_block *block, berth_costs *sub) {
    const berth_costs *c = cut->problem->costs;
    berth_arena *arena = &sub->arena;
    size_t n = cut->values.n, square = (size_t)c->n_devices * (size_t)c->n_devices;
    int32_t *producer = berth_arena_push(arena, n, sizeof *producer), *home = berth_arena_push(arena, n, sizeof *home);
    int32_t *target = berth_arena_push(arena, n, sizeof *target);
    double *amount = berth_arena_push(arena, n, sizeof *amount), *bytes = berth_arena_push(arena, n, sizeof *bytes);
    double *table = c->copy_table ? berth_arena_push(arena, n * square, sizeof *table) : NULL;
    if (arena->failed) return false;
    for (size_t i = 0; i < n; i++) {
        int32_t v = cut->values.items[i], made = c->value_producer[v];
        producer[i] = made < block->first ? -1 : made - block->first;
        home[i] = made < 0 ? c->value_home[v] : -1;
        target[i] = c->value_target[v];
        if (!table) amount[i] = c->value_amount[v];
        if (table) memcpy(table + i * square, c->copy_table + (size_t)v * square, square * sizeof *table);
    }
    block->home = home;
    sub->n_values = (int32_t)n;
    sub->value_producer = producer;
    sub->value_home = home;
    sub->value_target = target;
    sub->value_amount = amount;
    sub->value_bytes = bytes;
    sub->copy_table = table;
    return true;
}

static berth_status cut_costs(cutter *cut, berth_block *block) {
    const berth_costs *c = cut->problem->costs;
    berth_costs *sub = NULL;
    BERTH_TRY(berth_costs_alloc(cut->ctx, &sub));
    block->owned = sub;
    block->costs = sub;
    double *capacity = berth_arena_push(&sub->arena, (size_t)c->n_devices, sizeof *capacity);
    if (!capacity || !list_values(cut, block) || !copy_values(cut, block, sub)) return berth_fail_nomem(cut->ctx);
    for (int32_t d = 0; d < c->n_devices; d++) capacity[d] = INFINITY;
    int32_t *no_weights = berth_arena_push(&sub->arena, (size_t)block->n + 1, sizeof *no_weights);
    if (!no_weights) return berth_fail_nomem(cut->ctx);
    sub->graph = c->graph;
    sub->n_devices = c->n_devices;
    sub->n_tasks = block->n;
    sub->host = c->host;
    sub->time_ms = c->time_ms + (size_t)block->first * (size_t)c->n_devices;
    sub->copy_fixed = c->copy_fixed;
    sub->copy_per_unit = c->copy_per_unit;
    sub->link_queued = c->link_queued;
    sub->launch_ms = c->launch_ms;
    sub->capacity = capacity;
    sub->weight_start = no_weights;
    sub->weights = no_weights;
    sub->model = c->model;
    sub->objective = c->objective;
    return berth_costs_link(cut->ctx, sub, cut->reads.items, cut->reads.n);
}

static berth_status fill_block(cutter *cut, berth_block *block, bool whole) {
    const berth_problem *problem = cut->problem;
    size_t n = (size_t)block->n, cells = n * (size_t)problem->costs->n_devices;
    if (whole) {
        block->costs = problem->costs;
        block->alike = problem->equal_devices;
    } else if (block->n > 1 || !block->to_gate) {
        BERTH_TRY(cut_costs(cut, block));
    } else {
        return BERTH_OK; /* a gate alone needs no search */
    }
    block->unit = berth_arena_push(cut->arena, n, sizeof *block->unit);
    block->allowed = berth_arena_push(cut->arena, n, sizeof *block->allowed);
    block->head = berth_arena_push(cut->arena, cells, sizeof *block->head);
    block->tail = berth_arena_push(cut->arena, cells, sizeof *block->tail);
    if (block->n <= BERTH_BLOCK_TASKS) {
        /* Link clocks after each task of an order. */
        size_t square = (size_t)problem->costs->n_devices * (size_t)problem->costs->n_devices;
        block->links = berth_arena_push(cut->arena, (n + 1) * square, sizeof *block->links);
    }
    block->order_is_free = problem->memory_binds && !problem->costs->task_memory;
    for (int32_t i = 0; i < problem->costs->n_devices * problem->costs->n_devices; i++)
        block->order_is_free |= problem->costs->link_queued[i];
    if (cut->arena->failed) return berth_fail_nomem(cut->ctx);
    int32_t n_units = 0;
    for (int32_t i = 0; i < block->n; i++) {
        int32_t unit = problem->unit_of[block->first + i], first = problem->unit_tasks[problem->unit_start[unit]];
        block->allowed[i] = problem->allowed[unit];
        block->unit[i] = first == block->first + i ? n_units++ : block->unit[first - block->first];
    }
    return berth_sim_new(cut->ctx, &block->sim, block->costs);
}

static berth_status cut_all(cutter *cut, berth_blocks *blocks, const bool *gate) {
    const berth_costs *c = cut->problem->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) blocks->n += gate[task] || task + 1 == c->n_tasks;
    blocks->items = berth_arena_push(cut->arena, (size_t)blocks->n, sizeof *blocks->items);
    if (!blocks->items) return berth_fail_nomem(cut->ctx);
    int32_t at = 0, first = 0;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        if (!gate[task] && task + 1 < c->n_tasks) continue;
        berth_block *block = &blocks->items[at++];
        *block = (berth_block){.first = first, .n = task + 1 - first, .after_gate = first > 0, .to_gate = gate[task]};
        BERTH_TRY(fill_block(cut, block, blocks->n == 1));
        first = task + 1;
    }
    return BERTH_OK;
}

berth_status berth_blocks_new(berth_ctx *ctx, berth_blocks **out, const berth_problem *problem) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_blocks *blocks = berth_resize(allocator, NULL, 0, 1, sizeof *blocks);
    if (!blocks) return berth_fail_nomem(ctx);
    berth_arena_init(&blocks->arena, allocator);
    cutter cut = {.ctx = ctx, .problem = problem, .arena = &blocks->arena};
    bool *gate = berth_arena_push(&blocks->arena, (size_t)problem->costs->n_tasks, sizeof *gate);
    berth_status status = gate ? BERTH_OK : berth_fail_nomem(ctx);
    if (gate && !problem->memory_binds) find_gates(problem, gate);
    if (gate) status = cut_all(&cut, blocks, gate);
    berth_vec_free(allocator, &cut.reads);
    berth_vec_free(allocator, &cut.values);
    if (status == BERTH_OK)
        *out = blocks;
    else
        berth_blocks_free(blocks);
    return status;
}

void berth_blocks_free(berth_blocks *blocks) {
    if (!blocks) return;
    for (int32_t i = 0; blocks->items && i < blocks->n; i++) {
        berth_sim_free(blocks->items[i].sim);
        berth_costs_free(blocks->items[i].owned);
    }
    berth_allocator allocator = blocks->arena.allocator;
    berth_arena_deinit(&blocks->arena);
    berth_resize(&allocator, blocks, 1, 0, sizeof *blocks);
}

/* Values go from gate to gate one after another on a queued link, side by side on others. */
double berth_block_gate_ms(const berth_problem *problem, const berth_block *block, int32_t from, int32_t to) {
    const berth_costs *c = problem->costs;
    int32_t task = block->first;
    double latest = 0, link = 0;
    if (!(problem->allowed[problem->unit_of[task]] >> to & 1)) return INFINITY;
    for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
        int32_t value = c->in_values[i], home = block->after_gate ? from : c->value_home[value];
        if (home == to) continue;
        double took = berth_costs_copy(c, value, home, to);
        if (c->link_queued[(size_t)home * (size_t)c->n_devices + (size_t)to]) took = link += took;
        if (took > latest) latest = took;
    }
    return latest + c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)to];
}

static void set_heads(berth_block *block) {
    const berth_costs *c = block->costs;
    size_t n_devices = (size_t)c->n_devices;
    for (int32_t task = 0; task < block->n; task++)
        for (int32_t d = 0; d < c->n_devices; d++) {
            double head = block->allowed[task] >> d & 1 ? 0 : INFINITY;
            for (int32_t i = c->in_start[task]; i < c->in_start[task + 1] && head < INFINITY; i++) {
                int32_t value = c->in_values[i], producer = c->value_producer[value];
                double least = producer < 0 ? berth_costs_copy(c, value, c->value_home[value], d) : INFINITY;
                for (int32_t e = 0; producer >= 0 && e < c->n_devices; e++) {
                    size_t at = (size_t)producer * n_devices + (size_t)e;
                    double there = block->head[at] + c->time_ms[at] + berth_costs_copy(c, value, e, d);
                    if (there < least) least = there;
                }
                if (least > head) head = least;
            }
            block->head[(size_t)task * n_devices + (size_t)d] = head;
        }
}

static void set_tails(berth_block *block, int32_t to) {
    const berth_costs *c = block->costs;
    size_t n_devices = (size_t)c->n_devices;
    for (int32_t task = block->n - 1; task >= 0; task--)
        for (int32_t d = 0; d < c->n_devices; d++) {
            double tail = to >= 0 && task == block->n - 1 && d != to ? INFINITY : 0;
            for (int32_t i = c->out_start[task]; i < c->out_start[task + 1]; i++) {
                int32_t value = c->out_values[i], target = c->value_target[value];
                if (target >= 0) tail = fmax(tail, berth_costs_copy(c, value, d, target));
                for (int32_t k = c->reader_start[value]; k < c->reader_start[value + 1]; k++) {
                    int32_t reader = c->readers[k];
                    double least = INFINITY;
                    for (int32_t e = 0; e < c->n_devices; e++) {
                        if (!(block->allowed[reader] >> e & 1)) continue;
                        size_t at = (size_t)reader * n_devices + (size_t)e;
                        least = fmin(least, berth_costs_copy(c, value, d, e) + c->time_ms[at] + block->tail[at]);
                    }
                    tail = fmax(tail, least);
                }
            }
            block->tail[(size_t)task * n_devices + (size_t)d] = tail;
        }
}

double berth_block_stand(berth_block *block, int32_t from, int32_t to) {
    const berth_costs *c = block->costs;
    double bound = 0;
    for (int32_t i = 0; block->after_gate && i < c->n_given; i++) block->home[c->given_values[i]] = from;
    set_heads(block);
    set_tails(block, to);
    for (int32_t task = 0; task < block->n; task++) {
        double least = INFINITY;
        for (int32_t d = 0; d < c->n_devices; d++) {
            size_t at = (size_t)task * (size_t)c->n_devices + (size_t)d;
            if (block->allowed[task] >> d & 1) least = fmin(least, block->head[at] + c->time_ms[at] + block->tail[at]);
        }
        bound = fmax(bound, least);
    }
    return bound;
}
