/* SPDX-License-Identifier: Apache-2.0 */
/* The validator of cost blocks: every sentence of costs.h, checked from the arrays alone, without the code that made
 * them. */
#include "cost/costs.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

static berth_status violation(berth_ctx *ctx, const char *format, ...) BERTH_PRINTF(2, 3);

static berth_status violation(berth_ctx *ctx, const char *format, ...) {
    va_list args;
    va_start(args, format);
    berth_status status = berth_fail_va(ctx, BERTH_E_ARG, format, args);
    va_end(args);
    return status;
}

static bool is_cost(double ms) {
    return ms >= 0; /* INFINITY is one, NaN is not */
}

/* Rows start where the one before ended, and their items ascend within [0, n_items). */
static berth_status check_rows(berth_ctx *ctx, const char *what, const int32_t *start, const int32_t *items,
                               int32_t n_rows, int32_t n_items, bool ascending) {
    if (start[0] != 0) return violation(ctx, "%s: the first row starts at %" PRId32, what, start[0]);
    for (int32_t row = 0; row < n_rows; row++) {
        if (start[row + 1] < start[row]) return violation(ctx, "%s: row %" PRId32 " ends before it starts", what, row);
        for (int32_t i = start[row]; i < start[row + 1]; i++) {
            if (items[i] < 0 || items[i] >= n_items)
                return violation(ctx, "%s: row %" PRId32 " holds %" PRId32, what, row, items[i]);
            if (ascending && i > start[row] && items[i] <= items[i - 1])
                return violation(ctx, "%s: row %" PRId32 " does not ascend", what, row);
        }
    }
    return BERTH_OK;
}

static bool row_holds(const int32_t *start, const int32_t *items, int32_t row, int32_t item) {
    int32_t low = start[row], high = start[row + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (items[middle] < item)
            low = middle + 1;
        else
            high = middle;
    }
    return low < start[row + 1] && items[low] == item;
}

/* Rows of one kind say the same as those of its transpose. */
static berth_status check_transposed(berth_ctx *ctx, const char *what, const int32_t *start, const int32_t *items,
                                     int32_t n_rows, const int32_t *back_start, const int32_t *back_items,
                                     int32_t n_back) {
    if (start[n_rows] != back_start[n_back]) return violation(ctx, "%s: the two directions differ in number", what);
    for (int32_t row = 0; row < n_rows; row++)
        for (int32_t i = start[row]; i < start[row + 1]; i++)
            if (!row_holds(back_start, back_items, items[i], row))
                return violation(ctx, "%s: %" PRId32 " to %" PRId32 " holds one way only", what, row, items[i]);
    return BERTH_OK;
}

static berth_status check_tasks(berth_ctx *ctx, const berth_costs *c) {
    for (int32_t task = 0; task < c->n_tasks; task++) {
        bool somewhere = false;
        int32_t op = c->task_op ? c->task_op[task] : 0;
        if (c->task_op && (op < 0 || op >= c->n_ops || c->op_task[op] != task))
            return violation(ctx, "task %" PRId32 " and operation %" PRId32 " do not name each other", task, op);
        for (int32_t d = 0; d < c->n_devices; d++) {
            double ms = c->time_ms[(size_t)task * (size_t)c->n_devices + (size_t)d];
            if (!is_cost(ms)) return violation(ctx, "task %" PRId32 " takes %g ms", task, ms);
            somewhere |= isfinite(ms);
        }
        if (!somewhere) return violation(ctx, "task %" PRId32 " runs nowhere", task);
        if (c->task_memory && !(c->task_memory[task] >= 0 && isfinite(c->task_memory[task])))
            return violation(ctx, "task %" PRId32 " takes %g bytes", task, c->task_memory[task]);
        if (c->colour && c->colour[task] < -1) return violation(ctx, "task %" PRId32 " has a bad colour", task);
    }
    return BERTH_OK;
}

static berth_status check_value(berth_ctx *ctx, const berth_costs *c, int32_t v) {
    int32_t producer = c->value_producer[v], home = c->value_home[v], target = c->value_target[v];
    if (producer < -1 || producer >= c->n_tasks) return violation(ctx, "value %" PRId32 " has no such producer", v);
    if (producer < 0 ? home < 0 || home >= c->n_devices : home != -1)
        return violation(ctx, "value %" PRId32 " of producer %" PRId32 " has home %" PRId32, v, producer, home);
    if (target < -1 || target >= c->n_devices)
        return violation(ctx, "value %" PRId32 " has target %" PRId32, v, target);
    if (!(c->value_bytes[v] >= 0 && isfinite(c->value_bytes[v])))
        return violation(ctx, "value %" PRId32 " has %g bytes", v, c->value_bytes[v]);
    for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++)
        if (c->readers[i] <= producer)
            return violation(ctx, "value %" PRId32 " is read by task %" PRId32 ", not after its producer", v,
                             c->readers[i]);
    if (producer >= 0 && !row_holds(c->out_start, c->out_values, producer, v))
        return violation(ctx, "value %" PRId32 " is missing in the row of its producer", v);
    return BERTH_OK;
}

static berth_status check_values(berth_ctx *ctx, const berth_costs *c) {
    int32_t n_given = 0, n_made = 0;
    for (int32_t v = 0; v < c->n_values; v++) {
        BERTH_TRY(check_value(ctx, c, v));
        n_made += c->value_producer[v] >= 0;
        if (c->value_producer[v] >= 0) continue;
        if (n_given >= c->n_given || c->given_values[n_given] != v)
            return violation(ctx, "value %" PRId32 " is missing among the given ones", v);
        n_given++;
    }
    if (n_given != c->n_given) return violation(ctx, "%" PRId32 " values are given, not %" PRId32, n_given, c->n_given);
    if (c->out_start[c->n_tasks] != n_made) return violation(ctx, "rows of made values hold too many");
    return BERTH_OK;
}

