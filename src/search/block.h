/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: how a schedule under `concurrent` falls apart.
 *
 * A task is a gate if every other task must come before or after it, no value passes it by, and no unit lies on both
 * sides. When a gate ends, everything before it is done, every device and link is idle, and what follows depends
 * only on the device of the gate. So the best schedule is a shortest path: from gate to gate, each stretch between
 * two of them (a block) solved on its own for every pair of devices of its two gates.
 *
 * A block holds the tasks after one gate up to and including the next, as a cost block of its own in which the values
 * of the gate before are there from the start. The first block starts with the problem's own given values; the last
 * one ends with the problem. */
#ifndef BERTH_SEARCH_BLOCK_H
#define BERTH_SEARCH_BLOCK_H

#include "search/search.h"

enum { BERTH_BLOCK_TASKS = 64 }; /* a block with more is bounded, not solved */

typedef struct berth_block {
    int32_t first, n;         /* tasks of the problem */
    bool after_gate, to_gate; /* whether a gate stands before it, and whether its last task is one */
    const berth_costs *costs; /* of the block alone; the problem's own if there is only one block */
    berth_costs *owned;       /* what to free of it */
    int32_t *home;            /* its value_home, to be set for the values of the gate before; NULL: none */
    berth_sim *sim;
    int32_t *unit;         /* [n] unit of each task, numbered 0 .. n_units - 1 by first task */
    uint64_t *allowed;     /* [n] devices of each task's unit */
    const uint64_t *alike; /* devices interchangeable with each; NULL where gates make them differ */
    double *links;         /* scratch of berth_block_order */
    bool order_is_free;    /* the order decides about more than devices: queued links, or memory peaks */
    double *head, *tail;   /* [n * n_devices] least time before a task starts there, and after it has ended there */
} berth_block;

typedef struct berth_blocks {
    berth_arena arena;
    int32_t n;
    berth_block *items;
} berth_blocks;

/* Splits the problem; one block if memory may bind. */
berth_status berth_blocks_new(berth_ctx *ctx, berth_blocks **out, const berth_problem *problem);
void berth_blocks_free(berth_blocks *blocks);

/* A block that is a gate alone (no costs of its own): what it takes after the gate before it, exactly. */
double berth_block_gate_ms(const berth_problem *problem, const berth_block *block, int32_t from, int32_t to);

/* Stand on a pair of devices: that of the gate before (ignored if there is none) and of the last task (-1: any). Sets
 * heads and tails by relaxation (every predecessor picks its best device on its own), and says how long the block
 * takes at least; INFINITY: impossible. */
double berth_block_stand(berth_block *block, int32_t from, int32_t to);

/* The best order of a full placement of the block, by branching: only schedules that
 * take less than `limit` count. Returns what the best one takes, with `priority` set, or INFINITY. *complete says
 * whether all were tried before `search` had to stop. Heads and tails must be set. */
double berth_block_order(const berth_block *block, berth_search *search, const int32_t *device, double limit,
                         int32_t *priority, bool *complete);

/* Looks for a schedule that takes less than `limit`, among all placements and orders, for at most `n_nodes` nodes.
 * Returns what the best one takes, with `device` and `priority` [n] set, or INFINITY if there is none. *complete:
 * nothing below min(limit, what came back) was left out. The block must stand. */
double berth_block_search(const berth_block *block, berth_search *search, double limit, int64_t n_nodes,
                          int32_t *device, int32_t *priority, bool *complete);

#endif
