/* SPDX-License-Identifier: Apache-2.0 */
/* Closed patterns: activations and normalisations that an exporter wrote out as small operations, and that runtimes
 * put together again. Swish is Sigmoid and Mul; GELU is Div, Erf, Add, Mul; layer norm is ReduceMean, Sub, Pow,
 * ReduceMean, Add, Sqrt, Div; softmax is ReduceMax, Sub, Exp, ReduceSum, Div; there are many spellings. What all have
 * in common is their form, and that is what is looked for: a fork x, and cheap operations that read nothing but x, each
 * other and constants, and are read by nothing but each other, except for one of them, where their paths meet again.
 *
 * From each fork a neighbourhood grows by the earliest cheap operation whose inputs are all inside. Whenever the newest
 * joins two paths, it and those that lead to it are the pattern, if none of the others is read elsewhere. So every
 * member reaches the last one, which is the only exit. Neighbourhoods are small and so are the degrees allowed in them:
 * the search takes constant time per fork and pattern. */
#include "group/fused.h"

enum { MAX_MEMBERS = 16, MAX_DEGREE = 8, MAX_CANDIDATES = (MAX_MEMBERS + 1) * MAX_DEGREE };

typedef struct pattern {
    int32_t fork;
    int32_t members[MAX_MEMBERS]; /* of the neighbourhood, in topological order */
    bool inside[MAX_MEMBERS];     /* which of them lead to the last one */
    int32_t n_members;
    int32_t candidates[MAX_CANDIDATES];
    int32_t n_candidates;
} pattern;

typedef struct finder {
    berth_fuser *fuser;
    uint32_t search;  /* number of the search in progress; the first is 1 */
    uint32_t *listed; /* of each operation: the search that listed it as a candidate last */
    uint32_t *member; /* ... that took it as a member last ... */
    int32_t *slot;    /* ... and its place in `members` */
} finder;

/* How many edges leave `op`, while they are few; -1: too many. */
static int32_t count_readers(const finder *f, int32_t op) {
    const berth_graph *graph = f->fuser->graph;
    int32_t n = 0, first = graph->out_start[op], end = graph->out_start[op + 1];
    for (int32_t i = first; i < end; i++) {
        n += berth_fuser_counts(f->fuser, graph->out_edges[i]);
        if (n > MAX_DEGREE || i - first > 4 * MAX_DEGREE) return -1;
    }
    return n;
}

static void list_readers(finder *f, pattern *p, int32_t op) {
    const berth_graph *graph = f->fuser->graph;
    for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1]; i++) {
        int32_t reader = graph->edges[graph->out_edges[i]].to;
        bool fits = berth_fuser_counts(f->fuser, graph->out_edges[i]) && !f->fuser->in_pattern[reader] &&
                    graph->in_start[reader + 1] - graph->in_start[reader] <= MAX_DEGREE &&
                    berth_fuser_has_trait(f->fuser, reader, BERTH_KIND_CHEAP);
        if (!fits || f->listed[reader] == f->search) continue;
        f->listed[reader] = f->search;
        p->candidates[p->n_candidates++] = reader;
    }
}

static bool is_ready(const finder *f, const pattern *p, int32_t op) {
    const berth_graph *graph = f->fuser->graph;
    for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        int32_t from = graph->edges[graph->in_edges[i]].from;
        if (berth_fuser_counts(f->fuser, graph->in_edges[i]) && from != p->fork && f->member[from] != f->search)
            return false;
    }
    return true;
}

/* Take the earliest candidate that is ready off the list; -1 if there is none. */
static int32_t take_ready(const finder *f, pattern *p) {
    int32_t best = -1;
    for (int32_t i = 0; i < p->n_candidates; i++)
        if ((best < 0 || f->fuser->graph->rank[p->candidates[i]] < f->fuser->graph->rank[p->candidates[best]]) &&
            is_ready(f, p, p->candidates[i]))
            best = i;
    if (best < 0) return -1;
    int32_t op = p->candidates[best];
    p->candidates[best] = p->candidates[--p->n_candidates];
    return op;
}

