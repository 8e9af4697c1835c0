/* SPDX-License-Identifier: Apache-2.0 */
/* `m-sct`: small communication times with memory limits (Jeon et al., "Baechi", SoCC 2020, section 3.2.2, after Hanen
 * and Munier 1995): each task may have one favourite child, to run at once on the same device, and be the favourite
 * child of one parent; then earliest task first with devices kept for favourite children (m_etf.c).
 *
 * The original chooses favourites by a linear program that shortens the longest path when the copies on favourite
 * edges cost nothing, and rounds it. Here the same aim is met by a combinatorial descent that needs no solver: as long
 * as the longest path (mean times, mean copies) has an edge whose ends are both unmatched, the dearest such edges of
 * it are matched, which shortens that path; then the next longest path. When the longest path has no such edge, what
 * is left is matched by the length of the longest path through each edge. Every rounding of the program is such a
 * matching, but not every such matching is an optimum of the program. */
#include <math.h>

#include "base/sort.h"
#include "search/m_etf.h"
#include "search/search_methods.h"

enum { MOST_PATHS = 64 };

typedef struct matcher {
    const berth_costs *c;
    const berth_rank *rank;
    int32_t *child, *parent; /* [n_tasks] matched, or -1 */
    double *from_start;      /* [n_tasks] longest path up to the task's start */
    double *to_end;          /* [n_tasks] longest path from the task's start */
    double *copy;            /* [n_edges] */
    double *through;         /* [n_edges] longest path through an edge */
    int32_t *edge_from;      /* [n_edges] edges are numbered as in costs->succs */
    int32_t *edges;          /* [n_edges] scratch */
} matcher;

/* Mean copy along an edge, 0 if its ends are matched. */
static double edge_ms(const matcher *m, int32_t edge) {
    return m->child[m->edge_from[edge]] == m->c->succs[edge] ? 0 : m->copy[edge];
}

static int32_t find_edge(const berth_costs *c, int32_t from, int32_t to) {
    int32_t low = c->succ_start[from], high = c->succ_start[from + 1] - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (c->succs[middle] < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The dearest mean copy between any two tasks. */
static void measure_copies(matcher *m) {
    const berth_costs *c = m->c;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->in_start[task]; i < c->in_start[task + 1]; i++) {
            int32_t value = c->in_values[i], from = c->value_producer[value];
            if (from < 0) continue;
            double *copy = &m->copy[find_edge(c, from, task)];
            if (m->rank->mean_copy[value] > *copy) *copy = m->rank->mean_copy[value];
        }
}

static void match(matcher *m, int32_t from, int32_t to) {
    if (m->child[from] >= 0 || m->parent[to] >= 0) return;
    m->child[from] = to;
    m->parent[to] = from;
}

static void measure_to_end(matcher *m) {
    const berth_costs *c = m->c;
    for (int32_t task = c->n_tasks - 1; task >= 0; task--) {
        double longest = 0;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) {
            double ms = edge_ms(m, i) + m->to_end[c->succs[i]];
            if (ms > longest) longest = ms;
        }
        m->to_end[task] = m->rank->mean_time[task] + longest;
    }
}

static void measure_from_start(matcher *m) {
    const berth_costs *c = m->c;
    for (int32_t task = 0; task < c->n_tasks; task++) m->from_start[task] = 0;
    for (int32_t task = 0; task < c->n_tasks; task++)
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) {
            int32_t next = c->succs[i];
            double ms = m->from_start[task] + m->rank->mean_time[task] + edge_ms(m, i);
            if (ms > m->from_start[next]) m->from_start[next] = ms;
        }
}

/* The edges of the longest path whose ends are both unmatched; their number. */
static int32_t walk_longest(matcher *m) {
    const berth_costs *c = m->c;
    int32_t task = 0, n = 0;
    for (int32_t other = 1; other < c->n_tasks; other++)
        if (m->to_end[other] > m->to_end[task]) task = other;
    for (;;) {
        int32_t best = -1;
        double longest = -1;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) {
            double ms = edge_ms(m, i) + m->to_end[c->succs[i]];
            if (ms <= longest) continue;
            longest = ms;
            best = i;
        }
        if (best < 0) return n;
        if (m->child[task] < 0 && m->parent[c->succs[best]] < 0 && edge_ms(m, best) > 0) {
            m->through[best] = edge_ms(m, best);
            m->edges[n++] = best;
        }
        task = c->succs[best];
    }
}

static bool is_longer(const void *user, int32_t a, int32_t b) {
    const double *through = user;
    return through[a] > through[b] || (through[a] == through[b] && a < b);
}

static void match_sorted(matcher *m, int32_t n) {
    berth_sort(m->edges, (size_t)n, is_longer, m->through);
    for (int32_t i = 0; i < n; i++) match(m, m->edge_from[m->edges[i]], m->c->succs[m->edges[i]]);
}

static void choose_favourites(matcher *m) {
    const berth_costs *c = m->c;
    int32_t n_edges = c->succ_start[c->n_tasks], n = 1;
    measure_copies(m);
    for (int32_t round = 0; round < MOST_PATHS && n > 0 && c->n_tasks > 0; round++) {
        measure_to_end(m);
        n = walk_longest(m);
        match_sorted(m, n);
    }
    measure_to_end(m);
    measure_from_start(m);
    for (int32_t edge = 0; edge < n_edges; edge++) {
        int32_t from = m->edge_from[edge], to = c->succs[edge];
        m->through[edge] = m->from_start[from] + m->rank->mean_time[from] + edge_ms(m, edge) + m->to_end[to];
        m->edges[edge] = edge;
    }
    match_sorted(m, n_edges);
}

static bool set_up(matcher *m, berth_arena *arena) {
    const berth_costs *c = m->c;
    size_t n = (size_t)c->n_tasks, n_edges = (size_t)c->succ_start[c->n_tasks];
    m->child = berth_arena_push(arena, n, sizeof *m->child);
    m->parent = berth_arena_push(arena, n, sizeof *m->parent);
    m->from_start = berth_arena_push(arena, n, sizeof *m->from_start);
    m->to_end = berth_arena_push(arena, n, sizeof *m->to_end);
    m->copy = berth_arena_push(arena, n_edges, sizeof *m->copy);
    m->through = berth_arena_push(arena, n_edges, sizeof *m->through);
    m->edge_from = berth_arena_push(arena, n_edges, sizeof *m->edge_from);
    m->edges = berth_arena_push(arena, n_edges, sizeof *m->edges);
    if (arena->failed) return false;
    for (int32_t task = 0; task < c->n_tasks; task++) {
        m->child[task] = m->parent[task] = -1;
        for (int32_t i = c->succ_start[task]; i < c->succ_start[task + 1]; i++) m->edge_from[i] = task;
    }
    return true;
}

berth_status berth_search_m_sct(berth_search *search) {
    berth_schedule s;
    BERTH_TRY(berth_schedule_init(&s, search));
    matcher m = {.c = s.costs, .rank = &s.rank};
    berth_status status = BERTH_E_NOMEM;
    if (set_up(&m, &s.arena)) {
        choose_favourites(&m);
        status = berth_etf_fill(&s, search, m.child);
    } else {
        status = berth_fail_nomem(search->ctx);
    }
    if (status == BERTH_OK && !berth_search_interrupted(search)) status = berth_schedule_finish(&s, search, "m-sct");
    berth_schedule_deinit(&s);
    return status;
}
