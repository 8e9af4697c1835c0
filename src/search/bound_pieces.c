/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces and paths. The level of a task counts the changes of device on the worst path that leads to it, and every
 * level up to the highest has a piece: each connected set of tasks has at least 1 + changes pieces, for any path in it.
 * A change on a path costs piece_ms then, a term of two tasks. Weighted means of paths are as good as one path, so that
 * the weights move, step by step, to where the best placement so far changes device most often. */
#include "search/bound_pieces.h"

#include "base/leader.h"

#include <string.h>

static void number_parts(berth_pieces *p, const berth_costs *c) {
    int32_t *leader = p->part_of;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        leader[task] = task;
        for (int32_t i = c->pred_start[task]; i < c->pred_start[task + 1]; i++) {
            int32_t a = berth_leader_find(leader, c->preds[i]), b = berth_leader_find(leader, task);
            leader[a > b ? a : b] = a < b ? a : b;
        }
    }
    for (int32_t task = 0; task < c->n_tasks; task++) leader[task] = berth_leader_find(leader, task);
    for (int32_t task = 0; task < c->n_tasks; task++)
        p->part_of[task] = leader[task] == task ? p->n_parts++ : p->part_of[leader[task]];
}

bool berth_pieces_init(berth_pieces *p, berth_arena *arena, const berth_problem *problem) {
    const berth_costs *c = problem->costs;
    size_t n = (size_t)c->n_tasks, n_reads = (size_t)c->reader_start[c->n_values];
    *p = (berth_pieces){.any = c->piece_ms > 0};
    if (!p->any) return true;
    p->part_of = berth_arena_push(arena, n, sizeof *p->part_of);
    p->via = berth_arena_push(arena, n, sizeof *p->via);
    p->changes = berth_arena_push(arena, n, sizeof *p->changes);
    p->length = berth_arena_push(arena, n, sizeof *p->length);
    p->end = berth_arena_push(arena, n, sizeof *p->end);
    p->producer_of = berth_arena_push(arena, n_reads, sizeof *p->producer_of);
    p->spread = berth_arena_push(arena, n_reads, sizeof *p->spread);
    if (arena->failed) return false;
    for (int32_t v = 0; v < c->n_values; v++)
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) p->producer_of[i] = c->value_producer[v];
    number_parts(p, c);
    return true;
}

/* More changes, or as many on a longer path. */
static bool is_better(const berth_pieces *p, int32_t changes, int32_t length, int32_t than) {
    return changes > p->changes[than] || (changes == p->changes[than] && length > p->length[than]);
}

/* Best paths by one pass over the values of each task, in task order. */
static void find_paths(berth_pieces *p, const berth_terms *t, const int32_t *device) {
    const berth_costs *c = t->costs;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        p->via[task] = -1;
        p->changes[task] = p->length[task] = 0;
    }
    for (int32_t i = 0; i < p->n_parts; i++) p->end[i] = -1;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        int32_t *end = &p->end[p->part_of[task]];
        if (*end < 0 || is_better(p, p->changes[task], p->length[task], *end)) *end = task;
        for (int32_t o = c->out_start[task]; o < c->out_start[task + 1]; o++) {
            int32_t v = c->out_values[o];
            for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) {
                int32_t to = c->readers[i];
                bool change = device && device[t->node_of[task]] != device[t->node_of[to]];
                int32_t changes = p->changes[task] + change, length = p->length[task] + 1;
                if (p->via[to] >= 0 && !is_better(p, changes, length, to)) continue;
                p->via[to] = i;
                p->changes[to] = changes;
                p->length[to] = length;
            }
        }
    }
}

void berth_pieces_move(berth_pieces *p, const berth_terms *t, const int32_t *device, double share) {
    const berth_costs *c = t->costs;
    if (!p->any) return;
    find_paths(p, t, device);
    for (int32_t i = 0; i < c->reader_start[c->n_values]; i++) p->spread[i] *= 1 - share;
    for (int32_t part = 0; part < p->n_parts; part++)
        for (int32_t task = p->end[part]; p->via[task] >= 0; task = p->producer_of[p->via[task]])
            p->spread[p->via[task]] += share * c->piece_ms;
}
