/* SPDX-License-Identifier: Apache-2.0 */
/* The optimum under `concurrent`, block by block (block.h).
 *
 * Between two gates every pair of devices is an edge whose length is what the block takes: known from below by
 * relaxation, from above by schedules found, exactly once the block was searched for that pair. The shortest path by
 * lower lengths bounds the whole from below; while it holds an edge that is not settled, the one with the widest gap
 * on it is searched, in steps that prove ever more; when all its edges are settled it is the optimum. So only pairs
 * that matter are ever searched, and bound and answer get better all the time. */
#include "search/block.h"
#include "search/exact.h"

#include <math.h>
#include <string.h>

typedef struct edge {
    double low, high;
    int8_t step;                /* how many quarters between low and high the next search tries to prove */
    bool stuck;                 /* too hard: low stays what it is */
    int64_t nodes;              /* allowed for the next search */
    int32_t *device, *priority; /* [n] of the block: the schedule that takes `high` */
} edge;

typedef struct path_search {
    berth_search *search;
    const berth_problem *problem;
    berth_blocks *blocks;
    int32_t n_devices;
    edge *edges;     /* [(block * n_devices + from) * n_devices + to] */
    int32_t *path;   /* [n + 1] devices of gates, path[0] and the last are 0 where there is no gate */
    int32_t *device; /* [n_tasks] scratch */
    int32_t *priority;
} path_search;

enum { FIRST_NODES = 20000 };
static const double rounding = 1e-12; /* relative; lengths are sums of many doubles */

static edge *edge_at(const path_search *ps, int32_t block, int32_t from, int32_t to) {
    size_t n = (size_t)ps->n_devices;
    return &ps->edges[((size_t)block * n + (size_t)from) * n + (size_t)to];
}

/* Devices that a gate may have at the start and at the end of a block: only 0, standing for none, where there is no
 * gate. */
static int32_t n_from(const path_search *ps, const berth_block *block) {
    return block->after_gate ? ps->n_devices : 1;
}

static int32_t n_to(const path_search *ps, const berth_block *block) {
    return block->to_gate ? ps->n_devices : 1;
}

static bool keep_schedule(path_search *ps, edge *e, const berth_block *block, double ms, const int32_t *device,
                          const int32_t *priority) {
    berth_arena *arena = &ps->blocks->arena;
    size_t n = (size_t)block->n;
    if (!e->device) {
        e->device = berth_arena_push(arena, n, sizeof *e->device);
        e->priority = berth_arena_push(arena, n, sizeof *e->priority);
    }
    if (arena->failed) return false;
    memcpy(e->device, device, n * sizeof *device);
    memcpy(e->priority, priority, n * sizeof *priority);
    e->high = ms;
    return true;
}

/* A first schedule of an edge: everything on one device, if the gates are there or may be reached. */
static bool seed_edge(path_search *ps, edge *e, berth_block *block, int32_t to) {
    int32_t *device = ps->device, *priority = ps->priority;
    for (int32_t d = 0; d < ps->n_devices; d++) {
        for (int32_t i = 0; i < block->n; i++) {
            uint64_t allowed = block->allowed[i];
            int32_t at = allowed >> d & 1 ? d : __builtin_ctzll(allowed);
            if (to >= 0 && i == block->n - 1) at = to;
            device[i] = block->unit[i] == block->unit[block->n - 1] && to >= 0 ? to : at;
            priority[i] = i;
        }
        berth_search_step(ps->search, block->n);
        double ms = berth_sim_run(block->sim, device, priority);
        if (ms < e->high && !keep_schedule(ps, e, block, ms, device, priority)) return false;
        if (berth_search_stop(ps->search)) break;
    }
    return true;
}

static bool open_gate(path_search *ps, edge *e, const berth_block *block, int32_t from, int32_t to) {
    int32_t zero = 0;
    e->low = berth_block_gate_ms(ps->problem, block, from, to);
    if (e->low == INFINITY) return true;
    return keep_schedule(ps, e, block, e->low, &to, &zero);
}

static bool open_edges(path_search *ps) {
    size_t n_edges = (size_t)ps->blocks->n * (size_t)ps->n_devices * (size_t)ps->n_devices;
    for (size_t i = 0; i < n_edges; i++) ps->edges[i] = (edge){.high = INFINITY, .nodes = FIRST_NODES};
    for (int32_t b = 0; b < ps->blocks->n; b++) {
        berth_block *block = &ps->blocks->items[b];
        for (int32_t from = 0; from < n_from(ps, block); from++)
            for (int32_t to = 0; to < n_to(ps, block); to++) {
                edge *e = edge_at(ps, b, from, to);
                if (!block->costs) {
                    if (!open_gate(ps, e, block, from, to)) return false;
                    continue;
                }
                e->low = berth_block_stand(block, from, block->to_gate ? to : -1);
                e->stuck = block->n > BERTH_BLOCK_TASKS;
                if (e->low < INFINITY && !seed_edge(ps, e, block, block->to_gate ? to : -1)) return false;
            }
        if (berth_search_stop(ps->search)) return true;
    }
    return true;
}

