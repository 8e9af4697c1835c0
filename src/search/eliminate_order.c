/* SPDX-License-Identifier: Apache-2.0 */
/* The order of elimination: always the variable whose factors together span the fewest entries, as far as the limit on
 * tables goes (Dechter: Bucket elimination, 1999). Where all that are left exceed it, the factors of one are divided
 * among groups that do not (Dechter and Rish: Mini-buckets, 2003).
 *
 * Variables wait in a heap by size; when a size changes the variable is entered again, and old entries are dropped when
 * they come up. Lists of factors per variable are cleaned of used ones while they are read. */
#include "search/eliminate_plan.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"

enum {
    MOST_SCANNED = 256, /* factors of one variable that are looked at for its size */
    MOST_MISSES = 64,   /* that do not fit into a group before it is closed */
};

typedef struct entry {
    double size;
    int32_t var;
} entry;

typedef struct link {
    int32_t factor, next;
} link;

typedef struct state {
    berth_eliminate *plan;
    const berth_allocator *allocator;
    berth_arena arena;
    BERTH_VEC(link) links;
    BERTH_VEC(entry) heap;
    int32_t *first;     /* [n_vars] link, or -1 */
    double *size;       /* [n_vars] present size, or -1: eliminated */
    int32_t *stamp;     /* [n_vars] */
    int32_t *dimension; /* [n_vars] valid where stamped */
    int32_t now;
} state;

static bool comes_before(entry a, entry b) {
    return a.size < b.size || (a.size == b.size && a.var < b.var);
}

static bool push(state *s, entry item) {
    if (!berth_vec_push(s->allocator, &s->heap, item)) return false;
    size_t at = s->heap.n - 1;
    entry *heap = s->heap.items;
    for (; at > 0 && comes_before(item, heap[(at - 1) / 2]); at = (at - 1) / 2) heap[at] = heap[(at - 1) / 2];
    heap[at] = item;
    return true;
}

static entry pop(state *s) {
    entry *heap = s->heap.items, top = heap[0], item = heap[--s->heap.n];
    size_t n = s->heap.n, at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && comes_before(heap[child + 1], heap[child])) child++;
        if (!comes_before(heap[child], item)) break;
        heap[at] = heap[child];
        at = child;
    }
    if (n > 0) heap[at] = item;
    return top;
}

static const int32_t *scope_of(const state *s, int32_t factor) {
    return s->plan->scopes.items + s->plan->factors.items[factor].scope;
}

/* Stamps the variables of the factor that are not yet; what they multiply the size by. */
static double widen(state *s, int32_t factor) {
    const int32_t *scope = scope_of(s, factor);
    double by = 1;
    for (int32_t i = 0; i < s->plan->factors.items[factor].n_vars; i++) {
        if (s->stamp[scope[i]] == s->now) continue;
        s->stamp[scope[i]] = s->now;
        by *= s->plan->sizes.items[scope[i]];
    }
    return by;
}

/* Entries of all factors of the variable together; more than the limit: just how much work it looks. */
static double measure(state *s, int32_t var) {
    double size = 1;
    int32_t n = 0;
    if (s->plan->sizes.items[var] == 1) return 1; /* a constant: its factors need not meet */
    s->now++;
    for (int32_t *at = &s->first[var]; *at >= 0;) {
        const link *item = &s->links.items[*at];
        if (s->plan->factors.items[item->factor].used) {
            *at = item->next;
            continue;
        }
        size *= widen(s, item->factor);
        if (size > s->plan->max_table || ++n > MOST_SCANNED) return 2 * s->plan->max_table + size;
        at = &s->links.items[*at].next;
    }
    return size;
}

static bool renew(state *s, int32_t var) {
    double size = measure(s, var);
    if (size == s->size[var]) return true;
    s->size[var] = size;
    return push(s, (entry){size, var});
}

static bool hang(state *s, int32_t factor) {
    for (int32_t i = 0; i < s->plan->factors.items[factor].n_vars; i++) {
        int32_t var = scope_of(s, factor)[i];
        if (!berth_vec_push(s->allocator, &s->links, (link){factor, s->first[var]})) return false;
        s->first[var] = (int32_t)s->links.n - 1;
    }
    return true;
}

/* The message of a group: its variables without the one that goes. -2: no memory. */
static int32_t add_message(state *s, int32_t var, const berth_group_of_factors *group) {
    berth_eliminate *p = s->plan;
    int32_t scope = (int32_t)p->scopes.n, n_vars = 0;
    double size = 1;
    s->now++;
    s->stamp[var] = s->now;
    s->dimension[var] = 0;
    for (int32_t m = 0; m < group->n; m++) {
        const berth_factor factor = p->factors.items[p->members.items[group->first + m]];
        for (int32_t i = 0; i < factor.n_vars; i++) {
            int32_t other = p->scopes.items[factor.scope + i];
            if (s->stamp[other] == s->now) continue;
            s->stamp[other] = s->now;
            s->dimension[other] = ++n_vars;
            size *= p->sizes.items[other];
            if (!berth_vec_push(s->allocator, &p->scopes, other)) return -2;
        }
    }
    if (n_vars > p->most_vars) p->most_vars = n_vars;
    p->n_entries += size * p->sizes.items[var];
    p->n_additions += size * p->sizes.items[var] * group->n;
    if (n_vars == 0) return -1;
    berth_factor message = {.kind = BERTH_FACTOR_MESSAGE, .scope = scope, .n_vars = n_vars, .size = (int32_t)size};
    if (!berth_vec_push(s->allocator, &p->factors, message)) return -2;
    return (int32_t)p->factors.n - 1;
}

