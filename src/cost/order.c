/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which `queued` runs tasks: that of the file if it is a topological one, else the topological order
 * that takes, of all operations that may come next, the one that stands first in the file (Kahn 1962, with a heap). */
#include "cost/build.h"

static bool file_is_in_order(const berth_costs *c) {
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++)
            if (c->task_op[c->preds[i]] > c->task_op[task]) return false;
    return true;
}

/* A heap of operations, the smallest at its top. */
typedef struct heap {
    int32_t *ops, n;
} heap;

static void heap_push(heap *h, int32_t op) {
    int32_t at = h->n++;
    for (; at > 0 && h->ops[(at - 1) / 2] > op; at = (at - 1) / 2) h->ops[at] = h->ops[(at - 1) / 2];
    h->ops[at] = op;
}

static int32_t heap_pop(heap *h) {
    int32_t top = h->ops[0], last = h->ops[--h->n], at = 0;
    for (int32_t child = 1; child < h->n; child = 2 * at + 1) {
        if (child + 1 < h->n && h->ops[child + 1] < h->ops[child]) child++;
        if (h->ops[child] >= last) break;
        h->ops[at] = h->ops[child];
        at = child;
    }
    h->ops[at] = last;
    return top;
}

static berth_status sort_again(berth_costs_build *b, int32_t *order) {
    const berth_costs *c = b->costs;
    heap h = {.ops = berth_arena_push(&b->scratch, (size_t)c->n_tasks, sizeof *h.ops)};
    int32_t *missing = berth_arena_push(&b->scratch, (size_t)c->n_tasks, sizeof *missing), n = 0;
    if (b->scratch.failed) return berth_fail_nomem(b->ctx);
    for (int32_t task = 0; task < c->n_tasks; task++) {
        missing[task] = c->pred_start[task + 1] - c->pred_start[task];
        if (missing[task] == 0) heap_push(&h, c->task_op[task]);
    }
    while (h.n > 0) {
        int32_t task = c->op_task[heap_pop(&h)];
        order[n++] = task;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++)
            if (--missing[c->succs[i]] == 0) heap_push(&h, c->task_op[c->succs[i]]);
    }
    return BERTH_OK;
}

berth_status berth_costs_order(berth_costs_build *b) {
    berth_costs *c = b->costs;
    int32_t *order = berth_arena_push(&c->arena, (size_t)c->n_tasks, sizeof *order), n = 0;
    if (!order) return berth_fail_nomem(b->ctx);
    c->file_order = order;
    if (!file_is_in_order(c)) return sort_again(b, order);
    for (int32_t op = 0; op < c->n_ops; op++)
        if (c->op_task[op] >= 0) order[n++] = c->op_task[op];
    return BERTH_OK;
}
