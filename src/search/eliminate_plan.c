/* SPDX-License-Identifier: Apache-2.0 */
/* Terms as factors: tables over few variables.
 *
 * A value with few readers is one table over all of them. One with many gets a switch for each device where it may be
 * wanted: on if any reader is there, at the price of bringing it; that joins no two readers. Through the host one more
 * switch says whether the value leaves its home at all. */
#include "search/eliminate_plan.h"

#include <math.h>
#include <string.h>

static const double most_joint = 1024; /* entries of a value's one table */
enum { MOST_READERS = 16 };            /* in it */

typedef struct making {
    berth_eliminate *p;
    const berth_terms *t;
    int32_t *stamp; /* [n_nodes] value + 1 for which the node was listed */
    bool failed;

    /* of the value at hand */
    int32_t value;
    int32_t producer;           /* node, or -1 */
    BERTH_VEC(int32_t) readers; /* distinct nodes other than the producer's */
    uint64_t wanted;            /* where a reader may be */
} making;

/* Begins a factor of the value at hand; variables follow. */
static void add_factor(making *m, berth_factor_kind kind, int32_t at, bool with_producer) {
    berth_eliminate *p = m->p;
    berth_factor factor = {.kind = kind, .value = m->value, .at = at, .scope = (int32_t)p->scopes.n, .size = 1};
    factor.has_producer = with_producer && m->producer >= 0;
    if (!berth_vec_push(p->allocator, &p->factors, factor)) m->failed = true;
}

static void add_to_scope(making *m, int32_t var) {
    berth_eliminate *p = m->p;
    if (m->failed || !berth_vec_push(p->allocator, &p->scopes, var)) {
        m->failed = true;
        return;
    }
    berth_factor *factor = &p->factors.items[p->factors.n - 1];
    factor->n_vars++;
    factor->size *= p->sizes.items[var];
    if (factor->n_vars > p->most_vars) p->most_vars = factor->n_vars;
}

/* A variable with its own table. */
static int32_t add_var(making *m, int32_t size, uint64_t mask) {
    berth_eliminate *p = m->p;
    if (!berth_vec_push(p->allocator, &p->sizes, size) || !berth_vec_push(p->allocator, &p->masks, mask) ||
        !berth_vec_push(p->allocator, &p->own, (int32_t)p->factors.n))
        m->failed = true;
    add_factor(m, BERTH_FACTOR_OWN, -1, false);
    add_to_scope(m, p->n_vars);
    return p->n_vars++;
}

static int32_t add_switch(making *m) {
    if (!berth_vec_push(m->p->allocator, &m->p->switch_of, m->value)) m->failed = true;
    return add_var(m, 2, 0);
}

static void add_producer(making *m) {
    if (m->producer >= 0) add_to_scope(m, m->producer);
}

static void list_readers(making *m) {
    const berth_costs *c = m->t->costs;
    m->readers.n = 0;
    m->wanted = 0;
    for (int32_t i = c->reader_start[m->value]; i < c->reader_start[m->value + 1]; i++) {
        int32_t node = m->t->node_of[c->readers[i]];
        if (node == m->producer || m->stamp[node] == m->value + 1) continue;
        m->stamp[node] = m->value + 1;
        m->wanted |= m->t->allowed[node];
        if (!berth_vec_push(m->p->allocator, &m->readers, node)) m->failed = true;
    }
}

static bool is_small(const making *m) {
    double size = m->producer >= 0 ? m->p->sizes.items[m->producer] : 1;
    if (m->readers.n > MOST_READERS) return false;
    for (size_t i = 0; i < m->readers.n && size <= most_joint; i++) size *= m->p->sizes.items[m->readers.items[i]];
    return size <= most_joint;
}

static void add_joint(making *m) {
    add_factor(m, BERTH_FACTOR_VALUE, -1, true);
    add_producer(m);
    for (size_t i = 0; i < m->readers.n; i++) add_to_scope(m, m->readers.items[i]);
}

static void add_reads(making *m) {
    const berth_costs *c = m->t->costs;
    for (int32_t i = c->reader_start[m->value]; i < c->reader_start[m->value + 1]; i++) {
        int32_t node = m->t->node_of[c->readers[i]];
        if (node == m->producer) continue;
        add_factor(m, BERTH_FACTOR_READ, i, true);
        add_producer(m);
        add_to_scope(m, node);
    }
}

static void add_switches(making *m) {
    bool via_host = m->t->via_host;
    int32_t target = m->t->costs->value_target[m->value];
    if (target >= 0) m->wanted |= (uint64_t)1 << target;
    int32_t leaves = via_host ? add_switch(m) : -1;
    for (uint64_t rest = m->wanted; rest; rest &= rest - 1) {
        int32_t d = __builtin_ctzll(rest), there = add_switch(m);
        add_factor(m, BERTH_FACTOR_WANTED, d, true);
        add_producer(m);
        add_to_scope(m, there);
        if (via_host) add_to_scope(m, leaves);
        if (d == target) {
            add_factor(m, BERTH_FACTOR_TARGET, d, false);
            add_to_scope(m, there);
        }
        for (size_t i = 0; i < m->readers.n; i++) {
            if (!(m->t->allowed[m->readers.items[i]] >> d & 1)) continue;
            add_factor(m, BERTH_FACTOR_READER, d, false);
            add_to_scope(m, there);
            add_to_scope(m, m->readers.items[i]);
        }
    }
    if (via_host) {
        add_factor(m, BERTH_FACTOR_LEAVES, -1, true);
        add_producer(m);
        add_to_scope(m, leaves);
    }
}