/* How far apart neighbouring values of each variable of the group lie in each member's table. */
static bool add_strides(state *s, berth_group_of_factors *group) {
    berth_eliminate *p = s->plan;
    int32_t n_vars = group->message < 0 ? 0 : p->factors.items[group->message].n_vars;
    group->strides = (int32_t)p->strides.n;
    for (int32_t m = 0; m < group->n; m++) {
        size_t row = p->strides.n;
        for (int32_t i = 0; i <= n_vars; i++)
            if (!berth_vec_push(s->allocator, &p->strides, 0)) return false;
        const berth_factor *factor = &p->factors.items[p->members.items[group->first + m]];
        int32_t stride = 1;
        for (int32_t i = factor->n_vars - 1; i >= 0; i--) {
            int32_t var = p->scopes.items[factor->scope + i];
            p->strides.items[row + (size_t)s->dimension[var]] = stride;
            stride *= p->sizes.items[var];
        }
    }
    return true;
}

static bool close_group(state *s, int32_t var, berth_group_of_factors group) {
    berth_eliminate *p = s->plan;
    if (group.n > p->most_members) p->most_members = group.n;
    group.message = add_message(s, var, &group);
    return group.message != -2 && add_strides(s, &group) && berth_vec_push(s->allocator, &p->groups, group);
}

/* Gathers what fits into one group of the variable's factors that are left; returns how many it took, -1: no memory. */
static int32_t gather(state *s, int32_t var) {
    berth_eliminate *p = s->plan;
    berth_group_of_factors group = {.first = (int32_t)p->members.n};
    bool is_constant = p->sizes.items[var] == 1;
    double size = 1;
    int32_t began = ++s->now, misses = 0, *first = &s->first[var];
    while (*first >= 0 && p->factors.items[s->links.items[*first].factor].used) *first = s->links.items[*first].next;
    for (int32_t at = *first; at >= 0 && misses < MOST_MISSES; at = s->links.items[at].next) {
        int32_t factor = s->links.items[at].factor;
        if (p->factors.items[factor].used) continue;
        const int32_t *scope = scope_of(s, factor);
        double by = 1;
        for (int32_t i = 0; i < p->factors.items[factor].n_vars; i++)
            if (s->stamp[scope[i]] != began) by *= p->sizes.items[scope[i]];
        if (group.n > 0 && is_constant) break;
        if (group.n > 0 && size * by > p->max_table) {
            p->split = true;
            misses++;
            continue;
        }
        size *= widen(s, factor);
        p->factors.items[factor].used = true;
        if (!berth_vec_push(s->allocator, &p->members, factor)) return -1;
        group.n++;
    }
    if (group.n > 0 && !close_group(s, var, group)) return -1;
    return group.n;
}

static bool eliminate(state *s, int32_t var) {
    berth_eliminate *p = s->plan;
    berth_step step = {.var = var, .first = (int32_t)p->groups.n};
    for (int32_t n; (n = gather(s, var)) != 0;)
        if (n < 0) return false;
    step.n = (int32_t)p->groups.n - step.first;
    s->size[var] = -1;
    s->first[var] = -1;
    if (!berth_vec_push(s->allocator, &p->steps, step)) return false;
    for (int32_t g = step.first; g < step.first + step.n; g++)
        if (p->groups.items[g].message >= 0 && !hang(s, p->groups.items[g].message)) return false;
    for (int32_t g = step.first; g < step.first + step.n; g++) {
        int32_t message = p->groups.items[g].message;
        for (int32_t i = 0; message >= 0 && i < p->factors.items[message].n_vars; i++)
            if (!renew(s, scope_of(s, message)[i])) return false;
    }
    return true;
}

static bool order_all(state *s) {
    berth_eliminate *p = s->plan;
    memset(s->first, -1, (size_t)p->n_vars * sizeof *s->first);
    for (int32_t factor = 0; factor < (int32_t)p->factors.n; factor++)
        if (!hang(s, factor)) return false;
    for (int32_t var = 0; var < p->n_vars; var++)
        if (!renew(s, var)) return false;
    while (s->heap.n > 0 && berth_eliminate_fits(p)) {
        entry top = pop(s);
        if (top.size != s->size[top.var]) continue;
        if (!eliminate(s, top.var)) return false;
    }
    return true;
}

bool berth_eliminate_order(berth_eliminate *plan) {
    state s = {.plan = plan, .allocator = plan->allocator};
    size_t n = (size_t)plan->n_vars;
    berth_arena_init(&s.arena, plan->allocator);
    s.first = berth_arena_push(&s.arena, n, sizeof *s.first);
    s.size = berth_arena_push(&s.arena, n, sizeof *s.size);
    s.stamp = berth_arena_push(&s.arena, n, sizeof *s.stamp);
    s.dimension = berth_arena_push(&s.arena, n, sizeof *s.dimension);
    bool done = !s.arena.failed && order_all(&s);
    berth_vec_free(s.allocator, &s.links);
    berth_vec_free(s.allocator, &s.heap);
    berth_arena_deinit(&s.arena);
    return done;
}
