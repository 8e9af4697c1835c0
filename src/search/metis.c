/* SPDX-License-Identifier: Apache-2.0 */
/* `metis`: balanced parts with little between them, by METIS (Karypis and Kumar 1998), which knows nothing of unlike
 * devices or of time. Vertices are units, weighted by mean time; edges are weighted by mean copy. For each number of
 * parts up to that of the devices, parts are given to devices in every way while those are few, else the parts with
 * most time first to the device where they take least. A unit that may not run on its part's device goes where it runs
 * fastest. */
#include <math.h>
#include <metis.h>
#include <string.h>

#include "search/rank.h"
#include "search/search_methods.h"
#include "search/search_room.h"

enum { MOST_WAYS = 120 };               /* assignments tried for one number of parts */
static const double weight_steps = 5e8; /* METIS counts in whole numbers of 32 bits: the sum of all weights */

typedef struct parts {
    berth_search *search;
    const berth_problem *p;
    berth_rank rank;
    idx_t *start, *neighbour, *edge_weight, *vertex_weight; /* the graph of units, as METIS takes it */
    idx_t *part;                                            /* [n_units] */
    int32_t *other;                                         /* [n_units] fastest device */
    int32_t *device;                                        /* [n_tasks] */
    int32_t assigned[BERTH_MAX_DEVICES];                    /* device of each part */
    int32_t n_parts;
    int32_t ways_left;
} parts;

/* Never 0: METIS wants edges that cost, and vertices that weigh, something. */
static idx_t scaled(double weight, double total) {
    return total > 0 ? (idx_t)(weight / total * weight_steps) + 1 : 1;
}

typedef struct link {
    int32_t from, to;
    double ms;
} link;

/* Copies between different units, both ways: n_links; if `links` is NULL they are only counted. */
static size_t list_links(const parts *m, link *links) {
    const berth_costs *c = m->p->costs;
    size_t n = 0;
    for (int32_t v = 0; v < c->n_values; v++) {
        if (c->value_producer[v] < 0) continue;
        int32_t from = m->p->unit_of[c->value_producer[v]];
        for (int32_t i = c->reader_start[v]; i < c->reader_start[v + 1]; i++) {
            int32_t to = m->p->unit_of[c->readers[i]];
            if (to == from) continue;
            if (links) {
                links[n] = (link){from, to, m->rank.mean_copy[v]};
                links[n + 1] = (link){to, from, m->rank.mean_copy[v]};
            }
            n += 2;
        }
    }
    return n;
}

/* Rows of distinct neighbours; METIS wants no repetitions. */
static bool build_rows(parts *m, berth_arena *arena) {
    size_t n = (size_t)m->p->n_units, n_links = list_links(m, NULL);
    link *links = berth_arena_push(arena, n_links, sizeof *links);
    link *by_to = berth_arena_push(arena, n_links, sizeof *by_to);
    size_t *at = berth_arena_push(arena, n + 1, sizeof *at);
    m->start = berth_arena_push(arena, n + 1, sizeof *m->start);
    m->neighbour = berth_arena_push(arena, n_links, sizeof *m->neighbour);
    m->edge_weight = berth_arena_push(arena, n_links, sizeof *m->edge_weight);
    if (arena->failed) return false;
    list_links(m, links);
    for (size_t i = 0; i < n_links; i++) at[links[i].to + 1]++;
    for (size_t u = 0; u < n; u++) at[u + 1] += at[u];
    for (size_t i = 0; i < n_links; i++) by_to[at[links[i].to]++] = links[i];
    memset(at, 0, (n + 1) * sizeof *at);
    for (size_t i = 0; i < n_links; i++) at[by_to[i].from + 1]++;
    for (size_t u = 0; u < n; u++) at[u + 1] += at[u];
    for (size_t i = 0; i < n_links; i++) links[at[by_to[i].from]++] = by_to[i];
    double total = 0;
    size_t used = 0;
    for (size_t i = 0; i < n_links; i++) {
        bool repeats = i > 0 && links[i].from == links[i - 1].from && links[i].to == links[i - 1].to;
        if (repeats)
            by_to[used - 1].ms += links[i].ms;
        else
            by_to[used++] = links[i];
        total += links[i].ms;
    }
    for (size_t i = 0; i < used; i++) {
        m->start[by_to[i].from + 1]++;
        m->neighbour[i] = by_to[i].to;
        m->edge_weight[i] = scaled(by_to[i].ms, total);
    }
    for (size_t u = 0; u < n; u++) m->start[u + 1] += m->start[u];
    return true;
}