/* The shortest path by lower or upper lengths, left in ps->path; its length. */
static double shortest(path_search *ps, bool by_high, double *reach, int32_t *came) {
    int32_t n = ps->n_devices, n_blocks = ps->blocks->n;
    for (int32_t d = 0; d < n; d++) reach[d] = d == 0 ? 0 : INFINITY;
    for (int32_t b = 0; b < n_blocks; b++) {
        const berth_block *block = &ps->blocks->items[b];
        double *now = reach + (size_t)b * (size_t)n, *next = now + n;
        for (int32_t to = 0; to < n; to++) {
            next[to] = INFINITY;
            for (int32_t from = 0; from < n_from(ps, block) && to < n_to(ps, block); from++) {
                const edge *e = edge_at(ps, b, from, to);
                double length = now[from] + (by_high ? e->high : e->low);
                if (length < next[to]) next[to] = length, came[(size_t)b * (size_t)n + (size_t)to] = from;
            }
        }
    }
    const double *last = reach + (size_t)n_blocks * (size_t)n;
    int32_t at = 0;
    for (int32_t d = 1; d < n; d++)
        if (last[d] < last[at]) at = d;
    double length = last[at];
    for (int32_t b = n_blocks; b >= 0 && length < INFINITY; b--) {
        ps->path[b] = at;
        if (b > 0) at = came[(size_t)(b - 1) * (size_t)n + (size_t)at];
    }
    return length;
}

/* Put the schedules along ps->path together and offer them. */
static void offer_path(path_search *ps) {
    for (int32_t b = 0; b < ps->blocks->n; b++) {
        const berth_block *block = &ps->blocks->items[b];
        const edge *e = edge_at(ps, b, ps->path[b], ps->path[b + 1]);
        for (int32_t i = 0; i < block->n; i++) {
            ps->device[block->first + i] = e->device[i];
            ps->priority[block->first + i] = block->first + e->priority[i];
        }
    }
    berth_search_count(ps->search, 1);
    berth_search_offer(ps->search, ps->device, ps->priority, BERTH_SOURCE_SEED, "exact");
}

static bool is_settled(const edge *e) {
    return e->high <= e->low * (1 + rounding);
}

/* The edge of the path that is worth a search: the widest gap. */
static int32_t widest(const path_search *ps) {
    int32_t best = -1;
    double gap = 0;
    for (int32_t b = 0; b < ps->blocks->n; b++) {
        const edge *e = edge_at(ps, b, ps->path[b], ps->path[b + 1]);
        if (is_settled(e) || e->stuck) continue;
        if (best < 0 || e->high - e->low > gap) best = b, gap = e->high - e->low;
    }
    return best;
}

/* Search one edge: prove that it takes no less than a quarter, half, ... of its gap, or find a shorter schedule. */
static bool search_edge(path_search *ps, int32_t b) {
    berth_block *block = &ps->blocks->items[b];
    int32_t from = ps->path[b], to = ps->path[b + 1];
    edge *e = edge_at(ps, b, from, to);
    int32_t device[BERTH_BLOCK_TASKS], priority[BERTH_BLOCK_TASKS];
    double low = berth_block_stand(block, from, block->to_gate ? to : -1);
    double limit = e->high;
    if (e->step < 3 && e->high < INFINITY) limit = e->low + (e->high - e->low) * 0.25 * (e->step + 1);
    bool complete = false;
    double ms = berth_block_search(block, ps->search, limit, e->nodes, device, priority, &complete);
    if (ms < e->high && !keep_schedule(ps, e, block, ms, device, priority)) return false;
    if (complete) {
        e->low = fmax(fmax(low, e->low), fmin(limit, e->high));
        e->step = e->step < 3 && e->high > e->low ? (int8_t)(e->step + 1) : 3;
    } else {
        e->nodes *= 8;
        if (e->nodes > (int64_t)FIRST_NODES << 24) e->stuck = true;
    }
    return true;
}

static berth_status search_path(path_search *ps, double *reach, int32_t *came) {
    berth_ctx *ctx = ps->search->ctx;
    for (;;) {
        if (shortest(ps, true, reach, came) < ps->search->best_ms * (1 - 0.5 * rounding)) offer_path(ps);
        double bound = shortest(ps, false, reach, came);
        if (bound == INFINITY) return BERTH_OK;
        int32_t b = widest(ps);
        if (ps->problem->bounds_hold) {
            bool settled = b < 0;
            for (int32_t i = 0; i < ps->blocks->n && settled; i++)
                settled = is_settled(edge_at(ps, i, ps->path[i], ps->path[i + 1]));
            /* The optimum is known; what the simulator says of it differs from the sum by rounding alone. */
            if (settled && ps->search->best_ms <= bound * (1 + rounding))
                bound = ps->search->best_ms;
            else
                bound *= 1 - rounding;
            berth_search_bound(ps->search, bound);
        }
        if (b < 0 || berth_search_stop(ps->search)) return BERTH_OK;
        if (!search_edge(ps, b)) return berth_fail_nomem(ctx);
    }
}

berth_status berth_search_exact_concurrent(berth_search *search) {
    const berth_problem *problem = search->problem;
    size_t n_tasks = (size_t)problem->costs->n_tasks, n = (size_t)problem->costs->n_devices;
    path_search ps = {.search = search, .problem = problem, .n_devices = problem->costs->n_devices};
    if (n_tasks == 0) return BERTH_OK;
    BERTH_TRY(berth_blocks_new(search->ctx, &ps.blocks, problem));
    berth_arena *arena = &ps.blocks->arena;
    size_t n_blocks = (size_t)ps.blocks->n;
    ps.edges = berth_arena_push(arena, n_blocks * n * n, sizeof *ps.edges);
    ps.path = berth_arena_push(arena, n_blocks + 1, sizeof *ps.path);
    ps.device = berth_arena_push(arena, n_tasks, sizeof *ps.device);
    ps.priority = berth_arena_push(arena, n_tasks, sizeof *ps.priority);
    double *reach = berth_arena_push(arena, (n_blocks + 1) * n, sizeof *reach);
    int32_t *came = berth_arena_push(arena, n_blocks * n, sizeof *came);
    berth_status status = BERTH_OK;
    if (arena->failed || !open_edges(&ps))
        status = berth_fail_nomem(search->ctx);
    else
        status = search_path(&ps, reach, came);
    berth_blocks_free(ps.blocks);
    return status;
}
