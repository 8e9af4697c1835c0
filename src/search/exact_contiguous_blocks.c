/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks: which units are one (what that needs, and why, stands in the header), and their partial order.
 *
 * Blocks are numbered so that values flow from smaller to larger ones, along chains as far as possible. If there are
 * too many, runs of consecutive ones with the same devices become one: values still flow from smaller to larger blocks.
 */
#include "search/exact_contiguous.h"

#include "base/leader.h"

#include <string.h>

enum { MOST_STEPS = 1 << 16 }; /* of looking through one unit; beyond that it is taken apart, which is always right */

typedef struct blocks {
    berth_contiguous *m;
    berth_arena scratch;
    int32_t *seen;  /* [n_tasks] mark of the last walk that came by */
    int32_t *stack; /* [n_tasks] */
    int32_t mark;
} blocks;

static bool leads_out(const berth_contiguous *m, int32_t task) {
    for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++)
        if (m->problem->unit_of[m->edge_to[m->succ_edges[i]]] != m->problem->unit_of[task]) return true;
    return false;
}

static bool leads_in(const berth_contiguous *m, int32_t task) {
    for (int32_t e = m->pred_start[task]; e < m->pred_start[task + 1]; e++)
        if (m->problem->unit_of[m->edge_from[e]] != m->problem->unit_of[task]) return true;
    return false;
}

/* Marks what depends on the task inside its unit; returns the steps it took. */
static int32_t walk(blocks *b, int32_t first) {
    const berth_contiguous *m = b->m;
    int32_t n = 0, steps = 0;
    b->mark++;
    b->seen[first] = b->mark;
    b->stack[n++] = first;
    while (n > 0) {
        int32_t task = b->stack[--n];
        for (int32_t i = m->succ_start[task]; i < m->succ_start[task + 1]; i++, steps++) {
            int32_t next = m->edge_to[m->succ_edges[i]];
            if (m->problem->unit_of[next] != m->problem->unit_of[first] || b->seen[next] == b->mark) continue;
            b->seen[next] = b->mark;
            b->stack[n++] = next;
        }
    }
    return steps;
}

static bool is_one_block(blocks *b, int32_t unit) {
    const berth_problem *p = b->m->problem;
    int32_t steps = 0;
    for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++) {
        if (!leads_in(b->m, p->unit_tasks[i])) continue;
        steps += walk(b, p->unit_tasks[i]) + p->unit_start[unit + 1] - p->unit_start[unit];
        if (steps > MOST_STEPS) return false;
        for (int32_t k = p->unit_start[unit]; k < p->unit_start[unit + 1]; k++)
            if (leads_out(b->m, p->unit_tasks[k]) && b->seen[p->unit_tasks[k]] != b->mark) return false;
    }
    return true;
}

/* Blocks in the order of their first tasks, which need not be one in which values flow. */
static int32_t number_blocks(blocks *b, int32_t *block_of) {
    const berth_problem *p = b->m->problem;
    int32_t n = 0;
    for (int32_t task = 0; task < b->m->c->n_tasks; task++) block_of[task] = -1;
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        if (!b->m->is_kept[p->unit_tasks[p->unit_start[unit]]]) continue;
        bool one = is_one_block(b, unit);
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++)
            block_of[p->unit_tasks[i]] = one && i > p->unit_start[unit] ? n - 1 : n++;
    }
    return n;
}

/* Topological number of each block: of those that are ready the one that became so last. */
static bool order_blocks(blocks *b, const int32_t *block_of, int32_t n, int32_t *number) {
    const berth_contiguous *m = b->m;
    int32_t *missing = berth_arena_push(&b->scratch, (size_t)n, sizeof *missing);
    int32_t *start = berth_arena_push(&b->scratch, (size_t)n + 2, sizeof *start);
    int32_t *edges = berth_arena_push(&b->scratch, (size_t)m->n_edges, sizeof *edges);
    int32_t *ready = berth_arena_push(&b->scratch, (size_t)n, sizeof *ready), n_ready = 0, n_done = 0;
    if (b->scratch.failed) return false;
    for (int32_t e = 0; e < m->n_edges; e++) {
        missing[block_of[m->edge_to[e]]] += block_of[m->edge_from[e]] != block_of[m->edge_to[e]];
        start[block_of[m->edge_from[e]] + 2]++;
    }
    for (int32_t i = 1; i <= n + 1; i++) start[i] += start[i - 1];
    for (int32_t e = 0; e < m->n_edges; e++) edges[start[block_of[m->edge_from[e]] + 1]++] = e;
    for (int32_t i = n - 1; i >= 0; i--)
        if (missing[i] == 0) ready[n_ready++] = i;
    while (n_ready > 0) {
        int32_t from = ready[--n_ready];
        number[from] = n_done++;
        for (int32_t i = start[from + 1] - 1; i >= start[from]; i--) {
            int32_t to = block_of[m->edge_to[edges[i]]];
            if (to != from && --missing[to] == 0) ready[n_ready++] = to;
        }
    }
    return true;
}

/* Lumps blocks together, by their numbers; returns how many are left. */
static int32_t lump(blocks *b, int32_t *block_of, int32_t n, int32_t most) {
    const berth_contiguous *m = b->m;
    uint64_t *allowed = berth_arena_push(&b->scratch, (size_t)n, sizeof *allowed);
    int32_t *lump_of = berth_arena_push(&b->scratch, (size_t)n, sizeof *lump_of);
    int32_t n_lumps = 0, size = 0, full = n / most + 1;
    if (b->scratch.failed) return -1;
    for (int32_t task = 0; task < m->c->n_tasks; task++)
        if (block_of[task] >= 0) allowed[block_of[task]] = m->allowed[task];
    for (int32_t i = 0; i < n; i++, size++) {
        if (i == 0 || size == full || allowed[i] != allowed[i - 1]) {
            n_lumps++;
            size = 0;
        }
        lump_of[i] = n_lumps - 1;
    }
    for (int32_t task = 0; task < m->c->n_tasks; task++)
        if (block_of[task] >= 0) block_of[task] = lump_of[block_of[task]];
    return n_lumps;
}