static void add_value(making *m, int32_t value) {
    const berth_terms *t = m->t;
    int32_t producer = t->costs->value_producer[value];
    m->value = value;
    m->producer = producer < 0 ? -1 : t->node_of[producer];
    bool counts = t->values_count && (!t->value_set || t->value_set[value] >= 0);
    list_readers(m);
    if (m->failed) return;
    if (counts && is_small(m)) {
        add_joint(m);
        return;
    }
    if (counts) add_switches(m);
    if (t->read_ms || t->read_change) add_reads(m);
}

static bool make_factors(berth_eliminate *p, int32_t *stamp) {
    making m = {.p = p, .t = p->terms, .stamp = stamp, .producer = -1};
    for (int32_t node = 0; node < p->terms->n_nodes && !m.failed; node++)
        add_var(&m, __builtin_popcountll(p->terms->allowed[node]), p->terms->allowed[node]);
    for (int32_t v = 0; v < p->terms->costs->n_values && !m.failed; v++) add_value(&m, v);
    berth_vec_free(p->allocator, &m.readers);
    return !m.failed;
}

/* Where each table lies, and room for what runs need. */
static bool make_room(berth_eliminate *p) {
    int64_t n = 0;
    size_t n_groups = 1;
    for (size_t i = 0; i < p->factors.n; i++) {
        if (n > INT32_MAX) return false;
        p->factors.items[i].table = (int32_t)n;
        n += p->factors.items[i].size;
    }
    for (size_t i = 0; i < p->steps.n; i++)
        if (p->sizes.items[p->steps.items[i].var] > 1 && (size_t)p->steps.items[i].n > n_groups)
            n_groups = (size_t)p->steps.items[i].n;
    p->n_tables = (size_t)n + 1;
    p->n_shifts = n_groups * BERTH_MAX_DEVICES;
    p->tables = berth_resize(p->allocator, NULL, 0, p->n_tables, sizeof *p->tables);
    p->shifts = berth_resize(p->allocator, NULL, 0, p->n_shifts, sizeof *p->shifts);
    p->chosen = berth_resize(p->allocator, NULL, 0, (size_t)p->n_vars + 1, sizeof *p->chosen);
    p->offset = berth_resize(p->allocator, NULL, 0, (size_t)p->most_members + 1, sizeof *p->offset);
    return p->tables && p->shifts && p->chosen && p->offset;
}

static berth_status make_plan(berth_ctx *ctx, berth_eliminate *p) {
    size_t n = (size_t)p->terms->n_nodes + 1;
    int32_t *stamp = berth_resize(p->allocator, NULL, 0, n, sizeof *stamp);
    bool done = stamp && make_factors(p, stamp) && berth_eliminate_order(p);
    if (stamp) berth_resize(p->allocator, stamp, n, 0, sizeof *stamp);
    if (done && berth_eliminate_fits(p)) done = make_room(p) && (!p->split || berth_eliminate_prepare_shift(p));
    return done ? BERTH_OK : berth_fail_nomem(ctx);
}

berth_status berth_eliminate_new(berth_ctx *ctx, berth_eliminate **out, const berth_terms *terms, double max_table,
                                 double max_total) {
    *out = NULL;
    const berth_allocator *allocator = berth_ctx_allocator(ctx);
    berth_eliminate *plan = berth_resize(allocator, NULL, 0, 1, sizeof *plan);
    if (!plan) return berth_fail_nomem(ctx);
    plan->allocator = allocator;
    berth_arena_init(&plan->arena, allocator);
    plan->terms = terms;
    plan->max_table = max_table;
    plan->max_total = max_total;
    plan->n_rounds = 20;
    berth_status status = make_plan(ctx, plan);
    if (status == BERTH_OK && berth_eliminate_fits(plan))
        *out = plan;
    else
        berth_eliminate_free(plan);
    return status;
}

void berth_eliminate_free(berth_eliminate *p) {
    if (!p) return;
    const berth_allocator *allocator = p->allocator;
    berth_vec_free(allocator, &p->sizes);
    berth_vec_free(allocator, &p->masks);
    berth_vec_free(allocator, &p->own);
    berth_vec_free(allocator, &p->switch_of);
    berth_arena_deinit(&p->arena);
    berth_vec_free(allocator, &p->factors);
    berth_vec_free(allocator, &p->scopes);
    berth_vec_free(allocator, &p->steps);
    berth_vec_free(allocator, &p->groups);
    berth_vec_free(allocator, &p->members);
    berth_vec_free(allocator, &p->strides);
    if (p->tables) berth_resize(allocator, p->tables, p->n_tables, 0, sizeof *p->tables);
    if (p->shifts) berth_resize(allocator, p->shifts, p->n_shifts, 0, sizeof *p->shifts);
    if (p->chosen) berth_resize(allocator, p->chosen, (size_t)p->n_vars + 1, 0, sizeof *p->chosen);
    if (p->offset) berth_resize(allocator, p->offset, (size_t)p->most_members + 1, 0, sizeof *p->offset);
    berth_resize(allocator, p, 1, 0, sizeof *p);
}
