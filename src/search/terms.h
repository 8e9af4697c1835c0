/* SPDX-License-Identifier: Apache-2.0 */
/* Costs that fall apart into terms of few tasks: the `serial` makespan, loads, and weighted sums of either with lengths
 * of paths. Minimum cuts (min_cut_graph.h) and elimination (eliminate.h) minimise them.
 *
 * The cost of a placement is the sum of
 * - node_ms of every node on its device (a node is one task, or several that share a device);
 * - for every value and other device where it is wanted, once: link_fixed * fixed part + link_rest * rest of the copy,
 *   each weight by link; through the host (via_host): out of a home that is not the host once for all, and in;
 * - for every read of a value from another device: read_ms * the copy + read_change. */
#ifndef BERTH_SEARCH_TERMS_H
#define BERTH_SEARCH_TERMS_H

#include "search/problem.h"

typedef struct berth_terms {
    const berth_costs *costs;
    int32_t n_nodes;
    const int32_t *node_of;   /* [n_tasks] */
    const uint64_t *allowed;  /* [n_nodes] */
    double *node_ms;          /* [node * n_devices + device], where allowed */
    bool via_host;            /* copies go through the host */
    bool values_count;        /* the terms of values; else the next three are not looked at */
    double *link_fixed;       /* [set * n_devices^2 + link] */
    double *link_rest;        /* the same */
    const int32_t *value_set; /* [n_values] which weights hold for a value, -1: it costs nothing; NULL: all 0 */
    double *read_ms;          /* by position in costs->readers; or NULL */
    double *read_change;      /* the same; or NULL */
    double huge;              /* stands for infinite copies: more than any placement without one */
} berth_terms;

/* Terms over the units of the problem, or over its classes (for bounds), all zero; values do not count yet. Arrays are
 * the arena's. False: no memory. */
bool berth_terms_init(berth_terms *terms, berth_arena *arena, const berth_problem *problem, bool of_classes);
/* As above, with one node for all tasks that are connected. */
bool berth_terms_init_connected(berth_terms *terms, berth_arena *arena, const berth_problem *problem);
/* Make them the `serial` makespan without pieces. */
void berth_terms_set_serial(berth_terms *terms);
/* The cost of a placement of nodes. */
double berth_terms_cost(const berth_terms *terms, const int32_t *device);

/* The two parts of a copy: what `queued` charges to the host before anything moves, and the rest. */
static inline double berth_terms_fixed(const berth_costs *c, int32_t from, int32_t to) {
    return c->copy_table ? 0 : c->copy_fixed[(size_t)from * (size_t)c->n_devices + (size_t)to];
}

static inline double berth_terms_rest(const berth_costs *c, int32_t value, int32_t from, int32_t to) {
    if (c->copy_table) return berth_costs_copy(c, value, from, to);
    return c->value_amount[value] * c->copy_per_unit[(size_t)from * (size_t)c->n_devices + (size_t)to];
}

static inline double berth_terms_link(const berth_terms *t, int32_t value, int32_t from, int32_t to) {
    int32_t set = t->value_set ? t->value_set[value] : 0;
    size_t k = (size_t)t->costs->n_devices, link = (size_t)from * k + (size_t)to;
    if (set < 0 || from == to) return 0;
    double fixed = berth_terms_fixed(t->costs, from, to), rest = berth_terms_rest(t->costs, value, from, to);
    if (!(fixed + rest < t->huge)) return t->huge;
    return t->link_fixed[(size_t)set * k * k + link] * fixed + t->link_rest[(size_t)set * k * k + link] * rest;
}

/* Once for a value that leaves its home at all. */
static inline double berth_terms_out(const berth_terms *t, int32_t value, int32_t home) {
    return t->via_host ? berth_terms_link(t, value, home, t->costs->host) : 0;
}

/* For each device that it is brought to. */
static inline double berth_terms_in(const berth_terms *t, int32_t value, int32_t home, int32_t to) {
    return home == to ? 0 : berth_terms_link(t, value, t->via_host ? t->costs->host : home, to);
}

/* A read at a position of costs->readers. */
static inline double berth_terms_read(const berth_terms *t, int32_t value, int32_t at, int32_t home, int32_t to) {
    if (home == to) return 0;
    double ms = t->read_change ? t->read_change[at] : 0;
    if (!t->read_ms || !(t->read_ms[at] > 0)) return ms;
    const berth_costs *c = t->costs;
    double copy = t->via_host ? berth_costs_copy(c, value, home, c->host) + berth_costs_copy(c, value, c->host, to)
                              : berth_costs_copy(c, value, home, to);
    return copy < t->huge ? ms + t->read_ms[at] * copy : t->huge;
}

#endif