/* Make `op` a member. True if it joins at least two paths. */
static bool add_member(finder *f, pattern *p, int32_t op) {
    const berth_graph *graph = f->fuser->graph;
    int32_t source = -1;
    bool joins = false;
    for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1]; i++) {
        if (!berth_fuser_counts(f->fuser, graph->in_edges[i])) continue;
        int32_t from = graph->edges[graph->in_edges[i]].from;
        joins = joins || (source >= 0 && from != source);
        source = from;
    }
    f->member[op] = f->search;
    f->slot[op] = p->n_members;
    p->members[p->n_members++] = op;
    return joins;
}

/* Mark what leads to the newest member. */
static void mark_inside(const finder *f, pattern *p) {
    const berth_graph *graph = f->fuser->graph;
    for (int32_t k = 0; k < p->n_members; k++) p->inside[k] = k == p->n_members - 1;
    for (int32_t k = p->n_members - 1; k >= 0; k--) {
        int32_t op = p->members[k];
        for (int32_t i = graph->in_start[op]; i < graph->in_start[op + 1] && p->inside[k]; i++) {
            int32_t from = graph->edges[graph->in_edges[i]].from;
            if (f->member[from] == f->search) p->inside[f->slot[from]] = true;
        }
    }
}

/* Whether nothing else reads what is inside, apart from the newest. */
static bool is_closed(const finder *f, const pattern *p) {
    const berth_graph *graph = f->fuser->graph;
    for (int32_t k = 0; k < p->n_members - 1; k++) {
        int32_t op = p->members[k];
        for (int32_t i = graph->out_start[op]; i < graph->out_start[op + 1] && p->inside[k]; i++) {
            int32_t to = graph->edges[graph->out_edges[i]].to;
            bool reader_inside = f->member[to] == f->search && p->inside[f->slot[to]];
            if (berth_fuser_counts(f->fuser, graph->out_edges[i]) && !reader_inside) return false;
        }
    }
    return true;
}

static bool find_pattern(finder *f, pattern *p, int32_t fork) {
    f->search++;
    p->fork = fork;
    p->n_members = p->n_candidates = 0;
    list_readers(f, p, fork);
    while (p->n_members < MAX_MEMBERS) {
        int32_t op = take_ready(f, p);
        if (op < 0) return false;
        if (add_member(f, p, op)) {
            mark_inside(f, p);
            if (is_closed(f, p)) return true;
        }
        if (count_readers(f, op) >= 0) list_readers(f, p, op);
    }
    return false;
}

static void join_pattern(berth_fuser *fuser, const pattern *p) {
    int32_t last = p->members[p->n_members - 1];
    for (int32_t k = 0; k < p->n_members; k++) {
        if (!p->inside[k]) continue;
        fuser->in_pattern[p->members[k]] = true;
        berth_fuser_join(fuser, p->members[k], last);
    }
}

bool berth_fuser_join_patterns(berth_fuser *fuser, berth_arena *scratch) {
    const berth_graph *graph = fuser->graph;
    finder f = {.fuser = fuser};
    f.listed = berth_arena_push(scratch, (size_t)graph->n_ops, sizeof *f.listed);
    f.member = berth_arena_push(scratch, (size_t)graph->n_ops, sizeof *f.member);
    f.slot = berth_arena_push(scratch, (size_t)graph->n_ops, sizeof *f.slot);
    if (!f.listed || !f.member || !f.slot) return false;
    for (int32_t i = 0; i < graph->n_ops; i++) {
        int32_t op = graph->order[i];
        if (fuser->is_constant[op] || count_readers(&f, op) < 2) continue;
        pattern p;
        while (find_pattern(&f, &p, op)) join_pattern(fuser, &p);
    }
    return true;
}
