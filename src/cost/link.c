/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a cost block: who reads and makes which value, and which task follows which. All rows are sorted and
 * free of repetitions, by counting sort, so that the whole is linear. */
#include "cost/costs.h"

#include <string.h>

berth_status berth_costs_alloc(berth_ctx *ctx, berth_costs **out) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_costs *costs = berth_resize(allocator, NULL, 0, 1, sizeof *costs);
    if (!costs) return berth_fail_nomem(ctx);
    berth_arena_init(&costs->arena, allocator);
    *out = costs;
    return BERTH_OK;
}

void berth_costs_free(berth_costs *costs) {
    if (!costs) return;
    berth_allocator allocator = costs->arena.allocator;
    berth_arena_deinit(&costs->arena);
    berth_resize(&allocator, costs, 1, 0, sizeof *costs);
}

typedef struct pair {
    int32_t row, item;
} pair;

/* Sorted rows without repetitions from pairs in any order. Items must be below n_items. */
static bool make_rows(berth_arena *arena, const pair *pairs, size_t n, int32_t n_rows, int32_t n_items,
                      const int32_t **start_out, const int32_t **items_out) {
    int32_t *start = berth_arena_push(arena, (size_t)n_rows + 1, sizeof *start);
    int32_t *items = berth_arena_push(arena, n, sizeof *items);
    berth_mark mark = berth_arena_mark(arena);
    int32_t *by_item = berth_arena_push(arena, (size_t)n_items + 1, sizeof *by_item);
    pair *sorted = berth_arena_push(arena, n, sizeof *sorted);
    int32_t *fill = berth_arena_push(arena, (size_t)n_rows, sizeof *fill);
    bool done = !arena->failed;
    if (done) {
        for (size_t i = 0; i < n; i++) by_item[pairs[i].item + 1]++;
        for (int32_t i = 0; i < n_items; i++) by_item[i + 1] += by_item[i];
        for (size_t i = 0; i < n; i++) sorted[by_item[pairs[i].item]++] = pairs[i];
        for (size_t i = 0; i < n; i++) start[sorted[i].row + 1]++;
        for (int32_t i = 0; i < n_rows; i++) start[i + 1] += start[i];
        for (size_t i = 0; i < n; i++) {
            int32_t row = sorted[i].row, *at = &fill[row];
            if (*at > 0 && items[start[row] + *at - 1] == sorted[i].item) continue;
            items[start[row] + (*at)++] = sorted[i].item;
        }
        int32_t used = 0;
        for (int32_t row = 0; row < n_rows; row++) {
            int32_t from = start[row];
            start[row] = used;
            memmove(items + used, items + from, (size_t)fill[row] * sizeof *items);
            used += fill[row];
        }
        start[n_rows] = used;
    }
    if (done) berth_arena_release(arena, mark);
    *start_out = start;
    *items_out = items;
    return done;
}

/* Pairs of tasks, producer first, for every read of a value that a task makes. */
static size_t task_pairs(const berth_costs *c, const berth_read *reads, size_t n_reads, pair *pairs, bool forward) {
    size_t n = 0;
    for (size_t i = 0; i < n_reads; i++) {
        int32_t from = c->value_producer[reads[i].value], to = reads[i].task;
        if (from >= 0) pairs[n++] = forward ? (pair){from, to} : (pair){to, from};
    }
    return n;
}

static bool link_rows(berth_costs *c, const berth_read *reads, size_t n_reads, pair *pairs) {
    berth_arena *arena = &c->arena;
    for (size_t i = 0; i < n_reads; i++) pairs[i] = (pair){reads[i].value, reads[i].task};
    if (!make_rows(arena, pairs, n_reads, c->n_values, c->n_tasks, &c->reader_start, &c->readers)) return false;
    for (size_t i = 0; i < n_reads; i++) pairs[i] = (pair){reads[i].task, reads[i].value};
    if (!make_rows(arena, pairs, n_reads, c->n_tasks, c->n_values, &c->in_start, &c->in_values)) return false;
    size_t n = task_pairs(c, reads, n_reads, pairs, true);
    if (!make_rows(arena, pairs, n, c->n_tasks, c->n_tasks, &c->succ_start, &c->succs)) return false;
    n = task_pairs(c, reads, n_reads, pairs, false);
    if (!make_rows(arena, pairs, n, c->n_tasks, c->n_tasks, &c->pred_start, &c->preds)) return false;
    n = 0;
    for (int32_t v = 0; v < c->n_values; v++)
        if (c->value_producer[v] >= 0) pairs[n++] = (pair){c->value_producer[v], v};
    return make_rows(arena, pairs, n, c->n_tasks, c->n_values, &c->out_start, &c->out_values);
}

static bool list_given(berth_costs *c) {
    int32_t *given = berth_arena_push(&c->arena, (size_t)c->n_values, sizeof *given);
    if (!given) return false;
    c->n_given = 0;
    for (int32_t v = 0; v < c->n_values; v++)
        if (c->value_producer[v] < 0) given[c->n_given++] = v;
    c->given_values = given;
    return true;
}

static bool number_tasks(berth_costs *c) {
    int32_t *order = berth_arena_push(&c->arena, (size_t)c->n_tasks, sizeof *order);
    if (!order) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) order[task] = task;
    c->file_order = order;
    return true;
}

berth_status berth_costs_link(berth_ctx *ctx, berth_costs *costs, const berth_read *reads, size_t n_reads) {
    for (size_t i = 0; i < n_reads; i++)
        if (costs->value_producer[reads[i].value] >= reads[i].task)
            return berth_fail(ctx, BERTH_E_ARG, "task %d reads a value of task %d, which comes later",
                              (int)reads[i].task, (int)costs->value_producer[reads[i].value]);
    size_t n_pairs = n_reads > (size_t)costs->n_values ? n_reads : (size_t)costs->n_values;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    pair *pairs = berth_resize(allocator, NULL, 0, n_pairs + 1, sizeof *pairs);
    if (!pairs) return berth_fail_nomem(ctx);
    bool done =
        link_rows(costs, reads, n_reads, pairs) && list_given(costs) && (costs->file_order || number_tasks(costs));
    berth_resize(allocator, pairs, n_pairs + 1, 0, sizeof *pairs);
    return done ? BERTH_OK : berth_fail_nomem(ctx);
}