/* A pair of tasks is one exactly if a value goes from one to the other. */
static berth_status check_pairs(berth_ctx *ctx, const berth_costs *c) {
    for (int32_t v = 0; v < c->n_values; v++)
        for (int32_t i = c->reader_start[v]; c->value_producer[v] >= 0 && i < c->reader_start[v + 1]; i++)
            if (!row_holds(c->succ_start, c->succs, c->value_producer[v], c->readers[i]))
                return violation(ctx, "no pair of tasks for the readers of value %" PRId32, v);
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            bool found = false;
            for (int32_t k = c->in_start[task]; k < c->in_start[task + 1] && !found; k++)
                found = c->value_producer[c->in_values[k]] == c->preds[i];
            if (!found) return violation(ctx, "task %" PRId32 " reads nothing of task %" PRId32, task, c->preds[i]);
        }
    return BERTH_OK;
}

static berth_status check_links(berth_ctx *ctx, const berth_costs *c) {
    for (int32_t from = 0; from < c->n_devices; from++) {
        if (!is_cost(c->capacity[from])) return violation(ctx, "device %" PRId32 " has no capacity", from);
        if (!(c->launch_ms[from] >= 0 && isfinite(c->launch_ms[from])))
            return violation(ctx, "device %" PRId32 " launches in %g ms", from, c->launch_ms[from]);
        for (int32_t to = 0; to < c->n_devices; to++)
            for (int32_t v = 0; v < c->n_values; v++)
                if (!is_cost(berth_costs_copy(c, v, from, to)))
                    return violation(ctx, "value %" PRId32 " goes from %" PRId32 " to %" PRId32 " in %g ms", v, from,
                                     to, berth_costs_copy(c, v, from, to));
    }
    return BERTH_OK;
}

static berth_status check_order(berth_ctx *ctx, const berth_costs *c, int32_t *position) {
    for (int32_t task = 0; task < c->n_tasks; task++) position[task] = -1;
    for (int32_t i = 0; i < c->n_tasks; i++) {
        int32_t task = c->file_order[i];
        if (task < 0 || task >= c->n_tasks || position[task] >= 0)
            return violation(ctx, "file_order is no permutation at %" PRId32, i);
        position[task] = i;
        for (int32_t k = c->pred_start[task]; k < c->pred_start[task + 1]; k++)
            if (position[c->preds[k]] < 0) return violation(ctx, "file_order runs task %" PRId32 " too early", task);
    }
    return BERTH_OK;
}

static berth_status check_weights(berth_ctx *ctx, const berth_costs *c) {
    if (c->n_weights == 0 && !c->weight_start) return BERTH_OK;
    BERTH_TRY(check_rows(ctx, "weights", c->weight_start, c->weights, c->n_tasks, c->n_weights, false));
    for (int32_t w = 0; w < c->n_weights; w++)
        if (!(c->weight_bytes[w] >= 0 && isfinite(c->weight_bytes[w])))
            return violation(ctx, "weight %" PRId32 " has %g bytes", w, c->weight_bytes[w]);
    return BERTH_OK;
}

berth_status berth_costs_check(berth_ctx *ctx, const berth_costs *c) {
    if (c->n_devices < 1 || c->n_devices > BERTH_MAX_DEVICES || c->host < 0 || c->host >= c->n_devices)
        return violation(ctx, "%" PRId32 " devices with host %" PRId32, c->n_devices, c->host);
    if (c->model < 0 || c->model >= BERTH_MODEL_COUNT || !(c->piece_ms >= 0 && isfinite(c->piece_ms)))
        return violation(ctx, "model %d with pieces of %g ms", (int)c->model, c->piece_ms);
    int32_t n = c->n_tasks, n_values = c->n_values;
    BERTH_TRY(check_rows(ctx, "readers", c->reader_start, c->readers, n_values, n, true));
    BERTH_TRY(check_rows(ctx, "values read", c->in_start, c->in_values, n, n_values, true));
    BERTH_TRY(check_rows(ctx, "values made", c->out_start, c->out_values, n, n_values, true));
    BERTH_TRY(check_rows(ctx, "predecessors", c->pred_start, c->preds, n, n, true));
    BERTH_TRY(check_rows(ctx, "successors", c->succ_start, c->succs, n, n, true));
    BERTH_TRY(check_transposed(ctx, "reads", c->reader_start, c->readers, n_values, c->in_start, c->in_values, n));
    BERTH_TRY(check_transposed(ctx, "pairs", c->pred_start, c->preds, n, c->succ_start, c->succs, n));
    BERTH_TRY(check_tasks(ctx, c));
    BERTH_TRY(check_values(ctx, c));
    BERTH_TRY(check_pairs(ctx, c));
    BERTH_TRY(check_links(ctx, c));
    BERTH_TRY(check_weights(ctx, c));
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    int32_t *position = berth_resize(allocator, NULL, 0, (size_t)n + 1, sizeof *position);
    if (!position) return berth_fail_nomem(ctx);
    berth_status status = check_order(ctx, c, position);
    berth_resize(allocator, position, (size_t)n + 1, 0, sizeof *position);
    return status;
}