/* Units that share a block are one from here on. */
static bool join_units(blocks *b, int32_t *unit, int32_t *unit_blocks) {
    const berth_contiguous *m = b->m;
    int32_t *leader = berth_arena_push(&b->scratch, (size_t)m->problem->n_units, sizeof *leader);
    if (!leader) return false;
    for (int32_t u = 0; u < m->problem->n_units; u++) leader[u] = u;
    for (int32_t i = 0; i < m->n_blocks; i++)
        for (int32_t k = m->block_start[i]; k < m->block_start[i + 1]; k++)
            leader[berth_leader_find(leader, m->problem->unit_of[m->block_tasks[k]])] =
                berth_leader_find(leader, m->problem->unit_of[m->block_tasks[m->block_start[i]]]);
    for (int32_t i = 0; i < m->n_blocks; i++) {
        unit[i] = berth_leader_find(leader, m->problem->unit_of[m->block_tasks[m->block_start[i]]]);
        unit_blocks[unit[i]]++;
    }
    return true;
}

static bool list_tasks(blocks *b, const int32_t *block_of) {
    berth_contiguous *m = b->m;
    size_t n = (size_t)m->n_blocks;
    int32_t *start = berth_arena_push(&m->arena, n + 2, sizeof *start);
    int32_t *tasks = berth_arena_push(&m->arena, (size_t)m->c->n_tasks, sizeof *tasks);
    uint64_t *allowed = berth_arena_push(&m->arena, n, sizeof *allowed);
    int32_t *unit = berth_arena_push(&m->arena, n, sizeof *unit);
    int32_t *unit_blocks = berth_arena_push(&m->arena, (size_t)m->problem->n_units, sizeof *unit_blocks);
    if (m->arena.failed) return false;
    for (int32_t task = 0; task < m->c->n_tasks; task++)
        if (block_of[task] >= 0) start[block_of[task] + 2]++;
    for (size_t i = 1; i <= n + 1; i++) start[i] += start[i - 1];
    for (int32_t task = 0; task < m->c->n_tasks; task++) {
        if (block_of[task] < 0) continue;
        tasks[start[block_of[task] + 1]++] = task;
        allowed[block_of[task]] = m->allowed[task];
    }
    m->block_start = start;
    m->block_tasks = tasks;
    m->block_allowed = allowed;
    m->block_unit = unit;
    m->unit_blocks = unit_blocks;
    return join_units(b, unit, unit_blocks);
}

/* Distinct blocks next to each, on one side. */
static bool list_neighbours(blocks *b, bool behind, const int32_t **out_start, const int32_t **out) {
    berth_contiguous *m = b->m;
    int32_t *start = berth_arena_push(&m->arena, (size_t)m->n_blocks + 1, sizeof *start);
    int32_t *items = berth_arena_push(&m->arena, (size_t)m->n_edges, sizeof *items), n = 0;
    int32_t *seen = berth_arena_push(&b->scratch, (size_t)m->n_blocks, sizeof *seen);
    if (m->arena.failed || b->scratch.failed) return false;
    for (int32_t block = 0; block < m->n_blocks; block++) {
        for (int32_t k = m->block_start[block]; k < m->block_start[block + 1]; k++) {
            int32_t task = m->block_tasks[k];
            const int32_t *of = behind ? m->succ_start : m->pred_start;
            for (int32_t i = of[task]; i < of[task + 1]; i++) {
                int32_t other = m->block_of[behind ? m->edge_to[m->succ_edges[i]] : m->edge_from[i]];
                if (other == block || seen[other] == block + 1) continue;
                seen[other] = block + 1;
                items[n++] = other;
            }
        }
        start[block + 1] = n;
    }
    *out_start = start;
    *out = items;
    return true;
}

static bool make_blocks(blocks *b, int32_t most_blocks) {
    berth_contiguous *m = b->m;
    size_t n = (size_t)m->c->n_tasks;
    int32_t *block_of = berth_arena_push(&m->arena, n, sizeof *block_of);
    int32_t *number = berth_arena_push(&b->scratch, n, sizeof *number);
    b->seen = berth_arena_push(&b->scratch, n, sizeof *b->seen);
    b->stack = berth_arena_push(&b->scratch, n, sizeof *b->stack);
    if (m->arena.failed || b->scratch.failed) return false;
    m->n_blocks = number_blocks(b, block_of);
    if (!order_blocks(b, block_of, m->n_blocks, number)) return false;
    for (size_t task = 0; task < n; task++)
        if (block_of[task] >= 0) block_of[task] = number[block_of[task]];
    if (most_blocks > 0 && m->n_blocks > most_blocks) m->n_blocks = lump(b, block_of, m->n_blocks, most_blocks);
    if (m->n_blocks < 0) return false;
    m->block_of = block_of;
    return list_tasks(b, block_of) && list_neighbours(b, false, &m->before_start, &m->before) &&
           list_neighbours(b, true, &m->behind_start, &m->behind);
}

berth_status berth_contiguous_make_blocks(berth_ctx *ctx, berth_contiguous *m, int32_t most_blocks) {
    blocks b = {.m = m};
    berth_arena_init(&b.scratch, berth_ctx_allocator(ctx));
    bool made = make_blocks(&b, most_blocks);
    berth_arena_deinit(&b.scratch);
    return made ? BERTH_OK : berth_fail_nomem(ctx);
}