static bool build(parts *m, berth_arena *arena) {
    const berth_problem *p = m->p;
    size_t n = (size_t)p->n_units;
    berth_room room;
    double total = 0, *weight = berth_arena_push(arena, n, sizeof *weight);
    m->vertex_weight = berth_arena_push(arena, n, sizeof *m->vertex_weight);
    m->part = berth_arena_push(arena, n, sizeof *m->part);
    m->other = berth_arena_push(arena, n, sizeof *m->other);
    m->device = berth_arena_push(arena, (size_t)p->costs->n_tasks, sizeof *m->device);
    if (arena->failed || !berth_rank_build(arena, p, &m->rank) || !berth_room_build(arena, p, &room)) return false;
    for (int32_t unit = 0; unit < p->n_units; unit++) {
        m->other[unit] = berth_room_fastest(&room, unit);
        for (int32_t i = p->unit_start[unit]; i < p->unit_start[unit + 1]; i++)
            weight[unit] += m->rank.mean_time[p->unit_tasks[i]];
        total += weight[unit];
    }
    for (int32_t unit = 0; unit < p->n_units; unit++) m->vertex_weight[unit] = scaled(weight[unit], total);
    return build_rows(m, arena);
}

static berth_status offer(parts *m) {
    for (int32_t task = 0; task < m->p->costs->n_tasks; task++) {
        int32_t unit = m->p->unit_of[task], d = m->assigned[m->part[unit]];
        m->device[task] = berth_problem_allows(m->p, unit, d) ? d : m->other[unit];
    }
    return berth_search_finish(m->search, m->device, NULL, "metis");
}

/* Every way to give parts from `part` on to devices that have none. */
static berth_status assign_all(parts *m, int32_t part, uint64_t taken) {
    if (part == m->n_parts) {
        m->ways_left--;
        return offer(m);
    }
    for (int32_t d = 0; d < m->p->costs->n_devices && m->ways_left > 0; d++) {
        if (taken >> d & 1 || berth_search_stop(m->search)) continue;
        m->assigned[part] = d;
        BERTH_TRY(assign_all(m, part + 1, taken | (uint64_t)1 << d));
    }
    return BERTH_OK;
}

/* Each part in turn to the device, of those left, where it takes least. */
static berth_status assign_fastest(parts *m) {
    const berth_problem *p = m->p;
    uint64_t taken = 0;
    for (int32_t part = 0; part < m->n_parts; part++) {
        int32_t best = -1;
        double best_ms = INFINITY;
        for (int32_t d = 0; d < p->costs->n_devices; d++) {
            double ms = 0;
            if (taken >> d & 1) continue;
            for (int32_t unit = 0; unit < p->n_units; unit++)
                if (m->part[unit] == part)
                    ms += berth_room_unit_ms(p, unit, berth_problem_allows(p, unit, d) ? d : m->other[unit]);
            if (best >= 0 && ms >= best_ms) continue;
            best = d;
            best_ms = ms;
        }
        m->assigned[part] = best;
        taken |= (uint64_t)1 << best;
    }
    return offer(m);
}

static bool ways_are_few(const parts *m) {
    int32_t ways = 1;
    for (int32_t i = 0; i < m->n_parts && ways <= MOST_WAYS; i++) ways *= m->p->costs->n_devices - i;
    return ways <= MOST_WAYS;
}

static berth_status partition(parts *m, int32_t n_parts) {
    idx_t n = m->p->n_units, n_constraints = 1, k = n_parts, cut = 0, options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    m->n_parts = n_parts;
    m->ways_left = MOST_WAYS;
    int status = METIS_PartGraphKway(&n, &n_constraints, m->start, m->neighbour, m->vertex_weight, NULL, m->edge_weight,
                                     &k, NULL, NULL, options, &cut, m->part);
    if (status == METIS_ERROR_MEMORY) return berth_fail_nomem(m->search->ctx);
    if (status != METIS_OK) return berth_fail(m->search->ctx, BERTH_E_UNSUPPORTED, "METIS refuses this graph");
    return ways_are_few(m) ? assign_all(m, 0, 0) : assign_fastest(m);
}

berth_status berth_search_metis(berth_search *search) {
    parts m = {.search = search, .p = search->problem};
    berth_arena arena;
    berth_arena_init(&arena, berth_ctx_allocator(search->ctx));
    berth_status status = BERTH_OK;
    if (!build(&m, &arena)) status = berth_fail_nomem(search->ctx);
    int32_t most = m.p->costs->n_devices < m.p->n_units ? m.p->costs->n_devices : m.p->n_units;
    for (int32_t k = 2; k <= most && status == BERTH_OK && !berth_search_stop(search); k++) status = partition(&m, k);
    berth_arena_deinit(&arena);
    return status;
}

bool berth_search_has_metis(void) {
    return true;
}
