/* SPDX-License-Identifier: Apache-2.0 */
/* Shifting costs between tables before an elimination that had to split variables: no sum changes, but the bound rises
 * to nearly that of the linear program (Kolmogorov: A New Look at Reweighted Message Passing, 2015).
 *
 * Variables are visited in an order and back. At each, every table that has it gives up its least cost for each of its
 * values, and the sum is divided among the tables that reach further in that direction. */
#include "search/eliminate_plan.h"

#include <math.h>

/* Where a variable stands in the table of a factor. */
typedef struct place {
    double *table;
    size_t size, stride;
} place;

static place place_of(const berth_eliminate *p, berth_use use) {
    const berth_factor *factor = &p->factors.items[use.factor];
    const int32_t *scope = p->scopes.items + factor->scope;
    size_t stride = 1;
    for (int32_t i = factor->n_vars - 1; i > use.at; i--) stride *= (size_t)p->sizes.items[scope[i]];
    return (place){p->tables + factor->table, (size_t)factor->size, stride};
}

/* Takes from the table what each value of the variable costs at least there, and adds it to `cost`. */
static void take(place at, int32_t n_values, double *cost) {
    size_t block = at.stride * (size_t)n_values;
    for (int32_t x = 0; x < n_values; x++) {
        double *row = at.table + (size_t)x * at.stride, least = INFINITY;
        for (size_t base = 0; base < at.size; base += block)
            for (size_t i = 0; i < at.stride; i++)
                if (row[base + i] < least) least = row[base + i];
        cost[x] += least;
        if (!(least < INFINITY) || least == 0) continue;
        for (size_t base = 0; base < at.size; base += block)
            for (size_t i = 0; i < at.stride; i++) row[base + i] -= least;
    }
}

static void give(place at, int32_t n_values, const double *cost, double share) {
    size_t block = at.stride * (size_t)n_values;
    for (int32_t x = 0; x < n_values; x++) {
        double *row = at.table + (size_t)x * at.stride, part = share * cost[x];
        if (part == 0) continue;
        for (size_t base = 0; base < at.size; base += block)
            for (size_t i = 0; i < at.stride; i++) row[base + i] += part;
    }
}

/* Whether the factor has a variable that comes later (earlier) in the order. */
static bool reaches(const berth_eliminate *p, int32_t factor, int32_t var, bool forward) {
    const berth_factor *f = &p->factors.items[factor];
    for (int32_t i = 0; i < f->n_vars; i++) {
        int32_t other = p->ranks[p->scopes.items[f->scope + i]];
        if (forward ? other > p->ranks[var] : other < p->ranks[var]) return true;
    }
    return false;
}

static void visit(const berth_eliminate *p, int32_t var, bool forward) {
    int32_t size = p->sizes.items[var], n_ahead = 0, n_behind = 0;
    double *own = p->tables + p->factors.items[p->own.items[var]].table, kept[BERTH_MAX_DEVICES];
    for (int32_t i = p->use_start[var]; i < p->use_start[var + 1]; i++) {
        take(place_of(p, p->uses[i]), size, own);
        n_ahead += reaches(p, p->uses[i].factor, var, forward);
        n_behind += reaches(p, p->uses[i].factor, var, !forward);
    }
    if (n_ahead == 0) return;
    double share = 1.0 / (n_ahead > n_behind ? n_ahead : n_behind);
    for (int32_t x = 0; x < size; x++) kept[x] = own[x] < INFINITY ? own[x] : 0;
    for (int32_t i = p->use_start[var]; i < p->use_start[var + 1]; i++)
        if (reaches(p, p->uses[i].factor, var, forward)) give(place_of(p, p->uses[i]), size, kept, share);
    for (int32_t x = 0; x < size; x++)
        if (own[x] < INFINITY) own[x] = n_ahead >= n_behind ? 0 : own[x] * (1 - n_ahead * share);
}

void berth_eliminate_shift(const berth_eliminate *plan, int32_t n_rounds) {
    for (int32_t round = 0; round < n_rounds; round++) {
        for (int32_t i = 0; i < plan->n_vars; i++) visit(plan, plan->by_rank[i], true);
        for (int32_t i = plan->n_vars - 1; i >= 0; i--) visit(plan, plan->by_rank[i], false);
    }
}

/* Nodes by their first task, the switches of a value right after its producer. */
static void rank_vars(berth_eliminate *p) {
    const berth_terms *t = p->terms;
    int32_t n = 0;
    for (int32_t var = 0; var < p->n_vars; var++) p->ranks[var] = -1;
    for (int32_t var = t->n_nodes; var < p->n_vars; var++)
        if (t->costs->value_producer[p->switch_of.items[var - t->n_nodes]] < 0) p->ranks[var] = n++;
    int32_t next = t->n_nodes;
    for (int32_t task = 0; task < t->costs->n_tasks; task++) {
        int32_t node = t->node_of[task];
        if (p->ranks[node] < 0) p->ranks[node] = n++;
    }
    for (; next < p->n_vars; next++)
        if (p->ranks[next] < 0) p->ranks[next] = n++;
    for (int32_t var = 0; var < p->n_vars; var++) p->by_rank[p->ranks[var]] = var;
}

bool berth_eliminate_prepare_shift(berth_eliminate *p) {
    size_t n = (size_t)p->n_vars;
    int32_t n_uses = 0;
    for (size_t i = 0; i < p->factors.n; i++)
        if (p->factors.items[i].kind < BERTH_FACTOR_OWN) n_uses += p->factors.items[i].n_vars;
    p->use_start = berth_arena_push(&p->arena, n + 2, sizeof *p->use_start);
    p->uses = berth_arena_push(&p->arena, (size_t)n_uses, sizeof *p->uses);
    p->ranks = berth_arena_push(&p->arena, n, sizeof *p->ranks);
    p->by_rank = berth_arena_push(&p->arena, n, sizeof *p->by_rank);
    if (p->arena.failed) return false;
    for (int32_t pass = 0; pass < 2; pass++) {
        for (int32_t factor = 0; factor < (int32_t)p->factors.n; factor++) {
            const berth_factor *f = &p->factors.items[factor];
            for (int32_t at = 0; f->kind < BERTH_FACTOR_OWN && at < f->n_vars; at++) {
                int32_t var = p->scopes.items[f->scope + at];
                if (pass == 0)
                    p->use_start[var + 2]++;
                else
                    p->uses[p->use_start[var + 1]++] = (berth_use){factor, at};
            }
        }
        for (size_t var = 0; pass == 0 && var < n; var++) p->use_start[var + 2] += p->use_start[var + 1];
    }
    rank_vars(p);
    return true;
}
